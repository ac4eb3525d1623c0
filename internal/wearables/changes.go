package wearables

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/store"
)

// Touched is what a batch changed of one resource.
type Touched struct {
	Resource string // its name in events
	// Oldest and Newest bound the starts of the data, UTC microseconds; 0 for a
	// profile.
	Oldest, Newest int64
}

// OnChange hears of changes in the transaction that stores them.
type OnChange func(ctx context.Context, tx *store.Tx, user users.User, changes []Touched) error

// tell lets the listener know what the plan changes.
func (j *job) tell(ctx context.Context, tx *store.Tx) error {
	if j.in.Changed == nil {
		return nil
	}
	return j.in.Changed(ctx, tx, j.whole, j.touched())
}

// touched lists what the plan changes; a part of a resource may stand by
// itself.
func (j *job) touched() (all []Touched) {
	for _, w := range j.series {
		if len(w.blocks) > 0 {
			all = append(all, Touched{w.resource.Event, w.add.Time[0], w.add.Time[len(w.add.Time)-1]})
		}
	}
	for _, w := range j.summaries {
		if w.verb != "" {
			oldest, newest := w.bounds()
			all = append(all, Touched{w.Resource, oldest, newest})
		}
	}
	return all
}
