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
	return run.DB().Write(ctx, func(tx *store.Tx) error {
		_, err := PauseEnded(ctx, tx)
		return err
	})
}).Every(15 * time.Minute)

// PauseEnded pauses the connections of the users of all teams whose collection has
// ended, and returns how many. ctx is the system's.
func PauseEnded(ctx context.Context, tx *store.Tx) (int64, error) {
	n, err := tx.Exec(ctx, `UPDATE connections SET status = $1
		WHERE status <> $1 AND (team_id, user_id) IN (
			SELECT team_id, user_id FROM users WHERE ingestion_end < $2)`,
		string(Paused), wearables.EndedBefore(tx.Now()))
	if err != nil {
		return 0, fmt.Errorf("connections: pausing: %w", err)
	}
	return n, nil
}
