package appointments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/inbox"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/labs/places"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/ops"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// testNetwork is a Booker for tests. It books every slot once, and counts its calls. A
// test can make the next calls fail, before or after the slot is booked.
type testNetwork struct {
	mu     sync.Mutex
	booked map[string]heldSlot // by the booking's id
	seen   []networks.Order
	freed  map[string]int
	asked  int
	// silent calls fail without a booking; deaf ones book and then fail.
	silent, deaf int
	hours        func(q networks.SlotQuery, day civil.Date, zone *time.Location) []networks.Slot
}

// heldSlot is a slot that an order holds.
type heldSlot struct {
	slot  string
	order uuid.UUID
}

func (*testNetwork) Slug() string { return orders.SandboxNetwork }

func (*testNetwork) Place(context.Context, networks.Order) (networks.Receipt, error) {
	return networks.Receipt{Pending: true}, nil
}

func (*testNetwork) Cancel(context.Context, networks.Order) error { return nil }

func (g *testNetwork) Slots(_ context.Context, q networks.SlotQuery) ([]networks.Slot, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
	zone, err := civil.Zone(q.Zone)
	if err != nil {
		return nil, err
	}
	var all []networks.Slot
	for n := range horizon {
		day := q.Start.AddDays(n)
		if g.hours != nil {
			all = append(all, g.hours(q, day, zone)...)
			continue
		}
		for _, hour := range []int{8, 10} {
			all = append(all, slotAt(q, time.Date(day.Year, day.Month, day.Day, hour, 0, 0, 0, zone), time.Hour))
		}
	}
	return all, nil
}

func slotAt(q networks.SlotQuery, start time.Time, long time.Duration) networks.Slot {
	s := networks.Slot{Provider: q.Provider, Site: q.Site, Zone: q.Zone, Start: start.UTC(), End: start.Add(long).UTC(), Free: 1}
	if q.Site == "" {
		s.Price = 3500
	}
	s.Key = fmt.Sprintf("%s|%s|%d", q.Provider, q.Site, start.Unix())
	return s
}

var errLine = errors.New("the line is down")

func (g *testNetwork) answer(do func() (networks.Booking, error)) (networks.Booking, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.silent > 0 {
		g.silent--
		return networks.Booking{}, errLine
	}
	b, err := do()
	if err == nil && g.deaf > 0 {
		g.deaf--
		return networks.Booking{}, errLine
	}
	return b, err
}

func (g *testNetwork) Book(_ context.Context, wish uuid.UUID, o networks.Order, slot networks.Slot) (networks.Booking, error) {
	return g.answer(func() (networks.Booking, error) {
		for _, by := range g.booked {
			if by.slot == slot.Key && by.order != o.ID {
				return networks.Booking{}, networks.ErrSlotTaken
			}
		}
		g.keep(wish.String(), slot.Key, o)
		return networks.Booking{Provider: slot.Provider, ID: wish.String(), ExternalID: "100001", Slot: slot}, nil
	})
}

func (g *testNetwork) keep(id, slot string, o networks.Order) {
	if g.booked == nil {
		g.booked = map[string]heldSlot{}
	}
	g.booked[id] = heldSlot{slot, o.ID}
	g.seen = append(g.seen, o)
}

func (g *testNetwork) Request(_ context.Context, wish uuid.UUID, o networks.Order, provider string, _ networks.Address, _ string) (networks.Booking, error) {
	return g.answer(func() (networks.Booking, error) {
		g.keep(wish.String(), "at any time|"+wish.String(), o)
		return networks.Booking{Provider: provider, ID: wish.String()}, nil
	})
}

func (g *testNetwork) Unbook(_ context.Context, b networks.Booking) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.freed == nil {
		g.freed = map[string]int{}
	}
	g.freed[b.ID]++
	delete(g.booked, b.ID)
	return nil
}

// holds counts the slots that the network holds for an order.
func (g *testNetwork) holds(o orders.ID) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, by := range g.booked {
		if by.order == o.UUID() {
			n++
		}
	}
	return n
}

// fixture is a team with the service and a clock that the test moves.
type fixture struct {
	*Service
	t      *testing.T
	clock  *storetest.Clock
	ctx    context.Context
	team   teams.Team
	who    places.Viewer
	agency *testNetwork
}

// tick returns a later time with each call, so that rows are in the order of their
// creation.
func tick(c *storetest.Clock) func() time.Time {
	return func() time.Time {
		c.Advance(time.Microsecond)
		return c.Now()
	}
}

// noon is a Wednesday in spring, at noon in New York.
var noon = time.Date(2027, 4, 14, 16, 0, 0, 0, time.UTC)

func eachFixture(t *testing.T, fn func(r *fixture)) {
	t.Helper()
	eachFixtureAt(t, noon, fn)
}

func eachFixtureAt(t *testing.T, at time.Time, fn func(r *fixture)) {
	t.Helper()
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := storetest.NewClock(at)
		fn(newFixture(t, d.Open(t, tick(c)), c))
	})
}

