package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"hale/internal/harness/sink"
)

// A short run on both engines, so that the real one still works on the day it
// is needed. It proves as much as four kills can.
func TestAFewKills(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the server and kills it four times on each engine")
	}
	var out bytes.Buffer
	s := settings{
		engines: []string{"sqlite", "postgres"}, cycles: 4, nodes: 2, keep: t.TempDir(),
		faults: sink.Faults{Unavailable: .10, Reset: .01}, // what hangs is due again after a minute
	}
	if err := run(context.Background(), &out, s); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "lost             0") {
		t.Errorf("the run does not say that nothing was lost:\n%s", out.String())
	}
}

// The checks are checked: each kind of loss that the run looks for is found.
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

// So is each kind that orders may come to.
func TestLossesOfOrdersAreFound(t *testing.T) {
	order := stored{ID: "o", Passthrough: "k"}
	for _, status := range course {
		order.Events = append(order.Events, struct {
			Status string `json:"status"`
		}{status})
	}
	short := order
	short.Events = order.Events[:2]
	twin := order
	twin.ID = "twin"
	for name, c := range map[string]struct {
		stored  []stored
		ordered map[string]string // key → order
		lost    map[string]bool
		want    int
	}{
		"all is well":            {[]stored{order}, map[string]string{"k": "o"}, nil, 0},
		"the order is gone":      {nil, map[string]string{"k": "o"}, nil, 1},
		"it has no results":      {[]stored{short}, map[string]string{"k": "o"}, nil, 2}, // and one event too many
		"it is there twice":      {[]stored{order, twin}, map[string]string{"k": "o"}, nil, 2},
		"its claim was worth it": {[]stored{order}, nil, map[string]bool{"k": true}, 0},
		"its claim was a lie":    {nil, nil, map[string]bool{"k": true}, 1},
	} {
		l := &lab{feed: newFeed(), ordered: c.ordered, lost: c.lost}
		l.feed.orders["o"] = len(course)
		all := map[string]stored{}
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
	if l.verifyBook(map[string]stored{"o": order}, v); len(v.lost) != 1 {
		t.Errorf("an order that the lab never saw: %v", v.lost)
	}
}
