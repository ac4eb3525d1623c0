package orders_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// make walk, or
//
//	go test ./internal/labs/orders -run TestRandomWalks -steps 1000000 -timeout 0 -v
var steps = flag.Int("steps", 2000, "triggers that TestRandomWalks tries on each engine")

// A million random triggers on a model. Only the tables decide, so they alone
// must guarantee the rules.
func TestRandomTriggersInTheTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1_000_000 / 40 {
		c := orders.Courses[rng.IntN(len(orders.Courses))]
		at := orders.Ordered
		for range 40 {
			to := orders.Statuses[rng.IntN(len(orders.Statuses))]
			if !c.Allows(at, to, 1<<rng.IntN(triggers)) {
				continue
			}
			if at.Terminal() && to != orders.Corrected {
				t.Fatalf("%s: %s was left for %s", c, at, to)
			}
			if to == orders.Ordered {
				t.Fatalf("%s: %s went back to ordered", c, at)
			}
			at = to
		}
	}
}

// triggers is the number of triggers.
const triggers = 6

// Several goroutines move real orders in the database, alone and several in a
// transaction. They use the functions that messages of labs, carriers, jobs and
// calls use, with late, duplicate and out-of-order reports. The order, its
// history, its transaction and its events always agree.
func TestRandomWalks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		began, report := time.Now(), time.Now()
		var made int64
		for done := 0; done < *steps; done += perTeam {
			w := newWalk(t, db)
			w.walk(perTeam)
			w.check()
			if made += w.moved.Load(); t.Failed() {
				t.Fatalf("after %d triggers", done+perTeam)
			}
			if time.Since(report) > time.Minute {
				report = time.Now()
				t.Logf("%d triggers, %d moves, %v", done+perTeam, made, time.Since(began).Round(time.Second))
			}
		}
		t.Logf("%d triggers, %d moves, %v", *steps, made, time.Since(began).Round(time.Millisecond))
	})
}

const (
	perTeam          = 1000 // triggers before each check
	walkers          = 4
	concurrentOrders = 6 // orders that move at the same time
)

// walk is a team with a few orders that several goroutines move.
type walk struct {
	t     *testing.T
	db    *store.DB
	team  teams.Team
	user  users.User
	asks  map[catalogue.Method]orders.Request
	moved atomic.Int64

	mu   sync.Mutex
	all  []orders.Order // as some caller read them, recently or long ago
	keys []string       // keys of earlier reports
}

func newWalk(t *testing.T, db *store.DB) *walk {
	t.Helper()
	w := &walk{t: t, db: db, team: orderstest.Team(t, db), asks: map[catalogue.Method]orders.Request{}}
	w.team.Settings.Redraws = true
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return teams.Update(ctx, tx, w.team) })
	w.user = orderstest.User(t, db, w.team.ID)
	for _, m := range catalogue.Methods {
		w.asks[m] = orderstest.Request(t, db, w.user, orderstest.Test(t, db, w.team.ID, m))
	}
	return w
}

// walk tries n triggers.
func (w *walk) walk(n int) {
	var left atomic.Int64
	left.Store(int64(n))
	var wait sync.WaitGroup
	for i := range walkers {
		rng := rand.New(rand.NewPCG(uint64(i), uint64(n)))
		wait.Go(func() {
			for left.Add(-1) >= 0 && !w.t.Failed() {
				if err := w.step(w.t.Context(), rng); err != nil {
					w.t.Error(err)
				}
			}
		})
	}
	wait.Wait()
}

// step creates an order, or tries a move of an existing one.
func (w *walk) step(ctx context.Context, rng *rand.Rand) error {
	i, o := w.pick(rng)
	act := w.move(rng, o)
	switch n := rng.IntN(100); {
	case i < 0:
		act = w.begin(rng)
	case n < 4:
		act = w.call(rng, o)
	case n < 6:
		act = func(ctx context.Context, tx *store.Tx, o *orders.Order) (orders.Order, bool, error) {
			next, err := orders.RecreateOrder(ctx, tx, o, orders.Recreate{})
			return next, err == nil, err
		}
	case n < 12:
		act = redrawResults
	}
	var now, next orders.Order
	var made bool
	err := w.db.Write(store.AsSystem(ctx), func(tx *store.Tx) (err error) {
		now = o // the transaction may run again
		next, made, err = act(store.AsSystem(ctx), tx, &now)
		return err
	})
	var refused *fault.Error
	var list fault.List
	switch {
	case errors.As(err, &refused) || errors.As(err, &list) || errors.Is(err, store.ErrLostRace):
		return nil
	case err != nil:
		return err
	}
	w.keep(rng, i, now, next, made)
	return nil
}

