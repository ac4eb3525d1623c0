package cli

import (
	"strings"
	"testing"

	"hale/internal/store"
	"hale/internal/store/storetest"
)

// A database that another process has locked for writing is not well.
func TestTheDoctorSeesAHeldWriteLock(t *testing.T) {
	d := storetest.NewSQLite(t)
	ctx := store.AsSystem(t.Context())
	db, other := d.Open(t, nil), d.Open(t, nil)
	readable := finding{Check: "database", Verdict: good}
	if f := examineWriting(ctx, db, readable); f != readable {
		t.Errorf("of a free database the doctor says %+v", f)
	}
	err := other.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE instance SET pinged_at = pinged_at WHERE id = 1`); err != nil {
			return err
		}
		f := examineWriting(ctx, db, readable)
		if f.Verdict != broken || !strings.Contains(f.Detail, "the write lock is held by another process") {
			t.Errorf("of a locked database the doctor says %+v", f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
