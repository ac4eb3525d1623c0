package events

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/store"
)

// Emit writes an event, and a delivery for each endpoint that listens to its
// type, in the caller's transaction.
func Emit(ctx context.Context, tx *store.Tx, e New) (ID, error) {
	w, err := prepare(ctx, tx, e)
	if err != nil {
		return ID{}, err
	}
	if tx.Engine() == store.Postgres {
		_, err = tx.Exec(ctx, `WITH written AS (`+insertEvents(false, 1)+`) `+insertListening, w.args(tx)...)
	} else if err = insert(ctx, tx, []written{w}); err == nil {
		_, err = tx.Exec(ctx, insertListening, w.args(tx)[:6]...)
	}
	if err != nil {
		return ID{}, fmt.Errorf("events: writing a %s: %w", e.Type, err)
	}
	tx.AfterCommit(func() {
		recent.put(w.id, w.body, tx.Now())
		rung(tx.Engine(), e.Team)
	})
	return w.id, nil
}

// EmitMany is Emit for many events of one team, in the given order, with fewer
// statements.
func EmitMany(ctx context.Context, tx *store.Tx, all []New) ([]ID, error) {
	if len(all) == 0 {
		return nil, nil
	}
	team := all[0].Team
	ids, rows := make([]ID, len(all)), make([]written, len(all))
	for i, e := range all {
		if e.Team != team {
			return nil, errors.New("events: EmitMany takes events of one team")
		}
		w, err := prepare(ctx, tx, e)
		if err != nil {
			return nil, err
		}
		ids[i], rows[i] = w.id, w
	}
	// Numbers are given by a query on the table itself, so SQLite takes one row
	// at a time; PostgreSQL would pay for each round trip.
	sizes := []int{1}
	if !tx.Serial() {
		sizes = []int{16, 4, 1}
	}
	if err := Split(rows, sizes, func(part []written) error { return insert(ctx, tx, part) }); err != nil {
		return nil, err
	}
	if err := fanOut(ctx, tx, team, rows); err != nil {
		return nil, err
	}
	tx.AfterCommit(func() {
		for _, w := range rows {
			recent.put(w.id, w.body, tx.Now())
		}
		rung(tx.Engine(), team)
	})
	return ids, nil
}

// written is an event as it goes into the table.
type written struct {
	New
	id           ID
	body, sealed []byte
}

// args are the parameters of insertEvents for one row.
func (w *written) args(tx *store.Tx) []any {
	return []any{w.Team, uuid.UUID(w.id), orNull(w.User), w.Type, len(w.body), store.Micros(tx.Now()), w.sealed}
}

func prepare(ctx context.Context, tx *store.Tx, e New) (written, error) {
	body, err := e.marshal()
	if err != nil {
		return written{}, err
	}
	w := written{New: e, id: ID(tx.NewUUID()), body: body}
	w.sealed, err = sealBody(ctx, tx, e, w.id, body)
	return w, err
}

const (
	eventColumns = `team_id, id, user_id, type, size, created_at, body, seq`
	eventParams  = 7
	// SQLite's one writer commits in the order it writes, so the number is final.
	// On PostgreSQL the sequencer gives it after the commit.
	nextNumber = `(SELECT COALESCE(MAX(seq), 0) + 1 FROM events WHERE team_id = $1)`
)

func insert(ctx context.Context, tx *store.Tx, rows []written) error {
	args := make([]any, 0, eventParams*len(rows))
	for _, w := range rows {
		args = append(args, w.args(tx)...)
	}
	if _, err := tx.Exec(ctx, insertEvents(tx.Serial(), len(rows)), args...); err != nil {
		return fmt.Errorf("events: writing: %w", err)
	}
	return nil
}

func insertEvents(number bool, rows int) string {
	var b strings.Builder
	b.WriteString(`INSERT INTO events (` + eventColumns + `) VALUES `)
	seq := `NULL`
	if number {
		seq = nextNumber
	}
	for i := range rows {
		if i > 0 {
			b.WriteString(`, `)
		}
		list := store.List(1+i*eventParams, eventParams)
		b.WriteString(strings.TrimSuffix(list, `)`) + `, ` + seq + `)`)
	}
	return b.String()
}

