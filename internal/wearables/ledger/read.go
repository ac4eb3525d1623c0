package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

const columns = `team_id, user_id, id, kind, provider, resource, mapping, size, packed, chunks, whole, times, first_at, last_at`

// byKey selects the row of a payload, by the arguments of Payload.key.
const byKey = `team_id = $1 AND user_id = $2 AND hour = $3 AND id = $4`

func (p *Payload) key(more ...any) []any {
	return append([]any{p.Team, p.User, hourIn(p.ID), p.ID}, more...)
}

// byUser selects the rows of a user: those of each hour, and those without. CROSS makes
// SQLite start with the hours, and IS TRUE keeps it from reading all rows of the team.
const byUser = `(SELECT hour AS h FROM payload_hours WHERE team_id = $1 AND user_id = $2 UNION ALL SELECT 0) AS hours
	CROSS JOIN payloads WHERE hour = h AND user_id = $2 AND (team_id = $1) IS TRUE`

func (p *Payload) scan(row interface{ Scan(...any) error }, more ...any) error {
	return row.Scan(append([]any{
		&p.Team, &p.User, &p.ID, &p.Kind, &p.Provider, &p.Resource, &p.Mapping, &p.Size, &p.Packed,
		&p.chunks, &p.whole, &p.Times, store.ScanTime(&p.FirstAt), store.ScanTime(&p.LastAt),
	}, more...)...)
}

// List returns a user's payloads by the time when they were received last, without
// incomplete files.
func List(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([]Payload, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM `+byUser+` AND whole ORDER BY last_at, id`, team, user)
	if err != nil {
		return nil, fmt.Errorf("ledger: listing payloads: %w", err)
	}
	defer rows.Close()
	var all []Payload
	for rows.Next() {
		var p Payload
		if err := p.scan(rows); err != nil {
			return nil, fmt.Errorf("ledger: listing payloads: %w", err)
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

// Get returns a payload of the user; an unknown one is NotFound.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id ID) (p Payload, err error) {
	at := Payload{Team: team, User: user, ID: id}
	err = p.scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM payloads WHERE `+byKey+` AND whole`, at.key()...))
	if errors.Is(err, store.ErrNoRows) {
		return p, fault.New(fault.NotFound, "Payload not found")
	}
	if err != nil {
		return p, fmt.Errorf("ledger: reading a payload: %w", err)
	}
	return p, nil
}

