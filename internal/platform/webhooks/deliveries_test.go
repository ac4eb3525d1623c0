package webhooks_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// A page of a log covers a limited range of numbers. Numbers from before the endpoint
// was added are not covered, unless one of those events was sent to it.
func TestLogPagesCoverRanges(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{})
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Types: []string{"daily.data.weight.created"}})
		r.emitTypes("daily.data.weight.created")
		r.settle()
		waitFor(t, time.Minute, "one sent", func() bool { return r.states(e.ID)["sent"] == 1 })
		r.emitTypes(slices.Repeat([]string{"daily.data.steps.created"}, 5_100)...)
		r.settle()
		first := r.walk(e.ID, 2)
		later := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		if got := r.walk(later.ID, 1); got != (events.ID{}) {
			t.Errorf("an endpoint that got nothing shows %v", got)
		}
		r.write(func(tx *store.Tx) error { return webhooks.Resend(system, tx, r.team, later.ID, first) })
		waitFor(t, time.Minute, "sent again", func() bool { return r.states(later.ID)["sent"] == 1 })
		if got := r.walk(later.ID, 2); got != first {
			t.Errorf("an older event that was sent shows as %v", got)
		}
		for want, f := range map[int]webhooks.DeliveryFilter{
			1: {States: []webhooks.DeliveryState{webhooks.Sent, webhooks.Failed}, Types: []string{"daily.data.steps.created", "daily.data.weight.created"}},
			0: {States: []webhooks.DeliveryState{webhooks.Held, webhooks.Pending, webhooks.Failed}},
		} {
			f.Limit, f.Before = 50, 1000
			err := r.db.Read(system, func(tx *store.Tx) error {
				all, _, err := webhooks.Deliveries(system, tx, r.team, later.ID, f)
				if len(all) != want {
					t.Errorf("%v: %d deliveries, want %d", f, len(all), want)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		latest := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Types: []string{"daily.data.weight.created"}})
		r.start(webhooks.Replay{Endpoint: latest.ID, From: 1, To: 5})
		r.runJobs()
		waitFor(t, time.Minute, "replayed", func() bool { return r.states(latest.ID)["sent"] == 1 })
		if got := r.walk(latest.ID, 2); got != first {
			t.Errorf("an older event that was replayed shows as %v", got)
		}
	})
}

// walk reads both logs of an endpoint. It checks the number of pages, and that they
// have at most one row.
func (r *fixture) walk(id webhooks.EndpointID, pages int) (found events.ID) {
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

// An attempt is shown without its damaged parts, and names them. The others are shown
// whole.
func TestDamagedAttempts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{})
		rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = w.Write([]byte("thanks")) })
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		ids := r.emit(3)
		waitFor(t, time.Minute, "sent", func() bool { return r.states(e.ID)["sent"] == 3 })
		for _, damage := range []string{"\x01damaged beyond repair, and long enough", "\x07of a key that is not there", ""} {
			r.write(func(tx *store.Tx) error {
				_, err := tx.Exec(system, `UPDATE webhook_attempts SET answer = $1 WHERE event_id = $2`, []byte(damage), ids[1])
				return err
			})
			r.checkAttempts(e.ID, rc.server.URL, map[events.ID][]webhooks.Part{ids[1]: {webhooks.Response}})
		}
		r.write(func(tx *store.Tx) error { // the attempts were made to what the endpoint was before
			_, err := webhooks.Update(system, tx, allowPrivate, r.team, e.ID, webhooks.Changes{URL: patch.Field[string]{Set: true, Value: rc.server.URL + "/new"}})
			if err == nil {
				_, err = tx.Exec(system, `UPDATE webhook_targets SET headers = $1 WHERE endpoint_id = $2 AND number = 1`,
					[]byte("\x01damaged beyond repair, and long enough"), e.ID)
			}
			return err
		})
		r.checkAttempts(e.ID, "", map[events.ID][]webhooks.Part{
			ids[0]: {webhooks.Request}, ids[1]: {webhooks.Request, webhooks.Response}, ids[2]: {webhooks.Request},
		})
	})
}

// checkAttempts checks the three attempts in the list, and each with its delivery: the
// address, the answer unless it is damaged, and the damaged parts.
func (r *fixture) checkAttempts(id webhooks.EndpointID, address string, damaged map[events.ID][]webhooks.Part) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) error {
		all, _, err := webhooks.Attempts(system, tx, r.team, id, webhooks.AttemptFilter{Limit: 10})
		if err != nil {
			return err
		}
		if len(all) != 3 {
			r.t.Errorf("%d attempts", len(all))
		}
		for _, a := range all {
			_, one, err := webhooks.GetDelivery(system, tx, r.team, id, a.Event)
			if err != nil {
				return err
			}
			for _, a := range append(one, a) {
				want := "thanks"
				if slices.Contains(damaged[a.Event], webhooks.Response) {
					want = ""
				}
				if a.Answer != want || a.URL != address ||
					a.Headers["webhook-id"] != a.Event.String() || !slices.Equal(a.Unreadable, damaged[a.Event]) {
					r.t.Errorf("%+v, want %q and %v", a, want, damaged[a.Event])
				}
			}
		}
		return nil
	})
	if err != nil {
		r.t.Error(err)
	}
}
