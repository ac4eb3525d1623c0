package webhooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Secret is the shared key of one endpoint. Its text form is whsec_ followed
// by the standard base64 of 24 to 64 bytes, as receivers' libraries expect.
//
// It prints as [withheld]; Reveal returns the text form.
type Secret struct{ key []byte }

const (
	secretPrefix = "whsec_"
	newSecretLen = 32
	minSecretLen = 24
	maxSecretLen = 64
)

// NewSecret makes a random secret of 32 bytes.
func NewSecret() Secret {
	key := make([]byte, newSecretLen)
	rand.Read(key) // never fails: crypto/rand ends the process instead
	return Secret{key}
}

// SecretPattern matches the texts that ParseSecret accepts. It is for the OpenAPI document.
const SecretPattern = `^whsec_(?:[A-Za-z0-9+/]{4}){8}(?:(?:[A-Za-z0-9+/]{4}){0,13}|(?:[A-Za-z0-9+/]{4}){0,13}[A-Za-z0-9+/][AQgw]==|(?:[A-Za-z0-9+/]{4}){0,12}[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)$` //nolint:gosec // the form of a secret

// ParseSecret reads the text form of a secret that a caller chose. The error
// never repeats the text.
func ParseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	if !ok {
		return Secret{}, fault.New(fault.Invalid, "must begin with whsec_ followed by the base64 of 24 to 64 bytes")
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") { // which the decoder passes over
		return Secret{}, fault.New(fault.Invalid, "must be standard base64 with padding after whsec_")
	}
	if len(key) < minSecretLen || len(key) > maxSecretLen {
		return Secret{}, fault.New(fault.Invalid, "must hold between 24 and 64 bytes")
	}
	return Secret{key}, nil
}

// Reveal returns the text form.
func (s Secret) Reveal() string {
	return secretPrefix + base64.StdEncoding.EncodeToString(s.key)
}

// String hides the secret from logs and error texts.
func (s Secret) String() string { return "[withheld]" }

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return "[withheld]" }

// Bounds of a rotation. The earlier secret also signs for the time of the overlap,
// so that the receiver can change to the new one.
const (
	DefaultOverlap = 24 * time.Hour
	MaxOverlap     = 7 * 24 * time.Hour
	maxSecrets     = 10 // valid at once
)

func secretPlace(id uuid.UUID) string { return "webhook_secrets.secret:" + id.String() }

