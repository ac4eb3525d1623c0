package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/pgtemp"
	"hale/internal/platform/store/storetest"
)

// setIsolation sets the default isolation of new connections to a database.
func setIsolation(t *testing.T, d storetest.Database, isolation string) {
	t.Helper()
	name := d.URL[strings.LastIndex(strings.Split(d.URL, "?")[0], "/")+1:]
	name, _, _ = strings.Cut(name, "?")
	if err := pgtemp.Exec(context.Background(), d.URL, fmt.Sprintf(`ALTER DATABASE %s SET default_transaction_isolation = '%s'`, name, isolation)); err != nil {
		t.Fatal(err)
	}
}

// After it acquires a lock, a write sees the commits made under the lock, whatever the
// default isolation. The same goes for migrations.
func TestWritesSetTheirIsolation(t *testing.T) {
	for _, isolation := range []string{"repeatable read", "serializable"} {
		t.Run(isolation, func(t *testing.T) {
			d := storetest.NewPostgres(t)
			setIsolation(t, d, isolation)
			db := d.Open(t, nil)
			ctx := store.AsSystem(t.Context())
			locked, counted, result := make(chan struct{}), make(chan struct{}), make(chan int)
			go func() {
				<-locked
				n, tries := 0, 0
				err := db.Write(ctx, func(tx *store.Tx) error {
					tries++
					if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM teams`).Scan(&n); err != nil {
						return err
					}
					if tries == 1 {
						close(counted)
					}
					if err := tx.Lock(ctx, "test"); err != nil {
						return err
					}
					return tx.QueryRow(ctx, `SELECT COUNT(*) FROM teams`).Scan(&n)
				})
				if err != nil || tries != 1 {
					t.Errorf("%v after %d tries", err, tries)
				}
				result <- n
			}()
			write(t, db, func(tx *store.Tx) error {
				if err := tx.Lock(ctx, "test"); err != nil {
					return err
				}
				close(locked)
				<-counted
				return addTeam(ctx, tx, uuid.New(), "first")
			})
			if n := <-result; n != 1 {
				t.Errorf("%d teams after the lock", n)
			}
		})
	}
	const begun = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\n"
	if text := store.Translate(store.Postgres, "-- +goose Up\nSELECT 1;\n"); !strings.HasPrefix(text, "-- +goose Up\n"+begun) {
		t.Errorf("a migration begins with\n%s", text)
	}
}

// An empty database with a stricter default isolation can be migrated.
func TestMigrateWithStricterDefault(t *testing.T) {
	d := storetest.NewPostgres(t)
	if err := pgtemp.Exec(context.Background(), d.URL, `DROP SCHEMA public CASCADE; CREATE SCHEMA public`); err != nil {
		t.Fatal(err)
	}
	setIsolation(t, d, "serializable")
	db := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	if n := teamNames(t, db); n != 0 {
		t.Errorf("%d teams", n)
	}
}

func TestBypassesRowSecurity(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if bypasses, err := db.BypassesRowSecurity(store.AsSystem(t.Context())); err != nil || bypasses {
			t.Errorf("%t, %v", bypasses, err)
		}
	})
	cluster, err := pgtemp.Start(t.Context(), pgtemp.Fast)
	if errors.Is(err, pgtemp.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	db, err := store.Open(t.Context(), store.Options{URL: cluster.URL(), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if bypasses, err := db.BypassesRowSecurity(store.AsSystem(t.Context())); err != nil || !bypasses {
		t.Errorf("a superuser: %t, %v", bypasses, err)
	}
}
