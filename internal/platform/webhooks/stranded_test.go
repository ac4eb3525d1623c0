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

// marked writes an event whose deliveries are marked as handed to this node,
// long due, and are in nobody's hand: so it is left when the commit's answer is
// lost.
func (r *rig) marked() (id events.ID) {
	r.t.Helper()
	r.write(func(tx *store.Tx) (err error) {
		if id, err = events.Emit(system, tx, r.event(1)); err != nil {
			return err
		}
		_, err = tx.Exec(system, `UPDATE webhook_deliveries SET node = (SELECT id FROM nodes), due_at = $1 WHERE event_id = $2`,
			store.Micros(tx.Now().Add(-2*time.Minute)), id)
		return err
	})
	return id
}

// What is marked as this node's and in nobody's hand is found by a sweep, though
// its endpoint is busy.
func TestStrandedAtABusyEndpoint(t *testing.T) {
	db := storetest.Postgres(t)
	r := teamRig(t, db)
	var stranded atomic.Int64
	d := r.deliver(webhooks.Config{Stranded: func(n int) { stranded.Add(int64(n)) }})
	rc, free := busyReceiver(t)
	e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
	r.emit(3)
	eventually(t, time.Minute, "the endpoint is busy", func() bool { return rc.total() == 3 })
	r.marked()
	eventually(t, 10*time.Second, "the fourth is posted", func() bool { d.Sweep(); return rc.total() == 4 })
	for range 3 {
		d.Sweep()
		d.Wake()
	}
	free()
	eventually(t, time.Minute, "all are recorded", func() bool { return r.states(e.ID)["sent"] == 4 })
	if stranded.Load() != 1 || rc.total() != 4 {
		t.Errorf("%d stranded, %d posts", stranded.Load(), rc.total())
	}
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

// What is handed over to an endpoint that nobody delivers to any more is given
// back.
func TestHandedOverToNobody(t *testing.T) {
	db := storetest.Postgres(t)
	r := teamRig(t, db)
	d := r.deliver(webhooks.Config{})
	rc := newReceiver(t, nil)
	e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
	r.update(e.ID, webhooks.Changes{Disabled: patch.Of(true)})
	eventually(t, time.Minute, "nothing is delivered to", func() bool { d.Sweep(); return d.Lines() == 0 })
	id := r.marked()
	d.Hand(r.team.UUID(), []events.Fresh{{Endpoint: uuid.UUID(e.ID), Revision: 1, Event: id, Seq: 1, Type: "daily.data.steps.created"}})
	eventually(t, 10*time.Second, "given back", func() bool {
		return r.count(`SELECT COUNT(*) FROM webhook_deliveries WHERE node IS NULL AND state = 'pending'`) == 1
	})
	long := time.Unix(0, 0)
	r.update(e.ID, webhooks.Changes{Disabled: patch.Of(false), SendHeldSince: &long})
	eventually(t, 10*time.Second, "sent", func() bool { return r.states(e.ID)["sent"] == 1 })
}
