package matching_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"hale/internal/labs/critical"
	"hale/internal/labs/inbox"
	"hale/internal/labs/matching"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// arriveWithoutTeam sends reports through the inbox, none of which names an
// order or an account that one team has, and returns the rows that wait.
func (d reviewFixture) arriveWithoutTeam(reports ...networks.Report) []matching.UnassignedResult {
	d.t.Helper()
	queue := &matching.Queue{Log: discardLog(), Orders: orders.NewIndex()}
	in := &inbox.Service{DB: d.db, Log: discardLog(), Handlers: inbox.Handlers{Unmatched: queue}}
	system := store.AsSystem(context.Background())
	for i, r := range reports {
		r.SampleID += string(rune('A' + i))
		if err := in.Put(system, networks.Message{Network: "sandboxlab", Key: r.SampleID, Raw: []byte(r.SampleID), Reports: []networks.Report{r}}); err != nil {
			d.t.Fatal(err)
		}
	}
	node, err := jobs.Join(system, d.db, 0, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	loop := jobstest.NewLoop(jobs.NewRunner(d.db, jobs.Config{Node: node, Kinds: []jobs.Handler{in.Job()}}).Run)
	loop.Start(system)
	var all []matching.UnassignedResult
	for deadline := time.Now().Add(90 * time.Second); len(all) < len(reports); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("%d of %d reports wait", len(all), len(reports))
		}
		all = d.unassigned(matching.Waiting)
	}
	if err := errors.Join(loop.Stop(system), node.Stop(system)); err != nil {
		d.t.Fatal(err)
	}
	return all
}

func (d reviewFixture) unassigned(state matching.AssignmentState) (all []matching.UnassignedResult) {
	d.t.Helper()
	userstest.Read(d.t, d.db, func(ctx context.Context, tx *store.Tx) (err error) {
		all, _, err = matching.ListUnassigned(ctx, tx, state, 100)
		return err
	})
	return all
}

func (d reviewFixture) system(fn func(ctx context.Context, tx *store.Tx) error) error {
	ctx := store.AsSystem(d.t.Context())
	return d.db.Write(ctx, func(tx *store.Tx) error { return fn(ctx, tx) })
}

// A result for which no team is found waits for an operator, who assigns it to
// an order. The order's results show who decided.
func TestAssignToOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o, other := d.order(orders.RequisitionCreated), d.order(orders.RequisitionCreated)
		all := d.arriveWithoutTeam(d.report(o, otherPatient), d.report(o, func(r *networks.Report) { r.Results.Results[0].Flag = "HH" })) // critical ones come first
		if u := all[0]; u.Reason != inbox.NoOrder || u.Interpretation != orders.Critical || u.Lab == "" || all[1].Interpretation != orders.Abnormal {
			t.Fatalf("waiting: %+v", all)
		}
		if n := count(t, db, `SELECT COUNT(*) FROM jobs WHERE kind = 'critical.operators'`); n != 1 {
			t.Errorf("%d e-mails to the operators", n)
		}
		if n := count(t, db, `SELECT COUNT(*) FROM inbox_reports WHERE reason = 'no_order' AND state = 'unmatched' AND user_id IS NULL`); n != 2 {
			t.Errorf("%d reports have the reason", n)
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			c, err := matching.CountUnassigned(ctx, tx)
			if c.Waiting != 2 || c.Critical != 1 || c.Oldest.IsZero() {
				t.Errorf("counted %+v", c)
			}
			_, summary, err2 := matching.GetUnassigned(ctx, tx, all[0].ID)
			if summary == nil || summary.Patient.LastName != o.Body.Patient.LastName {
				t.Errorf("the summary is %+v", summary)
			}
			return errors.Join(err, err2)
		})
		decision := matching.OperatorDecision{By: "operator jane", Note: "their courier"}
		err := d.system(func(ctx context.Context, tx *store.Tx) error {
			_, err := matching.AssignToOrder(ctx, tx, all[1].ID, other.ID, decision)
			return err
		})
		if !fault.Is(err, fault.Unprocessable) {
			t.Errorf("another person: %v", err)
		}
		if err := d.system(func(ctx context.Context, tx *store.Tx) error {
			_, err := matching.AssignToOrder(ctx, tx, all[0].ID, o.ID, decision)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			got, err := orders.Get(ctx, tx, d.team.ID, o.ID)
			if err != nil {
				return err
			}
			r, err := results.Get(ctx, tx, &got, 0)
			if err != nil {
				return err
			}
			if len(r.Reviews) != 1 || r.Reviews[0].By != "operator jane" || r.Reviews[0].Note != "their courier" || r.Reviews[0].At.IsZero() ||
				r.Reviews[0].Patient.LastName != o.Body.Patient.LastName || r.Reviews[0].Result != all[0].ID.UUID() {
				t.Errorf("reviews: %+v", r.Reviews)
			}
			u, summary, err := matching.GetUnassigned(ctx, tx, all[0].ID)
			if u.State != matching.Assigned || u.DecidedBy != "operator jane" || u.Note != "their courier" || *u.Order != o.ID || *u.Team != d.team.ID || summary != nil {
				t.Errorf("after the decision: %+v", u)
			}
			notices, err2 := critical.List(ctx, tx, d.team.ID, critical.Filter{States: []critical.State{critical.Open}, Limit: 10})
			if len(notices) != 1 || notices[0].Order == nil || *notices[0].Order != o.ID {
				t.Errorf("notices: %+v", notices)
			}
			return errors.Join(err, err2)
		})
		if i := d.get(all[0].ID); i.Status != matching.Resolved || i.ReviewedBy != "operator jane" {
			t.Errorf("in the queue: %s by %q", i.Status, i.ReviewedBy)
		}
		err = d.system(func(ctx context.Context, tx *store.Tx) error {
			_, err := matching.AssignToOrder(ctx, tx, all[0].ID, o.ID, decision)
			return err
		})
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("a second decision: %v", err)
		}
	})
}

