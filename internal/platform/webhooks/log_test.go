package webhooks_test

import (
	"slices"
	"testing"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// A page of a log looks through a bounded stretch of the feed, and the feed from
// before an endpoint was made is not looked through unless some of it was sent
// there.
func TestLogsLookThroughStretches(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Types: []string{"daily.data.weight.created"}})
		r.emitTypes("daily.data.weight.created")
		r.settle()
		eventually(t, time.Minute, "one sent", func() bool { return r.states(e.ID)["sent"] == 1 })
		r.emitTypes(slices.Repeat([]string{"daily.data.steps.created"}, 20_100)...)
		r.settle()
		first := r.walk(e.ID, 2)
		later := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		if got := r.walk(later.ID, 1); got != (events.ID{}) {
			t.Errorf("an endpoint that got nothing shows %v", got)
		}
		r.write(func(tx *store.Tx) error { return webhooks.Resend(system, tx, r.team, later.ID, first) })
		eventually(t, time.Minute, "sent again", func() bool { return r.states(later.ID)["sent"] == 1 })
		if got := r.walk(later.ID, 2); got != first {
			t.Errorf("an older event that was sent shows as %v", got)
		}
		latest := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Types: []string{"daily.data.weight.created"}})
		r.start(webhooks.Replay{Endpoint: latest.ID, From: 1, To: 5})
		r.runJobs()
		eventually(t, time.Minute, "replayed", func() bool { return r.states(latest.ID)["sent"] == 1 })
		if got := r.walk(latest.ID, 2); got != first {
			t.Errorf("an older event that was replayed shows as %v", got)
		}
	})
}

// walk goes through both logs of an endpoint, which are to have so many pages
// and one row at most.
func (r *rig) walk(id webhooks.EndpointID, pages int) (found events.ID) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) error {
		var before int64
		for n := 1; ; n++ {
			all, next, err := webhooks.Deliveries(system, tx, r.team, id, webhooks.DeliveryFilter{Limit: 50, Before: before})
			if err != nil {
				return err
			}
			for _, d := range all {
				found = d.Event
			}
			if before = next; before == 0 {
				if n != pages {
					r.t.Errorf("%d pages of deliveries, want %d", n, pages)
				}
				break
			}
		}
		var at webhooks.AttemptPosition
		for n := 1; ; n++ {
			all, next, err := webhooks.Attempts(system, tx, r.team, id, webhooks.AttemptFilter{Limit: 50, Before: at})
			if err != nil {
				return err
			}
			for _, a := range all {
				if a.Event != found {
					r.t.Errorf("an attempt at %v, and a delivery of %v", a.Event, found)
				}
			}
			if at = next; at.Seq == 0 {
				if n != pages {
					r.t.Errorf("%d pages of attempts, want %d", n, pages)
				}
				return nil
			}
		}
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}
