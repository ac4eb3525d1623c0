package webhooks_test

import (
	"testing"

	"hale/internal/store"
)

func (r *rig) dump(t testing.TB) {
	_ = r.db.Read(system, func(tx *store.Tx) error {
		rows, err := tx.Query(system, `SELECT state, lane, attempts, tries, node IS NULL, COUNT(*), MIN(due_at) FROM webhook_deliveries GROUP BY 1,2,3,4,5`)
		if err != nil {
			t.Log(err)
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var s string
			var a, b, c, n, due int64
			var free bool
			_ = rows.Scan(&s, &a, &b, &c, &free, &n, &due)
			t.Logf("state=%s lane=%d attempts=%d tries=%d free=%v n=%d due in %dus", s, a, b, c, free, n, due-store.Micros(r.db.Now()))
		}
		return nil
	})
}
