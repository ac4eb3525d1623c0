package matching_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/critical"
	"hale/internal/labs/inbox"
	"hale/internal/labs/matching"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/labs/results"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// reviewFixture is a team with its own queue.
type reviewFixture struct {
	t    *testing.T
	db   *store.DB
	team teams.Team
}

func newReviewFixture(t *testing.T, db *store.DB) reviewFixture {
	t.Helper()
	users.Register(db, append(matching.UserRecords(), inbox.UserRecords()...)...)
	return reviewFixture{t, db, orderstest.Team(t, db)}
}

func (d reviewFixture) order(to orders.Status) orders.Order {
	d.t.Helper()
	o := orderstest.New(d.t, d.db, d.team.ID, catalogue.WalkIn)
	if to != orders.Ordered {
		orderstest.MoveTo(d.t, d.db, &o, orders.RequisitionCreated)
	}
	if to == orders.Cancelled {
		orderstest.Move(d.t, d.db, &o, orders.Move{To: to, By: orders.Call})
	} else if to != o.Status {
		orderstest.MoveTo(d.t, d.db, &o, to)
	}
	return o
}

// report returns a report with an order's markers and patient, and with an unknown
// sample. change may alter it.
func (d reviewFixture) report(o orders.Order, change ...func(r *networks.Report)) networks.Report {
	d.t.Helper()
	r := networks.Report{SampleID: "UNKNOWN-1", At: d.db.Now(), Results: &networks.ResultSet{}}
	p := o.Body.Patient
	r.Patient = networks.ReportedPatient{FirstName: p.FirstName, LastName: p.LastName, DOB: p.BirthDate, Gender: "F"}
	userstest.Read(d.t, d.db, func(ctx context.Context, tx *store.Tx) error {
		facts, err := orders.ReadFacts(ctx, tx, o.Team, []orders.Order{o})
		if err != nil {
			return err
		}
		r.Lab = facts[0].Lab.Slug
		r.Results.Results = nil
		for _, m := range facts[0].Markers {
			for _, e := range m.Results {
				r.Results.Results = append(r.Results.Results, networks.Result{
					ProviderID: e.ProviderID, TestProviderID: m.ProviderID, Name: e.Name, LOINC: e.LOINC, Value: "7.5", Unit: "1", Status: "F", Flag: "H",
				})
			}
		}
		return nil
	})
	for _, fn := range change {
		fn(&r)
	}
	return r
}

// match runs the job that judges a result.
func match(ctx context.Context, db *store.DB, team teams.ID, id matching.ID) error {
	queue := matching.Queue{Orders: orders.NewIndex()}
	return queue.Match(ctx, db, team, id, false)
}

// receive stores a report and judges it.
func (d reviewFixture) receive(r networks.Report) matching.ID {
	d.t.Helper()
	var id matching.ID
	userstest.Write(d.t, d.db, func(ctx context.Context, tx *store.Tx) (err error) {
		raw := tx.NewUUID()
		id, err = matching.Put(ctx, tx, d.team.ID, inbox.Arrival{ID: raw, Network: "sandboxlab", Key: "test:" + raw.String(), ReceivedAt: tx.Now(), Report: r})
		return err
	})
	if err := match(d.ctx(), d.db, d.team.ID, id); err != nil {
		d.t.Fatal(err)
	}
	return id
}

func (d reviewFixture) ctx() context.Context { return store.WithTeam(d.t.Context(), d.team.ID.UUID()) }

func (d reviewFixture) get(id matching.ID) (i matching.Item) {
	d.t.Helper()
	d.read(func(tx *store.Tx) (err error) {
		i, err = matching.Get(d.ctx(), tx, d.team.ID, id)
		return err
	})
	return i
}

func (d reviewFixture) read(fn func(tx *store.Tx) error) {
	d.t.Helper()
	if err := d.db.Read(d.ctx(), fn); err != nil {
		d.t.Fatal(err)
	}
}

func (d reviewFixture) accept(id matching.ID, c matching.Choice) (o orders.Order, err error) {
	err = d.db.Write(d.ctx(), func(tx *store.Tx) (err error) {
		o, err = matching.AcceptResult(d.ctx(), tx, d.team.ID, id, c)
		return err
	})
	return o, err
}

func (d reviewFixture) resolve(id matching.ID, a matching.Action) (i matching.Item, err error) {
	note := "asked the lab"
	err = d.db.Write(d.ctx(), func(tx *store.Tx) (err error) {
		i, err = matching.Resolve(d.ctx(), tx, d.team.ID, id, a, &note, "A. Reviewer")
		return err
	})
	return i, err
}

func (d reviewFixture) results(o orders.Order) int {
	d.t.Helper()
	n := 0
	d.read(func(tx *store.Tx) error {
		r, err := results.Get(d.ctx(), tx, &o, 0)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		n = len(r.Results)
		return err
	})
	return n
}

// version returns the latest results of an order.
func (d reviewFixture) version(o orders.Order) (v results.Version) {
	d.t.Helper()
	d.read(func(tx *store.Tx) error {
		r, err := results.Get(d.ctx(), tx, &o, 0)
		v = r.Version
		return err
	})
	return v
}