// A rejected sample that fits no order waits for an operator, who acts and then ends the
// wait. The report is erased with the user whose order it names.
func TestRejectedSampleWithoutAnOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		rejects := func(r *networks.Report) {
			r.Results, r.Status, r.Tests, r.Reason = nil, string(orders.SampleError), []string{"303756"}, "clotted"
		}
		byOther := func(r *networks.Report) { r.Placer, r.Lab = o.ID.String(), "elsewhere" }
		refuses := func(r *networks.Report) { r.Results, r.Refused = nil, []string{"303756"} }
		lists := func(r *networks.Report) { // OBR-25 X
			r.Status, r.Detail, r.Tests = string(orders.SampleError), string(orders.SampleHemolyzed), []string{"303756"}
			r.Results = &networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "303756", Rest: true, Note: "clotted"}}}
		}
		notes := func(r *networks.Report) {
			r.Results, r.Tests = &networks.ResultSet{Comments: []string{"Potassium 7.9 called to Dr. Example"}}, []string{"303756"}
		}
		all := d.arriveWithoutTeam(d.report(o, rejects), d.report(o, rejects, byOther), d.report(o, refuses), d.report(o), d.report(o, lists), d.report(o, notes))
		reported := map[string]int{}
		for _, u := range all {
			reported[string(u.Reason)+" "+u.Status]++
		}
		if want := map[string]int{"no_order sample_error": 2, "other_lab sample_error": 1, "no_order tests_refused": 1, "no_order ": 2}; !maps.Equal(reported, want) {
			t.Fatalf("waiting: %v", reported)
		}
		n := slices.IndexFunc(all, func(u matching.UnassignedResult) bool {
			return u.Reason == inbox.NoOrder && u.Status == string(orders.SampleError)
		})
		id := all[n].ID
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			c, err := matching.CountUnassigned(ctx, tx)
			if c.Waiting != 6 || c.WithoutResults != 4 || c.Critical != 1 {
				t.Errorf("counted %+v", c)
			}
			for _, one := range all {
				u, summary, err := matching.GetUnassigned(ctx, tx, one.ID)
				if err != nil || summary == nil || summary.Patient.LastName != o.Body.Patient.LastName || (u.Report == nil) != (u.Status == "" && u.Interpretation != orders.Critical) {
					t.Errorf("shown: %+v, %+v, %v", u, summary, err)
				}
				if u.Report != nil && u.Status == "" && u.Report.Text != "Potassium 7.9 called to Dr. Example" {
					t.Errorf("the notes: %+v", u.Report)
				}
				if u.Report != nil && (!slices.Equal(u.Report.Tests, []string{"303756"}) || u.Status == string(orders.SampleError) && u.Report.Text != "clotted") {
					t.Errorf("the report: %+v", u.Report)
				}
			}
			return err
		})
		decision := matching.OperatorDecision{By: "operator jane", Note: "called the team: new draw"}
		err := d.system(func(ctx context.Context, tx *store.Tx) error {
			return matching.AssignToTeam(ctx, tx, id, d.team.ID, decision)
		})
		if !fault.Is(err, fault.Unprocessable) {
			t.Errorf("assigned: %v", err)
		}
		for _, one := range all {
			if one.Status == "" {
				continue
			}
			err := d.system(func(ctx context.Context, tx *store.Tx) error {
				_, err := matching.AssignToOrder(ctx, tx, one.ID, o.ID, decision)
				return err
			})
			if !fault.Is(err, fault.Unprocessable) {
				t.Errorf("assigned %s: %v", one.Status, err)
			}
		}
		if err := d.system(func(ctx context.Context, tx *store.Tx) error { return matching.RejectUnassigned(ctx, tx, id, decision) }); err != nil {
			t.Fatal(err)
		}
		if waiting := d.unassigned(matching.Waiting); len(waiting) != 5 {
			t.Errorf("%d still wait", len(waiting))
		}
		eraseUser(t, db, d, o.User)
		for _, u := range d.unassigned(matching.Waiting) {
			if u.Reason == inbox.OtherLab {
				t.Error("a report of the erased user still waits")
			}
		}
	})
}

