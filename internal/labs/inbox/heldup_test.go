package inbox_test

import (
	"context"
	"slices"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/labs/results"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

const (
	blocked   = orders.LabProcessingBlocked
	delivered = orders.DeliveredToLab
)

// kit is a test kit of several tests, with its requisition.
func (r *rig) kit() (o orders.Order) {
	r.t.Helper()
	user, test := orderstest.User(r.t, r.db, r.team), orderstest.Test(r.t, r.db, r.team, catalogue.TestKit)
	ask := orderstest.Request(r.t, r.db, user, test)
	userstest.Write(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		offered, err := catalogue.For(ctx, tx, r.team)
		if err != nil {
			return err
		}
		var markers []catalogue.MarkerID
		for _, m := range offered.Markers(catalogue.MarkerFilter{}) {
			simple := m.ALaCarte && len(m.Questions) == 0 && len(m.Results) > 0 && slices.Contains(m.Methods, catalogue.TestKit)
			if m.Lab == test.Lab && simple && len(markers) < 3 {
				markers = append(markers, m.ID)
			}
		}
		method := catalogue.TestKit
		ask.Method, ask.Answers, ask.Set = &method, nil, &orders.OrderSet{AddOn: &orders.AddOn{MarkerIDs: markers}}
		o, err = orders.Create(ctx, tx, r.team, ask)
		return err
	})
	orderstest.To(r.t, r.db, &o, orders.RequisitionCreated)
	return o
}

// held reports that the lab waits with some tests, for what it was not told.
func (r *rig) held(o orders.Order, tests ...string) {
	r.t.Helper()
	r.hears(networks.Report{Placer: o.ID.String(), Status: string(blocked), Detail: string(orders.DemographicsMismatch), Tests: tests})
}

// A lab that waits with one test of several goes on with the others: the order
// shows the block with its reason, stands where it can go on, and the test is
// missing until it comes.
func TestOneTestIsHeldUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		kit := r.kit()
		codes, _ := r.tests(kit)
		markers := r.markers(kit)
		if len(codes) < 2 {
			t.Fatalf("the kit has the tests %v", codes)
		}
		r.held(kit, codes[0])
		now := r.stands("one of several", kit, blocked, delivered)
		if tests, why := r.missing(kit); !slices.Equal(tests, codes[:1]) || why[0] != results.OrderEntry || now.HasMissing == nil || !*now.HasMissing {
			t.Errorf("missing are %v, %v", tests, why)
		}
		want := []string{
			"ordered", "requisition_created",
			"lab_processing_blocked demographic_information_mismatch, something is missing", "delivered_to_lab, something is missing",
		}
		if got := r.told(kit); !slices.Equal(got, want) {
			t.Errorf("told: %q", got)
		}
		r.held(kit, codes[0])
		r.stands("said again", kit, blocked, delivered)

		var others []networks.Result
		for _, m := range markers[1:] {
			others = append(others, values(m)...)
		}
		r.hears(networks.Report{Placer: kit.ID.String(), Results: &networks.ResultSet{Partial: true, Results: others}})
		r.stands("the others", kit, blocked, delivered)
		r.hears(networks.Report{Placer: kit.ID.String(), Results: &networks.ResultSet{Results: values(markers[0])}})
		now = r.stands("all of them", kit, blocked, delivered, orders.Completed)
		if tests, _ := r.missingYet(kit); len(tests) > 0 || now.HasMissing == nil || *now.HasMissing {
			t.Errorf("missing at the end are %v", tests)
		}
	})
}

// The order stops when the lab waits with every test of it, or speaks of none.
func TestAllTestsAreHeldUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		codes, _ := r.tests(r.kit())
		for name, c := range map[string]struct {
			says func(o orders.Order)
			want []orders.Status
		}{
			"all at once":  {func(o orders.Order) { r.held(o, codes...) }, []orders.Status{blocked}},
			"the order":    {func(o orders.Order) { r.held(o) }, []orders.Status{blocked}},
			"unknown ones": {func(o orders.Order) { r.held(o, "X1") }, []orders.Status{blocked}},
			"one after another": {func(o orders.Order) {
				for _, code := range codes {
					r.held(o, code)
				}
			}, slices.Concat(slices.Repeat([]orders.Status{blocked, delivered}, len(codes)-1), []orders.Status{blocked})},
			"the others ended": {func(o orders.Order) {
				r.said(o, orders.Cancelled, codes[1:]...)
				r.held(o, codes[0])
			}, []orders.Status{blocked}},
			"one of what has stopped": {func(o orders.Order) {
				r.held(o)
				r.held(o, codes[0])
			}, []orders.Status{blocked}},
			"one of what goes on again": {func(o orders.Order) {
				r.held(o, codes...)
				r.said(o, delivered)
				r.held(o, codes[0])
			}, []orders.Status{blocked, delivered, blocked, delivered}},
		} {
			o := r.kit()
			c.says(o)
			r.stands(name, o, c.want...)
		}
	})
}

// Only kits can be blocked. For other orders the test is missing, and no step is
// made.
func TestATestOfAWalkInIsHeldUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		o := r.order(catalogue.WalkIn)
		codes, first := r.tests(o)
		r.held(o, codes[1])
		r.stands("one of several", o)
		if tests, _ := r.missing(o); !slices.Equal(tests, codes[1:2]) {
			t.Errorf("missing are %v", tests)
		}
		r.hears(networks.Report{Placer: o.ID.String(), Results: &networks.ResultSet{Partial: true, Results: first}})
		r.stands("another", o, orders.PartialResults)
	})
}