// announced lists the kind and status of the queue's events.
func (d reviewFixture) announced() (all []string) {
	d.t.Helper()
	for _, e := range d.events() {
		all = append(all, e.EventType+" "+e.Data.Status)
	}
	return all
}

// event is an event of the queue.
type event struct {
	EventType string `json:"event_type"`
	UserID    string `json:"user_id"`
	Data      struct {
		Status string `json:"status"`
	} `json:"data"`
}

func (d reviewFixture) events() (all []event) {
	d.t.Helper()
	if err := (&events.Sequencer{DB: d.db}).Settle(store.AsSystem(d.t.Context())); err != nil {
		d.t.Fatal(err)
	}
	d.read(func(tx *store.Tx) error {
		all = nil
		page, err := events.ReadFeed(d.ctx(), tx, d.team.ID.UUID(), 0, 500, []string{matching.CreatedEvent, matching.UpdatedEvent})
		for _, e := range page.Events {
			var one event
			if err := json.Unmarshal(e.Body, &one); err != nil {
				return err
			}
			all = append(all, one)
		}
		return err
	})
	return all
}

const (
	createdReview  = matching.CreatedEvent + " pending_customer_review"
	resolvedReview = matching.UpdatedEvent + " resolved"
)

// A result with the sample and the person of an order goes to that order
// without a review.
func TestSafeMatch(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		id := d.receive(d.report(o, func(r *networks.Report) { r.SampleID = o.SampleID }))
		if i := d.get(id); i.Status != matching.Matched || *i.Order != o.ID || *i.User != o.User || len(i.Actions()) != 0 {
			t.Errorf("%s, order %v", i.Status, i.Order)
		}
		if d.results(o) == 0 || len(d.announced()) != 0 {
			t.Errorf("%d results, events %v", d.results(o), d.announced())
		}
		if err := match(d.ctx(), db, d.team.ID, id); err != nil { // the job runs once more
			t.Error(err)
		}
	})
}

// A reflex test that is reported alone fits the order of the test that led to it. The
// order then waits for that test.
func TestReflexAlone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		var reflex *catalogue.Marker
		d.read(func(tx *store.Tx) error {
			facts, err := orders.ReadFacts(d.ctx(), tx, o.Team, []orders.Order{o})
			if err != nil {
				return err
			}
			offered, err := catalogue.Load(d.ctx(), tx, o.Team)
			if err == nil {
				reflex = offered.AddReflex(facts[0].Markers)[len(facts[0].Markers)]
			}
			return err
		})
		id := d.receive(d.report(o, func(r *networks.Report) {
			row := reflex.Results[0]
			r.Results.Results = []networks.Result{{ProviderID: row.ProviderID, TestProviderID: reflex.ProviderID, Name: row.Name, LOINC: row.LOINC, Value: "1", Flag: "N", Status: "F"}}
		}))
		i := d.get(id)
		if i.Decision != matching.PersonMatch || !slices.Contains(i.Candidates[0].Reasons, matching.MarkersPartial) {
			t.Fatalf("%s, %v", i.Decision, i.Candidates[0].Reasons)
		}
		if got, err := d.accept(id, matching.Choice{}); err != nil || got.ID != o.ID || got.Status != orders.PartialResults {
			t.Errorf("accepted for %s at %s: %v", got.ID, got.Status, err)
		}
	})
}

