package results_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/labs/results"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// fixture is an order at the lab, and the reports about it.
type fixture struct {
	t     *testing.T
	db    *store.DB
	team  teams.Team
	order orders.Order
	owed  []catalogue.Result
	test  string // the lab's code of the first marker
	n     int
}

var morning = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

func newFixture(t *testing.T, db *store.DB, method orders.Method) *fixture {
	t.Helper()
	users.Register(db, results.UserRecords()...)
	b := &fixture{t: t, db: db, team: orderstest.Team(t, db)}
	b.orderAgain(method)
	return b
}

// orderAgain places another order.
func (b *fixture) orderAgain(method orders.Method) {
	b.t.Helper()
	b.order, b.owed = orderstest.New(b.t, b.db, b.team.ID, method), nil
	orderstest.MoveTo(b.t, b.db, &b.order, orders.RequisitionCreated)
	b.read(func(tx *store.Tx) error {
		facts, err := orders.ReadFacts(b.t.Context(), tx, b.team.ID, []orders.Order{b.order})
		for _, m := range facts[0].Markers {
			b.owed = append(b.owed, m.Results...)
		}
		b.test = facts[0].Markers[0].ProviderID
		return err
	})
}

func (b *fixture) read(fn func(tx *store.Tx) error) {
	b.t.Helper()
	userstest.Write(b.t, b.db, func(_ context.Context, tx *store.Tx) error { return fn(tx) })
}

// value returns a result of a required row as a lab reports it. Its unit is not the
// catalogue's, so only the flag and the range on the report decide.
func (b *fixture) value(row int, text, flag, status string) networks.Result {
	r := b.owed[row]
	return networks.Result{
		ProviderID: r.ProviderID, Name: r.Name, LOINC: r.LOINC, Value: text, Unit: "1", Range: "0-100", Flag: flag, Status: status,
		At: networks.Moment{Time: morning},
	}
}

// all returns normal results for every required row.
func (b *fixture) all(status string) []networks.Result {
	var all []networks.Result
	for i := range b.owed {
		all = append(all, b.value(i, "1", "N", status))
	}
	return all
}

// arrival returns a report that arrives some hours after the first one.
func (b *fixture) arrival(hours int, set networks.ResultSet) results.Arrival {
	b.n++
	at := morning.Add(time.Duration(hours) * time.Hour)
	set.Specimen = networks.Specimen{Number: "SP-1", Collected: networks.Moment{Time: morning}, Reported: networks.Moment{Time: at}}
	return results.Arrival{Key: fmt.Sprintf("report %d", b.n), At: at, SampleID: b.order.SampleID, Set: set}
}

func (b *fixture) take(a results.Arrival) {
	b.t.Helper()
	userstest.Write(b.t, b.db, func(ctx context.Context, tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, b.team.ID, b.order.ID)
		if err != nil {
			return err
		}
		b.order = o
		return results.Take(ctx, tx, &b.order, a)
	})
}

// report accepts a report some hours after the first one.
func (b *fixture) report(hours int, set networks.ResultSet) {
	b.t.Helper()
	b.take(b.arrival(hours, set))
}

func (b *fixture) revision(number int) (r results.Revision) {
	b.t.Helper()
	b.read(func(tx *store.Tx) (err error) {
		r, err = results.Get(b.t.Context(), tx, &b.order, number)
		return err
	})
	return r
}

func (b *fixture) history() (all []results.Summary) {
	b.t.Helper()
	b.read(func(tx *store.Tx) (err error) {
		all, err = results.History(b.t.Context(), tx, &b.order)
		return err
	})
	return all
}

// path returns the order's history, without the steps before the lab.
func (b *fixture) path() (all []string) {
	b.t.Helper()
	b.read(func(tx *store.Tx) error {
		rows, err := orderstest.History(b.t.Context(), tx, &b.order)
		all = nil
		for _, e := range rows {
			if e.Status != orders.Ordered && e.Status != orders.RequisitionCreated {
				all = append(all, string(e.Status))
			}
		}
		return err
	})
	return all
}

