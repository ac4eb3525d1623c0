package critical_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/critical"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// mailServer records e-mails; refuse is its answer.
type mailServer struct {
	mu     sync.Mutex
	got    []messages.Outgoing
	refuse error
}

func (s *mailServer) Send(_ context.Context, m messages.Outgoing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, m)
	return s.refuse
}

func (s *mailServer) recipients() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, m := range s.got {
		all = append(all, m.Recipient)
	}
	return all
}

// noticeFixture is a team with an order, two addresses, and a clock that tests advance.
type noticeFixture struct {
	t     *testing.T
	db    *store.DB
	now   *storetest.Clock
	team  teams.ID
	order orders.Order
	mails *mailServer
}

func eachNoticeFixture(t *testing.T, env teams.Environment, fn func(t *testing.T, d *noticeFixture)) {
	t.Helper()
	c := storetest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	storetest.EachAt(t, c.Now, func(t *testing.T, db *store.DB) {
		users.Register(db, critical.UserRecords()...)
		d := &noticeFixture{t: t, db: db, now: c, team: orderstest.Team(t, db).ID, mails: &mailServer{}}
		d.order = orderstest.New(t, db, d.team, catalogue.WalkIn)
		d.write(func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.Exec(ctx, `UPDATE teams SET environment = $2 WHERE id = $1`, d.team, string(env)); err != nil {
				return err
			}
			team, err := teams.Get(ctx, tx, d.team)
			if err != nil {
				return err
			}
			team.Settings.CriticalEmail, team.Settings.CriticalEscalationEmail, team.Settings.CriticalMinutes = "lab@example.org", "chief@example.org", 30
			return teams.Update(ctx, tx, team)
		})
		fn(t, d)
	})
}

func (d *noticeFixture) write(fn func(ctx context.Context, tx *store.Tx) error) {
	d.t.Helper()
	userstest.Write(d.t, d.db, fn)
}

// raise raises a notice about the order and returns its id.
func (d *noticeFixture) raise(about critical.Subject) critical.ID {
	d.t.Helper()
	d.write(func(ctx context.Context, tx *store.Tx) error { return critical.Raise(ctx, tx, d.team, about) })
	return d.list()[0].ID
}

func (d *noticeFixture) list(states ...critical.State) (all []critical.Notice) {
	d.t.Helper()
	userstest.Read(d.t, d.db, func(ctx context.Context, tx *store.Tx) (err error) {
		all, err = critical.List(ctx, tx, d.team, critical.Filter{States: states, Limit: 10})
		return err
	})
	return all
}

func (d *noticeFixture) get(id critical.ID) (n critical.Notice) {
	d.t.Helper()
	userstest.Read(d.t, d.db, func(ctx context.Context, tx *store.Tx) (err error) {
		n, err = critical.Get(ctx, tx, d.team, id)
		return err
	})
	return n
}

func (d *noticeFixture) acknowledge(id critical.ID, a critical.Acknowledgement) error {
	d.t.Helper()
	ctx := store.WithTeam(d.t.Context(), d.team.UUID())
	return d.db.Write(ctx, func(tx *store.Tx) error {
		_, err := critical.Acknowledge(ctx, tx, d.team, id, a)
		return err
	})
}

// work runs the jobs until the notice is as wanted.
func (d *noticeFixture) work(id critical.ID, until func(n critical.Notice) bool) {
	d.t.Helper()
	service := &critical.Service{Email: d.mails, BaseURL: func() string { return "https://hale.example.org/" }, Operators: "operators@example.org"}
	system := store.AsSystem(context.Background())
	node, err := jobs.Join(system, d.db, 0, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	loop := jobstest.NewLoop(jobs.NewRunner(d.db, jobs.Config{Node: node, Kinds: service.Jobs()}).Run)
	loop.Start(system)
	for deadline := time.Now().Add(90 * time.Second); !until(d.get(id)); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("the notice stays %+v", d.get(id))
		}
	}
	if err := errors.Join(loop.Stop(system), node.Stop(system)); err != nil {
		d.t.Error(err)
	}
}

func (d *noticeFixture) events() []string {
	d.t.Helper()
	if err := (&events.Sequencer{DB: d.db}).Settle(store.AsSystem(d.t.Context())); err != nil {
		d.t.Fatal(err)
	}
	var all []string
	userstest.Read(d.t, d.db, func(ctx context.Context, tx *store.Tx) error {
		page, err := events.ReadFeed(ctx, tx, d.team.UUID(), 0, 100, []string{critical.EscalatedEvent, critical.AcknowledgedEvent, critical.ClosedEvent})
		for _, e := range page.Events {
			all = append(all, strings.TrimPrefix(e.Type, "labtest.critical_result."))
		}
		return err
	})
	return all
}