// Body returns a payload as received. Files may be large: use Restore.
func (p *Payload) Body(ctx context.Context, tx *store.Tx) ([]byte, error) {
	body := make([]byte, 0, p.Size)
	for number := range max(1, p.chunks) {
		packed, err := p.chunk(ctx, tx, number)
		if err != nil {
			return nil, err
		}
		if body, err = unpackChunk(body, packed); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// chunk reads and unseals one piece of a payload.
func (p *Payload) chunk(ctx context.Context, tx *store.Tx, number int64) ([]byte, error) {
	var sealed []byte
	var err error
	if p.chunks == 0 {
		err = tx.QueryRow(ctx, `SELECT data FROM payloads WHERE `+byKey, p.key()...).Scan(&sealed)
	} else {
		err = tx.QueryRow(ctx, `SELECT data FROM payload_chunks WHERE team_id = $1 AND user_id = $2 AND payload_id = $3 AND number = $4`,
			p.Team, p.User, p.ID, number).Scan(&sealed)
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: reading a payload: %w", err)
	}
	return p.open(ctx, tx, number, sealed)
}

// Touch updates the time of a payload that is being read, because its data may depend on
// earlier payloads.
func Touch(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id ID) error {
	at := Payload{Team: team, User: user, ID: id}
	_, err := tx.Exec(ctx, `UPDATE payloads SET last_at = $5 WHERE `+byKey, at.key(store.Micros(tx.Now()))...)
	if err != nil {
		return fmt.Errorf("ledger: updating a payload: %w", err)
	}
	return nil
}

// LatestMark returns the current end of the ledger of a user.
func LatestMark(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (at Mark, err error) {
	err = tx.QueryRow(ctx, `SELECT COUNT(*), COALESCE(MAX(last_at), 0) FROM `+byUser+` AND whole`, team, user).Scan(&at.count, &at.last)
	if err != nil {
		return at, fmt.Errorf("ledger: finding newer payloads: %w", err)
	}
	return at, nil
}

// Mark is an end of the ledger of a user. Two equal marks have no payloads between them.
type Mark struct{ count, last int64 }

// Remap stores that the current mapping has read the payloads of a kind up to a mark.
func Remap(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, kind string, upTo Mark) error {
	_, err := tx.Exec(ctx, remap, team, user, kind, Mapping(kind), upTo.last)
	if err != nil {
		return fmt.Errorf("ledger: storing the mapping: %w", err)
	}
	return nil
}

const remap = `UPDATE payloads SET mapping = $4 WHERE (hour, user_id, id) IN (
	SELECT hour, user_id, id FROM ` + byUser + ` AND kind = $3 AND last_at <= $5 AND mapping <> $4)`

// NextUser returns the next user of the team who has payloads, or had some before they were
// removed. ok is false at the end.
func NextUser(ctx context.Context, tx *store.Tx, team teams.ID, after users.ID) (next users.ID, ok bool, err error) {
	err = tx.QueryRow(ctx, `SELECT user_id FROM payload_keys WHERE team_id = $1 AND user_id > $2 ORDER BY user_id LIMIT 1`, team, after).Scan(&next)
	if errors.Is(err, store.ErrNoRows) {
		return next, false, nil
	}
	if err != nil {
		return next, false, fmt.Errorf("ledger: finding users: %w", err)
	}
	return next, true, nil
}

// CountUsers counts the users of NextUser.
func CountUsers(ctx context.Context, tx *store.Tx, team teams.ID) (n int64, err error) {
	err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM payload_keys WHERE team_id = $1`, team).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("ledger: counting users: %w", err)
	}
	return n, nil
}

// Item is the place of a summary in a payload.
type Item struct {
	Summary uuid.UUID
	// Place is the index of the summary in the body's data; -1 for a file.
	Place int
}

// Link stores the payload of summaries. A later payload replaces an earlier one. An item
// without a summary is skipped.
func Link(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, payload ID, items []Item) error {
	for _, item := range items {
		if item.Summary == uuid.Nil {
			continue
		}
		_, err := tx.Exec(ctx, `INSERT INTO payload_items (team_id, user_id, summary_id, payload_id, place) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (user_id, summary_id) DO UPDATE SET payload_id = excluded.payload_id, place = excluded.place
				WHERE payload_items.payload_id <> excluded.payload_id OR payload_items.place <> excluded.place`,
			team, user, item.Summary, payload, item.Place)
		if err != nil {
			return fmt.Errorf("ledger: linking a summary: %w", err)
		}
	}
	return nil
}

// Origin is the payload of a summary.
type Origin struct {
	Payload ID
	Place   int
}

// Origins finds the payloads of a user's summaries. Summaries whose payload is removed are
// absent. Payloads with summaries have no hour.
func Origins(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (map[uuid.UUID]Origin, error) {
	rows, err := tx.Query(ctx, `SELECT i.summary_id, i.payload_id, i.place FROM payload_items i
		JOIN payloads p ON p.hour = 0 AND p.user_id = i.user_id AND p.id = i.payload_id
		WHERE i.team_id = $1 AND i.user_id = $2 AND p.team_id = $1 AND p.whole`, team, user)
	if err != nil {
		return nil, fmt.Errorf("ledger: finding payloads: %w", err)
	}
	defer rows.Close()
	all := map[uuid.UUID]Origin{}
	for rows.Next() {
		var summary uuid.UUID
		var o Origin
		if err := rows.Scan(&summary, &o.Payload, &o.Place); err != nil {
			return nil, fmt.Errorf("ledger: finding payloads: %w", err)
		}
		all[summary] = o
	}
	return all, rows.Err()
}