// A value from before the order is no safe match. Orders that the lab had before may have one.
func TestOldValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		old := func(r *networks.Report) {
			r.SampleID, r.Placer = o.SampleID, o.ID.String()
			for i := range r.Results.Results {
				r.Results.Results[i].At.Time = db.Now().AddDate(0, -2, 0)
			}
		}
		i := d.get(d.receive(d.report(o, old)))
		if i.Status != matching.TeamReview || !slices.Contains(i.Candidates[0].Reasons, matching.OldValues) {
			t.Errorf("an old value: %s, %v", i.Status, i.Candidates[0].Reasons)
		}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE orders SET origin = 'recreation' WHERE id = $1`, o.ID)
			return err
		})
		if i := d.get(d.receive(d.report(o, old))); i.Status != matching.Matched {
			t.Errorf("of a recreated order: %s", i.Status)
		}
	})
}

// A document without values waits for review. When it is accepted, it is the
// order's report, and the tests are missing.
func TestAcceptDocument(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		id := d.receive(d.report(o, func(r *networks.Report) {
			r.SampleID, r.Results = o.SampleID, &networks.ResultSet{PDF: []byte("%PDF-1.7")}
		}))
		if i := d.get(id); i.Status != matching.TeamReview || i.Decision != matching.SampleMatch {
			t.Fatalf("%s %s", i.Status, i.Decision)
		}
		got, err := d.accept(id, matching.Choice{})
		if err != nil || got.ID != o.ID || got.Status != orders.Completed {
			t.Fatalf("accepted for %s at %s: %v", got.ID, got.Status, err)
		}
		d.read(func(tx *store.Tx) error {
			r, err := results.Get(d.ctx(), tx, &got, 0)
			if err == nil && (len(r.Results) != 0 || len(r.Missing) == 0) {
				t.Errorf("%d results, %d missing", len(r.Results), len(r.Missing))
			}
			return err
		})
	})
}

// A note without values that calls a critical value raises a notice in review. After it is
// accepted, the notice is the order's. The same is true for a confirmation with a critical
// flag.
func TestCriticalWithoutValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		for name, set := range map[string]networks.ResultSet{
			"note": {Comments: []string{"CRITICAL K 7.9 called"}},
			"flag": {Missing: []networks.MissingResult{{ProviderID: "303756", Confirms: true, Flag: "HH"}}},
		} {
			o := d.order(orders.RequisitionCreated)
			id := d.receive(d.report(o, func(r *networks.Report) { r.Results = &set }))
			if i := d.get(id); i.Status != matching.TeamReview || i.Interpretation != orders.Critical {
				t.Fatalf("%s: %s, %s", name, i.Status, i.Interpretation)
			}
			notices := func(state critical.State) (all []critical.Notice) {
				d.read(func(tx *store.Tx) (err error) {
					all, err = critical.List(d.ctx(), tx, d.team.ID, critical.Filter{States: []critical.State{state}, Limit: 10})
					return err
				})
				return all
			}
			if all := notices(critical.Open); len(all) != 1 || all[0].Result == nil || *all[0].Result != id.UUID() {
				t.Fatalf("%s: in review: %+v", name, all)
			}
			got, err := d.accept(id, matching.Choice{Order: &o.ID})
			if err != nil || got.Interpretation != orders.Critical || !got.IsCritical || got.Status != orders.Completed {
				t.Fatalf("%s: the order is %s, %s: %v", name, got.Status, got.Interpretation, err)
			}
			if v := d.version(got); v.Interpretation != orders.Critical {
				t.Errorf("%s: the results are %s", name, v.Interpretation)
			}
			all := notices(critical.Open)
			if len(all) != 1 || all[0].Order == nil || *all[0].Order != o.ID {
				t.Fatalf("%s: after the decision: %+v", name, all)
			}
			if n := count(t, db, `SELECT COUNT(*) FROM events WHERE type = $1 AND user_id = $2`, orders.CriticalEvent, o.User); n != 1 {
				t.Errorf("%s: %d events", name, n)
			}
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				_, err := critical.Acknowledge(ctx, tx, d.team.ID, all[0].ID, critical.Acknowledgement{Notified: "Dr. Example"})
				return err
			})
		}
	})
}

// A result of an unknown lab is never a safe match. A person may accept it.
func TestUnknownLab(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		id := d.receive(d.report(o, func(r *networks.Report) { r.SampleID, r.Lab = o.SampleID, "" }))
		if i := d.get(id); i.Status != matching.TeamReview || i.Decision != matching.SampleMatch {
			t.Fatalf("%s %s", i.Status, i.Decision)
		}
		if got, err := d.accept(id, matching.Choice{}); err != nil || got.ID != o.ID || d.results(got) == 0 {
			t.Errorf("accepted for %s: %v", got.ID, err)
		}
	})
}

// The default order of a result is the only one of the same person.
func TestAcceptDefaultOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		id := d.receive(d.report(o))
		i := d.get(id)
		if i.Status != matching.TeamReview || i.Decision != matching.PersonMatch || len(i.Candidates) != 1 || len(i.Actions()) != 3 || i.Interpretation != orders.Abnormal {
			t.Fatalf("%s %s %+v", i.Status, i.Decision, i.Candidates)
		}
		got, err := d.accept(id, matching.Choice{})
		if err != nil || got.ID != o.ID || got.Status != orders.Completed || d.results(got) == 0 {
			t.Fatalf("accepted for %s at %s: %v", got.ID, got.Status, err)
		}
		if i := d.get(id); i.Status != matching.Resolved || i.Action != matching.Accept || *i.Order != o.ID || i.ReviewedAt == nil || len(i.Actions()) != 0 {
			t.Errorf("%s %s", i.Status, i.Action)
		}
		if got := d.announced(); !slices.Equal(got, []string{createdReview, resolvedReview}) {
			t.Errorf("events %v", got)
		}
		if _, err := d.accept(id, matching.Choice{}); !fault.Is(err, fault.NotFound) {
			t.Errorf("accepted twice: %v", err)
		}
	})
}

// The queue shows the interpretation that the order will show.
func TestInterpretation(t *testing.T) {
	db := storetest.SQLite(t)
	d := newReviewFixture(t, db)
	o := d.order(orders.RequisitionCreated)
	for flag, want := range map[string]orders.Interpretation{"PANIC": orders.Critical, "!!": orders.Critical, ">": orders.Abnormal, "NEG": orders.Normal, "ND": orders.Normal, "": orders.Normal} {
		i := d.get(d.receive(d.report(o, func(r *networks.Report) {
			for n := range r.Results.Results {
				r.Results.Results[n].Flag, r.Results.Results[n].Range = flag, "1-9"
			}
		})))
		if i.Interpretation != want {
			t.Errorf("flag %q: %s, want %s", flag, i.Interpretation, want)
		}
	}
	if i := d.get(d.receive(d.report(o, func(r *networks.Report) { r.Results = nil }))); i.Interpretation != orders.Unknown {
		t.Errorf("no results: %s", i.Interpretation)
	}
}

// While the only candidate's user is in the grace period, a result finds its order as
// before the deletion, and can be decided. After the erasure nothing has the user's id.
func TestCandidateInGracePeriod(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		var before, meanwhile []matching.ID
		for range 4 {
			before = append(before, d.receive(d.report(o)))
		}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, d.team.ID, o.User) })
		for range 4 {
			meanwhile = append(meanwhile, d.receive(d.report(o)))
		}
		for _, ids := range [][]matching.ID{before, meanwhile} {
			for _, id := range ids {
				i := d.get(id)
				if i.Status != matching.TeamReview || i.Decision != matching.PersonMatch || len(i.Candidates) != 1 || i.Candidates[0].Order != o.ID {
					t.Errorf("%s as %s with %d candidates", i.Status, i.Decision, len(i.Candidates))
				}
			}
			for id, action := range map[matching.ID]matching.Action{ids[0]: matching.Reject, ids[1]: matching.Unsure} {
				if i, err := d.resolve(id, action); err != nil || i.Action != action {
					t.Errorf("%s: %v", action, err)
				}
			}
			if to, err := d.accept(ids[2], matching.Choice{User: &o.User}); err != nil || to.ID != o.ID || d.results(to) == 0 {
				t.Errorf("accepted for %s: %v", to.ID, err)
			}
		}
		if got := d.announced(); len(got) != 14 {
			t.Errorf("announced %v", got)
		}
		for _, e := range d.events() {
			if e.UserID != o.User.String() {
				t.Errorf("%s is of the user %q", e.EventType, e.UserID)
			}
		}
		stranger := d.receive(d.report(o, func(r *networks.Report) { r.Patient = networks.ReportedPatient{FirstName: "Unknown"} }))
		if _, err := d.accept(stranger, matching.Choice{User: &o.User, ConfirmIdentity: true}); !fault.Is(err, fault.Unprocessable) {
			t.Errorf("a new order of a deleted user: %v", err)
		}
		endGrace(t, db, o.User)
		for _, table := range []string{"unmatched_results", "unmatched_candidates"} {
			if n := count(t, db, `SELECT COUNT(*) FROM `+table+` WHERE team_id = $1 AND user_id = $2`, d.team.ID, o.User); n != 0 {
				t.Errorf("%d rows of %s have the id of the erased user", n, table)
			}
		}
	})
}

// A cancelled order is recreated in its transaction. Later results of the same
// sample go to the recreated order.
func TestCancelledOrderIsRecreated(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.Cancelled)
		first, second := d.receive(d.report(o)), d.receive(d.report(o, func(r *networks.Report) { r.SampleID = "UNKNOWN-2" }))
		if i := d.get(first); i.Decision != matching.CancelledMatch {
			t.Fatalf("judged %s", i.Decision)
		}
		next, err := d.accept(first, matching.Choice{})
		if err != nil {
			t.Fatal(err)
		}
		if next.ID == o.ID || next.Origin != orders.Recreation || *next.Parent != o.ID || next.Transaction != o.Transaction || next.SampleID != "UNKNOWN-1" ||
			next.Status != orders.Completed || next.User != o.User {
			t.Errorf("made %+v at %s", next.Origin, next.Status)
		}
		if again, err := d.accept(second, matching.Choice{Order: &o.ID}); err != nil || again.ID != next.ID {
			t.Errorf("the second went to %s: %v", again.ID, err)
		}
	})
}

// A report with another person's number gets a new order of the user whose sample it is.
// The named order stays unchanged, because its patient waits for a result.
func TestAcceptForAnotherPerson(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		info := userstest.Info()
		info.FirstName, info.LastName, info.BirthDate = "Grace", "Hopper", civil.MustParse("1956-12-09")
		info.Address.State, info.Address.City, info.Address.Zip = "AZ", "Phoenix", "85004"
		grace := userstest.New(t, db, d.team.ID, users.NewUser{})
		id := d.receive(d.report(o, func(r *networks.Report) {
			r.SampleID = o.SampleID
			r.Patient = networks.ReportedPatient{FirstName: "Grace", LastName: "Hopper", DOB: info.BirthDate, Gender: "F"}
		}))
		if i := d.get(id); i.Decision != matching.OtherPerson || i.Status != matching.TeamReview {
			t.Fatalf("judged %s", i.Decision)
		}
		for name, c := range map[string]matching.Choice{
			"no default":     {},
			"not theirs":     {Order: &o.ID, User: &grace.ID},
			"unknown person": {User: &grace.ID},
		} {
			if _, err := d.accept(id, c); !fault.Is(err, fault.Unprocessable) {
				t.Errorf("%s: %v", name, err)
			}
		}
		userstest.WithInfo(t, db, grace, info)
		next, err := d.accept(id, matching.Choice{User: &grace.ID})
		if err != nil || next.User != grace.ID || next.Origin != orders.Initial || next.Parent != nil || next.Transaction == o.Transaction ||
			next.Body.Patient.LastName != "Hopper" || next.SampleID == o.SampleID || d.results(next) == 0 {
			t.Fatalf("made for %s: %v", next.User, err)
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			before, err := orders.Get(ctx, tx, d.team.ID, o.ID)
			if before.Status != orders.RequisitionCreated || before.SampleID != o.SampleID || d.results(before) != 0 {
				t.Errorf("the named order is %s", before.Status)
			}
			return err
		})
		if n := count(t, db, `SELECT COUNT(*) FROM jobs WHERE kind = 'orders.withdraw'`); n != 0 {
			t.Errorf("%d withdrawals go to the lab", n)
		}
	})
}

// A report on another person goes to an order only when the reviewer confirms
// the identity. The results show the differences.
func TestAcceptConfirmsIdentity(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, operator := range []bool{false, true} {
			d := newReviewFixture(t, db)
			d.reviews(!operator)
			accept := d.accept
			if operator {
				accept = d.operatorAccepts
			}
			for name, person := range map[string]networks.ReportedPatient{
				"first_name_mismatch, birth_date_missing":                   {FirstName: "Tara", LastName: orderstest.Patient().LastName},
				"last_name_missing, first_name_missing, birth_date_missing": {},
			} {
				o := d.order(orders.RequisitionCreated)
				id := d.receive(d.report(o, func(r *networks.Report) { r.Patient = person }))
				_, err := accept(id, matching.Choice{Order: &o.ID})
				if !fault.Is(err, fault.Unprocessable) || !strings.Contains(err.Error(), name) || d.results(o) != 0 {
					t.Fatalf("%s: %v", name, err)
				}
				if o, err = accept(id, matching.Choice{Order: &o.ID, ConfirmIdentity: true}); err != nil {
					t.Fatal(err)
				}
				d.read(func(tx *store.Tx) error {
					r, err := results.Get(d.ctx(), tx, &o, 0)
					if err == nil && fmt.Sprint(r.Reviews[0].Confirmed) != "["+strings.ReplaceAll(name, ",", "")+"]" {
						t.Errorf("confirmed %v", r.Reviews[0].Confirmed)
					}
					return err
				})
			}
		}
	})
}

// If a result is of another lab than the order's, the order is recreated at that lab.
func TestWrongLab(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		var other catalogue.Lab
		var marker *catalogue.Marker
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			c, err := catalogue.Load(ctx, tx, d.team.ID)
			for _, lab := range c.Labs() {
				for _, m := range c.Markers(catalogue.MarkerFilter{Labs: []catalogue.LabID{lab.ID}}) {
					if lab.ID != o.Lab && m.CollectedBy(catalogue.WalkIn) && lab.Offers(catalogue.WalkIn) {
						other, marker = lab, m
					}
				}
			}
			return err
		})
		id := d.receive(d.report(o, func(r *networks.Report) {
			r.Lab, r.Account = other.Slug, ""
			r.Results.Results = append(r.Results.Results, networks.Result{TestProviderID: marker.ProviderID, ProviderID: marker.ProviderID, Name: marker.Name, Value: "1"})
		}))
		if i := d.get(id); i.Decision != matching.WrongLab || i.Lab != other.ID {
			t.Fatalf("judged %s of lab %d", i.Decision, i.Lab)
		}
		next, err := d.accept(id, matching.Choice{})
		if err != nil || next.Lab != other.ID || next.Account == o.Account || next.Origin != orders.Recreation || next.Transaction != o.Transaction {
			t.Fatalf("made at lab %d: %v", next.Lab, err)
		}
	})
}

// A result without any matching order can become a new order of a user.
func TestAcceptWithoutOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		id := d.receive(d.report(o, func(r *networks.Report) {
			r.Patient = networks.ReportedPatient{FirstName: "Unknown", LastName: "Atall", DOB: civil.MustParse("1990-01-01")}
		}))
		if i := d.get(id); i.Decision != matching.NoMatch || len(i.Candidates) != 0 {
			t.Fatalf("judged %s, %d candidates", i.Decision, len(i.Candidates))
		}
		if _, err := d.accept(id, matching.Choice{}); !fault.Is(err, fault.Unprocessable) {
			t.Errorf("no default: %v", err)
		}
		unknown := users.ID(uuid.New())
		if _, err := d.accept(id, matching.Choice{User: &unknown}); !fault.Is(err, fault.NotFound) {
			t.Errorf("an unknown user: %v", err)
		}
		info := userstest.Info()
		info.Address.State, info.Address.City, info.Address.Zip = "AZ", "Phoenix", "85004"
		user := userstest.New(t, db, d.team.ID, users.NewUser{})
		userstest.WithInfo(t, db, user, info)
		if _, err := d.accept(id, matching.Choice{User: &user.ID}); !fault.Is(err, fault.Unprocessable) {
			t.Errorf("another person: %v", err)
		}
		next, err := d.accept(id, matching.Choice{User: &user.ID, ConfirmIdentity: true})
		if err != nil || next.User != user.ID || next.SampleID != "UNKNOWN-1" || d.results(next) == 0 {
			t.Fatalf("made %s: %v", next.Status, err)
		}
	})
}

// Rejecting and forwarding both close a result for the team.
func TestRejectAndUnsure(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		for action, want := range map[matching.Action]matching.Status{matching.Reject: matching.Resolved, matching.Unsure: matching.OperatorReview} {
			id := d.receive(d.report(o))
			i, err := d.resolve(id, action)
			if err != nil || i.Status != want || i.Action != action || len(i.Actions()) != 0 || i.Summary.Note != "asked the lab" || i.User != nil {
				t.Errorf("%s: %s %v", action, i.Status, err)
			}
			if _, err := d.resolve(id, action); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s twice: %v", action, err)
			}
		}
		if d.results(o) != 0 {
			t.Error("a rejected result has an order")
		}
	})
}

// Lists show waiting results, with every filter, and find people by any part
// of the name or by birth date.
func TestListAndSearch(t *testing.T) {
	moment := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { moment = moment.Add(time.Second); return moment }, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		var all []matching.ID
		for _, p := range []networks.ReportedPatient{
			{FirstName: "Zoë", LastName: "Müller-Lüdenscheidt", DOB: civil.MustParse("1990-01-01")},
			{FirstName: "Ada", LastName: "Byron", DOB: o.Body.Patient.BirthDate},
			{FirstName: "Bob", LastName: "Byron", DOB: civil.MustParse("1991-01-01")},
		} {
			all = append(all, d.receive(d.report(o, func(r *networks.Report) { r.Patient = p })))
		}
		if _, err := d.resolve(all[2], matching.Reject); err != nil {
			t.Fatal(err)
		}
		var oldest time.Time
		d.read(func(tx *store.Tx) error {
			i, err := matching.Get(d.ctx(), tx, d.team.ID, all[0])
			oldest = i.CreatedAt
			return err
		})
		after := oldest.Add(time.Microsecond)
		for name, c := range map[string]struct {
			f    matching.Filter
			want []matching.ID
		}{
			"what waits":     {matching.Filter{}, []matching.ID{all[1], all[0]}},
			"what is over":   {matching.Filter{Statuses: []matching.Status{matching.Resolved}}, []matching.ID{all[2]}},
			"by decision":    {matching.Filter{Decisions: []matching.Decision{matching.PersonMatch}}, []matching.ID{all[1]}},
			"in any state":   {matching.Filter{Statuses: []matching.Status{matching.TeamReview, matching.OperatorReview, matching.Resolved}}, []matching.ID{all[2], all[1], all[0]}},
			"two decisions":  {matching.Filter{Decisions: []matching.Decision{matching.PersonMatch, matching.PersonMatch}}, []matching.ID{all[1]}},
			"two labs":       {matching.Filter{LabSlugs: []string{"nowhere", "somewhere"}}, nil},
			"since a time":   {matching.Filter{From: &oldest}, []matching.ID{all[1], all[0]}},
			"at a time":      {matching.Filter{From: &oldest, To: &oldest}, []matching.ID{all[0]}},
			"after a time":   {matching.Filter{From: &after}, []matching.ID{all[1]}},
			"unknown lab":    {matching.Filter{LabSlugs: []string{"nowhere"}}, nil},
			"without accent": {matching.Filter{Search: "zoe mul"}, []matching.ID{all[0]}},
			"last, first":    {matching.Filter{Search: "byron, ada"}, []matching.ID{all[1]}},
			"birth date":     {matching.Filter{Search: "1990-01-01"}, []matching.ID{all[0]}},
			"nobody":         {matching.Filter{Search: "%"}, nil},
		} {
			d.read(func(tx *store.Tx) error {
				c.f.Limit = 10
				got, total, err := matching.List(d.ctx(), tx, d.team.ID, c.f)
				if !slices.EqualFunc(got, c.want, func(i matching.Item, id matching.ID) bool { return i.ID == id }) || total != len(c.want) {
					t.Errorf("%s: %d of %d", name, len(got), total)
				}
				return err
			})
		}
		d.read(func(tx *store.Tx) error { // page by page
			for _, search := range []string{"", "o"} {
				f := matching.Filter{Limit: 1, Search: search}
				for _, want := range []matching.ID{all[1], all[0]} {
					got, total, err := matching.List(d.ctx(), tx, d.team.ID, f)
					if err != nil || total != 2 || len(got) != 1 || got[0].ID != want {
						t.Fatalf("%q: %d of %d: %v", search, len(got), total, err)
					}
					place := matching.PositionOf(&got[0])
					f.After = &place
				}
			}
			got, total, err := matching.List(d.ctx(), tx, d.team.ID, matching.Filter{Limit: 1, CriticalFirst: true})
			if err != nil || total != 2 || len(got) != 1 || got[0].ID != all[0] {
				t.Fatalf("critical ones first: %d of %d: %v", len(got), total, err)
			}
			return nil
		})
	})
}

// For a team without a queue, operators decide.
func TestTeamWithoutQueue(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		before := d.receive(d.report(o))
		off := false
		d.team.Settings.ResultReviews = &off
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return teams.Update(ctx, tx, d.team) })
		if i := d.get(d.receive(d.report(o))); i.Status != matching.OperatorReview {
			t.Errorf("waits for %s", i.Status)
		}
		if _, err := d.accept(before, matching.Choice{}); !fault.Is(err, fault.Refused) {
			t.Errorf("accepted: %v", err)
		}
		if _, err := d.resolve(before, matching.Reject); !fault.Is(err, fault.Refused) {
			t.Errorf("rejected: %v", err)
		}
		if got := d.announced(); len(got) != 1 {
			t.Errorf("events %v", got)
		}
	})
}

// A person can read notes without values, with the tests and the order number.
func TestTextOfNotes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		values := d.receive(d.report(o))
		notes := d.receive(d.report(o, func(r *networks.Report) {
			r.Placer, r.Tests, r.Results = o.ID.String(), []string{"303756"}, &networks.ResultSet{Comments: []string{"Potassium 7.9 called to Dr. Example, read back"}}
		}))
		for id, want := range map[matching.ID]*matching.ReportText{
			values: nil,
			notes:  {OrderNumber: o.ID.String(), Tests: []string{"303756"}, Text: "Potassium 7.9 called to Dr. Example, read back"},
		} {
			d.read(func(tx *store.Tx) error {
				i, err := matching.Get(d.ctx(), tx, d.team.ID, id)
				if err != nil {
					return err
				}
				if got, err := i.ReadText(d.ctx(), tx); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%+v, %v, want %+v", got, err, want)
				}
				if (i.Interpretation == orders.Critical) != (want != nil) {
					t.Errorf("%s is %s", id, i.Interpretation)
				}
				return nil
			})
		}
	})
}

// Results of production teams that wait for an operator are counted. They are of teams
// without a queue, or a team was unsure of them.
func TestCountReviews(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		wants := func(waiting, critical int) {
			t.Helper()
			userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
				c, err := matching.CountReviews(ctx, tx)
				if c.Waiting != waiting || c.Critical != critical || c.Oldest.IsZero() != (waiting == 0) {
					t.Errorf("counted %+v, want %d with %d critical", c, waiting, critical)
				}
				return err
			})
		}
		unsure, waiting := d.receive(d.report(o)), d.receive(d.report(o))
		wants(0, 0)
		if _, err := d.resolve(unsure, matching.Unsure); err != nil {
			t.Fatal(err)
		}
		d.reviews(false)
		d.receive(d.report(o, func(r *networks.Report) { r.Results.Results[0].Flag = "HH" }))
		wants(0, 0) // a team in the sandbox
		if err := d.system(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE teams SET environment = 'production' WHERE id = $1`, d.team.ID)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		wants(3, 1)
		d.reviews(true) // waiting is the team's again
		wants(2, 1)
		if i := d.get(waiting); i.Status != matching.TeamReview {
			t.Errorf("waits for %s", i.Status)
		}
		d.read(func(tx *store.Tx) error {
			got, _, err := matching.List(d.ctx(), tx, d.team.ID, matching.Filter{Statuses: []matching.Status{matching.OperatorReview}, CriticalFirst: true, Limit: 2})
			if err != nil || len(got) != 2 || got[0].Interpretation != orders.Critical || got[1].ID != unsure {
				t.Errorf("critical ones first: %v, %v", got, err)
			}
			return err
		})
	})
}

