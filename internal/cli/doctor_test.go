package cli

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/config"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Beside a database that another process has locked for writing, the doctor says
// so after two seconds and looks at the rest.
func TestTheDoctorSeesAHeldWriteLock(t *testing.T) {
	d := storetest.NewSQLite(t)
	other := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	examine := func(code int, want string) {
		t.Helper()
		s := newTerminal("HALE_DATA="+d.Dir, "HALE_LISTEN=127.0.0.1:0", "HALE_METRICS_LISTEN=off")
		if got := s.run(ctx, []string{"doctor"}); got != code || !strings.Contains(s.out.String(), want) {
			t.Errorf("exit code %d, want %d; it says %s%s", got, code, &s.out, &s.err)
		}
	}
	examine(exitOK, "ok       database")
	err := other.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE instance SET pinged_at = pinged_at WHERE id = 1`)
		examine(exitFailure, "another process has held the write lock for more than 2s\n")
		examine(exitFailure, "fuser -v "+other.Path())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A row that was written into the audit log by hand, or a list of chains that is gone, is
// reported.
func TestTheDoctorChecksTheAuditLog(t *testing.T) {
	db := storetest.SQLite(t)
	ctx := store.AsSystem(t.Context())
	log := audit.New(db, nil)
	if err := log.Prepare(ctx, false); err != nil {
		t.Fatal(err)
	}
	cfg := &config.Config{Data: t.TempDir()}
	if f := examineAudit(ctx, cfg, db); f.Verdict != verdictOK || f.Detail != "the list of chains is complete" {
		t.Errorf("of a new log: %+v", f)
	}
	for statement, want := range map[string]string{
		`INSERT INTO audit_pending (team_id, id, body) SELECT randomblob(16), randomblob(16), '{}'`: "1 row without a valid code",
		`UPDATE instance SET audit_chains = 7`:                                                      "the length of the list of chains was changed",
	} {
		if err := db.Write(ctx, func(tx *store.Tx) error { _, err := tx.Exec(ctx, statement); return err }); err != nil {
			t.Fatal(err)
		}
		if err := log.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if f := examineAudit(ctx, cfg, db); f.Verdict != verdictBroken || !strings.Contains(f.Detail, want) {
			t.Errorf("%s: %+v", statement, f)
		}
	}
}

// A root key that this user may not read needs another owner. A damaged one needs a copy.
func TestTheHintOfAnUnreadableRootKey(t *testing.T) {
	if hint := rootKeyHint("root.key", fs.ErrPermission); !strings.Contains(hint, "the owner of root.key") {
		t.Error(hint)
	}
	if hint := rootKeyHint("root.key", fs.ErrInvalid); !strings.Contains(hint, "your copy") {
		t.Error(hint)
	}
}

// The doctor names the damaged lines of the list of erasures.
func TestTheDoctorChecksTheListOfErasures(t *testing.T) {
	cfg := &config.Config{Data: t.TempDir()}
	for text, want := range map[string]string{"": "", "not a line\n": verdictBroken, "AAAA": verdictWarning} {
		write(t, filepath.Join(cfg.Data, users.ErasuresFile), []byte(text))
		all := examineErasures(cfg)
		if want == "" && len(all) > 0 || want != "" && (len(all) != 1 || all[0].Verdict != want || !strings.Contains(all[0].Detail, "[1]")) {
			t.Errorf("%q: %+v", text, all)
		}
	}
}
