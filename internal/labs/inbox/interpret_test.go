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

// resultsHandler stores results as the service does.
type resultsHandler struct{}

func (resultsHandler) TakeResults(ctx context.Context, tx *store.Tx, o *orders.Order, a inbox.Arrival) error {
	return results.Take(ctx, tx, o, results.Arrival{Key: a.Key, At: a.ReceivedAt, SampleID: a.Report.SampleID, Patient: a.Report.Patient, Set: *a.Report.Results})
}

// reportStatus reports a status of some tests of an order, and waits.
func (r *fixture) reportStatus(o orders.Order, status orders.Status, tests ...string) {
	r.t.Helper()
	r.receive(networks.Report{Placer: o.ID.String(), Status: string(status), Tests: tests})
}

func (r *fixture) receive(report networks.Report) {
	r.t.Helper()
	r.put(uuid.NewString(), report)
	r.settle()
}

// tests returns the lab's codes of an order's tests, and the results of the
// first test.
func (r *fixture) tests(o orders.Order) (codes []string, first []networks.Result) {
	r.t.Helper()
	all := r.markers(o)
	for _, m := range all {
		codes = append(codes, m.ProviderID)
	}
	return codes, values(all[0])
}

// markers returns an order's markers.
func (r *fixture) markers(o orders.Order) (all []*catalogue.Marker) {
	r.t.Helper()
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		facts, err := orders.ReadFacts(ctx, tx, o.Team, []orders.Order{o})
		all = facts[0].Markers
		return err
	})
	return all
}

// values returns normal results for every result of a marker.
func values(m *catalogue.Marker) (all []networks.Result) {
	for _, row := range m.Results {
		all = append(all, networks.Result{ProviderID: row.ProviderID, TestProviderID: m.ProviderID, Value: "1", Flag: "N", Status: "F"})
	}
	return all
}

// missing returns the tests with missing results, and the reasons.
func (r *fixture) missing(o orders.Order) (tests []string, why []results.Failure) {
	r.t.Helper()
	tests, why = r.missingYet(o)
	if tests == nil {
		r.t.Errorf("nothing is missing of %s", o.ID)
	}
	return tests, why
}

// missingYet returns the same as missing, and nothing if the order has no results.
func (r *fixture) missingYet(o orders.Order) (tests []string, why []results.Failure) {
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

// wantPath fails unless the order took these steps since its requisition.
func (r *fixture) wantPath(what string, o orders.Order, want ...orders.Status) orders.Order {
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

// A lab that ends one of several tests ends no other test. The results of the
// ended test are missing, and the order continues until its last test has
// ended.
func TestLabEndsTests(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		r.work()
		one, all, each, unnamed := r.order(catalogue.WalkIn), r.order(catalogue.WalkIn), r.order(catalogue.WalkIn), r.order(catalogue.WalkIn)
		codes, values := r.tests(one)
		if len(codes) < 3 {
			t.Fatalf("the order has the tests %v", codes)
		}

		r.reportStatus(one, orders.Cancelled, codes[1])
		now := r.wantPath("one test", one)
		if tests, _ := r.missing(one); !slices.Equal(tests, codes[1:2]) || now.HasMissing == nil || !*now.HasMissing {
			t.Errorf("missing are %v", tests)
		}
		r.receive(networks.Report{Placer: one.ID.String(), Results: &networks.ResultSet{Partial: true, Results: values}})
		r.wantPath("values of the others", one, orders.PartialResults)

		r.reportStatus(all, orders.Cancelled, codes...)
		r.wantPath("all tests", all, orders.Cancelled)
		r.reportStatus(unnamed, orders.Cancelled)
		r.wantPath("the order", unnamed, orders.Cancelled)
		for _, code := range codes {
			r.wantPath("before the last", each)
			r.reportStatus(each, orders.Cancelled, code)
		}
		r.wantPath("one by one", each, orders.Cancelled)
		if tests, _ := r.missing(each); len(tests) != len(codes)-1 {
			t.Errorf("missing are %v", tests)
		}
	})
}

