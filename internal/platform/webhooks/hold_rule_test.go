package webhooks_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// Switching an endpoint on is quick, whatever waits for it. Older deliveries are held
// afterwards, and nothing is sent before that.
func TestSwitchingOnWithBacklog(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const old, wanted = 1300, 700
		r := newTeamFixture(t, db)
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Disabled: true})
		r.emitTypes(slices.Repeat([]string{"daily.data.steps.created"}, old)...)
		r.settle()
		time.Sleep(5 * time.Millisecond)
		since := db.Now()
		r.emitTypes(slices.Repeat([]string{"daily.data.steps.created"}, wanted)...)
		r.settle()
		r.update(e.ID, webhooks.Changes{Disabled: patch.Set(false), SendHeldSince: &since})
		if got := r.states(e.ID); got["held"] != 500 {
			t.Errorf("the switch itself left %v", got)
		}
		if got := r.shown(e.ID); got[webhooks.Held] != 1000 { // the limit of a page
			t.Errorf("shown until it is done: %v", got)
		}
		var some events.ID
		err := db.Write(system, func(tx *store.Tx) error {
			all, _, err := webhooks.Deliveries(system, tx, r.team, e.ID, webhooks.DeliveryFilter{Limit: 1})
			if err != nil {
				return err
			}
			some = all[0].Event
			return webhooks.Resend(system, tx, r.team, e.ID, some)
		})
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("resending meanwhile: %v", err)
		}
		r.deliver(webhooks.Config{})
		r.runJobs()
		waitFor(t, time.Minute, "the later ones are sent", func() bool { return r.states(e.ID)["sent"] == wanted })
		if got := r.states(e.ID); got["held"] != old || len(got) != 2 || rc.total() != wanted {
			t.Errorf("in the end %v, in %d posts", got, rc.total())
		}
		waitFor(t, time.Minute, "the jobs end", func() bool {
			return r.count(`SELECT COUNT(*) FROM jobs WHERE kind = 'webhooks.replay' AND status <> 'succeeded'`) == 0
		})
		r.emitTypes("daily.data.steps.created")
		r.settle()
		waitFor(t, time.Minute, "what is new is sent", func() bool { return r.states(e.ID)["sent"] == wanted+1 })
	})
}

// If an endpoint is switched off and on again while older deliveries are being held,
// the last switch decides.
func TestSecondSwitchOn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newTeamFixture(t, db)
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Disabled: true})
		r.emitTypes(slices.Repeat([]string{"daily.data.steps.created"}, 1200)...)
		r.settle()
		r.update(e.ID, webhooks.Changes{Disabled: patch.Set(false)})
		long := time.Time{}
		r.update(e.ID, webhooks.Changes{Disabled: patch.Set(true)})
		r.update(e.ID, webhooks.Changes{Disabled: patch.Set(false), SendHeldSince: &long})
		r.deliver(webhooks.Config{})
		r.runJobs()
		waitFor(t, time.Minute, "all sent", func() bool { return r.states(e.ID)["sent"] == 1200 })
	})
}

// A recovery of held deliveries waits until all of them are held.
func TestRecoveringWaitsForTheHold(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newTeamFixture(t, db)
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Disabled: true})
		r.emitTypes(slices.Repeat([]string{"daily.data.steps.created"}, 1200)...)
		r.settle()
		r.update(e.ID, webhooks.Changes{Disabled: patch.Set(false)})
		r.start(webhooks.Recover(e.ID, time.Time{}))
		r.runJobs()
		time.Sleep(200 * time.Millisecond)
		r.deliver(webhooks.Config{})
		waitFor(t, time.Minute, "all sent", func() bool { return r.states(e.ID)["sent"] == 1200 })
	})
}

// A replay does not wait for an endpoint that is deleted, or switched off because of its
// answers, while older deliveries are being held.
func TestNoReplayWaitsForADeletedOrDisabledEndpoint(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newTeamFixture(t, db)
		deleted := r.endpoint(webhooks.NewEndpoint{URL: newReceiver(t, nil).server.URL, Disabled: true})
		r.emitTypes(slices.Repeat([]string{"daily.data.steps.created"}, 1200)...)
		r.settle()
		r.update(deleted.ID, webhooks.Changes{Disabled: patch.Set(false)})
		r.start(webhooks.Recover(deleted.ID, time.Time{}))
		r.write(func(tx *store.Tx) error { return webhooks.Delete(system, tx, r.team, deleted.ID) })
		r.runJobs()
		waitFor(t, time.Minute, "the job ends", func() bool {
			return r.count(`SELECT COUNT(*) FROM jobs WHERE kind = 'webhooks.replay' AND finished_at IS NOT NULL`) == 1
		})

		asked, answer := make(chan bool, 100), make(chan bool)
		gone := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			asked <- true
			<-answer
			w.WriteHeader(http.StatusGone)
		})
		off := r.endpoint(webhooks.NewEndpoint{URL: gone.server.URL})
		r.deliver(webhooks.Config{})
		r.emit(1)
		<-asked
		r.write(func(tx *store.Tx) error {
			_, err := tx.Exec(system, `UPDATE webhook_endpoints SET hold_before = 1, hold_through = 1 WHERE team_id = $1 AND id = $2`, r.team, off.ID)
			return err
		})
		close(answer)
		waitFor(t, time.Minute, "switched off", func() bool { return r.get(off.ID).State == webhooks.AutoOff })
		if n := r.count(`SELECT COUNT(*) FROM webhook_endpoints WHERE hold_before IS NOT NULL`); n != 0 {
			t.Errorf("%d endpoints that are over hold something", n)
		}
	})
}

// Held deliveries can be sent to an endpoint that is on. The request is refused if the
// endpoint stays off.
func TestSendHeldToAnEndpointThatIsOn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{})
		r.runJobs()
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Disabled: true})
		r.emit(2)
		time.Sleep(5 * time.Millisecond)
		since := db.Now()
		r.emit(3)
		for _, c := range []webhooks.Changes{{SendHeldSince: &since}, {SendHeldSince: &since, Disabled: patch.Set(true)}} {
			err := db.Write(system, func(tx *store.Tx) error {
				_, err := webhooks.Update(system, tx, allowPrivate, r.team, e.ID, c)
				return err
			})
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("an endpoint that stays off: %v", err)
			}
		}
		waitFor(t, time.Minute, "numbers", func() bool { return r.countNumbered() == 5 }) // what has none yet counts as later
		r.update(e.ID, webhooks.Changes{Disabled: patch.Set(false)})
		if got := r.states(e.ID); got["held"] != 5 {
			t.Errorf("switched on: %v", got)
		}
		r.update(e.ID, webhooks.Changes{SendHeldSince: &since})
		waitFor(t, time.Minute, "three are sent", func() bool { return r.states(e.ID)["sent"] == 3 })
		var ever time.Time
		r.update(e.ID, webhooks.Changes{SendHeldSince: &ever, Disabled: patch.Set(false)})
		waitFor(t, time.Minute, "all are sent", func() bool { return r.states(e.ID)["sent"] == 5 })
	})
}

// countNumbered counts the events that have a number.
func (r *fixture) countNumbered() (n int) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) error {
		return tx.QueryRow(system, `SELECT COUNT(*) FROM events WHERE team_id = $1 AND seq IS NOT NULL`, r.team).Scan(&n)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}
