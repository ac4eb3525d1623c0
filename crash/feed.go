package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// feed records the server's event feed. The run continues to read it after each kill,
// so a number that changes its event or disappears shows.
type feed struct {
	last    int64                        // greatest number read
	digests map[string][sha256.Size]byte // event id → its bytes
	partial map[string]bool              // event ids of partial results, which this team's webhooks omit
	created map[moment]int               // events that announce a new sample
	updated map[moment]int               // events that announce another value for it
	done    map[string]int               // user → events that announce a finished import
	orders  map[string]*history          // history of each order in its events
	visits  map[string]*history          // history of each appointment in its events
}

// history records the events about one object: each contains the whole history so far.
type history struct {
	of        string // the order of an appointment
	announced int    // changes in the last event
	last      string // status
}

// moment is one sample of one user: the unix second at which it was taken.
type moment struct {
	user string
	at   int64
}

func newFeed() *feed {
	return &feed{
		digests: map[string][sha256.Size]byte{}, partial: map[string]bool{},
		created: map[moment]int{}, updated: map[moment]int{}, done: map[string]int{}, orders: map[string]*history{}, visits: map[string]*history{},
	}
}

// read follows the feed to its present end.
func (f *feed) read(ctx context.Context, c *caller) error {
	for {
		var page feedPage
		if err := c.ask(ctx, http.MethodGet, fmt.Sprintf("/v2/events?after=%d&limit=1000", f.last), nil, &page); err != nil {
			return err
		}
		for _, e := range page.Events {
			if err := f.take(e); err != nil {
				return err
			}
		}
		if !page.HasMore {
			return nil
		}
	}
}

func (f *feed) take(e feedEvent) error {
	if e.Seq != f.last+1 {
		return fmt.Errorf("the feed goes from number %d to %d", f.last, e.Seq)
	}
	f.last = e.Seq
	if _, twice := f.digests[e.ID]; twice {
		return fmt.Errorf("event %s is in the feed twice", e.ID)
	}
	f.digests[e.ID] = sha256.Sum256(e.Body)
	switch e.Type {
	case "daily.data.heartrate.created":
		return f.samples(e, f.created)
	case "daily.data.heartrate.updated":
		return f.samples(e, f.updated)
	case "historical.data.heartrate.created":
		return f.finished(e)
	case "labtest.order.created", "labtest.order.updated":
		return f.ordered(e)
	case "labtest.appointment.created", "labtest.appointment.updated":
		return f.visited(e)
	}
	return nil
}

func (f *feed) samples(e feedEvent, into map[moment]int) error {
	var envelope struct {
		UserID string `json:"user_id"`
		Data   struct {
			Data []struct {
				Timestamp time.Time `json:"timestamp"`
			} `json:"data"`
		} `json:"data"`
	}
	if err := json.Unmarshal(e.Body, &envelope); err != nil {
		return fmt.Errorf("event %s does not read: %w", e.ID, err)
	}
	for _, s := range envelope.Data.Data {
		into[moment{envelope.UserID, s.Timestamp.Unix()}]++
	}
	return nil
}

func (f *feed) finished(e feedEvent) error {
	var envelope struct {
		UserID string `json:"user_id"`
	}
	if err := json.Unmarshal(e.Body, &envelope); err != nil {
		return fmt.Errorf("event %s does not read: %w", e.ID, err)
	}
	f.done[envelope.UserID]++
	return nil
}

func (f *feed) ordered(e feedEvent) error {
	var envelope struct {
		Data storedOrder `json:"data"`
	}
	if err := json.Unmarshal(e.Body, &envelope); err != nil {
		return fmt.Errorf("event %s does not read: %w", e.ID, err)
	}
	o := envelope.Data
	if err := o.agrees(); err != nil {
		return fmt.Errorf("event %s: %w", e.ID, err)
	}
	f.partial[e.ID] = strings.HasSuffix(o.LastEvent.Status, ".partial_results")
	return follow(f.orders, e, o.ID, "", o.announced())
}

func (f *feed) visited(e feedEvent) error {
	var envelope struct {
		Data appointment `json:"data"`
	}
	if err := json.Unmarshal(e.Body, &envelope); err != nil {
		return fmt.Errorf("event %s does not read: %w", e.ID, err)
	}
	a := envelope.Data
	if err := a.agrees(); err != nil {
		return fmt.Errorf("event %s: %w", e.ID, err)
	}
	return follow(f.visits, e, a.ID, a.OrderID, a.path())
}

// follow records one more event of an object. The event must contain the changes of the
// event before it and at most one more. With fewer changes, the event came too late. With
// more, an event between the two is missing.
func follow(all map[string]*history, e feedEvent, id, of string, changes []string) error {
	h := all[id]
	if h == nil {
		h = &history{of: of}
		all[id] = h
	}
	if len(changes) < h.announced || len(changes) > h.announced+1 {
		return fmt.Errorf("event %s (%s) of %s has %d changes, the one before it of %d: %v", e.ID, e.Type, id, len(changes), h.announced, changes)
	}
	h.announced, h.last = len(changes), changes[len(changes)-1]
	return nil
}
