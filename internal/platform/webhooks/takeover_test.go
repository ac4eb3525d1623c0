package webhooks_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// What a dead node had claimed is posted as soon as its lease is over, and not
// before. On SQLite the next process posts it at once.
func TestDeliveriesOfADeadNode(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := teamRig(t, db)
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		r.emitTypes("daily.data.steps.created", "daily.data.steps.created")
		r.settle()
		dead, until := uuid.New(), db.Now().Add(1500*time.Millisecond)
		r.write(func(tx *store.Tx) error {
			if _, err := tx.Exec(system, `INSERT INTO nodes (id, until, started_at) VALUES ($1, $2, $3)`, dead, store.Micros(until), store.Micros(tx.Now())); err != nil {
				return err
			}
			_, err := tx.Exec(system, `UPDATE webhook_deliveries SET node = $1 WHERE endpoint_id = $2`, dead, e.ID)
			return err
		})
		r.deliver(webhooks.Config{})
		if db.Engine() == store.Postgres {
			time.Sleep(until.Add(-200 * time.Millisecond).Sub(db.Now()))
			if n := rc.total(); n > 0 {
				t.Errorf("%d posts before the lease was over", n)
			}
		}
		eventually(t, until.Add(time.Second).Sub(db.Now()), "posted", func() bool { return rc.distinct() == 2 })
		eventually(t, time.Minute, "recorded", func() bool { return r.states(e.ID)["sent"] == 2 })
		if rc.total() != 2 {
			t.Errorf("%d posts", rc.total())
		}
	})
}