// decide makes a decision in a transaction of the team.
func (d reviewFixture) decide(fn func(ctx context.Context, tx *store.Tx) error) error {
	return d.db.Write(d.ctx(), func(tx *store.Tx) error { return fn(d.ctx(), tx) })
}

func (d reviewFixture) reviews(on bool) {
	d.t.Helper()
	d.team.Settings.ResultReviews = &on
	userstest.Write(d.t, d.db, func(ctx context.Context, tx *store.Tx) error { return teams.Update(ctx, tx, d.team) })
}

func (d reviewFixture) operatorAccepts(id matching.ID, c matching.Choice) (o orders.Order, err error) {
	err = d.decide(func(ctx context.Context, tx *store.Tx) (err error) {
		o, err = matching.OperatorAccept(ctx, tx, d.team.ID, id, c)
		return err
	})
	return o, err
}

func (d reviewFixture) returnToTeam(id matching.ID) error {
	return d.decide(func(ctx context.Context, tx *store.Tx) error {
		_, err := matching.ReturnToTeam(ctx, tx, d.team.ID, id, nil, "an operator")
		return err
	})
}

// An operator decides for a team without a queue. An accepted result belongs
// to the order, a rejected one to no user, and the team gets only the order's
// events.
func TestOperatorDecides(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		d.reviews(false)
		o := d.order(orders.RequisitionCreated)
		good, bad := d.receive(d.report(o)), d.receive(d.report(o))
		got, err := d.operatorAccepts(good, matching.Choice{})
		if err != nil || got.ID != o.ID || got.Status != orders.Completed {
			t.Fatalf("accepted for %s, which is %s: %v", got.ID, got.Status, err)
		}
		d.read(func(tx *store.Tx) error {
			r, err := results.Get(d.ctx(), tx, &got, 0)
			if len(r.Results) == 0 {
				t.Error("the order has no results")
			}
			return err
		})
		note := "a sample of the lab itself"
		if err := d.decide(func(ctx context.Context, tx *store.Tx) error {
			_, err := matching.OperatorReject(ctx, tx, d.team.ID, bad, &note, "an operator")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if i := d.get(bad); i.Status != matching.Resolved || i.Action != matching.Reject || i.Summary.Note != note {
			t.Errorf("rejected: %s, %s", i.Status, i.Action)
		}
		if _, err := d.operatorAccepts(bad, matching.Choice{}); !fault.Is(err, fault.NotFound) {
			t.Errorf("accepted what was rejected: %v", err)
		}
		if err := d.returnToTeam(bad); !fault.Is(err, fault.Refused) {
			t.Errorf("returned to a team without a queue: %v", err)
		}
		if announced := d.announced(); len(announced) != 0 {
			t.Errorf("a team without a queue got the events %v", announced)
		}
	})
}

