package store_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
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

// A root key that opens the keys of some teams is not the right one: what the
// others have sealed would be lost.
func TestProveRootTriesEveryTeam(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		ctx := store.AsSystem(t.Context())
		mine, other := newRoot(t), newRoot(t)
		with := func(root *secrets.Root, fn func(db *store.DB)) {
			db, err := store.Open(ctx, store.Options{URL: d.URL, Dir: d.Dir, Root: root})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			fn(db)
		}
		seal := func(db *store.DB) {
			write(t, db, func(tx *store.Tx) error {
				_, err := tx.Seal(ctx, uuid.New(), uuid.Nil, "t.c:1", []byte("secret"))
				return err
			})
		}
		with(mine, func(db *store.DB) {
			if err := db.ProveRoot(ctx); err != nil {
				t.Errorf("nothing is sealed: %v", err)
			}
			seal(db)
			if err := db.ProveRoot(ctx); err != nil {
				t.Errorf("with the right key: %v", err)
			}
		})
		with(other, func(db *store.DB) {
			if err := db.ProveRoot(ctx); !errors.Is(err, secrets.ErrSealed) {
				t.Errorf("with another key: %v", err)
			}
			seal(db)
		})
		for _, root := range []*secrets.Root{mine, other} {
			with(root, func(db *store.DB) {
				if err := db.ProveRoot(ctx); !errors.Is(err, secrets.ErrSealed) {
					t.Errorf("with the key of one of two teams: %v", err)
				}
			})
		}
	})
}

func newRoot(t *testing.T) *secrets.Root {
	t.Helper()
	root, err := secrets.ParseRoot(base64.StdEncoding.EncodeToString(secrets.Bytes(secrets.KeySize)))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// A value that names a key which its subject has not is damaged, and that of a
// subject who has no key any more is gone. What another node has made since, or
// shredded, is looked up.
func TestKeyNumbers(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		node, other := d.Open(t, nil), d.Open(t, nil)
		ctx := store.AsSystem(t.Context())
		team, user := uuid.New(), uuid.New()
		var sealed, newer []byte
		write(t, node, func(tx *store.Tx) (err error) {
			sealed, err = tx.Seal(ctx, team, user, "t.c:1", []byte("secret"))
			return err
		})
		newer = append([]byte{sealed[0] + 1}, sealed[1:]...)
		opens := func(what string, value []byte, want error) {
			t.Helper()
			err := node.Read(ctx, func(tx *store.Tx) error {
				_, err := tx.Unseal(ctx, team, user, "t.c:1", value)
				return err
			})
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		opens("as it was sealed", sealed, nil)
		opens("with another number", newer, secrets.ErrSealed)
		write(t, other, func(tx *store.Tx) error { return tx.Shred(ctx, team, user) })
		opens("with another number, shredded", newer, store.ErrNoKey)
	})
}
