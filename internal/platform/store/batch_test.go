package store_test

import (
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A batch begins its transaction, sees what its earlier statements did, and
// tells of every row.
func TestBatchRunsInOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		team := uuid.Must(uuid.NewV7())
		var changed int64
		var name string
		var id uuid.UUID
		err := db.Write(ctx, func(tx *store.Tx) error {
			var b store.Batch
			b.Exec(&changed, `INSERT INTO teams (id, name, environment, settings, created_at) VALUES ($1, $2, $3, '{}', $4)`, team, "One", "sandbox", tx.Now())
			b.Query(func(row store.Scanner) error { return row.Scan(&id, &name) }, `SELECT id, name FROM teams WHERE id = $1`, team)
			return tx.Run(ctx, &b)
		})
		if err != nil || changed != 1 || name != "One" || id != team {
			t.Fatalf("changed %d, read %q %s: %v", changed, name, id, err)
		}
	})
}

// A batch that fails half way leaves nothing, even where the function goes on.
func TestFailedBatchCommitsNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		team := uuid.Must(uuid.NewV7())
		err := db.Write(ctx, func(tx *store.Tx) error {
			var b store.Batch
			for range 2 {
				b.Exec(nil, `INSERT INTO teams (id, name, environment, settings, created_at) VALUES ($1, $2, $3, '{}', $4)`, team, "Twice", "sandbox", tx.Now())
			}
			return tx.Run(ctx, &b)
		})
		if !store.IsUnique(err) {
			t.Fatalf("the second row of the same team: %v", err)
		}
		n := -1
		if err := db.Read(ctx, func(tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT COUNT(*) FROM teams WHERE id = $1`, team).Scan(&n)
		}); err != nil || n != 0 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}

// PostgreSQL answers the COMMIT of a transaction in which a statement failed
// with a rollback and no error. Write must not take that for durable.
func TestSwallowedErrorIsNoCommit(t *testing.T) {
	db := storetest.Postgres(t)
	ctx := store.AsSystem(t.Context())
	err := db.Write(ctx, func(tx *store.Tx) error {
		_, _ = tx.Exec(ctx, `SELECT 1 / 0`)
		return nil
	})
	if err == nil {
		t.Fatal("the transaction counted as committed")
	}
}

// Rows of one table are written together, whatever was added between them, and
// every changed row is counted.
func TestBatchGathersRows(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		const n = 77 // 32 + 32 + 8 + 4 + 1
		first := uuid.Must(uuid.NewV7())
		write := func() (changed int64) {
			err := db.Write(ctx, func(tx *store.Tx) error {
				changed = 0
				var b store.Batch
				for i := range n {
					id := first
					id[15] += byte(i)
					b.Insert(&changed, `INSERT INTO teams (id, name, environment, settings, created_at)`,
						[]any{id, "$1 isn't a place", "sandbox", "{}", tx.Now()}, `ON CONFLICT (id) DO NOTHING`)
				}
				return tx.Run(ctx, &b)
			})
			if err != nil {
				t.Fatal(err)
			}
			return changed
		}
		if one, two := write(), write(); one != n || two != 0 {
			t.Errorf("%d rows were written, and %d when they were there", one, two)
		}
	})
}
