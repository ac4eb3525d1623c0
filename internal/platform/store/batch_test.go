package store_test

import (
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A batch begins its transaction, and its statements see the earlier ones.
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

// A batch that fails leaves no changes, even if the function returns no error.
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

// Finish commits with its batch, or not at all. The listeners are called after it.
func TestFinish(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		notified := 0
		defer db.OnCommit("test", func(uuid.UUID) { notified++ })()
		finish := func(teams ...uuid.UUID) error {
			return db.Write(ctx, func(tx *store.Tx) error {
				tx.Notify("test", teams[0])
				var b store.Batch
				for _, team := range teams {
					b.Exec(nil, `INSERT INTO teams (id, name, environment, settings, created_at) VALUES ($1, $2, $3, '{}', $4)`, team, "One", "sandbox", tx.Now())
				}
				return tx.Finish(ctx, &b)
			})
		}
		one, two := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
		if err := finish(one); err != nil || notified != 1 {
			t.Errorf("%v, notified %d times", err, notified)
		}
		if err := finish(two, one); !store.IsUnique(err) || notified != 1 {
			t.Errorf("a team that exists: %v, notified %d times", err, notified)
		}
		n := -1
		if err := db.Read(ctx, func(tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT COUNT(*) FROM teams WHERE id IN ($1, $2)`, one, two).Scan(&n)
		}); err != nil || n != 1 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}

func TestStatementAfterFinish(t *testing.T) {
	db := storetest.Postgres(t)
	ctx := store.AsSystem(t.Context())
	for name, after := range map[string]func(tx *store.Tx) error{
		"a statement": func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `SELECT 1`)
			return err
		},
		"a batch": func(tx *store.Tx) error {
			var b store.Batch
			b.Exec(nil, `SELECT 1`)
			return tx.Run(ctx, &b)
		},
	} {
		err := db.Write(ctx, func(tx *store.Tx) error {
			var b store.Batch
			b.Exec(nil, `SELECT 1`)
			if err := tx.Finish(ctx, &b); err != nil {
				t.Error(err)
			}
			return after(tx)
		})
		if err == nil {
			t.Errorf("%s after the commit was run", name)
		}
	}
	if err := db.Write(ctx, func(tx *store.Tx) error {
		var b store.Batch
		b.Exec(nil, `SELECT 1 / 0`)
		_ = tx.Finish(ctx, &b)
		return nil
	}); err == nil {
		t.Error("Write returned no error although Finish failed")
	}
}

// PostgreSQL answers the COMMIT of a transaction with a failed statement with
// ROLLBACK and no error. Write must return an error.
func TestIgnoredErrorIsNoCommit(t *testing.T) {
	db := storetest.Postgres(t)
	ctx := store.AsSystem(t.Context())
	err := db.Write(ctx, func(tx *store.Tx) error {
		_, _ = tx.Exec(ctx, `SELECT 1 / 0`)
		return nil
	})
	if err == nil {
		t.Fatal("Write returned no error")
	}
}

// Rows of one table are inserted together, and every changed row is counted.
func TestBatchInsertsRowsTogether(t *testing.T) {
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
						[]any{id, "$1 isn't a placeholder", "sandbox", "{}", tx.Now()}, `ON CONFLICT (id) DO NOTHING`)
				}
				return tx.Run(ctx, &b)
			})
			if err != nil {
				t.Fatal(err)
			}
			return changed
		}
		if one, two := write(), write(); one != n || two != 0 {
			t.Errorf("%d rows were inserted first, %d the second time", one, two)
		}
	})
}
