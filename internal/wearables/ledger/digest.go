package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// The body could be guessed from a plain hash of one heart rate, and the hash would
// outlive the user's key in backups. So digests are keyed with a random, sealed key of the
// user.

const keySize = 32

// maxKeys bounds the cache, which is emptied when full.
const maxKeys = 100_000

type keyCache struct {
	mu   sync.RWMutex
	keys map[users.ID][keySize]byte
}

func (c *keyCache) get(user users.ID) (key [keySize]byte, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	key, ok = c.keys[user]
	return key, ok
}

func (c *keyCache) put(user users.ID, key [keySize]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys == nil || len(c.keys) >= maxKeys {
		c.keys = map[users.ID][keySize]byte{}
	}
	c.keys[user] = key
}

// Ledger stores payloads. A process has one. The zero value is ready to use.
type Ledger struct{ keys keyCache }

// keyOf returns the user's key of digests, and creates it on first use.
func (l *Ledger) keyOf(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([keySize]byte, error) {
	if key, ok := l.keys.get(user); ok {
		return key, nil
	}
	key, err := readKey(ctx, tx, team, user)
	if errors.Is(err, store.ErrNoRows) {
		key, err = makeKey(ctx, tx, team, user)
	}
	if err != nil {
		return key, fmt.Errorf("ledger: reading the key of digests: %w", err)
	}
	tx.AfterCommit(func() { l.keys.put(user, key) })
	return key, nil
}

func placeOfKey(user users.ID) string { return "payload_keys.key:" + user.String() }

func readKey(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (key [keySize]byte, err error) {
	var sealed []byte
	if err := tx.QueryRow(ctx, `SELECT key FROM payload_keys WHERE team_id = $1 AND user_id = $2`, team, user).Scan(&sealed); err != nil {
		return key, err
	}
	plain, err := tx.Unseal(ctx, team.UUID(), user.UUID(), placeOfKey(user), sealed)
	if err != nil {
		return key, err
	}
	copy(key[:], plain)
	return key, nil
}

func makeKey(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (key [keySize]byte, err error) {
	if _, err := rand.Read(key[:]); err != nil {
		return key, err
	}
	sealed, err := tx.Seal(ctx, team.UUID(), user.UUID(), placeOfKey(user), key[:])
	if err != nil {
		return key, err
	}
	n, err := tx.Exec(ctx, `INSERT INTO payload_keys (team_id, user_id, key, forgotten) VALUES ($1, $2, $3, FALSE)
		ON CONFLICT (user_id) DO NOTHING`, team, user, sealed)
	if err == nil && n == 0 { // another transaction created it
		err = store.ErrLostRace
	}
	return key, err
}

// digest returns the id of a payload with these parts. The id of a body about an hour
// begins with the hour, as ids of version 7 begin with a time. Other ids are of version
// 8.
func digest(key [keySize]byte, about hour, kind, provider, resource string, parts ...[]byte) ID {
	mac := hmac.New(sha256.New, key[:])
	for _, word := range []string{kind, provider, resource} {
		mac.Write(append([]byte(word), 0))
	}
	for _, part := range parts {
		mac.Write(part)
	}
	var id uuid.UUID
	copy(id[:], mac.Sum(nil))
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	if about > 0 {
		binary.BigEndian.PutUint32(id[:], uint32(about.millis()>>16))
		binary.BigEndian.PutUint16(id[4:], uint16(about.millis()))
		id[6] = id[6]&0x0f | 0x70
	}
	return ids.FromUUID[Payload](id)
}
