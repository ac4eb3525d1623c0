package events

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
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
	drafts, err := Draft(ctx, tx, all)
	if err != nil {
		return nil, err
	}
	var b store.Batch
	if err := drafts.add(ctx, tx, &b, false); err != nil {
		return nil, err
	}
	if err := tx.Run(ctx, &b); err != nil {
		return nil, fmt.Errorf("events: writing: %w", err)
	}
	ids := make([]ID, len(drafts))
	for i := range drafts {
		ids[i] = drafts[i].id
	}
	return ids, nil
}

// written is an event as it goes into the table.
type written struct {
	New
	id           ID
	seq          int64 // 0 while it has none
	body, sealed []byte
}

// args are the parameters of insertEvents for one row.
func (w *written) args(tx *store.Tx) []any {
	return []any{w.Team, uuid.UUID(w.id), orNull(w.User), w.Type, len(w.body), store.Micros(tx.Now()), w.sealed}
}

func prepare(ctx context.Context, tx *store.Tx, e New) (written, error) {
	if e.packed == nil {
		if !json.Valid(e.Data) {
			return written{}, fmt.Errorf("events: the payload of a %s is not JSON", e.Type)
		}
		if err := e.Ready(); err != nil {
			return written{}, err
		}
	}
	w := written{New: e, id: ID(tx.NewUUID()), body: e.body}
	var err error
	w.sealed, err = sealBody(ctx, tx, e, w.id, e.packed)
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

const insertInto = `INSERT INTO events (` + eventColumns + `)`

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

// orNull binds the zero UUID as NULL.
func orNull(id uuid.UUID) any {
	if id == uuid.Nil {
		return nil
	}
	return id
}

// recent keeps the envelopes of the last moments, so that what is sent at once
// need not be read back and opened.
var recent = newCache(8<<20, time.Minute)
