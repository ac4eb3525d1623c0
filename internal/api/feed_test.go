package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store"
)

// Whoever has more events than there are is told so: numbers are given again
// after a restore. To have just as many is to be up to date.
func TestFeedRefusesNumbersFromTheFuture(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		d.post(d.path("/v2/timeseries/{user_id}/heartrate"), pushText(heartbeats(1)), &pushBody{})
		last := len(d.eventTypes())
		if last != 2 {
			t.Fatalf("%d events", last)
		}
		var page feedBody
		if d.get("/v2/events?after=2", &page); page.Last != 2 || page.NextAfter != 2 || len(page.Events) != 0 {
			t.Errorf("up to date: %+v", page)
		}
		for _, path := range []string{"/v2/events?after=3", "/v2/events?after=900&wait=30&types=daily.data.heartrate.created"} {
			w := d.do(http.MethodGet, path, "")
			if text := w.Body.String(); w.Code != http.StatusUnprocessableEntity || !strings.Contains(text, `["query","after"]`) || !strings.Contains(text, "go on from 2") {
				t.Errorf("%s: %d %s", path, w.Code, text)
			}
		}
	})
}

// An event that cannot be read is in the feed, without its body and with a word.
func TestFeedShowsWhatCannotBeRead(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		d.post(d.path("/v2/timeseries/{user_id}/heartrate"), pushText(heartbeats(1)), &pushBody{})
		if names := d.eventTypes(); !slices.Contains(names, "daily.data.heartrate.created") {
			t.Fatal(names)
		}
		ctx := store.AsSystem(t.Context())
		err := d.db.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE events SET body = $1 WHERE type = 'daily.data.heartrate.created'`, []byte("\x01damaged beyond repair, and long enough"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var page feedBody
		text := d.get("/v2/events?after=0", &page)
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
