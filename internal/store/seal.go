package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"hale/internal/secrets"
)

// Sealing: the root key wraps a key for each team, the team's key wraps one
// for each user, and values are sealed with those. Deleting a user's key, or
// a team's, makes everything sealed with it unreadable, in every backup made
// from then on and in every copy that has not the old key rows.
//
// A sealed value is: one byte key number, then the AES-GCM text. The number
// lets a subject have a newer key while values under older ones stay readable.

// subject is what has a sealing key: a user, or with a zero user the team.
type subject struct{ team, user uuid.UUID }

type subjectKeys struct {
	newest byte
	byNo   map[byte]*secrets.Key
	asOf   time.Time // beginning of the transaction that read them
}

const (
	mostCachedKeys = 200_000
	// keyLife is how long an opened key serves without another look whether it
	// is still there. What one node shreds, the others can open for that long.
	keyLife = time.Minute
)

// keyCache keeps opened keys in memory; when full it starts over.
type keyCache struct {
	mu    sync.RWMutex
	keys  map[subject]*subjectKeys
	drops atomic.Uint64
}

// get gives the keys of a subject, nil when they are not here or too old at now.
func (c *keyCache) get(s subject, now time.Time) *subjectKeys {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k := c.keys[s]
	if k == nil || now.Sub(k.asOf).Abs() >= keyLife { // a clock can be set back
		return nil
	}
	return k
}

// put keeps what a transaction read. drops is how many there had been when it
// began: one that began before a drop may have read what was dropped.
func (c *keyCache) put(s subject, k *subjectKeys, drops uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if drops != c.drops.Load() {
		return
	}
	if c.keys == nil || len(c.keys) >= mostCachedKeys {
		c.keys = map[subject]*subjectKeys{}
	}
	c.keys[s] = k
}

func (c *keyCache) drop(s subject) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops.Add(1)
	forget(c.keys, s)
}

// forget removes the keys of a subject; with a team's those of its users.
func forget(keys map[subject]*subjectKeys, s subject) {
	delete(keys, s)
	if s.user == uuid.Nil {
		maps.DeleteFunc(keys, func(of subject, _ *subjectKeys) bool { return of.team == s.team })
	}
}

// ErrNoKey is returned when a value is to be opened whose key was shredded, or
// when a read-only transaction would have to make a key.
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
	sealed, err := keys.byNo[keys.newest].Seal(where, plain)
	if err != nil {
		return nil, fmt.Errorf("store: sealing %s: %w", column(where), err)
	}
	return append([]byte{keys.newest}, sealed...), nil
}

// Unseal decrypts what Seal made for the same team, user and place.
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
		return nil, fmt.Errorf("store: opening %s: %w", column(where), ErrNoKey)
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

// WarmKeys reads the keys of many users of a team with few queries, so that
// sealing and unsealing in this transaction need not ask for one after the
// other. Users that have none are passed over.
func (tx *Tx) WarmKeys(ctx context.Context, team uuid.UUID, users []uuid.UUID) error {
	cold := make([]uuid.UUID, 0, len(users))
	seen := make(map[uuid.UUID]bool, len(users))
	for _, user := range users {
		s := subject{team, user}
		if tx.fresh[s] == nil && !seen[user] && tx.db.keys.get(s, tx.now) == nil {
			cold, seen[user] = append(cold, user), true
		}
	}
	for len(cold) > 0 {
		width := 1
		for width < warmedAtOnce && width < len(cold) {
			width *= 4
		}
		some := cold[:min(width, len(cold))]
		if err := tx.warmKeys(ctx, team, some, width); err != nil {
			return err
		}
		cold = cold[len(some):]
	}
	return nil
}

// warmedAtOnce is how many keys one query reads; a few are read by fours, so
// that there are few texts to prepare.
const warmedAtOnce = 256

func (tx *Tx) warmKeys(ctx context.Context, team uuid.UUID, users []uuid.UUID, width int) error {
	args := []any{team}
	for i := range width {
		args = append(args, users[min(i, len(users)-1)])
	}
	type row struct {
		user    uuid.UUID
		number  int64
		wrapped []byte
	}
	var all []row
	var b Batch
	b.Query(func(from Scanner) error {
		var r row
		err := from.Scan(&r.user, &r.number, &r.wrapped)
		all = append(all, r)
		return err
	}, `SELECT subject_id, number, wrapped FROM sealing_keys WHERE team_id = $1 AND subject_id IN `+List(2, width), args...)
	if err := tx.Run(ctx, &b); err != nil {
		return fmt.Errorf("store: reading keys: %w", err)
	}
	wrapped := map[uuid.UUID]map[byte][]byte{}
	for _, r := range all {
		if wrapped[r.user] == nil {
			wrapped[r.user] = map[byte][]byte{}
		}
		wrapped[r.user][byte(r.number)] = r.wrapped
	}
	for user, byNo := range wrapped {
		s := subject{team, user}
		keys, err := tx.openKeys(ctx, s, byNo)
		if err != nil {
			return err
		}
		tx.remember(s, keys)
	}
	return nil
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
