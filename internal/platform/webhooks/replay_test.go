package webhooks_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/jobs"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// runJobs runs replay jobs until the test ends.
func (r *fixture) runJobs() *jobs.Runner {
	r.t.Helper()
	node, err := jobs.Join(system, r.db, 0, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	runner := jobs.NewRunner(r.db, jobs.Config{Node: node, Kinds: []jobs.Handler{webhooks.ReplayJob}})
	loop := jobstest.NewLoop(runner.Run)
	loop.Start(system)
	r.t.Cleanup(func() {
		if err := errors.Join(loop.Stop(system), node.Stop(system)); err != nil {
			r.t.Error(err)
		}
	})
	return runner
}

func TestReplays(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{Schedule: webhooks.Schedule{Waits: []time.Duration{}}})
		runner := r.runJobs()
		var broken atomic.Bool
		broken.Store(true)
		rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			if broken.Load() {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Types: []string{"daily.data.steps.created"}})
		r.emit(3)
		time.Sleep(5 * time.Millisecond)
		since := db.Now()
		ids := r.emit(5)
		waitFor(t, time.Minute, "all failed", func() bool { return r.shown(e.ID)[webhooks.Failed] == 8 })
		broken.Store(false)

		one := ids[2]
		r.write(func(tx *store.Tx) error { return webhooks.Resend(system, tx, r.team, e.ID, one) })
		waitFor(t, time.Minute, "one sent again", func() bool { return r.shown(e.ID)[webhooks.Sent] == 1 })
		if d, log := r.attempts(e.ID, one); d.Attempts != 2 || log[1].N != 2 {
			t.Errorf("after the resend: %+v, %d attempts", d, len(log))
		}

		recovery := webhooks.Replay{Endpoint: e.ID, Since: since}
		if n := r.replayCount(recovery); n != 4 {
			t.Errorf("recovering would send %d, want 4", n)
		}
		r.start(recovery)
		waitFor(t, time.Minute, "recovered", func() bool { return r.shown(e.ID)[webhooks.Sent] == 5 })

		all := webhooks.Replay{Endpoint: e.ID, From: 1}
		steps := r.count(`SELECT COUNT(*) FROM events WHERE type = 'daily.data.steps.created'`)
		if n := r.replayCount(all); n != int64(steps) {
			t.Errorf("replaying all would send %d, want %d", n, steps)
		}
		r.start(all)
		waitFor(t, time.Minute, "replayed", func() bool { return r.shown(e.ID)[webhooks.Sent] == 8 })

		fresh := newReceiver(t, nil)
		later := r.endpoint(webhooks.NewEndpoint{URL: fresh.server.URL, Types: []string{"daily.data.steps.created"}})
		r.start(webhooks.Replay{Endpoint: later.ID, From: 1, To: 1})
		waitFor(t, time.Minute, "sent to a newer endpoint", func() bool { return fresh.distinct() == 1 })
		r.start(webhooks.Replay{Endpoint: later.ID, From: 1, To: math.MaxInt64}) // ends at the last number there is
		settling, cancel := context.WithTimeout(system, time.Minute)
		defer cancel()
		if err := runner.Settle(settling); err != nil {
			t.Error(err)
		}
		waitFor(t, time.Minute, "all sent to a newer endpoint", func() bool { return fresh.distinct() == 8 })
		for id, body := range fresh.bodies {
			if string(rc.bodies[id]) != string(body) {
				t.Errorf("the replay of %s has other bytes", id)
			}
		}
	})
}

