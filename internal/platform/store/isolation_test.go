package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/pgtemp"
	"hale/internal/platform/store/storetest"
)

// stricter makes an isolation the default of a database, for connections to come.
func stricter(t *testing.T, d storetest.Database, isolation string) {
	t.Helper()
	name := d.URL[strings.LastIndex(strings.Split(d.URL, "?")[0], "/")+1:]
	name, _, _ = strings.Cut(name, "?")
	if err := pgtemp.Exec(context.Background(), d.URL, fmt.Sprintf(`ALTER DATABASE %s SET default_transaction_isolation = '%s'`, name, isolation)); err != nil {
		t.Fatal(err)
	}
}

// What follows a lock sees what was committed before the lock was free, whatever
// isolation is the default of the role or the database, and so do migrations.
func TestWritesSayHowTheyAreIsolated(t *testing.T) {
	for _, isolation := range []string{"repeatable read", "serializable"} {
		t.Run(isolation, func(t *testing.T) {
			d := storetest.NewPostgres(t)
			stricter(t, d, isolation)
			db := d.Open(t, nil)
			ctx := store.AsSystem(t.Context())
			held, looked, seen := make(chan struct{}), make(chan struct{}), make(chan int)
			go func() {
				<-held
				n, tries := 0, 0
				err := db.Write(ctx, func(tx *store.Tx) error {
					tries++
					if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM teams`).Scan(&n); err != nil {
						return err
					}
					if tries == 1 {
						close(looked)
					}
					if err := tx.Lock(ctx, "test"); err != nil {
						return err
					}
					return tx.QueryRow(ctx, `SELECT COUNT(*) FROM teams`).Scan(&n)
				})
				if err != nil || tries != 1 {
					t.Errorf("%v after %d tries", err, tries)
				}
				seen <- n
			}()
			write(t, db, func(tx *store.Tx) error {
				if err := tx.Lock(ctx, "test"); err != nil {
					return err
				}
				close(held)
				<-looked
				return addTeam(ctx, tx, uuid.New(), "first")
			})
			if n := <-seen; n != 1 {
				t.Errorf("%d teams after the lock", n)
			}
		})
	}
	const begun = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\n"
	if text := store.Translate(store.Postgres, "-- +goose Up\nSELECT 1;\n"); !strings.HasPrefix(text, "-- +goose Up\n"+begun) {
		t.Errorf("a migration begins with\n%s", text)
	}
}

// A database whose default is stricter is migrated from its beginning.
func TestMigratingUnderAStricterDefault(t *testing.T) {
	d := storetest.NewPostgres(t)
	if err := pgtemp.Exec(context.Background(), d.URL, `DROP SCHEMA public CASCADE; CREATE SCHEMA public`); err != nil {
		t.Fatal(err)
	}
	stricter(t, d, "serializable")
	db := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	if n := teamNames(t, db); n != 0 {
		t.Errorf("%d teams", n)
	}
}
