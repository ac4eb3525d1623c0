package store_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Features that our SQL uses behave the same on both engines. docs/decisions/0002
// explains each.
func TestOneTextForBothEngines(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		in := func(name string, fn func(t *testing.T, tx *store.Tx) error) {
			t.Run(name, func(t *testing.T) {
				if err := db.Write(ctx, func(tx *store.Tx) error { return fn(t, tx) }); err != nil {
					t.Fatal(err)
				}
			})
		}
		in("placeholders bind by number", func(t *testing.T, tx *store.Tx) error {
			var a, b string
			err := tx.QueryRow(ctx, `SELECT CAST($2 AS TEXT), CAST($1 AS TEXT)`, "first", "second").Scan(&a, &b)
			if a != "second" || b != "first" {
				t.Errorf("$2, $1 gave %q, %q", a, b)
			}
			return err
		})
		in("uuids, times and booleans come back", func(t *testing.T, tx *store.Tx) error {
			id := uuid.New()
			if err := addTeam(ctx, tx, id, "team"); err != nil {
				return err
			}
			var got uuid.UUID
			var at time.Time
			var yes bool
			var none *time.Time
			err := tx.QueryRow(ctx, `SELECT id, created_at, name = 'team', CAST(NULL AS BIGINT) FROM teams WHERE id = $1`, id).
				Scan(&got, store.ScanTime(&at), &yes, store.ScanNullTime(&none))
			if got != id || !at.Equal(tx.Now()) || !yes || none != nil {
				t.Errorf("got %v %v %v %v", got, at, yes, none)
			}
			return err
		})
		in("a missing row is ErrNoRows", func(t *testing.T, tx *store.Tx) error {
			var name string
			err := tx.QueryRow(ctx, `SELECT name FROM teams WHERE id = $1`, uuid.New()).Scan(&name)
			if !errors.Is(err, sql.ErrNoRows) {
				t.Errorf("got %v", err)
			}
			return nil
		})
		in("a null filter needs its type", func(t *testing.T, tx *store.Tx) error {
			var n int64
			return tx.QueryRow(ctx, `SELECT count(*) FROM teams WHERE (CAST($1 AS BIGINT) IS NULL OR created_at > $1)`, nil).Scan(&n)
		})
		in("a sum is an integer after a cast", func(t *testing.T, tx *store.Tx) error {
			var n int64
			return tx.QueryRow(ctx, `SELECT CAST(COALESCE(sum(created_at), 0) AS BIGINT) FROM teams`).Scan(&n)
		})
		in("a conflict is not an error", func(t *testing.T, tx *store.Tx) error {
			id := uuid.New()
			for want := int64(1); want >= 0; want-- {
				n, err := tx.Exec(ctx, `INSERT INTO teams (id, name, environment, settings, created_at)
					VALUES ($1, 'twice', 'sandbox', '{}', 0) ON CONFLICT (id) DO NOTHING`, id)
				if err != nil || n != want {
					t.Errorf("%d rows, %v", n, err)
				}
			}
			return nil
		})
		in("LIKE finds a prefix", func(t *testing.T, tx *store.Tx) error {
			if err := addTeam(ctx, tx, uuid.New(), `50%_x`); err != nil {
				return err
			}
			var n int
			err := tx.QueryRow(ctx, `SELECT count(*) FROM teams WHERE name LIKE $1 ESCAPE '\'`, store.LikePrefix(`50%_`)).Scan(&n)
			if n != 1 {
				t.Errorf("%d rows", n)
			}
			return err
		})
	})
}

func TestStrictTablesRefuseWrongTypes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		err := db.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO teams (id, name, environment, settings, created_at) VALUES ($1, 'x', 'sandbox', '{}', $2)`, uuid.New(), "soon")
			return err
		})
		if err == nil {
			t.Fatal("text went into a BIGINT column")
		}
	})
}

func TestIsUnique(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		id := uuid.New()
		err := db.Write(ctx, func(tx *store.Tx) error {
			if err := addTeam(ctx, tx, id, "a"); err != nil {
				return err
			}
			return addTeam(ctx, tx, id, "b")
		})
		if !store.IsUnique(err) {
			t.Fatalf("got %v", err)
		}
	})
}
