package webhooks_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// Whatever filters endpoints have, and whichever way events are written: an
// event has a delivery at an endpoint exactly when the filter lets it through.
func TestFilters(t *testing.T) {
	types := []string{"daily.data.steps.created", "daily.data.steps.updated", "historical.data.steps.created", "provider.connection.created"}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		rapid.Check(t, func(rt *rapid.T) {
			r := teamRig(t, db)
			wants := map[webhooks.EndpointID][]string{}
			for range rapid.IntRange(1, 4).Draw(rt, "endpoints") {
				filter := rapid.SliceOf(rapid.SampledFrom(types)).Draw(rt, "filter")
				e := r.endpoint(webhooks.NewEndpoint{
					URL: "http://127.0.0.1:9", Types: filter, Disabled: rapid.Bool().Draw(rt, "off"),
				})
				wants[e.ID] = filter
			}
			sent := rapid.SliceOfN(rapid.SampledFrom(types), 1, 20).Draw(rt, "events")
			ids := r.emitTypes(sent...)
			for endpoint, filter := range wants {
				for i, id := range ids {
					want := len(filter) == 0 || slices.Contains(filter, sent[i])
					got := r.count(`SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = $1 AND event_id = $2`, endpoint, id) == 1
					if got != want {
						rt.Fatalf("%s at filter %v: delivery is %v, want %v", sent[i], filter, got, want)
					}
				}
			}
		})
	})
}

// emitTypes writes events of the types, about no user.
func (r *rig) emitTypes(types ...string) (ids []events.ID) {
	r.t.Helper()
	r.write(func(tx *store.Tx) (err error) {
		all := make([]events.New, len(types))
		for i, name := range types {
			all[i] = events.New{Team: r.team.UUID(), Type: name, Data: fmt.Appendf(nil, `{"n":%d}`, i)}
		}
		ids, err = events.EmitMany(system, tx, all)
		return err
	})
	return ids
}

// settle numbers what was emitted, on PostgreSQL.
func (r *rig) settle() {
	r.t.Helper()
	if err := (&events.Sequencer{DB: r.db}).Settle(system); err != nil {
		r.t.Fatal(err)
	}
}

func TestUnknownTypesAreRefused(t *testing.T) {
	r := teamRig(t, storetest.SQLite(t))
	err := r.db.Write(system, func(tx *store.Tx) error {
		_, err := webhooks.Create(system, tx, open, r.team, webhooks.NewEndpoint{URL: "http://127.0.0.1:9", Types: []string{"daily.data.hypnogram.created"}})
		return err
	})
	if err == nil {
		t.Error("a type that the catalogue does not have was taken")
	}
}
