package orders

import (
	"context"
	"fmt"

	"hale/internal/platform/store"
)

// Change is something that just happened to an order, in the transaction it
// happened in.
type Change struct {
	// Order is as it is now. A listener must not change it.
	Order *Order
	// Before is the status it had, empty for a new order.
	Before Status
	Event  Event
	By     Trigger
}

// New reports that the order was just made.
func (c Change) New() bool { return c.Before == "" }

// Listener follows what happens to orders: it cancels appointments with their
// order, or writes to the patient.
type Listener struct {
	Name string
	// Changed runs in the transaction of the change, after its event. Its error
	// undoes the change.
	Changed func(ctx context.Context, tx *store.Tx, c Change) error
}

// listeners has the listeners of each database, in the order of their calls.
var listeners = store.NewSlot[[]Listener](nil)

// Listen sets the listeners of a database. The app calls it before any order
// moves.
func Listen(db *store.DB, all ...Listener) { listeners.Set(db, all) }

// announceChange emits the event of a change and calls the listeners.
func announceChange(ctx context.Context, tx *store.Tx, c Change) error {
	if err := announce(ctx, tx, c); err != nil {
		return err
	}
	for _, l := range listeners.Of(tx) {
		if err := l.Changed(ctx, tx, c); err != nil {
			return fmt.Errorf("orders: %s of order %s: %w", l.Name, c.Order.ID, err)
		}
	}
	return nil
}
