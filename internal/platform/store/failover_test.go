package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/pgtemp"
)

// writers add rows until stop is called, and record the answers.
type writers struct {
	mu                      sync.Mutex
	stored, unknown, failed map[uuid.UUID]bool
}

func (w *writers) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.stored)
}

// start starts writers. An error that is not documented fails the test.
func (w *writers) start(ctx context.Context, t *testing.T, db *store.DB) (stop func()) {
	w.stored, w.unknown, w.failed = map[uuid.UUID]bool{}, map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	stopped, running := make(chan struct{}), sync.WaitGroup{}
	for range 4 {
		running.Go(func() {
			for {
				select {
				case <-stopped:
					return
				default:
				}
				id := uuid.New()
				err := db.Write(ctx, func(tx *store.Tx) error { return addTeam(ctx, tx, id, "failover") })
				var down *store.Unavailable
				var unknown *store.OutcomeUnknown
				w.mu.Lock()
				switch {
				case err == nil:
					w.stored[id] = true
				case errors.As(err, &unknown):
					w.unknown[id] = true
				case errors.As(err, &down):
					w.failed[id] = true
				default:
					t.Errorf("a write: %v", err)
				}
				w.mu.Unlock()
				if err != nil {
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	return func() {
		close(stopped)
		running.Wait()
	}
}

// check checks that each acknowledged row is there, and no row of a failed write.
func (w *writers) check(ctx context.Context, t *testing.T, db *store.DB) {
	t.Helper()
	found := map[uuid.UUID]bool{}
	err := db.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT id FROM teams WHERE name = 'failover'`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id uuid.UUID
			if err := rows.Scan(&id); err != nil {
				return err
			}
			found[id] = true
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range w.stored {
		if !found[id] {
			t.Errorf("the acknowledged row %s is lost", id)
		}
	}
	for id := range found {
		if w.failed[id] {
			t.Errorf("the row %s of a failed write is stored", id)
		}
	}
	t.Logf("%d acknowledged, %d unknown, %d failed", len(w.stored), len(w.unknown), len(w.failed))
}

// The first of two servers dies under load, and the second becomes the primary. The same
// DB continues on it, and no acknowledged write is lost.
func TestFailover(t *testing.T) {
	ctx := store.AsSystem(t.Context())
	primary, err := pgtemp.Start(ctx, pgtemp.Durable)
	if errors.Is(err, pgtemp.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer primary.Stop()
	url, err := primary.CreateDatabase(ctx, "hale")
	if err != nil {
		t.Fatal(err)
	}
	migrating, err := store.Open(ctx, store.Options{URL: url, Root: new(secrets.Root)})
	if err == nil {
		err = errors.Join(migrating.Migrate(ctx), migrating.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	standby, err := primary.StartStandby(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer standby.Stop()

	db, err := store.Open(ctx, store.Options{URL: pgtemp.EitherURL("hale", primary, standby), Root: new(secrets.Root), Conns: 8, AnswerLimit: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var w writers
	stop := w.start(ctx, t, db)
	defer func() { stop() }()
	untilStored := func(n int) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); w.count() < n; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d of %d writes in a minute", w.count(), n)
			}
		}
	}
	untilStored(200)
	if err := primary.Stop(); err != nil {
		t.Fatal(err)
	}
	unavailable(t, "between the servers", db.Ping(ctx)) // readiness is a ping
	before := w.count()
	time.Sleep(200 * time.Millisecond)
	if n := w.count(); n != before {
		t.Errorf("%d writes without a primary", n-before)
	}
	if err := standby.Promote(ctx); err != nil {
		t.Fatal(err)
	}
	untilStored(before + 200)
	stop()
	stop = func() {}
	if err := db.Ping(ctx); err != nil {
		t.Error(err)
	}
	w.check(ctx, t, db)
}
