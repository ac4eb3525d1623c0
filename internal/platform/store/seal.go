package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
)

// Sealing: the root key wraps a key for each team, the team's key wraps one
// for each user, and values are sealed with those. Deleting a user's key, or
// a team's, makes everything sealed with it unreadable, in every backup made
// from then on and in every copy that has not the old key rows.
//
// A sealed value is: one byte key number, then the AES-GCM text. The number
// lets a subject have a newer key while values under older ones stay readable.
//
// seal_keys.go makes, wraps and opens the keys; seal_cache.go keeps opened ones
// in memory; seal_warm.go reads those of many users at once.

// ErrNoKey is returned when a value is to be opened of a subject whose keys were
// shredded, or when a read-only transaction would have to make a key.
var ErrNoKey = errors.New("store: no sealing key")

// Seal encrypts plain with the subject's key, which it makes on first use.
// user is the user the value is about, or uuid.Nil for the team's own secrets.
// where names the place ("table.column:row") and is bound to the value.
func (tx *Tx) Seal(ctx context.Context, team, user uuid.UUID, where string, plain []byte) ([]byte, error) {
	keys, err := tx.keysOf(ctx, subject{team, user})
	if errors.Is(err, ErrNoKey) && !tx.readOnly {
		keys, err = tx.makeKey(ctx, subject{team, user})
	}
	if err != nil {
		return nil, fmt.Errorf("store: sealing %s: %w", column(where), err)
	}
	sealed := append(make([]byte, 0, 1+len(plain)+secrets.Overhead), keys.newest)
	return keys.byNo[keys.newest].Seal(sealed, where, plain), nil
}

// Unseal decrypts what Seal made for the same team, user and place. Shredding
// takes all keys of a subject, so a value that names none of those that are there
// is damaged: secrets.ErrSealed.
func (tx *Tx) Unseal(ctx context.Context, team, user uuid.UUID, where string, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, fmt.Errorf("store: opening %s: %w", column(where), secrets.ErrSealed)
	}
	keys, err := tx.keysOf(ctx, subject{team, user})
	if err != nil {
		return nil, fmt.Errorf("store: opening %s: %w", column(where), err)
	}
	key, ok := keys.byNo[sealed[0]]
	if !ok {
		if key, err = tx.unfamiliar(ctx, subject{team, user}, sealed[0]); err != nil {
			return nil, fmt.Errorf("store: opening %s: %w", column(where), err)
		}
	}
	plain, err := key.Open(where, sealed[1:])
	if err != nil {
		return nil, fmt.Errorf("store: opening %s: %w", column(where), err)
	}
	return plain, nil
}

// HasKey reports whether the subject has a key. If so, the rest of the
// transaction seals with that one: it makes no new key for somebody who is
// shredded meanwhile. Who writes about a user that may be erased asks first.
func (tx *Tx) HasKey(ctx context.Context, team, user uuid.UUID) (bool, error) {
	s := subject{team, user}
	keys, err := tx.keysOf(ctx, s)
	if errors.Is(err, ErrNoKey) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("store: looking for a key: %w", err)
	}
	tx.remember(s, keys)
	return true, nil
}

// column is the table and column of a place, without its row.
func column(where string) string {
	for i := range len(where) {
		if where[i] == ':' {
			return where[:i]
		}
	}
	return where
}

// Shred deletes the subject's keys: what they sealed can never be read again.
// With a zero user it deletes the team's key and those of all its users. Other
// nodes may still open it for keyLife.
func (tx *Tx) Shred(ctx context.Context, team, user uuid.UUID) error {
	query, args := `DELETE FROM sealing_keys WHERE team_id = $1`, []any{team}
	if user != uuid.Nil {
		query, args = query+` AND subject_id = $2`, append(args, user)
	}
	_, err := tx.Exec(ctx, query, args...)
	forget(tx.fresh, subject{team, user})
	tx.AfterCommit(func() { tx.db.keys.drop(subject{team, user}) })
	return err
}
