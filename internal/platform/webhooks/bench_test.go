package webhooks_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/pgtemp"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// The benchmarks measure events that are committed durably, one transaction each, and
// delivered, signed, to a receiver in the same process.
//
//	go test ./internal/platform/webhooks -run '^$' -bench Deliver -benchtime 20000x
//
// Metrics: events/s from the first commit to the last recorded result, and the
// delay from commit to arrival.

func BenchmarkDeliver(b *testing.B) {
	eachDurable(b, func(b *testing.B, db *store.DB) {
		for _, producers := range []int{16, 64} {
			b.Run(fmt.Sprintf("producers=%d", producers), func(b *testing.B) { load(b, db, producers, 0) })
		}
	})
}

func BenchmarkDeliverPaced(b *testing.B) {
	eachDurable(b, func(b *testing.B, db *store.DB) { load(b, db, 16, 1000) })
}

// eachDurable opens each engine as production does: SQLite with FULL, and a
// PostgreSQL that syncs.
func eachDurable(b *testing.B, fn func(b *testing.B, db *store.DB)) {
	b.Run("sqlite", func(b *testing.B) {
		d := storetest.NewSQLite(b)
		fn(b, openDurable(b, store.Options{Dir: d.Dir}))
	})
	b.Run("postgres", func(b *testing.B) {
		cluster, err := pgtemp.Start(context.Background(), pgtemp.Durable)
		if err != nil {
			b.Skip(err)
		}
		b.Cleanup(func() {
			if err := cluster.Stop(); err != nil {
				b.Log(err)
			}
		})
		url, err := pgtemp.CreateDatabase(context.Background(), cluster.URL(), "bench", "")
		if err != nil {
			b.Fatal(err)
		}
		db := openDurable(b, store.Options{URL: url, Dir: b.TempDir()})
		if err := db.Migrate(system); err != nil {
			b.Fatal(err)
		}
		fn(b, db)
	})
}

func openDurable(b *testing.B, o store.Options) *store.DB {
	db, err := store.Open(context.Background(), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return db
}

// arrivals records when each event arrived.
type arrivals struct {
	mu    sync.Mutex
	at    map[string]time.Time
	count atomic.Int64
}

func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	a.mu.Lock()
	a.at[r.Header.Get("Webhook-Id")] = now
	a.mu.Unlock()
	a.count.Add(1)
	w.WriteHeader(http.StatusNoContent)
}

func load(b *testing.B, db *store.DB, producers, perSecond int) {
	var recorded atomic.Int64
	r := newFixture(b, db, webhooks.Config{Observe: func(webhooks.AttemptResult) { recorded.Add(1) }})
	a := &arrivals{at: map[string]time.Time{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: a, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	b.Cleanup(func() { _ = server.Close() })
	r.endpoint(webhooks.NewEndpoint{URL: "http://" + listener.Addr().String()})
	data := []byte(`{"source":{"provider":"apple_health_kit","type":"watch"},"source_id":1,"data":"` + strings.Repeat("x", 700) + `"}`)
	users := make([]uuid.UUID, 1000)
	for i := range users {
		users[i] = uuid.New()
	}

	committed := make([]time.Time, b.N)
	names := make([]string, b.N)
	var next atomic.Int64
	b.ResetTimer()
	began := time.Now()
	var wg sync.WaitGroup
	for range producers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= b.N {
					return
				}
				if perSecond > 0 {
					time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
				}
				err := db.Write(system, func(tx *store.Tx) error {
					id, err := events.Emit(system, tx, events.New{
						Team: r.team.UUID(), User: users[i%len(users)], ClientUserID: "c", Type: "daily.data.steps.created", Data: data,
					})
					names[i] = id.String()
					return err
				})
				if err != nil {
					b.Error(err)
					return
				}
				committed[i] = time.Now()
			}
		})
	}
	wg.Wait()
	for recorded.Load() < int64(b.N) {
		time.Sleep(time.Millisecond)
	}
	took := time.Since(began)
	b.StopTimer()
	b.ReportMetric(float64(b.N)/took.Seconds(), "events/s")
	delays := make([]time.Duration, b.N)
	for i, name := range names {
		delays[i] = a.at[name].Sub(committed[i])
	}
	slices.Sort(delays)
	b.ReportMetric(float64(delays[b.N/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(delays[b.N*99/100].Microseconds())/1000, "p99-ms")
}
