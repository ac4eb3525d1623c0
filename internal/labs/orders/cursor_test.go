package orders_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// The test reads lists with a cursor on two nodes, in every sort order, while
// orders are created, changed and erased. A list contains each order that exists
// during the whole read exactly once. It contains no order twice.
func TestCursorsSkipAndRepeatNothing(t *testing.T) {
	start := time.Now()
	clock := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Since(start)) }
	storetest.EachAt(t, clock, func(t *testing.T, db *store.DB) {
		w := &orderWriter{db: db, team: orderstest.Team(t, db).ID, rng: rand.New(rand.NewPCG(7, 8)), made: map[orders.ID]bool{}, erased: map[orders.ID]bool{}}
		for range 25 {
			w.create(t)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 150 {
				w.write(t)
			}
		}()
		nodes := []*orders.Index{orders.NewIndex(), orders.NewIndex()}
		rng := rand.New(rand.NewPCG(9, 10))
		for round, running := 0, true; running || round < 2*len(orders.SortKeys); round++ {
			f := orders.Filter{Key: orders.SortKeys[round%len(orders.SortKeys)], Ascending: rng.IntN(2) == 0, Page: 1}
			w.checkWalk(t, nodes, f, rng)
			select {
			case <-done:
				running = false
			default:
			}
		}
		nodes = append(nodes, orders.NewIndex()) // a node that starts reads the former versions
		for _, key := range orders.SortKeys {
			w.checkWalk(t, nodes, orders.Filter{Key: key, Page: 1}, rng)
		}
	})
}

// orderWriter creates, changes and erases orders of a team.
type orderWriter struct {
	db   *store.DB
	team teams.ID
	rng  *rand.Rand
	all  []orders.Order

	mu     sync.Mutex
	made   map[orders.ID]bool // committed
	erased map[orders.ID]bool // set before they are erased
}

func (w *orderWriter) create(t *testing.T) {
	made := newOrders(t, w.db, w.team, w.rng, w.rng.IntN(4))
	w.all = append(w.all, made...)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range made {
		w.made[o.ID] = true
	}
}

func (w *orderWriter) write(t *testing.T) {
	at := w.rng.IntN(len(w.all))
	o := &w.all[at]
	switch w.rng.IntN(6) {
	case 0:
		w.create(t)
	case 1:
		w.erase(t, o.User)
	case 2:
		userstest.Write(t, w.db, func(ctx context.Context, tx *store.Tx) error {
			return orders.Amend(ctx, tx, o, func(o *orders.Order) { o.IsCritical = !o.IsCritical })
		})
	case 3: // a kit gets its person, and the order a name
		if o.Registrable && o.Status == orders.Ordered {
			orderstest.MoveTo(t, w.db, o, orders.AwaitingRegistration)
			break
		}
		if o.Status != orders.AwaitingRegistration {
			break
		}
		userstest.Write(t, w.db, func(ctx context.Context, tx *store.Tx) (err error) {
			person := orderstest.Patient()
			person.LastName = people[w.rng.IntN(len(people))]
			*o, err = orders.Register(ctx, tx, w.team, orders.Registration{SampleID: o.SampleID, Patient: person, Address: orderstest.Address()})
			return err
		})
	default:
		arrows := orders.Arrows(o.Course())
		arrow := arrows[w.rng.IntN(len(arrows))]
		orderstest.Move(t, w.db, o, orders.Move{To: arrow.To, By: arrow.By})
	}
}

// erase erases the orders of a user.
func (w *orderWriter) erase(t *testing.T, user users.ID) {
	w.mu.Lock()
	w.all = slices.DeleteFunc(w.all, func(o orders.Order) bool {
		if o.User == user {
			w.erased[o.ID] = true
		}
		return o.User == user
	})
	w.mu.Unlock()
	userstest.Write(t, w.db, func(ctx context.Context, tx *store.Tx) error {
		_, err := orders.Erase(ctx, tx, w.team, user)
		return err
	})
}

// present returns the orders that are there now.
func (w *orderWriter) present() map[orders.ID]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := map[orders.ID]bool{}
	for id := range w.made {
		now[id] = !w.erased[id]
	}
	return now
}

// areErased reports whether all orders of a cursor are erased.
func (w *orderWriter) areErased(all []orders.Anchor) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !slices.ContainsFunc(all, func(a orders.Anchor) bool { return !w.erased[a.ID] })
}

