package inbox

import (
	"context"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

// laneOf is what a report has to wait in line with: other reports of its
// order, or of its sample as long as the order is not known.
func laneOf(ctx context.Context, tx *store.Tx, r networks.Report) (string, error) {
	if id, err := ids.Parse[orders.Order](r.Placer); err == nil {
		return "order:" + id.String(), nil
	}
	if r.SampleID != "" {
		found, err := orders.BySample(ctx, tx, r.SampleID)
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return "order:" + found[0].ID.String(), nil
		}
	}
	return "sample:" + r.Lab + ":" + r.SampleID, nil
}

// match finds the order that a report is about, or says why it is none of the
// candidates.
func match(ctx context.Context, tx *store.Tx, r networks.Report) (o orders.Order, candidates []orders.Order, why Reason, err error) {
	if candidates, err = named(ctx, tx, r); err != nil {
		return orders.Order{}, nil, "", err
	}
	why = NoOrder
	for _, c := range candidates {
		ok, err := withLab(ctx, tx, &c, r.Lab)
		switch {
		case err != nil:
			return orders.Order{}, nil, "", err
		case !ok:
			why = OtherLab
		case !about(&c, r.Patient):
			why = OtherPerson
		default:
			return c, candidates, "", nil
		}
	}
	return orders.Order{}, candidates, why, nil
}

// named are the orders that a report names: by our number, else by the sample
// id, those that still wait for something first.
func named(ctx context.Context, tx *store.Tx, r networks.Report) ([]orders.Order, error) {
	if id, err := ids.Parse[orders.Order](r.Placer); err == nil {
		o, err := orders.Find(ctx, tx, id)
		if err == nil {
			return []orders.Order{o}, nil
		}
		if !fault.Is(err, fault.NotFound) {
			return nil, err
		}
	}
	if r.SampleID == "" {
		return nil, nil
	}
	found, err := orders.BySample(ctx, tx, r.SampleID)
	slices.SortStableFunc(found, func(a, b orders.Order) int { return ended(&a) - ended(&b) })
	return found, err
}

func ended(o *orders.Order) int {
	if o.Status.Terminal() {
		return 1
	}
	return 0
}

// withLab reports whether an order is with the lab that a report is of. What
// nobody knows the lab of may come from anybody, and speaks of no order.
func withLab(ctx context.Context, tx *store.Tx, o *orders.Order, slug string) (bool, error) {
	if slug == "" {
		return false, nil
	}
	offered, err := catalogue.For(ctx, tx, o.Team)
	if err != nil {
		return false, err
	}
	lab, ok := offered.Lab(o.Lab)
	return !ok || lab.Slug == slug, nil
}

// about reports whether the person on a report can be the order's patient:
// nothing that both sides know may differ but the spelling of the first name.
func about(o *orders.Order, p networks.ReportedPatient) bool {
	known := o.Body.Patient
	if known == nil {
		return true
	}
	if p.LastName != "" && plain(p.LastName) != plain(known.LastName) {
		return false
	}
	if !p.DOB.IsZero() && p.DOB != known.BirthDate {
		return false
	}
	return true
}

// plain is a name's letters.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\'' || r == '.' || r == ',' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}
