package results

import (
	"context"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
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
	m := orders.Move{By: orders.Lab, At: a.At, Key: a.Key + ":results", Change: func(o *orders.Order) { now.mark(o, e, a) }}
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
	case now.Status == Partial && o.Method == catalogue.TestKit:
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
func (v *Revision) mark(o *orders.Order, e *expectations, a Arrival) {
	missing := v.HasMissing()
	o.Interpretation, o.IsCritical, o.HasMissing = v.Interpretation, v.Interpretation == orders.Critical, &missing
	if o.SampleID == "" {
		o.SampleID = a.SampleID
	}
	common, worst := catalogue.TAT(e.ordered)
	o.Stated(stated(v.Samples), a.At, common, worst)
}

// stated is when the first of the samples was taken that the lab has a time of.
func stated(samples []Sample) networks.Moment {
	for _, s := range samples {
		if at := s.Specimen.Collected; !at.Time.IsZero() {
			return at
		}
	}
	return networks.Moment{}
}

// dated notes when the sample was taken of an order whose lab sent no more than
// documents yet.
func dated(ctx context.Context, tx *store.Tx, o *orders.Order, m merged, a Arrival) error {
	at := stated(m.samples)
	if at.Time.IsZero() {
		return nil
	}
	common, worst, err := orders.Turnaround(ctx, tx, o)
	if err != nil {
		return err
	}
	return orders.Amend(ctx, tx, o, func(o *orders.Order) { o.Stated(at, a.At, common, worst) })
}
