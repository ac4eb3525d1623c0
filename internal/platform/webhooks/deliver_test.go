package webhooks_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

func TestEachEventArrivesOnceSigned(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		secret := webhooks.NewSecret()
		rc := newReceiver(t, nil)
		rc.secret = secret.Reveal()
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Secret: &secret})
		ids := r.emit(50)
		eventually(t, time.Minute, "50 arrivals", func() bool { return rc.distinct() == 50 })
		eventually(t, time.Minute, "50 recorded", func() bool { return r.states(e.ID)["sent"] == 50 })
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

// soon is a schedule of milliseconds.
var soon = webhooks.Schedule{Waits: []time.Duration{20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond}}

// A loop that remembers how far it got in the order of due times strands what
// becomes due behind it. With one answer in ten a 503, every event must arrive
// all the same, and none may be left to the sweep.
func TestNothingIsStrandedByRetries(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const events = 600
		stranded := 0
		r := newRig(t, db, webhooks.Config{Schedule: soon, Stranded: func(n int) { stranded += n }})
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
		eventually(t, time.Minute, "everything sent", func() bool { return r.states(e.ID)["sent"] == events })
		if rc.distinct() != events || rc.total() != events+events/10 {
			t.Errorf("%d events and %d posts, want %d and %d", rc.distinct(), rc.total(), events, events+events/10)
		}
		if stranded != 0 {
			t.Errorf("%d deliveries were stranded", stranded)
		}
	})
}

// An endpoint that never answers must not slow another, and ties up no more
// than its share of posts.
func TestHangingEndpointDelaysNoOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
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
		eventually(t, time.Minute, "the good endpoint has everything, recorded", func() bool { return r.states(e.ID)["sent"] == 300 })
		eventually(t, time.Minute, "the hanging endpoint was tried", func() bool { return most.Load() > 0 })
		if n := most.Load(); n > 32 {
			t.Errorf("%d posts at once to the hanging endpoint", n)
		}
		if n := r.states(bad.ID)["pending"]; n != 300 {
			t.Errorf("%d deliveries pending at the hanging endpoint", n)
		}
	})
}

// What a dead node had claimed is taken over once its lease is over.
func TestAnotherNodeTakesOver(t *testing.T) {
	db := storetest.Postgres(t)
	never := make(chan struct{})
	stuck := newReceiver(t, nil)
	r := newRig(t, db, webhooks.Config{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		select { // a node that claims and then does nothing
		case <-never:
		case <-ctx.Done():
		}
		return nil, ctx.Err()
	}})
	t.Cleanup(func() { close(never) })
	e := r.endpoint(webhooks.NewEndpoint{URL: stuck.server.URL})
	r.emit(40)
	eventually(t, time.Minute, "the first node claims", func() bool { return r.count(`SELECT COUNT(*) FROM webhook_deliveries WHERE node IS NOT NULL`) == 40 })

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
	eventually(t, time.Minute, "the second node delivers", func() bool {
		second.Wake()
		return r.states(e.ID)["sent"] == 40
	})
	if stuck.total() != 40 {
		t.Errorf("%d posts for 40 events", stuck.total())
	}
}

// Two nodes share the work, and neither repeats what the other did.
func TestNodesShareWithoutRepeating(t *testing.T) {
	db := storetest.Postgres(t)
	r := newRig(t, db, webhooks.Config{})
	rc := newReceiver(t, nil)
	e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
	r.deliver(webhooks.Config{})
	r.emit(400)
	eventually(t, time.Minute, "everything sent", func() bool { return r.states(e.ID)["sent"] == 400 })
	if rc.total() != 400 {
		t.Errorf("%d posts for 400 events", rc.total())
	}
}
