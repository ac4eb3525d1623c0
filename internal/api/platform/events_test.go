package platform

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hale/internal/api/calltest"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// A reader that has more events than exist gets an error, because numbers are assigned
// again after a restore. A reader that has exactly as many is up to date.
func TestFeedRefusesNumbersFromTheFuture(t *testing.T) {
	eachCaller(t, func(d calltest.UserCaller) {
		d.Post(d.Path("/v2/timeseries/{user_id}/heartrate"), calltest.PushText(calltest.Heartbeats(1)), &struct{}{})
		last := len(d.EventTypes()) // beside the event about the user
		if last != 2 {
			t.Fatalf("%d events", last)
		}
		var page feedBody
		if d.Get("/v2/events?after=3", &page); page.Last != 3 || page.NextAfter != 3 || len(page.Events) != 0 {
			t.Errorf("up to date: %+v", page)
		}
		for _, path := range []string{"/v2/events?after=4", "/v2/events?after=900&wait=30&types=daily.data.heartrate.created"} {
			w := d.Do(http.MethodGet, path, "")
			if text := w.Body.String(); w.Code != http.StatusUnprocessableEntity || !strings.Contains(text, `["query","after"]`) || !strings.Contains(text, "continue from 3") {
				t.Errorf("%s: %d %s", path, w.Code, text)
			}
		}
	})
}

// An event that cannot be read is in the feed without its body and with a reason.
func TestFeedShowsUnreadableEvents(t *testing.T) {
	eachCaller(t, func(d calltest.UserCaller) {
		d.Post(d.Path("/v2/timeseries/{user_id}/heartrate"), calltest.PushText(calltest.Heartbeats(1)), &struct{}{})
		if names := d.EventTypes(); !slices.Contains(names, "daily.data.heartrate.created") {
			t.Fatal(names)
		}
		ctx := store.AsSystem(t.Context())
		err := d.DB.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE events SET body = $1 WHERE type = 'daily.data.heartrate.created'`, []byte("\x01damaged beyond repair, and long enough"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var page feedBody
		text := d.Get("/v2/events?after=0", &page)
		for i, e := range page.Events {
			if bad := e.EventType == "daily.data.heartrate.created"; (e.Problem == "unreadable") != bad || (string(e.Event) == "null") != bad || e.Seq != int64(i+1) {
				t.Errorf("%+v", e)
			}
		}
		if strings.Count(text, `"event":null,"problem":"unreadable"}`) != 1 {
			t.Errorf("%s", text)
		}
	})
}

// A reader may store the id of the last event with its number. It gets an error if
// another event has that number now, however many events follow. An event that was
// deleted proves nothing.
func TestFeedComparesIDs(t *testing.T) {
	eachCaller(t, func(d calltest.UserCaller) {
		var page feedBody
		d.Post(d.Path("/v2/timeseries/{user_id}/heartrate"), calltest.PushText(calltest.Heartbeats(1)), &struct{}{})
		if n := len(d.EventTypes()); n != 2 {
			t.Fatalf("%d events", n)
		}
		d.Get("/v2/events", &page)
		first, second := page.Events[1], page.Events[2]
		follows := func(query, next string) {
			t.Helper()
			var page feedBody
			if d.Get("/v2/events?"+query, &page); page.NextAfterID == nil || *page.NextAfterID != next {
				t.Errorf("after %s: %v, want %s", query, page.NextAfterID, next)
			}
		}
		follows("after=1&limit=1", first.ID)
		follows("after=2&after_id="+first.ID, second.ID)
		follows("after=3&after_id="+second.ID, second.ID)
		follows("after=3", second.ID)
		follows("types="+first.EventType, second.ID)
		for query, says := range map[string]string{
			"after=2&wait=30&after_id=" + second.ID:         "given again to another event",
			"after=3&after_id=" + first.ID:                  "given again to another event",
			"after=3&after_id=msg_1":                        "the id of an event",
			"after=3&after_id=" + url.QueryEscape("' OR 1"): "the id of an event",
		} {
			w := d.Do(http.MethodGet, "/v2/events?"+query, "")
			if text := w.Body.String(); w.Code != http.StatusUnprocessableEntity || !strings.Contains(text, `["query","after_id"]`) || !strings.Contains(text, says) {
				t.Errorf("%s: %d %s", query, w.Code, text)
			}
		}
		ctx := store.AsSystem(t.Context())
		if err := d.DB.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `DELETE FROM events WHERE seq = 2`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		follows("after=2&after_id="+events.ID{}.String(), second.ID)
	})
}
