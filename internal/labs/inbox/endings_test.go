package inbox_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/inbox"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/labs/results"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
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
	all := r.markers(o)
	for _, m := range all {
		codes = append(codes, m.ProviderID)
	}
	return codes, values(all[0])
}

// markers are those of an order.
func (r *rig) markers(o orders.Order) (all []*catalogue.Marker) {
	r.t.Helper()
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		facts, err := orders.Around(ctx, tx, o.Team, []orders.Order{o})
		all = facts[0].Markers
		return err
	})
	return all
}

// values are plain results of all that a marker owes.
func values(m *catalogue.Marker) (all []networks.Result) {
	for _, row := range m.Results {
		all = append(all, networks.Result{ProviderID: row.ProviderID, TestProviderID: m.ProviderID, Value: "1", Flag: "N", Status: "F"})
	}
	return all
}

// missing are the tests of which results will not come, and why.
func (r *rig) missing(o orders.Order) (tests []string, why []results.Failure) {
	r.t.Helper()
	tests, why = r.missingYet(o)
	if tests == nil {
		r.t.Errorf("nothing is missing of %s", o.ID)
	}
	return tests, why
}

// missingYet is missing of an order that may have no results at all.
func (r *rig) missingYet(o orders.Order) (tests []string, why []results.Failure) {
	r.t.Helper()
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		found, err := results.Get(ctx, tx, &o, 0)
		if fault.Is(err, fault.NotFound) {
			err = nil
		}
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
		one, all, each, unnamed := r.order(catalogue.WalkIn), r.order(catalogue.WalkIn), r.order(catalogue.WalkIn), r.order(catalogue.WalkIn)
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
		one, all, silent, late := r.order(catalogue.WalkIn), r.order(catalogue.WalkIn), r.order(catalogue.WalkIn), r.order(catalogue.WalkIn)
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

// What a lab would not measure is not drawn again. When its words say that it
// could not, it is.
func TestRefusedTestsAreNotDrawnAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			team, err := teams.Get(ctx, tx, r.team)
			if err != nil {
				return err
			}
			team.Settings.Redraws = true
			return teams.Update(ctx, tx, team)
		})
		for _, c := range []struct {
			name   string
			report func(code string) networks.Report
			ends   orders.Status
			why    results.Failure
		}{
			{"cancelled", func(code string) networks.Report {
				return networks.Report{Status: string(orders.Cancelled), Tests: []string{code}, Reason: "Account on hold"}
			}, orders.Completed, results.OrderEntry},
			{"refused", func(code string) networks.Report {
				return networks.Report{Status: string(orders.DoNotProcess), Tests: []string{code}}
			}, orders.Completed, results.OrderEntry},
			{"cancelled, and said to be missing", func(code string) networks.Report {
				return networks.Report{Status: string(orders.Cancelled), Tests: []string{code}, Results: &networks.ResultSet{
					Missing: []networks.Missing{{ProviderID: code, TestProviderID: code}},
				}}
			}, orders.Completed, results.OrderEntry},
			{"refused beside others", func(code string) networks.Report {
				return networks.Report{Status: string(orders.RequisitionCreated), Refused: []string{code}}
			}, orders.Completed, results.OrderEntry},
			{"cancelled for its sample", func(code string) networks.Report {
				return networks.Report{Status: string(orders.Cancelled), Tests: []string{code}, Reason: "Specimen hemolyzed"}
			}, orders.RedrawAvailable, results.CollectionProcess},
			{"rejected", func(code string) networks.Report {
				return networks.Report{Status: string(orders.SampleError), Tests: []string{code}}
			}, orders.RedrawAvailable, results.UnknownFailure},
		} {
			o := r.order(catalogue.WalkIn)
			markers := r.markers(o)
			report := c.report(markers[1].ProviderID)
			report.Placer = o.ID.String()
			r.hears(report)
			set := networks.ResultSet{Comments: []string{"The other tube had clotted."}}
			for i, m := range markers {
				if i != 1 {
					set.Results = append(set.Results, values(m)...)
				}
			}
			if c.why == results.UnknownFailure {
				set.Comments = nil
			}
			r.hears(networks.Report{Placer: o.ID.String(), Results: &set})
			r.stands(c.name, o, c.ends)
			tests, why := r.missing(o)
			if !slices.Equal(tests, []string{markers[1].ProviderID}) || len(why) != len(markers[1].Results) || why[0] != c.why {
				t.Errorf("%s: missing are %v, %v", c.name, tests, why)
			}
		}
	})
}

