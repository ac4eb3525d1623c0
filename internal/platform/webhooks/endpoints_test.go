package webhooks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

func (r *fixture) update(id webhooks.EndpointID, c webhooks.Changes) (e webhooks.Endpoint) {
	r.t.Helper()
	r.write(func(tx *store.Tx) (err error) {
		e, err = webhooks.Update(system, tx, allowPrivate, r.team, id, c)
		return err
	})
	return e
}

func (r *fixture) get(id webhooks.EndpointID) (e webhooks.Endpoint) {
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

// shown counts the deliveries of an endpoint by the state that the API shows.
func (r *fixture) shown(id webhooks.EndpointID) map[webhooks.DeliveryState]int {
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

func (r *fixture) attempts(id webhooks.EndpointID, event events.ID) (d webhooks.Delivery, log []webhooks.Attempt) {
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
		r := newFixture(t, db, webhooks.Config{})
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Disabled: true})
		skipped := r.emit(3)
		time.Sleep(5 * time.Millisecond)
		since := db.Now()
		wanted := r.emit(4)
		waitFor(t, time.Minute, "all seven shown as held", func() bool { return r.shown(e.ID)[webhooks.Held] == 7 })
		if rc.total() != 0 {
			t.Fatalf("%d posts to an endpoint that is off", rc.total())
		}
		e = r.update(e.ID, webhooks.Changes{Disabled: patch.Set(false), SendHeldSince: &since})
		if e.State != webhooks.On {
			t.Fatalf("state %s", e.State)
		}
		waitFor(t, time.Minute, "the later four are sent", func() bool { return r.shown(e.ID)[webhooks.Sent] == 4 })
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
		r := newFixture(t, db, webhooks.Config{Schedule: webhooks.Schedule{Waits: []time.Duration{2 * time.Second}}})
		rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusInternalServerError) })
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		r.emit(2)
		waitFor(t, time.Minute, "first attempts", func() bool { return rc.total() == 2 })
		r.write(func(tx *store.Tx) error { return webhooks.Delete(system, tx, r.team, e.ID) })
		r.emit(2)
		time.Sleep(3 * time.Second)
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
		r := newFixture(t, db, webhooks.Config{Schedule: quickSchedule})
		gone := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusGone) })
		other := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: gone.server.URL})
		r.endpoint(webhooks.NewEndpoint{URL: other.server.URL, Types: []string{webhooks.EndpointDisabled}})
		r.emit(1)
		waitFor(t, time.Minute, "switched off", func() bool { return r.get(e.ID).State == webhooks.AutoOff })
		if reason := r.get(e.ID).Reason; !strings.Contains(reason, "410") {
			t.Errorf("reason %q", reason)
		}
		waitFor(t, time.Minute, "the owner has the event", func() bool { return other.distinct() == 1 })
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
		r := newFixture(t, db, webhooks.Config{Schedule: quickSchedule})
		bad := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusTeapot) })
		watcher := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: bad.server.URL, Types: []string{"daily.data.steps.created", webhooks.AttemptExhausted}})
		r.endpoint(webhooks.NewEndpoint{URL: watcher.server.URL, Types: []string{webhooks.AttemptExhausted}})
		ids := r.emit(1)
		waitFor(t, time.Minute, "the announcement", func() bool { return watcher.distinct() == 1 })
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
		for _, text := range watcher.bodies {
			if err := json.Unmarshal(text, &body); err != nil {
				t.Fatal(err)
			}
		}
		if body.Data.Message != ids[0].String() || body.Data.Endpoint != e.ID.String() || body.Data.Attempts != 6 || body.Data.Last.Code != http.StatusTeapot || body.ClientUserID != "patient <1>" {
			t.Errorf("announced %+v", body)
		}
		// The announcement fails at the bad endpoint as well, and is not announced.
		waitFor(t, time.Minute, "both failed", func() bool { return r.shown(e.ID)[webhooks.Failed] == 2 })
		time.Sleep(100 * time.Millisecond)
		if n := watcher.distinct(); n != 1 {
			t.Errorf("%d announcements", n)
		}
	})
}

func TestAttemptLog(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{Schedule: quickSchedule})
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
		waitFor(t, time.Minute, "sent", func() bool { return r.states(e.ID)["sent"] == 1 })
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
			r := newFixture(t, storetest.SQLite(t), webhooks.Config{Schedule: once})
			rc := newReceiver(t, c.answer)
			e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Types: []string{"daily.data.steps.created"}})
			ids := r.emit(1)
			waitFor(t, time.Minute, "failed", func() bool { return r.states(e.ID)["failed"] == 1 })
			if _, log := r.attempts(e.ID, ids[0]); log[0].Problem != c.problem {
				t.Errorf("problem %q, want %q", log[0].Problem, c.problem)
			}
			if rc.total() != 1 {
				t.Errorf("%d requests", rc.total())
			}
		})
	}
}

