package appointments

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// keyLife is the life of a booking key. A key expires earlier when its slot
// begins earlier.
const keyLife = 30 * time.Minute

// bookingKey is the content of a booking key: all that booking needs. It is
// sealed with the team's key, so it cannot be read or forged, and does not
// open for another team.
type bookingKey struct {
	Network string        `json:"n"`
	Kind    Kind          `json:"k"`
	Slot    networks.Slot `json:"s"`
	Address *Address      `json:"a,omitempty"` // of phlebotomy
	Expires time.Time     `json:"x"`
}

const keyPlace = "booking_key"

// seal returns the key. No two keys are equal.
func (t bookingKey) seal(ctx context.Context, tx *store.Tx, team teams.ID) (string, error) {
	doc, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("appointments: marshalling a booking key: %w", err)
	}
	closed, err := tx.Seal(ctx, team.UUID(), uuid.Nil, keyPlace, doc)
	return base64.RawURLEncoding.EncodeToString(closed), err
}

// The refusals of booking keys. Reference 2.7: 400 for each.
var (
	errBadKey     = badKey("booking_key is not one of this team's booking keys; ask for availability", "booking_key_invalid")
	errKeyExpired = badKey("booking_key has expired; ask for availability again", "booking_key_expired")
	errKeyUsed    = badKey("booking_key was used before; ask for availability again", "booking_key_used")
	errOtherKey   = badKey("booking_key is for another kind of appointment, lab or provider", "booking_key_mismatch")
)

func badKey(msg, code string) error {
	return fault.New(fault.Refused, msg).At("body", "booking_key").WithType(code)
}

// openKey opens a booking key of the team.
func openKey(ctx context.Context, tx *store.Tx, team teams.ID, key string) (bookingKey, error) {
	var t bookingKey
	closed, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil || len(closed) == 0 {
		return t, errBadKey
	}
	doc, err := tx.Unseal(ctx, team.UUID(), uuid.Nil, keyPlace, closed)
	if errors.Is(err, secrets.ErrSealed) || errors.Is(err, store.ErrNoKey) {
		return t, errBadKey
	}
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(doc, &t); err != nil {
		return t, errBadKey
	}
	if !tx.Now().Before(t.Expires) {
		return t, errKeyExpired
	}
	return t, nil
}

// use marks a booking key as used, in the transaction that begins the booking.
func (t bookingKey) use(ctx context.Context, tx *store.Tx, team teams.ID, key string) error {
	n, err := tx.Exec(ctx, `INSERT INTO booking_keys_used (team_id, key_hash, expires_at) VALUES ($1, $2, $3)
		ON CONFLICT (team_id, key_hash) DO NOTHING`, team, secrets.Hash(key), t.Expires)
	if err != nil {
		return fmt.Errorf("appointments: using a booking key: %w", err)
	}
	if n == 0 {
		return errKeyUsed
	}
	return nil
}

// forgetKeys deletes used keys that have expired.
func forgetKeys(ctx context.Context, tx *store.Tx) error {
	_, err := tx.Exec(ctx, `DELETE FROM booking_keys_used WHERE expires_at < $1`, tx.Now())
	return err
}