func mailIs(kind critical.MailKind, state critical.MailState) func(n critical.Notice) bool {
	return func(n critical.Notice) bool {
		return slices.ContainsFunc(n.Mails, func(m critical.Mail) bool { return m.Kind == kind && m.State == state })
	}
}

// The first address gets an e-mail. Without an acknowledgement in time the
// notice escalates to the second address, once. An acknowledgement ends it.
func TestEscalation(t *testing.T) {
	eachNoticeFixture(t, teams.Production, func(t *testing.T, d *noticeFixture) {
		id := d.raise(critical.Subject{Order: &d.order, Revision: 3})
		d.work(id, mailIs(critical.Notification, critical.MailSent))
		if n := d.get(id); n.State != critical.Open || n.EscalatedAt != nil || n.Revision != 3 || !n.DueAt.Equal(n.RaisedAt.Add(30*time.Minute)) {
			t.Errorf("before the time: %+v", n)
		}
		d.now.Advance(31 * time.Minute)
		d.work(id, mailIs(critical.Escalation, critical.MailSent))
		if got := d.mails.recipients(); !slices.Equal(got, []string{"lab@example.org", "chief@example.org"}) {
			t.Errorf("e-mails to %v", got)
		}
		for _, m := range d.mails.got {
			p := d.order.Body.Patient
			if text := m.Subject + m.Text; !strings.Contains(text, d.order.ID.String()) || !strings.Contains(text, id.String()) ||
				strings.Contains(text, p.FirstName) || strings.Contains(text, p.LastName) || strings.Contains(text, p.BirthDate.String()) {
				t.Errorf("an e-mail says\n%s\n%s", m.Subject, m.Text)
			}
		}
		var w critical.WaitingNotices
		userstest.Read(t, d.db, func(ctx context.Context, tx *store.Tx) (err error) {
			w, err = critical.CountWaiting(ctx, tx)
			return err
		})
		if w.Open != 1 || w.Escalated != 1 || w.Oldest.IsZero() {
			t.Errorf("waiting: %+v", w)
		}
		said := critical.Acknowledgement{Notified: " Dr. Example ", NotifiedAt: d.now.Now().Add(-time.Minute), ReadBack: true, By: "A. Nurse", Note: "by phone"}
		if err := d.acknowledge(id, said); err != nil {
			t.Fatal(err)
		}
		n := d.get(id)
		if a := n.Acknowledgement; n.State != critical.Acknowledged || n.EndedAt == nil || a == nil || a.Notified != "Dr. Example" || !a.ReadBack || a.By != "A. Nurse" || !a.NotifiedAt.Equal(said.NotifiedAt) {
			t.Errorf("acknowledged: %+v %+v", n, n.Acknowledgement)
		}
		if err := d.acknowledge(id, said); !fault.Is(err, fault.Conflict) {
			t.Errorf("a second acknowledgement: %v", err)
		}
		if got := d.events(); !slices.Equal(got, []string{"escalated", "acknowledged"}) {
			t.Errorf("events: %v", got)
		}
		if open, ended := d.list(critical.Open), d.list(critical.Acknowledged); len(open) != 0 || len(ended) != 1 {
			t.Errorf("%d open, %d acknowledged", len(open), len(ended))
		}
		if all := d.list(critical.Open, critical.Acknowledged); len(all) != 1 {
			t.Errorf("%d open or acknowledged", len(all))
		}
	})
}

// Nothing escalates after an acknowledgement, and no e-mail follows it.
func TestAcknowledgedInTime(t *testing.T) {
	eachNoticeFixture(t, teams.Production, func(t *testing.T, d *noticeFixture) {
		id := d.raise(critical.Subject{Order: &d.order, Revision: 1})
		if err := d.acknowledge(id, critical.Acknowledgement{Notified: "Dr. Example"}); err != nil {
			t.Fatal(err)
		}
		d.now.Advance(time.Hour)
		d.work(id, mailIs(critical.Notification, critical.MailCleared))
		if n := d.get(id); n.EscalatedAt != nil || len(d.mails.recipients()) > 0 {
			t.Errorf("escalated %v, e-mails to %v", n.EscalatedAt, d.mails.recipients())
		}
	})
}

// An e-mail that cannot be sent does not delay the escalation.
func TestFailedMailEscalates(t *testing.T) {
	eachNoticeFixture(t, teams.Production, func(t *testing.T, d *noticeFixture) {
		d.mails.refuse = &messages.Problem{Word: "bad_recipient", Final: true}
		id := d.raise(critical.Subject{Order: &d.order, Revision: 1})
		d.work(id, mailIs(critical.Escalation, critical.MailFailed))
		n := d.get(id)
		if n.EscalatedAt == nil || n.State != critical.Open || n.Mails[0].Problem != "bad_recipient" || !slices.Equal(d.events(), []string{"escalated"}) {
			t.Errorf("%+v, events %v", n, d.events())
		}
	})
}

