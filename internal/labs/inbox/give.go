package inbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// Give hands a report, and the message it came in when it was the only one in
// it, to a team, sealed with a subject's key: that of the user it is about, or
// of something that stands in for a user as long as nobody knows which. A report
// that is not here (any more) is passed over.
func Give(ctx context.Context, tx *store.Tx, report, team, subject uuid.UUID) error {
	r, err := holding(ctx, tx, `SELECT id, team_id, user_id, body FROM inbox_reports WHERE id = $1`, reportPlace, report)
	if err != nil || r == nil {
		return err
	}
	if err := r.move(ctx, tx, `UPDATE inbox_reports SET team_id = $2, user_id = $3, body = $4 WHERE id = $1`, team, subject); err != nil {
		return err
	}
	m, err := messageOf(ctx, tx, report)
	if err != nil || m == nil {
		return err
	}
	return m.move(ctx, tx, `UPDATE inbox_messages SET team_id = $2, user_id = $3, raw = $4 WHERE id = $1`, team, subject)
}

// Discard removes a report, and its message when it was the only one in it.
func Discard(ctx context.Context, tx *store.Tx, report uuid.UUID) error {
	for _, query := range []string{
		`DELETE FROM inbox_messages WHERE id = (SELECT r.message_id FROM inbox_reports r WHERE r.id = $1)
			AND NOT EXISTS (SELECT 1 FROM inbox_reports o WHERE o.message_id = inbox_messages.id AND o.id <> $1)`,
		`DELETE FROM inbox_reports WHERE id = $1`,
	} {
		if _, err := tx.Exec(ctx, query, report); err != nil {
			return fmt.Errorf("inbox: discarding a report: %w", err)
		}
	}
	return nil
}

// held is something sealed with where it stands.
type held struct {
	id, team uuid.UUID
	subject  uuid.NullUUID
	place    string
	sealed   []byte
}

// messageOf is the message of a report that came alone, nil for others.
func messageOf(ctx context.Context, tx *store.Tx, report uuid.UUID) (*held, error) {
	return holding(ctx, tx, `SELECT m.id, m.team_id, m.user_id, m.raw FROM inbox_messages m
		WHERE m.id = (SELECT r.message_id FROM inbox_reports r WHERE r.id = $1)
		AND NOT EXISTS (SELECT 1 FROM inbox_reports o WHERE o.message_id = m.id AND o.id <> $1)`, rawPlace, report)
}

func holding(ctx context.Context, tx *store.Tx, query, place string, id uuid.UUID) (*held, error) {
	h := held{place: place}
	err := tx.QueryRow(ctx, query, id).Scan(&h.id, &h.team, &h.subject, &h.sealed)
	if errors.Is(err, store.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("inbox: reading what is to be handed over: %w", err)
	}
	return &h, nil
}

// move seals it for somebody else.
func (h *held) move(ctx context.Context, tx *store.Tx, query string, team, subject uuid.UUID) error {
	place := h.place + h.id.String()
	plain, err := tx.Unseal(ctx, h.team, h.subject.UUID, place, h.sealed)
	if err != nil {
		return err
	}
	sealed, err := tx.Seal(ctx, team, subject, place, plain)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, query, h.id, team, subject, sealed); err != nil {
		return fmt.Errorf("inbox: handing over: %w", err)
	}
	return nil
}
