package app_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// brokenPostgres is a service whose connections to PostgreSQL a test breaks.
type brokenPostgres struct {
	*apptest.Service
	t     *testing.T
	proxy *storetest.Proxy
	user  string
	count int
}

// request sends a request. It returns the status and the code of the answer. A 5xx that
// is no 503 with Retry-After fails the test.
func (b *brokenPostgres) request(s *apptest.Service, method, path, body string, headers ...string) (status int, code string) {
	b.t.Helper()
	res := s.Do(method, path, body, headers...)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	var answer struct{ Code, Detail any }
	_ = json.Unmarshal(text, &answer) // a success may be a list
	code, _ = answer.Code.(string)
	if res.StatusCode >= 500 && (res.StatusCode != 503 || res.Header.Get("Retry-After") == "" || code == "" || answer.Detail == "") {
		b.t.Errorf("%s %s: %d %q %s", method, path, res.StatusCode, res.Header.Get("Retry-After"), text)
	}
	if strings.Contains(string(text), storetest.ProxyPassword) {
		b.t.Errorf("%s %s: the answer has the password", method, path)
	}
	return res.StatusCode, code
}

// create creates a user.
func (b *brokenPostgres) create(name string, headers ...string) (status int, code string) {
	b.t.Helper()
	return b.request(b.Service, "POST", "/v2/user", fmt.Sprintf(`{"client_user_id":%q}`, name), headers...)
}

// all sends a request of each kind, the last one with a key that this node has not read
// yet. It returns the codes of the answers.
func (b *brokenPostgres) all(stranger *apptest.Service) (codes []string) {
	b.t.Helper()
	b.count++
	samples := func(day int) string {
		return fmt.Sprintf(`"data":[{"timestamp":"2026-03-%02dT00:00:00Z","value":%d,"unit":"bpm"}]`, day, 60+b.count%50)
	}
	for _, c := range []struct{ method, path, body, key string }{
		{"GET", "/v2/user", "", ""},
		{"GET", "/v2/user/" + b.user, "", ""},
		{"GET", "/v2/timeseries/" + b.user + "/heartrate?start_date=2026-03-01", "", ""},
		{"POST", "/v2/user", fmt.Sprintf(`{"client_user_id":"plain-%d"}`, b.count), ""},
		{"POST", "/v2/user", fmt.Sprintf(`{"client_user_id":"keyed-%d"}`, b.count), fmt.Sprint("key-", b.count)},
		{"PATCH", "/v2/user/" + b.user, `{"fallback_time_zone":"Europe/Berlin"}`, ""},
		{"POST", "/v2/timeseries/" + b.user + "/heartrate", `{"stage":"daily","provider":"apple_health_kit",` + samples(1) + `}`, ""},
		{"POST", "/v2/timeseries", `{"stage":"daily","provider":"apple_health_kit","users":[{"user_id":"` + b.user + `","series":{"heartrate":[{"timestamp":"2026-03-02T00:00:00Z","value":70,"unit":"bpm"}]}}]}`, ""},
		{"GET", "/v3/orders", "", ""},
	} {
		headers := []string{}
		if c.key != "" {
			headers = append(headers, "Idempotency-Key", c.key)
		}
		_, code := b.request(b.Service, c.method, c.path, c.body, headers...)
		codes = append(codes, code)
	}
	_, code := b.request(stranger, "GET", "/v2/user", "")
	return append(codes, code)
}

// recovers waits until a write succeeds again, without a restart.
func (b *brokenPostgres) recovers() {
	b.t.Helper()
	b.proxy.Accept()
	b.eventually(func() bool {
		b.count++
		status, _ := b.create(fmt.Sprint("again-", b.count))
		return status == 200
	}, "no write succeeds")
	b.eventually(func() bool {
		status, _ := b.Call("GET", "/readyz", "")
		return status == 200
	}, "the node is not ready")
}

func (b *brokenPostgres) eventually(done func() bool, problem string) {
	b.t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatal(problem)
		}
	}
}

// notReady waits until the node is not ready for a reason.
func (b *brokenPostgres) notReady(reason string) {
	b.t.Helper()
	var text []byte
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		var status int
		status, text = b.Call("GET", "/readyz", "")
		if status == 503 && strings.Contains(string(text), "[-] database: "+reason+"\n") {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("readiness is %d %s, want %q", status, text, reason)
		}
	}
}

// While PostgreSQL is gone, starts or is full of connections, each request gets 503 with
// Retry-After. Afterwards the service works without a restart.
func TestPostgresFailuresAre503(t *testing.T) {
	d := storetest.NewPostgres(t)
	proxy, proxied := storetest.NewProxy(t, d)
	s := apptest.Start(t, proxied)
	b := &brokenPostgres{Service: s, t: t, proxy: proxy, user: s.NewUser("ann")}
	for _, c := range []struct {
		name, reason string
		fail         func()
	}{
		{"refused", "the database is not reachable", proxy.Refuse},
		{"stalled", "the database is not reachable", proxy.Stall},
		{"starting", "the database is starting or recovering", func() { proxy.RefuseWith("57P03", "the database system is starting up") }},
		{"full", "the database has too many connections", func() { proxy.RefuseWith("53300", "sorry, too many clients already") }},
	} {
		stranger := s.NewTeam(c.name)
		c.fail()
		for _, code := range b.all(stranger) {
			if code != "unavailable" && code != "outcome_unknown" { // a COMMIT of the first request may be the one that broke
				t.Errorf("%s: code %q", c.name, code)
			}
		}
		b.notReady(c.reason)
		b.recovers()
	}
	b.testReadOnly(d)
	b.testCuts()
	b.testEndedSessions(d)
	if strings.Contains(s.Log.String(), storetest.ProxyPassword) {
		t.Error("the log has the password")
	}
	if log := s.Log.String(); !strings.Contains(log, "reason=") {
		t.Error("the log does not say why")
	}
}

