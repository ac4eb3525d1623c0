package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// announcement names a record whose events do not have its content: the stream of a
// workout, or the result of an order. A copy reads it after the event.
type announcement struct{ kind, id string }

// Kinds of announcements, and the paths of their reads.
const (
	streamOf = "/v2/timeseries/workouts/%s/stream"
	resultOf = "/v3/order/%s/result"
)

// announceStreams takes an event about the stream of a workout, or about deleted streams.
func (r *replica) announceStreams(doc object) {
	ids, _ := doc["ids"].([]any)
	if id := textField(doc, "workout_id"); id != "" {
		ids = append(ids, id)
	}
	for _, id := range ids {
		r.toRead = append(r.toRead, announcement{streamOf, fmt.Sprint(id)})
	}
}

// readAnnounced reads what the events of the feed have announced.
func (t *trial) readAnnounced(ctx context.Context) error {
	t.feed.mu.Lock()
	defer t.feed.mu.Unlock()
	read := map[announcement]bool{}
	for len(t.feed.toRead) > 0 {
		next := t.feed.toRead[0]
		if !read[next] {
			seq, content, err := readContent(ctx, t.api, next)
			if err != nil {
				return err
			}
			t.feed.set(next.kind, next.id, seq, content)
			read[next] = true
		}
		t.feed.toRead = t.feed.toRead[1:]
	}
	return nil
}

// readContent reads a record. It is nil if there is none, or if all its lists are empty.
func readContent(ctx context.Context, api *client, of announcement) (seq int64, content any, err error) {
	a, err := api.ask(ctx, http.MethodGet, fmt.Sprintf(of.kind, of.id), "", nil)
	if err != nil || a.status == http.StatusNotFound {
		return a.seq, nil, err
	}
	if a.status != http.StatusOK {
		return 0, nil, fmt.Errorf("GET "+of.kind+": %d %.300s", of.id, a.status, a.text)
	}
	for _, v := range a.body {
		if list, ok := v.([]any); !ok || len(list) > 0 {
			return a.seq, a.body, nil
		}
	}
	return a.seq, nil, nil
}

// announced compares records that the copy read after their events. Only the copy from
// the feed has them.
func (c *comparison) announced(ctx context.Context, kind string, ids []string) error {
	if !c.replica.reads {
		return nil
	}
	name := strings.NewReplacer("/v2/timeseries/workouts/%s/", "", "/v3/order/%s/", "").Replace(kind)
	for _, id := range ids {
		_, content, err := readContent(ctx, c.api, announcement{kind, id})
		if err != nil {
			return err
		}
		c.expect(name+" "+id, c.replica.values[kind][id].doc, content)
	}
	return nil
}
