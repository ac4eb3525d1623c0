package webhooks

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// After a rotation the earlier secret signs too, for a while, so that the
// receiver can change over at leisure.
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

// CurrentSecret reads the secret that a receiver should know now.
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

// RotateSecret makes s the secret of an endpoint, or a new one when s is nil.
// The earlier ones sign until overlap has passed. Rotating to the secret that
// is current already changes nothing, so a repeated request is harmless.
func RotateSecret(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, s *Secret, overlap time.Duration) error {
	if overlap < 0 || overlap > MaxOverlap {
		return fault.New(fault.Invalid, "must be between 0 and 168 hours").At("body", "overlap_hours")
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

// expireSecrets ends the present secrets after the overlap, and those beyond
// the number that may be valid at once right away.
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
