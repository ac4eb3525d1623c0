package ledger

import (
	"context"
	"fmt"
	"strconv"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Keep adds the statements that store a body to b, in the transaction that stores its
// data. The same body again is the same payload and is counted. Its time is the last one:
// that is its position when the ledger is reprocessed.
func (l *Ledger) Keep(ctx context.Context, tx *store.Tx, b *store.Batch, team teams.ID, user users.ID, p *PackedBody) (ID, error) {
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
		again, err := row.count(ctx, tx)
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
	b.Insert(nil, intoPayloads, row.args(tx, data), countAgain)
	if p.about > 0 {
		b.Insert(nil, intoHours, []any{team, user, p.about}, lockHour)
	}
	return row.ID, nil
}

// The row of a payload, and its update when it is received again.
const (
	intoPayloads = `INSERT INTO payloads (team_id, user_id, hour, id, kind, provider, resource, mapping, size, packed,
		chunks, whole, times, first_at, last_at, data)`
	countAgain = `ON CONFLICT (hour, user_id, id) DO UPDATE SET times = payloads.times + 1, last_at = excluded.last_at, mapping = excluded.mapping`
)

// A row for each hour of a user's bodies. A known row is locked until the transaction ends:
// see removeHour.
const (
	intoHours = `INSERT INTO payload_hours (team_id, user_id, hour)`
	lockHour  = `ON CONFLICT (user_id, hour) DO UPDATE SET hour = excluded.hour WHERE FALSE`
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
	b.Insert(nil, intoPayloads, p.args(tx, data), countAgain)
	if err := tx.Run(ctx, &b); err != nil {
		return fmt.Errorf("ledger: storing a payload: %w", err)
	}
	return nil
}

// count counts a known payload again, without writing its chunks.
func (p *Payload) count(ctx context.Context, tx *store.Tx) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE payloads SET times = times + 1, last_at = $5, mapping = $6 WHERE `+byKey+` AND whole`,
		p.key(store.Micros(tx.Now()), p.Mapping)...)
	if err != nil {
		return false, fmt.Errorf("ledger: storing a payload: %w", err)
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
		return 0, fmt.Errorf("ledger: storing a payload: %w", err)
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
