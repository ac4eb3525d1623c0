package merged

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// Timeseries is the data type whose priorities order the sources of series.
const Timeseries = "timeseries"

// DataTypes are the kinds of data for which a team may order its providers.
//
// Reference 5.10.
func DataTypes() []string { return []string{"workouts", "activity", "sleep", "body", Timeseries} }

// Priority is a provider's place among the others for one type of data: the
// larger wins. A provider without one has 0.
type Priority struct {
	DataType string
	Provider string // slug
	Priority int64
}

// Priorities lists what the team has set, for one type of data or, when it is
// empty, for all; the best provider of a type first.
//
// Reference 5.10, 7.11.
func Priorities(ctx context.Context, tx *store.Tx, team uuid.UUID, dataType string) ([]Priority, error) {
	rows, err := tx.Query(ctx, `SELECT data_type, provider, priority FROM source_priorities
		WHERE team_id = $1 AND ($2 = '' OR data_type = $2) ORDER BY data_type, priority DESC, provider`, team, dataType)
	if err != nil {
		return nil, fmt.Errorf("merged: reading priorities: %w", err)
	}
	defer rows.Close()
	var all []Priority
	for rows.Next() {
		var p Priority
		if err := rows.Scan(&p.DataType, &p.Provider, &p.Priority); err != nil {
			return nil, fmt.Errorf("merged: reading priorities: %w", err)
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

// Change sets a provider's priority; nil takes it away.
type Change struct {
	DataType, Provider string
	Priority           *int64
}

// SetPriorities applies changes; providers that are not named stay as they
// are.
func SetPriorities(ctx context.Context, tx *store.Tx, team uuid.UUID, changes []Change) error {
	for _, c := range changes {
		var err error
		if c.Priority == nil {
			_, err = tx.Exec(ctx, `DELETE FROM source_priorities WHERE team_id = $1 AND data_type = $2 AND provider = $3`,
				team, c.DataType, c.Provider)
		} else {
			_, err = tx.Exec(ctx, `INSERT INTO source_priorities (team_id, data_type, provider, priority) VALUES ($1, $2, $3, $4)
				ON CONFLICT (team_id, data_type, provider) DO UPDATE SET priority = excluded.priority`,
				team, c.DataType, c.Provider, *c.Priority)
		}
		if err != nil {
			return fmt.Errorf("merged: setting priorities: %w", err)
		}
	}
	return nil
}

// byProvider are the team's priorities for series.
func byProvider(ctx context.Context, tx *store.Tx, team uuid.UUID) (map[string]int64, error) {
	all, err := Priorities(ctx, tx, team, Timeseries)
	if err != nil {
		return nil, err
	}
	found := make(map[string]int64, len(all))
	for _, p := range all {
		found[p.Provider] = p.Priority
	}
	return found, nil
}
