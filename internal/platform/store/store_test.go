package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

func addTeam(ctx context.Context, tx *store.Tx, id uuid.UUID, name string) error {
	_, err := tx.Exec(ctx, `INSERT INTO teams (id, name, environment, settings, created_at) VALUES ($1, $2, 'sandbox', '{}', $3)`, id, name, tx.Now())
	return err
}

func teamNames(t *testing.T, db *store.DB) int {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	var n int
	if err := db.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM teams`).Scan(&n)
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFailedMemberFailsAlone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		boom := errors.New("boom")
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				err := db.Write(ctx, func(tx *store.Tx) error {
					if err := addTeam(ctx, tx, uuid.New(), fmt.Sprint(i)); err != nil {
						return err
					}
					if i%4 == 0 {
						return boom
					}
					return nil
				})
				if i%4 == 0 != errors.Is(err, boom) {
					t.Errorf("write %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if n := teamNames(t, db); n != 150 {
			t.Fatalf("%d rows of 150", n)
		}
	})
}

func TestPanicReachesItsCaller(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = db.Write(ctx, func(tx *store.Tx) error {
				_ = addTeam(ctx, tx, uuid.New(), "lost")
				panic("boom")
			})
		}()
		if err := db.Write(ctx, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "kept") }); err != nil {
			t.Fatal(err)
		}
		if n := teamNames(t, db); n != 1 {
			t.Fatalf("%d rows of 1", n)
		}
	})
}

func TestAfterCommitRunsOnlyThen(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		ran := 0
		_ = db.Write(ctx, func(tx *store.Tx) error { tx.AfterCommit(func() { ran++ }); return errors.New("no") })
		if ran != 0 {
			t.Fatal("ran after a rollback")
		}
		_ = db.Write(ctx, func(tx *store.Tx) error { tx.AfterCommit(func() { ran++ }); return nil })
		if ran != 1 {
			t.Fatal("did not run after a commit")
		}
	})
}

func TestWithExtraWrite(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		base := store.AsSystem(t.Context())
		ctx := store.WithExtraWrite(base, func(tx *store.Tx) error { return addTeam(base, tx, uuid.New(), "beside") })
		if err := db.Write(ctx, func(*store.Tx) error { return errors.New("no") }); err == nil {
			t.Fatal("no error")
		}
		if n := teamNames(t, db); n != 0 {
			t.Fatalf("%d rows after a rollback", n)
		}
		if err := db.Write(ctx, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "change") }); err != nil {
			t.Fatal(err)
		}
		if n := teamNames(t, db); n != 2 {
			t.Fatalf("%d rows of 2", n)
		}
	})
}

func TestPeekSeesTheNewestState(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		write(t, db, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "x") })
		var n int
		if err := db.Peek(ctx, func(tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT count(*) FROM teams`).Scan(&n)
		}); err != nil || n != 1 {
			t.Fatalf("%d rows of 1: %v", n, err)
		}
	})
}

// The end of the context interrupts a read in the middle of a statement. The
// connection can be used again.
func TestReadsEndWithTheirContext(t *testing.T) {
	const endless = `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n % 1000 + 1 FROM c) SELECT COUNT(*) FROM c`
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for range 5 { // more than there are connections
			ctx, cancel := context.WithTimeout(store.AsSystem(t.Context()), 20*time.Millisecond)
			defer cancel()
			var n int
			began := time.Now()
			err := db.Read(ctx, func(tx *store.Tx) error { return tx.QueryRow(ctx, endless).Scan(&n) })
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
		}
		if n := teamNames(t, db); n != 0 {
			t.Errorf("%d teams", n)
		}
	})
}

func TestLostRaceIsRetried(t *testing.T) {
	db := storetest.Postgres(t)
	ctx := store.AsSystem(t.Context())
	runs := 0
	err := db.Write(ctx, func(*store.Tx) error {
		if runs++; runs < 3 {
			return store.ErrLostRace
		}
		return nil
	})
	if err != nil || runs != 3 {
		t.Fatalf("%d runs: %v", runs, err)
	}
}

