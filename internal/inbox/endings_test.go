package inbox_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"

	"hale/internal/inbox"
	"hale/internal/labs"
	"hale/internal/networks"
	"hale/internal/orders"
	"hale/internal/orders/orderstest"
	"hale/internal/results"
	"hale/internal/store"
	"hale/internal/store/storetest"
	"hale/internal/users/userstest"
)

// keeper keeps results for good.
type keeper struct{}

func (keeper) TakeResults(ctx context.Context, tx *store.Tx, o *orders.Order, a inbox.Arrival) error {
	return results.Take(ctx, tx, o, results.Arrival{Key: a.Key, At: a.ReceivedAt, SampleID: a.Report.SampleID, Set: *a.Report.Results})
}

// said reports a status of some tests of an order, and waits.
func (r *rig) said(o orders.Order, status orders.Status, tests ...string) {
	r.t.Helper()
	r.hears(networks.Report{Placer: o.ID.String(), Status: string(status), Tests: tests})
}

func (r *rig) hears(report networks.Report) {
	r.t.Helper()
	r.put(uuid.NewString(), report)
	r.settle()
}

// tests are the lab's codes of an order's tests, and the results that the first
// owes.
func (r *rig) tests(o orders.Order) (codes []string, first []networks.Result) {
	r.t.Helper()
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		facts, err := orders.Around(ctx, tx, o.Team, []orders.Order{o})
		codes, first = nil, nil
		for i, m := range facts[0].Markers {
			codes = append(codes, m.ProviderID)
			for _, row := range m.Results {
				if i == 0 {
					first = append(first, networks.Result{ProviderID: row.ProviderID, TestProviderID: m.ProviderID, Value: "1", Flag: "N", Status: "F"})
				}
			}
		}
		return err
	})
	return codes, first
}

// missing are the tests of which results will not come, and why.
func (r *rig) missing(o orders.Order) (tests []string, why []results.Failure) {
	r.t.Helper()
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		found, err := results.Get(ctx, tx, &o, 0)
		tests, why = nil, nil
		for _, m := range found.Missing {
			tests, why = append(tests, m.TestID), append(why, m.Failure)
		}
		return err
	})
	slices.Sort(tests)
	return slices.Compact(tests), why
}

// stands fails unless the order went this way since its requisition.
func (r *rig) stands(what string, o orders.Order, want ...orders.Status) orders.Order {
	r.t.Helper()
	now, path := r.get(o)
	if i := slices.Index(path, orders.RequisitionCreated); i >= 0 {
		path = path[i+1:]
	}
	if !slices.Equal(path, want) {
		r.t.Errorf("%s: the order went %v", what, path)
	}
	return now
}

// A lab that ends one test of several ends none of the others: what it ended is
// missing, and the order goes on until its last test is ended.
func TestTestsThatEnd(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		one, all, each, unnamed := r.order(labs.WalkIn), r.order(labs.WalkIn), r.order(labs.WalkIn), r.order(labs.WalkIn)
		codes, values := r.tests(one)
		if len(codes) < 3 {
			t.Fatalf("the order has the tests %v", codes)
		}

		r.said(one, orders.Cancelled, codes[1])
		now := r.stands("one test", one)
		if tests, _ := r.missing(one); !slices.Equal(tests, codes[1:2]) || now.HasMissing == nil || !*now.HasMissing {
			t.Errorf("missing are %v", tests)
		}
		r.hears(networks.Report{Placer: one.ID.String(), Results: &networks.ResultSet{Partial: true, Results: values}})
		r.stands("values of the others", one, orders.PartialResults)

		r.said(all, orders.Cancelled, codes...)
		r.stands("all tests", all, orders.Cancelled)
		r.said(unnamed, orders.Cancelled)
		r.stands("the order", unnamed, orders.Cancelled)
		for _, code := range codes {
			r.stands("before the last", each)
			r.said(each, orders.Cancelled, code)
		}
		r.stands("one by one", each, orders.Cancelled)
		if tests, _ := r.missing(each); len(tests) != len(codes)-1 {
			t.Errorf("missing are %v", tests)
		}
	})
}

// A rejected specimen stops an order of which there is nothing else. Beside
// values, and beside other specimens, it is why some are missing.
func TestSpecimensThatAreRejected(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		reject := func(o orders.Order, tests ...string) {
			t.Helper()
			set := networks.ResultSet{}
			for _, test := range tests {
				set.Missing = append(set.Missing, networks.Missing{ProviderID: test, TestProviderID: test, Reason: "collection_process_failure"})
			}
			r.hears(networks.Report{
				Placer: o.ID.String(), Status: string(orders.SampleError), Detail: string(orders.SampleHemolyzed), Tests: tests, Results: &set,
			})
		}
		one, all, silent, late := r.order(labs.WalkIn), r.order(labs.WalkIn), r.order(labs.WalkIn), r.order(labs.WalkIn)
		codes, values := r.tests(one)

		reject(one, codes[1])
		r.stands("one of several", one)
		r.hears(networks.Report{Placer: one.ID.String(), Results: &networks.ResultSet{Results: values}})
		if now := r.stands("its others", one, orders.Completed); now.HasMissing == nil || !*now.HasMissing {
			t.Error("nothing is missing")
		}

		reject(all, codes...)
		r.stands("all of them", all, orders.SampleError)

		r.hears(networks.Report{Placer: silent.ID.String(), Status: string(orders.SampleError), Detail: string(orders.QuantityNotSufficient), Tests: codes[:1]})
		r.stands("without a word of results", silent)
		if tests, why := r.missing(silent); !slices.Equal(tests, codes[:1]) || why[0] != results.QuantityNotSufficient {
			t.Errorf("missing are %v, %v", tests, why)
		}

		r.hears(networks.Report{Placer: late.ID.String(), Results: &networks.ResultSet{Partial: true, Results: values}})
		r.said(late, orders.SampleError, codes...)
		r.said(late, orders.SampleError)
		r.stands("after values", late, orders.PartialResults, orders.PartialResults)
		if tests, _ := r.missing(late); slices.Contains(tests, codes[0]) || len(tests) != len(codes)-1 {
			t.Errorf("missing are %v of %v", tests, codes)
		}
	})
}

// A lab that has answered may still say no, until somebody is on the way.
func TestTheLabsLaterNo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		for _, method := range labs.Methods {
			want := orders.Cancelled
			if method == labs.TestKit {
				want = orders.DoNotProcess
			}
			placed, waiting := r.order(method), orderstest.New(t, db, r.team, method)
			codes, _ := r.tests(placed)
			r.hears(networks.Report{Placer: placed.ID.String(), Status: string(orders.DoNotProcess), Tests: codes, Reason: "Account on hold"})
			if now := r.stands(string(method), placed, want); now.Body.Notes != "Account on hold" {
				t.Errorf("%s: the notes are %q", method, now.Body.Notes)
			}
			r.said(waiting, orders.DoNotProcess)
			r.stands(string(method)+" without a receipt", waiting, orders.Ordered, want)
		}
		kit := orderstest.Kit(t, db, r.team)
		orderstest.To(t, db, &kit, orders.WithCustomer)
		r.said(kit, orders.DoNotProcess)
		if now, _ := r.get(kit); now.Status != orders.WithCustomer {
			t.Errorf("a kit that the lab does not know of yet stands at %s", now.Full())
		}
	})
}
