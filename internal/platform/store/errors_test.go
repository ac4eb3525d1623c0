package store_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// unavailable checks that err is an Unavailable with a cause.
func unavailable(t *testing.T, what string, err error) {
	t.Helper()
	var down *store.Unavailable
	if !fault.Is(err, fault.Unavailable) || !errors.As(err, &down) || down.Cause == nil {
		t.Errorf("%s: %v", what, err)
	}
}

// Migrations use another driver, whose errors of a full disk are recognized too.
func TestFullDiskInAMigration(t *testing.T) {
	pool, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "full.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1) // the bound is that of a connection
	_, err = pool.ExecContext(t.Context(), `PRAGMA max_page_count = 2; CREATE TABLE big (b BLOB); INSERT INTO big VALUES (zeroblob(100000))`)
	if !store.IsFull(err) || store.IsIOError(err) {
		t.Errorf("%v", err)
	}
}

// A full disk fails writes and no reads. Writes work again once there is room.
func TestFullDiskIsUnavailable(t *testing.T) {
	db := storetest.SQLite(t)
	ctx := store.AsSystem(t.Context())
	room := func(pages string) {
		write(t, db, func(tx *store.Tx) error {
			rows, err := tx.Query(ctx, `PRAGMA max_page_count = `+pages)
			return errors.Join(err, rows.Close())
		})
	}
	room("1") // SQLite raises it to the current number of pages
	err := db.Write(ctx, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), strings.Repeat("x", 100_000)) })
	unavailable(t, "without room", err)
	if n := teamNames(t, db); n != 0 {
		t.Errorf("%d rows", n)
	}
	room("1000000")
	if err := db.Write(ctx, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "kept") }); err != nil {
		t.Error(err)
	}
}

func TestLostConnectionIsUnavailable(t *testing.T) {
	db := storetest.Postgres(t)
	ctx := store.AsSystem(t.Context())
	end := func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `SELECT pg_terminate_backend(pg_backend_pid())`)
		return err
	}
	unavailable(t, "a read", db.Read(ctx, end))
	unavailable(t, "a write", db.Write(ctx, end))
	unavailable(t, "a write after it", db.Write(ctx, func(tx *store.Tx) error {
		_ = end(tx)
		return addTeam(ctx, tx, uuid.New(), "lost")
	}))
	if n := teamNames(t, db); n != 0 {
		t.Errorf("%d rows", n)
	}
}

// A server that became a standby, or is read-only while it fails over, accepts writes
// later.
func TestReadOnlyServerIsUnavailable(t *testing.T) {
	d := storetest.NewPostgres(t)
	d.URL += "&default_transaction_read_only=on"
	db, err := store.Open(t.Context(), store.Options{URL: d.URL, Root: new(secrets.Root)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	unavailable(t, "a read-only server", db.Write(store.AsSystem(t.Context()), func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE instance SET pinged_at = 1`)
		return err
	}))
}

// outcomeUnknown checks that err is an OutcomeUnknown, which does not promise that
// nothing changed.
func outcomeUnknown(t *testing.T, what string, err error) {
	t.Helper()
	var unknown *store.OutcomeUnknown
	var down *store.Unavailable
	if !errors.As(err, &unknown) || errors.As(err, &down) || fault.CodeOf(err) != "outcome_unknown" || !strings.Contains(err.Error(), "committing") {
		t.Errorf("%s: %v", what, err)
	}
}

// A write whose connection broke during COMMIT may be committed.
func TestCommitWithUnknownOutcome(t *testing.T) {
	db := storetest.Postgres(t)
	ctx := store.AsSystem(t.Context())
	exec(ctx, t, db, `CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`)
	exec(ctx, t, db, `CREATE CONSTRAINT TRIGGER leave AFTER INSERT ON teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION leave()`)
	outcomeUnknown(t, "ended by the server", db.Write(ctx, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "x") }))
}

// Write runs the function of a lost COMMIT once, whether PostgreSQL carried it out or
// not.
func TestLostCommit(t *testing.T) {
	proxy, d := storetest.NewProxy(t, storetest.NewPostgres(t))
	db := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	lose := func(cut storetest.Cut, stored int, write func(tx *store.Tx) error) {
		t.Helper()
		before, runs := teamNames(t, db), 0
		proxy.CutWith("lost-commit", cut)
		err := db.Write(ctx, func(tx *store.Tx) error {
			runs++
			return write(tx)
		})
		outcomeUnknown(t, "a lost COMMIT", err)
		if n := teamNames(t, db) - before; n != stored || runs != 1 || !proxy.HasCut() {
			t.Errorf("%d rows, want %d; %d runs", n, stored, runs)
		}
	}
	add := func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "lost-commit") }
	lose(storetest.BeforeCommit, 0, add)
	lose(storetest.AfterCommit, 1, add)
	lose(storetest.AfterCommit, 1, func(tx *store.Tx) error {
		var b store.Batch
		b.Exec(nil, `INSERT INTO teams (id, name, environment, settings, created_at) VALUES ($1, 'lost-commit', 'sandbox', '{}', $2)`, uuid.New(), tx.Now())
		return tx.Finish(ctx, &b)
	})

	proxy.CutWith("lost-statement", storetest.BeforeStatement)
	unavailable(t, "a lost statement", db.Write(ctx, func(tx *store.Tx) error {
		_ = addTeam(ctx, tx, uuid.New(), "lost-statement")
		return nil // so a COMMIT follows, which cannot be sent
	}))
	if n := teamNames(t, db); n != 2 {
		t.Errorf("%d rows", n)
	}
}

// A COMMIT that PostgreSQL refuses changes nothing, which is known.
func TestRefusedCommit(t *testing.T) {
	db := storetest.Postgres(t)
	ctx := store.AsSystem(t.Context())
	exec(ctx, t, db, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN IF NEW.name = 'full' THEN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END IF; RAISE EXCEPTION 'no'; END $$`)
	exec(ctx, t, db, `CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`)
	add := func(name string) error {
		return db.Write(ctx, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), name) })
	}
	unavailable(t, "a full disk", add("full"))
	if err := add("x"); err == nil || fault.KindOf(err) != fault.Internal {
		t.Errorf("an error of the program: %v", err)
	}
}

