package inbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"hale/internal/labs"
	"hale/internal/networks"
	"hale/internal/orders"
	"hale/internal/store"
)

// endings are how a lab ends an order, or single tests of one that goes on.
var endings = []orders.Status{orders.Cancelled, orders.DoNotProcess, orders.SampleError}

// meant is what a report means for this order. Tests that end while others go
// on, or beside values, leave the order where it is: their results will not
// come. Only kits know do_not_process; for the rest a lab's no is a cancellation.
func meant(ctx context.Context, tx *store.Tx, o *orders.Order, r networks.Report) (networks.Report, error) {
	status := orders.Status(r.Status)
	if !slices.Contains(endings, status) {
		return r, nil
	}
	on, err := goesOn(ctx, tx, o, r.Tests)
	if err != nil {
		return r, err
	}
	if on || status == orders.SampleError && valued(o) {
		if len(r.Tests) > 0 && misplaced(o) == "" {
			r.Results = without(o, r)
		}
		r.Status, r.Detail = "", ""
		return r, nil
	}
	if status == orders.DoNotProcess && o.Method != labs.TestKit {
		r.Status = string(orders.Cancelled)
	}
	return r, nil
}

// valued reports whether an order has results with a value. Those in which
// everything is missing so far are unknown.
func valued(o *orders.Order) bool {
	return o.Status == orders.PartialResults || o.Interpretation != "" && o.Interpretation != orders.Unknown
}

// goesOn reports whether an order has other tests than those that end now and
// those that ended before. Without any named it is the whole order that ends.
func goesOn(ctx context.Context, tx *store.Tx, o *orders.Order, tests []string) (bool, error) {
	if len(tests) == 0 {
		return false, nil
	}
	facts, err := orders.Around(ctx, tx, o.Team, []orders.Order{*o})
	if err != nil {
		return false, err
	}
	before, err := endedBefore(ctx, tx, o)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(facts[0].Markers, func(m *labs.Marker) bool {
		return !slices.Contains(tests, m.ProviderID) && !slices.Contains(before, m.ProviderID)
	}), nil
}

// endedBefore are the tests of an order that reports before this one ended: many
// labs send a message for each.
func endedBefore(ctx context.Context, tx *store.Tx, o *orders.Order) (tests []string, err error) {
	rows, err := tx.Query(ctx, `SELECT id, team_id, user_id, body FROM inbox_reports WHERE order_id = $1 AND state = 'applied' ORDER BY id`, o.ID)
	if err != nil {
		return nil, fmt.Errorf("inbox: reading the reports of %s: %w", o.ID, err)
	}
	defer rows.Close()
	var all []held
	for rows.Next() {
		h := held{place: reportPlace}
		if err := rows.Scan(&h.id, &h.team, &h.subject, &h.sealed); err != nil {
			return nil, fmt.Errorf("inbox: reading the reports of %s: %w", o.ID, err)
		}
		all = append(all, h)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("inbox: reading the reports of %s: %w", o.ID, err)
	}
	for _, h := range all {
		doc, err := tx.Unseal(ctx, h.team, h.subject.UUID, h.place+h.id.String(), h.sealed)
		if err != nil {
			return nil, err
		}
		var r networks.Report
		if err := json.Unmarshal(doc, &r); err != nil {
			return nil, fmt.Errorf("inbox: a stored report %s: %w", h.id, err)
		}
		if slices.Contains(endings, orders.Status(r.Status)) {
			tests = append(tests, r.Tests...)
		}
	}
	return tests, nil
}

// reasons say why a result is missing of a sample that was rejected.
var reasons = map[string]string{
	string(orders.QuantityNotSufficient):    "quantity_not_sufficient_failure",
	string(orders.SampleContaminated):       "collection_process_failure",
	string(orders.SampleHemolyzed):          "collection_process_failure",
	string(orders.SampleImproperCollection): "collection_process_failure",
	string(orders.StabilityExceeded):        "drop_off_failure",
}

// without are the results of a report in which the tests that it ends are
// missing. The values of the others are still to come.
func without(o *orders.Order, r networks.Report) *networks.ResultSet {
	set := networks.ResultSet{Partial: true}
	if r.Results != nil {
		set = *r.Results
		set.Partial = set.Partial || !valued(o)
		set.Missing = slices.Clone(set.Missing)
	}
	for _, test := range r.Tests {
		if !slices.ContainsFunc(set.Missing, func(m networks.Missing) bool { return m.ProviderID == test }) {
			set.Missing = append(set.Missing, networks.Missing{ProviderID: test, TestProviderID: test, Reason: reasons[r.Detail], Note: r.Reason})
		}
	}
	return &set
}
