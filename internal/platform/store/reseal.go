package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
)

// A root key is replaced in steps:
//
//  1. Every process loads the new key, which only opens.
//  2. The new key seals, and Reseal wraps the keys of the database again.
//  3. The old key is retired.
//
// Each step can be repeated.

// Resealed counts the keys that were wrapped again.
type Resealed struct {
	Teams int // with a new key
	Users int // keys of users
}

// resealBatch is the number of users' keys that one transaction wraps.
const resealBatch = 500

// Reseal wraps the keys of the database with the first root key. Each team whose key
// another root key wrapped gets a new key, which wraps the keys of its users. The former
// keys of the team stay, for the team's own values. progress is called after each
// transaction. ctx is the system's.
func (db *DB) Reseal(ctx context.Context, progress func(Resealed)) (done Resealed, err error) {
	teams, err := db.teamsWithKeys(ctx)
	if err != nil {
		return done, err
	}
	for _, team := range teams {
		renewed := false
		err := db.Write(ctx, func(tx *Tx) (err error) {
			renewed, err = tx.renewTeamKey(ctx, team)
			return err
		})
		if err != nil {
			return done, fmt.Errorf("store: sealing the key of team %s: %w", team, err)
		}
		if renewed {
			done.Teams++
			progress(done)
		}
		for after, more := uuid.Nil, true; more; {
			n := 0
			err := db.Write(ctx, func(tx *Tx) (err error) {
				n, after, more, err = tx.rewrapUsers(ctx, team, after)
				return err
			})
			if err != nil {
				return done, fmt.Errorf("store: sealing keys of users of team %s: %w", team, err)
			}
			if n > 0 {
				done.Users += n
				progress(done)
			}
		}
	}
	return done, db.Write(ctx, func(tx *Tx) error { return tx.resealRetired(ctx) })
}

func (db *DB) teamsWithKeys(ctx context.Context) (all []uuid.UUID, err error) {
	err = db.Read(ctx, func(tx *Tx) error {
		return tx.eachTeamKey(ctx, func(team uuid.UUID, _ byte, _ []byte) error {
			if !slices.Contains(all, team) {
				all = append(all, team)
			}
			return nil
		})
	})
	return all, err
}

