package webhooks

import (
	"context"

	"hale/internal/platform/store"
)

// Wake looks for due deliveries now, as after the clock was moved.
func (d *Deliverer) Wake() {
	for _, q := range d.all() {
		q.refresh(0)
	}
}

// Sweep looks at every endpoint, as is done every ten seconds.
func (d *Deliverer) Sweep() { d.sweep(store.AsSystem(context.Background()), false) }

// Queues is how many endpoints are delivered to.
func (d *Deliverer) Queues() int { return len(d.all()) }