// transactionEvents lists what the events of an order's transaction say about the
// transaction.
func (b *fixture) transactionEvents(o orders.Order) (all []string) {
	b.t.Helper()
	b.settledFeed(func(e events.Message) error {
		var body struct {
			Data struct {
				Transaction struct {
					ID     string
					Status string
					Orders []json.RawMessage
				} `json:"order_transaction"`
			} `json:"data"`
		}
		if err := json.Unmarshal(e.Body, &body); err != nil {
			return err
		}
		if t := body.Data.Transaction; t.ID == o.Transaction.String() {
			all = append(all, fmt.Sprintf("%s of %d orders", t.Status, len(t.Orders)))
		}
		return nil
	})
	return all
}

// settledFeed calls take for each event of the team.
func (b *fixture) settledFeed(take func(e events.Message) error) {
	b.t.Helper()
	if err := (&events.Sequencer{DB: b.db}).Settle(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	err := b.db.Read(store.WithTeam(b.t.Context(), b.team.ID.UUID()), func(tx *store.Tx) error {
		page, err := events.ReadFeed(b.t.Context(), tx, b.team.ID.UUID(), 0, 1000, nil)
		for _, e := range page.Events {
			err = errors.Join(err, take(e))
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// events lists the events about an order, in order: the status, or critical.
func (b *fixture) events() (all []string) {
	b.t.Helper()
	b.settledFeed(func(e events.Message) error {
		var body struct {
			Data struct {
				ID, OrderID    string
				Status         string
				Interpretation *string
				LastEvent      struct{ Status string } `json:"last_event"`
			} `json:"data"`
		}
		if err := json.Unmarshal(e.Body, &body); err != nil {
			return err
		}
		switch {
		case e.Type == orders.CriticalEvent:
			all = append(all, "critical "+body.Data.Status)
		case body.Data.ID == b.order.ID.String():
			step := body.Data.LastEvent.Status[strings.LastIndexByte(body.Data.LastEvent.Status, '.')+1:]
			if body.Data.Interpretation != nil {
				step += " " + *body.Data.Interpretation
			}
			all = append(all, step)
		}
		return nil
	})
	return all
}

// Results come in pieces, become final, and are corrected; every version is
// kept.
func TestFromPartialToCorrected(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.OnSite)
		b.report(1, networks.ResultSet{Partial: true, Results: b.all("F")[:1]})
		b.report(2, networks.ResultSet{Partial: true, Results: []networks.Result{b.value(1, "2", "N", "P")}})
		b.report(3, networks.ResultSet{Results: b.all("F")})
		changed := b.value(0, "120", "H", "C")
		b.report(4, networks.ResultSet{Corrected: true, Results: []networks.Result{changed}})
		if got, want := b.path(), []string{"partial_results", "partial_results", "completed", "corrected"}; !slices.Equal(got, want) {
			t.Errorf("the order went %v", got)
		}
		if got, want := b.events(), []string{"ordered", "requisition_created", "partial_results normal", "partial_results normal", "completed normal", "corrected abnormal"}; !slices.Equal(got, want) {
			t.Errorf("events: %v", got)
		}
		if o := b.order; o.Interpretation != orders.Abnormal || o.IsCritical || o.HasMissing == nil || *o.HasMissing || o.CollectedAt == nil {
			t.Errorf("the order shows %s, critical %v, missing %v", o.Interpretation, o.IsCritical, o.HasMissing)
		}
		all := b.history()
		if len(all) != 4 || all[1].Status != results.Partial || all[2].Status != results.Final || all[2].Corrected || !all[3].Corrected {
			t.Fatalf("history: %+v", all)
		}
		for number, want := range map[int]string{1: "1", 3: "1", 4: "120", 0: "120"} {
			r := b.revision(number)
			at := slices.IndexFunc(r.Results, func(r results.Result) bool { return r.ProviderID == b.owed[0].ProviderID })
			if at < 0 || r.Results[at].Text != want {
				t.Errorf("revision %d has %+v", number, r.Results)
			}
		}
		if n := len(b.revision(0).Results); n != len(b.owed) {
			t.Errorf("%d results, want %d", n, len(b.owed))
		}
	})
}

// A corrected value keeps its place among the results. The rest of a panel comes behind
// the values that it follows in its report, and another place alone is no change.
func TestPlacesOfValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.OnSite)
		var want []string
		for _, r := range b.owed {
			want = append(want, r.ProviderID)
		}
		codes := func() (all []string) {
			for _, r := range b.revision(0).Results {
				all = append(all, r.ProviderID)
			}
			return all
		}
		last := len(b.owed) - 1
		b.report(1, networks.ResultSet{Partial: true, Results: []networks.Result{b.value(1, "1", "N", "F"), b.value(last, "1", "N", "F")}})
		b.report(2, networks.ResultSet{Results: b.all("F")})
		if got := codes(); !slices.Equal(got, want) {
			t.Errorf("the whole panel: %v, want %v", got, want)
		}
		b.report(3, networks.ResultSet{Corrected: true, Results: []networks.Result{b.value(last, "120", "H", "C")}})
		b.report(4, networks.ResultSet{Results: []networks.Result{b.value(1, "130", "H", "F")}})
		if got := codes(); !slices.Equal(got, want) {
			t.Errorf("after corrections: %v, want %v", got, want)
		}
		path := b.path()
		b.report(0, networks.ResultSet{Partial: true, Results: []networks.Result{b.value(last, "1", "N", "P"), b.value(0, "1", "N", "P")}})
		if got := b.path(); len(got) != len(path) {
			t.Errorf("an early report moved the order: %v", got[len(path):])
		}
	})
}

