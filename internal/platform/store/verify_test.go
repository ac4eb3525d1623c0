package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A sound database verifies on both engines.
func TestVerify(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if err := verifyAll(t, db); err != nil {
			t.Error(err)
		}
	})
}

func verifyAll(t *testing.T, db *store.DB) (found error) {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	parts, err := db.VerifiedParts(ctx)
	if err != nil || len(parts) == 0 {
		return errors.Join(err, errors.New("nothing to verify"))
	}
	for _, part := range parts {
		found = errors.Join(found, db.Verify(ctx, part))
	}
	return found
}

// Pages that were overwritten while the database was closed are found, although no
// request reads them.
func TestVerifyFindsDamage(t *testing.T) {
	d := storetest.NewSQLite(t)
	db := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	err := db.Write(ctx, func(tx *store.Tx) error {
		for range 300 {
			if _, err := tx.Exec(ctx, `INSERT INTO teams (id, name, environment, settings, created_at) VALUES ($1, $2, 'sandbox', '{}', 0)`, tx.NewUUID(), strings.Repeat("name", 100)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d.Dir, store.FileName)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndex(string(content), "namename") / 4096 * 4096
	copy(content[at:], strings.Repeat("damage", 500))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	db = d.Open(t, nil)
	if err := verifyAll(t, db); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("damage: %v", err)
	}
	err = db.Read(ctx, func(tx *store.Tx) error {
		var n int
		return tx.QueryRow(ctx, `SELECT COUNT(DISTINCT settings) FROM teams`).Scan(&n)
	})
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "hale doctor") || !strings.Contains(err.Error(), "hale docs playbook") {
		t.Errorf("a statement on a damaged page: %v", err)
	}
}
