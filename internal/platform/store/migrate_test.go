package store_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// eachOlder runs fn on each engine with a database that has an older schema.
func eachOlder(t *testing.T, version int64, fn func(t *testing.T, db *store.DB)) {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	t.Run("sqlite", func(t *testing.T) {
		migrateTo(ctx, t, storetest.Database{Engine: store.SQLite, Dir: t.TempDir()}.Open(t, nil), version, fn)
	})
	t.Run("postgres", func(t *testing.T) {
		db := storetest.Postgres(t)
		exec(ctx, t, db, `DROP SCHEMA public CASCADE`)
		exec(ctx, t, db, `CREATE SCHEMA public`)
		migrateTo(ctx, t, db, version, fn)
	})
}

func migrateTo(ctx context.Context, t *testing.T, db *store.DB, version int64, fn func(t *testing.T, db *store.DB)) {
	t.Helper()
	if err := db.MigrateTo(ctx, version); err != nil {
		t.Fatal(err)
	}
	fn(t, db)
}

func exec(ctx context.Context, t *testing.T, db *store.DB, query string, args ...any) {
	t.Helper()
	write(t, db, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
}

// countRows returns the result of a COUNT query over all teams.
func countRows(t *testing.T, db *store.DB, query string) (n int) {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	if err := db.Read(ctx, func(tx *store.Tx) error { return tx.QueryRow(ctx, query).Scan(&n) }); err != nil {
		t.Fatal(err)
	}
	return n
}

// A migration changes the rows of every team, even if row-level security applies to
// its role.
func TestMigrationSeesEveryTeam(t *testing.T) {
	eachOlder(t, 32, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		for range 2 {
			exec(ctx, t, db, `INSERT INTO phone_sessions (team_id, user_id, session_id, refresh_hash, created_on, refreshed_on, expires_on)
				VALUES ($1, $2, $3, $4, 1, 1, 2)`, uuid.New(), uuid.New(), uuid.New(), []byte(uuid.NewString()))
		}
		if err := db.Migrate(ctx); err != nil {
			t.Fatal(err)
		}
		if n := countRows(t, db, `SELECT COUNT(*) FROM phone_sessions`); n != 0 {
			t.Errorf("%d sessions without a renewal key are left", n)
		}
	})
}

// Migration 31 sets cancelable for queued and running jobs by their kind.
func TestMigratedJobsAreCancelable(t *testing.T) {
	eachOlder(t, 30, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		for _, kind := range []string{"imports.run", "ledger.renormalise", "webhooks.replay", "messages.send"} {
			for _, status := range []string{"queued", "running", "succeeded"} {
				exec(ctx, t, db, `INSERT INTO jobs (team_id, id, kind, key, args, status, run_at, attempts, max_attempts,
					again, cancel, progress_done, progress_total, progress_note, error, created_at)
					VALUES ($1, $2, $3, '', '{}', $4, 1, 0, 1, FALSE, FALSE, 0, 0, '', '', 1)`, uuid.New(), uuid.New(), kind, status)
			}
		}
		if err := db.Migrate(ctx); err != nil {
			t.Fatal(err)
		}
		if n := countRows(t, db, `SELECT COUNT(*) FROM jobs WHERE cancelable`); n != 6 {
			t.Errorf("%d jobs are cancelable, want 6", n)
		}
		if n := countRows(t, db, `SELECT COUNT(*) FROM jobs WHERE cancelable AND (kind = 'messages.send' OR status = 'succeeded')`); n != 0 {
			t.Errorf("%d jobs are cancelable by mistake", n)
		}
	})
}

// Migration 132 renames the jobs of rehearsals, so that stored ones still run.
func TestMigratedRehearsals(t *testing.T) {
	eachOlder(t, 131, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		for _, kind := range []string{"matching.drill", "matching.match"} {
			exec(ctx, t, db, `INSERT INTO jobs (team_id, id, kind, key, args, status, run_at, attempts, max_attempts,
				again, cancel, progress_done, progress_total, progress_note, error, created_at, cancelable)
				VALUES ($1, $2, $3, '', '{}', 'queued', 1, 0, 1, FALSE, FALSE, 0, 0, '', '', 1, FALSE)`, uuid.New(), uuid.New(), kind)
		}
		if err := db.Migrate(ctx); err != nil {
			t.Fatal(err)
		}
		if n := countRows(t, db, `SELECT COUNT(*) FROM jobs WHERE kind = 'matching.rehearsal'`); n != 1 {
			t.Errorf("%d jobs have the present kind of rehearsals, want 1", n)
		}
		if n := countRows(t, db, `SELECT COUNT(*) FROM jobs WHERE kind = 'matching.match'`); n != 1 {
			t.Errorf("%d jobs have kept another kind, want 1", n)
		}
	})
}

