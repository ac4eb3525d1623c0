package ledger

import (
	"context"
	"fmt"
	"strconv"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Keep adds to b what writes a body into the ledger, in the transaction that
// stores what it says. The same body again is the same payload, which came once more: it is
// later than everything in between, and that is its place when the ledger is
// read again.
func (l *Ledger) Keep(ctx context.Context, tx *store.Tx, b *store.Batch, team teams.ID, user users.ID, p *Packed) (ID, error) {
	key, err := l.keyOf(ctx, tx, team, user)
	if err != nil {
		return ID{}, err
	}
	row := Payload{
		ID: digest(key, p.about, p.kind, p.provider, p.resource, p.chunks...), Team: team, User: user,
		Kind: p.kind, Provider: p.provider, Resource: p.resource, Mapping: Mapping(p.kind), Size: p.size, whole: true,
	}
	var data []byte
	if len(p.chunks) == 1 {
		if data, err = row.seal(ctx, tx, 0, p.chunks[0]); err != nil {
			return row.ID, err
		}
		row.Packed = int64(len(data))
	} else {
		again, err := row.cameAgain(ctx, tx)
		if err != nil || again {
			return row.ID, err
		}
		row.chunks = int64(len(p.chunks))
		for i, chunk := range p.chunks {
			n, err := row.putChunk(ctx, tx, int64(i), chunk)
			if err != nil {
				return row.ID, err
			}
			row.Packed += n
		}
	}
	b.Insert(nil, intoPayloads, row.args(tx, data), cameOnceMore)
	if p.about > 0 {
		b.Insert(nil, intoHours, []any{team, user, p.about}, knownHour)
	}
	return row.ID, nil
}

// A payload's row, and what is noted when it came again.
const (
	intoPayloads = `INSERT INTO payloads (team_id, user_id, hour, id, kind, provider, resource, mapping, size, packed,
		chunks, whole, times, first_at, last_at, data)`
	cameOnceMore = `ON CONFLICT (hour, user_id, id) DO UPDATE SET times = payloads.times + 1, last_at = excluded.last_at, mapping = excluded.mapping`
)

// A row for each hour that a user's bodies are about. One that is known stays as
// it is, locked until the body is kept: see forgetHour.
const (
	intoHours = `INSERT INTO payload_hours (team_id, user_id, hour)`
	knownHour = `ON CONFLICT (user_id, hour) DO UPDATE SET hour = excluded.hour WHERE FALSE`
)

func (p *Payload) args(tx *store.Tx, data []byte) []any {
	var sealed any
	if data != nil {
		sealed = data
	}
	return []any{
		p.Team, p.User, hourIn(p.ID), p.ID, p.Kind, p.Provider, p.Resource, p.Mapping, p.Size, p.Packed,
		p.chunks, p.whole, 1, store.Micros(tx.Now()), store.Micros(tx.Now()), sealed,
	}
}

func (p *Payload) put(ctx context.Context, tx *store.Tx, data []byte) error {
	var b store.Batch
	b.Insert(nil, intoPayloads, p.args(tx, data), cameOnceMore)
	if err := tx.Run(ctx, &b); err != nil {
		return fmt.Errorf("ledger: keeping a payload: %w", err)
	}
	return nil
}

// cameAgain notes that a payload came again, where it is known. It spares
// writing the chunks of a large one.
func (p *Payload) cameAgain(ctx context.Context, tx *store.Tx) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE payloads SET times = times + 1, last_at = $5, mapping = $6 WHERE `+itself+` AND whole`,
		p.itself(store.Micros(tx.Now()), p.Mapping)...)
	if err != nil {
		return false, fmt.Errorf("ledger: keeping a payload: %w", err)
	}
	return n > 0, nil
}

func (p *Payload) putChunk(ctx context.Context, tx *store.Tx, number int64, packed []byte) (int64, error) {
	sealed, err := p.seal(ctx, tx, number, packed)
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO payload_chunks (team_id, user_id, payload_id, number, data) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (user_id, payload_id, number) DO UPDATE SET data = excluded.data`, p.Team, p.User, p.ID, number, sealed)
	if err != nil {
		return 0, fmt.Errorf("ledger: keeping a payload: %w", err)
	}
	return int64(len(sealed)), nil
}

// place binds a chunk to its payload and its number.
func (p *Payload) place(number int64) string {
	return "payloads.data:" + p.ID.String() + ":" + strconv.FormatInt(number, 10)
}

func (p *Payload) seal(ctx context.Context, tx *store.Tx, number int64, packed []byte) ([]byte, error) {
	return tx.Seal(ctx, p.Team.UUID(), p.User.UUID(), p.place(number), packed)
}

func (p *Payload) open(ctx context.Context, tx *store.Tx, number int64, sealed []byte) ([]byte, error) {
	return tx.Unseal(ctx, p.Team.UUID(), p.User.UUID(), p.place(number), sealed)
}
