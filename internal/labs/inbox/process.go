package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
)

// queuedMessage is a report that waits.
type queuedMessage struct {
	Arrival
	message uuid.UUID
	body    []byte
}

// handle works through a queue, one transaction for each report.
func (s *Service) handle(ctx context.Context, run *jobs.Run, args queueArgs) error {
	ctx = store.AsSystem(ctx)
	for n := int64(0); ; n++ {
		var more bool
		err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
			more, err = s.next(ctx, tx, args.Queue)
			return err
		})
		if err != nil || !more {
			return err
		}
		if err := run.Progress(ctx, n, 0, "reports"); err != nil {
			return err
		}
	}
}

// next handles the oldest report of a queue and reports whether there was one.
func (s *Service) next(ctx context.Context, tx *store.Tx, queue string) (bool, error) {
	q, err := oldestReport(ctx, tx, queue)
	if errors.Is(err, store.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	doc, err := tx.Unseal(ctx, uuid.Nil, uuid.Nil, reportPlace+q.ID.String(), q.body)
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(doc, &q.Report); err != nil {
		return false, fmt.Errorf("inbox: decoding stored report %s: %w", q.ID, err)
	}
	return true, s.process(ctx, tx, q, doc)
}

func oldestReport(ctx context.Context, tx *store.Tx, queue string) (queuedMessage, error) {
	var q queuedMessage
	var n int64
	var messageKey string
	err := tx.QueryRow(ctx, `SELECT r.id, r.message_id, r.n, r.received_at, r.body, m.network, m.key FROM inbox_reports r
		JOIN inbox_messages m ON m.id = r.message_id WHERE r.lane = $1 AND r.state = 'queued' ORDER BY r.id LIMIT 1`, queue).
		Scan(&q.ID, &q.message, &n, store.ScanTime(&q.ReceivedAt), &q.body, &q.Network, &messageKey)
	q.Key = reportKey(q.Network, messageKey, n)
	return q, err
}

// ReadArrival returns a stored report with its origin, or a NotFound fault. The
// report must belong to no team yet.
func ReadArrival(ctx context.Context, tx *store.Tx, id uuid.UUID) (Arrival, error) {
	var q queuedMessage
	var n int64
	var messageKey string
	err := tx.QueryRow(ctx, `SELECT r.id, r.n, r.received_at, r.body, m.network, m.key FROM inbox_reports r
		JOIN inbox_messages m ON m.id = r.message_id WHERE r.id = $1 AND r.user_id IS NULL`, id).
		Scan(&q.ID, &n, store.ScanTime(&q.ReceivedAt), &q.body, &q.Network, &messageKey)
	if errors.Is(err, store.ErrNoRows) {
		return Arrival{}, fault.New(fault.NotFound, "Report not found")
	}
	if err != nil {
		return Arrival{}, fmt.Errorf("inbox: reading a report: %w", err)
	}
	q.Key = reportKey(q.Network, messageKey, n)
	doc, err := tx.Unseal(ctx, uuid.Nil, uuid.Nil, reportPlace+q.ID.String(), q.body)
	if err != nil {
		return Arrival{}, err
	}
	if err := json.Unmarshal(doc, &q.Report); err != nil {
		return Arrival{}, fmt.Errorf("inbox: decoding stored report %s: %w", q.ID, err)
	}
	return q.Arrival, nil
}

// ReadReport returns a stored report of any owner. It returns nil if the report
// is deleted.
func ReadReport(ctx context.Context, tx *store.Tx, id uuid.UUID) (*networks.Report, error) {
	h, err := readSealed(ctx, tx, `SELECT id, team_id, user_id, body FROM inbox_reports WHERE id = $1`, reportPlace, id)
	if err != nil || h == nil {
		return nil, err
	}
	doc, err := tx.Unseal(ctx, h.team, h.subject.UUID, h.place+h.id.String(), h.sealed)
	if err != nil {
		return nil, err
	}
	r := new(networks.Report)
	if err := json.Unmarshal(doc, r); err != nil {
		return nil, fmt.Errorf("inbox: decoding stored report %s: %w", id, err)
	}
	return r, nil
}

// reportKey names the n-th report of a message. It never changes.
func reportKey(network, message string, n int64) string {
	return fmt.Sprintf("%s:%s:%d", network, message, n)
}

// owner identifies the user and order of a report.
type owner struct {
	team, user, order uuid.UUID
}

// markHandled sets the state of a report. Once its user is known, the report
// and its message are sealed with that user's key, so that they are erased
// with the user. why is the reason of an unmatched report.
func markHandled(ctx context.Context, tx *store.Tx, q queuedMessage, doc []byte, state string, why Reason, of *owner) error {
	now := store.Micros(tx.Now())
	if of == nil {
		_, err := tx.Exec(ctx, `UPDATE inbox_reports SET state = $2, handled_at = $3, reason = $4 WHERE id = $1`, q.ID, state, now, string(why))
		return err
	}
	body, err := tx.Seal(ctx, of.team, of.user, reportPlace+q.ID.String(), doc)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE inbox_reports SET state = $2, handled_at = $3, team_id = $4, user_id = $5, order_id = $6, body = $7 WHERE id = $1`,
		q.ID, state, now, of.team, of.user, of.order, body)
	if err != nil {
		return fmt.Errorf("inbox: marking a report: %w", err)
	}
	return resealMessage(ctx, tx, q.message, of)
}

// resealMessage seals a message with the key of the user that its only report
// is about. A message about several users stays with the service.
func resealMessage(ctx context.Context, tx *store.Tx, message uuid.UUID, of *owner) error {
	var raw []byte
	var reports int
	var team uuid.UUID
	err := tx.QueryRow(ctx, `SELECT m.team_id, m.raw, (SELECT COUNT(*) FROM inbox_reports r WHERE r.message_id = m.id) FROM inbox_messages m
		WHERE m.id = $1`, message).Scan(&team, &raw, &reports)
	if err != nil || reports > 1 || team != uuid.Nil || len(raw) == 0 { // without a text: another user of it was erased
		return err
	}
	plain, err := tx.Unseal(ctx, uuid.Nil, uuid.Nil, rawPlace+message.String(), raw)
	if err != nil {
		return err
	}
	if raw, err = tx.Seal(ctx, of.team, of.user, rawPlace+message.String(), plain); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE inbox_messages SET team_id = $2, user_id = $3, raw = $4 WHERE id = $1`, message, of.team, of.user, raw)
	if err != nil {
		return fmt.Errorf("inbox: sealing a message: %w", err)
	}
	return nil
}

