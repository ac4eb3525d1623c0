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

// rig is a team with a patient, a clock that a test turns, and senders that
// note what they were given.
type rig struct {
	t       testing.TB
	db      *store.DB
	ctx     context.Context
	team    teams.ID
	user    users.User
	order   uuid.UUID
	clock   *clock
	service *messages.Service
	sent    *carrier // both channels
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) turn(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// carrier is a Sender that answers as told.
type carrier struct {
	mu     sync.Mutex
	got    []messages.Outgoing
	answer func() error
}

func (c *carrier) Send(_ context.Context, m messages.Outgoing) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, m)
	if c.answer != nil {
		return c.answer()
	}
	return nil
}

func (c *carrier) all() []messages.Outgoing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.got)
}

// eachRig runs fn on both engines at noon of 1 March 2026.
func eachRig(t *testing.T, env teams.Environment, fn func(t *testing.T, r *rig)) {
	t.Helper()
	c := &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	start := c.Now()
	storetest.EachAt(t, c.Now, func(t *testing.T, db *store.DB) {
		c.turn(start.Sub(c.Now()))
		fn(t, newRig(t, db, env, c))
	})
}

func newRig(t testing.TB, db *store.DB, env teams.Environment, c *clock) *rig {
	t.Helper()
	users.Register(db, messages.UserRecords()...)
	r := &rig{t: t, db: db, clock: c, order: uuid.New(), sent: &carrier{}}
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

func (r *rig) write(fn func(ctx context.Context, tx *store.Tx) error) {
	r.t.Helper()
	if err := r.db.Write(r.ctx, func(tx *store.Tx) error { return fn(r.ctx, tx) }); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) settings(s messages.Settings) {
	r.t.Helper()
	r.write(func(ctx context.Context, tx *store.Tx) error {
		_, err := messages.Change(ctx, tx, r.team, func(turned *messages.Settings) { *turned = s })
		return err
	})
}

// statusRules are the rules of the statuses that the tests use. Package orders
// has the rules of all statuses.
var statusRules = map[string]messages.Rule{
	"ordered": messages.BySMS, "transit_customer": messages.BySMS, "draw_completed": messages.BySMS, "completed": messages.BySMS, "cancelled": messages.BySMS,
	"requisition_created": messages.BySMSAndEmail,
}

func (r *rig) event(method, status string) messages.OrderEvent {
	return messages.OrderEvent{
		Team: r.team, User: r.user.ID, Order: r.order, Method: method, Status: status, Message: statusRules[status], SMSEnabled: true, Contact: ada,
	}
}

func (r *rig) moved(e messages.OrderEvent) {
	r.t.Helper()
	r.write(func(ctx context.Context, tx *store.Tx) error { return messages.OrderMoved(ctx, tx, e) })
}

func (r *rig) visit(method, status string, start time.Time) {
	r.t.Helper()
	r.write(func(ctx context.Context, tx *store.Tx) error {
		return messages.AppointmentMoved(ctx, tx, messages.AppointmentEvent{
			Team: r.team, User: r.user.ID, Order: r.order, Appointment: uuid.New(), Method: method, Status: status, Start: start,
			SMSEnabled: true, Contact: ada,
		})
	})
}

func (r *rig) list(f messages.Filter) (all []messages.Shown) {
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

// states lists messages as "template state", oldest first.
func (r *rig) states() string {
	var all []string
	for _, m := range r.list(messages.Filter{}) {
		all = append(all, m.Template+" "+string(m.State))
	}
	return strings.Join(all, ", ")
}

// work runs the jobs that are due until until says yes, by default until no
// message that is due waits.
func (r *rig) work(until func(all []messages.Shown) bool) {
	r.t.Helper()
	if until == nil {
		until = func(all []messages.Shown) bool {
			return !slices.ContainsFunc(all, func(m messages.Shown) bool {
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
	for deadline := time.Now().Add(30 * time.Second); !until(r.list(messages.Filter{})) || r.running(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("the jobs did not end: %s", r.states())
		}
	}
	if err := errors.Join(loop.Stop(system), node.Stop(system)); err != nil {
		r.t.Error(err)
	}
}

// running tells that a job has not written yet how it ended: one that is stopped
// before that is as one that was not tried.
func (r *rig) running() (yes bool) {
	r.t.Helper()
	err := r.db.Read(store.AsSystem(context.Background()), func(tx *store.Tx) error {
		return tx.QueryRow(r.ctx, `SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'running')`).Scan(&yes)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return yes
}