const deliveryColumns = `team_id, endpoint_id, event_id, state, lane, due_at, attempts, tries`

// listening selects the endpoints (e) of a team, $1, that want a type, $4. One
// that is off listens too: its deliveries wait with it, shown as held.
const listening = `e.team_id = $1 AND e.deleted_at IS NULL AND (NOT e.filtered OR EXISTS (
	SELECT 1 FROM webhook_filters f WHERE f.team_id = e.team_id AND f.endpoint_id = e.id AND f.type = $4))`

// insertListening writes the deliveries of one event; its parameters are those
// of insertEvents.
const insertListening = `INSERT INTO webhook_deliveries (` + deliveryColumns + `)
	SELECT e.team_id, e.id, $2, 'pending', 0, $6, 0, 0 FROM webhook_endpoints e WHERE ` + listening

// fanOut writes the deliveries of many events: it asks once for each type who
// listens.
func fanOut(ctx context.Context, tx *store.Tx, team uuid.UUID, rows []written) error {
	byType := map[string][]uuid.UUID{}
	var pairs [][2]uuid.UUID // endpoint, event
	for _, w := range rows {
		endpoints, known := byType[w.Type]
		if !known {
			var err error
			if endpoints, err = listeners(ctx, tx, team, w.Type); err != nil {
				return err
			}
			byType[w.Type] = endpoints
		}
		for _, endpoint := range endpoints {
			pairs = append(pairs, [2]uuid.UUID{endpoint, uuid.UUID(w.id)})
		}
	}
	sizes := []int{8, 1}
	if tx.Engine() == store.Postgres {
		sizes = []int{64, 16, 4, 1}
	}
	return Split(pairs, sizes, func(part [][2]uuid.UUID) error { return insertDeliveries(ctx, tx, team, part) })
}

func listeners(ctx context.Context, tx *store.Tx, team uuid.UUID, kind string) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `SELECT e.id FROM webhook_endpoints e WHERE `+strings.ReplaceAll(listening, "$4", "$2"), team, kind)
	if err != nil {
		return nil, fmt.Errorf("events: looking for listeners: %w", err)
	}
	defer rows.Close()
	var all []uuid.UUID
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		all = append(all, id)
	}
	return all, rows.Err()
}

func insertDeliveries(ctx context.Context, tx *store.Tx, team uuid.UUID, pairs [][2]uuid.UUID) error {
	var b strings.Builder
	b.WriteString(`INSERT INTO webhook_deliveries (` + deliveryColumns + `) VALUES `)
	args := []any{team, store.Micros(tx.Now())}
	for i, pair := range pairs {
		if i > 0 {
			b.WriteString(`, `)
		}
		fmt.Fprintf(&b, `($1, $%d, $%d, 'pending', 0, $2, 0, 0)`, 3+2*i, 4+2*i)
		args = append(args, pair[0], pair[1])
	}
	if _, err := tx.Exec(ctx, b.String(), args...); err != nil {
		return fmt.Errorf("events: writing deliveries: %w", err)
	}
	return nil
}

// Split calls fn with successive parts of items whose lengths are taken from
// sizes, a descending list that ends in 1. So a statement for many rows has
// only a few texts to prepare.
func Split[T any](items []T, sizes []int, fn func(part []T) error) error {
	for len(items) > 0 {
		n := 1
		for _, size := range sizes {
			if len(items) >= size {
				n = size
				break
			}
		}
		if err := fn(items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}

// orNull binds the zero UUID as NULL.
func orNull(id uuid.UUID) any {
	if id == uuid.Nil {
		return nil
	}
	return id
}

// recent keeps the envelopes of the last moments, so that what is sent at once
// need not be read back and opened.
var recent = newCache(16<<20, time.Minute)
