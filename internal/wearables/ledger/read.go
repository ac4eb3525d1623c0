package ledger

import (
	"context"
	"errors"
	"fmt"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

const columns = `team_id, user_id, id, kind, provider, resource, mapping, size, packed, chunks, whole, times, first_at, last_at`

// itself finds the row of a payload, by the arguments that Payload.itself gives.
const itself = `team_id = $1 AND user_id = $2 AND hour = $3 AND id = $4`

func (p *Payload) itself(more ...any) []any {
	return append([]any{p.Team, p.User, hourIn(p.ID), p.ID}, more...)
}

// ofUser are the rows of a user: those of each hour, and those of none. CROSS has
// SQLite begin with the hours, and IS TRUE keeps it from going on with all that
// the team has.
const ofUser = `(SELECT hour AS h FROM payload_hours WHERE team_id = $1 AND user_id = $2 UNION ALL SELECT 0) AS hours
	CROSS JOIN payloads WHERE hour = h AND user_id = $2 AND (team_id = $1) IS TRUE`

func (p *Payload) scan(row interface{ Scan(...any) error }, more ...any) error {
	return row.Scan(append([]any{
		&p.Team, &p.User, &p.ID, &p.Kind, &p.Provider, &p.Resource, &p.Mapping, &p.Size, &p.Packed,
		&p.chunks, &p.whole, &p.Times, store.ScanTime(&p.FirstAt), store.ScanTime(&p.LastAt),
	}, more...)...)
}

// List is a user's payloads in the order in which they came last, files that
// are being written left out.
func List(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([]Payload, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM `+ofUser+` AND whole ORDER BY last_at, id`, team, user)
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
	err = p.scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM payloads WHERE `+itself+` AND whole`, at.itself()...))
	if errors.Is(err, store.ErrNoRows) {
		return p, fault.New(fault.NotFound, "Payload not found")
	}
	if err != nil {
		return p, fmt.Errorf("ledger: reading a payload: %w", err)
	}
	return p, nil
}

// Body is a payload as it came. Files may be large: Restore those.
func (p *Payload) Body(ctx context.Context, tx *store.Tx) ([]byte, error) {
	body := make([]byte, 0, p.Size)
	for number := range max(1, p.chunks) {
		packed, err := p.chunk(ctx, tx, number)
		if err != nil {
			return nil, err
		}
		if body, err = unpack(body, packed); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// chunk reads one piece of a payload and opens its seal.
func (p *Payload) chunk(ctx context.Context, tx *store.Tx, number int64) ([]byte, error) {
	var sealed []byte
	var err error
	if p.chunks == 0 {
		err = tx.QueryRow(ctx, `SELECT data FROM payloads WHERE `+itself, p.itself()...).Scan(&sealed)
	} else {
		err = tx.QueryRow(ctx, `SELECT data FROM payload_chunks WHERE team_id = $1 AND user_id = $2 AND payload_id = $3 AND number = $4`,
			p.Team, p.User, p.ID, number).Scan(&sealed)
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: reading a payload: %w", err)
	}
	return p.open(ctx, tx, number, sealed)
}

// Touch notes that a payload is being read: it is later than all that came
// before, since what is made of it may have seen that.
func Touch(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id ID) error {
	at := Payload{Team: team, User: user, ID: id}
	_, err := tx.Exec(ctx, `UPDATE payloads SET last_at = $5 WHERE `+itself, at.itself(store.Micros(tx.Now()))...)
	if err != nil {
		return fmt.Errorf("ledger: noting that a payload is read: %w", err)
	}
	return nil
}

// Latest is where the ledger of a user ends now.
func Latest(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (at Mark, err error) {
	err = tx.QueryRow(ctx, `SELECT COUNT(*), COALESCE(MAX(last_at), 0) FROM `+ofUser+` AND whole`, team, user).Scan(&at.count, &at.last)
	if err != nil {
		return at, fmt.Errorf("ledger: looking for newer payloads: %w", err)
	}
	return at, nil
}

// Mark is where the ledger of a user ends. Two that are equal have nothing
// between them.
type Mark struct{ count, last int64 }

// Remap notes that today's mapping has read the payloads of a kind up to a
// mark.
func Remap(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, kind string, upTo Mark) error {
	_, err := tx.Exec(ctx, remap, team, user, kind, Mapping(kind), upTo.last)
	if err != nil {
		return fmt.Errorf("ledger: noting the mapping: %w", err)
	}
	return nil
}

const remap = `UPDATE payloads SET mapping = $4 WHERE (hour, user_id, id) IN (
	SELECT hour, user_id, id FROM ` + ofUser + ` AND kind = $3 AND last_at <= $5 AND mapping <> $4)`

// NextUser is the first user of the team behind another one who has payloads, or
// had some before they were forgotten; ok is false when there is none.
func NextUser(ctx context.Context, tx *store.Tx, team teams.ID, after users.ID) (next users.ID, ok bool, err error) {
	err = tx.QueryRow(ctx, `SELECT user_id FROM payload_keys WHERE team_id = $1 AND user_id > $2 ORDER BY user_id LIMIT 1`, team, after).Scan(&next)
	if errors.Is(err, store.ErrNoRows) {
		return next, false, nil
	}
	if err != nil {
		return next, false, fmt.Errorf("ledger: walking over users: %w", err)
	}
	return next, true, nil
}

// CountUsers is how many users of the team NextUser walks over.
func CountUsers(ctx context.Context, tx *store.Tx, team teams.ID) (n int64, err error) {
	err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM payload_keys WHERE team_id = $1`, team).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("ledger: counting users: %w", err)
	}
	return n, nil
}