// A reflex test that the lab reports alone, before the test that led to it, does not
// complete the order. After that test it does.
func TestReflexAlone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.WalkIn)
		var reflex *catalogue.Marker
		b.read(func(tx *store.Tx) error {
			facts, err := orders.ReadFacts(t.Context(), tx, b.team.ID, []orders.Order{b.order})
			if err != nil {
				return err
			}
			offered, err := catalogue.Load(t.Context(), tx, b.team.ID)
			if err == nil {
				reflex = offered.AddReflex(facts[0].Markers)[len(facts[0].Markers)]
			}
			return err
		})
		row := reflex.Results[0]
		for name, test := range map[string]string{"its own test": reflex.ProviderID, "the parent's test": reflex.ReflexOf} {
			value := networks.Result{ProviderID: row.ProviderID, TestProviderID: test, Name: row.Name, LOINC: row.LOINC, Value: "1", Flag: "N", Status: "F"}
			b.orderAgain(catalogue.WalkIn)
			b.report(1, networks.ResultSet{Results: []networks.Result{value}})
			if r := b.revision(0); r.Status != results.Partial || r.HasMissing() || len(r.Results) != 1 {
				t.Errorf("%s alone: %s with %d results, missing %v", name, r.Status, len(r.Results), r.Missing)
			}
			b.report(2, networks.ResultSet{Results: b.all("F")})
			if got := b.path(); !slices.Equal(got, []string{"partial_results", "completed"}) {
				t.Errorf("%s before the others: %v", name, got)
			}
			b.orderAgain(catalogue.WalkIn)
			b.report(1, networks.ResultSet{Partial: true, Results: b.all("F")})
			b.report(2, networks.ResultSet{Results: []networks.Result{value}})
			if got := b.path(); !slices.Equal(got, []string{"partial_results", "completed"}) || len(b.revision(0).Missing) > 0 {
				t.Errorf("%s after the others: %v", name, got)
			}
		}
	})
}