// checkWalk reads all pages of a list, and compares them with the orders that were
// there before and after.
func (w *orderWriter) checkWalk(t *testing.T, nodes []*orders.Index, f orders.Filter, rng *rand.Rand) {
	t.Helper()
	before := w.present()
	seen := map[orders.ID]int{}
	ctx := store.WithTeam(t.Context(), w.team.UUID())
	for {
		f.Size = 1 + rng.IntN(6)
		var page orders.Page
		err := w.db.Read(ctx, func(tx *store.Tx) (err error) {
			page, err = nodes[rng.IntN(len(nodes))].List(ctx, tx, w.team, f)
			return err
		})
		if fault.Is(err, fault.Invalid) && f.After != nil && w.areErased(f.After.After) {
			return // the caller must start again; a slow machine can erase that many orders between two pages
		}
		if err != nil {
			t.Fatalf("%s: %v", f.Key, err)
		}
		for _, o := range page.Orders {
			seen[o.ID]++
		}
		if page.Next == nil {
			break
		}
		f.After = new(orders.Cursor)
		if err := paging.Decode(paging.Encode(page.Next), f.After); err != nil {
			t.Fatal(err)
		}
	}
	after := w.present()
	for id, there := range before {
		if there && after[id] && seen[id] != 1 {
			t.Errorf("%s, ascending %v: an order occurs %d times", f.Key, f.Ascending, seen[id])
		}
	}
	for _, n := range seen {
		if n > 1 {
			t.Errorf("%s, ascending %v: an order occurs %d times", f.Key, f.Ascending, n)
		}
	}
}

// A cursor belongs to one filter and one order, and ends with its lifetime.
func TestCursorsOfOtherListsAreRefused(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		w := &orderWriter{db: db, team: orderstest.Team(t, db).ID, rng: rand.New(rand.NewPCG(7, 8)), made: map[orders.ID]bool{}, erased: map[orders.ID]bool{}}
		for len(w.all) < 5 {
			w.create(t)
		}
		index := orders.NewIndex()
		list := func(f orders.Filter) (page orders.Page, err error) {
			f.Page, f.Size = max(1, f.Page), 1
			ctx := store.WithTeam(t.Context(), w.team.UUID())
			err = db.Read(ctx, func(tx *store.Tx) (err error) {
				page, err = index.List(ctx, tx, w.team, f)
				return err
			})
			return page, err
		}
		first, err := list(orders.Filter{Key: orders.ByLastStatus})
		if err != nil || first.Next == nil {
			t.Fatalf("%+v, %v", first, err)
		}
		for name, f := range map[string]orders.Filter{
			"another order":     {After: first.Next, Key: orders.ByUpdate},
			"by creation":       {After: first.Next},
			"another direction": {After: first.Next, Key: orders.ByLastStatus, Ascending: true},
			"another filter":    {After: first.Next, Key: orders.ByLastStatus, PatientName: "ada"},
			"a page too":        {After: first.Next, Key: orders.ByLastStatus, Page: 2},
			"an empty cursor":   {After: &orders.Cursor{}, Key: orders.ByLastStatus},
		} {
			if _, err := list(f); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		same := orders.Filter{After: first.Next, Key: orders.ByLastStatus}
		if second, err := list(same); err != nil || len(second.Orders) != 1 || second.Orders[0].ID == first.Orders[0].ID {
			t.Errorf("the second page: %+v, %v", second, err)
		}
		now = now.Add(orders.CursorLifetime + time.Minute)
		if _, err := list(same); !fault.Is(err, fault.Invalid) {
			t.Errorf("an old cursor: %v", err)
		}
		if err := db.Write(store.AsSystem(t.Context()), func(tx *store.Tx) error { return orders.ForgetPast(store.AsSystem(t.Context()), tx) }); err != nil {
			t.Fatal(err)
		}
	})
}

// Former versions are deleted when no cursor needs them, and with their orders.
func TestFormerVersions(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db).ID
		count := func() (n int) {
			userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
				return tx.QueryRow(ctx, `SELECT COUNT(*) FROM order_past WHERE team_id = $1`, team).Scan(&n)
			})
			return n
		}
		first, second := orderstest.New(t, db, team, catalogue.WalkIn), orderstest.New(t, db, team, catalogue.WalkIn)
		for _, o := range []*orders.Order{&first, &second} {
			orderstest.MoveTo(t, db, o, orders.Cancelled)
		}
		if n := count(); n < 2 {
			t.Errorf("%d former versions of two orders", n)
		}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := orders.Erase(ctx, tx, team, first.User)
			return err
		})
		if n := count(); n == 0 {
			t.Error("the other order has no former version")
		}
		now = now.Add(2 * orders.CursorLifetime)
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return orders.ForgetPast(ctx, tx) })
		if n := count(); n != 0 {
			t.Errorf("%d former versions are left", n)
		}
	})
}