// A rejected specimen stops an order that has no other test. Beside values or
// other specimens, it is the reason why results are missing.
func TestRejectedSpecimens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		r.work()
		reject := func(o orders.Order, tests ...string) {
			t.Helper()
			set := networks.ResultSet{}
			for _, test := range tests {
				set.Missing = append(set.Missing, networks.MissingResult{ProviderID: test, TestProviderID: test, Reason: "collection_process_failure"})
			}
			r.receive(networks.Report{
				Placer: o.ID.String(), Status: string(orders.SampleError), Detail: string(orders.SampleHemolyzed), Tests: tests, Results: &set,
			})
		}
		one, all, silent, late := r.order(catalogue.WalkIn), r.order(catalogue.WalkIn), r.order(catalogue.WalkIn), r.order(catalogue.WalkIn)
		codes, values := r.tests(one)

		reject(one, codes[1])
		r.wantPath("one of several", one)
		r.receive(networks.Report{Placer: one.ID.String(), Results: &networks.ResultSet{Results: values}})
		if now := r.wantPath("its others", one, orders.Completed); now.HasMissing == nil || !*now.HasMissing {
			t.Error("nothing is missing")
		}

		reject(all, codes...)
		stopped := r.wantPath("all of them", all, orders.SampleError)
		said := r.events(all)
		if last := said[len(said)-1]; stopped.HasMissing == nil || !*stopped.HasMissing || last != "sample_error sample_hemolyzed, something is missing" {
			t.Errorf("the order's last event says %q", said)
		}

		r.receive(networks.Report{Placer: silent.ID.String(), Status: string(orders.SampleError), Detail: string(orders.QuantityNotSufficient), Tests: codes[:1]})
		r.wantPath("without results", silent)
		if tests, why := r.missing(silent); !slices.Equal(tests, codes[:1]) || why[0] != results.QuantityNotSufficient {
			t.Errorf("missing are %v, %v", tests, why)
		}

		r.receive(networks.Report{Placer: late.ID.String(), Results: &networks.ResultSet{Partial: true, Results: values}})
		r.reportStatus(late, orders.SampleError, codes...)
		r.reportStatus(late, orders.SampleError)
		r.wantPath("after values", late, orders.PartialResults, orders.PartialResults)
		if tests, _ := r.missing(late); slices.Contains(tests, codes[0]) || len(tests) != len(codes)-1 {
			t.Errorf("missing are %v of %v", tests, codes)
		}
	})
}

// A test that the lab would not measure is not redrawn. A test that it could
// not measure is.
func TestRefusedTestsAreNotRedrawn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
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
					Missing: []networks.MissingResult{{ProviderID: code, TestProviderID: code}},
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
			r.receive(report)
			set := networks.ResultSet{Comments: []string{"The other tube had clotted."}}
			for i, m := range markers {
				if i != 1 {
					set.Results = append(set.Results, values(m)...)
				}
			}
			if c.why == results.UnknownFailure {
				set.Comments = nil
			}
			r.receive(networks.Report{Placer: o.ID.String(), Results: &set})
			r.wantPath(c.name, o, c.ends)
			tests, why := r.missing(o)
			if !slices.Equal(tests, []string{markers[1].ProviderID}) || len(why) != len(markers[1].Results) || why[0] != c.why {
				t.Errorf("%s: missing are %v, %v", c.name, tests, why)
			}
		}
	})
}

