package ingest

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// OnChange hears of changes in the transaction that stores them.
type OnChange func(ctx context.Context, tx *store.Tx, user users.User, changes []wearables.Touched) error

// tell lets the listener know what the plan changes.
func (j *job) tell(ctx context.Context, tx *store.Tx) error {
	if j.in.Changed == nil {
		return nil
	}
	return j.in.Changed(ctx, tx, j.whole, j.touched())
}

// touched lists what the plan changes; a part of a resource may stand by
// itself.
func (j *job) touched() (all []wearables.Touched) {
	for _, w := range j.series {
		if len(w.blocks) > 0 {
			all = append(all, wearables.Touched{Resource: w.resource.Event, Oldest: w.add.Time[0], Newest: w.add.Time[len(w.add.Time)-1]})
		}
	}
	for _, w := range j.summaries {
		if w.verb != "" {
			oldest, newest := w.bounds()
			all = append(all, wearables.Touched{Resource: w.Resource, Oldest: oldest, Newest: newest})
		}
	}
	return all
}
