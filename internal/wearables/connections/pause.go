package connections

import (
	"context"
	"fmt"
	"time"

	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// PauseJob pauses the connections of users whose collection has ended. Pushes are
// refused from that moment, without the job. The job adds that a later change of
// ingestion_end does not resume the collection: the person must connect again.
//
// Reference 7.10.
var PauseJob = jobs.Define("connections.pause", func(ctx context.Context, run *jobs.Run, _ struct{}) error {
	for {
		var n int64
		err := run.DB().Write(ctx, func(tx *store.Tx) (err error) {
			n, err = PauseEnded(ctx, tx)
			return err
		})
		if err != nil || n < pauseAtOnce {
			return err
		}
	}
}).Every(15 * time.Minute)

// pauseAtOnce is the number of connections that one transaction pauses.
const pauseAtOnce = 100

// PauseEnded pauses connections of users of all teams whose collection has ended,
// announces that, and returns how many. ctx is the system's.
func PauseEnded(ctx context.Context, tx *store.Tx) (int64, error) {
	rows, err := tx.Query(ctx, `UPDATE connections SET status = $1
		WHERE (team_id, user_id, provider) IN (
			SELECT c.team_id, c.user_id, c.provider FROM users u JOIN connections c ON c.team_id = u.team_id AND c.user_id = u.user_id
			WHERE u.ingestion_end < $2 AND c.status <> $1 LIMIT $3)
		RETURNING `+columns, string(Paused), wearables.EndedBefore(tx.Now()), pauseAtOnce)
	if err != nil {
		return 0, fmt.Errorf("connections: pausing: %w", err)
	}
	defer rows.Close()
	var all []Connection
	for rows.Next() {
		c, err := scan(rows)
		if err != nil {
			return 0, fmt.Errorf("connections: pausing: %w", err)
		}
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("connections: pausing: %w", err)
	}
	for _, c := range all {
		if err := c.announceChange(ctx, tx, UpdatedEvent); err != nil {
			return 0, err
		}
	}
	return int64(len(all)), nil
}