// A lab names tests by its codes of tests or results, by LOINC, or by unknown
// names. An unknown name means the whole order, unless it is a reflex test of
// an ordered one.
func TestNamesOfEndedTests(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
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
			offered, err := catalogue.Load(ctx, tx, r.team)
			if all := offered.AddReflex(of); len(all) > len(of) {
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
			{"unknown codes", [][]string{{"X1", "X2"}}, true, 0},
			{"codes of all results", [][]string{codes}, true, 0},
			{"LOINC of all results", [][]string{loincs}, true, 0},
			{"the results of one test after another", [][]string{codes[:3], codes[3:]}, true, 3},
			{"the results of one test", [][]string{ofOne}, false, len(ofOne)},
			{"LOINC of one test", [][]string{loincsOfOne}, false, len(ofOne)},
			{"its code and LOINC", [][]string{append([]string{of[last].ProviderID}, loincsOfOne...)}, false, len(ofOne)},
			{"one result of a test", [][]string{{of[0].Results[1].ProviderID}}, false, 1},
			{"one result of a test by LOINC, and an unknown code", [][]string{{"X1", of[0].Results[1].LOINC}}, false, 1},
			{"a reflex test", [][]string{{reflex}}, false, 1},
		} {
			o := r.order(catalogue.WalkIn)
			for _, names := range c.says {
				r.reportStatus(o, orders.Cancelled, names...)
			}
			want := []orders.Status{}
			if c.over {
				want = append(want, orders.Cancelled)
			}
			r.wantPath(c.name, o, want...)
			_, why := r.missingYet(o)
			if len(why) != c.missing {
				t.Errorf("%s: %d are missing", c.name, len(why))
			}
		}
	})
}

// A reported value stays when the lab rejects the rest, even if the lab has
// one code for a test and its result.
func TestValuesBeforeRejection(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		r.work()
		o := r.order(catalogue.WalkIn)
		codes, _ := r.tests(o)
		r.receive(networks.Report{Placer: o.ID.String(), Results: &networks.ResultSet{Partial: true, Results: []networks.Result{
			{ProviderID: codes[0], TestProviderID: codes[0], Name: "Total", Value: "4.1", Status: "F"},
		}}})
		r.reportStatus(o, orders.SampleError, codes...)
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			found, err := results.Get(ctx, tx, &o, 0)
			if len(found.Results) != 1 || found.Results[0].Text != "4.1" || !found.HasMissing() {
				t.Errorf("the results are %+v", found.Results)
			}
			return err
		})
	})
}

// A lab may refuse some tests at any time: before its receipt is recorded, and
// in the receipt of the others.
func TestRefusedTestsAmongOthers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		r.work()
		early, beside, valued := orderstest.New(t, db, r.team, catalogue.WalkIn), orderstest.New(t, db, r.team, catalogue.WalkIn), r.order(catalogue.WalkIn)
		over, unsent := r.order(catalogue.WalkIn), orderstest.Kit(t, db, r.team)
		codes, found := r.tests(early)
		refused := func(o orders.Order) []string {
			tests, _ := r.missingYet(o)
			return tests
		}

		r.reportStatus(early, orders.DoNotProcess, codes[1])
		r.wantPath("before a receipt", early, orders.Ordered)
		if tests := refused(early); !slices.Equal(tests, codes[1:2]) {
			t.Errorf("before a receipt missing are %v", tests)
		}

		r.receive(networks.Report{
			Placer: beside.ID.String(), Status: string(orders.RequisitionCreated), Tests: codes[1:], Refused: codes[:1], Reason: "Account on hold",
		})
		now := r.wantPath("beside a receipt", beside)
		if tests := refused(beside); !slices.Equal(tests, codes[:1]) || now.Status != orders.RequisitionCreated || now.Body.Notes != "" {
			t.Errorf("beside a receipt missing are %v of an order at %s", tests, now.Full())
		}
		r.reportStatus(beside, orders.Cancelled, codes[1:]...)
		r.wantPath("its others", beside, orders.Cancelled)

		r.receive(networks.Report{Placer: valued.ID.String(), Refused: codes[1:], Results: &networks.ResultSet{Results: found}})
		r.wantPath("beside values", valued, orders.Completed)
		if tests := refused(valued); len(tests) != len(codes)-1 {
			t.Errorf("beside values missing are %v", tests)
		}

		orderstest.MoveTo(t, db, &over, orders.Cancelled)
		for _, o := range []orders.Order{over, unsent} {
			r.reportStatus(o, orders.Cancelled, codes[1])
			if tests := refused(o); len(tests) > 0 {
				t.Errorf("%s: missing are %v", o.Full(), tests)
			}
		}
	})
}

