package orders_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hale/internal/labs"
	"hale/internal/orders"
	"hale/internal/orders/orderstest"
	"hale/internal/store"
	"hale/internal/store/storetest"
	"hale/internal/teams"
	"hale/internal/users/userstest"
)

var steps = flag.Int("steps", 0, "triggers that TestRandomWalks tries; 0 means a short walk")

// A model of the machine, walked with millions of random triggers: nothing but
// the tables decides, so what they allow must keep the promises by itself.
func TestRandomTriggersInTheTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	triggers := []orders.Trigger{orders.Requisition, orders.Carrier, orders.Lab, orders.Appointment, orders.Call, orders.Operator}
	for range 1_000_000 / 40 {
		c := orders.Courses[rng.IntN(len(orders.Courses))]
		at := orders.Ordered
		for range 40 {
			to := orders.Statuses[rng.IntN(len(orders.Statuses))]
			if !c.May(at, to, triggers[rng.IntN(len(triggers))]) {
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

// Real orders, alone and several to a transaction, under random triggers that
// are late, repeated and out of order: the order, its history, its transaction
// and what was announced never disagree.
func TestRandomWalks(t *testing.T) {
	tries := *steps
	if tries == 0 {
		tries = 400
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		rng := rand.New(rand.NewPCG(3, 4))
		for done := 0; done < tries; {
			team := orderstest.Team(t, db)
			w := walk{t: t, db: db, rng: rng}
			w.begin(team.ID)
			for range 40 {
				w.step()
				done++
			}
			w.check()
		}
	})
}

type walk struct {
	t    *testing.T
	db   *store.DB
	rng  *rand.Rand
	all  []orders.Order // as some caller read them, long ago or just now
	keys []string
}

func (w *walk) begin(team teams.ID) {
	w.t.Helper()
	if w.rng.IntN(5) == 0 {
		w.all = append(w.all, orderstest.Kit(w.t, w.db, team))
	} else {
		w.all = append(w.all, orderstest.New(w.t, w.db, team, labs.Methods[w.rng.IntN(len(labs.Methods))]))
	}
}

// step tries one trigger on one of the orders, half of the time one that could
// be, and now and then on an order that was read long ago.
func (w *walk) step() {
	w.t.Helper()
	i := w.rng.IntN(len(w.all))
	o := w.all[i]
	m := orders.Move{To: orders.Statuses[w.rng.IntN(len(orders.Statuses))], By: 1 << w.rng.IntN(6)}
	if arrows := orders.Arrows(o.Course()); w.rng.IntN(2) == 0 {
		a := arrows[w.rng.IntN(len(arrows))]
		m.To, m.By = a.To, a.By
	}
	switch w.rng.IntN(3) {
	case 0:
		m.Key = fmt.Sprint("new", w.rng.Int64())
		w.keys = append(w.keys, m.Key)
	case 1:
		if len(w.keys) > 0 {
			m.Key = w.keys[w.rng.IntN(len(w.keys))]
		}
	}
	var again orders.Order
	replaced := false
	userstest.Write(w.t, w.db, func(ctx context.Context, tx *store.Tx) (err error) {
		o, replaced = w.all[i], false
		if w.rng.IntN(60) == 0 && len(w.all) < 4 {
			again, err = orders.Again(ctx, tx, &o, orders.Recreate{})
			replaced = true
			return err
		}
		_, err = orders.Advance(ctx, tx, &o, m)
		return err
	})
	if replaced {
		w.all = append(w.all, again)
	}
	if w.rng.IntN(4) > 0 { // else it stays as it was read
		w.all[i] = o
	}
}

// check compares everything that is told of the orders.
func (w *walk) check() {
	w.t.Helper()
	for _, o := range w.all {
		sound(w.t, w.db, o)
		announced := heard(w.t, w.db, o)
		var rows []string
		for _, e := range history(w.t, w.db, o) {
			if e.Status != orders.PartialResults { // the team did not ask for these
				rows = append(rows, e.Status.Full(o.Method))
			}
		}
		announced = slices.DeleteFunc(announced, func(s string) bool { return s == orders.PartialResults.Full(o.Method) })
		if !slices.Equal(rows, announced) {
			w.t.Fatalf("history %v, announced %v", rows, announced)
		}
		for i, row := range rows[:len(rows)-1] {
			end := slices.ContainsFunc(orders.Statuses, func(s orders.Status) bool { return s.Terminal() && s.Full(o.Method) == row })
			if end && rows[i+1] != orders.Corrected.Full(o.Method) {
				w.t.Fatalf("an end was left: %v", rows)
			}
		}
	}
}
