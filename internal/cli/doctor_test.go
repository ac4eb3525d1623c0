package cli

import (
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Beside a database that another process has locked for writing, the doctor says
// so within two seconds and looks at the rest.
func TestTheDoctorSeesAHeldWriteLock(t *testing.T) {
	d := storetest.NewSQLite(t)
	other := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	examine := func(code int, want string) {
		t.Helper()
		s := newTerminal("HALE_DATA="+d.Dir, "HALE_LISTEN=127.0.0.1:0", "HALE_METRICS_LISTEN=off")
		began := time.Now()
		if got := s.run(ctx, []string{"doctor"}); got != code || !strings.Contains(s.out.String(), want) {
			t.Errorf("exit code %d, want %d; it says %s%s", got, code, &s.out, &s.err)
		}
		if took := time.Since(began); took > lockWait+time.Second {
			t.Errorf("it took %v", took)
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
