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

// laneOf returns the lane of a report: its order's, or its sample's while the
// order is not known.
func laneOf(ctx context.Context, tx *store.Tx, r networks.Report) (string, error) {
	if id, err := ids.Parse[orders.Order](r.Placer); err == nil {
		return "order:" + id.String(), nil
	}
	if r.SampleID != "" {
		found, err := orders.FindBySample(ctx, tx, r.SampleID)
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return "order:" + found[0].ID.String(), nil
		}
	}
	return "sample:" + r.Lab + ":" + r.SampleID, nil
}

// match finds the order that a report is about, or says why no candidate is
// it.
func match(ctx context.Context, tx *store.Tx, r networks.Report) (o orders.Order, candidates []orders.Order, why Reason, err error) {
	if candidates, err = namedOrders(ctx, tx, r); err != nil {
		return orders.Order{}, nil, "", err
	}
	why = NoOrder
	for _, c := range candidates {
		ok, err := isWithLab(ctx, tx, &c, r.Lab)
		switch {
		case err != nil:
			return orders.Order{}, nil, "", err
		case !ok:
			why = OtherLab
		case !matchesPatient(&c, r.Patient):
			why = OtherPerson
		default:
			return c, candidates, "", nil
		}
	}
	return orders.Order{}, candidates, why, nil
}

// namedOrders returns the orders that a report names: by our number, else by
// the sample id with open orders first.
func namedOrders(ctx context.Context, tx *store.Tx, r networks.Report) ([]orders.Order, error) {
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
	found, err := orders.FindBySample(ctx, tx, r.SampleID)
	slices.SortStableFunc(found, func(a, b orders.Order) int { return endedRank(&a) - endedRank(&b) })
	return found, err
}

func endedRank(o *orders.Order) int {
	if o.Status.Terminal() {
		return 1
	}
	return 0
}

// isWithLab reports whether an order is with the lab of a report. A report
// whose lab is not known may come from anyone, so it is about no order.
func isWithLab(ctx context.Context, tx *store.Tx, o *orders.Order, slug string) (bool, error) {
	if slug == "" {
		return false, nil
	}
	offered, err := catalogue.Load(ctx, tx, o.Team)
	if err != nil {
		return false, err
	}
	lab, ok := offered.Lab(o.Lab)
	return !ok || lab.Slug == slug, nil
}

// matchesPatient reports whether the person on a report can be the order's
// patient. Of the facts that both sides know, only the spelling of the first
// name may differ.
func matchesPatient(o *orders.Order, p networks.ReportedPatient) bool {
	known := o.Body.Patient
	if known == nil {
		return true
	}
	if p.LastName != "" && foldName(p.LastName) != foldName(known.LastName) {
		return false
	}
	if !p.DOB.IsZero() && p.DOB != known.BirthDate {
		return false
	}
	return true
}

// foldName returns a name's letters in lower case.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\'' || r == '.' || r == ',' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}
