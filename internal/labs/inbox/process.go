package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
)

// queued is a report that waits.
type queued struct {
	Arrival
	message uuid.UUID
	body    []byte
}

// handle works off a lane, one transaction for each report.
func (s *Service) handle(ctx context.Context, run *jobs.Run, args laneArgs) error {
	ctx = store.AsSystem(ctx)
	for n := int64(0); ; n++ {
		var more bool
		err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
			more, err = s.next(ctx, tx, args.Lane)
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

// next handles the oldest report of a lane and reports whether there was one.
func (s *Service) next(ctx context.Context, tx *store.Tx, lane string) (bool, error) {
	q, err := oldest(ctx, tx, lane)
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
		return false, fmt.Errorf("inbox: a stored report %s: %w", q.ID, err)
	}
	return true, s.take(ctx, tx, q, doc)
}

func oldest(ctx context.Context, tx *store.Tx, lane string) (queued, error) {
	var q queued
	var n int64
	var messageKey string
	err := tx.QueryRow(ctx, `SELECT r.id, r.message_id, r.n, r.received_at, r.body, m.network, m.key FROM inbox_reports r
		JOIN inbox_messages m ON m.id = r.message_id WHERE r.lane = $1 AND r.state = 'queued' ORDER BY r.id LIMIT 1`, lane).
		Scan(&q.ID, &q.message, &n, store.ScanTime(&q.ReceivedAt), &q.body, &q.Network, &messageKey)
	q.Key = reportKey(q.Network, messageKey, n)
	return q, err
}

// reportKey names a report for ever: the n-th of a message.
func reportKey(network, message string, n int64) string {
	return fmt.Sprintf("%s:%s:%d", network, message, n)
}

// owner is whose a report turned out to be.
type owner struct {
	team, user, order uuid.UUID
}

// handled marks a report. Once it is known whose it is, the report and its
// message are sealed with that person's key, so that they are erased with it.
func handled(ctx context.Context, tx *store.Tx, q queued, doc []byte, state string, of *owner) error {
	now := store.Micros(tx.Now())
	if of == nil {
		_, err := tx.Exec(ctx, `UPDATE inbox_reports SET state = $2, handled_at = $3 WHERE id = $1`, q.ID, state, now)
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
	return reseal(ctx, tx, q.message, of)
}

// reseal gives a message to the person that its reports are about. One about
// several people stays with the service.
func reseal(ctx context.Context, tx *store.Tx, message uuid.UUID, of *owner) error {
	var raw []byte
	var reports int
	var team uuid.UUID
	err := tx.QueryRow(ctx, `SELECT m.team_id, m.raw, (SELECT COUNT(*) FROM inbox_reports r WHERE r.message_id = m.id) FROM inbox_messages m
		WHERE m.id = $1`, message).Scan(&team, &raw, &reports)
	if err != nil || reports > 1 || team != uuid.Nil {
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
