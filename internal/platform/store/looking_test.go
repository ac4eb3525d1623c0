package store_test

import (
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Looking at a database that nobody has migrated leaves it as it is.
func TestLookingAtMigrationsMakesNothing(t *testing.T) {
	db := storetest.Postgres(t)
	ctx := store.AsSystem(t.Context())
	write := func(query string) {
		t.Helper()
		if err := db.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, query)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	write(`DROP SCHEMA public CASCADE`)
	write(`CREATE SCHEMA public`)
	if err := db.RefuseNewer(ctx); err != nil {
		t.Error(err)
	}
	all, err := db.Migrations(ctx)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d migrations, %v", len(all), err)
	}
	for i, m := range all {
		if m.Applied || m.Name == "" || i > 0 && m.Version <= all[i-1].Version {
			t.Errorf("migration %d is %+v", i, m)
		}
	}
	var tables int64
	if err := db.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'`).Scan(&tables)
	}); err != nil || tables != 0 {
		t.Errorf("%d tables were made, %v", tables, err)
	}
}