func TestPrivateAddressIsRefusedWhenDialed(t *testing.T) {
	db := storetest.SQLite(t)
	r := newFixture(t, db, webhooks.Config{})
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

// Pending deliveries about a user who was erased are not sent, and do not stay pending.
func TestErasedUsersEventsAreNotSent(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newTeamFixture(t, db)
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
		waitFor(t, time.Minute, "one sent, one failed", func() bool {
			s := r.states(e.ID)
			return s["sent"] == 1 && s["failed"] == 1
		})
		if rc.total() != 1 {
			t.Errorf("%d posts", rc.total())
		}
	})
}

// An endpoint is switched off and on, and changed, many times under traffic. Each time
// it asks for the held events. Every event arrives once.
func TestSwitchingUnderTraffic(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{})
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		long := time.Unix(0, 0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 25 {
				r.update(e.ID, webhooks.Changes{Disabled: patch.Set(true)})
				r.update(e.ID, webhooks.Changes{Disabled: patch.Set(false), SendHeldSince: &long, Description: patch.Set(fmt.Sprint(i))})
			}
		}()
		r.emit(200)
		<-done
		waitFor(t, time.Minute, "all sent", func() bool { return r.states(e.ID)["sent"] == 200 })
		if rc.distinct() != 200 || rc.total() != 200 {
			t.Errorf("%d messages in %d posts, want 200 of each", rc.distinct(), rc.total())
		}
	})
}

func TestRotationOverlap(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		r := newTeamFixture(t, db)
		first, second := webhooks.NewSecret(), webhooks.NewSecret()
		e := r.endpoint(webhooks.NewEndpoint{URL: "http://127.0.0.1:9", Secret: &first})
		rotate := func(s *webhooks.Secret, overlap time.Duration) {
			r.write(func(tx *store.Tx) error { return webhooks.RotateSecret(system, tx, r.team, e.ID, s, overlap) })
		}
		rotate(&second, 24*time.Hour)
		rotate(&second, 24*time.Hour) // the same request once more
		if got := r.signing(e.ID, now); !slices.Equal(got, []string{second.Reveal(), first.Reveal()}) {
			t.Errorf("during the overlap %d secrets sign", len(got))
		}
		if got := r.signing(e.ID, now.Add(24*time.Hour)); !slices.Equal(got, []string{second.Reveal()}) {
			t.Errorf("after the overlap %d secrets sign", len(got))
		}
		for range 12 {
			rotate(nil, 7*24*time.Hour)
		}
		if got := r.signing(e.ID, now); len(got) != 10 {
			t.Errorf("%d secrets sign at once", len(got))
		}
		err := db.Write(system, func(tx *store.Tx) error {
			return webhooks.RotateSecret(system, tx, r.team, e.ID, nil, 8*24*time.Hour)
		})
		if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "body.overlap_seconds: ") {
			t.Errorf("an overlap of eight days: %v", err)
		}
	})
}

// signing lists the secrets that sign at a moment.
func (r *fixture) signing(id webhooks.EndpointID, at time.Time) (all []string) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) error {
		valid, err := webhooks.ValidSecrets(system, tx, r.team, id, at)
		for _, v := range valid {
			all = append(all, v.Secret.Reveal())
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

func TestRateLimit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{})
		rc := newReceiver(t, nil)
		rate := 50
		r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, RateLimit: &rate})
		began := time.Now()
		r.emit(100) // a second's worth at once, the rest at 50 a second
		waitFor(t, time.Minute, "all", func() bool { return rc.total() == 100 })
		if took := time.Since(began); took < 900*time.Millisecond {
			t.Errorf("100 posts at 50 a second took %v", took)
		}
	})
}

func TestCreateRefusesAllBadFieldsAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{})
		rate := 0
		err := db.Write(system, func(tx *store.Tx) error {
			_, err := webhooks.Create(system, tx, webhooks.Rules{}, r.team, webhooks.NewEndpoint{
				URL: "http://10.0.0.1/", Types: []string{"no.such.type"}, RateLimit: &rate, Description: "a\x00b",
			})
			return err
		})
		var list fault.List
		if !errors.As(err, &list) || len(list) != 4 {
			t.Fatalf("%v", err)
		}
		if n := r.count(`SELECT COUNT(*) FROM webhook_endpoints`); n != 0 {
			t.Errorf("%d endpoints were made", n)
		}
	})
}