// A lab names tests by its codes of them or of what they find, by LOINC, or as
// nobody here knows. The last is the whole order, unless it is another test that
// an ordered one brings along.
func TestNamesOfTestsThatEnd(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		of := r.markers(r.order(catalogue.WalkIn))
		last := len(of) - 1
		rows := func(markers ...*catalogue.Marker) (codes, loincs []string) {
			for _, m := range markers {
				for _, row := range m.Results {
					codes, loincs = append(codes, row.ProviderID), append(loincs, row.LOINC)
				}
			}
			return codes, loincs
		}
		codes, _ := rows(of...)
		_, loincs := rows(of...)
		ofOne, _ := rows(of[last])
		_, loincsOfOne := rows(of[last])
		var reflex string
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			offered, err := catalogue.For(ctx, tx, r.team)
			if all := offered.WithReflex(of); len(all) > len(of) {
				reflex = all[len(of)].ProviderID
			}
			return err
		})
		for _, c := range []struct {
			name    string
			says    [][]string
			over    bool
			missing int
		}{
			{"codes that nobody knows", [][]string{{"X1", "X2"}}, true, 0},
			{"codes of all results", [][]string{codes}, true, 0},
			{"LOINC of all results", [][]string{loincs}, true, 0},
			{"the results of one test after another", [][]string{codes[:3], codes[3:]}, true, 3},
			{"the results of one test", [][]string{ofOne}, false, len(ofOne)},
			{"LOINC of one test", [][]string{loincsOfOne}, false, len(ofOne)},
			{"its code and LOINC", [][]string{append([]string{of[last].ProviderID}, loincsOfOne...)}, false, len(ofOne)},
			{"one result of a test", [][]string{{of[0].Results[1].ProviderID}}, false, 1},
			{"one result of a test by LOINC, and what nobody knows", [][]string{{"X1", of[0].Results[1].LOINC}}, false, 1},
			{"a test that another brings along", [][]string{{reflex}}, false, 1},
		} {
			o := r.order(catalogue.WalkIn)
			for _, names := range c.says {
				r.said(o, orders.Cancelled, names...)
			}
			want := []orders.Status{}
			if c.over {
				want = append(want, orders.Cancelled)
			}
			r.stands(c.name, o, want...)
			_, why := r.missingYet(o)
			if len(why) != c.missing {
				t.Errorf("%s: %d are missing", c.name, len(why))
			}
		}
	})
}

// A value that the lab reported stays when it rejects the rest, also where it
// has one code for a test and for what the test finds.
func TestValuesBeforeARejection(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		o := r.order(catalogue.WalkIn)
		codes, _ := r.tests(o)
		r.hears(networks.Report{Placer: o.ID.String(), Results: &networks.ResultSet{Partial: true, Results: []networks.Result{
			{ProviderID: codes[0], TestProviderID: codes[0], Name: "Total", Value: "4.1", Status: "F"},
		}}})
		r.said(o, orders.SampleError, codes...)
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			found, err := results.Get(ctx, tx, &o, 0)
			if len(found.Results) != 1 || found.Results[0].Text != "4.1" || !found.HasMissing() {
				t.Errorf("the results are %+v", found.Results)
			}
			return err
		})
	})
}

// A lab's no to some tests counts whenever it comes: before we know that it has
// the order, and beside its yes to others.
func TestRefusedBesideOthers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		early, beside, valued := orderstest.New(t, db, r.team, catalogue.WalkIn), orderstest.New(t, db, r.team, catalogue.WalkIn), r.order(catalogue.WalkIn)
		over, unsent := r.order(catalogue.WalkIn), orderstest.Kit(t, db, r.team)
		codes, found := r.tests(early)
		refused := func(o orders.Order) []string {
			tests, _ := r.missingYet(o)
			return tests
		}

		r.said(early, orders.DoNotProcess, codes[1])
		r.stands("before a receipt", early, orders.Ordered)
		if tests := refused(early); !slices.Equal(tests, codes[1:2]) {
			t.Errorf("before a receipt missing are %v", tests)
		}

		r.hears(networks.Report{
			Placer: beside.ID.String(), Status: string(orders.RequisitionCreated), Tests: codes[1:], Refused: codes[:1], Reason: "Account on hold",
		})
		now := r.stands("beside a receipt", beside)
		if tests := refused(beside); !slices.Equal(tests, codes[:1]) || now.Status != orders.RequisitionCreated || now.Body.Notes != "" {
			t.Errorf("beside a receipt missing are %v of an order at %s", tests, now.Full())
		}
		r.said(beside, orders.Cancelled, codes[1:]...)
		r.stands("its others", beside, orders.Cancelled)

		r.hears(networks.Report{Placer: valued.ID.String(), Refused: codes[1:], Results: &networks.ResultSet{Results: found}})
		r.stands("beside values", valued, orders.Completed)
		if tests := refused(valued); len(tests) != len(codes)-1 {
			t.Errorf("beside values missing are %v", tests)
		}

		orderstest.To(t, db, &over, orders.Cancelled)
		for _, o := range []orders.Order{over, unsent} {
			r.said(o, orders.Cancelled, codes[1])
			if tests := refused(o); len(tests) > 0 {
				t.Errorf("%s: missing are %v", o.Full(), tests)
			}
		}
	})
}

// A specimen that waits for what the lab was not told ends nothing, also when the
// lab marks its tests as not done: they may still be.
func TestSpecimensThatWait(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		for method, path := range map[orders.Method][]orders.Status{catalogue.TestKit: {orders.LabProcessingBlocked}, catalogue.WalkIn: nil} {
			o := r.order(method)
			codes, values := r.tests(o)
			set := networks.ResultSet{}
			for _, code := range codes {
				set.Missing = append(set.Missing, networks.Missing{ProviderID: code, TestProviderID: code})
			}
			r.hears(networks.Report{
				Placer: o.ID.String(), Status: string(orders.LabProcessingBlocked), Detail: string(orders.DemographicsMissing), Tests: codes, Results: &set,
			})
			now := r.stands(string(method), o, path...)
			if now.HasMissing == nil || !*now.HasMissing {
				t.Errorf("%s: nothing is missing", method)
			}
			r.hears(networks.Report{Placer: o.ID.String(), Results: &networks.ResultSet{Results: values}})
			r.stands(string(method)+" with values", o, append(path, orders.Completed)...)
		}
	})
}

// A lab that has answered may still say no, until somebody is on the way.
func TestTheLabsLaterNo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		for _, method := range catalogue.Methods {
			want := orders.Cancelled
			if method == catalogue.TestKit {
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
