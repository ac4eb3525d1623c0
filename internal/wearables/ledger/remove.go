package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Bounds of the rows that one transaction deletes: a chunk has a mebibyte.
const (
	payloadsAtOnce = 1000
	chunksAtOnce   = 100
)

// RemoveExpired removes a team's payloads that were last received before an instant, and returns
// how many. Their data stays.
func RemoveExpired(ctx context.Context, db *store.DB, team teams.ID, before time.Time) (forgotten int64, err error) {
	for {
		var n int64
		err := db.Write(ctx, func(tx *store.Tx) (err error) {
			n, err = removeSome(ctx, tx, team, before)
			return err
		})
		if err != nil {
			return forgotten, fmt.Errorf("ledger: removing old payloads: %w", err)
		}
		forgotten += n
		if n == 0 {
			return forgotten, nil
		}
	}
}

// RemoveFile removes a file of a user, if it is stored. Its data stays.
func (l *Ledger) RemoveFile(ctx context.Context, db *store.DB, f File) error {
	for more := true; more; {
		err := db.Write(ctx, func(tx *store.Tx) error {
			key, err := readKey(ctx, tx, f.Team, f.User)
			if errors.Is(err, store.ErrNoRows) {
				more = false
				return nil
			}
			if err != nil {
				return err
			}
			at := Payload{Team: f.Team, User: f.User, ID: digest(key, noHour, f.Kind, "", "", f.SHA256)}
			var p Payload
			err = p.scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM payloads WHERE `+byKey+tx.ForUpdate(), at.key()...))
			if errors.Is(err, store.ErrNoRows) {
				more = false
				return nil
			}
			if err == nil {
				more, err = p.remove(ctx, tx)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("ledger: removing a file: %w", err)
		}
	}
	return nil
}

// OldestReceipt returns when the oldest payload of a team was received last; zero if it has none.
func OldestReceipt(ctx context.Context, tx *store.Tx, team teams.ID) (at time.Time, err error) {
	err = tx.QueryRow(ctx, `SELECT last_at FROM payloads WHERE team_id = $1 ORDER BY last_at LIMIT 1`, team).Scan(store.ScanTime(&at))
	if errors.Is(err, store.ErrNoRows) {
		err = nil
	}
	return at, err
}

// removeSome removes the oldest payloads: many without chunks, or one with chunks. It waits
// for a payload that is received again at the same moment, and keeps that.
func removeSome(ctx context.Context, tx *store.Tx, team teams.ID, before time.Time) (int64, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM payloads WHERE team_id = $1 AND last_at < $2 ORDER BY last_at, id LIMIT $3`+tx.ForUpdate(),
		team, store.Micros(before), payloadsAtOnce)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var old []Payload
	for rows.Next() {
		var p Payload
		if err := p.scan(rows); err != nil {
			return 0, err
		}
		old = append(old, p)
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if err := rows.Close(); err != nil {
		return 0, err
	}
	for i := range old {
		more, err := old[i].remove(ctx, tx)
		if err != nil || more || old[i].Size > chunkSize {
			return int64(i + 1), err
		}
	}
	return int64(len(old)), nil
}

// remove removes a payload. more reports that chunks are left, and so the payload.
func (p *Payload) remove(ctx context.Context, tx *store.Tx) (more bool, err error) {
	if p.Size > chunkSize || p.chunks > 0 || !p.whole { // the count of chunks is written last
		n, err := tx.Exec(ctx, `DELETE FROM payload_chunks WHERE team_id = $1 AND user_id = $2 AND payload_id = $3 AND number IN (
			SELECT number FROM payload_chunks WHERE team_id = $1 AND user_id = $2 AND payload_id = $3 ORDER BY number DESC LIMIT $4)`,
			p.Team, p.User, p.ID, chunksAtOnce)
		if err != nil {
			return false, err
		}
		if n == chunksAtOnce { // the rest can no longer be read
			_, err := tx.Exec(ctx, `UPDATE payloads SET whole = FALSE WHERE `+byKey, p.key()...)
			return true, err
		}
	}
	_, err = tx.Exec(ctx, `DELETE FROM payload_items WHERE team_id = $1 AND user_id = $2 AND payload_id = $3`, p.Team, p.User, p.ID)
	if err != nil {
		return false, err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM payloads WHERE `+byKey, p.key()...); err != nil {
		return false, err
	}
	if err := p.removeHour(ctx, tx); err != nil {
		return false, err
	}
	_, err = tx.Exec(ctx, `UPDATE payload_keys SET forgotten = TRUE WHERE team_id = $1 AND user_id = $2 AND NOT forgotten`, p.Team, p.User)
	return false, err
}

// removeHour removes the hour of the last payload about it. It waits for a transaction that
// stores another payload of the hour, which has locked the row.
func (p *Payload) removeHour(ctx context.Context, tx *store.Tx) error {
	about := hourIn(p.ID)
	if about == noHour {
		return nil
	}
	var locked hour
	err := tx.QueryRow(ctx, `SELECT hour FROM payload_hours WHERE team_id = $1 AND user_id = $2 AND hour = $3`+tx.ForUpdate(),
		p.Team, p.User, about).Scan(&locked)
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM payload_hours WHERE team_id = $1 AND user_id = $2 AND hour = $3
		AND NOT EXISTS (SELECT 1 FROM payloads WHERE hour = $3 AND user_id = $2)`, p.Team, p.User, about)
	return err
}

// HasRemovedPayloads reports whether payloads of the user were removed, so that the others are not
// the complete data.
func HasRemovedPayloads(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (forgotten bool, err error) {
	var n int
	err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM payload_keys WHERE team_id = $1 AND user_id = $2 AND forgotten`, team, user).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("ledger: finding removed payloads: %w", err)
	}
	return n > 0, nil
}

const eraseOfUser = `DELETE FROM payloads WHERE (hour, user_id, id) IN (SELECT hour, user_id, id FROM ` + byUser + ` LIMIT $3)`

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return append([]users.Records{
		{Name: "payload_chunks", Erase: eraseSome(`DELETE FROM payload_chunks
			WHERE team_id = $1 AND user_id = $2 AND (payload_id, number) IN (
				SELECT payload_id, number FROM payload_chunks WHERE team_id = $1 AND user_id = $2 ORDER BY payload_id, number LIMIT $3)`, chunksAtOnce)},
		{Name: "payloads", Erase: eraseSome(eraseOfUser, payloadsAtOnce)},
	}, users.RowsOf("payload_hours", "payload_items", "payload_keys")...)
}

func eraseSome(query string, atOnce int64) func(context.Context, *store.Tx, teams.ID, users.ID) (bool, error) {
	return func(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (bool, error) {
		n, err := tx.Exec(ctx, query, team, user, atOnce)
		return n == atOnce, err
	}
}
