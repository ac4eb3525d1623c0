package webhooks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

func (r *rig) update(id webhooks.EndpointID, c webhooks.Changes) (e webhooks.Endpoint) {
	r.t.Helper()
	r.write(func(tx *store.Tx) (err error) {
		e, err = webhooks.Update(system, tx, open, r.team, id, c)
		return err
	})
	return e
}

func (r *rig) get(id webhooks.EndpointID) (e webhooks.Endpoint) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) (err error) {
		e, err = webhooks.Get(system, tx, r.team, id)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

// shown counts the deliveries of an endpoint as their owner sees them.
func (r *rig) shown(id webhooks.EndpointID) map[webhooks.DeliveryState]int {
	r.t.Helper()
	found := map[webhooks.DeliveryState]int{}
	err := r.db.Read(system, func(tx *store.Tx) error {
		all, _, err := webhooks.Deliveries(system, tx, r.team, id, webhooks.DeliveryFilter{Limit: 1000})
		for _, d := range all {
			found[d.State]++
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

func (r *rig) attempts(id webhooks.EndpointID, event events.ID) (d webhooks.Delivery, log []webhooks.Attempt) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) (err error) {
		d, log, err = webhooks.GetDelivery(system, tx, r.team, id, event)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return d, log
}

func TestDisabledEndpointHoldsAndReleases(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Disabled: true})
		skipped := r.emit(3)
		time.Sleep(5 * time.Millisecond)
		since := db.Now()
		wanted := r.emit(4)
		eventually(t, time.Minute, "all seven shown as held", func() bool { return r.shown(e.ID)[webhooks.Held] == 7 })
		if rc.total() != 0 {
			t.Fatalf("%d posts to an endpoint that is off", rc.total())
		}
		e = r.update(e.ID, webhooks.Changes{Disabled: patch.Of(false), SendHeldSince: &since})
		if e.State != webhooks.On {
			t.Fatalf("state %s", e.State)
		}
		eventually(t, time.Minute, "the later four are sent", func() bool { return r.shown(e.ID)[webhooks.Sent] == 4 })
		if got := r.shown(e.ID); got[webhooks.Held] != 3 {
			t.Errorf("of the earlier three: %v", got)
		}
		for _, id := range wanted {
			if rc.tries[id.String()] != 1 {
				t.Errorf("%s came %d times", id, rc.tries[id.String()])
			}
		}
		for _, id := range skipped {
			if rc.tries[id.String()] != 0 {
				t.Errorf("%s was sent although it was to be passed over", id)
			}
		}
	})
}

func TestDeletedEndpointGetsNothingMore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{Schedule: webhooks.Schedule{Waits: []time.Duration{300 * time.Millisecond}}})
		rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusInternalServerError) })
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		r.emit(2)
		eventually(t, time.Minute, "first attempts", func() bool { return rc.total() == 2 })
		r.write(func(tx *store.Tx) error { return webhooks.Delete(system, tx, r.team, e.ID) })
		r.emit(2)
		time.Sleep(600 * time.Millisecond)
		if n := rc.total(); n != 2 {
			t.Errorf("%d posts, want the 2 from before", n)
		}
		err := db.Read(system, func(tx *store.Tx) error {
			_, err := webhooks.Get(system, tx, r.team, e.ID)
			return err
		})
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("a deleted endpoint: %v", err)
		}
	})
}

func TestGoneSwitchesOff(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{Schedule: soon})
		gone := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusGone) })
		other := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: gone.server.URL})
		r.endpoint(webhooks.NewEndpoint{URL: other.server.URL, Types: []string{webhooks.EndpointDisabled}})
		r.emit(1)
		eventually(t, time.Minute, "switched off", func() bool { return r.get(e.ID).State == webhooks.AutoOff })
		if reason := r.get(e.ID).Reason; !strings.Contains(reason, "410") {
			t.Errorf("reason %q", reason)
		}
		eventually(t, time.Minute, "the owner is told", func() bool { return other.distinct() == 1 })
		r.emit(1)
		time.Sleep(100 * time.Millisecond)
		if gone.total() != 1 {
			t.Errorf("%d posts after 410", gone.total())
		}
		if got := r.shown(e.ID); got[webhooks.Held] == 0 {
			t.Errorf("shown %v, want held", got)
		}
	})
}

