package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// Whoever keeps the id of the last event beside its number is told when that
// number was given to another event, however many came since; an event that was
// forgotten tells nothing.
func TestFeedComparesIDs(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		var page feedBody
		if d.get("/v2/events", &page); page.NextAfterID != nil {
			t.Errorf("of no events the last is %q", *page.NextAfterID)
		}
		d.post(d.path("/v2/timeseries/{user_id}/heartrate"), pushText(heartbeats(1)), &pushBody{})
		if n := len(d.eventTypes()); n != 2 {
			t.Fatalf("%d events", n)
		}
		d.get("/v2/events", &page)
		first, second := page.Events[0], page.Events[1]
		follows := func(query, next string) {
			t.Helper()
			var page feedBody
			if d.get("/v2/events?"+query, &page); page.NextAfterID == nil || *page.NextAfterID != next {
				t.Errorf("after %s: %v, want %s", query, page.NextAfterID, next)
			}
		}
		follows("limit=1", first.ID)
		follows("after=1&after_id="+first.ID, second.ID)
		follows("after=2&after_id="+second.ID, second.ID)
		follows("after=2", second.ID)
		follows("types="+first.EventType, second.ID)
		for query, says := range map[string]string{
			"after=1&wait=30&after_id=" + second.ID:         "given again to another event",
			"after=2&after_id=" + first.ID:                  "given again to another event",
			"after=2&after_id=msg_1":                        "the id of an event",
			"after=2&after_id=" + url.QueryEscape("' OR 1"): "the id of an event",
		} {
			w := d.do(http.MethodGet, "/v2/events?"+query, "")
			if text := w.Body.String(); w.Code != http.StatusUnprocessableEntity || !strings.Contains(text, `["query","after_id"]`) || !strings.Contains(text, says) {
				t.Errorf("%s: %d %s", query, w.Code, text)
			}
		}
		ctx := store.AsSystem(t.Context())
		if err := d.db.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `DELETE FROM events WHERE seq = 1`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		follows("after=1&after_id="+events.ID{}.String(), second.ID)
	})
}