// Transfer moves a report to a team and seals it with a subject's key,
// together with its message when the message has no other report. The subject
// is the user, or an id that stands for the user until that is known. A report
// that is not stored (any more) is ignored.
func Transfer(ctx context.Context, tx *store.Tx, report, team, subject uuid.UUID) error {
	r, err := readSealed(ctx, tx, `SELECT id, team_id, user_id, body FROM inbox_reports WHERE id = $1`, reportPlace, report)
	if err != nil || r == nil {
		return err
	}
	if err := r.resealFor(ctx, tx, `UPDATE inbox_reports SET team_id = $2, user_id = $3, body = $4 WHERE id = $1`, team, subject); err != nil {
		return err
	}
	m, err := soleMessage(ctx, tx, report)
	if err != nil || m == nil {
		return err
	}
	return m.resealFor(ctx, tx, `UPDATE inbox_messages SET team_id = $2, user_id = $3, raw = $4 WHERE id = $1`, team, subject)
}

// Discard deletes a report, and its message when the message has no other
// report.
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

// sealedRow is a sealed column with its owner and its place.
type sealedRow struct {
	id, team uuid.UUID
	subject  uuid.NullUUID
	place    string
	sealed   []byte
}

// soleMessage returns the message of a report if the message contains no other report. It
// returns nil if the message contains others, or if its text is deleted.
func soleMessage(ctx context.Context, tx *store.Tx, report uuid.UUID) (*sealedRow, error) {
	return readSealed(ctx, tx, `SELECT m.id, m.team_id, m.user_id, m.raw FROM inbox_messages m
		WHERE m.id = (SELECT r.message_id FROM inbox_reports r WHERE r.id = $1)
		AND m.forgotten = FALSE AND NOT EXISTS (SELECT 1 FROM inbox_reports o WHERE o.message_id = m.id AND o.id <> $1)`, rawPlace, report)
}

func readSealed(ctx context.Context, tx *store.Tx, query, place string, id uuid.UUID) (*sealedRow, error) {
	h := sealedRow{place: place}
	err := tx.QueryRow(ctx, query, id).Scan(&h.id, &h.team, &h.subject, &h.sealed)
	if errors.Is(err, store.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("inbox: reading a report: %w", err)
	}
	return &h, nil
}

// resealFor seals the column with another subject's key.
func (h *sealedRow) resealFor(ctx context.Context, tx *store.Tx, query string, team, subject uuid.UUID) error {
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
		return fmt.Errorf("inbox: transferring a report: %w", err)
	}
	return nil
}
