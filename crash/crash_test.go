package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"hale/internal/harness/proc"
	"hale/internal/harness/sink"
)

// A short run on both engines checks that the command works. Three kills find only
// frequent losses. The engines run concurrently, because most of a run is waiting for
// side, since most of a run is waiting for what is due again.
func TestCrashRunWithAFewKills(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the server and kills it three times on each engine")
	}
	binary, err := proc.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HALE_BINARY", binary)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			s := settings{
				engines: []string{engine}, cycles: 3, nodes: 2, keep: t.TempDir(),
				faults: sink.Faults{Unavailable: .10, Reset: .01}, // a delivery that hangs is due again after a minute
			}
			if err := run(context.Background(), &out, s); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			if strings.Contains(out.String(), "skipped") {
				t.Skip(out.String())
			}
			if !strings.Contains(out.String(), "lost             0") {
				t.Errorf("the run does not say that nothing was lost:\n%s", out.String())
			}
		})
	}
}

// The checks find each kind of loss.
func TestLossesAreFound(t *testing.T) {
	now := time.Now().Unix()
	event := func(seq int64, id, kind string) feedEvent {
		return feedEvent{ID: id, Seq: seq, Type: kind, Body: []byte(`{"user_id":"u","data":{"data":[]}}`)}
	}
	f := newFeed()
	if err := f.take(event(1, "msg_1", "daily.data.heartrate.created")); err != nil {
		t.Fatal(err)
	}
	if err := f.take(event(3, "msg_3", "x")); err == nil {
		t.Error("a gap in the numbers was accepted")
	}
	if err := f.take(event(2, "msg_1", "x")); err == nil {
		t.Error("one id under two numbers was accepted")
	}

	o, err := newOracle(t.TempDir() + "/oracle.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.sample("u", now, 60); err != nil {
		t.Fatal(err)
	}
	if err := o.sample("u", now, 61); err != nil {
		t.Fatal(err)
	}
	lost := func(f *feed) int {
		v := &verdict{}
		(&trial{oracle: o, feed: f}).verifyEvents(v)
		return len(v.lost)
	}
	m := moment{"u", now}
	f = newFeed()
	if n := lost(f); n != 2 {
		t.Errorf("with neither event %d losses were found, want 2", n)
	}
	f.created[m], f.updated[m] = 1, 1
	if n := lost(f); n != 0 {
		t.Errorf("with both events %d losses were found", n)
	}
	f.created[m] = 2
	if n := lost(f); n != 1 {
		t.Errorf("with one event twice %d losses were found, want 1", n)
	}
}

// The checks find each kind of loss of orders.
func TestLossesOfOrdersAreFound(t *testing.T) {
	order := storedOrder{ID: "o", Passthrough: "k"}
	for _, status := range course {
		order.Events = append(order.Events, happening{status})
	}
	order.Status, order.LastEvent = "completed", order.Events[len(course)-1]
	short := order
	short.Events = order.Events[:2]
	astray := order
	astray.Status = "cancelled"
	twin := order
	twin.ID = "twin"
	for name, c := range map[string]struct {
		stored  []storedOrder
		ordered map[string]string // key → order
		lost    map[string]bool
		want    int
	}{
		"all is well":            {[]storedOrder{order}, map[string]string{"k": "o"}, nil, 0},
		"the order is gone":      {nil, map[string]string{"k": "o"}, nil, 1},
		"its parts disagree":     {[]storedOrder{astray}, map[string]string{"k": "o"}, nil, 1},
		"it has no results":      {[]storedOrder{short}, map[string]string{"k": "o"}, nil, 3}, // two of its parts, and one event too many
		"it is there twice":      {[]storedOrder{order, twin}, map[string]string{"k": "o"}, nil, 2},
		"its claim was worth it": {[]storedOrder{order}, nil, map[string]bool{"k": true}, 0},
		"its claim was a lie":    {nil, nil, map[string]bool{"k": true}, 1},
	} {
		l := &lab{feed: newFeed(), ordered: c.ordered, lost: c.lost}
		l.feed.orders["o"] = &history{announced: len(course), last: course[len(course)-1]}
		all := map[string]storedOrder{}
		for _, o := range c.stored {
			all[o.ID] = o
		}
		v := &verdict{}
		l.verifyOrders(all, v)
		if len(v.lost) != c.want {
			t.Errorf("%s: %d losses were found, want %d: %v", name, len(v.lost), c.want, v.lost)
		}
	}
	l := &lab{}
	if _, err := l.Open(); err != nil {
		t.Fatal(err)
	}
	v := &verdict{}
	if l.verifyBook(map[string]storedOrder{"o": order}, v); len(v.lost) != 1 {
		t.Errorf("an order that the lab never saw: %v", v.lost)
	}
}

