package inbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
)

// endings are how a lab ends an order, or single tests of one that goes on.
var endings = []orders.Status{orders.Cancelled, orders.DoNotProcess, orders.SampleError}

// meant is what a report means for this order. Tests that end while others go
// on, or beside values, leave the order where it is: their results will not
// come. Tests that are held up while others go on are missing until they come, and
// on is true. Only kits know do_not_process; for the rest a lab's no is a
// cancellation.
func meant(ctx context.Context, tx *store.Tx, o *orders.Order, r networks.Report) (_ networks.Report, on bool, err error) {
	status := orders.Status(r.Status)
	ends, blocks := slices.Contains(endings, status), status == orders.LabProcessingBlocked
	if !ends && !blocks && len(r.Refused) == 0 {
		return r, false, nil
	}
	of, err := testsOf(ctx, tx, o)
	if err != nil {
		return r, false, err
	}
	var before told
	others := false
	if ends || blocks {
		if before, err = toldBefore(ctx, tx, o); err != nil {
			return r, false, err
		}
		others = goesOn(of, before, r)
	}
	switch {
	case others || !ends && len(r.Refused) > 0 || status == orders.SampleError && valued(o):
		if misplaced(o) == "" || sent(o, tx.Now()) {
			r.Results = without(o, of, r, others)
		}
		if ends || others && before.holds(r.Tests) {
			r.Status, r.Detail = "", ""
		}
	case status == orders.DoNotProcess && o.Method != catalogue.TestKit:
		r.Status = string(orders.Cancelled)
	}
	return r, blocks && others, nil
}

// valued reports whether an order has results with a value. Those in which
// everything is missing so far are unknown.
func valued(o *orders.Order) bool {
	return o.Status == orders.PartialResults || o.Interpretation != "" && o.Interpretation != orders.Unknown
}

// tests are an order's markers, and those that may follow from their results.
type tests struct{ ordered, all []*catalogue.Marker }

func testsOf(ctx context.Context, tx *store.Tx, o *orders.Order) (tests, error) {
	facts, err := orders.Around(ctx, tx, o.Team, []orders.Order{*o})
	if err != nil {
		return tests{}, err
	}
	offered, err := catalogue.For(ctx, tx, o.Team)
	if err != nil {
		return tests{}, err
	}
	return tests{facts[0].Markers, offered.WithReflex(facts[0].Markers)}, nil
}

// names are what a lab calls tests: by its codes of them or of their results, or
// by LOINC.
type names map[string]bool

func namesOf(lists ...[]string) names {
	n := names{}
	for _, name := range slices.Concat(lists...) {
		n[name] = name != ""
	}
	return n
}

func (n names) row(r catalogue.Result) bool { return n[r.ProviderID] || n[r.LOINC] }

// some reports whether a marker, or a result of it, is named.
func (n names) some(m *catalogue.Marker) bool {
	return n[m.ProviderID] || slices.ContainsFunc(m.Results, n.row)
}

// whole reports whether a marker is named, or every result that it requires; of
// one that requires none, every result.
func (n names) whole(m *catalogue.Marker) bool {
	requires := slices.ContainsFunc(m.Results, func(r catalogue.Result) bool { return r.Required })
	lacks := func(r catalogue.Result) bool { return (r.Required || !requires) && !n.row(r) }
	return n[m.ProviderID] || len(m.Results) > 0 && !slices.ContainsFunc(m.Results, lacks)
}

// goesOn reports whether an order has other tests than those that end now, or are
// held up now, and those of which the lab said so before. Where none of its tests
// is named it is the whole order that is meant.
func goesOn(of tests, before told, r networks.Report) bool {
	if !slices.ContainsFunc(of.all, namesOf(r.Tests).some) {
		return false
	}
	out := namesOf(before.ended, r.Tests, r.Refused)
	if orders.Status(r.Status) == orders.LabProcessingBlocked {
		out = namesOf(before.ended, before.blocked, r.Tests, r.Refused)
	}
	return slices.ContainsFunc(of.ordered, func(m *catalogue.Marker) bool { return !out.whole(m) })
}

// told are the tests of an order that the lab spoke of before, by its names:
// those that ended, and those that it holds up.
type told struct{ ended, blocked []string }

// add adds a report. A sample that arrived, and values, end what was held up.
func (t *told) add(r networks.Report) {
	t.ended = append(t.ended, r.Refused...)
	switch status := orders.Status(r.Status); {
	case slices.Contains(endings, status):
		t.ended = append(t.ended, r.Tests...)
	case status == orders.LabProcessingBlocked:
		t.blocked = append(t.blocked, r.Tests...)
	case status == orders.DeliveredToLab || r.Results != nil && len(r.Results.Results) > 0:
		t.blocked = nil
	}
}

