package webhooks_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// hours is a schedule whose first retry waits for ten hours.
var hours = webhooks.Schedule{Waits: slices.Repeat([]time.Duration{10 * time.Hour}, 7)}

// outageFixture creates a receiver that is down, and eight events that wait for their
// next attempt. up makes the receiver answer. pass moves the clock forward.
func outageFixture(t *testing.T, d storetest.Database) (r *fixture, rc *receiver, e webhooks.Endpoint, up *atomic.Bool, pass func(time.Duration)) {
	var ahead atomic.Int64
	db := d.Open(t, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	r = newFixture(t, db, webhooks.Config{Schedule: hours})
	up = new(atomic.Bool)
	rc = newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		if !up.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	e = r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Types: []string{"daily.data.steps.created"}})
	r.emit(8)
	waitFor(t, time.Minute, "all tried once", func() bool {
		return r.count(`SELECT COUNT(*) FROM webhook_deliveries WHERE state = 'pending' AND attempts = 1`) == 8
	})
	return r, rc, e, up, func(d time.Duration) { ahead.Add(int64(d)) }
}

// The backlog of a receiver that was down is sent as soon as one event reaches it.
func TestASuccessAfterAnOutageSendsTheBacklog(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		r, _, e, up, pass := outageFixture(t, d)
		var b webhooks.Backlog
		err := r.db.Read(system, func(tx *store.Tx) (err error) {
			b, err = webhooks.CountBacklog(system, tx)
			return err
		})
		if err != nil || b.Waiting != 8 || r.db.Now().Sub(b.Oldest) > time.Minute || b.Off != 0 {
			t.Errorf("backlog: %+v, %v", b, err)
		}
		up.Store(true)
		pass(2 * time.Minute)
		r.emit(1)
		waitFor(t, time.Minute, "all sent", func() bool { return r.shown(e.ID)[webhooks.Sent] == 9 })
	})
}

// A receiver that refuses some events is not down.
func TestASuccessAfterAMomentChangesNoRetry(t *testing.T) {
	r, _, e, up, _ := outageFixture(t, storetest.NewSQLite(t))
	up.Store(true)
	r.emit(1)
	waitFor(t, time.Minute, "the new one sent", func() bool { return r.shown(e.ID)[webhooks.Sent] == 1 })
	time.Sleep(100 * time.Millisecond)
	if n := r.shown(e.ID)[webhooks.Sent]; n != 1 {
		t.Errorf("%d sent", n)
	}
}

// Recovering and replaying send the deliveries that wait for a retry, and count them
// first.
func TestRecoveringSendsWaitingEvents(t *testing.T) {
	for name, replay := range map[string]webhooks.Replay{"recover": {Since: time.Unix(1, 0)}, "replay": {From: 1}} {
		t.Run(name, func(t *testing.T) {
			storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
				r, _, e, up, _ := outageFixture(t, d)
				r.runJobs()
				up.Store(true)
				replay.Endpoint = e.ID
				if n := r.replayCount(replay); n != 8 {
					t.Errorf("counts %d", n)
				}
				r.start(replay)
				waitFor(t, time.Minute, "all sent", func() bool { return r.shown(e.ID)[webhooks.Sent] == 8 })
			})
		})
	}
}

// Sending one message again sends it at once, also if it waits for a retry.
func TestResendingSendsWaitingEvents(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		r, _, e, up, _ := outageFixture(t, d)
		up.Store(true)
		var waiting events.ID
		err := r.db.Read(system, func(tx *store.Tx) error {
			return tx.QueryRow(system, `SELECT event_id FROM webhook_deliveries WHERE endpoint_id = $1 ORDER BY event_id DESC LIMIT 1`, e.ID).Scan(&waiting)
		})
		if err != nil {
			t.Fatal(err)
		}
		r.write(func(tx *store.Tx) error { return webhooks.Resend(system, tx, r.team, e.ID, waiting) })
		waitFor(t, time.Minute, "sent", func() bool { d, _ := r.attempts(e.ID, waiting); return d.State == webhooks.Sent })
	})
}