// A report that comes twice, late or without a change adds nothing.
func TestRepeatedReports(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.WalkIn)
		early := b.arrival(1, networks.ResultSet{Partial: true, Results: b.all("P")[:2]})
		whole := b.arrival(2, networks.ResultSet{Results: b.all("F")})
		b.take(whole)
		for _, a := range []results.Arrival{whole, early, early, whole} {
			a.Key += " again"
			b.take(a)
		}
		resent := whole // a day later, under a new date
		resent.Key, resent.At = "resent", whole.At.Add(24*time.Hour)
		resent.Set.Specimen.Reported.Time = resent.At
		b.take(resent)
		if got, want := b.path(), []string{"completed"}; !slices.Equal(got, want) {
			t.Errorf("the order went %v", got)
		}
		if got := b.history(); len(got) != 2 { // the new date is worth a revision, and no event
			t.Errorf("%d revisions", len(got))
		}
	})
}

// A critical value is announced before the completion, once for each version.
func TestCritical(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.OnSite)
		b.report(1, networks.ResultSet{Partial: true, Results: []networks.Result{b.value(0, "900", "HH", "F")}})
		critical := b.arrival(2, networks.ResultSet{Results: append(b.all("F")[1:], b.value(0, "900", "HH", "F"))})
		b.take(critical)
		b.take(critical)
		want := []string{"ordered", "requisition_created", "critical partial", "partial_results critical", "critical final", "completed critical"}
		if got := b.events(); !slices.Equal(got, want) {
			t.Errorf("events: %v", got)
		}
		if !b.order.IsCritical {
			t.Error("the order is not critical")
		}
		b.report(3, networks.ResultSet{Corrected: true, Results: []networks.Result{b.value(0, "90", "N", "C")}})
		if b.order.IsCritical || b.order.Interpretation != orders.Normal {
			t.Error("the order is still critical")
		}
	})
}

// Notes without values that a person accepted make the results critical, also beside normal
// values. Later values do not end it.
func TestCriticalNotesWithoutValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.OnSite)
		b.report(1, networks.ResultSet{Results: b.all("F")})
		note := b.arrival(2, networks.ResultSet{Comments: []string{"CRITICAL K 7.9 called"}})
		note.Review = &results.Review{By: "A. Reviewer"}
		b.take(note)
		b.report(3, networks.ResultSet{Corrected: true, Results: []networks.Result{b.value(0, "120", "H", "C")}})
		want := []string{
			"ordered", "requisition_created", "completed normal", "critical final", "corrected critical", "critical final", "corrected critical",
		}
		if got := b.events(); !slices.Equal(got, want) {
			t.Errorf("events: %v", got)
		}
		if r := b.revision(0); r.Interpretation != orders.Critical || !b.order.IsCritical {
			t.Errorf("the results are %s, the order is %s", r.Interpretation, b.order.Interpretation)
		}
		b.read(func(tx *store.Tx) error {
			whole, err := results.ForTransaction(store.AsSystem(t.Context()), tx, b.order.Team, b.order.Transaction)
			if whole.Interpretation != orders.Critical {
				t.Errorf("the transaction is %s", whole.Interpretation)
			}
			return err
		})
	})
}