// The reasons name the failure and contain neither addresses nor passwords.
func TestReasonsOfUnavailable(t *testing.T) {
	proxy, d := storetest.NewProxy(t, storetest.NewPostgres(t))
	db := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	for _, c := range []struct {
		fail func()
		want string
	}{
		{proxy.Refuse, "not reachable"},
		{proxy.Stall, "not reachable"},
		{func() { proxy.RefuseWith("57P03", "the database system is starting up") }, "starting or recovering"},
		{func() { proxy.RefuseWith("57P01", "terminating connection due to administrator command") }, "stopping"},
		{func() { proxy.RefuseWith("53300", "sorry, too many clients already") }, "too many connections"},
		{func() { proxy.RefuseWith("28P01", "password authentication failed") }, "refuses the connection"},
	} {
		proxy.Accept()
		c.fail()
		var down *store.Unavailable
		err := db.Ping(ctx) // its connection may be one that just broke
		if err = errors.Join(err, db.Ping(ctx)); !errors.As(db.Ping(ctx), &down) || !strings.Contains(down.Reason(), c.want) {
			t.Errorf("%s: %v", c.want, err)
		}
		if strings.Contains(err.Error(), storetest.ProxyPassword) {
			t.Errorf("%s: the error has the password", c.want)
		}
	}
	proxy.Accept()
	if err := db.Ping(ctx); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// After a failover, connections to the old primary, which is read-only now, leave the
// pool.
func TestReadOnlyConnectionsAreReplaced(t *testing.T) {
	d := storetest.NewPostgres(t)
	db, err := store.Open(t.Context(), store.Options{URL: d.URL, Root: new(secrets.Root), Conns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := store.AsSystem(t.Context())
	err = db.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT set_config('default_transaction_read_only', 'on', FALSE)`)
		if err != nil {
			return err
		}
		return rows.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	var down *store.Unavailable
	if err := db.Ping(ctx); !errors.As(err, &down) || down.Reason() != "the database is read-only" {
		t.Errorf("got %v", err)
	}
	if err := db.Ping(ctx); err != nil {
		t.Errorf("the connection is still in the pool: %v", err)
	}
}

// An address with several servers finds the one that accepts writes.
func TestAddressWithSeveralServers(t *testing.T) {
	proxy, d := storetest.NewProxy(t, storetest.NewPostgres(t))
	d.URL = strings.Replace(d.URL, "@", "@127.0.0.1:1,", 1) + "&target_session_attrs=read-write"
	db := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	if err := db.Ping(ctx); err != nil {
		t.Error(err)
	}
	proxy.Refuse()
	unavailable(t, "without a server", errors.Join(db.Ping(ctx), db.Ping(ctx)))
}

func TestMissingDatabaseIsUnavailable(t *testing.T) {
	_, err := store.Open(t.Context(), store.Options{URL: "postgres://hale@127.0.0.1:1/hale", Root: new(secrets.Root)})
	unavailable(t, "opening", err)
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		db, err := store.Open(t.Context(), store.Options{URL: d.URL, Dir: d.Dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		unavailable(t, "after closing", db.Read(store.AsSystem(t.Context()), func(*store.Tx) error { return nil }))
	})
}

// Errors of the function, and a caller that leaves, are not failures of the database.
func TestOtherErrorsAreUnchanged(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		refused := fault.New(fault.Refused, "no")
		for name, fn := range map[string]func(tx *store.Tx) error{
			"a refusal": func(*store.Tx) error { return refused },
			"an error":  func(*store.Tx) error { return errors.New("no") },
			"bad SQL":   func(tx *store.Tx) error { _, err := tx.Exec(ctx, `SELECT nothing`); return err },
			"no such file": func(*store.Tx) error {
				_, err := filepath.EvalSymlinks(filepath.Join(t.TempDir(), "x"))
				return err
			},
		} {
			if err := db.Write(ctx, fn); err == nil || fault.Is(err, fault.Unavailable) {
				t.Errorf("%s: %v", name, err)
			}
		}
		gone, leave := context.WithCancel(ctx)
		err := db.Write(gone, func(tx *store.Tx) error {
			leave()
			return errors.Join(addTeam(gone, tx, uuid.New(), "x"), gone.Err())
		})
		if err == nil || fault.Is(err, fault.Unavailable) {
			t.Errorf("after a caller left: %v", err)
		}
	})
}

// The message for callers names a full disk and no other cause.
func TestUnavailableMessage(t *testing.T) {
	down := &store.Unavailable{Cause: store.ErrClosed}
	if text := down.Message(); strings.Contains(text, "full") || strings.Contains(text, "closed") {
		t.Error(text)
	}
}
