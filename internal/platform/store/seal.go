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

	"hale/internal/platform/secrets"
)

// Sealing: the root key wraps a key for each team, the team's key wraps a key for
// each user, and these keys seal values. Deleting a key makes everything sealed with
// it unreadable, in this database and in every copy without the old key row.
//
// A sealed value is one byte with the number of the key, and then the AES-GCM text. A
// subject may get a newer key while values of older keys stay readable.

// ErrNoKey is returned for a subject without keys: they were shredded, or a read-only
// transaction would have to create one.
var ErrNoKey = errors.New("store: no sealing key")

// Seal encrypts plain with the subject's key, and creates the key at its first use.
// user is the user of the value, or uuid.Nil for the team's own secrets. where is the
// location of the value ("table.column:row") and is bound to it.
func (tx *Tx) Seal(ctx context.Context, team, user uuid.UUID, where string, plain []byte) ([]byte, error) {
	keys, err := tx.keysOf(ctx, subject{team, user})
	if errors.Is(err, ErrNoKey) && !tx.readOnly {
		keys, err = tx.makeKey(ctx, subject{team, user})
	}
	if err != nil {
		return nil, fmt.Errorf("store: sealing %s: %w", columnName(where), err)
	}
	sealed := append(make([]byte, 0, 1+len(plain)+secrets.Overhead), keys.newest)
	return keys.byNo[keys.newest].Seal(sealed, where, plain), nil
}

// Unseal decrypts a value that Seal made for the same team, user and location. It
// returns secrets.ErrSealed for a damaged value. Shredding deletes all keys of a
// subject, so a value with an unknown key number is damaged if the subject has keys.
func (tx *Tx) Unseal(ctx context.Context, team, user uuid.UUID, where string, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, fmt.Errorf("store: opening %s: %w", columnName(where), secrets.ErrSealed)
	}
	keys, err := tx.keysOf(ctx, subject{team, user})
	if err != nil {
		return nil, fmt.Errorf("store: opening %s: %w", columnName(where), err)
	}
	key, ok := keys.byNo[sealed[0]]
	if !ok {
		if key, err = tx.loadKey(ctx, subject{team, user}, sealed[0]); err != nil {
			return nil, fmt.Errorf("store: opening %s: %w", columnName(where), err)
		}
	}
	plain, err := key.Open(where, sealed[1:])
	if err != nil {
		return nil, fmt.Errorf("store: opening %s: %w", columnName(where), err)
	}
	return plain, nil
}

// HasKey reports whether the subject has a key. If so, the rest of the transaction
// uses it, and creates no key for a subject that is shredded meanwhile. Call it before
// writing about a user who may be erased.
func (tx *Tx) HasKey(ctx context.Context, team, user uuid.UUID) (bool, error) {
	s := subject{team, user}
	keys, err := tx.keysOf(ctx, s)
	if errors.Is(err, ErrNoKey) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("store: reading a key: %w", err)
	}
	tx.remember(s, keys)
	return true, nil
}

// columnName returns the table and column of a location, without its row.
func columnName(where string) string {
	for i := range len(where) {
		if where[i] == ':' {
			return where[:i]
		}
	}
	return where
}

// Shred deletes the subject's keys, which makes everything sealed with them
// unreadable. With a zero user it deletes the keys of the team and of all its users.
// Other nodes can use a cached key for keyTTL.
func (tx *Tx) Shred(ctx context.Context, team, user uuid.UUID) error {
	query, args := `DELETE FROM sealing_keys WHERE team_id = $1`, []any{team}
	if user != uuid.Nil {
		query, args = query+` AND subject_id = $2`, append(args, user)
	}
	_, err := tx.Exec(ctx, query, args...)
	deleteKeys(tx.fresh, subject{team, user})
	tx.AfterCommit(func() { tx.db.keys.remove(subject{team, user}) })
	return err
}

// subject is the owner of sealing keys: a user, or a team if user is zero.
type subject struct{ team, user uuid.UUID }

// subjectKeys holds the unwrapped keys of one subject, by number.
type subjectKeys struct {
	newest byte
	byNo   map[byte]*secrets.Key
	readAt time.Time // start of the transaction that read them
}

// keysOf returns the keys of a subject, from the cache or the database.
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
	if tx.readOnly { // in a write, the row may be part of this transaction, which can still fail
		tx.db.keys.put(s, keys, tx.drops)
	}
	tx.remember(s, keys)
	return keys, nil
}

// loadKey reads a key that the cached keys of its subject do not contain. Another node
// may have created it, or shredded all of them.
func (tx *Tx) loadKey(ctx context.Context, s subject, no byte) (*secrets.Key, error) {
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
	keys := &subjectKeys{byNo: make(map[byte]*secrets.Key, len(wrapped)), readAt: tx.now}
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

// makeKey creates the first key of a subject.
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
	if made == 0 { // another transaction created one
		return tx.keysOf(ctx, s)
	}
	key, err := secrets.NewKey(raw)
	if err != nil {
		return nil, err
	}
	keys := &subjectKeys{newest: 1, byNo: map[byte]*secrets.Key{1: key}, readAt: tx.now}
	tx.remember(s, keys)
	return keys, nil
}