// While PostgreSQL is silent and its connections are alive, each request gets 503 with
// Retry-After in bounded time.
func TestSilentPostgresIs503(t *testing.T) {
	proxy, proxied := storetest.NewProxy(t, storetest.NewPostgres(t))
	s := apptest.StartWith(t, proxied, func(o *app.Options) { o.AnswerLimit = 2 * time.Second })
	b := &brokenPostgres{Service: s, t: t, proxy: proxy, user: s.NewUser("ann")}
	stranger := s.NewTeam("stranger")
	for name, c := range map[string]struct {
		code string
		cut  storetest.Cut
	}{
		"frozen-before-statement": {"unavailable", storetest.BeforeStatement},
		"frozen-before-commit":    {"outcome_unknown", storetest.BeforeCommit},
		"frozen-after-commit":     {"outcome_unknown", storetest.AfterCommit},
	} {
		for try := 1; ; try++ {
			proxy.FreezeWith(name, c.cut)
			began := time.Now()
			status, code := b.create(fmt.Sprint(name, "-", try))
			if status != 503 || time.Since(began) > 10*time.Second {
				t.Errorf("%s: %d %s after %v", name, status, code, time.Since(began))
			}
			if !proxy.HasCut() && try < 10 { // a statement or connection before the cut took longer than the limit
				continue
			}
			if code != c.code || !proxy.HasCut() {
				t.Errorf("%s: %s, cut: %t\n%s", name, code, proxy.HasCut(), s.Log.String())
			}
			break
		}
	}
	proxy.Freeze()
	for _, code := range b.all(stranger) {
		if code != "unavailable" && code != "outcome_unknown" {
			t.Errorf("code %q", code)
		}
	}
	b.notReady("the database is not reachable")
	b.recovers()
}

// A read-only server answers reads. Connections that it accepted as a primary are not
// used for writes after the failover.
func (b *brokenPostgres) testReadOnly(d storetest.Database) {
	b.t.Helper()
	admin := superuser(b.t, d)
	name := d.URL[strings.LastIndex(d.URL, "/hale_test_")+1:]
	name, _, _ = strings.Cut(name, "?")
	admin("ALTER DATABASE " + name + " SET default_transaction_read_only = on")
	b.proxy.Close()
	b.notReady("the database is read-only")
	b.count++
	if status, code := b.create(fmt.Sprint("read-only-", b.count)); status != 503 || code != "unavailable" {
		b.t.Errorf("a write: %d %s", status, code)
	}
	if status, _ := b.request(b.Service, "GET", "/v2/user/"+b.user, ""); status != 200 {
		b.t.Errorf("a read: %d", status)
	}
	admin("SET default_transaction_read_only = off; ALTER DATABASE " + name + " RESET default_transaction_read_only")
	b.recovers()
}

// A connection that breaks before a statement changed nothing. One that breaks during
// COMMIT has an unknown outcome, and the same Idempotency-Key makes a repeat safe.
func (b *brokenPostgres) testCuts() {
	b.t.Helper()
	for _, c := range []struct {
		name, code string
		cut        storetest.Cut
		stored     bool
	}{
		{"cut-before-statement", "unavailable", storetest.BeforeStatement, false},
		{"cut-before-commit", "outcome_unknown", storetest.BeforeCommit, false},
		{"cut-after-commit", "outcome_unknown", storetest.AfterCommit, true},
	} {
		for _, headers := range [][]string{nil, {"Idempotency-Key", c.name}} {
			name := fmt.Sprint(c.name, len(headers))
			b.proxy.CutWith(name, c.cut)
			if status, code := b.create(name, headers...); status != 503 || code != c.code || !b.proxy.HasCut() {
				b.t.Errorf("%s: %d %s", name, status, code)
			}
			status, _ := b.request(b.Service, "GET", "/v2/user/resolve/"+name, "")
			if stored := status == 200; stored != c.stored {
				b.t.Errorf("%s: stored is %t", name, stored)
			}
			if headers == nil {
				continue
			}
			res := b.Do("POST", "/v2/user", fmt.Sprintf(`{"client_user_id":%q}`, name), headers...)
			if replayed := res.Header.Get("Idempotent-Replayed") == "true"; res.StatusCode != 200 || replayed != c.stored {
				b.t.Errorf("%s again: %d, replayed is %t", name, res.StatusCode, replayed)
			}
			_ = res.Body.Close()
		}
	}
	b.recovers()
}

// An administrator who ends all sessions, again and again, causes no 500.
func (b *brokenPostgres) testEndedSessions(d storetest.Database) {
	b.t.Helper()
	admin := superuser(b.t, d)
	stop, ended := make(chan struct{}), sync.WaitGroup{}
	ended.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
			}
		}
	})
	stranger := b.Service
	for range 20 {
		b.all(stranger)
	}
	close(stop)
	ended.Wait()
	b.recovers()
}

// superuser returns a function that runs statements on the database of a test, also if
// it is read-only.
func superuser(t *testing.T, d storetest.Database) func(statement string) {
	t.Helper()
	db, err := sql.Open("pgx", storetest.SuperuserURL(t, d))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return func(statement string) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Error(err)
		}
	}
}
