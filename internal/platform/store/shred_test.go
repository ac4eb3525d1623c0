package store_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// shredding is a value sealed for a user, on one of two nodes.
type shredding struct {
	t              *testing.T
	node, other    *store.DB
	ahead          atomic.Int64 // of the clock, which stands otherwise
	team, user     uuid.UUID
	next           uuid.UUID // another of the team
	sealed, second []byte    // the user's, the next one's
}

const shredPlace = "t.c:1"

func eachShredding(t *testing.T, fn func(s *shredding)) {
	t.Helper()
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := &shredding{t: t, team: uuid.New(), user: uuid.New(), next: uuid.New()}
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

func (s *shredding) open(tx *store.Tx, user uuid.UUID, sealed []byte) error {
	_, err := tx.Unseal(s.t.Context(), s.team, user, shredPlace, sealed)
	return err
}

// opens fails the test unless the user's value can be read, or can not.
func (s *shredding) opens(db *store.DB, want bool) {
	s.t.Helper()
	err := db.Read(store.AsSystem(s.t.Context()), func(tx *store.Tx) error { return s.open(tx, s.user, s.sealed) })
	if want != (err == nil) || err != nil && !errors.Is(err, store.ErrNoKey) {
		s.t.Errorf("opened: %v, want %v", err, want)
	}
}

func (s *shredding) shred(user uuid.UUID) {
	s.t.Helper()
	write(s.t, s.node, func(tx *store.Tx) error { return tx.Shred(s.t.Context(), s.team, user) })
}

// keys counts the user's.
func (s *shredding) keys() (n int) {
	s.t.Helper()
	err := s.node.Read(store.AsSystem(s.t.Context()), func(tx *store.Tx) error {
		return tx.QueryRow(s.t.Context(), `SELECT COUNT(*) FROM sealing_keys WHERE subject_id = $1`, s.user).Scan(&n)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func TestAnotherNodeOpensWhatWasShreddedForAMinute(t *testing.T) {
	eachShredding(t, func(s *shredding) {
		s.opens(s.other, true)
		s.shred(s.user)
		s.opens(s.node, false)
		for range 3 { // to use a key does not make it live longer
			s.ahead.Add(int64(19 * time.Second))
			s.opens(s.other, true)
		}
		s.ahead.Add(int64(4 * time.Second))
		s.opens(s.other, false)
		s.opens(s.node, false)
	})
}

// A reader sees the database as it was when it began; what it sees of a shredded
// key is for itself.
func TestAReaderFromBeforeAShredBringsNoKeyBack(t *testing.T) {
	eachShredding(t, func(s *shredding) {
		ctx := store.AsSystem(s.t.Context())
		s.ahead.Add(int64(time.Hour)) // nobody has the key in memory
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

func TestATeamIsShreddedWithItsUsers(t *testing.T) {
	eachShredding(t, func(s *shredding) {
		s.opens(s.node, true)
		s.shred(uuid.Nil)
		s.opens(s.node, false)
	})
}

// Who writes about somebody who was erased meanwhile makes no key.
func TestHasKey(t *testing.T) {
	eachShredding(t, func(s *shredding) {
		late := func(during func()) (known bool) {
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
		if known := late(during); known != (s.node.Engine() == store.Postgres) {
			s.t.Errorf("known: %v", known)
		}
		s.ahead.Add(int64(time.Hour))
		if late(func() {}) {
			s.t.Error("known long after")
		}
		if n := s.keys(); n != 0 {
			s.t.Errorf("%d keys", n)
		}
	})
}