// Migration 48 keeps the payloads of the ledger, with their bytes.
func TestMigratedPayloads(t *testing.T) {
	eachOlder(t, 46, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		team, user := uuid.New(), uuid.New()
		for i := range 3 {
			exec(ctx, t, db, `INSERT INTO payloads (team_id, user_id, id, kind, provider, resource, mapping, size, packed,
				chunks, whole, times, first_at, last_at, data)
				VALUES ($1, $2, $3, 'push_samples', 'p', 'heartrate', 3, 5, 4, 0, TRUE, $4, 6, 7, $5)`,
				team, user, uuid.New(), i, []byte{0, byte(i), 255})
		}
		if err := db.Migrate(ctx); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			var data []byte
			err := db.Read(ctx, func(tx *store.Tx) error {
				return tx.QueryRow(ctx, `SELECT data FROM payloads WHERE team_id = $1 AND user_id = $2 AND hour = 0 AND whole AND times = $3
					AND kind = 'push_samples' AND provider = 'p' AND resource = 'heartrate' AND mapping = 3 AND size = 5 AND packed = 4
					AND chunks = 0 AND first_at = 6 AND last_at = 7`, team, user, i).Scan(&data)
			})
			if err != nil || !bytes.Equal(data, []byte{0, byte(i), 255}) {
				t.Errorf("payload %d: %v, %v", i, data, err)
			}
		}
	})
}

// After migration 50, a status that only Go checks can be stored. Existing rows stay
// unchanged.
func TestStatusesWithoutCheck(t *testing.T) {
	eachOlder(t, 49, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		insert := func(status, method string) error {
			return db.Write(ctx, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `INSERT INTO orders (team_id, id, transaction_id, origin, user_id, lab_id, lab_test_id, account_id, network,
					method, registrable, status, status_at, rev, created_at, updated_at, scheduled, priority, billing_type, has_abn, sms_enabled,
					details_id, is_critical, body, change)
					VALUES ($1, $2, $3, 'initial', $4, 1, $5, $6, 'n', $7, FALSE, $8, 1, 1, 1, 1, FALSE, FALSE, 'client_bill', FALSE, FALSE, $9, FALSE, $10, 1)`,
					uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New(), method, status, uuid.New(), []byte{1})
				return err
			})
		}
		visit := func(status string) error {
			return db.Write(ctx, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `INSERT INTO appointments (team_id, id, order_id, user_id, kind, provider, network, status, time_zone, rev,
					created_at, updated_at, body) VALUES ($1, $2, $3, $4, 'phlebotomy', 'p', 'n', $5, 'UTC', 1, 1, 1, $6)`,
					uuid.New(), uuid.New(), uuid.New(), uuid.New(), status, []byte{1})
				return err
			})
		}
		if err := errors.Join(insert("lost", "testkit"), visit("pending")); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{insert("misplaced", "testkit"), insert("lost", "by_drone"), visit("misplaced")} {
			if err == nil {
				t.Fatal("the older schema accepts an unknown word")
			}
		}
		if err := db.Migrate(ctx); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(insert("misplaced", "by_drone"), visit("misplaced")); err != nil {
			t.Fatal(err)
		}
		if n := countRows(t, db, `SELECT COUNT(*) FROM orders`) + countRows(t, db, `SELECT COUNT(*) FROM appointments WHERE status <> ''`); n != 4 {
			t.Errorf("%d rows, want 4", n)
		}
		if err := insert("lost", ""); err != nil {
			t.Error(err)
		}
		if db.Engine() != store.SQLite {
			return
		}
		for _, check := range []string{`PRAGMA integrity_check`, `PRAGMA writable_schema`} {
			var answer string
			if err := db.Read(ctx, func(tx *store.Tx) error { return tx.QueryRow(ctx, check).Scan(&answer) }); err != nil || answer != "ok" && answer != "0" {
				t.Errorf("%s: %q, %v", check, answer, err)
			}
		}
	})
}

