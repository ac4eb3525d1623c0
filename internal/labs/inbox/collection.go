package inbox

import (
	"context"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
)

// collection is what a report changes of an order's time of collection, nil when
// it says nothing of it. What results say of their specimens is for their keeper.
func collection(ctx context.Context, tx *store.Tx, o *orders.Order, r networks.Report) (func(o *orders.Order), error) {
	states := r.Results == nil && !r.Collected.Time.IsZero() && (misplaced(o) == "" || sent(o, tx.Now()))
	drawn := orders.Status(r.Status) == orders.DrawCompleted && o.Course().May(o.Status, orders.DrawCompleted, orders.Appointment)
	if !states && !drawn {
		return nil, nil
	}
	common, worst, err := orders.Turnaround(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	at := drawnAt(r, tx.Now())
	return func(o *orders.Order) {
		if states {
			o.Stated(r.Collected, r.At, common, worst)
		}
		if drawn {
			o.Drawn(at, common, worst)
		}
	}, nil
}

// drawnAt is when a draw was completed: at the end of its visit, or when the
// network says so. It does not lie ahead.
func drawnAt(r networks.Report, now time.Time) time.Time {
	at := r.At
	if r.Visit != nil && !r.Visit.End.IsZero() {
		at = r.Visit.End
	}
	if at.IsZero() || at.After(now) {
		return now
	}
	return at
}
