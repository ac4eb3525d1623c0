package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// Topics of [store.DB.OnCommit]; the id is the team's.
const (
	writtenTopic  = store.Topic("events.written")  // events wait for their numbers (PostgreSQL)
	numberedTopic = store.Topic("events.numbered") // events may be read and delivered
)

// OnNumbered calls fn whenever a team has new events to read and to deliver,
// until stop is called. fn must not block. Events of another node come without a
// call.
func OnNumbered(db *store.DB, fn func(team uuid.UUID)) (stop func()) {
	return db.OnCommit(numberedTopic, fn)
}

// Emit writes an event, and a delivery for each endpoint that listens to its
// type, in the caller's transaction.
func Emit(ctx context.Context, tx *store.Tx, e New) (ID, error) {
	ids, err := EmitMany(ctx, tx, []New{e})
	if err != nil {
		return ID{}, err
	}
	return ids[0], nil
}

// EmitMany writes events of one team in the given order, as Emit does, with fewer
// statements.
func EmitMany(ctx context.Context, tx *store.Tx, all []New) ([]ID, error) {
	drafts, err := Draft(ctx, tx, all)
	if err != nil {
		return nil, err
	}
	var b store.Batch
	if err := drafts.Add(ctx, tx, &b); err != nil {
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

// Drafts are events of one team that are sealed and have ids, but are not yet
// written.
type Drafts []draft

type draft struct {
	New
	id       ID
	sealed   []byte
	audience audience
}

// audience says which endpoints an event is delivered to.
type audience int64

const (
	listeners audience = iota // those that listen to its type
	choosers                  // those that name its type
	feedOnly                  // the event is in the feed only
)

// Draft seals events, in the given order. It may run on a reader, which spares
// SQLite's one writer the work.
func Draft(ctx context.Context, tx *store.Tx, all []New) (Drafts, error) {
	drafts := make(Drafts, len(all))
	for i, e := range all {
		if e.Team != all[0].Team {
			return nil, errors.New("events: events of several teams at once")
		}
		d, err := newDraft(ctx, tx, e)
		if err != nil {
			return nil, err
		}
		drafts[i] = d
	}
	return drafts, nil
}

func newDraft(ctx context.Context, tx *store.Tx, e New) (draft, error) {
	if all := catalogue.Of(tx); all != nil && !all.Known(e.Type) {
		return draft{}, fmt.Errorf("events: type %q is not in the catalogue", e.Type)
	}
	if e.packed == nil {
		if !json.Valid(e.Data) {
			return draft{}, fmt.Errorf("events: the payload of a %s is not JSON", e.Type)
		}
		if err := e.Ready(); err != nil {
			return draft{}, err
		}
	}
	d := draft{New: e, id: ID(tx.NewUUID())}
	switch {
	case e.FeedOnly:
		d.audience = feedOnly
	case catalogue.Of(tx).isOptional(e.Type):
		d.audience = choosers
	}
	var err error
	d.sealed, err = sealBody(ctx, tx, e, d.id, e.packed)
	return d, err
}

// Add adds statements to a batch that write the events, and a delivery for each
// endpoint that listens. The same drafts may be added again when a transaction is
// repeated.
func (d Drafts) Add(ctx context.Context, tx *store.Tx, b *store.Batch) error {
	if len(d) == 0 {
		return nil
	}
	if tx.Engine() == store.Postgres {
		d.addArrays(tx, b)
		tx.Notify(writtenTopic, d[0].Team)
		return nil
	}
	if err := d.addRows(ctx, tx, b); err != nil {
		return err
	}
	tx.Notify(numberedTopic, d[0].Team)
	return nil
}

const (
	insertEvents     = `INSERT INTO events (team_id, id, user_id, type, size, created_at, body, seq, audience)`
	insertDeliveries = `INSERT INTO webhook_deliveries (team_id, endpoint_id, event_id, state, lane, due_at, attempts, tries)`
)

// addRows writes the events on SQLite, with their numbers: its one writer commits
// in the order in which it writes, so the numbers are final.
func (d Drafts) addRows(ctx context.Context, tx *store.Tx, b *store.Batch) error {
	last, err := LastNumber(ctx, tx, d[0].Team)
	if err != nil {
		return err
	}
	reached := last + int64(len(d))
	tx.AfterCommit(func() { latestByTeam.Of(tx).note(d[0].Team, reached) })
	now := store.Micros(tx.Now())
	byType := map[string][]any{} // ids
	var types []string
	for i := range d {
		e := &d[i]
		b.Insert(nil, insertEvents, []any{e.Team, uuid.UUID(e.id), orNull(e.User), e.Type, len(e.body), now, e.sealed, last + 1 + int64(i), int64(e.audience)}, ``)
		if e.audience == feedOnly {
			continue
		}
		if byType[e.Type] == nil {
			types = append(types, e.Type)
		}
		byType[e.Type] = append(byType[e.Type], e.id)
	}
	for _, name := range types {
		_ = store.Chunks(byType[name], deliveryWidths, func(ids []any) error {
			b.Exec(nil, deliveryTexts[len(ids)], append(append([]any{now}, ids...), d[0].Team, name, !catalogue.Of(tx).isOptional(name))...)
			return nil
		})
	}
	return nil
}

// listeningCondition selects the endpoints (e) of a team that want a type. An endpoint that
// is off listens too: its deliveries wait and are shown as held. byDefault says that
// endpoints without a filter want it.
func listeningCondition(team, kind, byDefault string) string {
	return `e.team_id = ` + team + ` AND e.deleted_at IS NULL AND (NOT e.filtered AND ` + byDefault + ` OR EXISTS (
		SELECT 1 FROM webhook_filters f WHERE f.team_id = e.team_id AND f.endpoint_id = e.id AND f.type = ` + kind + `))`
}

// deliveryWidths lists how many events of one type share a statement on SQLite.
// deliveryTexts has a text for each number: few, so that each stays prepared.
var (
	deliveryWidths = []int{32, 8, 2, 1}
	deliveryTexts  = map[int]string{32: deliveryText(32), 8: deliveryText(8), 2: deliveryText(2), 1: deliveryText(1)}
)

// deliveryText writes the deliveries of n events of one type. Its parameters are
// the time, the events, the team, the type, and whether it is sent by default.
func deliveryText(n int) string {
	var ids strings.Builder
	for i := range n {
		if i > 0 {
			ids.WriteString(", ")
		}
		fmt.Fprintf(&ids, "($%d)", 2+i)
	}
	return insertDeliveries + ` SELECT e.team_id, e.id, n.column1, 'pending', 0, $1, 0, 0
		FROM webhook_endpoints e CROSS JOIN (VALUES ` + ids.String() + `) AS n
		WHERE ` + listeningCondition(fmt.Sprintf("$%d", n+2), fmt.Sprintf("$%d", n+3), fmt.Sprintf("$%d", n+4))
}

// addArrays writes the events on PostgreSQL, any number of them with one text,
// without numbers: see Sequencer.
func (d Drafts) addArrays(tx *store.Tx, b *store.Batch) {
	n := len(d)
	ids, users, types := make([][16]byte, n), make([]*[16]byte, n), make([]string, n)
	sizes, bodies, audiences := make([]int64, n), make([][]byte, n), make([]int64, n)
	for i := range d {
		e := &d[i]
		ids[i], types[i], sizes[i], bodies[i], audiences[i] = e.id, e.Type, int64(len(e.body)), e.sealed, int64(e.audience)
		if e.User != uuid.Nil {
			users[i] = (*[16]byte)(&e.User)
		}
	}
	team, now := d[0].Team, store.Micros(tx.Now())
	b.Exec(nil, insertEvents+` SELECT $1, n.id, n.user_id, n.type, n.size, $2, n.body, NULL, n.audience
		FROM UNNEST($3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::bytea[], $8::bigint[]) AS n(id, user_id, type, size, body, audience)`,
		team, now, ids, users, types, sizes, bodies, audiences)
	b.Exec(nil, insertDeliveries+` SELECT e.team_id, e.id, n.id, 'pending', 0, $2, 0, 0
		FROM UNNEST($3::uuid[], $4::text[], $5::bigint[]) AS n(id, type, audience), webhook_endpoints e
		WHERE n.audience < 2 AND `+listeningCondition("$1", "n.type", "n.audience = 0"),
		team, now, ids, types, audiences)
}

// orNull binds the zero UUID as NULL.
func orNull(id uuid.UUID) any {
	if id == uuid.Nil {
		return nil
	}
	return id
}
