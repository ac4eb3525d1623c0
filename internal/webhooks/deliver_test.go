package webhooks_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"hale/internal/events"
	"hale/internal/jobs"
	"hale/internal/store"
	"hale/internal/store/storetest"
	"hale/internal/teams"
	"hale/internal/webhooks"
)

var system = store.AsSystem(context.Background())

// rig is a running deliverer with everything around it.
type rig struct {
	t    testing.TB
	db   *store.DB
	team teams.ID
}

var open = webhooks.Rules{AllowPrivate: true}

func newRig(t testing.TB, db *store.DB, cfg webhooks.Config) *rig {
	t.Helper()
	r := &rig{t: t, db: db}
	r.write(func(tx *store.Tx) error {
		team, err := teams.Create(system, tx, "Test", teams.Sandbox)
		r.team = team.ID
		return err
	})
	r.deliver(cfg)
	return r
}

// deliver starts a node with a sequencer and a deliverer until the test ends.
func (r *rig) deliver(cfg webhooks.Config) *webhooks.Deliverer {
	r.t.Helper()
	node, err := jobs.Join(system, r.db, 0, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	cfg.Node = node
	cfg.Guard.AllowPrivate = true
	d := webhooks.NewDeliverer(r.db, cfg)
	sequencer := jobs.NewLoop((&events.Sequencer{DB: r.db}).Run)
	loop := jobs.NewLoop(d.Run)
	sequencer.Start(system)
	loop.Start(system)
	r.t.Cleanup(func() {
		for _, stop := range []func(context.Context) error{loop.Stop, sequencer.Stop, node.Stop} {
			if err := stop(system); err != nil {
				r.t.Error(err)
			}
		}
	})
	return d
}

func (r *rig) write(fn func(tx *store.Tx) error) {
	r.t.Helper()
	if err := r.db.Write(system, fn); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) endpoint(n webhooks.NewEndpoint) (e webhooks.Endpoint) {
	r.t.Helper()
	r.write(func(tx *store.Tx) (err error) {
		e, err = webhooks.Create(system, tx, open, r.team, n)
		return err
	})
	return e
}

func (r *rig) emit(n int) (ids []events.ID) {
	r.t.Helper()
	for i := range n {
		r.write(func(tx *store.Tx) error {
			id, err := events.Emit(system, tx, r.event(i))
			if err == nil {
				tx.AfterCommit(func() { ids = append(ids, id) })
			}
			return err
		})
	}
	return ids
}

func (r *rig) event(i int) events.New {
	return events.New{
		Team: r.team.UUID(), User: uuid.New(), ClientUserID: "patient <1>", Type: "daily.data.steps.created",
		Data: fmt.Appendf(nil, `{"n":%d}`, i),
	}
}

// receiver counts what comes, by message id, and checks signatures.
type receiver struct {
	t      testing.TB
	server *httptest.Server
	answer func(w http.ResponseWriter, r *http.Request, nth int)

	mu     sync.Mutex
	secret string
	tries  map[string]int
	bodies map[string][]byte
	order  []string
}

func newReceiver(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, nth int)) *receiver {
	if answer == nil {
		answer = func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusNoContent) }
	}
	rc := &receiver{t: t, answer: answer, tries: map[string]int{}, bodies: map[string][]byte{}}
	rc.server = httptest.NewServer(rc)
	t.Cleanup(rc.server.Close)
	return rc
}

func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		rc.t.Error(err)
	}
	id := r.Header.Get("webhook-id")
	rc.mu.Lock()
	if rc.secret != "" {
		hook, err := standardwebhooks.NewWebhook(rc.secret)
		if err == nil {
			err = hook.VerifyIgnoringTimestamp(body, r.Header)
		}
		if err != nil {
			rc.t.Error(err)
		}
	}
	if old, ok := rc.bodies[id]; ok && string(old) != string(body) {
		rc.t.Errorf("the body of %s changed between attempts", id)
	}
	rc.bodies[id] = body
	rc.tries[id]++
	rc.order = append(rc.order, id)
	nth := rc.tries[id]
	rc.mu.Unlock()
	rc.answer(w, r, nth)
}