// A value that is not final comes after a final one. It is the newest reading if
// it was observed later, or if it is critical; an older one changes nothing.
func TestPreliminaryAfterFinal(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, c := range []struct {
			name            string
			hours, observed int // of the preliminary value, after the first report and its observation
			value, flag     string
			shown           string
			critical        bool
		}{
			{"observed later", 3, 2, "120", "H", "120 preliminary abnormal, before 1 final", false},
			{"observed later, and critical", 3, 2, "900", "HH", "900 preliminary critical, before 1 final", true},
			{"the same observation, critical", 3, 0, "900", "HH", "900 preliminary critical, before 1 final", true},
			{"the same observation", 3, 0, "120", "H", "1 final normal, before 120 preliminary", false},
			{"an earlier report, critical", -1, 0, "900", "HH", "1 final normal, before 900 preliminary", false},
			{"an earlier report, observed later", -1, 2, "120", "H", "1 final normal, before 120 preliminary", false},
			{"an earlier report, observed later, critical", -1, 2, "900", "HH", "900 preliminary critical, before 1 final", true},
			{"observed earlier, reported later, critical", 3, -1, "900", "HH", "900 preliminary critical, before 1 final", true},
			{"the same value, observed later", 3, 2, "1", "N", "1 preliminary normal", false},
		} {
			t.Run(c.name, func(t *testing.T) {
				b := newFixture(t, db, catalogue.OnSite)
				b.report(1, networks.ResultSet{Results: b.all("F")})
				next := b.value(0, c.value, c.flag, "P")
				next.At.Time = morning.Add(time.Duration(c.observed) * time.Hour)
				b.report(c.hours, networks.ResultSet{Partial: true, Results: []networks.Result{next}})
				first := func() results.Result {
					r := b.revision(0)
					if r.Status != results.Final {
						t.Errorf("the results are %s", r.Status)
					}
					return r.Results[slices.IndexFunc(r.Results, func(r results.Result) bool { return r.ProviderID == b.owed[0].ProviderID })]
				}
				one := first()
				got := fmt.Sprintf("%s %s %s", one.Text, one.Finality, one.Interpretation)
				if one.Previous != nil {
					got += fmt.Sprintf(", before %s %s", one.Previous.Text, one.Previous.Finality)
				}
				if got != c.shown {
					t.Errorf("%s, want %s", got, c.shown)
				}
				var notices int
				b.read(func(tx *store.Tx) error {
					return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM critical_notices WHERE order_id = $1`, b.order.ID).Scan(&notices)
				})
				if says := slices.Contains(b.events(), "critical final"); says != c.critical || notices > 0 != c.critical || b.order.IsCritical != c.critical {
					t.Errorf("events %v, %d notices, critical %v", b.events(), notices, b.order.IsCritical)
				}
				last := b.value(0, "1", "N", "F")
				last.At.Time = morning.Add(9 * time.Hour)
				b.report(9, networks.ResultSet{Results: []networks.Result{last}})
				if one := first(); one.Text != "1" || one.Finality != results.FinalValue {
					t.Errorf("a later final value is shown as %s %s", one.Text, one.Finality)
				}
			})
		}
		// A new sample after the lab said that there will be no value.
		b := newFixture(t, db, catalogue.OnSite)
		b.report(1, networks.ResultSet{Results: b.all("F")[1:], Missing: []networks.MissingResult{{ProviderID: b.owed[0].ProviderID, Note: "hemolyzed"}}})
		b.report(3, networks.ResultSet{Partial: true, Results: []networks.Result{b.value(0, "900", "HH", "P")}})
		if r := b.revision(0); r.HasMissing() || r.Interpretation != orders.Critical {
			t.Errorf("%d missing, %s", len(r.Missing), r.Interpretation)
		}
	})
}

// A final value comes after a correction. The correction stays, unless the value is
// critical and was reported later.
func TestFinalAfterCorrection(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for name, c := range map[string]struct {
			hours       int
			value, flag string
			shown       string
			critical    bool
		}{
			"critical":             {3, "900", "HH", "900 critical", true},
			"not critical":         {3, "120", "H", "90 normal", false},
			"critical, but before": {-1, "900", "HH", "90 normal", false},
		} {
			t.Run(name, func(t *testing.T) {
				b := newFixture(t, db, catalogue.OnSite)
				b.report(1, networks.ResultSet{Results: b.all("F")})
				b.report(2, networks.ResultSet{Corrected: true, Results: []networks.Result{b.value(0, "90", "N", "C")}})
				b.report(2+c.hours, networks.ResultSet{Results: []networks.Result{b.value(0, c.value, c.flag, "F")}})
				r := b.revision(0)
				one := r.Results[slices.IndexFunc(r.Results, func(r results.Result) bool { return r.ProviderID == b.owed[0].ProviderID })]
				if got := fmt.Sprintf("%s %s", one.Text, one.Interpretation); got != c.shown {
					t.Errorf("%s, want %s", got, c.shown)
				}
				if says := slices.ContainsFunc(b.events(), func(e string) bool { return strings.HasPrefix(e, "critical ") }); says != c.critical || b.order.IsCritical != c.critical {
					t.Errorf("events %v, critical %v", b.events(), b.order.IsCritical)
				}
			})
		}
	})
}

// A critical value arrives after the value that replaces it. Its notice comes with
// the event, and both come once.
func TestALateCriticalValue(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.OnSite)
		b.report(5, networks.ResultSet{Results: b.all("F")})
		for range 2 {
			b.report(2, networks.ResultSet{Results: []networks.Result{b.value(0, "900", "HH", "F")}})
		}
		var notices int
		b.read(func(tx *store.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM critical_notices WHERE order_id = $1`, b.order.ID).Scan(&notices)
		})
		said := 0
		for _, e := range b.events() {
			if strings.HasPrefix(e, "critical ") {
				said++
			}
		}
		if notices != 1 || said != 1 || b.order.IsCritical {
			t.Errorf("%d notices, %d critical events, critical %v", notices, said, b.order.IsCritical)
		}
	})
}