// A specimen that waits for information ends nothing, even if the lab marks
// its tests as not done: they may still be done.
func TestBlockedSpecimens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		r.work()
		for method, path := range map[orders.Method][]orders.Status{catalogue.TestKit: {orders.LabProcessingBlocked}, catalogue.WalkIn: nil} {
			o := r.order(method)
			codes, values := r.tests(o)
			set := networks.ResultSet{}
			for _, code := range codes {
				set.Missing = append(set.Missing, networks.MissingResult{ProviderID: code, TestProviderID: code})
			}
			r.receive(networks.Report{
				Placer: o.ID.String(), Status: string(orders.LabProcessingBlocked), Detail: string(orders.DemographicsMissing), Tests: codes, Results: &set,
			})
			now := r.wantPath(string(method), o, path...)
			if now.HasMissing == nil || !*now.HasMissing {
				t.Errorf("%s: nothing is missing", method)
			}
			r.receive(networks.Report{Placer: o.ID.String(), Results: &networks.ResultSet{Results: values}})
			r.wantPath(string(method)+" with values", o, append(path, orders.Completed)...)
		}
	})
}

// A lab that has confirmed an order may still refuse it until the kit or the
// patient is on the way.
func TestLabRefusesLater(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		r.work()
		for _, method := range catalogue.Methods {
			want := orders.Cancelled
			if method == catalogue.TestKit {
				want = orders.DoNotProcess
			}
			placed, waiting := r.order(method), orderstest.New(t, db, r.team, method)
			codes, _ := r.tests(placed)
			r.receive(networks.Report{Placer: placed.ID.String(), Status: string(orders.DoNotProcess), Tests: codes, Reason: "Account on hold"})
			if now := r.wantPath(string(method), placed, want); now.Body.Notes != "Account on hold" {
				t.Errorf("%s: the notes are %q", method, now.Body.Notes)
			}
			r.reportStatus(waiting, orders.DoNotProcess)
			r.wantPath(string(method)+" without a receipt", waiting, orders.Ordered, want)
		}
		kit := orderstest.Kit(t, db, r.team)
		orderstest.MoveTo(t, db, &kit, orders.WithCustomer)
		r.reportStatus(kit, orders.DoNotProcess)
		if now, _ := r.get(kit); now.Status != orders.WithCustomer {
			t.Errorf("a kit that has not reached the lab is %s", now.Full())
		}
	})
}

const (
	blockedStatus   = orders.LabProcessingBlocked
	deliveredStatus = orders.DeliveredToLab
)