// remember keeps keys for the rest of the transaction, and caches them after its
// commit.
func (tx *Tx) remember(s subject, keys *subjectKeys) {
	if tx.fresh == nil {
		tx.fresh = map[subject]*subjectKeys{}
	}
	tx.fresh[s] = keys
}

func keyLocation(s subject, no byte) string {
	return fmt.Sprintf("sealing_keys.wrapped:%s:%s:%d", s.team, s.user, no)
}

// wrap seals a user's key with the team's key, and a team's key with the root key.
func (tx *Tx) wrap(ctx context.Context, s subject, no byte, raw []byte) ([]byte, error) {
	if s.user == uuid.Nil {
		return tx.db.root.Seal(keyLocation(s, no), raw)
	}
	return tx.Seal(ctx, s.team, uuid.Nil, keyLocation(s, no), raw)
}

func (tx *Tx) unwrap(ctx context.Context, s subject, no byte, wrapped []byte) ([]byte, error) {
	if s.user == uuid.Nil {
		return tx.db.root.Open(keyLocation(s, no), wrapped)
	}
	return tx.Unseal(ctx, s.team, uuid.Nil, keyLocation(s, no), wrapped)
}

// Root returns the root keys for one purpose, for codes of rows. See secrets.Root.Derive.
func (db *DB) Root(purpose string) *secrets.Root {
	derived, ok := db.derived.Load(purpose)
	if !ok {
		derived, _ = db.derived.LoadOrStore(purpose, db.root.Derive(purpose))
	}
	return derived.(*secrets.Root)
}

// Root returns the root keys of the database for one purpose, like DB.Root.
func (tx *Tx) Root(purpose string) *secrets.Root { return tx.db.Root(purpose) }

// ProveRoot opens the key of every team. It returns secrets.ErrSealed if the root key
// does not open all of them.
func (db *DB) ProveRoot(ctx context.Context) error {
	return db.Read(ctx, func(tx *Tx) error {
		return tx.eachTeamKey(ctx, func(team uuid.UUID, number byte, wrapped []byte) error {
			_, err := db.root.Open(keyLocation(subject{team, uuid.Nil}, number), wrapped)
			return err
		})
	})
}

// eachTeamKey calls fn for the keys of all teams.
func (tx *Tx) eachTeamKey(ctx context.Context, fn func(team uuid.UUID, number byte, wrapped []byte) error) error {
	rows, err := tx.Query(ctx, `SELECT team_id, number, wrapped FROM sealing_keys WHERE subject_id = $1`, uuid.Nil)
	if err != nil {
		return fmt.Errorf("store: reading sealed keys: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var team uuid.UUID
		var number int64
		var wrapped []byte
		if err := rows.Scan(&team, &number, &wrapped); err != nil {
			return err
		}
		if err := fn(team, byte(number), wrapped); err != nil {
			return err
		}
	}
	return rows.Err()
}

const (
	maxCachedKeys = 200_000
	// keyTTL is the lifetime of a cached key. After one node shreds a key, other nodes
	// can use it for that long.
	keyTTL = time.Minute
)

// keyCache holds unwrapped keys. When it is full, it is emptied.
type keyCache struct {
	mu    sync.RWMutex
	keys  map[subject]*subjectKeys
	drops atomic.Uint64 // number of calls of remove
}

// get returns the keys of a subject, or nil if they are not cached or expired at now.
func (c *keyCache) get(s subject, now time.Time) *subjectKeys {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k := c.keys[s]
	if k == nil || now.Sub(k.readAt).Abs() >= keyTTL { // a clock can be set back
		return nil
	}
	return k
}

// put adds the keys that a transaction read. drops is the value of c.drops when the
// transaction began: if it changed, the keys may have been removed since.
func (c *keyCache) put(s subject, k *subjectKeys, drops uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if drops != c.drops.Load() {
		return
	}
	if c.keys == nil || len(c.keys) >= maxCachedKeys {
		c.keys = map[subject]*subjectKeys{}
	}
	c.keys[s] = k
}

func (c *keyCache) remove(s subject) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops.Add(1)
	deleteKeys(c.keys, s)
}

// deleteKeys removes the keys of a subject, and for a team those of its users.
func deleteKeys(keys map[subject]*subjectKeys, s subject) {
	delete(keys, s)
	if s.user == uuid.Nil {
		maps.DeleteFunc(keys, func(of subject, _ *subjectKeys) bool { return of.team == s.team })
	}
}

// WarmKeys reads the keys of many users of a team with few queries. So Seal and Unseal
// in this transaction do not read them one by one. It skips users without keys.
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
		for width < maxKeysPerQuery && width < len(cold) {
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

// maxKeysPerQuery is the largest number of users in one query. Smaller queries have a
// power of four, so that there are few texts to prepare.
const maxKeysPerQuery = 256

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
	}, `SELECT subject_id, number, wrapped FROM sealing_keys WHERE team_id = $1 AND subject_id IN `+Placeholders(2, width), args...)
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
