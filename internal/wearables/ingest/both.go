package ingest

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// Both tells two listeners.
func Both(one, other OnChange) OnChange {
	return func(ctx context.Context, tx *store.Tx, user users.User, changes []wearables.Touched) error {
		if err := one(ctx, tx, user, changes); err != nil {
			return err
		}
		return other(ctx, tx, user, changes)
	}
}