// A result that is assigned to a team is judged like any other of the team. A
// rejected one is deleted after its retention, and the decision stays.
func TestAssignToTeamAndReject(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		all := d.arriveWithoutTeam(d.report(o), d.report(o))
		decision := matching.OperatorDecision{By: "operator jane"}
		if err := d.system(func(ctx context.Context, tx *store.Tx) error {
			return matching.AssignToTeam(ctx, tx, all[0].ID, d.team.ID, decision)
		}); err != nil {
			t.Fatal(err)
		}
		if err := match(d.ctx(), db, d.team.ID, all[0].ID); err != nil {
			t.Fatal(err)
		}
		if i := d.get(all[0].ID); i.Status != matching.TeamReview || i.Decision != matching.PersonMatch {
			t.Errorf("in the queue: %s %s", i.Status, i.Decision)
		}
		reject := func(d matching.OperatorDecision) func(ctx context.Context, tx *store.Tx) error {
			return func(ctx context.Context, tx *store.Tx) error { return matching.RejectUnassigned(ctx, tx, all[1].ID, d) }
		}
		if err := d.system(reject(decision)); !fault.Is(err, fault.Invalid) {
			t.Errorf("without a reason: %v", err)
		}
		decision.Note = "a sample of the lab"
		if err := d.system(reject(decision)); err != nil {
			t.Fatal(err)
		}
		if got := d.unassigned(matching.RejectedByOps); len(got) != 1 || got[0].DecidedBy != "operator jane" || len(d.unassigned(matching.Waiting)) != 0 {
			t.Errorf("rejected: %+v", got)
		}
		if err := d.system(func(ctx context.Context, tx *store.Tx) error {
			_, err := matching.ForgetUnassigned(ctx, tx, tx.Now().Add(time.Second))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db, `SELECT COUNT(*) FROM inbox_reports`); n != 1 {
			t.Errorf("%d reports are left", n)
		}
		if got := d.unassigned(matching.RejectedByOps); len(got) != 1 || !got[0].Forgotten {
			t.Errorf("after the retention: %+v", got)
		}
	})
}

// A result that an operator assigned to a team finds its order without a further
// decision. The order's results name the operator.
func TestAssignToTeamLeavesATrace(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		users.Register(db, results.UserRecords()...)
		o := d.order(orders.RequisitionCreated)
		all := d.arriveWithoutTeam(d.report(o)) // no order has this sample yet
		o.SampleID = "UNKNOWN-1A"
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE orders SET sample_id = $1 WHERE id = $2`, o.SampleID, o.ID)
			return err
		})
		decision := matching.OperatorDecision{By: "operator jane", Note: "the account is theirs"}
		if err := d.system(func(ctx context.Context, tx *store.Tx) error {
			return matching.AssignToTeam(ctx, tx, all[0].ID, d.team.ID, decision)
		}); err != nil {
			t.Fatal(err)
		}
		if err := match(d.ctx(), db, d.team.ID, all[0].ID); err != nil {
			t.Fatal(err)
		}
		if i := d.get(all[0].ID); i.Status != matching.Matched {
			t.Fatalf("in the queue: %s %s", i.Status, i.Decision)
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			r, err := results.Get(ctx, tx, &o, 0)
			if err == nil && (len(r.Reviews) != 1 || r.Reviews[0].By != "operator jane" || r.Reviews[0].Note != "the account is theirs" || r.Reviews[0].At.IsZero()) {
				t.Errorf("reviews: %+v", r.Reviews)
			}
			return err
		})
	})
}

// A result for which no operator decides ends as rejected.
func TestUndecidedResultsEnd(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		d.arriveWithoutTeam(d.report(o))
		end := func(age time.Duration) {
			t.Helper()
			if err := d.system(func(ctx context.Context, tx *store.Tx) error {
				_, err := matching.EndUndecided(ctx, tx, tx.Now().Add(-age))
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		end(matching.UndecidedRetention)
		if n := len(d.unassigned(matching.Waiting)); n != 1 {
			t.Errorf("%d wait before the end", n)
		}
		end(-time.Second)
		if got := d.unassigned(matching.RejectedByOps); len(got) != 1 || got[0].DecidedBy != "hale" {
			t.Errorf("after the end: %+v", got)
		}
	})
}

// Rows of an earlier version are read: a report without results needs no
// operator.
func TestEarlierReportsWithoutATeam(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		all := d.arriveWithoutTeam(d.report(o))
		err := d.system(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE unassigned_results SET state = 'unread', reason = '', lab = '', interpretation = ''`)
			if err == nil {
				_, err = matching.ReadUnread(ctx, tx)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.unassigned(matching.Waiting); len(got) != 1 || got[0].Interpretation != all[0].Interpretation || got[0].Lab != all[0].Lab {
			t.Errorf("waiting: %+v, want %+v", got, all)
		}
	})
}