// Without a first address the notice escalates at once.
func TestNoFirstAddressEscalates(t *testing.T) {
	eachNoticeFixture(t, teams.Production, func(t *testing.T, d *noticeFixture) {
		d.write(func(ctx context.Context, tx *store.Tx) error {
			team, err := teams.Get(ctx, tx, d.team)
			if err != nil {
				return err
			}
			team.Settings.CriticalEmail = ""
			return teams.Update(ctx, tx, team)
		})
		id := d.raise(critical.Subject{Order: &d.order, Revision: 1})
		d.work(id, mailIs(critical.Escalation, critical.MailSent))
		if got := d.mails.recipients(); !slices.Equal(got, []string{"chief@example.org"}) {
			t.Errorf("e-mails to %v", got)
		}
	})
}

// The e-mails of a sandbox team stay in the service.
func TestSandboxSendsNothing(t *testing.T) {
	eachNoticeFixture(t, teams.Sandbox, func(t *testing.T, d *noticeFixture) {
		id := d.raise(critical.Subject{Order: &d.order, Revision: 1})
		d.work(id, mailIs(critical.Notification, critical.MailOutbox))
		if got := d.mails.recipients(); len(got) > 0 {
			t.Errorf("e-mails to %v", got)
		}
	})
}

// A notice about a result in review is closed by the decision, and forgotten
// with the result.
func TestReview(t *testing.T) {
	eachNoticeFixture(t, teams.Production, func(t *testing.T, d *noticeFixture) {
		result := uuid.New()
		id := d.raise(critical.Subject{Result: result})
		d.write(func(ctx context.Context, tx *store.Tx) error { return critical.CloseReview(ctx, tx, d.team, result) })
		if n := d.get(id); n.State != critical.Closed || n.User != nil || n.Result == nil || *n.Result != result {
			t.Errorf("after the decision: %+v", n)
		}
		if got := d.events(); !slices.Equal(got, []string{"closed"}) {
			t.Errorf("events: %v", got)
		}
		userstest.Read(t, d.db, func(ctx context.Context, tx *store.Tx) error {
			page, err := events.ReadFeed(ctx, tx, d.team.UUID(), 0, 1, []string{critical.ClosedEvent})
			for _, e := range page.Events {
				for _, want := range []string{`"id":"` + id.String(), `"unmatched_result_id":"` + result.String(), `"state":"closed"`, `"ended_at":"2026-03-01T12:00:00+00:00"`, `"acknowledged_at":null`} {
					if !strings.Contains(string(e.Body), want) {
						t.Errorf("%s is not in %s", want, e.Body)
					}
				}
			}
			return err
		})
		d.write(func(ctx context.Context, tx *store.Tx) error { return critical.Forget(ctx, tx, d.team, result) })
		if all := d.list(); len(all) != 0 {
			t.Errorf("%d notices are left", len(all))
		}
	})
}

func TestRefusedAcknowledgements(t *testing.T) {
	eachNoticeFixture(t, teams.Production, func(t *testing.T, d *noticeFixture) {
		id := d.raise(critical.Subject{Order: &d.order, Revision: 1})
		for field, a := range map[string]critical.Acknowledgement{
			"notified_person": {Notified: "  "},
			"notified_at":     {Notified: "Dr. Example", NotifiedAt: d.now.Now().Add(time.Hour)},
			"note":            {Notified: "Dr. Example", Note: strings.Repeat("x", 1001)},
		} {
			if err := d.acknowledge(id, a); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: %v", field, err)
			}
		}
		if err := d.acknowledge(id, critical.Acknowledgement{Notified: "Dr. Example", NotifiedAt: d.now.Now().Add(-48 * time.Hour)}); !fault.Is(err, fault.Invalid) {
			t.Errorf("two days before the result: %v", err)
		}
	})
}

// A critical result without a team notifies the operators, by its id only.
func TestOperatorsAreNotified(t *testing.T) {
	eachNoticeFixture(t, teams.Production, func(t *testing.T, d *noticeFixture) {
		result := uuid.New()
		if err := d.db.Write(store.AsSystem(t.Context()), func(tx *store.Tx) error { return critical.NotifyOperators(t.Context(), tx, result) }); err != nil {
			t.Fatal(err)
		}
		id := d.raise(critical.Subject{Order: &d.order, Revision: 1})
		d.work(id, func(critical.Notice) bool { return slices.Contains(d.mails.recipients(), "operators@example.org") })
		for _, m := range d.mails.got {
			if m.Recipient == "operators@example.org" && !strings.Contains(m.Text, "hale results inbox show "+result.String()) {
				t.Errorf("the e-mail says %s", m.Text)
			}
		}
	})
}
