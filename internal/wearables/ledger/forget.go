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

// atOnce is how many rows one transaction deletes: a chunk is a mebibyte.
const (
	payloadsAtOnce = 1000
	chunksAtOnce   = 100
)

// Forget removes a team's payloads that came last before an instant, and
// reports how many. What was made of them stays.
func Forget(ctx context.Context, db *store.DB, team teams.ID, before time.Time) (forgotten int64, err error) {
	for {
		var n int64
		err := db.Write(ctx, func(tx *store.Tx) (err error) {
			n, err = forgetSome(ctx, tx, team, before)
			return err
		})
		if err != nil {
			return forgotten, fmt.Errorf("ledger: forgetting: %w", err)
		}
		forgotten += n
		if n == 0 {
			return forgotten, nil
		}
	}
}

// forgetSome removes the oldest payloads: those without chunks many at once,
// one with chunks by itself. One that comes once more just now is waited for, and
// is no old one then.
func forgetSome(ctx context.Context, tx *store.Tx, team teams.ID, before time.Time) (int64, error) {
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
		more, err := old[i].forget(ctx, tx)
		if err != nil || more || old[i].Size > chunkSize {
			return int64(i + 1), err
		}
	}
	return int64(len(old)), nil
}

// forget removes a payload; more says that chunks are left and so is it.
func (p *Payload) forget(ctx context.Context, tx *store.Tx) (more bool, err error) {
	if p.Size > chunkSize || p.chunks > 0 || !p.whole { // chunks are counted when all are written
		n, err := tx.Exec(ctx, `DELETE FROM payload_chunks WHERE team_id = $1 AND user_id = $2 AND payload_id = $3 AND number IN (
			SELECT number FROM payload_chunks WHERE team_id = $1 AND user_id = $2 AND payload_id = $3 ORDER BY number DESC LIMIT $4)`,
			p.Team, p.User, p.ID, chunksAtOnce)
		if err != nil {
			return false, err
		}
		if n == chunksAtOnce { // what is left of it can no longer be read
			_, err := tx.Exec(ctx, `UPDATE payloads SET whole = FALSE WHERE `+itself, p.itself()...)
			return true, err
		}
	}
	_, err = tx.Exec(ctx, `DELETE FROM payload_items WHERE team_id = $1 AND user_id = $2 AND payload_id = $3`, p.Team, p.User, p.ID)
	if err != nil {
		return false, err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM payloads WHERE `+itself, p.itself()...); err != nil {
		return false, err
	}
	if err := p.forgetHour(ctx, tx); err != nil {
		return false, err
	}
	_, err = tx.Exec(ctx, `UPDATE payload_keys SET forgotten = TRUE WHERE team_id = $1 AND user_id = $2 AND NOT forgotten`, p.Team, p.User)
	return false, err
}

// forgetHour forgets the payload's hour where it was the last one of it. Who keeps
// another one just now has locked the hour, and is waited for.
func (p *Payload) forgetHour(ctx context.Context, tx *store.Tx) error {
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

// Incomplete says whether payloads of the user were forgotten, so that those
// left do not tell the whole story.
func Incomplete(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (forgotten bool, err error) {
	var n int
	err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM payload_keys WHERE team_id = $1 AND user_id = $2 AND forgotten`, team, user).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("ledger: looking for what was forgotten: %w", err)
	}
	return n > 0, nil
}

const eraseOfUser = `DELETE FROM payloads WHERE (hour, user_id, id) IN (SELECT hour, user_id, id FROM ` + ofUser + ` LIMIT $3)`

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
