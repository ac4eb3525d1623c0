package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hale/internal/app"
	"hale/internal/platform/config"
	"hale/internal/platform/ops"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A backup of PostgreSQL has the rows of all teams, although the role is bound
// by row-level security. It can be restored into an empty database. The restored
// copy holds back its outgoing messages.
func TestBackupOfPostgres(t *testing.T) {
	from, to := storetest.NewPostgres(t), storetest.NewPostgres(t)
	ctx := store.AsSystem(t.Context())
	source, target := from.Open(t, nil), to.Open(t, nil)
	write := func(db *store.DB, query string) {
		t.Helper()
		err := db.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, query)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	count := func(db *store.DB, table string) (n int) {
		t.Helper()
		err := db.Read(ctx, func(tx *store.Tx) error { return tx.QueryRow(ctx, `SELECT COUNT(*) FROM `+table).Scan(&n) })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	data, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	key := filepath.Join(data, "root.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("A", 43)+"="), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) string {
		t.Helper()
		code, said := hale(t, append(args, "--data", data, "--root-key-file", key)...)
		if code != want {
			t.Fatalf("%v: %d %s", args, code, said)
		}
		return said
	}
	for _, name := range []string{`first team \ line`, "second"} {
		run(0, "teams", "create", name, "--database", from.URL)
	}
	run(0, "backup", copied, "--database", from.URL)
	if said := run(0, "backup", "verify", copied); !strings.Contains(said, "checked") {
		t.Errorf("verify: %s", said)
	}
	run(exitConflict, "restore", copied, "--database", to.URL)
	write(target, `DO $$ DECLARE t text; BEGIN
		FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP EXECUTE format('DROP TABLE %I CASCADE', t); END LOOP;
		FOR t IN SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema() LOOP EXECUTE format('DROP SEQUENCE %I', t); END LOOP;
		FOR t IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = current_schema()::regnamespace LOOP EXECUTE 'DROP FUNCTION ' || t; END LOOP; END $$`)
	run(0, "restore", copied, "--database", to.URL)
	for _, table := range []string{"teams", "api_keys", "sealing_keys", "events"} {
		if a, b := count(source, table), count(target, table); a != b || table == "teams" && a < 2 {
			t.Errorf("%s: %d rows of %d", table, b, a)
		}
	}
	if hold, err := target.OutgoingHold(ctx); err != nil || !hold.Active() {
		t.Errorf("the copy is not held: %v", err)
	}
	run(0, "teams", "create", "third", "--database", to.URL)

	// Without rows that a policy hides, there is no backup at all.
	write(source, `CREATE POLICY hidden ON api_keys AS RESTRICTIVE USING (false)`)
	if said := run(1, "backup", copied+"2", "--database", from.URL); !strings.Contains(said, "cannot see every row of api_keys") {
		t.Errorf("a role that sees no rows: %s", said)
	}

	damaged := tableFile(copied, "teams")
	text, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, text[:len(text)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if said := run(1, "backup", "verify", copied); !strings.Contains(said, "the table teams has changed") {
		t.Errorf("damage: %s", said)
	}
}

// A restore into PostgreSQL that was stopped at any step leaves a database that nothing
// serves, or a whole one. The repeated restore succeeds.
func TestAnInterruptedRestoreIntoPostgres(t *testing.T) {
	from := storetest.NewPostgres(t)
	data, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	start := func(folder, url string) (*app.App, error) {
		cfg, err := config.Load(config.Input{Flags: map[string][]string{
			"data": {folder}, "database": {url}, "listen": {"127.0.0.1:0"}, "metrics-listen": {"off"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return app.New(t.Context(), app.Options{Config: cfg, Log: ops.Discard(), AnyClock: true})
	}
	first, err := start(data, from.URL)
	if err == nil {
		err = first.Start(t.Context())
	}
	if err = errors.Join(err, first.Stop(context.WithoutCancel(t.Context()))); err != nil {
		t.Fatal(err)
	}
	if code, said := hale(t, "backup", copied, "--with-root-key", "--data", data, "--database", from.URL); code != exitOK {
		t.Fatalf("%d %s", code, said)
	}
	// Stop before the first table, later, before the commit, and after it.
	for _, steps := range []int{0, 40, tablesOf(t, copied), tablesOf(t, copied) + 1} {
		to, folder := storetest.NewEmptyPostgres(t), t.TempDir()
		args := []string{copied, "--data", folder, "--database", to.URL}
		restoreUntil(t, steps, args...)
		before := namesIn(t, folder)
		whole := steps > tablesOf(t, copied)
		a, err := start(folder, to.URL)
		if whole {
			if err = errors.Join(err, a.Stop(context.WithoutCancel(t.Context()))); err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.Is(err, store.ErrUnfinished) {
			t.Fatalf("after %d steps the start is not refused: %v", steps, err)
		}
		if after := namesIn(t, folder); !slices.Equal(before, after) {
			t.Errorf("after %d steps: the refused start changed %v to %v", steps, before, after)
		}
		for _, args := range [][]string{
			{"doctor", "--listen", "127.0.0.1:0", "--metrics-listen", "off"},
			{"teams", "list"},
			{"migrate", "up"},
			{"backup", filepath.Join(t.TempDir(), "none")},
		} {
			if code, said := hale(t, append(args, "--data", folder, "--database", to.URL)...); code == exitOK || !strings.Contains(said, "did not finish") {
				t.Errorf("%s: %d %s", args[0], code, said)
			}
		}
		if code, said := hale(t, append([]string{"restore"}, args...)...); code != exitOK {
			t.Fatalf("after %d steps: the repeated restore: %d %s", steps, code, said)
		}
		if code, said := hale(t, "teams", "list", "--data", folder, "--database", to.URL, "-o", "id"); code != exitOK || strings.Count(said, "\n") != 1 {
			t.Errorf("after %d steps: %d %s", steps, code, said)
		}
	}
}

// tablesOf counts the tables of a backup of PostgreSQL.
func tablesOf(t *testing.T, backup string) int {
	t.Helper()
	m, err := readManifest(backup)
	if err != nil {
		t.Fatal(err)
	}
	return len(m.Postgres.Tables)
}