func (rc *receiver) distinct() int {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return len(rc.tries)
}

func (rc *receiver) total() int {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return len(rc.order)
}

func eventually(t testing.TB, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}

// states counts the deliveries of an endpoint by their stored state.
func (r *rig) states(id webhooks.EndpointID) map[string]int {
	r.t.Helper()
	found := map[string]int{}
	err := r.db.Read(system, func(tx *store.Tx) error {
		rows, err := tx.Query(system, `SELECT state, COUNT(*) FROM webhook_deliveries WHERE endpoint_id = $1 GROUP BY state`, id)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var state string
			var n int
			if err := rows.Scan(&state, &n); err != nil {
				return err
			}
			found[state] = n
		}
		return rows.Err()
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

func TestEachEventArrivesOnceSigned(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		secret := webhooks.NewSecret()
		rc := newReceiver(t, nil)
		rc.secret = secret.Reveal()
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Secret: &secret})
		ids := r.emit(50)
		eventually(t, 5*time.Second, "50 arrivals", func() bool { return rc.distinct() == 50 })
		eventually(t, 5*time.Second, "50 recorded", func() bool { return r.states(e.ID)["sent"] == 50 })
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
		t.Cleanup(func() { r.dump(t) })
		eventually(t, 20*time.Second, "everything sent", func() bool { return r.states(e.ID)["sent"] == events })
		if rc.distinct() != events || rc.total() != events+events/10 {
			t.Errorf("%d events and %d posts, want %d and %d", rc.distinct(), rc.total(), events, events+events/10)
		}
		if stranded != 0 {
			t.Errorf("%d deliveries were stranded", stranded)
		}
	})
}

// An endpoint that never answers must not slow another.
func TestHangingEndpointDelaysNoOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		release := make(chan struct{})
		hanging := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		})
		t.Cleanup(func() { close(release) })
		good := newReceiver(t, nil)
		r.endpoint(webhooks.NewEndpoint{URL: hanging.server.URL})
		e := r.endpoint(webhooks.NewEndpoint{URL: good.server.URL})
		began := time.Now()
		r.emit(300)
		eventually(t, 10*time.Second, "the good endpoint has everything", func() bool { return good.distinct() == 300 })
		eventually(t, 10*time.Second, "and it is recorded", func() bool { return r.states(e.ID)["sent"] == 300 })
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("took %v", took)
		}
		if n := hanging.total(); n == 0 || n > 32 {
			t.Errorf("%d posts at once to the hanging endpoint", n)
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
	eventually(t, 5*time.Second, "the first node claims", func() bool { return r.count(`SELECT COUNT(*) FROM webhook_deliveries WHERE node IS NOT NULL`) == 40 })

	second := r.deliver(webhooks.Config{})
	second.Wake()
	time.Sleep(100 * time.Millisecond)
	if n := stuck.total(); n != 0 {
		t.Fatalf("the second node took %d deliveries from a living one", n)
	}
	r.write(func(tx *store.Tx) error { // the first node's lease is over; ids are in order of joining
		_, err := tx.Exec(system, `UPDATE nodes SET until = 0 WHERE id = (SELECT id FROM nodes ORDER BY id LIMIT 1)`)
		return err
	})
	eventually(t, 20*time.Second, "the second node delivers", func() bool {
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
	eventually(t, 20*time.Second, "everything sent", func() bool { return r.states(e.ID)["sent"] == 400 })
	if rc.total() != 400 {
		t.Errorf("%d posts for 400 events", rc.total())
	}
}

func (r *rig) count(query string, args ...any) (n int) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) error { return tx.QueryRow(system, query, args...).Scan(&n) })
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}
