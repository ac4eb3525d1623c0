package inbox

import (
	"context"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/identity"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

// queueOf returns the queue of a report: its order's, or its sample's while the
// order is not known.
func queueOf(ctx context.Context, tx *store.Tx, r networks.Report) (string, error) {
	if id, err := ids.Parse[orders.Order](r.Placer); err == nil {
		return "order:" + id.String(), nil
	}
	for _, sample := range r.Samples() {
		found, err := orders.FindBySample(ctx, tx, sample)
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
func match(ctx context.Context, tx *store.Tx, a Arrival) (o orders.Order, candidates []orders.Order, why Reason, err error) {
	if candidates, err = namedOrders(ctx, tx, a.Report); err != nil {
		return orders.Order{}, nil, "", err
	}
	why = NoOrder
	for _, c := range candidates {
		if why, err = mismatch(ctx, tx, &c, a); err != nil {
			return orders.Order{}, nil, "", err
		}
		if why != "" {
			continue
		}
		others, err := otherOrders(ctx, tx, &c, a.Report)
		if err != nil {
			return orders.Order{}, nil, "", err
		}
		if len(others) > 0 {
			return orders.Order{}, append([]orders.Order{c}, others...), OtherOrder, nil
		}
		return c, candidates, "", nil
	}
	return orders.Order{}, candidates, why, nil
}

// otherOrders returns the other open orders that a report names, by an order
// number or by a sample number of the same lab. With the sample of a second
// order, the values may be that order's. Two orders may have one sample number.
// Then the order number decides, and without it the report waits.
func otherOrders(ctx context.Context, tx *store.Tx, o *orders.Order, r networks.Report) ([]orders.Order, error) {
	var others []orders.Order
	add := func(other orders.Order) {
		known := func(before orders.Order) bool { return before.ID == other.ID }
		if other.ID != o.ID && !other.Status.Terminal() && !slices.ContainsFunc(others, known) {
			others = append(others, other)
		}
	}
	for _, number := range r.Placers() {
		id, err := ids.Parse[orders.Order](number)
		if err != nil || id == o.ID {
			continue
		}
		other, err := orders.Find(ctx, tx, id)
		switch {
		case err == nil:
			add(other)
		case !fault.Is(err, fault.NotFound):
			return nil, err
		}
	}
	for _, number := range r.Samples() {
		if number == o.SampleID && namesNumber(o, r) {
			continue
		}
		found, err := orders.FindBySample(ctx, tx, number)
		if err != nil {
			return nil, err
		}
		for _, other := range found {
			if other.Lab == o.Lab {
				add(other)
			}
		}
	}
	return others, nil
}

// mismatch says why a report that names an order is not applied to it. It is
// empty if the network, laboratory, account and patient of the report are the
// order's.
func mismatch(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) (Reason, error) {
	if !mayReport(a, o) {
		return OtherNetwork, nil
	}
	ok, err := isWithLab(ctx, tx, o, a.Report.Lab)
	if err != nil || !ok {
		return OtherLab, err
	}
	if a.Report.Results != nil && a.Report.Account != "" {
		account, err := catalogue.AccountOf(ctx, tx, o.Team, o.Account)
		if err != nil {
			return "", err
		}
		if account.Number != "" && !strings.EqualFold(account.Number, strings.TrimSpace(a.Report.Account)) {
			return OtherAccount, nil
		}
	}
	return identityMismatch(o, a.Report), nil
}

// mayReport reports whether a network reports about an order: the network that it
// was placed with. The simulated phlebotomists also report about the visits of
// orders at a lab's test system.
func mayReport(a Arrival, o *orders.Order) bool {
	visits := a.Network == orders.SandboxNetwork && o.Network == orders.HL7TestNetwork
	return a.Network == o.Network || visits && a.Report.Visit != nil && a.Report.Results == nil
}

// namedOrders returns the orders that a report names. It looks for the order with our
// number. If there is none, it looks for orders by the sample numbers. For each number,
// open orders come first.
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
	var all []orders.Order
	for _, sample := range r.Samples() {
		found, err := orders.FindBySample(ctx, tx, sample)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(found, func(a, b orders.Order) int { return endedRank(&a) - endedRank(&b) })
		for _, o := range found {
			if !slices.ContainsFunc(all, func(before orders.Order) bool { return before.ID == o.ID }) {
				all = append(all, o)
			}
		}
	}
	return all, nil
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
	return ok && lab.Slug == slug, nil
}

// identityMismatch names the fact for which the person on a report is not
// certainly the order's patient; it is empty when there is none. Results need
// every identifying fact. Other reports, and results of a lab that never sends
// names under our own number, may lack facts, but may not contradict.
func identityMismatch(o *orders.Order, r networks.Report) Reason {
	p := o.Body.Patient
	if p == nil { // an unregistered kit, which cannot have results
		return ""
	}
	c := identity.Compare(identity.Person{FirstName: p.FirstName, LastName: p.LastName, DOB: p.BirthDate, Gender: p.Gender}, identity.Person(r.Patient))
	problems := c.Problems()
	if r.Results == nil || r.IdentityByNumber && namesNumber(o, r) {
		problems = c.Mismatches()
	}
	if len(problems) == 0 {
		return ""
	}
	return Reason(problems[0])
}

// namesNumber reports whether a report repeats our number of an order.
func namesNumber(o *orders.Order, r networks.Report) bool {
	id, err := ids.Parse[orders.Order](r.Placer)
	return err == nil && id == o.ID
}