func TestExhaustedMessageIsAnnounced(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{Schedule: soon})
		bad := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusTeapot) })
		told := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: bad.server.URL, Types: []string{"daily.data.steps.created", webhooks.AttemptExhausted}})
		r.endpoint(webhooks.NewEndpoint{URL: told.server.URL, Types: []string{webhooks.AttemptExhausted}})
		ids := r.emit(1)
		eventually(t, time.Minute, "the announcement", func() bool { return told.distinct() == 1 })
		var body struct {
			Type         string `json:"event_type"`
			ClientUserID string `json:"client_user_id"`
			Data         struct {
				Message  string `json:"message_id"`
				Endpoint string `json:"endpoint_id"`
				Attempts int    `json:"attempts"`
				Last     struct {
					Code int `json:"status_code"`
				} `json:"last_attempt"`
			} `json:"data"`
		}
		for _, text := range told.bodies {
			if err := json.Unmarshal(text, &body); err != nil {
				t.Fatal(err)
			}
		}
		if body.Data.Message != ids[0].String() || body.Data.Endpoint != e.ID.String() || body.Data.Attempts != 6 || body.Data.Last.Code != http.StatusTeapot || body.ClientUserID != "patient <1>" {
			t.Errorf("announced %+v", body)
		}
		// The announcement fails at the bad endpoint in its turn, and that is the end of it.
		eventually(t, time.Minute, "both failed", func() bool { return r.shown(e.ID)[webhooks.Failed] == 2 })
		time.Sleep(100 * time.Millisecond)
		if n := told.distinct(); n != 1 {
			t.Errorf("%d announcements", n)
		}
	})
}

func TestAttemptLog(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{Schedule: soon})
		rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, nth int) {
			if nth < 4 {
				w.WriteHeader(http.StatusInternalServerError)
				fmt.Fprint(w, strings.Repeat("é", 1000)) // 2,000 bytes: the log cuts inside a letter
			}
		})
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL + "/hook?token=1"})
		r.write(func(tx *store.Tx) error {
			return webhooks.SetHeaders(system, tx, r.team, e.ID, map[string]string{"X-Api-Key": "very-secret", "X-Tenant": "7"})
		})
		ids := r.emit(1)
		eventually(t, time.Minute, "sent", func() bool { return r.states(e.ID)["sent"] == 1 })
		d, log := r.attempts(e.ID, ids[0])
		if d.State != webhooks.Sent || d.Attempts != 4 || len(log) != 4 || d.Seq != 1 {
			t.Fatalf("%+v with %d attempts", d, len(log))
		}
		for i, a := range log {
			if a.N != i+1 {
				t.Errorf("attempt %d has number %d", i+1, a.N)
			}
			if a.URL != rc.server.URL+"/hook?token=1" || a.Headers["x-api-key"] != webhooks.Withheld || a.Headers["x-tenant"] != "7" {
				t.Errorf("attempt %d went to %s with %v", a.N, a.URL, a.Headers)
			}
			if !strings.HasPrefix(a.Headers["webhook-signature"], "v1,") || a.Headers["webhook-id"] != ids[0].String() {
				t.Errorf("attempt %d has headers %v", a.N, a.Headers)
			}
		}
		if first := log[0]; *first.Code != 500 || first.Problem != webhooks.StatusProblem || len(first.Answer) < 1000 || len(first.Answer) > 1026 {
			t.Errorf("the first attempt: %d %s, %d bytes", *first.Code, first.Problem, len(first.Answer))
		}
		if last := log[3]; *last.Code != 200 || last.Problem != webhooks.NoProblem {
			t.Errorf("the last attempt: %d %s", *last.Code, last.Problem)
		}
	})
}

