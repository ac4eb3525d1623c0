package teams

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// KeyID identifies an API key.
type KeyID = ids.ID[Key]

// Key describes an API key. The text of the key is shown once, at its creation.
type Key struct {
	ID        KeyID
	Team      ID
	Label     string
	Hint      string // prefix and last four characters, which may be shown
	CreatedAt time.Time
	ExpiresAt *time.Time // set by rotation and revocation; nil for no end
	UsedAt    *time.Time // to the minute
	Rights    Rights
}

// Live reports whether the key is valid at now.
func (k Key) Live(now time.Time) bool { return k.ExpiresAt == nil || now.Before(*k.ExpiresAt) }

const (
	keyRandom   = 40 // base62 characters, 238 bits
	longestText = 200
	// ShortestKey and ShortestProductionKey are the minimum lengths of a key that was not
	// generated. Installations of older versions may have shorter ones.
	ShortestKey           = 16
	ShortestProductionKey = 32
	// PhonePrefix begins the access tokens of phones. No key begins with it.
	PhonePrefix = "ua_"
	// LongestOverlap bounds the time for which a rotated key still works.
	LongestOverlap = 7 * 24 * time.Hour
)

// NewKeyText generates the text of a key: prefix, random part and checksum. The checksum
// shows a typing error without a request.
func NewKeyText(env Environment) secrets.Text {
	prefix := "sk_"
	if env == Production {
		prefix = "pk_"
	}
	body := secrets.Random(keyRandom)
	return secrets.Text(fmt.Sprintf("%s%s%08x", prefix, body, crc32.ChecksumIEEE([]byte(body))))
}

// NewKey describes a key to create.
type NewKey struct {
	Label     string
	Rights    Rights
	ExpiresAt *time.Time // nil for no end
}

// CreateKey generates a key for a team and returns its text.
func CreateKey(ctx context.Context, tx *store.Tx, team Team, n NewKey) (Key, secrets.Text, error) {
	text := NewKeyText(team.Environment)
	key, err := addKey(ctx, tx, team, n, text)
	return key, text, err
}

// CheckKey checks the text of a key given from outside.
func CheckKey(text secrets.Text) error {
	plain := text.Reveal()
	if len(plain) < ShortestKey || len(plain) > longestText {
		return fault.Newf(fault.Invalid, "an API key has %d to %d characters", ShortestKey, longestText).At("key")
	}
	if strings.HasPrefix(plain, PhonePrefix) || strings.ContainsFunc(plain, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fault.New(fault.Invalid, "an API key has visible ASCII characters only and does not begin with "+PhonePrefix).At("key")
	}
	return nil
}

// CheckProductionKey checks the length of a key given from outside for a production team.
func CheckProductionKey(text secrets.Text) error {
	if len(text.Reveal()) < ShortestProductionKey {
		return fault.Newf(fault.Invalid, "an API key of a production team has at least %d characters", ShortestProductionKey).At("key")
	}
	return nil
}

// AddKey stores a key without limits and with a given text, such as one from the
// settings at the first start. A key that exists is a Conflict.
func AddKey(ctx context.Context, tx *store.Tx, team Team, label string, text secrets.Text) (Key, error) {
	if err := CheckKey(text); err != nil {
		return Key{}, err
	}
	if team.Environment == Production {
		if err := CheckProductionKey(text); err != nil {
			return Key{}, err
		}
	}
	return addKey(ctx, tx, team, NewKey{Label: label, Rights: FullRights}, text)
}