// pick chooses an order, or none (-1) while few orders can move.
func (w *walk) pick(rng *rand.Rand) (int, orders.Order) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) < concurrentOrders {
		return -1, orders.Order{}
	}
	recent := w.all[max(0, len(w.all)-3*concurrentOrders):]
	i := rng.IntN(len(recent))
	if o := recent[i]; !o.Status.Terminal() || rng.IntN(8) > 0 {
		return len(w.all) - len(recent) + i, o
	}
	return -1, orders.Order{}
}

// keep stores the new state of an order. Sometimes it keeps the earlier state,
// so that a later step uses stale data.
func (w *walk) keep(rng *rand.Rand, i int, now, next orders.Order, made bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i >= 0 && rng.IntN(4) > 0 {
		if w.all[i].Status != now.Status {
			w.moved.Add(1)
		}
		w.all[i] = now
	}
	if made {
		w.all = append(w.all, next)
	}
}

// act changes an order as read. It may create another one.
type act func(ctx context.Context, tx *store.Tx, o *orders.Order) (next orders.Order, made bool, err error)

func (w *walk) begin(rng *rand.Rand) act {
	ask := w.asks[catalogue.Methods[rng.IntN(len(catalogue.Methods))]]
	kit := rng.IntN(5) == 0
	return func(ctx context.Context, tx *store.Tx, _ *orders.Order) (orders.Order, bool, error) {
		if kit {
			o, err := orders.CreateKit(ctx, tx, w.team.ID, orders.KitRequest{
				User: w.user.ID, LabTest: w.asks[catalogue.TestKit].Set.TestIDs[0], Shipping: orderstest.Address(),
			})
			return o, err == nil, err
		}
		o, err := orders.Create(ctx, tx, w.team.ID, ask)
		return o, err == nil, err
	}
}