// kit orders a test kit of several tests, with its requisition.
func (r *fixture) kit() (o orders.Order) {
	r.t.Helper()
	user, test := orderstest.User(r.t, r.db, r.team), orderstest.Test(r.t, r.db, r.team, catalogue.TestKit)
	ask := orderstest.Request(r.t, r.db, user, test)
	userstest.Write(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		offered, err := catalogue.Load(ctx, tx, r.team)
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
	orderstest.MoveTo(r.t, r.db, &o, orders.RequisitionCreated)
	return o
}

// reportBlocked reports that the lab waits with some tests because it lacks
// information.
func (r *fixture) reportBlocked(o orders.Order, tests ...string) {
	r.t.Helper()
	r.receive(networks.Report{Placer: o.ID.String(), Status: string(blockedStatus), Detail: string(orders.DemographicsMismatch), Tests: tests})
}

// A lab that blocks one of several tests continues with the others. The order
// shows the block with its reason, then continues, and the blocked test is
// missing until its result comes.
func TestOneTestIsBlocked(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		r.work()
		kit := r.kit()
		codes, _ := r.tests(kit)
		markers := r.markers(kit)
		if len(codes) < 2 {
			t.Fatalf("the kit has the tests %v", codes)
		}
		r.reportBlocked(kit, codes[0])
		now := r.wantPath("one of several", kit, blockedStatus, deliveredStatus)
		if tests, why := r.missing(kit); !slices.Equal(tests, codes[:1]) || why[0] != results.OrderEntry || now.HasMissing == nil || !*now.HasMissing {
			t.Errorf("missing are %v, %v", tests, why)
		}
		want := []string{
			"ordered", "requisition_created", "requisition_created, something is missing",
			"lab_processing_blocked demographic_information_mismatch, something is missing", "delivered_to_lab, something is missing",
		}
		if got := r.events(kit); !slices.Equal(got, want) {
			t.Errorf("events: %q", got)
		}
		r.reportBlocked(kit, codes[0])
		r.wantPath("said again", kit, blockedStatus, deliveredStatus)

		var others []networks.Result
		for _, m := range markers[1:] {
			others = append(others, values(m)...)
		}
		r.receive(networks.Report{Placer: kit.ID.String(), Results: &networks.ResultSet{Partial: true, Results: others}})
		r.wantPath("the others", kit, blockedStatus, deliveredStatus)
		r.receive(networks.Report{Placer: kit.ID.String(), Results: &networks.ResultSet{Results: values(markers[0])}})
		now = r.wantPath("all of them", kit, blockedStatus, deliveredStatus, orders.Completed)
		if tests, _ := r.missingYet(kit); len(tests) > 0 || now.HasMissing == nil || *now.HasMissing {
			t.Errorf("missing at the end are %v", tests)
		}
	})
}

// The order stops when the lab blocks every test, or names none.
func TestAllTestsAreBlocked(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		r.work()
		codes, _ := r.tests(r.kit())
		for name, c := range map[string]struct {
			says func(o orders.Order)
			want []orders.Status
		}{
			"all at once":  {func(o orders.Order) { r.reportBlocked(o, codes...) }, []orders.Status{blockedStatus}},
			"the order":    {func(o orders.Order) { r.reportBlocked(o) }, []orders.Status{blockedStatus}},
			"unknown ones": {func(o orders.Order) { r.reportBlocked(o, "X1") }, []orders.Status{blockedStatus}},
			"one after another": {func(o orders.Order) {
				for _, code := range codes {
					r.reportBlocked(o, code)
				}
			}, slices.Concat(slices.Repeat([]orders.Status{blockedStatus, deliveredStatus}, len(codes)-1), []orders.Status{blockedStatus})},
			"the others ended": {func(o orders.Order) {
				r.reportStatus(o, orders.Cancelled, codes[1:]...)
				r.reportBlocked(o, codes[0])
			}, []orders.Status{blockedStatus}},
			"one test of a stopped order": {func(o orders.Order) {
				r.reportBlocked(o)
				r.reportBlocked(o, codes[0])
			}, []orders.Status{blockedStatus}},
			"one test of a resumed order": {func(o orders.Order) {
				r.reportBlocked(o, codes...)
				r.reportStatus(o, deliveredStatus)
				r.reportBlocked(o, codes[0])
			}, []orders.Status{blockedStatus, deliveredStatus, blockedStatus, deliveredStatus}},
		} {
			o := r.kit()
			c.says(o)
			r.wantPath(name, o, c.want...)
		}
	})
}

// Only kits can be blocked. For other methods the test is missing, and the
// order does not move.
func TestWalkInTestIsBlocked(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		r.work()
		o := r.order(catalogue.WalkIn)
		codes, first := r.tests(o)
		r.reportBlocked(o, codes[1])
		r.wantPath("one of several", o)
		if tests, _ := r.missing(o); !slices.Equal(tests, codes[1:2]) {
			t.Errorf("missing are %v", tests)
		}
		r.receive(networks.Report{Placer: o.ID.String(), Results: &networks.ResultSet{Partial: true, Results: first}})
		r.wantPath("another", o, orders.PartialResults)
	})
}