func TestAnswersThatAreNoSuccess(t *testing.T) {
	once := webhooks.Schedule{Waits: []time.Duration{}}
	for name, c := range map[string]struct {
		answer  func(w http.ResponseWriter, r *http.Request, nth int)
		problem webhooks.Problem
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request, _ int) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, webhooks.RedirectProblem},
		"cut short": {func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("short"))
			panic(http.ErrAbortHandler)
		}, webhooks.ConnectionFailed},
		"reset": {func(http.ResponseWriter, *http.Request, int) { panic(http.ErrAbortHandler) }, webhooks.ConnectionFailed},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, storetest.SQLite(t), webhooks.Config{Schedule: once})
			rc := newReceiver(t, c.answer)
			e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Types: []string{"daily.data.steps.created"}})
			ids := r.emit(1)
			eventually(t, time.Minute, "failed", func() bool { return r.states(e.ID)["failed"] == 1 })
			if _, log := r.attempts(e.ID, ids[0]); log[0].Problem != c.problem {
				t.Errorf("problem %q, want %q", log[0].Problem, c.problem)
			}
			if rc.total() != 1 {
				t.Errorf("%d requests", rc.total())
			}
		})
	}
}

func TestPrivateAddressIsRefusedWhenDialled(t *testing.T) {
	db := storetest.SQLite(t)
	r := newRig(t, db, webhooks.Config{})
	rc := newReceiver(t, nil)
	e := r.endpoint(webhooks.NewEndpoint{URL: strings.Replace(rc.server.URL, "127.0.0.1", "localhost", 1)})
	trial, err := webhooks.SendExample(system, db, webhooks.Config{}, r.team, e.ID, "daily.data.steps.created")
	if err != nil || trial.Outcome.Problem != webhooks.AddressProblem {
		t.Errorf("%v, %+v", err, trial.Outcome)
	}
	trial, err = webhooks.SendExample(system, db, webhooks.Config{Guard: webhooks.Guard{AllowPrivate: true}}, r.team, e.ID, "daily.data.steps.created")
	if err != nil || !trial.Outcome.OK() || rc.total() != 1 {
		t.Errorf("allowed: %v, %+v", err, trial.Outcome)
	}
}

// What is pending for a user who was erased is not sent, and does not stay
// pending.
func TestErasedUsersEventsAreNotSent(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := teamRig(t, db)
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		gone, stays := r.event(1), r.event(2)
		r.write(func(tx *store.Tx) error {
			_, err := events.EmitMany(system, tx, []events.New{gone, stays})
			return err
		})
		r.write(func(tx *store.Tx) error {
			return tx.Shred(system, r.team.UUID(), gone.User)
		})
		r.deliver(webhooks.Config{})
		eventually(t, time.Minute, "one sent, one failed", func() bool {
			s := r.states(e.ID)
			return s["sent"] == 1 && s["failed"] == 1
		})
		if rc.total() != 1 {
			t.Errorf("%d posts", rc.total())
		}
	})
}

// An endpoint that is switched off and on, and changed, again and again under
// traffic: every event arrives, none is lost between the switches, and none
// twice, since what was held is asked for each time.
func TestSwitchingUnderTraffic(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		long := time.Unix(0, 0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 25 {
				r.update(e.ID, webhooks.Changes{Disabled: patch.Of(true)})
				r.update(e.ID, webhooks.Changes{Disabled: patch.Of(false), SendHeldSince: &long, Description: patch.Of(fmt.Sprint(i))})
			}
		}()
		r.emit(200)
		<-done
		eventually(t, time.Minute, "all sent", func() bool { return r.states(e.ID)["sent"] == 200 })
		if rc.distinct() != 200 || rc.total() != 200 {
			t.Errorf("%d messages in %d posts, want 200 of each", rc.distinct(), rc.total())
		}
	})
}