// holds reports whether the lab holds up these tests already.
func (t *told) holds(tests []string) bool {
	return !slices.ContainsFunc(tests, func(name string) bool { return !slices.Contains(t.blocked, name) })
}

// toldBefore is what reports before this one said of an order's tests: many labs
// send a message for each.
func toldBefore(ctx context.Context, tx *store.Tx, o *orders.Order) (before told, err error) {
	rows, err := tx.Query(ctx, `SELECT id, team_id, user_id, body FROM inbox_reports WHERE order_id = $1 AND state = 'applied' ORDER BY id`, o.ID)
	if err != nil {
		return before, fmt.Errorf("inbox: reading the reports of %s: %w", o.ID, err)
	}
	defer rows.Close()
	var all []held
	for rows.Next() {
		h := held{place: reportPlace}
		if err := rows.Scan(&h.id, &h.team, &h.subject, &h.sealed); err != nil {
			return before, fmt.Errorf("inbox: reading the reports of %s: %w", o.ID, err)
		}
		all = append(all, h)
	}
	if err := rows.Err(); err != nil {
		return before, fmt.Errorf("inbox: reading the reports of %s: %w", o.ID, err)
	}
	for _, h := range all {
		doc, err := tx.Unseal(ctx, h.team, h.subject.UUID, h.place+h.id.String(), h.sealed)
		if err != nil {
			return before, err
		}
		var r networks.Report
		if err := json.Unmarshal(doc, &r); err != nil {
			return before, fmt.Errorf("inbox: a stored report %s: %w", h.id, err)
		}
		before.add(r)
	}
	return before, nil
}

// reasons say why a result is missing of a sample that was rejected.
var reasons = map[string]string{
	string(orders.QuantityNotSufficient):    "quantity_not_sufficient_failure",
	string(orders.SampleContaminated):       "collection_process_failure",
	string(orders.SampleHemolyzed):          "collection_process_failure",
	string(orders.SampleImproperCollection): "collection_process_failure",
	string(orders.StabilityExceeded):        "drop_off_failure",
}

// heldUp is why a result is missing that the lab waits with: it lacks something
// that should have come with the order.
const heldUp = "order_entry_failure"

// without are the results of a report in which the tests are missing that it ends
// or, as long as others go on, holds up. The values of the others are still to
// come.
func without(o *orders.Order, of tests, r networks.Report, others bool) *networks.ResultSet {
	set := networks.ResultSet{Partial: true}
	if r.Results != nil {
		set = *r.Results
		set.Partial = set.Partial || len(set.Results) == 0 && !valued(o)
		set.Missing = slices.Clone(set.Missing)
	}
	refused, lost := r.Refused, networks.Missing{Rest: true}
	if len(refused) == 0 {
		lost.Note = r.Reason
	}
	switch status := orders.Status(r.Status); {
	case status == orders.SampleError:
		lost.Reason = reasons[r.Detail]
		lose(&set, of, namesOf(r.Tests), lost)
	case status == orders.LabProcessingBlocked && others:
		lost.Reason = heldUp
		lose(&set, of, namesOf(r.Tests), lost)
	case slices.Contains(endings, status):
		refused = slices.Concat(refused, r.Tests)
	}
	lose(&set, of, namesOf(refused), networks.Missing{Refused: true, Note: r.Reason, Rest: true})
	if r.Results == nil && len(set.Missing) == 0 {
		return nil // no test of the order was named
	}
	return &set
}

// lose adds what is missing of the named tests, and says why of what is listed
// already.
func lose(set *networks.ResultSet, of tests, named names, why networks.Missing) {
	for i := range set.Missing {
		if m := &set.Missing[i]; named[m.ProviderID] || named[m.TestProviderID] || named[m.LOINC] {
			m.Reason, m.Note, m.Refused = cmp.Or(m.Reason, why.Reason), cmp.Or(m.Note, why.Note), m.Refused || why.Refused
		}
	}
	add := func(code, test, name, loinc string) {
		listed := func(m networks.Missing) bool { return m.ProviderID == code && (code != "" || m.LOINC == loinc) }
		if !slices.ContainsFunc(set.Missing, listed) {
			m := why
			m.ProviderID, m.TestProviderID, m.Name, m.LOINC = code, test, name, loinc
			set.Missing = append(set.Missing, m)
		}
	}
	single := maps.Clone(named) // without the results of a whole test, which another may still bring
	for _, m := range of.all {
		if named[m.ProviderID] {
			add(m.ProviderID, m.ProviderID, m.Name, "")
			for _, r := range m.Results {
				delete(single, r.ProviderID)
				delete(single, r.LOINC)
			}
		}
	}
	for _, m := range of.all {
		for _, r := range m.Results {
			if single.row(r) {
				add(r.ProviderID, m.ProviderID, r.Name, r.LOINC)
			}
		}
	}
}
