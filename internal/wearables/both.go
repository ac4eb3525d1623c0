package wearables

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/store"
)

// Both tells two listeners.
func Both(one, other OnChange) OnChange {
	return func(ctx context.Context, tx *store.Tx, user users.User, changes []Touched) error {
		if err := one(ctx, tx, user, changes); err != nil {
			return err
		}
		return other(ctx, tx, user, changes)
	}
}
