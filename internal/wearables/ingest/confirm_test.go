package ingest_test

import (
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// The first push of imported values writes that they are pushed, too. Later pushes write
// nothing.
func TestImportedValuesAreTakenOverOnce(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f.ingest(wearables.Batch{Import: uuid.New(), Imported: true, Samples: []wearables.Samples{heartRates(day, 61, 62)}})
		events := len(f.allTypes())
		push := func(wantRevision int64) {
			f.t.Helper()
			_, r, err := f.in.Push(f.ctx, f.user.Team, f.user.ID, wearables.Batch{
				Provider: "apple_health_kit", Stage: wearables.Daily, Pushed: true, Samples: []wearables.Samples{heartRates(day, 61, 62)},
			})
			if err != nil || r.Counts != (wearables.Counts{Unchanged: 2}) {
				f.t.Errorf("%+v, %v", r, err)
			}
			var revision int64
			err = f.db.Read(f.ctx, func(tx *store.Tx) error {
				return tx.QueryRow(f.ctx, `SELECT rev FROM sample_blocks WHERE team_id = $1 AND user_id = $2`, f.user.Team, f.user.ID).Scan(&revision)
			})
			if err != nil || revision != wantRevision {
				f.t.Errorf("revision %d, not %d: %v", revision, wantRevision, err)
			}
		}
		push(2)
		push(2)
		push(2)
		if got := f.allTypes()[events:]; len(got) != 0 {
			f.t.Errorf("events %v", got)
		}
	})
}
