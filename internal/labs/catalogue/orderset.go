package catalogue

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// ResolveOrderSet returns the panel of an order, or a fault with the reason of
// the refusal. If a set is more than one lab test, it becomes a generated lab
// test. This call creates the test, unless an earlier order of the same markers
// did.
//
// Reference 1.9.
func ResolveOrderSet(ctx context.Context, tx *store.Tx, team teams.ID, set OrderSet, method *Method, account *AccountID) (Panel, error) {
	p, generated, err := resolve(ctx, tx, team, set, method, account)
	if err != nil || !generated {
		return p, err
	}
	return p, p.storeTest(ctx, tx)
}

// PreviewOrderSet returns the same panel as ResolveOrderSet, and stores nothing. A lab
// test that would be generated has an id that is not stored.
func PreviewOrderSet(ctx context.Context, tx *store.Tx, team teams.ID, set OrderSet, method *Method, account *AccountID) (Panel, error) {
	p, _, err := resolve(ctx, tx, team, set, method, account)
	return p, err
}

// resolve also reports whether the lab test of the panel is new.
func resolve(ctx context.Context, tx *store.Tx, team teams.ID, set OrderSet, method *Method, account *AccountID) (_ Panel, generated bool, err error) {
	if err := set.check(); err != nil {
		return Panel{}, false, err
	}
	if set.hasMarkers() && method == nil {
		return Panel{}, false, refuse("collection_method_missing", "collection_method is required when order_set has an add_on", "collection_method")
	}
	c, err := Load(ctx, tx, team)
	if err != nil {
		return Panel{}, false, err
	}
	tests, err := orderedTests(ctx, tx, team, set.TestIDs)
	if err != nil {
		return Panel{}, false, err
	}
	lab, err := labOfSet(ctx, tx, team, c, tests, account)
	if err != nil {
		return Panel{}, false, err
	}
	chosen, err := methodOfSet(tests, method)
	if err != nil {
		return Panel{}, false, err
	}
	added, err := c.addOnMarkers(lab, set)
	if err != nil {
		return Panel{}, false, err
	}
	p, err := c.newPanel(tests, added, chosen)
	if err != nil {
		return Panel{}, false, err
	}
	if lab != nil && lab.ID != p.Lab.ID {
		return Panel{}, false, refuseSeveralLabs()
	}
	if len(tests) == 1 && len(added) == 0 {
		p.Test = tests[0]
		return p, false, nil
	}
	p.Test = generateTest(tx, team, p)
	return p, true, nil
}

// OrderSetMarkers lists the markers of an order set. It needs no collection
// method.
//
// Spec: Lab lookups, POST /v3/lab_tests/list_order_set_markers.
func OrderSetMarkers(ctx context.Context, tx *store.Tx, team teams.ID, set OrderSet, account *AccountID) ([]*Marker, error) {
	if err := set.check(); err != nil {
		return nil, err
	}
	c, err := Load(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	tests, err := orderedTests(ctx, tx, team, set.TestIDs)
	if err != nil {
		return nil, err
	}
	lab, err := labOfSet(ctx, tx, team, c, tests, account)
	if err != nil {
		return nil, err
	}
	added, err := c.addOnMarkers(lab, set)
	if err != nil {
		return nil, err
	}
	p := c.combine(tests, added)
	for _, m := range p.Markers {
		if m.Lab != p.Markers[0].Lab {
			return nil, refuseSeveralLabs()
		}
	}
	return p.Markers, nil
}

// check checks the form of a set.
func (s OrderSet) check() error {
	switch {
	case len(s.MarkerIDs) > 0 && len(s.ProviderIDs) > 0:
		return refuse("both_id_kinds", "add_on takes either marker_ids or provider_ids, not both", "order_set", "add_on")
	case s.AddOn && !s.hasMarkers():
		return refuse("empty_add_on", "add_on must name marker_ids or provider_ids", "order_set", "add_on")
	case len(s.TestIDs) == 0 && !s.hasMarkers():
		return refuse("empty_order_set", "order_set must name lab_test_ids, or marker_ids or provider_ids in add_on", "order_set")
	}
	return nil
}

// hasMarkers reports whether the set names single markers.
func (s OrderSet) hasMarkers() bool { return len(s.MarkerIDs) > 0 || len(s.ProviderIDs) > 0 }

// orderedTests reads the lab tests of a set, without duplicates.
func orderedTests(ctx context.Context, tx *store.Tx, team teams.ID, testIDs []TestID) ([]Test, error) {
	var tests []Test
	for i, id := range testIDs {
		if slices.Contains(testIDs[:i], id) {
			continue
		}
		t, ok, err := findTest(ctx, tx, team, id)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, refuse("unknown_lab_test", "Test does not exist", "order_set", "lab_test_ids")
		}
		switch t.Status() {
		case Active:
		case PendingApproval:
			return nil, refuse("lab_test_not_approved", "Test is pending approval: "+id.String(), "order_set", "lab_test_ids")
		case Inactive:
			return nil, refuse("lab_test_inactive", "Test is not active: "+id.String(), "order_set", "lab_test_ids")
		}
		tests = append(tests, t)
	}
	return tests, nil
}

