package webhooks_test

import (
	"context"
	"net"
	"net/http"
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

func TestEachEventArrivesOnceSigned(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{})
		secret := webhooks.NewSecret()
		rc := newReceiver(t, nil)
		rc.secret = secret.Reveal()
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Secret: &secret})
		ids := r.emit(50)
		waitFor(t, time.Minute, "50 arrivals", func() bool { return rc.distinct() == 50 })
		waitFor(t, time.Minute, "50 recorded", func() bool { return r.states(e.ID)["sent"] == 50 })
		if rc.total() != 50 {
			t.Errorf("%d posts for 50 events", rc.total())
		}
		for i, id := range ids {
			if rc.tries[id.String()] != 1 {
				t.Errorf("event %d (%s) came %d times", i, id, rc.tries[id.String()])
			}
		}
	})
}

// quickSchedule waits milliseconds.
var quickSchedule = webhooks.Schedule{Waits: []time.Duration{20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond}}

// Retries become due before events that were claimed already. With one answer in ten
// a 503, every event arrives, and the sweep finds none.
func TestRetriesOfADeadNodeAreClaimed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const events = 600
		stranded := 0
		r := newFixture(t, db, webhooks.Config{Schedule: quickSchedule, Stranded: func(n int) { stranded += n }})
		rc := newReceiver(t, func(w http.ResponseWriter, r *http.Request, nth int) {
			if nth == 1 && r.Header.Get("X-Event-Seq")[len(r.Header.Get("X-Event-Seq"))-1] == '7' {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		var producers sync.WaitGroup
		for range 8 {
			producers.Go(func() { r.emit(events / 8) })
		}
		producers.Wait()
		waitFor(t, time.Minute, "everything sent", func() bool { return r.states(e.ID)["sent"] == events })
		if rc.distinct() != events || rc.total() != events+events/10 {
			t.Errorf("%d events and %d posts, want %d and %d", rc.distinct(), rc.total(), events, events+events/10)
		}
		if stranded != 0 {
			t.Errorf("%d deliveries were stranded", stranded)
		}
	})
}

// An endpoint that never answers delays no other, and takes no more than its number of
// posts.
func TestHangingEndpointDelaysNoOtherEndpoint(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{})
		var now, most atomic.Int64
		release := make(chan struct{})
		hanging := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer now.Add(-1)
			select {
			case <-release:
			case <-r.Context().Done():
			}
		})
		t.Cleanup(func() { close(release) })
		good := newReceiver(t, nil)
		bad := r.endpoint(webhooks.NewEndpoint{URL: hanging.server.URL})
		e := r.endpoint(webhooks.NewEndpoint{URL: good.server.URL})
		types := make([]string, 300)
		for i := range types {
			types[i] = "daily.data.steps.created"
		}
		r.emitTypes(types...)
		waitFor(t, time.Minute, "the good endpoint has everything, recorded", func() bool { return r.states(e.ID)["sent"] == 300 })
		waitFor(t, time.Minute, "the hanging endpoint was tried", func() bool { return most.Load() > 0 })
		if n := most.Load(); n > 32 {
			t.Errorf("%d posts at once to the hanging endpoint", n)
		}
		if n := r.states(bad.ID)["pending"]; n != 300 {
			t.Errorf("%d deliveries pending at the hanging endpoint", n)
		}
	})
}

