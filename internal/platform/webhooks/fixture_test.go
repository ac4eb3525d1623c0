package webhooks_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"hale/internal/platform/events"
	"hale/internal/platform/jobs"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/platform/webhooks"
)

var system = store.AsSystem(context.Background())

// fixture runs a deliverer for a team.
type fixture struct {
	t    testing.TB
	db   *store.DB
	team teams.ID
}

var allowPrivate = webhooks.Rules{AllowPrivate: true}

func newFixture(t testing.TB, db *store.DB, cfg webhooks.Config) *fixture {
	t.Helper()
	r := newTeamFixture(t, db)
	r.deliver(cfg)
	return r
}

// eventTypes are the types that the tests use.
var eventTypes = func() *events.Catalogue {
	types := webhooks.EventTypes()
	for _, name := range []string{
		"daily.data.sleep.created", "daily.data.steps.created", "daily.data.steps.updated", "daily.data.weight.created",
		"historical.data.steps.created", "provider.connection.created",
	} {
		types = append(types, events.Type{Name: name, Sentence: "An example.", Example: events.ExampleOf(`"n":1`)})
	}
	return events.NewCatalogue(types...)
}()

// newTeamFixture returns a fixture without a deliverer.
func newTeamFixture(t testing.TB, db *store.DB) *fixture {
	t.Helper()
	events.Register(db, eventTypes)
	r := &fixture{t: t, db: db}
	r.write(func(tx *store.Tx) error {
		team, err := teams.Create(system, tx, "Test", teams.Sandbox)
		r.team = team.ID
		return err
	})
	return r
}

// deliver starts a node with a sequencer and a deliverer until the test ends.
func (r *fixture) deliver(cfg webhooks.Config) *webhooks.Deliverer {
	r.t.Helper()
	node, err := jobs.Join(system, r.db, 0, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	cfg.Node = node
	cfg.Guard.AllowPrivate = true
	d := webhooks.NewDeliverer(r.db, cfg)
	sequencer := jobstest.NewLoop((&events.Sequencer{DB: r.db}).Run)
	loop := jobstest.NewLoop(d.Run)
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

func (r *fixture) write(fn func(tx *store.Tx) error) {
	r.t.Helper()
	if err := r.db.Write(system, fn); err != nil {
		r.t.Fatal(err)
	}
}

func (r *fixture) endpoint(n webhooks.NewEndpoint) (e webhooks.Endpoint) {
	r.t.Helper()
	r.write(func(tx *store.Tx) (err error) {
		e, err = webhooks.Create(system, tx, allowPrivate, r.team, n)
		return err
	})
	return e
}

func (r *fixture) emit(n int) (ids []events.ID) {
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

func (r *fixture) event(i int) events.New {
	return events.New{
		Team: r.team.UUID(), User: uuid.New(), ClientUserID: "patient <1>", Type: "daily.data.steps.created",
		Data: fmt.Appendf(nil, `{"n":%d}`, i),
	}
}

// receiver counts posts by message id, and checks signatures.
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

func (rc *receiver) bodySize(id events.ID) int {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return len(rc.bodies[id.String()])
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

func waitFor(t testing.TB, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}

// states counts the deliveries of an endpoint by their stored state.
func (r *fixture) states(id webhooks.EndpointID) map[string]int {
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

func (r *fixture) count(query string, args ...any) (n int) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) error { return tx.QueryRow(system, query, args...).Scan(&n) })
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}