// labOfSet returns the lab of the lab tests and the account, which must agree.
// It returns nil if there is neither.
func labOfSet(ctx context.Context, tx *store.Tx, team teams.ID, c *Catalogue, tests []Test, account *AccountID) (*Lab, error) {
	var lab *Lab
	for _, t := range tests {
		if lab != nil && lab.ID != t.Lab {
			return nil, refuseSeveralLabs()
		}
		l, ok := c.Lab(t.Lab)
		if !ok {
			return nil, refuse("lab_gone", "The lab of this test is no longer offered: "+t.ID.String(), "order_set", "lab_test_ids")
		}
		lab = &l
	}
	if account == nil {
		return lab, nil
	}
	a, err := GetAccount(ctx, tx, team, *account)
	if err != nil {
		return nil, err
	}
	if lab != nil && lab.ID != a.Lab.ID {
		return nil, refuseOtherLab()
	}
	for _, t := range tests {
		if t.Account != nil && *t.Account != *account {
			return nil, refuse("lab_account_other_test", "lab_account_id is not the account of test "+t.ID.String(), "lab_account_id")
		}
	}
	return &a.Lab, nil
}

// methodOfSet returns the chosen method, or the one that all lab tests share.
func methodOfSet(tests []Test, chosen *Method) (Method, error) {
	if chosen != nil {
		return *chosen, nil
	}
	method := tests[0].Method // a set without lab tests has a chosen method
	for _, t := range tests {
		if t.Method != method {
			return "", refuse("several_methods", "The tests have several collection methods: choose one with collection_method", "collection_method")
		}
	}
	return method, nil
}

// addOnMarkers returns the single markers of a set.
func (c *Catalogue) addOnMarkers(lab *Lab, set OrderSet) ([]*Marker, error) {
	if !set.hasMarkers() {
		return nil, nil
	}
	added, err := c.findMarkers(lab, set.MarkerIDs, set.ProviderIDs)
	if err != nil {
		return nil, err
	}
	for _, m := range added {
		if !m.ALaCarte {
			return nil, refuse("not_a_la_carte", fmt.Sprintf("Marker %s cannot be ordered by itself", m.Name), "order_set", "add_on")
		}
	}
	return added, nil
}

// combine combines the markers of tests and add-on, without duplicates.
func (c *Catalogue) combine(tests []Test, added []*Marker) Panel {
	var p Panel
	for _, t := range tests {
		p.Fasting = p.Fasting || t.Fasting
		p.addMarkers(c.MarkersOf(t))
	}
	p.addMarkers(added)
	for _, m := range added {
		p.Fasting = p.Fasting || m.Fasting
	}
	return p
}

// newPanel combines tests and add-on for a method that all of them allow.
func (c *Catalogue) newPanel(tests []Test, added []*Marker, method Method) (Panel, error) {
	p := c.combine(tests, added)
	p.Method = method
	if len(p.Markers) == 0 {
		return Panel{}, refuse("no_markers", "The tests have no markers that are still offered", "order_set")
	}
	for _, m := range p.Markers {
		if m.Lab != p.Markers[0].Lab {
			return Panel{}, refuseSeveralLabs()
		}
		if !m.Active {
			return Panel{}, refuse("marker_inactive", fmt.Sprintf("Marker %s is not active", m.Name), "order_set")
		}
	}
	p.Lab, _ = c.Lab(p.Markers[0].Lab) // the lab of a marker always exists
	p.Sample = mainSample(p.Markers)
	p.CommonTAT, p.WorstTAT = TAT(p.Markers)
	return p, checkMethod(p.Lab, p.Markers, method, "collection_method")
}

func (p *Panel) addMarkers(markers []*Marker) {
	for _, m := range markers {
		if !slices.Contains(p.Markers, m) {
			p.Markers = append(p.Markers, m)
		}
	}
}