func newFixture(t *testing.T, db *store.DB, c *storetest.Clock) *fixture {
	t.Helper()
	orders.Listen(db, orders.Listener{Name: "appointments", Changed: OrderChanged})
	g := &testNetwork{}
	team := orderstest.Team(t, db)
	return &fixture{
		Service: &Service{DB: db, Networks: map[string]networks.Network{g.Slug(): g}, Places: new(places.Directory), Log: ops.Discard()},
		t:       t, clock: c, ctx: store.WithTeam(t.Context(), team.ID.UUID()), team: team, who: places.Viewer{Team: team.ID, Sandbox: true}, agency: g,
	}
}

func (r *fixture) switchOn(change func(s *Settings)) {
	r.t.Helper()
	userstest.Write(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
		s, err := SettingsOf(ctx, tx, r.team.ID)
		if err != nil {
			return err
		}
		change(&s)
		return ChangeSettings(ctx, tx, r.team.ID, s)
	})
}

// order orders a test with a collection method; early orders have no requisition yet.
func (r *fixture) order(m orders.Method, early bool) orders.Order {
	r.t.Helper()
	o := orderstest.New(r.t, r.DB, r.team.ID, m)
	if !early {
		orderstest.MoveTo(r.t, r.DB, &o, orders.RequisitionCreated)
	}
	return o
}

var home = Address{FirstLine: "1 Main Street", City: "Phoenix", State: "AZ", Zip: "85004", AccessNotes: "Gate 4"}

// site returns a service center of the invented list that offers appointments.
func (r *fixture) site() places.Site {
	r.t.Helper()
	for _, s := range places.MadeUpSites("quest") {
		if s.Capabilities&places.ScheduledByUs != 0 {
			return s
		}
	}
	r.t.Fatal("no site takes appointments")
	return places.Site{}
}

// slots returns the free slots of a search for a kind.
func (r *fixture) slots(k Kind) []Slot {
	r.t.Helper()
	var found Availability
	var err error
	if k == Phlebotomy {
		found, err = r.AtHome(r.ctx, r.who, home, nil)
	} else {
		found, err = r.AtCenters(r.ctx, r.who, CenterQuery{Lab: "quest", Codes: []string{r.site().Code}})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	var all []Slot
	for _, day := range found.Days {
		all = append(all, day.Slots...)
	}
	return all
}

func (r *fixture) book(o orders.Order, k Kind, key string) (Document, error) {
	return r.Book(r.ctx, r.who, Booking{Order: o.ID, Kind: k, Key: key, Notes: "Ring twice"})
}

func (r *fixture) booked(o orders.Order, k Kind, key string) Document {
	r.t.Helper()
	d, err := r.book(o, k, key)
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

// now reads an order.
func (r *fixture) now(o orders.Order) orders.Order {
	r.t.Helper()
	userstest.Read(r.t, r.DB, func(ctx context.Context, tx *store.Tx) (err error) {
		o, err = orders.Get(ctx, tx, r.team.ID, o.ID)
		return err
	})
	return o
}

// path returns the statuses in an order's history.
func (r *fixture) path(o orders.Order) (all []orders.Status) {
	r.t.Helper()
	userstest.Read(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
		all = nil
		history, err := orderstest.History(ctx, tx, &o)
		for _, e := range history {
			all = append(all, e.Status)
		}
		return err
	})
	return all
}

func (r *fixture) get(o orders.Order, k Kind) (d Document, err error) {
	err = r.DB.Read(r.ctx, func(tx *store.Tx) error {
		d, err = Get(r.ctx, tx, r.team.ID, o.ID, k)
		return err
	})
	return d, err
}

func (r *fixture) cancel(o orders.Order, k Kind, reason Reason, notes string) (d Document, err error) {
	err = r.DB.Write(r.ctx, func(tx *store.Tx) error {
		d, err = Cancel(r.ctx, tx, r.team.ID, Cancellation{Order: o.ID, Kind: k, Reason: reason.ID, Notes: notes, ReasonField: "reason", NotesField: "notes"})
		return err
	})
	return d, err
}

// reportVisit sends a network's report of an order's visit.
func (r *fixture) reportVisit(o orders.Order, v networks.Visit) {
	r.t.Helper()
	r.receive(o, networks.Report{Visit: &v})
}

func (r *fixture) receive(o orders.Order, report networks.Report) {
	r.t.Helper()
	userstest.Write(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, r.team.ID, o.ID)
		if err != nil {
			return err
		}
		return r.TakeVisit(ctx, tx, &o, inbox.Arrival{ID: uuid.New(), Key: uuid.NewString(), ReceivedAt: tx.Now(), Report: report})
	})
}

// work runs the due jobs, until none is due.
func (r *fixture) work() {
	r.t.Helper()
	for range 50 {
		due := r.due()
		if len(due) == 0 {
			return
		}
		for _, j := range due {
			r.run(j)
		}
	}
	r.t.Fatal("the jobs never end")
}

type dueJob struct {
	id   uuid.UUID
	kind string
	args jobArgs
}