// The checks find each kind of loss of appointments.
func TestLossesOfVisitsAreFound(t *testing.T) {
	const at, later = "2026-03-05T15:00:00+00:00", "2026-03-05T17:00:00+00:00"
	made := func(id, status, start string) appointment {
		a := appointment{ID: id, OrderID: "o", ProviderID: "b-" + id, EventStatus: status, Start: &start}
		for _, past := range []string{"pending", status} {
			a.Events = append(a.Events, happening{past})
		}
		return a
	}
	row := func(id, state string) booking {
		return booking{id: "b-" + id, order: "o", provider: "getlabs", state: state}
	}
	known := orderState{"a", visitBooked, at}
	lost := &orderState{"a", visitBooked, later}
	for name, c := range map[string]struct {
		appointment appointment
		known       orderState
		maybe       *orderState
		announced   map[string]history
		network     []booking
		want        int
	}{
		"all is well":                       {made("a", "scheduled", at), known, nil, map[string]history{"a": {"o", 2, "scheduled"}}, []booking{row("a", visitBooked)}, 0},
		"an unanswered change came":         {made("a", "scheduled", later), known, lost, map[string]history{"a": {"o", 2, "scheduled"}}, []booking{row("a", visitBooked)}, 0},
		"an unanswered change did not come": {made("a", "scheduled", at), known, lost, map[string]history{"a": {"o", 2, "scheduled"}}, []booking{row("a", visitBooked)}, 0},
		"it is at another time":             {made("a", "scheduled", later), known, nil, map[string]history{"a": {"o", 2, "scheduled"}}, []booking{row("a", visitBooked)}, 1},
		"it is cancelled":                   {made("a", visitCancelled, at), known, nil, map[string]history{"a": {"o", 2, visitCancelled}}, nil, 2}, // which the order is not
		"it was not announced":              {made("a", "scheduled", at), known, nil, nil, []booking{row("a", visitBooked)}, 1},
		"an event is missing":               {made("a", "scheduled", at), known, nil, map[string]history{"a": {"o", 1, "pending"}}, []booking{row("a", visitBooked)}, 1},
		"another one is booked as well":     {made("a", "scheduled", at), known, nil, map[string]history{"a": {"o", 2, "scheduled"}, "z": {"o", 2, "scheduled"}}, []booking{row("a", visitBooked)}, 1},
		"the network has none":              {made("a", "scheduled", at), known, nil, map[string]history{"a": {"o", 2, "scheduled"}}, []booking{row("a", visitCancelled)}, 1},
		"the network has another one":       {made("a", "scheduled", at), known, nil, map[string]history{"a": {"o", 2, "scheduled"}}, []booking{row("z", visitBooked)}, 1},
		"the network has two":               {made("a", "scheduled", at), known, nil, map[string]history{"a": {"o", 2, "scheduled"}}, []booking{row("a", visitBooked), row("z", visitBooked)}, 2},
	} {
		c0, v := newClinic(nil, newFeed()), &verdict{}
		o := storedOrder{ID: "o", Status: "collecting_sample", LastEvent: happening{"collecting_sample.at_home_phlebotomy.appointment_scheduled"}}
		o.Events = []happening{o.LastEvent}
		for id, h := range c.announced {
			c0.feed.visits[id] = &h
		}
		c0.final = map[string]appointment{"o": c.appointment}
		(&visit{order: "o", method: atHome, known: c.known, maybe: c.maybe}).check(o, c.appointment, v)
		c0.feed.checkVisits(c0.final, v)
		c0.verifyNetwork(c.network, v)
		if len(v.lost) != c.want {
			t.Errorf("%s: %d losses were found, want %d: %v", name, len(v.lost), c.want, v.lost)
		}
	}
	overlap := newClinic(nil, newFeed())
	overlap.final = map[string]appointment{}
	var rows []booking
	for _, order := range []string{"p", "q", "r"} {
		overlap.final[order] = appointment{ID: order, ProviderID: order, EventStatus: "scheduled"}
		rows = append(rows, booking{id: order, order: order, provider: "getlabs", state: visitBooked})
	}
	v := &verdict{}
	if overlap.verifyNetwork(rows, v); len(v.lost) != 1 {
		t.Errorf("three visits of two phlebotomists: %v", v.lost)
	}
}
