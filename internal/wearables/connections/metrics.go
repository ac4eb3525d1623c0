package connections

import (
	"context"
	"fmt"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Metrics counts the connections of a team.
//
// Reference 5.10.
type Metrics struct {
	Connected int64 // all, working or not
	Errored   int64
	Weeks     []Week
}

// Week counts the connections that were made in a week and still exist.
type Week struct {
	Start time.Time // Monday, 00:00 UTC
	Made  int64
	All   int64 // until its end
}

// firstMonday is 5 January 1970, from which weeks are counted.
var firstMonday = time.Date(1970, 1, 5, 0, 0, 0, 0, time.UTC)

const week = 7 * 24 * time.Hour

// Measure returns the metrics of a team. Triggers of the table connections keep the
// numbers.
func Measure(ctx context.Context, tx *store.Tx, team teams.ID) (Metrics, error) {
	rows, err := tx.Query(ctx, `SELECT week, CAST(SUM(made) AS BIGINT), CAST(SUM(errored) AS BIGINT)
		FROM connection_counts WHERE team_id = $1 GROUP BY week HAVING SUM(made) > 0 ORDER BY week`, team)
	if err != nil {
		return Metrics{}, fmt.Errorf("connections: counting: %w", err)
	}
	defer rows.Close()
	var m Metrics
	for rows.Next() {
		var no, made, errored int64
		if err := rows.Scan(&no, &made, &errored); err != nil {
			return Metrics{}, fmt.Errorf("connections: counting: %w", err)
		}
		m.Connected += made
		m.Errored += errored
		m.Weeks = append(m.Weeks, Week{firstMonday.Add(time.Duration(no) * week), made, m.Connected})
	}
	return m, rows.Err()
}