// findMarkers returns markers by our ids or by the lab's codes. All must be
// orderable and of one lab. Without a lab, the codes must belong to only one
// lab.
func (c *Catalogue) findMarkers(lab *Lab, markerIDs []MarkerID, providerIDs []string) ([]*Marker, error) {
	var p Panel // to add each marker once
	for i, id := range markerIDs {
		m, ok := c.Marker(id)
		if !ok || lab != nil && m.Lab != lab.ID {
			return nil, refuse("unknown_marker", fmt.Sprintf("Marker does not exist: marker_ids[%d]", i), "marker_ids")
		}
		p.addMarkers([]*Marker{m})
	}
	for i, code := range providerIDs {
		m, err := c.findCoded(lab, strings.TrimSpace(code), i)
		if err != nil {
			return nil, err
		}
		p.addMarkers([]*Marker{m})
	}
	for _, m := range p.Markers {
		switch {
		case m.Lab != p.Markers[0].Lab:
			return nil, refuseSeveralLabs()
		case !m.Active:
			return nil, refuse("marker_inactive", fmt.Sprintf("Marker %s is not active", m.Name), "marker_ids")
		case !m.Orderable || m.Reflex:
			return nil, refuse("marker_not_orderable", fmt.Sprintf("Marker %s cannot be ordered", m.Name), "marker_ids")
		}
	}
	return p.Markers, nil
}

// findCoded returns a marker by a lab's code; it searches all labs if none is
// given. at is the index of the code in provider_ids.
func (c *Catalogue) findCoded(lab *Lab, code string, at int) (*Marker, error) {
	var found []*Marker
	for _, l := range c.labs {
		if m, ok := c.MarkerByCode(l.ID, code); ok && (lab == nil || lab.ID == l.ID) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		return nil, refuse("unknown_marker", fmt.Sprintf("Marker does not exist: provider_ids[%d]", at), "provider_ids")
	case 1:
		return found[0], nil
	}
	return nil, refuse("ambiguous_provider_id", fmt.Sprintf("Several labs have provider_ids[%d]: name the lab by a lab test, lab_slug or lab_account_id", at), "provider_ids")
}

// nameOf returns the name of a generated lab test, from its markers.
func nameOf(markers []*Marker) string {
	const named = 3
	var names []string
	for _, m := range markers[:min(named, len(markers))] {
		names = append(names, m.Name)
	}
	name := strings.Join(names, ", ")
	if more := len(markers) - named; more > 0 {
		name += fmt.Sprintf(" and %d more", more)
	}
	return name
}

// checkMethod refuses a method that the lab or a marker does not allow.
func checkMethod(l Lab, markers []*Marker, method Method, field string) error {
	possible := l.Offers(method)
	for _, m := range markers {
		possible = possible && m.CollectedBy(method)
	}
	if possible {
		return nil
	}
	return refuse("method_not_offered", "Cannot set "+field+" to "+strings.ToUpper(string(method)), field)
}

// refuse returns a 400 fault with a code for programs and the field at fault.
func refuse(code, msg string, loc ...string) error {
	return fault.New(fault.Refused, msg).At(append([]string{"body"}, loc...)...).WithType(code)
}

func refuseSeveralLabs() error {
	return refuse("several_labs", "All tests and markers of an order must be of one lab", "order_set")
}

func refuseOtherLab() error {
	return refuse("lab_account_other_lab", "lab_account_id is not an account with the lab of the order", "lab_account_id")
}

// PanelOf returns the panel of markers of an earlier order, such as those that a
// lab could not measure. The markers need not be orderable by themselves. All
// are of one lab.
//
// Reference 1.7, redraw.
func PanelOf(ctx context.Context, tx *store.Tx, team teams.ID, markers []MarkerID, method Method) (Panel, error) {
	c, err := Load(ctx, tx, team)
	if err != nil {
		return Panel{}, err
	}
	var of Panel // to add each marker once
	for _, id := range markers {
		if m, ok := c.Marker(id); ok && !slices.Contains(of.Markers, m) {
			of.Markers = append(of.Markers, m)
		}
	}
	if len(of.Markers) == 0 {
		return Panel{}, fault.New(fault.Refused, "The markers are no longer offered")
	}
	p, err := c.newPanel(nil, of.Markers, method)
	if err != nil {
		return Panel{}, err
	}
	p.Test = generateTest(tx, team, p)
	return p, p.storeTest(ctx, tx)
}
