package store_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/uuid"

	"hale/internal/secrets"
	"hale/internal/store"
	"hale/internal/store/storetest"
)

// Keys that are read together open what was sealed with each, and not what was sealed for somebody who was shredded, or never had one.
func TestWarmKeys(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		first := d.Open(t, nil)
		team, other := uuid.New(), uuid.New()
		const count = 300 // more than one query reads
		people, sealed := make([]uuid.UUID, count), make([][]byte, count)
		write(t, first, func(tx *store.Tx) error {
			for i := range people {
				people[i] = uuid.New()
				for _, of := range []uuid.UUID{team, other} {
					closed, err := tx.Seal(t.Context(), of, people[i], "names.body:1", []byte{byte(i)})
					if err != nil {
						return err
					}
					if of == team {
						sealed[i] = closed
					}
				}
			}
			return nil
		})
		write(t, first, func(tx *store.Tx) error { return tx.Shred(t.Context(), team, people[7]) })
		for _, n := range []int{0, 1, 3, 4, 5, 255, count} {
			cold := first
			if d.URL != "" { // another node, which knows no keys
				cold = d.Open(t, nil)
			}
			err := cold.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error {
				some := append([]uuid.UUID{uuid.New()}, people[:n]...)
				if err := tx.WarmKeys(t.Context(), team, append(some, people[:n]...)); err != nil {
					return err
				}
				for i := range n {
					plain, err := tx.Unseal(t.Context(), team, people[i], "names.body:1", sealed[i])
					if i == 7 {
						if !errors.Is(err, store.ErrNoKey) {
							t.Errorf("of somebody who was shredded: %v", err)
						}
						continue
					}
					if err != nil || !bytes.Equal(plain, []byte{byte(i)}) {
						t.Errorf("person %d: %v, %v", i, plain, err)
					}
				}
				if n > 0 {
					if _, err := tx.Unseal(t.Context(), other, people[0], "names.body:1", sealed[0]); !errors.Is(err, secrets.ErrSealed) {
						t.Errorf("with another team's key: %v", err)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
