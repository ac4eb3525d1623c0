package webhooks_test

import (
	"testing"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// Only endpoints that name an optional type receive it, and none receives an event for
// the feed only. The same holds for a replay of all numbers.
func TestOptionalAndFeedOnlyEvents(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newTeamFixture(t, db)
		optional := events.Type{Name: "user.created", Sentence: "An example.", Optional: true, Example: events.ExampleOf(`"n":1`)}
		events.Register(db, events.NewCatalogue(append(eventTypes.Types(), optional)...))
		open := r.endpoint(webhooks.NewEndpoint{URL: "http://127.0.0.1:1/all"})
		named := r.endpoint(webhooks.NewEndpoint{URL: "http://127.0.0.1:1/some", Types: []string{"user.created", "daily.data.steps.created"}})
		r.write(func(tx *store.Tx) error {
			plain, chosen, feedOnly := r.event(1), r.event(2), r.event(3)
			chosen.Type, feedOnly.FeedOnly = "user.created", true
			_, err := events.EmitMany(system, tx, []events.New{plain, chosen, feedOnly})
			return err
		})
		if err := (&events.Sequencer{DB: db}).Settle(system); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			endpoint webhooks.Endpoint
			want     int
		}{{open, 1}, {named, 2}} {
			if n := r.count(`SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = $1`, c.endpoint.ID); n != c.want {
				t.Errorf("%d deliveries, want %d", n, c.want)
			}
			if n := r.replayCount(webhooks.Replay{Endpoint: c.endpoint.ID, From: 1}); n != int64(c.want) {
				t.Errorf("a replay sends %d, want %d", n, c.want)
			}
		}
		if n := r.count(`SELECT COUNT(*) FROM events WHERE seq IS NOT NULL`); n != 3 {
			t.Errorf("the feed has %d events", n)
		}
		r.write(func(tx *store.Tx) error {
			_, err := webhooks.Create(system, tx, allowPrivate, r.team, webhooks.NewEndpoint{URL: "http://127.0.0.1:1/none", Types: []string{}})
			if err == nil {
				t.Error("an endpoint without types was accepted")
			}
			return nil
		})
	})
}