// A corrected critical value is sent again as final. It is not new.
func TestACriticalCorrectionSentAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.OnSite)
		b.report(1, networks.ResultSet{Results: append(b.all("F")[1:], b.value(0, "900", "HH", "F"))})
		for i, status := range []string{"C", "F", "F", "C"} {
			b.report(2+i, networks.ResultSet{Corrected: status == "C", Results: []networks.Result{b.value(0, "910", "HH", status)}})
		}
		said := 0
		for _, e := range b.events() {
			if strings.HasPrefix(e, "critical ") {
				said++
			}
		}
		if said != 2 {
			t.Errorf("%d critical events: %v", said, b.events())
		}
	})
}

// A test that was not ordered has the critical limits of the lab's catalogue,
// with an order and without.
func TestCriticalLimitsOfAnUnorderedTest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.WalkIn)
		extra := networks.Result{ProviderID: "OTHER-1", Name: "Dig", LOINC: "10535-3", Value: "7.9", Unit: "nmol/L", Flag: "N", At: networks.Moment{Time: morning}}
		b.read(func(tx *store.Tx) error {
			offered, err := catalogue.Load(t.Context(), tx, b.team.ID)
			if err != nil {
				return err
			}
			lab, _ := offered.Lab(b.order.Lab)
			if got := results.InterpretUnmatched(offered, lab, &networks.ResultSet{Results: []networks.Result{extra}}); got != orders.Critical {
				t.Errorf("without an order: %s", got)
			}
			return nil
		})
		b.report(1, networks.ResultSet{Results: append(b.all("F"), extra)})
		r := b.revision(0)
		if last := r.Results[len(r.Results)-1]; last.Interpretation != orders.Critical || last.Markers != nil || last.Name != "Digoxin" {
			t.Errorf("the value is %+v", last)
		}
	})
}

