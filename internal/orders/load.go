package orders

import (
	"context"

	"hale/internal/store"
)

// Load stores orders as they are, each in a transaction of its own and with one
// row of history, for moving in from elsewhere: nothing is checked, announced or
// placed. An order needs everything but its identifiers.
func Load(ctx context.Context, tx *store.Tx, all []Order) error {
	for i := range all {
		o := &all[i]
		var err error
		if o.Transaction, err = begin(ctx, tx, o.Team); err != nil {
			return err
		}
		o.ID, o.Details = ID(tx.NewUUID()), tx.NewUUID()
		if err := insert(ctx, tx, o); err != nil {
			return err
		}
		if _, err := addEvent(ctx, tx, o, NoDetail); err != nil {
			return err
		}
		if err := settle(ctx, tx, o.Team, o.Transaction); err != nil {
			return err
		}
	}
	return nil
}