// A team that turned its queue off still gets the event of each decision about a result
// that it got an event about. Operators decide, also about results that waited for it.
func TestQueueTurnedOff(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		unsure, waiting, rejected := d.receive(d.report(o)), d.receive(d.report(o)), d.receive(d.report(o))
		if _, err := d.resolve(unsure, matching.Unsure); err != nil {
			t.Fatal(err)
		}
		d.reviews(false)
		before := len(d.announced())
		if _, err := d.operatorAccepts(unsure, matching.Choice{}); err != nil {
			t.Fatalf("after the team was unsure: %v", err)
		}
		if _, err := d.operatorAccepts(waiting, matching.Choice{Order: &o.ID}); err != nil {
			t.Fatalf("that waited for the team: %v", err)
		}
		if err := d.decide(func(ctx context.Context, tx *store.Tx) error {
			_, err := matching.OperatorReject(ctx, tx, d.team.ID, rejected, nil, "an operator")
			return err
		}); err != nil {
			t.Fatalf("rejected: %v", err)
		}
		if got := d.announced()[before:]; !slices.Equal(got, []string{resolvedReview, resolvedReview, resolvedReview}) {
			t.Errorf("events %v", got)
		}
		if _, err := d.operatorAccepts(d.receive(d.report(o)), matching.Choice{Order: &o.ID}); err != nil {
			t.Fatal(err)
		}
		if got := d.announced()[before:]; len(got) != 3 {
			t.Errorf("with a result that the team has not seen: %v", got)
		}
	})
}