func addSecret(ctx context.Context, tx *store.Tx, team teams.ID, endpoint EndpointID, s Secret) error {
	id := tx.NewUUID()
	sealed, err := tx.Seal(ctx, team.UUID(), uuid.Nil, secretPlace(id), s.key)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO webhook_secrets (team_id, endpoint_id, id, secret, created_at) VALUES ($1, $2, $3, $4, $5)`,
		team, endpoint, id, sealed, store.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("webhooks: storing a secret: %w", err)
	}
	return nil
}

// ValidSecrets reads the secrets that sign at a moment, newest first.
func ValidSecrets(ctx context.Context, tx *store.Tx, team teams.ID, endpoint EndpointID, now time.Time) ([]ValidSecret, error) {
	rows, err := tx.Query(ctx, `SELECT id, secret, expires_at FROM webhook_secrets
		WHERE team_id = $1 AND endpoint_id = $2 AND (expires_at IS NULL OR expires_at > $3) ORDER BY id DESC`,
		team, endpoint, store.Micros(now))
	if err != nil {
		return nil, fmt.Errorf("webhooks: reading secrets: %w", err)
	}
	defer rows.Close()
	var all []ValidSecret
	var ids []uuid.UUID
	for rows.Next() {
		var id uuid.UUID
		var v ValidSecret
		var expires *time.Time
		if err := rows.Scan(&id, &v.Secret.key, store.ScanNullTime(&expires)); err != nil {
			return nil, err
		}
		v.Expires = orZero(expires)
		all, ids = append(all, v), append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Secret.key, err = tx.Unseal(ctx, team.UUID(), uuid.Nil, secretPlace(ids[i]), all[i].Secret.key); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// CurrentSecret reads the newest secret of an endpoint.
func CurrentSecret(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) (Secret, error) {
	if _, err := Get(ctx, tx, team, id); err != nil {
		return Secret{}, err
	}
	all, err := ValidSecrets(ctx, tx, team, id, tx.Now())
	if err != nil {
		return Secret{}, err
	}
	if len(all) == 0 {
		return Secret{}, fmt.Errorf("webhooks: %s has no secret", id)
	}
	return all[0].Secret, nil
}

// RotateSecret makes s the secret of an endpoint, or a new one if s is nil. The
// earlier ones sign until overlap has passed. Rotating to the current secret changes
// nothing, so a request may be repeated.
func RotateSecret(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, s *Secret, overlap time.Duration) error {
	if overlap < 0 || overlap > MaxOverlap {
		return fault.New(fault.Invalid, "must be between 0 and 604800 seconds").At("body", "overlap_seconds")
	}
	current, err := CurrentSecret(ctx, tx, team, id)
	if err != nil {
		return err
	}
	if s == nil {
		fresh := NewSecret()
		s = &fresh
	}
	if bytes.Equal(current.key, s.key) {
		return nil
	}
	if err := expireSecrets(ctx, tx, team, id, overlap); err != nil {
		return err
	}
	if err := addSecret(ctx, tx, team, id, *s); err != nil {
		return err
	}
	return touch(ctx, tx, team, id)
}

// expireSecrets ends the present secrets after the overlap. It ends the oldest at
// once if too many would be valid.
func expireSecrets(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, overlap time.Duration) error {
	now := tx.Now()
	_, err := tx.Exec(ctx, `UPDATE webhook_secrets SET expires_at = $1
		WHERE team_id = $2 AND endpoint_id = $3 AND (expires_at IS NULL OR expires_at > $1)`,
		store.Micros(now.Add(overlap)), team, id)
	if err != nil {
		return fmt.Errorf("webhooks: ending secrets: %w", err)
	}
	_, err = tx.Exec(ctx, `UPDATE webhook_secrets SET expires_at = $1
		WHERE team_id = $2 AND endpoint_id = $3 AND expires_at > $1 AND id NOT IN (
			SELECT id FROM webhook_secrets WHERE team_id = $2 AND endpoint_id = $3 AND expires_at > $1
			ORDER BY id DESC LIMIT $4)`,
		store.Micros(now), team, id, maxSecrets-1)
	if err != nil {
		return fmt.Errorf("webhooks: ending secrets: %w", err)
	}
	return nil
}

// Signer makes the signature header of one endpoint:
//
//	v1,base64(HMAC-SHA256(secret, id + "." + timestamp + "." + body))
//
// once per valid secret, separated by spaces, newest secret first, so that a
// receiver that knows either secret of a rotation can verify. The scheme is
// the one of the Standard Webhooks specification 1.0.0.
//
// A Signer keeps its hash states between calls and belongs to one goroutine.
type Signer struct {
	keys    []signingKey
	scratch []byte
}

type signingKey struct {
	mac     hash.Hash
	expires time.Time // zero while the secret is the current one
}

// ValidSecret holds a secret and the moment when it expires. The zero time means
// that it is the current one.
type ValidSecret struct {
	Secret  Secret
	Expires time.Time
}

// NewSigner prepares the secrets, given newest first.
func NewSigner(secrets []ValidSecret) *Signer {
	s := &Signer{keys: make([]signingKey, 0, len(secrets))}
	for _, v := range secrets {
		s.keys = append(s.keys, signingKey{hmac.New(sha256.New, v.Secret.key), v.Expires})
	}
	return s
}

// Sign returns the values of the webhook-timestamp and webhook-signature headers for
// an attempt at the given moment.
func (s *Signer) Sign(id string, at time.Time, body []byte) (timestamp, signature string) {
	timestamp = strconv.FormatInt(at.Unix(), 10)
	out := s.scratch[:0]
	for i := range s.keys {
		key := &s.keys[i]
		if !key.expires.IsZero() && !at.Before(key.expires) {
			continue
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, "v1,"...)
		out = base64.StdEncoding.AppendEncode(out, key.sum(id, timestamp, body))
	}
	s.scratch = out
	return timestamp, string(out)
}

func (k *signingKey) sum(id, timestamp string, body []byte) []byte {
	k.mac.Reset()
	var head [96]byte
	h := append(head[:0], id...)
	h = append(h, '.')
	h = append(h, timestamp...)
	h = append(h, '.')
	k.mac.Write(h)
	k.mac.Write(body)
	return k.mac.Sum(head[:0])
}
