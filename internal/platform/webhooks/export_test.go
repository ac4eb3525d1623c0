package webhooks

import (
	"context"
	"time"

	"hale/internal/platform/store"
)

// Wake looks for due deliveries now, as after the clock was moved.
func (d *Deliverer) Wake() {
	for _, l := range d.all() {
		l.poke(laneFirst, laneRetry, laneReplay)
	}
}

// SetAsideFor changes how long a result that is not recorded is set aside.
func SetAsideFor(d time.Duration) (restore func()) {
	was := setAsideFor
	setAsideFor = d
	return func() { setAsideFor = was }
}

// Sweep looks at every endpoint, as is done every ten seconds.
func (d *Deliverer) Sweep() { d.sweep(store.AsSystem(context.Background()), false) }

// Lines is how many endpoints are delivered to.
func (d *Deliverer) Lines() int { return len(d.all()) }
