package inbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/labclock"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
)

// endingStatuses are the statuses with which a lab ends an order, or some
// tests of an order that continues.
var endingStatuses = []orders.Status{orders.Cancelled, orders.DoNotProcess, orders.SampleError}

// interpretReport returns a report with its meaning for this order.
//
// Tests that end while other tests continue, or beside values, leave the order
// where it is; their results are missing. Tests that are blocked while others
// continue are missing until they come, and continues is true. Only test kits
// know do_not_process; for other methods a lab's refusal is a cancellation.
func interpretReport(ctx context.Context, tx *store.Tx, o *orders.Order, r networks.Report) (_ networks.Report, continues bool, err error) {
	status := orders.Status(r.Status)
	ends, blocks := slices.Contains(endingStatuses, status), status == orders.LabProcessingBlocked
	if !ends && !blocks && len(r.Refused) == 0 {
		return r, false, nil
	}
	tests, err := readTests(ctx, tx, o)
	if err != nil {
		return r, false, err
	}
	var before reportedTests
	others := false
	if ends || blocks {
		if before, err = priorReports(ctx, tx, o); err != nil {
			return r, false, err
		}
		others = othersContinue(tests, before, r)
	}
	switch {
	case others || !ends && len(r.Refused) > 0 || status == orders.SampleError && hasValues(o):
		now, err := labclock.TimeOf(ctx, tx, o.Team)
		if err != nil {
			return r, false, err
		}
		if resultsRefused(o) == "" || awaitsReceipt(o, now) {
			r.Results = missingResults(o, tests, r, others)
		}
		if ends || others && before.alreadyBlocked(r.Tests) {
			r.Status, r.Detail = "", ""
		}
	case status == orders.DoNotProcess && o.Method != catalogue.TestKit:
		r.Status = string(orders.Cancelled)
	}
	return r, blocks && others, nil
}

// hasValues reports whether an order has results with a value. Results in
// which everything is missing so far are unknown.
func hasValues(o *orders.Order) bool {
	return o.Status == orders.PartialResults || o.Interpretation != "" && o.Interpretation != orders.Unknown
}

// orderTests holds an order's markers, and in all also those that their
// results may add (reflex tests).
type orderTests struct{ ordered, all []*catalogue.Marker }

func readTests(ctx context.Context, tx *store.Tx, o *orders.Order) (orderTests, error) {
	facts, err := orders.ReadFacts(ctx, tx, o.Team, []orders.Order{*o})
	if err != nil {
		return orderTests{}, err
	}
	offered, err := catalogue.Load(ctx, tx, o.Team)
	if err != nil {
		return orderTests{}, err
	}
	return orderTests{facts[0].Markers, offered.AddReflex(facts[0].Markers)}, nil
}

// testNames holds the names by which a lab calls tests: its codes of tests or
// of results, or LOINC codes.
type testNames map[string]bool

func newTestNames(lists ...[]string) testNames {
	n := testNames{}
	for _, name := range slices.Concat(lists...) {
		n[name] = name != ""
	}
	return n
}

func (n testNames) namesResult(r catalogue.Result) bool { return n[r.ProviderID] || n[r.LOINC] }

// namesAny reports whether a marker, or a result of it, is named.
func (n testNames) namesAny(m *catalogue.Marker) bool {
	return n[m.ProviderID] || slices.ContainsFunc(m.Results, n.namesResult)
}

// covers reports whether a marker is named, or every result that it requires.
// Of a marker that requires none, every result must be named.
func (n testNames) covers(m *catalogue.Marker) bool {
	requires := slices.ContainsFunc(m.Results, func(r catalogue.Result) bool { return r.Required })
	lacks := func(r catalogue.Result) bool { return (r.Required || !requires) && !n.namesResult(r) }
	return n[m.ProviderID] || len(m.Results) > 0 && !slices.ContainsFunc(m.Results, lacks)
}

// othersContinue reports whether an order has tests that neither this report
// nor an earlier one ends or blocks. A report that names none of the order's
// tests is about the whole order.
func othersContinue(tests orderTests, before reportedTests, r networks.Report) bool {
	if !slices.ContainsFunc(tests.all, newTestNames(r.Tests).namesAny) {
		return false
	}
	out := newTestNames(before.ended, r.Tests, r.Refused)
	if orders.Status(r.Status) == orders.LabProcessingBlocked {
		out = newTestNames(before.ended, before.blocked, r.Tests, r.Refused)
	}
	return slices.ContainsFunc(tests.ordered, func(m *catalogue.Marker) bool { return !out.covers(m) })
}

