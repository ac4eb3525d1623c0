package orders

import (
	"context"
	"fmt"
	"slices"
	"sync"

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

var listeners struct {
	sync.Mutex
	all []Listener
}

// Listen adds a listener for as long as the process lives. Whoever puts the
// parts together calls it, before any order moves.
func Listen(l Listener) {
	listeners.Lock()
	defer listeners.Unlock()
	listeners.all = append(listeners.all, l)
}

// tell announces a change and calls the listeners.
func tell(ctx context.Context, tx *store.Tx, c Change) error {
	if err := announce(ctx, tx, c); err != nil {
		return err
	}
	listeners.Lock()
	all := slices.Clone(listeners.all)
	listeners.Unlock()
	for _, l := range all {
		if err := l.Changed(ctx, tx, c); err != nil {
			return fmt.Errorf("orders: %s of order %s: %w", l.Name, c.Order.ID, err)
		}
	}
	return nil
}