// A running node notices that a newer binary has migrated its database.
func TestCheckSchema(t *testing.T) {
	db := storetest.Postgres(t)
	ctx := store.AsSystem(t.Context())
	if err := db.CheckSchema(ctx); err != nil {
		t.Error(err)
	}
	write(t, db, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE)`)
		return err
	})
	if err := db.CheckSchema(ctx); err == nil || !strings.Contains(err.Error(), "start a newer one") {
		t.Errorf("a newer schema: %v", err)
	}
}

// During a rolling upgrade, a newer node migrates the database while this one serves. A
// statement that does not fit the new schema is no error of the program, and changes nothing.
// A new start of this version is refused.
func TestRollingUpgrade(t *testing.T) {
	d := storetest.NewPostgres(t)
	db := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	addWith := func(column string) error {
		return db.Write(ctx, func(tx *store.Tx) error {
			if err := addTeam(ctx, tx, uuid.New(), "old"); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `UPDATE teams SET `+column+` = 'x'`)
			return err
		})
	}
	if err := addWith("dropped_later"); err == nil || fault.KindOf(err) != fault.Internal {
		t.Errorf("before the upgrade: %v", err)
	}
	exec(ctx, t, db, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE)`)
	err := addWith("dropped_later")
	unavailable(t, "a write", err)
	var down *store.Unavailable
	if errors.As(err, &down) && down.Reason() != "a newer version has migrated the database" {
		t.Error(down.Reason())
	}
	unavailable(t, "a read", db.Read(ctx, func(tx *store.Tx) error { _, err := tx.Exec(ctx, `SELECT dropped_later FROM teams`); return err }))
	if n := teamNames(t, db); n != 0 {
		t.Errorf("%d rows", n)
	}
	if err := addWith("name"); err != nil { // a statement that fits
		t.Error(err)
	}
	starting := d.Open(t, nil)
	if err := starting.Migrate(ctx); err == nil || !strings.Contains(err.Error(), "start a newer one") {
		t.Errorf("a start of the old version: %v", err)
	}
}

// Two new nodes start at once on a database with an older schema. One migrates and the
// other waits. Meanwhile a node of the older version writes.
func TestMigrateBesideAnOldNode(t *testing.T) {
	d := storetest.NewPostgres(t)
	old := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	exec(ctx, t, old, `DROP SCHEMA public CASCADE`)
	exec(ctx, t, old, `CREATE SCHEMA public`)
	all, err := old.Migrations(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.MigrateTo(ctx, all[len(all)-2].Version); err != nil {
		t.Fatal(err)
	}
	stop, writes, running := make(chan struct{}), 0, sync.WaitGroup{}
	running.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := old.Write(ctx, func(tx *store.Tx) error { return addTeam(ctx, tx, uuid.New(), "old") }); err != nil {
				t.Errorf("the old node: %v", err)
			}
			writes++
		}
	})
	var starting sync.WaitGroup
	for range 2 {
		node := d.Open(t, nil)
		starting.Go(func() {
			if err := node.Migrate(ctx); err != nil {
				t.Errorf("a new node: %v", err)
			}
		})
	}
	starting.Wait()
	close(stop)
	running.Wait()
	if n := teamNames(t, old); n != writes || n == 0 {
		t.Errorf("%d of %d rows", n, writes)
	}
	all, err = old.Migrations(ctx)
	if err != nil || !all[len(all)-1].Applied {
		t.Errorf("the last migration is missing: %v", err)
	}
}

// Listing the migrations of an empty database creates no table.
func TestMigrationsCreatesNothing(t *testing.T) {
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
		t.Errorf("%d tables were created, %v", tables, err)
	}
}

// A database of an older binary has policies that read the setting for each row.
func TestOldPoliciesAreReplaced(t *testing.T) {
	db := storetest.Postgres(t)
	ctx := store.AsSystem(t.Context())
	const outdated = `SELECT COUNT(*) FROM pg_policies WHERE policyname = 'one_team' AND qual NOT LIKE '%SELECT%'`
	const policies = `SELECT COUNT(*) FROM pg_policies WHERE policyname = 'one_team'`
	before := countRows(t, db, policies)
	exec(ctx, t, db, `DROP POLICY one_team ON users`)
	exec(ctx, t, db, `CREATE POLICY one_team ON users USING (current_setting('hale.team', true) = '*'
		OR team_id = NULLIF(NULLIF(current_setting('hale.team', true), '*'), '')::uuid)`)
	if n := countRows(t, db, outdated); n != 1 {
		t.Fatalf("%d outdated policies", n)
	}
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	if n := countRows(t, db, outdated); n != 0 {
		t.Errorf("%d outdated policies after migrating", n)
	}
	if n := countRows(t, db, policies); n != before || n == 0 {
		t.Errorf("%d policies of %d", n, before)
	}
}