// Markers that the lab could not measure are ordered again, for teams that
// asked for it.
func TestRedraw(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.WalkIn)
		lost := func() networks.ResultSet {
			return networks.ResultSet{Results: b.all("F")[1:], Missing: []networks.MissingResult{{
				ProviderID: b.owed[0].ProviderID, Name: b.owed[0].Name, Note: "Specimen hemolyzed, please recollect",
			}}}
		}
		b.report(1, lost())
		if got := b.path(); !slices.Equal(got, []string{"completed"}) || !*b.order.HasMissing {
			t.Errorf("without redraws the order went %v", got)
		}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			b.team.Settings.Redraws = true
			return teams.Update(ctx, tx, b.team)
		})
		b.orderAgain(catalogue.WalkIn)
		first := b.order
		b.report(1, lost())
		if got := b.path(); !slices.Equal(got, []string{"redraw_available"}) {
			t.Fatalf("the order went %v", got)
		}
		if got := b.transactionEvents(first); len(got) < 2 || !slices.Equal(got[len(got)-2:], []string{"active of 2 orders", "active of 2 orders"}) {
			t.Errorf("the events of the redraw show the transactions %v", got)
		}
		m := b.revision(0).Missing
		if len(m) != 1 || m[0].Failure != results.CollectionProcess || len(m[0].Markers) == 0 || m[0].LOINC == "" {
			t.Fatalf("missing: %+v", m)
		}
		b.read(func(tx *store.Tx) error {
			members, err := orders.OrdersOfTransaction(t.Context(), tx, b.team.ID, first.Transaction)
			if len(members) != 2 || members[1].Origin != orders.RedrawOf || members[1].Status != orders.Ordered {
				t.Fatalf("%d orders", len(members))
			}
			b.order = members[1]
			return err
		})
		orderstest.MoveTo(t, db, &b.order, orders.RequisitionCreated)
		b.report(30, networks.ResultSet{Results: b.all("F")[:1]})
		b.read(func(tx *store.Tx) error {
			together, err := results.ForTransaction(t.Context(), tx, b.team.ID, first.Transaction)
			if len(together.Results) != len(b.owed) || together.HasMissing() || together.Status != results.Final || len(together.Revisions) != 2 {
				t.Errorf("together: %d results, missing %+v, %s", len(together.Results), together.Missing, together.Status)
			}
			return err
		})
	})
}

// A kit knows no partial results; it becomes delivered_to_lab.
func TestPartialResultsOfAKit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.TestKit)
		b.report(1, networks.ResultSet{Partial: true, Results: b.all("P")[:1]})
		if got := b.path(); !slices.Equal(got, []string{"delivered_to_lab"}) || b.order.Interpretation == "" {
			t.Errorf("the order went %v", got)
		}
		b.report(2, networks.ResultSet{Results: b.all("F")})
		if got := b.path(); !slices.Equal(got, []string{"delivered_to_lab", "completed"}) {
			t.Errorf("the order went %v", got)
		}
	})
}

// Without results there is nothing to read. A document alone is no result.
func TestBeforeResults(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.WalkIn)
		unavailable := func() {
			t.Helper()
			b.read(func(tx *store.Tx) error {
				_, err := results.Get(t.Context(), tx, &b.order, 0)
				if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), b.order.ID.String()) {
					t.Errorf("%v", err)
				}
				_, err = results.ForTransaction(t.Context(), tx, b.team.ID, b.order.Transaction)
				if !fault.Is(err, fault.NotFound) {
					t.Errorf("%v", err)
				}
				return nil
			})
		}
		unavailable()
		b.report(1, networks.ResultSet{PDF: []byte("%PDF-1.7 one")})
		unavailable()
		b.report(2, networks.ResultSet{Results: b.all("F")})
		b.report(3, networks.ResultSet{PDF: []byte("%PDF-1.7 two")})
		b.report(4, networks.ResultSet{Results: b.all("F")}) // changes no value
		if !b.revision(0).HasPDF {
			t.Error("a repeated report removed the document")
		}
		last := b.revision(0).Number
		b.report(5, networks.ResultSet{Corrected: true, Results: []networks.Result{b.value(0, "9", "N", "C")}})
		if b.revision(0).HasPDF {
			t.Error("a document shows the value before its correction")
		}
		for number, want := range map[int]string{1: "%PDF-1.7 one", last: "%PDF-1.7 two", 0: ""} {
			b.read(func(tx *store.Tx) error {
				got, err := results.PDF(t.Context(), tx, &b.order, number)
				if string(got) != want {
					t.Errorf("the document of revision %d is %q", number, got)
				}
				return err
			})
		}
		if got := b.path(); !slices.Equal(got, []string{"completed", "corrected"}) {
			t.Errorf("the order went %v", got)
		}
	})
}

