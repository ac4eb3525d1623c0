package messages_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/jobs"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// fixture is a team with a patient, a clock that tests advance, and senders that
// record their messages.
type fixture struct {
	t       testing.TB
	db      *store.DB
	ctx     context.Context
	team    teams.ID
	user    users.User
	order   uuid.UUID
	clock   *storetest.Clock
	service *messages.Service
	sent    *fakeSender // both channels
}

// fakeSender is a Sender that records messages. answer decides about its errors.
type fakeSender struct {
	mu     sync.Mutex
	got    []messages.Outgoing
	answer func() error
}

func (c *fakeSender) Send(_ context.Context, m messages.Outgoing) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, m)
	if c.answer != nil {
		return c.answer()
	}
	return nil
}

func (c *fakeSender) all() []messages.Outgoing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.got)
}

// eachFixture runs fn on both engines at noon of 1 March 2026.
func eachFixture(t *testing.T, env teams.Environment, fn func(t *testing.T, r *fixture)) {
	t.Helper()
	c := storetest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	start := c.Now()
	storetest.EachAt(t, c.Now, func(t *testing.T, db *store.DB) {
		c.Advance(start.Sub(c.Now()))
		fn(t, newFixture(t, db, env, c))
	})
}

func newFixture(t testing.TB, db *store.DB, env teams.Environment, c *storetest.Clock) *fixture {
	t.Helper()
	users.Register(db, messages.UserRecords()...)
	r := &fixture{t: t, db: db, clock: c, order: uuid.New(), sent: &fakeSender{}}
	r.service = &messages.Service{SMS: r.sent, Email: r.sent, BaseURL: func() string { return "https://hale.example.org/" }}
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
		team, err := teams.Create(ctx, tx, "Example Clinic", env)
		r.team = team.ID
		return err
	})
	r.ctx = store.WithTeam(context.Background(), r.team.UUID())
	r.user = userstest.New(t, db, r.team, users.NewUser{})
	userstest.WithInfo(t, db, r.user, userstest.Info())
	return r
}

var ada = messages.Contact{FirstName: "Ada", Phone: "+15125550132", Email: "ada@example.org"}

func (r *fixture) write(fn func(ctx context.Context, tx *store.Tx) error) {
	r.t.Helper()
	if err := r.db.Write(r.ctx, func(tx *store.Tx) error { return fn(r.ctx, tx) }); err != nil {
		r.t.Fatal(err)
	}
}

func (r *fixture) settings(s messages.Settings) {
	r.t.Helper()
	r.write(func(ctx context.Context, tx *store.Tx) error {
		_, err := messages.ChangeSettings(ctx, tx, r.team, func(turned *messages.Settings) { *turned = s })
		return err
	})
}

// statusRules are the rules of the statuses that the tests use. Package orders
// has the rules of all statuses.
var statusRules = map[string]messages.Rule{
	"ordered": messages.BySMS, "transit_customer": messages.BySMS, "draw_completed": messages.BySMS, "completed": messages.BySMS, "cancelled": messages.BySMS,
	"requisition_created": messages.BySMSAndEmail,
}

func (r *fixture) event(method, status string) messages.OrderEvent {
	return messages.OrderEvent{
		Team: r.team, User: r.user.ID, Order: r.order, Method: method, Status: status, Message: statusRules[status], SMSEnabled: true, Contact: ada,
	}
}

func (r *fixture) moved(e messages.OrderEvent) {
	r.t.Helper()
	r.write(func(ctx context.Context, tx *store.Tx) error { return messages.OrderMoved(ctx, tx, e) })
}

func (r *fixture) visit(method, status string, start time.Time) {
	r.t.Helper()
	r.write(func(ctx context.Context, tx *store.Tx) error {
		return messages.AppointmentMoved(ctx, tx, messages.AppointmentEvent{
			Team: r.team, User: r.user.ID, Order: r.order, Appointment: uuid.New(), Method: method, Status: status, Start: start,
			SMSEnabled: true, Contact: ada,
		})
	})
}

func (r *fixture) list(f messages.Filter) (all []messages.OutboxMessage) {
	r.t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	err := r.db.Read(r.ctx, func(tx *store.Tx) (err error) {
		all, err = messages.List(r.ctx, tx, r.team, f)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	slices.Reverse(all) // oldest first
	return all
}

// states returns "template state" of each message, oldest first.
func (r *fixture) states() string {
	var all []string
	for _, m := range r.list(messages.Filter{}) {
		all = append(all, m.Template+" "+string(m.State))
	}
	return strings.Join(all, ", ")
}

// work runs due jobs until the condition until holds. By default it waits for all
// due messages.
func (r *fixture) work(until func(all []messages.OutboxMessage) bool) {
	r.t.Helper()
	if until == nil {
		until = func(all []messages.OutboxMessage) bool {
			return !slices.ContainsFunc(all, func(m messages.OutboxMessage) bool {
				return (m.State == messages.Queued || m.State == messages.Scheduled) && !m.Due.After(r.clock.Now())
			})
		}
	}
	system := store.AsSystem(context.Background())
	node, err := jobs.Join(system, r.db, 0, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	loop := jobstest.NewLoop(jobs.NewRunner(r.db, jobs.Config{Node: node, Kinds: r.service.Jobs()}).Run)
	loop.Start(system)
	for deadline := time.Now().Add(90 * time.Second); !until(r.list(messages.Filter{})) || r.running(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("the jobs did not end: %s", r.states())
		}
	}
	if err := errors.Join(loop.Stop(system), node.Stop(system)); err != nil {
		r.t.Error(err)
	}
}

// running reports whether a job has not recorded its end. Stopping it before that
// would undo the attempt.
func (r *fixture) running() (yes bool) {
	r.t.Helper()
	err := r.db.Read(store.AsSystem(context.Background()), func(tx *store.Tx) error {
		return tx.QueryRow(r.ctx, `SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'running')`).Scan(&yes)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return yes
}