// renewTeamKey wraps the keys of a team with the first root key, and adds a new one, if
// another root key wrapped the newest.
func (tx *Tx) renewTeamKey(ctx context.Context, team uuid.UUID) (renewed bool, err error) {
	if err := tx.Lock(ctx, "sealing keys:"+team.String()); err != nil {
		return false, err
	}
	s := subject{team, uuid.Nil}
	wrapped, err := tx.wrappedKeys(ctx, s)
	if err != nil {
		return false, err
	}
	newest := byte(0)
	for no := range wrapped {
		newest = max(newest, no)
	}
	renew := len(wrapped) > 0 && !tx.db.root.IsCurrent(wrapped[newest]) && newest < maxKeyNumber
	for no, old := range wrapped {
		if tx.db.root.IsCurrent(old) {
			continue
		}
		raw, err := tx.unwrap(ctx, s, no, old)
		if err != nil {
			return false, err
		}
		if err := tx.rewrap(ctx, s, no, old, raw); err != nil {
			return false, err
		}
	}
	if renew {
		raw := secrets.Bytes(secrets.KeySize)
		sealed, err := tx.wrap(ctx, s, newest+1, raw)
		if err != nil {
			return false, err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO sealing_keys (team_id, subject_id, number, wrapped, created_at) VALUES ($1, $2, $3, $4, $5)`,
			team, uuid.Nil, int64(newest+1), sealed, Micros(tx.now)); err != nil {
			return false, err
		}
		deleteKeys(tx.fresh, s)
		tx.AfterCommit(func() { tx.db.keys.remove(s) })
	}
	return renew, nil
}

// maxKeyNumber is the greatest number of a key. Each sealed value begins with this
// number, in one byte.
const maxKeyNumber = 255

// rewrap replaces the stored form of a key, unless it was shredded or changed meanwhile.
func (tx *Tx) rewrap(ctx context.Context, s subject, no byte, old, raw []byte) error {
	sealed, err := tx.wrap(ctx, s, no, raw)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE sealing_keys SET wrapped = $1 WHERE team_id = $2 AND subject_id = $3 AND number = $4 AND wrapped = $5`,
		sealed, s.team, s.user, int64(no), old)
	return err
}

// rewrapUsers wraps the keys of the next users with the newest key of their team.
func (tx *Tx) rewrapUsers(ctx context.Context, team, after uuid.UUID) (n int, last uuid.UUID, more bool, err error) {
	own, err := tx.keysOf(ctx, subject{team, uuid.Nil})
	if errors.Is(err, ErrNoKey) { // the team was shredded meanwhile
		return 0, after, false, nil
	}
	if err != nil {
		return 0, after, false, err
	}
	type row struct {
		subject
		no      byte
		wrapped []byte
	}
	rows, err := tx.Query(ctx, `SELECT subject_id, number, wrapped FROM sealing_keys
		WHERE team_id = $1 AND subject_id > $2 ORDER BY subject_id, number LIMIT $3`, team, after, resealBatch+1)
	if err != nil {
		return 0, after, false, err
	}
	defer rows.Close()
	var all []row
	for rows.Next() {
		r := row{subject: subject{team: team}}
		var no int64
		if err := rows.Scan(&r.user, &no, &r.wrapped); err != nil {
			return 0, after, false, err
		}
		r.no = byte(no)
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		return 0, after, false, err
	}
	rows.Close()
	if more = len(all) > resealBatch; more { // the last user may have more keys
		end := all[resealBatch].user
		for len(all) > 0 && all[len(all)-1].user == end {
			all = all[:len(all)-1]
		}
	}
	for _, r := range all {
		last = r.user
		if len(r.wrapped) > 0 && r.wrapped[0] == own.newest {
			continue
		}
		raw, err := tx.unwrap(ctx, r.subject, r.no, r.wrapped)
		if err != nil {
			return 0, after, false, err
		}
		if err := tx.rewrap(ctx, r.subject, r.no, r.wrapped, raw); err != nil {
			return 0, after, false, err
		}
		n++
	}
	return n, last, more, nil
}

// CodePurposes are the purposes of the keys for codes that stay known when their root
// key is retired.
var CodePurposes = []string{AuditPurpose, KeyCodePurpose}

// The purposes of such keys.
const (
	AuditPurpose   = "audit log"
	KeyCodePurpose = "API keys"
)

func retiredPlace(id secrets.KeyID, purpose string) string {
	return "retired_root_keys.sealed:" + id.String() + ":" + purpose
}

// RetireRootKey stores what must remain of a root key. It fails if the key still wraps a
// key: call Reseal before.
func (tx *Tx) RetireRootKey(ctx context.Context, id secrets.KeyID) error {
	needed, err := tx.teamsSealedBy(ctx, id)
	if err != nil {
		return err
	}
	if needed > 0 {
		return fmt.Errorf("store: root key %s still wraps keys of %d teams", id, needed)
	}
	for _, purpose := range CodePurposes {
		raw, ok := tx.db.root.Raw(id, purpose)
		if !ok {
			return fmt.Errorf("store: root key %s is not known", id)
		}
		sealed, err := tx.db.root.Seal(retiredPlace(id, purpose), raw)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO retired_root_keys (id, purpose, sealed, retired_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (id, purpose) DO UPDATE SET sealed = excluded.sealed`, id[:], purpose, sealed, Micros(tx.now)); err != nil {
			return fmt.Errorf("store: retiring a root key: %w", err)
		}
	}
	return nil
}

// teamsSealedBy counts the keys of teams that a root key wrapped.
func (tx *Tx) teamsSealedBy(ctx context.Context, id secrets.KeyID) (n int, err error) {
	use, err := tx.RootKeyUse(ctx)
	return use[id], err
}

// RootKeyUse counts the keys of teams by the root key that wrapped them.
func (tx *Tx) RootKeyUse(ctx context.Context) (map[secrets.KeyID]int, error) {
	use := map[secrets.KeyID]int{}
	err := tx.eachTeamKey(ctx, func(_ uuid.UUID, _ byte, wrapped []byte) error {
		use[secrets.SealedBy(wrapped)]++
		return nil
	})
	return use, err
}

type retiredKey struct {
	id      secrets.KeyID
	purpose string
	sealed  []byte
}

func (tx *Tx) retiredKeys(ctx context.Context) (all []retiredKey, err error) {
	rows, err := tx.Query(ctx, `SELECT id, purpose, sealed FROM retired_root_keys ORDER BY retired_at, id, purpose`)
	if err != nil {
		return nil, fmt.Errorf("store: reading retired root keys: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var k retiredKey
		var id []byte
		if err := rows.Scan(&id, &k.purpose, &k.sealed); err != nil {
			return nil, err
		}
		k.id = secrets.SealedBy(id)
		all = append(all, k)
	}
	return all, rows.Err()
}

// resealRetired seals what remains of retired keys with the first root key.
func (tx *Tx) resealRetired(ctx context.Context) error {
	all, err := tx.retiredKeys(ctx)
	if err != nil {
		return err
	}
	for _, k := range all {
		if tx.db.root.IsCurrent(k.sealed) {
			continue
		}
		raw, err := tx.db.root.Open(retiredPlace(k.id, k.purpose), k.sealed)
		if err != nil {
			return fmt.Errorf("store: opening a retired root key: %w", err)
		}
		sealed, err := tx.db.root.Seal(retiredPlace(k.id, k.purpose), raw)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE retired_root_keys SET sealed = $1 WHERE id = $2 AND purpose = $3`, sealed, k.id[:], k.purpose); err != nil {
			return err
		}
	}
	return nil
}

// LoadRetiredKeys makes codes of retired root keys known. Call it once after Migrate,
// before codes are checked. A process without the root key knows none. ctx is the
// system's.
func (db *DB) LoadRetiredKeys(ctx context.Context) error {
	if len(db.root.IDs()) == 0 {
		return nil
	}
	var all []retiredKey
	err := db.Read(ctx, func(tx *Tx) (err error) {
		all, err = tx.retiredKeys(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for _, k := range all {
		raw, err := db.root.Open(retiredPlace(k.id, k.purpose), k.sealed)
		if err != nil {
			return fmt.Errorf("store: opening a retired root key: %w", err)
		}
		if err := db.root.CheckWith(k.purpose, raw); err != nil {
			return err
		}
	}
	return nil
}

// RootKeys returns the ids of the root keys of this process, separated by spaces. The key
// that seals comes first.
func (db *DB) RootKeys() string {
	var ids []string
	for _, id := range db.root.IDs() {
		ids = append(ids, id.String())
	}
	return strings.Join(ids, " ")
}