// move sends one report. Most are from a possible source, and half of those are
// for a move that is possible now. A third repeats an earlier report.
func (w *walk) move(rng *rand.Rand, o orders.Order) act {
	m := orders.Move{To: orders.Statuses[rng.IntN(len(orders.Statuses))], By: 1 << rng.IntN(triggers)}
	arrows := orders.Arrows(o.Course())
	if rng.IntN(2) == 0 {
		arrows = slices.DeleteFunc(slices.Clone(arrows), func(a orders.Arrow) bool { return a.From != o.Status })
	}
	if len(arrows) > 0 && rng.IntN(4) > 0 {
		a := arrows[rng.IntN(len(arrows))]
		m.To, m.By = a.To, a.By
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch rng.IntN(3) {
	case 0:
		m.Key = fmt.Sprint("new", rng.Int64())
		w.keys = append(w.keys, m.Key)
	case 1:
		if len(w.keys) > 0 {
			m.Key = w.keys[rng.IntN(len(w.keys))]
		}
	}
	return func(ctx context.Context, tx *store.Tx, o *orders.Order) (orders.Order, bool, error) {
		_, err := orders.Advance(ctx, tx, o, m)
		return orders.Order{}, false, err
	}
}

// call makes a call of the API.
func (w *walk) call(rng *rand.Rand, o orders.Order) act {
	n := rng.IntN(3)
	return func(ctx context.Context, tx *store.Tx, now *orders.Order) (orders.Order, bool, error) {
		var err error
		switch n {
		case 0:
			*now, _, err = orders.Cancel(ctx, tx, o.Team, o.ID)
		case 1:
			*now, _, err = orders.CompleteDraw(ctx, tx, o.Team, o.ID)
		default:
			*now, err = orders.Register(ctx, tx, o.Team, orders.Registration{SampleID: o.SampleID, Patient: orderstest.Patient(), Address: orderstest.Address()})
		}
		return orders.Order{}, false, err
	}
}

// redrawResults reports final results that lack a marker that could not be
// measured.
func redrawResults(ctx context.Context, tx *store.Tx, o *orders.Order) (orders.Order, bool, error) {
	test, err := catalogue.GetTest(ctx, tx, o.Team, o.LabTest)
	if err != nil {
		return orders.Order{}, false, err
	}
	return orders.Redraw(ctx, tx, o, test.MarkerIDs[:1], orders.Move{Key: "final"})
}

// eventData holds the fields of an event about an order.
type eventData struct {
	orderEvent
	Status      string `json:"status"`
	Transaction struct {
		Status string `json:"status"`
		Orders []struct {
			ID orders.ID `json:"id"`
		} `json:"orders"`
	} `json:"order_transaction"`
}

// check compares all orders of the team with their history and events.
func (w *walk) check() {
	w.t.Helper()
	feed := w.feed()
	for i := range w.all {
		o := &w.all[i]
		checkOrder(w.t, w.db, *o)
		rows := history(w.t, w.db, *o)
		w.checkEnd(o, rows)
		w.checkFeed(o, rows, feed[o.ID])
		delete(feed, o.ID)
	}
	if len(feed) > 0 {
		w.t.Errorf("events of %d orders that were not created", len(feed))
	}
}

// checkEnd fails if an order moved after its end, except by a correction.
func (w *walk) checkEnd(o *orders.Order, rows []orders.Event) {
	w.t.Helper()
	for i, e := range rows[:len(rows)-1] {
		if e.Status.Terminal() && rows[i+1].Status != orders.Corrected {
			w.t.Errorf("order %s left its end: %v", o.ID, rows)
		}
	}
}

// checkFeed fails unless the feed has one event for each row of history, in order,
// each with the history up to it.
func (w *walk) checkFeed(o *orders.Order, rows []orders.Event, feed []eventData) {
	w.t.Helper()
	var path, want, got []string
	for _, e := range rows {
		path = append(path, e.Status.Full(o.Method))
		if want = append(want, e.Status.Full(o.Method)); len(want) > len(feed) {
			continue
		}
		said := feed[len(want)-1]
		var events []string
		for _, e := range said.Events {
			events = append(events, e.Status)
		}
		if !slices.Equal(events, path) {
			w.t.Errorf("order %s went %v, an event says %v", o.ID, path, events)
		}
		if stage, _, _ := strings.Cut(said.LastEvent.Status, "."); stage != said.Status {
			w.t.Errorf("order %s is %s with a last event %s", o.ID, said.Status, said.LastEvent.Status)
		}
		if e.Status.Terminal() == (said.Transaction.Status == string(orders.TransactionActive)) && len(said.Transaction.Orders) == 1 {
			w.t.Errorf("order %s, alone in its transaction, is %s and that is %s", o.ID, said.LastEvent.Status, said.Transaction.Status)
		}
	}
	for _, said := range feed {
		got = append(got, said.last(w.t))
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("order %s: history %v, announced %v", o.ID, want, got)
	}
}

// feed returns all events, by order.
func (w *walk) feed() map[orders.ID][]eventData {
	w.t.Helper()
	if err := (&events.Sequencer{DB: w.db}).Settle(w.t.Context()); err != nil { // on PostgreSQL a running node numbers events
		w.t.Fatal(err)
	}
	all := map[orders.ID][]eventData{}
	userstest.Read(w.t, w.db, func(ctx context.Context, tx *store.Tx) error {
		for page := (events.Page{HasMore: true}); page.HasMore; {
			var err error
			if page, err = events.ReadFeed(ctx, tx, w.team.ID.UUID(), page.Next, events.MaxPage, nil); err != nil {
				return err
			}
			for _, e := range page.Events {
				var body struct{ Data eventData }
				if err := json.Unmarshal(e.Body, &body); err != nil {
					return err
				}
				if !body.Data.ID.IsZero() && body.Data.Status != "" {
					all[body.Data.ID] = append(all[body.Data.ID], body.Data)
				}
			}
		}
		return nil
	})
	return all
}
