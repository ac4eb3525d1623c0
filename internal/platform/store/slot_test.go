package store_test

import (
	"context"
	"sync"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

func TestSlotKeepsOneValuePerDB(t *testing.T) {
	names := store.NewSlot[[]string](nil)
	counts := store.NewSlot(func() *int { return new(int) })
	storetest.Each(t, func(t *testing.T, one *store.DB) {
		other := storetest.SQLite(t)
		names.Set(one, []string{"one"})
		if got := names.Of(other); got != nil {
			t.Errorf("the other database has %v", got)
		}
		err := one.Read(context.Background(), func(tx *store.Tx) error {
			if got := names.Of(tx); len(got) != 1 || got[0] != "one" {
				t.Errorf("the transaction has %v", got)
			}
			if counts.Of(tx) != counts.Of(one) {
				t.Error("the transaction has another value than its database")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if counts.Of(one) == counts.Of(other) {
			t.Error("two databases share a value")
		}
	})
}

func TestSlotMakesTheInitialValueOnce(t *testing.T) {
	counts := store.NewSlot(func() *int { return new(int) })
	db := storetest.SQLite(t)
	var all [8]*int
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() { all[i] = counts.Of(db) })
	}
	wait.Wait()
	for _, one := range all {
		if one != all[0] {
			t.Fatal("two goroutines have different values")
		}
	}
}
