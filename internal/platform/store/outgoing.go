package store

import (
	"context"
	"fmt"
	"time"
)

// A restored copy must not act: the original may have sent the same orders, messages
// and webhooks already, or may still run. The database itself contains the mark, so that
// every node sees it.

// OutgoingHold has the time since which nothing is sent to other systems, and the reason. The zero
// value allows sending.
type OutgoingHold struct {
	Since  time.Time
	Reason string
}

// Active reports whether nothing is sent.
func (h OutgoingHold) Active() bool { return !h.Since.IsZero() }

// OutgoingHold reads the mark of the database.
func (db *DB) OutgoingHold(ctx context.Context) (h OutgoingHold, err error) {
	err = db.Read(ctx, func(tx *Tx) error {
		var at int64
		err := tx.QueryRow(ctx, `SELECT outgoing_held_at, outgoing_held_reason FROM instance WHERE id = 1`).Scan(&at, &h.Reason)
		if at > 0 {
			h.Since = time.UnixMicro(at).UTC()
		}
		return err
	})
	if err != nil {
		return h, fmt.Errorf("store: reading whether sending is held: %w", err)
	}
	return h, nil
}

// HoldOutgoing marks the database, unless it is marked already.
func (db *DB) HoldOutgoing(ctx context.Context, reason string) error {
	return db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, holdOutgoing, Micros(tx.now), reason)
		return err
	})
}

// ResumeOutgoing removes the mark.
func (db *DB) ResumeOutgoing(ctx context.Context) error {
	return db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `UPDATE instance SET outgoing_held_at = 0, outgoing_held_reason = '' WHERE id = 1`)
		return err
	})
}

// holdOutgoing is the statement of HoldOutgoing. $1 now, $2 reason.
const holdOutgoing = `UPDATE instance SET outgoing_held_at = $1, outgoing_held_reason = $2 WHERE id = 1 AND outgoing_held_at = 0`
