package store_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Listeners hear of each durable transaction of their own database once, and of
// none that was rolled back.
func TestNotify(t *testing.T) {
	other := storetest.SQLite(t)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const topic = store.Topic("test.changed")
		var mu sync.Mutex
		heard := map[uuid.UUID]int{}
		hear := func(id uuid.UUID) {
			mu.Lock()
			defer mu.Unlock()
			heard[id]++
		}
		stop := db.OnCommit(topic, hear)
		defer db.OnCommit("test.other", func(uuid.UUID) { t.Error("another topic was notified") })()
		defer other.OnCommit(topic, func(uuid.UUID) { t.Error("another database was notified") })()
		one, two := uuid.New(), uuid.New()
		notify := func(err error, ids ...uuid.UUID) {
			got := db.Write(t.Context(), func(tx *store.Tx) error {
				if _, err := tx.Exec(t.Context(), `UPDATE instance SET pinged_at = 1`); err != nil {
					return err
				}
				for _, id := range ids {
					tx.Notify(topic, id)
				}
				return err
			})
			if !errors.Is(got, err) {
				t.Fatal(got)
			}
		}
		notify(nil, one, one, two)
		notify(errors.New("rolled back"), one)
		notify(nil, two)
		stop()
		notify(nil, one, two)
		if heard[one] != 1 || heard[two] != 2 {
			t.Errorf("heard %d and %d times", heard[one], heard[two])
		}
	})
}
