package webhooks

import (
	"context"
	"slices"
	"time"

	"hale/internal/platform/store"
)

// mostRecordings is how often a result is tried to be recorded in a row.
const mostRecordings = 4

// setAsideFor is the wait before it is tried again.
var setAsideFor = time.Minute

// oneByOne records each result of a group by itself and returns those that are
// left. What the database refuses of one must not keep the others waiting: of
// that is recorded only what became of the delivery, and if that is refused as
// well, the result is set aside with its row in hand.
func (d *Deliverer) oneByOne(ctx context.Context, group []result) (left []result) {
	for i := range group {
		one := group[i : i+1 : i+1]
		err := d.write(ctx, one, recordAll)
		if err != nil {
			d.cfg.Log.ErrorContext(ctx, "recording a delivery", "endpoint", one[0].line.id, "event", one[0].parcel.event, "error", err)
			err = d.write(ctx, one, recordBare)
		}
		if err == nil {
			d.letGo(one)
			continue
		}
		r := one[0]
		if r.refused++; r.refused < mostRecordings {
			left = append(left, r)
			continue
		}
		r.refused = 0
		d.later(func() { d.setAside(r) })
	}
	return left
}

// setAside hands a result in again after a while. If the process ends before,
// the delivery is posted again by the next.
func (d *Deliverer) setAside(r result) {
	select {
	case <-time.After(setAsideFor):
		d.results.Add(r)
	case <-d.halt:
	}
}

// recordBare writes what became of deliveries, and neither what was answered nor
// what follows from it.
func recordBare(ctx context.Context, tx *store.Tx, group []result) error {
	bare := slices.Clone(group)
	for i := range bare {
		bare[i].outcome.Answer, bare[i].exhausted = nil, nil
	}
	return recordDeliveries(ctx, tx, bare)
}