func (r *fixture) replayCount(what webhooks.Replay) (n int64) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) (err error) {
		n, err = what.Count(system, tx, r.team)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

func (r *fixture) start(what webhooks.Replay) {
	r.t.Helper()
	ctx := store.WithTeam(context.Background(), r.team.UUID())
	err := r.db.Write(ctx, func(tx *store.Tx) error {
		_, err := what.Start(ctx, tx, r.team)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func TestReconcile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{Schedule: webhooks.Schedule{Waits: []time.Duration{}}})
		rc := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			if r.Header.Get("X-Event-Seq") == "3" {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Types: []string{"daily.data.steps.created"}})
		ids := r.emit(5) // numbers 1 to 5; the failure is announced as number 6
		waitFor(t, time.Minute, "done", func() bool { s := r.shown(e.ID); return s[webhooks.Sent] == 4 && s[webhooks.Failed] == 1 })
		waitFor(t, time.Minute, "announced", func() bool { return r.count(`SELECT COUNT(*) FROM events WHERE seq IS NOT NULL`) == 6 })
		var a webhooks.Account
		err := db.Read(system, func(tx *store.Tx) (err error) {
			a, err = webhooks.Reconcile(system, tx, r.team, e.ID, 2, 1000)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if a.From != 2 || a.To != 6 || a.Counts[webhooks.Sent] != 3 || a.Counts[webhooks.Failed] != 1 || a.Apart != 1 {
			t.Errorf("%+v", a)
		}
		if len(a.Open) != 1 || a.Open[0].Event != ids[2] || a.Open[0].Seq != 3 {
			t.Errorf("open: %+v", a.Open)
		}
	})
}

// A report with more open messages than it lists ends at the last one that it lists, so
// that the next report continues there.
func TestReconcileContinues(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		r, _, e, _, _ := outageFixture(t, d)
		r.emit(1500)
		waitFor(t, time.Minute, "numbered", func() bool { return r.last() == 1508 })
		var seen, pending int64
		for from, more := int64(1), true; more; {
			var a webhooks.Account
			err := r.db.Read(system, func(tx *store.Tx) (err error) {
				a, err = webhooks.Reconcile(system, tx, r.team, e.ID, from, math.MaxInt64)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if n := int64(len(a.Open)); n == 0 || a.Counts[webhooks.Pending] != n || a.Open[n-1].Seq != a.To || a.More != a.HasMore {
				t.Fatalf("from %d to %d: %d open, %v", a.From, a.To, n, a.Counts)
			}
			seen, pending = seen+int64(len(a.Open)), pending+a.Counts[webhooks.Pending]
			from, more = a.To+1, a.HasMore
		}
		if seen != 1508 || pending != 1508 {
			t.Errorf("lists %d, counts %d", seen, pending)
		}
	})
}

// A replay without an end ends at the last number at the time of its request, however
// late its job runs.
func TestReplayEndsAtItsRequest(t *testing.T) {
	for _, before := range []int{0, 3} {
		storetest.Each(t, func(t *testing.T, db *store.DB) {
			r := newFixture(t, db, webhooks.Config{})
			rc := newReceiver(t, nil)
			r.emit(before)
			waitFor(t, time.Minute, "numbered", func() bool { return r.last() == int64(before) })
			e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Types: []string{"daily.data.sleep.created"}})
			var job jobs.ID
			r.write(func(tx *store.Tx) (err error) {
				job, err = webhooks.Replay{Endpoint: e.ID, From: 1}.Start(system, tx, r.team)
				return err
			})
			r.emit(2)
			waitFor(t, time.Minute, "numbered", func() bool { return r.last() == int64(before+2) })
			r.update(e.ID, webhooks.Changes{Types: patch.Set([]string{"daily.data.steps.created"})})
			r.runJobs()
			waitFor(t, time.Minute, "replayed", func() bool {
				return r.count(`SELECT COUNT(*) FROM jobs WHERE id = $1 AND status = 'succeeded'`, job) == 1
			})
			if n := r.count(`SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = $1`, e.ID); n != before {
				t.Errorf("%d of %d replayed", n, before)
			}
		})
	}
}

// last returns the greatest number of the team's events.
func (r *fixture) last() (n int64) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) (err error) {
		n, err = events.LastNumber(system, tx, r.team.UUID())
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}
