package store_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// WarmKeys reads the keys of users, and none for a user who was shredded or has no key.
func TestWarmKeys(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		first := d.Open(t, nil)
		team, other := uuid.New(), uuid.New()
		const count = 300 // more than one query reads
		people, sealed := make([]uuid.UUID, count), make([][]byte, count)
		write(t, first, func(tx *store.Tx) error {
			for i := range people {
				people[i] = uuid.New()
				for _, owner := range []uuid.UUID{team, other} {
					closed, err := tx.Seal(t.Context(), owner, people[i], "names.body:1", []byte{byte(i)})
					if err != nil {
						return err
					}
					if owner == team {
						sealed[i] = closed
					}
				}
			}
			return nil
		})
		write(t, first, func(tx *store.Tx) error { return tx.Shred(t.Context(), team, people[7]) })
		for _, n := range []int{0, 1, 3, 4, 5, 255, count} {
			cold := first
			if d.URL != "" { // another node, whose cache is empty
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
							t.Errorf("a user who was shredded: %v", err)
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

// A root key that opens the keys of only some teams is wrong: the data of the others
// would be lost.
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

// A value with an unknown key number is damaged if its subject has keys, and
// unreadable if the keys were shredded. The node looks in the database, because
// another node may have created or shredded keys.
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

// shreddingFixture tests two nodes with values that are sealed for two users of a team.
type shreddingFixture struct {
	t              *testing.T
	node, other    *store.DB
	ahead          atomic.Int64 // nanoseconds that the test adds to the clock
	team, user     uuid.UUID
	next           uuid.UUID // another user of the team
	sealed, second []byte    // values of user and of next
}

const shredPlace = "t.c:1"

func eachShredding(t *testing.T, fn func(s *shreddingFixture)) {
	t.Helper()
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := &shreddingFixture{t: t, team: uuid.New(), user: uuid.New(), next: uuid.New()}
		began := time.Now()
		now := func() time.Time { return began.Add(time.Duration(s.ahead.Load())) }
		s.node, s.other = d.Open(t, now), d.Open(t, now)
		write(t, s.node, func(tx *store.Tx) (err error) {
			if s.sealed, err = tx.Seal(t.Context(), s.team, s.user, shredPlace, []byte("secret")); err != nil {
				return err
			}
			s.second, err = tx.Seal(t.Context(), s.team, s.next, shredPlace, []byte("secret"))
			return err
		})
		fn(s)
	})
}

func (s *shreddingFixture) open(tx *store.Tx, user uuid.UUID, sealed []byte) error {
	_, err := tx.Unseal(s.t.Context(), s.team, user, shredPlace, sealed)
	return err
}

// opens checks whether the node can read the value of the user.
func (s *shreddingFixture) opens(db *store.DB, want bool) {
	s.t.Helper()
	err := db.Read(store.AsSystem(s.t.Context()), func(tx *store.Tx) error { return s.open(tx, s.user, s.sealed) })
	if want != (err == nil) || err != nil && !errors.Is(err, store.ErrNoKey) {
		s.t.Errorf("opened: %v, want %v", err, want)
	}
}

func (s *shreddingFixture) shred(user uuid.UUID) {
	s.t.Helper()
	write(s.t, s.node, func(tx *store.Tx) error { return tx.Shred(s.t.Context(), s.team, user) })
}

// keys counts the keys of the user.
func (s *shreddingFixture) keys() (n int) {
	s.t.Helper()
	err := s.node.Read(store.AsSystem(s.t.Context()), func(tx *store.Tx) error {
		return tx.QueryRow(s.t.Context(), `SELECT COUNT(*) FROM sealing_keys WHERE subject_id = $1`, s.user).Scan(&n)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func TestOtherNodesUseAShreddedKeyForAMinute(t *testing.T) {
	eachShredding(t, func(s *shreddingFixture) {
		s.opens(s.other, true)
		s.shred(s.user)
		s.opens(s.node, false)
		for range 3 { // using a key does not extend its lifetime
			s.ahead.Add(int64(19 * time.Second))
			s.opens(s.other, true)
		}
		s.ahead.Add(int64(4 * time.Second))
		s.opens(s.other, false)
		s.opens(s.node, false)
	})
}

// A reader that began before a shred can read the key in its snapshot, but does not
// cache it.
func TestOldReaderDoesNotCacheAShreddedKey(t *testing.T) {
	eachShredding(t, func(s *shreddingFixture) {
		ctx := store.AsSystem(s.t.Context())
		s.ahead.Add(int64(time.Hour)) // the cached keys expire
		err := s.node.Read(ctx, func(tx *store.Tx) error {
			if err := s.open(tx, s.next, s.second); err != nil {
				return err
			}
			s.shred(s.user)
			return s.open(tx, s.user, s.sealed)
		})
		if err != nil {
			s.t.Errorf("on its own snapshot: %v", err)
		}
		s.opens(s.node, false)
	})
}

func TestShredTeam(t *testing.T) {
	eachShredding(t, func(s *shreddingFixture) {
		s.opens(s.node, true)
		s.shred(uuid.Nil)
		s.opens(s.node, false)
	})
}

// A transaction that called HasKey creates no key for a user who is erased meanwhile.
func TestHasKey(t *testing.T) {
	eachShredding(t, func(s *shreddingFixture) {
		lateWrite := func(during func()) (known bool) {
			write(s.t, s.node, func(tx *store.Tx) (err error) {
				if known, err = tx.HasKey(s.t.Context(), s.team, s.user); err != nil || !known {
					return err
				}
				during()
				_, err = tx.Seal(s.t.Context(), s.team, s.user, shredPlace, []byte("late"))
				return err
			})
			return known
		}
		during := func() { s.shred(s.user) }
		if s.node.Engine() == store.SQLite { // which has one writer
			during()
			during = func() {}
		}
		if known := lateWrite(during); known != (s.node.Engine() == store.Postgres) {
			s.t.Errorf("known: %v", known)
		}
		s.ahead.Add(int64(time.Hour))
		if lateWrite(func() {}) {
			s.t.Error("known long after")
		}
		if n := s.keys(); n != 0 {
			s.t.Errorf("%d keys", n)
		}
	})
}
