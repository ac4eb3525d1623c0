package webhooks_test

import (
	"net/http"
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

// busyReceiver does not answer until free is called.
func busyReceiver(t *testing.T) (rc *receiver, free func()) {
	done := make(chan struct{})
	free = sync.OnceFunc(func() { close(done) })
	rc = newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		<-done
		w.WriteHeader(http.StatusNoContent)
	})
	t.Cleanup(free)
	return rc, free
}

// abandon writes an event whose delivery is marked as claimed by this node, and that
// the node does not have: a claim leaves it so if the answer to its commit is lost.
func (r *rig) abandon() (id events.ID) {
	r.t.Helper()
	r.write(func(tx *store.Tx) (err error) {
		if id, err = events.Emit(system, tx, r.event(1)); err != nil {
			return err
		}
		_, err = tx.Exec(system, `UPDATE webhook_deliveries SET node = (SELECT id FROM nodes) WHERE event_id = $1`, id)
		return err
	})
	return id
}

// A delivery that a lost claim of this node left is claimed by the next one, though
// the endpoint is busy; those in hand are not posted again.
func TestAbandonedClaims(t *testing.T) {
	db := storetest.Postgres(t)
	r := newRig(t, db, webhooks.Config{})
	rc, free := busyReceiver(t)
	e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
	r.emit(3)
	eventually(t, time.Minute, "the endpoint is busy", func() bool { return rc.total() == 3 })
	r.abandon()
	eventually(t, 10*time.Second, "the fourth is posted", func() bool { return rc.total() == 4 })
	free()
	eventually(t, time.Minute, "all are recorded", func() bool { return r.states(e.ID)["sent"] == 4 })
	if rc.total() != 4 {
		t.Errorf("%d posts", rc.total())
	}
}

// A sweep reports deliveries that are overdue because no commit woke the queue.
func TestStrandedDeliveriesAreReported(t *testing.T) {
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	storetest.EachAt(t, now, func(t *testing.T, db *store.DB) {
		ahead.Store(0)
		r := teamRig(t, db)
		var stranded atomic.Int64
		d := r.deliver(webhooks.Config{Stranded: func(n int) { stranded.Add(int64(n)) }})
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		r.emit(1)
		eventually(t, time.Minute, "sent", func() bool { return r.states(e.ID)["sent"] == 1 })
		time.Sleep(50 * time.Millisecond) // until the queue is idle
		d.Sweep()
		if stranded.Load() != 0 {
			t.Error("reported before")
		}
		r.write(func(tx *store.Tx) error {
			_, err := tx.Exec(system, `UPDATE webhook_deliveries SET state = 'pending', ended_at = NULL, due_at = $1`, tx.Now())
			return err
		})
		ahead.Store(int64(2 * time.Minute))
		eventually(t, time.Minute, "swept and sent", func() bool { d.Sweep(); return r.states(e.ID)["sent"] == 1 })
		if stranded.Load() != 1 {
			t.Errorf("%d reported", stranded.Load())
		}
	})
}

// A node whose lease lapses goes on under another id and does not post again
// what it has in hand.
func TestLapsedNodeKeepsWhatItHasInHand(t *testing.T) {
	db := storetest.Postgres(t)
	r := teamRig(t, db)
	d := r.deliver(webhooks.Config{})
	rc, free := busyReceiver(t)
	e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
	r.emit(5)
	eventually(t, time.Minute, "the five are posted", func() bool { return rc.total() == 5 })
	r.write(func(tx *store.Tx) error {
		_, err := tx.Exec(system, `DELETE FROM nodes`)
		return err
	})
	eventually(t, time.Minute, "the node has another id", func() bool { return r.count(`SELECT COUNT(*) FROM nodes`) == 1 })
	r.emit(1)
	eventually(t, time.Minute, "the sixth is posted", func() bool { d.Sweep(); return rc.distinct() == 6 })
	for range 5 {
		d.Wake()
		time.Sleep(20 * time.Millisecond)
	}
	free()
	eventually(t, time.Minute, "all are recorded", func() bool { return r.states(e.ID)["sent"] == 6 })
	if rc.total() != 6 {
		t.Errorf("%d posts", rc.total())
	}
}

// A post that hangs does not delay the next one to the same endpoint.
func TestHungPostsDelayNoOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		rc, free := busyReceiver(t)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		for n := range 4 {
			r.emit(1)
			eventually(t, 5*time.Second, "posted beside those that hang", func() bool { return rc.total() == n+1 })
		}
		free()
		eventually(t, time.Minute, "recorded", func() bool { return r.states(e.ID)["sent"] == 4 })
	})
}

// What was claimed for an endpoint that is switched off stays pending, and is sent
// when the endpoint is on again.
func TestClaimsOfAnEndpointThatIsOff(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := teamRig(t, db)
		d := r.deliver(webhooks.Config{})
		rc := newReceiver(t, nil)
		slow := 1
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, RateLimit: &slow})
		r.emit(20)
		eventually(t, time.Minute, "claimed", func() bool { return rc.total() > 0 && d.InHand() > 10 })
		r.update(e.ID, webhooks.Changes{Disabled: patch.Of(true)})
		eventually(t, time.Minute, "given up", func() bool { d.Sweep(); return d.InHand() == 0 && d.Queues() == 0 })
		long := time.Unix(0, 0)
		r.update(e.ID, webhooks.Changes{Disabled: patch.Of(false), SendHeldSince: &long, RateLimit: patch.Of(1000)})
		eventually(t, time.Minute, "sent", func() bool { return r.states(e.ID)["sent"] == 20 })
		if rc.total() != 20 {
			t.Errorf("%d posts", rc.total())
		}
	})
}