// reportedTests holds the tests that earlier reports named, by the lab's
// names: those that ended and those that are blocked.
type reportedTests struct{ ended, blocked []string }

// add adds a report. A sample that arrived, and values, end a block.
func (t *reportedTests) add(r networks.Report) {
	t.ended = append(t.ended, r.Refused...)
	switch status := orders.Status(r.Status); {
	case slices.Contains(endingStatuses, status):
		t.ended = append(t.ended, r.Tests...)
	case status == orders.LabProcessingBlocked:
		t.blocked = append(t.blocked, r.Tests...)
	case status == orders.DeliveredToLab || r.Results != nil && len(r.Results.Results) > 0:
		t.blocked = nil
	}
}

// alreadyBlocked reports whether the lab has blocked these tests before.
func (t *reportedTests) alreadyBlocked(tests []string) bool {
	return !slices.ContainsFunc(tests, func(name string) bool { return !slices.Contains(t.blocked, name) })
}

// priorReports returns the tests that earlier reports about an order named:
// many labs send one message for each test.
func priorReports(ctx context.Context, tx *store.Tx, o *orders.Order) (before reportedTests, err error) {
	all, err := appliedReports(ctx, tx, o)
	for _, r := range all {
		before.add(r)
	}
	return before, err
}

// namesOrderedTests reports whether results name a test of an order or a test that
// its results may add. A test that an earlier report added or announced counts too.
func namesOrderedTests(ctx context.Context, tx *store.Tx, o *orders.Order, set *networks.ResultSet) (bool, error) {
	tests, err := readTests(ctx, tx, o)
	if err != nil || len(tests.ordered) == 0 {
		return err == nil, err
	}
	named := namesOf(set)
	if slices.ContainsFunc(tests.all, func(m *catalogue.Marker) bool {
		return named.namesAny(m) || named[nameKey(m.Name)] || slices.ContainsFunc(m.Results, func(r catalogue.Result) bool { return named[nameKey(r.Name)] })
	}) {
		return true, nil
	}
	before, err := appliedReports(ctx, tx, o)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(before, func(r networks.Report) bool {
		for name := range namesOf(r.Results) {
			if named[name] {
				return true
			}
		}
		return false
	}), nil
}

// checkCodes says why the codes or the times of results need a person. Values of a test whose
// results an earlier report brought may have any code.
func checkCodes(ctx context.Context, tx *store.Tx, o *orders.Order, set *networks.ResultSet) (Reason, error) {
	tests, err := readTests(ctx, tx, o)
	if err != nil {
		return "", err
	}
	first, err := orders.FirstObservation(ctx, tx, o)
	if err != nil {
		return "", err
	}
	if set.HasOld(tests.ordered, first) {
		return OldValues, nil
	}
	offered, err := catalogue.Load(ctx, tx, o.Team)
	if err != nil {
		return "", err
	}
	values := set.Namings()
	problem := offered.CheckCodes(o.Lab, tests.all, values)
	if problem != catalogue.UnknownCode {
		return Reason(problem), nil
	}
	before, err := appliedReports(ctx, tx, o)
	if err != nil {
		return "", err
	}
	for _, r := range before {
		if r.Results != nil {
			values = append(values, r.Results.Namings()...)
		}
	}
	return Reason(offered.CheckCodes(o.Lab, tests.all, values)), nil
}

// namesOf returns the codes of results, and their names, and the codes of tests that
// are still to come.
func namesOf(set *networks.ResultSet) testNames {
	n := testNames{}
	add := func(names ...string) {
		for _, name := range names {
			if name != "" {
				n[name] = true
			}
		}
	}
	if set == nil {
		return n
	}
	for _, r := range set.Results {
		add(r.ProviderID, r.TestProviderID, r.LOINC, nameKey(r.Name))
	}
	for _, m := range set.Missing {
		add(m.ProviderID, m.TestProviderID, m.LOINC, nameKey(m.Name))
	}
	add(set.Announced...)
	return n
}

// nameKey returns a name for a comparison. No code has its form.
func nameKey(name string) string {
	if name = strings.TrimSpace(name); name == "" {
		return ""
	}
	return "name:" + strings.ToLower(name)
}