func (r *fixture) due() (all []dueJob) {
	r.t.Helper()
	userstest.Read(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
		all = nil
		rows, err := tx.Query(ctx, `SELECT id, kind, args FROM jobs WHERE status = 'queued' AND kind LIKE 'appointments.%' AND run_at <= $1 ORDER BY run_at, id`, tx.Now())
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var j dueJob
			var args string
			if err := rows.Scan(&j.id, &j.kind, &args); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(args), &j.args); err != nil {
				return err
			}
			all = append(all, j)
		}
		return rows.Err()
	})
	return all
}

// run runs a job as the runner does. A job that fails or waits is due again later.
func (r *fixture) run(j dueJob) {
	r.t.Helper()
	status := `'succeeded'`
	var again time.Duration
	finish := func(s string, at time.Duration) {
		userstest.Write(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE jobs SET status = `+s+`, run_at = $2 WHERE id = $1`, j.id, tx.Now().Add(at))
			return err
		})
	}
	finish(`'running'`, 0)
	var err error
	switch j.kind {
	case settleKind.Name():
		err = r.settle(r.ctx, j.args.Team, j.args.Appointment)
	case lapseKind.Name():
		err = r.lapse(r.ctx, nil, j.args)
	case confirmKind.Name():
		err = r.confirm(r.ctx, nil, j.args)
	}
	if err != nil {
		status, again = `'queued'`, time.Minute
		if err.Error() != jobs.RetryLater(0).Error() && !errors.Is(err, errLine) {
			r.t.Fatalf("%s: %v", j.kind, err)
		}
	}
	finish(status, again)
}

// check checks the invariants.
func (r *fixture) check(o orders.Order, k Kind) {
	r.t.Helper()
	var n int
	userstest.Read(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT COUNT(*) FROM appointments WHERE team_id = $1 AND order_id = $2 AND `+liveCondition, r.team.ID, o.ID).Scan(&n)
	})
	if n > 1 {
		r.t.Errorf("%d live appointments of one order", n)
	}
	d, err := r.get(o, k)
	if fault.Is(err, fault.NotFound) {
		return
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if last := d.Events[len(d.Events)-1].Status; last != d.EventStatus || d.Status != d.EventStatus.Word() {
		r.t.Errorf("the last event is %s, the appointment %s %s", last, d.EventStatus, d.Status)
	}
	from := Asked
	for _, e := range d.Events {
		if !k.Allows(from, e.Status) {
			r.t.Errorf("from %q to %q is no move of %s", from, e.Status, k)
		}
		from = e.Status
	}
}

// events lists the types of the events about appointments, in order.
func (r *fixture) events() (all []string) {
	r.t.Helper()
	userstest.Read(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
		all = nil
		rows, err := tx.Query(ctx, `SELECT type FROM events WHERE team_id = $1 AND type LIKE 'labtest.appointment.%' ORDER BY id`, r.team.ID)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			all = append(all, name)
		}
		return rows.Err()
	})
	return all
}

func wantEqual[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (r *fixture) moveOrder(o *orders.Order, m orders.Move) {
	r.t.Helper()
	if !orderstest.Move(r.t, r.DB, o, m) {
		r.t.Fatalf("the order cannot move from %s to %s", o.Status, m.To)
	}
}

func (r *fixture) labNamed(slug string) (id catalogue.LabID) {
	r.t.Helper()
	userstest.Read(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
		c, err := catalogue.Load(ctx, tx, r.team.ID)
		if err != nil {
			return err
		}
		lab, known := c.LabBySlug(slug)
		if !known {
			r.t.Fatalf("no lab %s", slug)
		}
		id = lab.ID
		return nil
	})
	return id
}

// putLab moves an order to another lab.
func (r *fixture) putLab(o orders.Order) {
	r.t.Helper()
	userstest.Write(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE orders SET lab_id = $1 WHERE id = $2`, o.Lab, o.ID)
		return err
	})
}

// whole returns an appointment's order as its network gets it.
func (r *fixture) whole(a *Appointment) (whole networks.Order) {
	r.t.Helper()
	userstest.Read(r.t, r.DB, func(ctx context.Context, tx *store.Tx) (err error) {
		whole, err = forNetwork(ctx, tx, a)
		return err
	})
	return whole
}

// drafted returns an appointment whose call is stored and not sent.
func (r *fixture) drafted(o orders.Order, k Kind, slot Slot) (a *Appointment) {
	r.t.Helper()
	err := r.DB.Write(r.ctx, func(tx *store.Tx) (err error) {
		a, err = r.Service.book(r.ctx, tx, r.who, Booking{Order: o.ID, Kind: k, Key: slot.Key})
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}

// rescheduling returns an appointment whose rescheduling is stored and not
// sent.
func (r *fixture) rescheduling(o orders.Order, slot Slot) (a *Appointment) {
	r.t.Helper()
	err := r.DB.Write(r.ctx, func(tx *store.Tx) (err error) {
		a, err = r.reschedule(r.ctx, tx, r.who, Change{Order: o.ID, Kind: Phlebotomy, Key: slot.Key})
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}
