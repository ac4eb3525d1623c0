package orders_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"hale/internal/labs/orders"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// told is what one event of the feed says of an order.
type told struct {
	announced
	Status      string `json:"status"`
	Transaction struct {
		Status string `json:"status"`
		Orders []struct {
			ID orders.ID `json:"id"`
		} `json:"orders"`
	} `json:"order_transaction"`
}

// check compares everything that is told of the team's orders.
func (w *walk) check() {
	w.t.Helper()
	feed := w.feed()
	for i := range w.all {
		o := &w.all[i]
		sound(w.t, w.db, *o)
		rows := history(w.t, w.db, *o)
		w.ends(o, rows)
		w.agrees(o, rows, feed[o.ID])
		delete(feed, o.ID)
	}
	if len(feed) > 0 {
		w.t.Errorf("events of %d orders that nobody made", len(feed))
	}
}

// ends fails when an order went on after its end with other than a correction.
func (w *walk) ends(o *orders.Order, rows []orders.Event) {
	w.t.Helper()
	for i, e := range rows[:len(rows)-1] {
		if e.Status.Terminal() && rows[i+1].Status != orders.Corrected {
			w.t.Errorf("order %s left its end: %v", o.ID, rows)
		}
	}
}

// agrees fails unless the feed has one event for each row of history, in order,
// each with the history up to there. Partial results are rows that this team
// did not ask to hear of.
func (w *walk) agrees(o *orders.Order, rows []orders.Event, feed []told) {
	w.t.Helper()
	var path, want, got []string
	for _, e := range rows {
		path = append(path, e.Status.Full(o.Method))
		if e.Status == orders.PartialResults {
			continue
		}
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

// feed is everything that was announced, by order.
func (w *walk) feed() map[orders.ID][]told {
	w.t.Helper()
	if err := (&events.Sequencer{DB: w.db}).Settle(w.t.Context()); err != nil { // on PostgreSQL a running node numbers events
		w.t.Fatal(err)
	}
	all := map[orders.ID][]told{}
	userstest.Read(w.t, w.db, func(ctx context.Context, tx *store.Tx) error {
		for page := (events.Page{HasMore: true}); page.HasMore; {
			var err error
			if page, err = events.ReadFeed(ctx, tx, w.team.ID.UUID(), page.Next, events.MaxPage, nil); err != nil {
				return err
			}
			for _, e := range page.Events {
				var body struct{ Data told }
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