func addKey(ctx context.Context, tx *store.Tx, team Team, n NewKey, text secrets.Text) (Key, error) {
	plain := text.Reveal()
	if len(n.Label) > longestText {
		return Key{}, fault.Newf(fault.Invalid, "a label has at most %d characters", longestText).At("label")
	}
	if n.ExpiresAt != nil && !n.ExpiresAt.After(tx.Now()) {
		return Key{}, fault.New(fault.Invalid, "the key would have ended already").At("expires_at")
	}
	key := Key{
		ID: ids.FromUUID[Key](tx.NewUUID()), Team: team.ID, Label: n.Label, Hint: plain[:3] + "…" + plain[len(plain)-4:],
		CreatedAt: tx.Now(), ExpiresAt: n.ExpiresAt, Rights: n.Rights,
	}
	if err := requireRootKey(ctx, tx); err != nil {
		return Key{}, err
	}
	code, err := codeOf(tx, secrets.Hash(plain))
	if err != nil {
		return Key{}, err
	}
	proof, err := key.prove(tx, code)
	if err != nil {
		return Key{}, err
	}
	added, err := tx.Exec(ctx, `INSERT INTO api_keys (id, team_id, label, hint, hash, code, proof, created_at, expires_at, scopes, addresses, personal_data)
		VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
		key.ID, key.Team, key.Label, key.Hint, code, proof, key.CreatedAt, key.ExpiresAt,
		joinScopes(key.Rights.Scopes), joinAddresses(key.Rights.Addresses), key.Rights.PersonalData)
	if err != nil {
		return Key{}, fmt.Errorf("teams: adding a key: %w", err)
	}
	if added == 0 {
		return Key{}, fault.New(fault.Conflict, "this API key exists already")
	}
	return key, nil
}

const keyColumns = `id, team_id, label, hint, created_at, expires_at, used_at, scopes, addresses, personal_data`

// scanKey reads keyColumns, and then more columns.
func scanKey(row scanner, more ...any) (Key, error) {
	var k Key
	var scopes, addresses string
	err := row.Scan(append([]any{
		&k.ID, &k.Team, &k.Label, &k.Hint, store.ScanTime(&k.CreatedAt), store.ScanNullTime(&k.ExpiresAt), store.ScanNullTime(&k.UsedAt),
		&scopes, &addresses, &k.Rights.PersonalData,
	}, more...)...)
	if err != nil {
		return k, err
	}
	return k, k.Rights.scan(scopes, addresses)
}

// Keys returns a team's keys, also expired ones, oldest first.
func Keys(ctx context.Context, tx *store.Tx, team ID) ([]Key, error) {
	rows, err := tx.Query(ctx, `SELECT `+keyColumns+` FROM api_keys WHERE team_id = $1 ORDER BY created_at, id`, team)
	if err != nil {
		return nil, fmt.Errorf("teams: listing keys: %w", err)
	}
	defer rows.Close()
	var all []Key
	for rows.Next() {
		k, err := scanKey(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, rows.Err()
}

// GetKey returns one key of a team, or a NotFound fault.
func GetKey(ctx context.Context, tx *store.Tx, team ID, id KeyID) (Key, error) {
	k, err := scanKey(tx.QueryRow(ctx, `SELECT `+keyColumns+` FROM api_keys WHERE team_id = $1 AND id = $2`, team, id))
	if errors.Is(err, store.ErrNoRows) {
		return Key{}, fault.New(fault.NotFound, "API key not found")
	}
	return k, err
}

// RotateKey generates a key with the same label and rights, and without an end. The old
// key works until overlap has passed, at most LongestOverlap.
func RotateKey(ctx context.Context, tx *store.Tx, team Team, id KeyID, overlap time.Duration) (Key, secrets.Text, error) {
	if overlap < 0 || overlap > LongestOverlap {
		return Key{}, "", fault.Newf(fault.Invalid, "the overlap is between 0 and %s", LongestOverlap).At("overlap")
	}
	old, _, ok, err := provenKey(ctx, tx, team.ID, id)
	switch {
	case err != nil:
		return Key{}, "", err
	case !old.Live(tx.Now()):
		return Key{}, "", fault.New(fault.Conflict, "this API key has ended")
	case !ok:
		return Key{}, "", errUnproven
	}
	if err := EndKey(ctx, tx, team.ID, id, tx.Now().Add(overlap)); err != nil {
		return Key{}, "", err
	}
	return CreateKey(ctx, tx, team, NewKey{Label: old.Label, Rights: old.Rights})
}

// ErrNoKey is the error of Resolve for a wrong, an expired and a missing key. Callers
// cannot distinguish the three.
var ErrNoKey = errors.New("teams: no such API key")

// Resolve finds the team and key of a key text. It does the same work for a wrong, an
// expired and a missing text.
func Resolve(ctx context.Context, tx *store.Tx, text string) (Team, Key, error) {
	key, err := find(ctx, tx, secrets.Hash(text))
	if errors.Is(err, store.ErrNoRows) || err == nil && !key.Live(tx.Now()) {
		return Team{}, Key{}, ErrNoKey
	}
	if err != nil {
		return Team{}, Key{}, fmt.Errorf("teams: resolving a key: %w", err)
	}
	team, err := Get(ctx, tx, key.Team)
	return team, key, err
}

// Touch records that a key was used.
func Touch(ctx context.Context, tx *store.Tx, team ID, id KeyID) error {
	_, err := tx.Exec(ctx, `UPDATE api_keys SET used_at = $1 WHERE team_id = $2 AND id = $3`, tx.Now(), team, id)
	return err
}