// When a team gets its own queue, operators can return waiting results to it,
// and also results that it was unsure of.
func TestOperatorReturnsToTeam(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		d.reviews(false)
		one, other := d.order(orders.RequisitionCreated), d.order(orders.RequisitionCreated)
		old := d.receive(d.report(one))
		d.reviews(true)
		fresh := d.receive(d.report(other))
		if _, err := d.operatorAccepts(fresh, matching.Choice{}); !fault.Is(err, fault.NotFound) {
			t.Errorf("the operator decides what waits for the team: %v", err)
		}
		if _, err := d.resolve(fresh, matching.Unsure); err != nil {
			t.Fatal(err)
		}
		for id, order := range map[matching.ID]orders.ID{old: one.ID, fresh: other.ID} {
			if err := d.returnToTeam(id); err != nil {
				t.Fatal(err)
			}
			if i := d.get(id); i.Status != matching.TeamReview || i.Action != "" || i.ReviewedAt != nil || len(i.Actions()) != 3 {
				t.Errorf("returned: %s, %s, %v", i.Status, i.Action, i.Actions())
			}
			if _, err := d.accept(id, matching.Choice{Order: &order}); err != nil {
				t.Errorf("the team cannot accept it: %v", err)
			}
		}
		if announced := d.announced(); len(announced) != 6 { // fresh: came, unsure, back, accepted; old: came, accepted
			t.Errorf("events %v", announced)
		}
	})
}

// A large team has many people with the same birth date, and many with the same last name.
// They do not hide the person who has both.
func TestCommonNamesDoNotHideThePerson(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		other := orderstest.Request(t, db, orderstest.User(t, db, d.team.ID), orderstest.Test(t, db, d.team.ID, catalogue.WalkIn))
		other.Patient.FirstName = "Eve"
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			for range 61 {
				named, born := other, other
				named.Patient.BirthDate = civil.MustParse("1970-01-01")
				born.Patient.LastName = "Adams"
				for _, r := range []orders.Request{named, born} {
					if _, err := orders.Create(ctx, tx, d.team.ID, r); err != nil {
						return err
					}
				}
			}
			return nil
		})
		i := d.get(d.receive(d.report(o)))
		if i.Decision != matching.PersonMatch || len(i.Candidates) == 0 || i.Candidates[0].Order != o.ID {
			t.Errorf("%s, candidates %+v", i.Decision, i.Candidates)
		}
	})
}
