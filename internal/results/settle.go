package results

import (
	"context"
	"time"

	"hale/internal/labs"
	"hale/internal/orders"
	"hale/internal/store"
)

// settle tells of a critical revision, and brings the order to where its
// results put it.
//
// Reference 1.7, 1.8.
func settle(ctx context.Context, tx *store.Tx, o *orders.Order, before, now *Revision, e *expectations, a Arrival) error {
	changed := true
	if before != nil {
		var err error
		if changed, err = news(before.Version, now.Version); err != nil {
			return err
		}
	}
	if changed && now.Interpretation == orders.Critical {
		if err := orders.AnnounceCritical(ctx, tx, o, string(now.Status)); err != nil {
			return err
		}
	}
	m := orders.Move{By: orders.Lab, At: a.At, Key: a.Key + ":results", Change: func(o *orders.Order) { now.mark(o, e, a.SampleID) }}
	moved := false
	if changed {
		var err error
		if moved, err = move(ctx, tx, o, before, now, m); err != nil {
			return err
		}
	}
	if moved {
		return nil
	}
	return orders.Amend(ctx, tx, o, m.Change)
}

// move makes the step that a revision asks for, if the order can make it.
func move(ctx context.Context, tx *store.Tx, o *orders.Order, before, now *Revision, m orders.Move) (bool, error) {
	switch {
	case now.Status == Partial && len(now.Results) == 0:
		return false, nil // what is missing may have been cancelled before there was a sample
	case now.Status == Partial && o.Method == labs.TestKit:
		m.To = orders.DeliveredToLab // kits know no partial results, but the sample is there
	case now.Status == Partial:
		m.To = orders.PartialResults
	case before != nil && before.Status == Final:
		m.To = orders.Corrected
	default:
		return complete(ctx, tx, o, now, m)
	}
	return orders.Advance(ctx, tx, o, m)
}

// complete ends an order with its first final results, or has the markers
// drawn again that the lab could not measure.
func complete(ctx context.Context, tx *store.Tx, o *orders.Order, now *Revision, m orders.Move) (bool, error) {
	_, redrawn, err := orders.Redraw(ctx, tx, o, now.again(), m)
	if err != nil || redrawn {
		return redrawn, err
	}
	m.To = orders.Completed
	return orders.Advance(ctx, tx, o, m)
}

// mark puts on an order what lists and events say of its results.
func (v *Revision) mark(o *orders.Order, e *expectations, sample string) {
	missing := v.HasMissing()
	o.Interpretation, o.IsCritical, o.HasMissing = v.Interpretation, v.Interpretation == orders.Critical, &missing
	if o.SampleID == "" {
		o.SampleID = sample
	}
	if at, known := v.collected(); known && o.CollectedAt == nil {
		common, worst := labs.TAT(e.ordered)
		o.Collected(at, common, worst)
	}
}

// collected is when the sample was taken, says the lab.
func (v *Version) collected() (at time.Time, known bool) {
	for _, s := range v.Samples {
		if at := s.Specimen.Collected.Time; !at.IsZero() {
			return at, true
		}
	}
	return at, false
}
