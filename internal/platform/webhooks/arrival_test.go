package webhooks_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// Events that many transactions write at once arrive once each, and the sweep finds
// none of them.
func TestConcurrentEventsArriveOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const each, producers = 60, 8
		var stranded atomic.Int64
		r := newRig(t, db, webhooks.Config{Stranded: func(n int) { stranded.Add(int64(n)) }})
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		other := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Types: []string{"daily.data.weight.created"}})
		var wait sync.WaitGroup
		for range producers {
			wait.Go(func() {
				for range each / 3 {
					r.emitTypes("daily.data.steps.created", "daily.data.weight.created", "daily.data.steps.created")
				}
			})
		}
		wait.Wait()
		all := each * producers
		eventually(t, time.Minute, "everything recorded", func() bool {
			return r.states(e.ID)["sent"] == all && r.states(other.ID)["sent"] == all/3
		})
		if n := rc.total(); n != all+all/3 {
			t.Errorf("%d posts for %d deliveries", n, all+all/3)
		}
		if stranded.Load() != 0 {
			t.Errorf("%d deliveries were stranded", stranded.Load())
		}
	})
}

// An endpoint that changes gets the next event at its new address.
func TestEventsFollowAChangedURL(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		before, after := newReceiver(t, nil), newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: before.server.URL})
		r.emit(1)
		eventually(t, time.Minute, "the first one", func() bool { return r.states(e.ID)["sent"] == 1 })
		r.update(e.ID, webhooks.Changes{URL: patch.Of(after.server.URL)})
		r.emit(1)
		eventually(t, time.Minute, "the second one", func() bool { return r.states(e.ID)["sent"] == 2 })
		if before.total() != 1 || after.total() != 1 {
			t.Errorf("%d posts before and %d after", before.total(), after.total())
		}
	})
}

// Large envelopes, which a claim leaves to the workers, arrive as small ones do.
func TestLargeEnvelopes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		sizes := []int{100, 7 << 10, 9 << 10, 200 << 10}
		var ids []events.ID
		r.write(func(tx *store.Tx) (err error) {
			all := make([]events.New, len(sizes))
			for i, size := range sizes {
				all[i] = r.event(i)
				all[i].Data = []byte(`"` + strings.Repeat("x", size) + `"`)
			}
			ids, err = events.EmitMany(system, tx, all)
			return err
		})
		eventually(t, time.Minute, "all sent", func() bool { return r.states(e.ID)["sent"] == len(sizes) })
		for i, size := range sizes {
			if n := len(rc.bodies[ids[i].String()]); n < size || n > size+1000 {
				t.Errorf("%d bytes arrived of %d", n, size)
			}
		}
	})
}

// What is in hand already goes where the endpoint points now, as fast as it
// allows now.
func TestQueueFollowsAChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := teamRig(t, db)
		d := r.deliver(webhooks.Config{})
		before, after := newReceiver(t, nil), newReceiver(t, nil)
		slow, fast := 1, 1000
		e := r.endpoint(webhooks.NewEndpoint{URL: before.server.URL, RateLimit: &slow})
		r.emit(30)
		eventually(t, time.Minute, "all in hand", func() bool { return before.total() > 0 && d.InHand() >= 28 })
		r.update(e.ID, webhooks.Changes{URL: patch.Of(after.server.URL), RateLimit: patch.Of(fast)})
		eventually(t, 10*time.Second, "all sent", func() bool { return r.states(e.ID)["sent"] == 30 })
		if n := after.total(); n < 25 || before.total()+n != 30 {
			t.Errorf("%d posts before and %d after", before.total(), n)
		}
	})
}
