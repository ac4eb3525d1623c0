package webhooks

import (
	"context"

	"hale/internal/platform/store"
)

// Wake makes the queues look for due deliveries, after the clock was moved.
func (d *Deliverer) Wake() {
	for _, q := range d.all() {
		q.refresh(0)
	}
}

// Sweep runs the sweep that Run repeats every ten seconds.
func (d *Deliverer) Sweep() { d.sweep(store.AsSystem(context.Background()), false) }

// Queues returns the number of queues.
func (d *Deliverer) Queues() int { return len(d.all()) }