// Another node takes over the claimed deliveries of a node whose lease is over.
func TestAnotherNodeTakesOver(t *testing.T) {
	db := storetest.Postgres(t)
	never := make(chan struct{})
	stuck := newReceiver(t, nil)
	r := newFixture(t, db, webhooks.Config{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		select { // a node that claims and then does nothing
		case <-never:
		case <-ctx.Done():
		}
		return nil, ctx.Err()
	}})
	t.Cleanup(func() { close(never) })
	e := r.endpoint(webhooks.NewEndpoint{URL: stuck.server.URL})
	r.emit(40)
	waitFor(t, time.Minute, "the first node claims", func() bool { return r.count(`SELECT COUNT(*) FROM webhook_deliveries WHERE node IS NOT NULL`) == 40 })

	second := r.deliver(webhooks.Config{})
	second.Wake()
	time.Sleep(100 * time.Millisecond)
	if n := stuck.total(); n != 0 {
		t.Fatalf("the second node took %d deliveries from a living one", n)
	}
	r.write(func(tx *store.Tx) error { // the first node's lease is over; ids are in order of joining
		_, err := tx.Exec(system, `DELETE FROM nodes WHERE id = (SELECT id FROM nodes ORDER BY id LIMIT 1)`)
		return err
	})
	waitFor(t, time.Minute, "the second node delivers", func() bool {
		second.Wake()
		return r.states(e.ID)["sent"] == 40
	})
	if stuck.total() != 40 {
		t.Errorf("%d posts for 40 events", stuck.total())
	}
}

// Two nodes share the work, and neither repeats a post of the other.
func TestNodesShareWithoutRepeating(t *testing.T) {
	db := storetest.Postgres(t)
	r := newFixture(t, db, webhooks.Config{})
	rc := newReceiver(t, nil)
	e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
	r.deliver(webhooks.Config{})
	r.emit(400)
	waitFor(t, time.Minute, "everything sent", func() bool { return r.states(e.ID)["sent"] == 400 })
	if rc.total() != 400 {
		t.Errorf("%d posts for 400 events", rc.total())
	}
}

// Events that many transactions write at once arrive once each, and the sweep finds
// none of them.
func TestConcurrentEventsArriveOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const each, producers = 60, 8
		var stranded atomic.Int64
		r := newFixture(t, db, webhooks.Config{Stranded: func(n int) { stranded.Add(int64(n)) }})
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
		waitFor(t, time.Minute, "everything recorded", func() bool {
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
		r := newFixture(t, db, webhooks.Config{})
		before, after := newReceiver(t, nil), newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: before.server.URL})
		r.emit(1)
		waitFor(t, time.Minute, "the first one", func() bool { return r.states(e.ID)["sent"] == 1 })
		r.update(e.ID, webhooks.Changes{URL: patch.Set(after.server.URL)})
		r.emit(1)
		waitFor(t, time.Minute, "the second one", func() bool { return r.states(e.ID)["sent"] == 2 })
		if before.total() != 1 || after.total() != 1 {
			t.Errorf("%d posts before and %d after", before.total(), after.total())
		}
	})
}

// Envelopes that are too large for a claim, and that workers read, arrive as well.
func TestLargeEnvelopes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{})
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
		waitFor(t, time.Minute, "all sent", func() bool { return r.states(e.ID)["sent"] == len(sizes) })
		for i, size := range sizes {
			if n := rc.bodySize(ids[i]); n < size || n > size+1000 {
				t.Errorf("%d bytes arrived of %d", n, size)
			}
		}
	})
}

// Claimed deliveries use the present URL and rate limit of their endpoint.
func TestQueueFollowsAChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newTeamFixture(t, db)
		d := r.deliver(webhooks.Config{})
		before, after := newReceiver(t, nil), newReceiver(t, nil)
		slow, fast := 1, 1000
		e := r.endpoint(webhooks.NewEndpoint{URL: before.server.URL, RateLimit: &slow})
		r.emit(30)
		waitFor(t, time.Minute, "all claimed", func() bool { return before.total() > 0 && d.Claimed() >= 28 })
		r.update(e.ID, webhooks.Changes{URL: patch.Set(after.server.URL), RateLimit: patch.Set(fast)})
		waitFor(t, 25*time.Second, "all sent", func() bool { return r.states(e.ID)["sent"] == 30 })
		if n := after.total(); n < 25 || before.total()+n != 30 {
			t.Errorf("%d posts before and %d after", before.total(), n)
		}
	})
}
