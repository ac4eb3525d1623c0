package webhooks_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// busyReceiver starts a receiver that does not answer until free is called.
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

// abandon writes an event whose delivery has the mark of this node, although the node
// did not claim it. A claim leaves such a row if the answer to its commit is lost.
func (r *fixture) abandon() (id events.ID) {
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

// The transaction of an event may take longer than the span that most claims read. A
// claim from the beginning finds the event, before the next sweep.
func TestEventOfASlowTransaction(t *testing.T) {
	db := storetest.Postgres(t)
	r := newFixture(t, db, webhooks.Config{})
	rc := newReceiver(t, nil)
	r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
	r.emit(1)
	waitFor(t, time.Minute, "the first is posted", func() bool { return rc.total() == 1 })
	for n := 2; n <= 3; n++ { // the first claim may still be one from the beginning
		r.write(func(tx *store.Tx) error {
			id, err := events.Emit(system, tx, r.event(n))
			if err == nil {
				_, err = tx.Exec(system, `UPDATE webhook_deliveries SET due_at = due_at - 5000000 WHERE event_id = $1`, id)
			}
			return err
		})
		waitFor(t, 9*time.Second, "an older one is posted", func() bool { return rc.total() == n })
	}
}

// A delivery that a lost claim of this node left is claimed by the next claim, although
// the endpoint is busy. The claimed ones are not posted again.
func TestAbandonedClaims(t *testing.T) {
	db := storetest.Postgres(t)
	r := newFixture(t, db, webhooks.Config{})
	rc, free := busyReceiver(t)
	e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
	r.emit(3)
	waitFor(t, time.Minute, "the endpoint is busy", func() bool { return rc.total() == 3 })
	r.abandon()
	waitFor(t, 9*time.Second, "the fourth is posted", func() bool { return rc.total() == 4 })
	free()
	waitFor(t, time.Minute, "all are recorded", func() bool { return r.states(e.ID)["sent"] == 4 })
	if rc.total() != 4 {
		t.Errorf("%d posts", rc.total())
	}
}

// A sweep reports deliveries that are overdue because no commit woke the queue.
func TestUnclaimedDeliveriesAreReported(t *testing.T) {
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	storetest.EachAt(t, now, func(t *testing.T, db *store.DB) {
		ahead.Store(0)
		r := newTeamFixture(t, db)
		var stranded atomic.Int64
		d := r.deliver(webhooks.Config{Stranded: func(n int) { stranded.Add(int64(n)) }})
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		r.emit(1)
		waitFor(t, time.Minute, "sent", func() bool { return r.states(e.ID)["sent"] == 1 })
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
		waitFor(t, time.Minute, "swept and sent", func() bool { d.Sweep(); return r.states(e.ID)["sent"] == 1 })
		if stranded.Load() != 1 {
			t.Errorf("%d reported", stranded.Load())
		}
	})
}

// A node whose lease lapses continues under another id. It does not post again what it
// has claimed.
func TestLapsedNodeKeepsClaims(t *testing.T) {
	db := storetest.Postgres(t)
	r := newTeamFixture(t, db)
	d := r.deliver(webhooks.Config{})
	rc, free := busyReceiver(t)
	e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
	r.emit(5)
	waitFor(t, time.Minute, "the five are posted", func() bool { return rc.total() == 5 })
	r.write(func(tx *store.Tx) error {
		_, err := tx.Exec(system, `DELETE FROM nodes`)
		return err
	})
	waitFor(t, time.Minute, "the node has another id", func() bool { return r.count(`SELECT COUNT(*) FROM nodes`) == 1 })
	r.emit(1)
	waitFor(t, time.Minute, "the sixth is posted", func() bool { d.Sweep(); return rc.distinct() == 6 })
	for range 5 {
		d.Wake()
		time.Sleep(20 * time.Millisecond)
	}
	free()
	waitFor(t, time.Minute, "all are recorded", func() bool { return r.states(e.ID)["sent"] == 6 })
	if rc.total() != 6 {
		t.Errorf("%d posts", rc.total())
	}
}

// A hanging post does not delay the next one to the same endpoint.
func TestHangingPostsDelayNoOtherEndpoint(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{})
		rc, free := busyReceiver(t)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		for n := range 4 {
			r.emit(1)
			waitFor(t, 9*time.Second, "posted beside those that hang", func() bool { return rc.total() == n+1 })
		}
		free()
		waitFor(t, time.Minute, "recorded", func() bool { return r.states(e.ID)["sent"] == 4 })
	})
}

// Claimed deliveries of an endpoint that is switched off stay pending. They are sent
// when the endpoint is on again.
func TestClaimsOfAnEndpointThatIsOff(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newTeamFixture(t, db)
		d := r.deliver(webhooks.Config{})
		rc := newReceiver(t, nil)
		slow := 1
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, RateLimit: &slow})
		r.emit(20)
		waitFor(t, time.Minute, "claimed", func() bool { return rc.total() > 0 && d.Claimed() > 10 })
		r.update(e.ID, webhooks.Changes{Disabled: patch.Set(true)})
		waitFor(t, time.Minute, "given up", func() bool { d.Sweep(); return d.Claimed() == 0 && d.Queues() == 0 })
		long := time.Unix(0, 0)
		r.update(e.ID, webhooks.Changes{Disabled: patch.Set(false), SendHeldSince: &long, RateLimit: patch.Set(1000)})
		waitFor(t, time.Minute, "sent", func() bool { return r.states(e.ID)["sent"] == 20 })
		if rc.total() != 20 {
			t.Errorf("%d posts", rc.total())
		}
	})
}

// The claimed deliveries of a dead node are posted as soon as its lease is over, and
// not before. On SQLite the next process posts them at once.
func TestDeliveriesOfADeadNode(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newTeamFixture(t, db)
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		r.emitTypes("daily.data.steps.created", "daily.data.steps.created")
		r.settle()
		dead, until := uuid.New(), db.Now().Add(1500*time.Millisecond)
		r.write(func(tx *store.Tx) error {
			if _, err := tx.Exec(system, `INSERT INTO nodes (id, until, started_at) VALUES ($1, $2, $3)`, dead, store.Micros(until), store.Micros(tx.Now())); err != nil {
				return err
			}
			_, err := tx.Exec(system, `UPDATE webhook_deliveries SET node = $1 WHERE endpoint_id = $2`, dead, e.ID)
			return err
		})
		r.deliver(webhooks.Config{})
		if db.Engine() == store.Postgres {
			time.Sleep(until.Add(-200 * time.Millisecond).Sub(db.Now()))
			if n := rc.total(); n > 0 {
				t.Errorf("%d posts before the lease was over", n)
			}
		}
		waitFor(t, until.Add(8*time.Second).Sub(db.Now()), "posted", func() bool { return rc.distinct() == 2 })
		waitFor(t, time.Minute, "recorded", func() bool { return r.states(e.ID)["sent"] == 2 })
		if rc.total() != 2 {
			t.Errorf("%d posts", rc.total())
		}
	})
}
