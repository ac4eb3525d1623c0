package webhooks_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// pipeNetwork connects a client and a server in memory, so that a test can run in a
// bubble, where days take no time.
type pipeNetwork struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeNetwork() *pipeNetwork {
	return &pipeNetwork{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (p *pipeNetwork) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipeNetwork) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipeNetwork) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipeNetwork) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.done:
	case <-ctx.Done():
	}
	return nil, net.ErrClosed
}

// visit records a post at the receiver.
type visit struct {
	at time.Time
	id string
}

// runInBubble runs fn in a bubble with a deliverer on SQLite. The receiver records each
// visit and calls answer.
func runInBubble(t *testing.T, answer http.HandlerFunc, fn func(r *fixture, e webhooks.Endpoint, visits func() []visit)) {
	d := storetest.NewSQLite(t)
	synctest.Test(t, func(t *testing.T) {
		db := d.Open(t, nil)
		network := newPipeNetwork()
		var mu sync.Mutex
		var seen []visit
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			seen = append(seen, visit{at: time.Now(), id: r.Header.Get("webhook-id")})
			mu.Unlock()
			_, _ = io.Copy(io.Discard, r.Body) // until then the server does not notice a client that hangs up
			answer(w, r)
		})}
		go func() { _ = server.Serve(network) }()
		t.Cleanup(func() { _ = server.Close(); _ = network.Close() })
		r := newFixture(t, db, webhooks.Config{Dial: network.Dial})
		e := r.endpoint(webhooks.NewEndpoint{URL: "http://receiver.test/", Types: []string{"daily.data.steps.created"}})
		synctest.Wait()
		fn(r, e, func() []visit {
			mu.Lock()
			defer mu.Unlock()
			return append([]visit(nil), seen...)
		})
	})
}

// A message that always fails is tried eight times, at the times of the reference,
// each counted from the failure before. No attempt is early or more than a tenth late.
//
// Reference 8.4.
func TestScheduleOverADay(t *testing.T) {
	refuse := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	runInBubble(t, refuse, func(r *fixture, e webhooks.Endpoint, visits func() []visit) {
		r.emit(1)
		time.Sleep(36 * time.Hour)
		synctest.Wait()
		all := visits()
		want := []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour}
		if len(all) != len(want)+1 {
			r.t.Fatalf("%d attempts, want %d", len(all), len(want)+1)
		}
		for i, step := range want {
			if got := all[i+1].at.Sub(all[i].at); got < step || got > step+step/10+time.Second {
				r.t.Errorf("attempt %d came %v after the one before, want %v to a tenth more", i+2, got, step)
			}
		}
		if got := r.shown(e.ID); got[webhooks.Failed] != 1 {
			r.t.Errorf("in the end: %v", got)
		}
	})
}

// A post to a receiver that never answers, or that answers a byte at a time, ends after
// fifteen seconds.
func TestTimeouts(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"silence": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"drip": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte("."))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Second)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			runInBubble(t, answer, func(r *fixture, e webhooks.Endpoint, _ func() []visit) {
				ids := r.emit(1)
				time.Sleep(20 * time.Second)
				synctest.Wait()
				d, log := r.attempts(e.ID, ids[0])
				if len(log) != 1 || log[0].Problem != webhooks.TimeoutProblem {
					r.t.Fatalf("%+v", log)
				}
				if took := log[0].Took; took < 15*time.Second || took > 15*time.Second+100*time.Millisecond {
					r.t.Errorf("took %v", took)
				}
				if wait := d.DueAt.Sub(log[0].At); wait < 75*time.Second {
					r.t.Errorf("tried again after %v: an overloaded receiver gets a minute", wait)
				}
			})
		})
	}
}

// An endpoint is switched off after five days in which every attempt failed. The five
// days begin with a failure that is half a day or more after the first one. Until then
// the endpoint is on.
func TestAutoOffAfterFiveDays(t *testing.T) {
	refuse := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	runInBubble(t, refuse, func(r *fixture, e webhooks.Endpoint, _ func() []visit) {
		for day := range 5 {
			if state := r.get(e.ID).State; state != webhooks.On {
				r.t.Fatalf("%s on day %d", state, day)
			}
			r.emit(1)
			time.Sleep(24 * time.Hour)
		}
		r.emit(1)
		time.Sleep(48 * time.Hour) // the clock began with a retry half a day after the first failure
		synctest.Wait()
		got := r.get(e.ID)
		if got.State != webhooks.AutoOff || got.Reason == "" {
			r.t.Errorf("after seven days: %s, %q", got.State, got.Reason)
		}
	})
}

// The next process makes the retries that wait when a process ends.
func TestRetriesSurviveARestart(t *testing.T) {
	d := storetest.NewSQLite(t)
	synctest.Test(t, func(t *testing.T) {
		db := d.Open(t, nil)
		network := newPipeNetwork()
		var mu sync.Mutex
		posts, healthy := 0, false
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if posts++; !healthy {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})}
		go func() { _ = server.Serve(network) }()
		t.Cleanup(func() { _ = server.Close(); _ = network.Close() })
		first := webhooks.NewDeliverer(db, webhooks.Config{Dial: network.Dial})
		ctx, stop := context.WithCancel(store.AsSystem(context.Background()))
		done := make(chan struct{})
		go func() { defer close(done); _ = first.Run(ctx) }()
		r := newTeamFixture(t, db)
		e := r.endpoint(webhooks.NewEndpoint{URL: "http://receiver.test/"})
		r.emit(3)
		time.Sleep(time.Second)
		synctest.Wait()
		stop()
		<-done
		mu.Lock()
		healthy = true
		mu.Unlock()
		r.deliver(webhooks.Config{Dial: network.Dial})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := r.shown(e.ID); got[webhooks.Sent] != 3 {
			t.Errorf("after the restart: %v", got)
		}
		if posts != 6 {
			t.Errorf("%d posts, want 6", posts)
		}
	})
}
