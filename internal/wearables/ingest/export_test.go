package ingest

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
)

// PushInBatch stores one push as a push batch does. It calls planned in the
// transaction, between planning and writing.
func (in *Ingester) PushInBatch(ctx context.Context, team teams.ID, id users.ID, b wearables.Batch, planned func()) (wearables.Result, error) {
	p := &pendingPush{id: id, batch: &b}
	err := in.db.Write(ctx, func(tx *store.Tx) error {
		plan, err := in.planBatch(ctx, tx, queueKey{team, b.Provider}, []*pendingPush{p})
		if err != nil {
			return err
		}
		planned()
		return plan.write(ctx, tx)
	})
	if err != nil || p.alone {
		return wearables.Result{}, err
	}
	return p.job.result(), nil
}
