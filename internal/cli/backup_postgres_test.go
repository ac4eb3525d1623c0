package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
