package replay

import (
	"context"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// Samples that were rejected because of another user's device are in the ledger as
// received. Reprocessing rejects them again.
func TestUnknownDevicesStayUnknown(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		packed := ledger.Pack(ledger.Samples, "health_connect", "glucose", []byte(`{"stage":"daily","provider":"health_connect","data":[`+
			`{"timestamp":"2026-02-01T11:00:00Z","value":5,"source_device_id":"`+uuid.NewString()+`"},{"timestamp":"2026-02-01T12:00:00Z","value":6}]}`))
		b.write(func(tx *store.Tx) error {
			var also store.Batch
			if _, err := b.ledger.Keep(context.Background(), tx, &also, b.user.Team, b.user.ID, packed); err != nil {
				return err
			}
			return tx.Run(b.ctx, &also)
		})
		b.run(Order{Every: true})
		b.write(func(tx *store.Tx) error {
			all, err := storage.SeriesOf(b.ctx, tx, b.user.Team.UUID(), b.user.ID.UUID(), "glucose")
			if err == nil && (len(all) != 1 || all[0].Source.DeviceID != nil) {
				t.Errorf("%d series, %+v", len(all), all)
			}
			return err
		})
	})
}