// appliedReports returns the reports that were applied to an order.
func appliedReports(ctx context.Context, tx *store.Tx, o *orders.Order) ([]networks.Report, error) {
	rows, err := tx.Query(ctx, `SELECT id, team_id, user_id, body FROM inbox_reports WHERE order_id = $1 AND state = 'applied' ORDER BY id`, o.ID)
	if err != nil {
		return nil, fmt.Errorf("inbox: reading the reports of %s: %w", o.ID, err)
	}
	defer rows.Close()
	var all []sealedRow
	for rows.Next() {
		h := sealedRow{place: reportPlace}
		if err := rows.Scan(&h.id, &h.team, &h.subject, &h.sealed); err != nil {
			return nil, fmt.Errorf("inbox: reading the reports of %s: %w", o.ID, err)
		}
		all = append(all, h)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("inbox: reading the reports of %s: %w", o.ID, err)
	}
	var found []networks.Report
	for _, h := range all {
		doc, err := tx.Unseal(ctx, h.team, h.subject.UUID, h.place+h.id.String(), h.sealed)
		if err != nil {
			return nil, err
		}
		var r networks.Report
		if err := json.Unmarshal(doc, &r); err != nil {
			return nil, fmt.Errorf("inbox: decoding stored report %s: %w", h.id, err)
		}
		found = append(found, r)
	}
	return found, nil
}

// rejectionReasons maps the detail of a rejected sample to the reason of its
// missing results.
var rejectionReasons = map[string]string{
	string(orders.QuantityNotSufficient):    "quantity_not_sufficient_failure",
	string(orders.SampleContaminated):       "collection_process_failure",
	string(orders.SampleHemolyzed):          "collection_process_failure",
	string(orders.SampleImproperCollection): "collection_process_failure",
	string(orders.StabilityExceeded):        "drop_off_failure",
}

// blockedReason is the reason of results that are missing while the lab waits:
// it lacks information that should have come with the order.
const blockedReason = "order_entry_failure"

// missingResults returns the results of a report, in which the tests are
// missing that the report ends or, while others continue, blocks. The values
// of the other tests may still come.
func missingResults(o *orders.Order, tests orderTests, r networks.Report, others bool) *networks.ResultSet {
	set := networks.ResultSet{Partial: true}
	if r.Results != nil {
		set = *r.Results
		set.Partial = set.Partial || len(set.Results) == 0 && !hasValues(o)
		set.Missing = slices.Clone(set.Missing)
	}
	refused, lost := r.Refused, networks.MissingResult{Rest: true}
	if len(refused) == 0 {
		lost.Note = r.Reason
	}
	switch status := orders.Status(r.Status); {
	case status == orders.SampleError:
		lost.Reason = rejectionReasons[r.Detail]
		markMissing(&set, tests, newTestNames(r.Tests), lost)
	case status == orders.LabProcessingBlocked && others:
		lost.Reason = blockedReason
		markMissing(&set, tests, newTestNames(r.Tests), lost)
	case slices.Contains(endingStatuses, status):
		refused = slices.Concat(refused, r.Tests)
	}
	markMissing(&set, tests, newTestNames(refused), networks.MissingResult{Refused: true, Note: r.Reason, Rest: true})
	if r.Results == nil && len(set.Missing) == 0 {
		return nil // no test of the order was named
	}
	return &set
}

// markMissing adds the named tests to the missing results, and adds the reason
// to those that are listed already.
func markMissing(set *networks.ResultSet, tests orderTests, named testNames, why networks.MissingResult) {
	for i := range set.Missing {
		if m := &set.Missing[i]; named[m.ProviderID] || named[m.TestProviderID] || named[m.LOINC] {
			m.Reason, m.Note, m.Refused = cmp.Or(m.Reason, why.Reason), cmp.Or(m.Note, why.Note), m.Refused || why.Refused
		}
	}
	add := func(code, test, name, loinc string) {
		listed := func(m networks.MissingResult) bool { return m.ProviderID == code && (code != "" || m.LOINC == loinc) }
		if !slices.ContainsFunc(set.Missing, listed) {
			m := why
			m.ProviderID, m.TestProviderID, m.Name, m.LOINC = code, test, name, loinc
			set.Missing = append(set.Missing, m)
		}
	}
	single := maps.Clone(named) // without the results of a whole test, which another test may still bring
	for _, m := range tests.all {
		if named[m.ProviderID] {
			add(m.ProviderID, m.ProviderID, m.Name, "")
			for _, r := range m.Results {
				delete(single, r.ProviderID)
				delete(single, r.LOINC)
			}
		}
	}
	for _, m := range tests.all {
		for _, r := range m.Results {
			if single.namesResult(r) {
				add(r.ProviderID, m.ProviderID, r.Name, r.LOINC)
			}
		}
	}
}
