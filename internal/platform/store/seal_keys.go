package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
)

// subject is what has a sealing key: a user, or with a zero user the team.
type subject struct{ team, user uuid.UUID }

// subjectKeys are the opened keys of one subject, by their numbers.
type subjectKeys struct {
	newest byte
	byNo   map[byte]*secrets.Key
	asOf   time.Time // beginning of the transaction that read them
}

// keysOf gives the keys of a subject, from memory or else from their rows.
func (tx *Tx) keysOf(ctx context.Context, s subject) (*subjectKeys, error) {
	if k, ok := tx.fresh[s]; ok {
		return k, nil
	}
	if k := tx.db.keys.get(s, tx.now); k != nil {
		return k, nil
	}
	wrapped, err := tx.wrappedKeys(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(wrapped) == 0 {
		return nil, ErrNoKey
	}
	keys, err := tx.openKeys(ctx, s, wrapped)
	if err != nil {
		return nil, err
	}
	if tx.readOnly { // else the row may be part of this very commit, which can still fail
		tx.db.keys.put(s, keys, tx.drops)
	}
	tx.remember(s, keys)
	return keys, nil
}

// unfamiliar is a key that memory does not know of a subject that has keys there:
// another node may have made it, or shredded them all.
func (tx *Tx) unfamiliar(ctx context.Context, s subject, no byte) (*secrets.Key, error) {
	wrapped, err := tx.wrappedKeys(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(wrapped) == 0 {
		return nil, ErrNoKey
	}
	keys, err := tx.openKeys(ctx, s, wrapped)
	if err != nil {
		return nil, err
	}
	if keys.byNo[no] == nil {
		return nil, fmt.Errorf("%w: its subject has no key %d", secrets.ErrSealed, no)
	}
	tx.remember(s, keys)
	return keys.byNo[no], nil
}

func (tx *Tx) wrappedKeys(ctx context.Context, s subject) (map[byte][]byte, error) {
	rows, err := tx.Query(ctx, `SELECT number, wrapped FROM sealing_keys WHERE team_id = $1 AND subject_id = $2`, s.team, s.user)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[byte][]byte{}
	for rows.Next() {
		var no int64
		var wrapped []byte
		if err := rows.Scan(&no, &wrapped); err != nil {
			return nil, err
		}
		found[byte(no)] = wrapped
	}
	return found, rows.Err()
}

// openKeys unwraps the keys of a subject.
func (tx *Tx) openKeys(ctx context.Context, s subject, wrapped map[byte][]byte) (*subjectKeys, error) {
	keys := &subjectKeys{byNo: make(map[byte]*secrets.Key, len(wrapped)), asOf: tx.now}
	for no, w := range wrapped {
		raw, err := tx.unwrap(ctx, s, no, w)
		if err != nil {
			return nil, err
		}
		if keys.byNo[no], err = secrets.NewKey(raw); err != nil {
			return nil, err
		}
		keys.newest = max(keys.newest, no)
	}
	return keys, nil
}

// makeKey makes a subject's first key.
func (tx *Tx) makeKey(ctx context.Context, s subject) (*subjectKeys, error) {
	raw := secrets.Bytes(secrets.KeySize)
	wrapped, err := tx.wrap(ctx, s, 1, raw)
	if err != nil {
		return nil, err
	}
	made, err := tx.Exec(ctx, `INSERT INTO sealing_keys (team_id, subject_id, number, wrapped, created_at)
		VALUES ($1, $2, 1, $3, $4) ON CONFLICT (team_id, subject_id, number) DO NOTHING`,
		s.team, s.user, wrapped, Micros(tx.now))
	if err != nil {
		return nil, err
	}
	if made == 0 { // another transaction was faster
		return tx.keysOf(ctx, s)
	}
	key, err := secrets.NewKey(raw)
	if err != nil {
		return nil, err
	}
	keys := &subjectKeys{newest: 1, byNo: map[byte]*secrets.Key{1: key}, asOf: tx.now}
	tx.remember(s, keys)
	return keys, nil
}

// remember keeps keys for the rest of the transaction, and for all once it is
// committed.
func (tx *Tx) remember(s subject, keys *subjectKeys) {
	if tx.fresh == nil {
		tx.fresh = map[subject]*subjectKeys{}
	}
	tx.fresh[s] = keys
}

func keyPlace(s subject, no byte) string {
	return fmt.Sprintf("sealing_keys.wrapped:%s:%s:%d", s.team, s.user, no)
}

// wrap seals a user's key with the team's, and a team's with the root key.
func (tx *Tx) wrap(ctx context.Context, s subject, no byte, raw []byte) ([]byte, error) {
	if s.user == uuid.Nil {
		return tx.db.root.Seal(keyPlace(s, no), raw)
	}
	return tx.Seal(ctx, s.team, uuid.Nil, keyPlace(s, no), raw)
}

func (tx *Tx) unwrap(ctx context.Context, s subject, no byte, wrapped []byte) ([]byte, error) {
	if s.user == uuid.Nil {
		return tx.db.root.Open(keyPlace(s, no), wrapped)
	}
	return tx.Unseal(ctx, s.team, uuid.Nil, keyPlace(s, no), wrapped)
}

// ProveRoot opens the key of every team. It returns secrets.ErrSealed when the
// root key is not the one that wrapped them, or not for all of them.
func (db *DB) ProveRoot(ctx context.Context) error {
	return db.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query(ctx, `SELECT team_id, number, wrapped FROM sealing_keys WHERE subject_id = $1`, uuid.Nil)
		if err != nil {
			return fmt.Errorf("store: looking for sealed keys: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var team uuid.UUID
			var number int64
			var wrapped []byte
			if err := rows.Scan(&team, &number, &wrapped); err != nil {
				return err
			}
			if _, err := db.root.Open(keyPlace(subject{team, uuid.Nil}, byte(number)), wrapped); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}