func TestSealing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		team, user, other := uuid.New(), uuid.New(), uuid.New()
		var sealed []byte
		write(t, db, func(tx *store.Tx) (err error) {
			sealed, err = tx.Seal(ctx, team, user, "t.c:1", []byte("secret"))
			return err
		})
		open := func(team, user uuid.UUID, where string, value []byte) (plain []byte, err error) {
			err = db.Read(ctx, func(tx *store.Tx) error {
				plain, err = tx.Unseal(ctx, team, user, where, value)
				return err
			})
			return plain, err
		}
		if plain, err := open(team, user, "t.c:1", sealed); err != nil || string(plain) != "secret" {
			t.Fatalf("%q, %v", plain, err)
		}
		if bytes.Contains(sealed, []byte("secret")) {
			t.Fatal("sealed value shows its text")
		}
		for name, f := range map[string]func() ([]byte, error){
			"another row":  func() ([]byte, error) { return open(team, user, "t.c:2", sealed) },
			"another user": func() ([]byte, error) { return open(team, other, "t.c:1", sealed) },
			"another team": func() ([]byte, error) { return open(other, user, "t.c:1", sealed) },
			"damage":       func() ([]byte, error) { return open(team, user, "t.c:1", append([]byte{sealed[0], 9}, sealed[2:]...)) },
			"empty":        func() ([]byte, error) { return open(team, user, "t.c:1", nil) },
		} {
			if plain, err := f(); err == nil {
				t.Errorf("%s: opened to %q", name, plain)
			}
		}
		write(t, db, func(tx *store.Tx) error { return tx.Shred(ctx, team, user) })
		if _, err := open(team, user, "t.c:1", sealed); !errors.Is(err, store.ErrNoKey) {
			t.Fatalf("after shredding: %v", err)
		}
	})
}

// The next transaction must not use a key that a rolled back transaction made.
// Otherwise data that the key sealed would be lost at the next start.
func TestRolledBackKeyIsNotCached(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		ctx := store.AsSystem(t.Context())
		db := d.Open(t, nil)
		team, user := uuid.New(), uuid.New()
		_ = db.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Seal(ctx, team, user, "t.c:1", []byte("a"))
			return errors.Join(err, errors.New("no"))
		})
		var sealed []byte
		write(t, db, func(tx *store.Tx) (err error) {
			sealed, err = tx.Seal(ctx, team, user, "t.c:1", []byte("b"))
			return err
		})
		again := d.Open(t, nil)
		err := again.Read(ctx, func(tx *store.Tx) error {
			plain, err := tx.Unseal(ctx, team, user, "t.c:1", sealed)
			if err == nil && string(plain) != "b" {
				err = fmt.Errorf("opened to %q", plain)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestRowSecurity(t *testing.T) {
	db := storetest.Postgres(t)
	mine, theirs := uuid.New(), uuid.New()
	for _, team := range []uuid.UUID{mine, theirs} {
		write(t, db, func(tx *store.Tx) error {
			_, err := tx.Seal(t.Context(), team, uuid.Nil, "t.c:1", []byte("x"))
			return err
		})
	}
	count := func(ctx context.Context) (n int) {
		if err := db.Read(ctx, func(tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT count(*) FROM sealing_keys`).Scan(&n)
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(store.AsSystem(t.Context())); n != 2 {
		t.Errorf("the system sees %d of 2 rows", n)
	}
	if n := count(store.WithTeam(t.Context(), mine)); n != 1 {
		t.Errorf("a team sees %d of 1 row", n)
	}
	if n := count(t.Context()); n != 0 {
		t.Errorf("a reader without a team sees %d rows", n)
	}
	ctx := store.WithTeam(t.Context(), mine)
	err := db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO sealing_keys (team_id, subject_id, number, wrapped, created_at) VALUES ($1, $1, 1, $2, 0)`, theirs, []byte{1})
		return err
	})
	if err == nil {
		t.Error("a team wrote another team's row")
	}
}

func TestBackupDuringWrites(t *testing.T) {
	db := storetest.SQLite(t)
	ctx := store.AsSystem(t.Context())
	stop, written := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				write(t, db, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "x") })
			}
			if n == 10 {
				close(written)
			}
		}
	})
	<-written
	path := filepath.Join(t.TempDir(), "copy.db")
	err := db.Backup(ctx, path)
	close(stop)
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	root, err := secrets.ParseRoot("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	if err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(ctx, store.Options{URL: path, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Check(ctx); err != nil {
		t.Fatal(err)
	}
	if n := teamNames(t, again); n == 0 || n > teamNames(t, db) {
		t.Fatalf("%d rows in the copy", n)
	}
	if err := db.Backup(ctx, path); err == nil {
		t.Fatal("a backup overwrote a file")
	}
}

func TestMigrationsAreApplied(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if err := db.Migrate(t.Context()); err != nil { // a second time changes nothing
			t.Fatal(err)
		}
		all, err := db.Migrations(t.Context())
		if err != nil || len(all) == 0 {
			t.Fatalf("%d migrations: %v", len(all), err)
		}
		for _, m := range all {
			if !m.Applied {
				t.Errorf("%s is not applied", m.Name)
			}
		}
	})
}

func write(t *testing.T, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Write(store.AsSystem(context.Background()), fn); err != nil {
		t.Error(err)
	}
}
