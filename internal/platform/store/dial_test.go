package store_test

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// checkDuration checks that fn takes at most limit.
func checkDuration(t *testing.T, what string, limit time.Duration, fn func()) {
	t.Helper()
	began := time.Now()
	fn()
	if took := time.Since(began); took > limit {
		t.Errorf("%s took %v", what, took)
	}
}

// silentPostgres is a database behind a proxy that fails without closing connections.
type silentPostgres struct {
	db    *store.DB
	proxy *storetest.Proxy
}

func openSilent(t *testing.T, answerLimit time.Duration) silentPostgres {
	t.Helper()
	proxy, d := storetest.NewProxy(t, storetest.NewPostgres(t))
	db, err := store.Open(t.Context(), store.Options{URL: d.URL, Root: new(secrets.Root), Conns: 4, AnswerLimit: answerLimit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return silentPostgres{db, proxy}
}

func sleep(ctx context.Context, seconds string) func(tx *store.Tx) error {
	return func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, "SELECT pg_sleep("+seconds+")")
		if err != nil {
			return err
		}
		for rows.Next() { //nolint:revive // to the end of the answer
		}
		_ = rows.Close()
		return rows.Err()
	}
}

// testSilence checks a read, a write and the idle connections of the pool while silence
// lasts, and that the pool replaces its connections afterwards.
func (s silentPostgres) testSilence(t *testing.T, silence func(), limit time.Duration) {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	for range 2 { // the second round has new connections
		checkDuration(t, "a read", limit, func() {
			unavailable(t, "a read", s.db.Read(ctx, func(tx *store.Tx) error {
				if err := sleep(ctx, "0")(tx); err != nil {
					t.Error(err)
				}
				silence()
				return sleep(ctx, "0")(tx)
			}))
		})
		checkDuration(t, "a write after it", limit, func() { unavailable(t, "a write after it", s.db.Ping(ctx)) })
		s.proxy.Accept()
		checkDuration(t, "recovery", limit, func() {
			for err := s.db.Ping(ctx); err != nil; err = s.db.Ping(ctx) {
				unavailable(t, "recovery", err)
			}
		})
	}
}

// A server that is silent, although its connections are alive, fails each statement after
// the limit.
func TestSilentServerIsUnavailable(t *testing.T) {
	s := openSilent(t, 2*time.Second)
	s.testSilence(t, s.proxy.Freeze, 30*time.Second)
	ctx := store.AsSystem(t.Context())

	s.proxy.FreezeWith("frozen-statement", storetest.BeforeStatement)
	checkDuration(t, "a statement", 10*time.Second, func() {
		unavailable(t, "a statement", s.db.Write(ctx, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "frozen-statement") }))
	})
	for cut, stored := range map[storetest.Cut]int{storetest.BeforeCommit: 0, storetest.AfterCommit: 1} {
		before := teamNames(t, s.db)
		s.proxy.FreezeWith("frozen-commit", cut)
		checkDuration(t, "a COMMIT", 10*time.Second, func() {
			outcomeUnknown(t, "a COMMIT", s.db.Write(ctx, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "frozen-commit") }))
		})
		if n := teamNames(t, s.db) - before; n != stored {
			t.Errorf("%d rows, want %d", n, stored)
		}
	}
}

// The limit does not end long work whose context has a deadline, nor a Scan. It applies
// again to the next transaction on the same connection.
func TestAnswerLimitSparesLongWork(t *testing.T) {
	db, err := store.Open(t.Context(), store.Options{URL: storetest.NewPostgres(t).URL, Root: new(secrets.Root), Conns: 1, AnswerLimit: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := store.AsSystem(t.Context())
	long, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for range 2 {
		if err := db.Scan(ctx, sleep(ctx, "2")); err != nil {
			t.Errorf("a scan: %v", err)
		}
		if err := db.Write(long, sleep(long, "2")); err != nil {
			t.Errorf("with a deadline: %v", err)
		}
		unavailable(t, "an ordinary read", db.Read(ctx, sleep(ctx, "2")))
	}
	if err := db.Migrate(ctx); err != nil {
		t.Errorf("migrating: %v", err)
	}
}

// timedOut is a connection that the operating system ended, as after lost packets.
type timedOut struct{ net.Conn }

func (timedOut) SetReadDeadline(time.Time) error { return nil }

func (timedOut) Read([]byte) (int, error) {
	return 0, &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)}
}

// The driver keeps a connection after a timeout. So lost packets must not look like one.
func TestLostPacketsAreNoTimeout(t *testing.T) {
	_, err := store.LimitedConn(timedOut{}, time.Minute).Read(nil)
	var timeout net.Error
	if !errors.Is(err, store.ErrNoAnswer) || errors.As(err, &timeout) {
		t.Errorf("%#v", err)
	}
}

// PostgreSQL notices a node that vanished. It then releases the locks of its transactions.
func TestServerNoticesLostNode(t *testing.T) {
	d := storetest.NewPostgres(t)
	d.URL += "&tcp_keepalives_idle=30" // an address may have its own value
	db := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	for name, want := range map[string]string{
		"tcp_keepalives_idle": "30", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3", "tcp_user_timeout": "20000",
	} {
		var got string
		err := db.Read(ctx, func(tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT reset_val FROM pg_settings WHERE name = $1`, name).Scan(&got)
		})
		if err != nil || got != want {
			t.Errorf("%s is %s: %v", name, got, err)
		}
	}
}