// An event has a delivery to an endpoint exactly if its type matches the filter.
func TestFilters(t *testing.T) {
	types := []string{"daily.data.steps.created", "daily.data.steps.updated", "historical.data.steps.created", "provider.connection.created"}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		rapid.Check(t, func(rt *rapid.T) {
			r := newTeamFixture(t, db)
			wants := map[webhooks.EndpointID][]string{}
			for range rapid.IntRange(1, 4).Draw(rt, "endpoints") {
				filter := rapid.SliceOf(rapid.SampledFrom(types)).Draw(rt, "filter")
				if len(filter) == 0 {
					filter = nil // every type
				}
				e := r.endpoint(webhooks.NewEndpoint{
					URL: "http://127.0.0.1:9", Types: filter, Disabled: rapid.Bool().Draw(rt, "off"),
				})
				wants[e.ID] = filter
			}
			sent := rapid.SliceOfN(rapid.SampledFrom(types), 1, 20).Draw(rt, "events")
			ids := r.emitTypes(sent...)
			for endpoint, filter := range wants {
				for i, id := range ids {
					want := len(filter) == 0 || slices.Contains(filter, sent[i])
					got := r.count(`SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = $1 AND event_id = $2`, endpoint, id) == 1
					if got != want {
						rt.Fatalf("%s at filter %v: delivery is %v, want %v", sent[i], filter, got, want)
					}
				}
			}
		})
	})
}

// emitTypes writes events of the types, about no user.
func (r *fixture) emitTypes(types ...string) (ids []events.ID) {
	r.t.Helper()
	r.write(func(tx *store.Tx) (err error) {
		all := make([]events.New, len(types))
		for i, name := range types {
			all[i] = events.New{Team: r.team.UUID(), Type: name, Data: fmt.Appendf(nil, `{"n":%d}`, i)}
		}
		ids, err = events.EmitMany(system, tx, all)
		return err
	})
	return ids
}

// settle gives all events their numbers. On SQLite they have their numbers already.
func (r *fixture) settle() {
	r.t.Helper()
	if err := (&events.Sequencer{DB: r.db}).Settle(system); err != nil {
		r.t.Fatal(err)
	}
}

func TestUnknownTypesAreRefused(t *testing.T) {
	r := newTeamFixture(t, storetest.SQLite(t))
	err := r.db.Write(system, func(tx *store.Tx) error {
		_, err := webhooks.Create(system, tx, allowPrivate, r.team, webhooks.NewEndpoint{URL: "http://127.0.0.1:9", Types: []string{"daily.data.hypnogram.created"}})
		return err
	})
	if err == nil {
		t.Error("a type that the catalogue does not have was taken")
	}
}

// A user who is erased during a post gets no new key: no answer is kept, and a last
// failure is not announced.
func TestUserErasedDuringPost(t *testing.T) {
	for code, state := range map[int]string{http.StatusOK: "sent", http.StatusInternalServerError: "failed"} {
		t.Run(state, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				r := newFixture(t, db, webhooks.Config{Schedule: webhooks.Schedule{Waits: []time.Duration{}}})
				about := r.event(1)
				rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
					r.write(func(tx *store.Tx) error { return tx.Shred(system, r.team.UUID(), about.User) })
					w.WriteHeader(code)
					_, _ = w.Write([]byte("thanks for patient <1>"))
				})
				e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
				r.write(func(tx *store.Tx) error {
					_, err := events.Emit(system, tx, about)
					return err
				})
				waitFor(t, time.Minute, state, func() bool { return r.states(e.ID)[state] == 1 })
				count := func(query string, args ...any) (n int) {
					t.Helper()
					err := db.Read(system, func(tx *store.Tx) error { return tx.QueryRow(system, query, args...).Scan(&n) })
					if err != nil {
						t.Fatal(err)
					}
					return n
				}
				if n := count(`SELECT COUNT(*) FROM sealing_keys WHERE subject_id = $1`, about.User); n != 0 {
					t.Errorf("%d keys", n)
				}
				if n := count(`SELECT COUNT(*) FROM webhook_attempts WHERE answer IS NULL`); n != 1 {
					t.Errorf("%d attempts without an answer", n)
				}
				if n := count(`SELECT COUNT(*) FROM events`); n != 1 {
					t.Errorf("%d events", n)
				}
			})
		})
	}
}