// The results of an order are stored under its account, whether or not the
// team may still order under it.
func TestResultsAfterAccountIsUnlinked(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.WalkIn)
		owner := userstest.Team(t, db).ID
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			id, err := catalogue.AddAccount(ctx, tx, catalogue.NewAccount{Owner: &owner, Lab: b.order.Lab, Status: catalogue.AccountActive, Flow: catalogue.NotDelegated, Number: "L-100"})
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE orders SET account_id = $1 WHERE id = $2`, id, b.order.ID)
			return err
		})
		b.report(1, networks.ResultSet{Results: b.all("F")})
		if got := b.path(); !slices.Equal(got, []string{"completed"}) || b.revision(0).Account != "L-100" {
			t.Errorf("the order went %v, under account %q", got, b.revision(0).Account)
		}
	})
}

// Missing results alone move nothing while more may come, because they may have been
// cancelled before there was a sample.
func TestMissingResultsMoveNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, method := range []orders.Method{catalogue.WalkIn, catalogue.TestKit} {
			b := newFixture(t, db, method)
			gone := []networks.MissingResult{{ProviderID: b.test, TestProviderID: b.test}}
			b.report(1, networks.ResultSet{Partial: true, Missing: gone})
			if got := b.path(); len(got) != 0 || b.order.HasMissing == nil || !*b.order.HasMissing {
				t.Errorf("%s: the order went %v", method, got)
			}
			b.report(2, networks.ResultSet{Missing: gone})
			if got := b.path(); !slices.Equal(got, []string{"completed"}) {
				t.Errorf("%s: the order went %v", method, got)
			}
		}
	})
}

// A laboratory that reports each test when it is ready completes the order with the last
// one. A later report of a reported test corrects it.
func TestEachTestWhenItIsReady(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db, catalogue.WalkIn)
		tests := b.resultsByTest()
		if len(tests) < 2 {
			t.Fatalf("the order has %d tests", len(tests))
		}
		last := tests[len(tests)-1]
		for i, one := range tests[:len(tests)-1] {
			b.report(i, networks.ResultSet{TestsOnly: true, Results: one})
		}
		if r := b.revision(0); r.Status != results.Partial || r.HasMissing() {
			t.Errorf("without the last test: %s, missing %+v", r.Status, r.Missing)
		}
		if b.order.Status != orders.PartialResults {
			t.Errorf("without the last test the order is %s", b.order.Status)
		}
		b.report(40, networks.ResultSet{TestsOnly: true, Missing: []networks.MissingResult{{ProviderID: last[0].TestProviderID, Note: "QNS"}}})
		if r := b.revision(0); r.Status != results.Final || !r.HasMissing() {
			t.Errorf("with the last test: %s, missing %+v", r.Status, r.Missing)
		}
		b.report(41, networks.ResultSet{TestsOnly: true, Results: last})
		if got := b.path(); got[len(got)-2] != "completed" || got[len(got)-1] != "corrected" {
			t.Errorf("history %v", got)
		}
		if r := b.revision(0); r.HasMissing() {
			t.Errorf("missing %+v", r.Missing)
		}
	})
}

// resultsByTest returns normal results of each test of the order.
func (b *fixture) resultsByTest() (all [][]networks.Result) {
	b.t.Helper()
	b.read(func(tx *store.Tx) error {
		facts, err := orders.ReadFacts(b.t.Context(), tx, b.team.ID, []orders.Order{b.order})
		all = nil
		row := 0
		for _, m := range facts[0].Markers {
			var one []networks.Result
			for range m.Results {
				value := b.value(row, "1", "N", "F")
				value.TestProviderID = m.ProviderID
				one, row = append(one, value), row+1
			}
			all = append(all, one)
		}
		return err
	})
	return all
}
