package catalogue

import (
	"context"
	"slices"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// ResolveOrderSet makes out what an order will be of, or refuses with the
// reason. A set that is more than one lab test becomes a generated one, made
// now or by an earlier order of the same markers.
//
// Reference 1.9.
func ResolveOrderSet(ctx context.Context, tx *store.Tx, team teams.ID, set OrderSet, method *Method, account *AccountID) (Panel, error) {
	p, generated, err := makeOut(ctx, tx, team, set, method, account)
	if err != nil || !generated {
		return p, err
	}
	return p, p.keep(ctx, tx)
}

// PreviewOrderSet is ResolveOrderSet without storing anything: a lab test that
// would have to be generated has an id that nothing else knows.
func PreviewOrderSet(ctx context.Context, tx *store.Tx, team teams.ID, set OrderSet, method *Method, account *AccountID) (Panel, error) {
	p, _, err := makeOut(ctx, tx, team, set, method, account)
	return p, err
}

// makeOut reports also whether the panel's lab test is a new one.
func makeOut(ctx context.Context, tx *store.Tx, team teams.ID, set OrderSet, method *Method, account *AccountID) (_ Panel, generated bool, err error) {
	if err := set.check(); err != nil {
		return Panel{}, false, err
	}
	if set.single() && method == nil {
		return Panel{}, false, refuse("collection_method_missing", "collection_method is required when order_set has an add_on", "collection_method")
	}
	c, err := For(ctx, tx, team)
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
	added, err := c.addOn(lab, set)
	if err != nil {
		return Panel{}, false, err
	}
	p, err := c.panel(tests, added, chosen)
	if err != nil {
		return Panel{}, false, err
	}
	if lab != nil && lab.ID != p.Lab.ID {
		return Panel{}, false, severalLabs()
	}
	if len(tests) == 1 && len(added) == 0 {
		p.Test = tests[0]
		return p, false, nil
	}
	p.Test = generate(tx, team, p)
	return p, true, nil
}

// OrderSetMarkers lists the markers that an order of a set would have, for
// which no way to collect the sample need be chosen.
//
// Spec: Lab lookups, POST /v3/lab_tests/list_order_set_markers.
func OrderSetMarkers(ctx context.Context, tx *store.Tx, team teams.ID, set OrderSet, account *AccountID) ([]*Marker, error) {
	if err := set.check(); err != nil {
		return nil, err
	}
	c, err := For(ctx, tx, team)
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
	added, err := c.addOn(lab, set)
	if err != nil {
		return nil, err
	}
	p := c.gather(tests, added)
	for _, m := range p.Markers {
		if m.Lab != p.Markers[0].Lab {
			return nil, severalLabs()
		}
	}
	return p.Markers, nil
}

// check looks at the form of a set.
func (s OrderSet) check() error {
	switch {
	case len(s.MarkerIDs) > 0 && len(s.ProviderIDs) > 0:
		return refuse("both_id_kinds", "add_on takes either marker_ids or provider_ids, not both", "order_set", "add_on")
	case s.AddOn && !s.single():
		return refuse("empty_add_on", "add_on must name marker_ids or provider_ids", "order_set", "add_on")
	case len(s.TestIDs) == 0 && !s.single():
		return refuse("empty_order_set", "order_set must name lab_test_ids, or marker_ids or provider_ids in add_on", "order_set")
	}
	return nil
}

// single reports whether the set names single markers.
func (s OrderSet) single() bool { return len(s.MarkerIDs) > 0 || len(s.ProviderIDs) > 0 }

// orderedTests reads the lab tests of a set, each once.
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
			return nil, refuse("lab_test_not_approved", "Test is pending approval", "order_set", "lab_test_ids")
		case Inactive:
			return nil, refuse("lab_test_inactive", "Test is not active", "order_set", "lab_test_ids")
		}
		tests = append(tests, t)
	}
	return tests, nil
}

// labOfSet is the lab that the lab tests and the account agree on, nil when
// there is neither.
func labOfSet(ctx context.Context, tx *store.Tx, team teams.ID, c *Catalogue, tests []Test, account *AccountID) (*Lab, error) {
	var lab *Lab
	for _, t := range tests {
		if lab != nil && lab.ID != t.Lab {
			return nil, severalLabs()
		}
		l, ok := c.Lab(t.Lab)
		if !ok {
			return nil, refuse("lab_gone", "The lab of this test is no longer offered", "order_set", "lab_test_ids")
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
		return nil, accountOfOtherLab()
	}
	for _, t := range tests {
		if t.Account != nil && *t.Account != *account {
			return nil, refuse("lab_account_other_test", "This test is offered with another lab account only", "lab_account_id")
		}
	}
	return &a.Lab, nil
}

// methodOfSet is the chosen method, or the one that all lab tests have.
func methodOfSet(tests []Test, chosen *Method) (Method, error) {
	if chosen != nil {
		return *chosen, nil
	}
	method := tests[0].Method // there is a lab test: an add_on needs a chosen method
	for _, t := range tests {
		if t.Method != method {
			return "", refuse("several_methods", "The tests have several collection methods: choose one with collection_method", "collection_method")
		}
	}
	return method, nil
}
