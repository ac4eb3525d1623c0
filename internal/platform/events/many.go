package events

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// Drafts are events of one team that are sealed, with their ids, and not written.
type Drafts []written

// Draft makes events ready to be written, in the given order. It may run on a
// reader, so that SQLite's one writer need not do it.
func Draft(ctx context.Context, tx *store.Tx, all []New) (Drafts, error) {
	rows := make(Drafts, len(all))
	for i, e := range all {
		if e.Team != all[0].Team {
			return nil, errors.New("events: events of several teams at once")
		}
		w, err := prepare(ctx, tx, e)
		if err != nil {
			return nil, err
		}
		rows[i] = w
	}
	return rows, nil
}

// Add adds to a batch what writes the events, and a delivery for each endpoint
// that listens. On PostgreSQL the events get their numbers here as well, after
// those of the team that were committed without one, under the sequencer's lock,
// which is held until the transaction ends: let these be its last statements.
// Where more than numberAtOnce wait for theirs, all of it is left to the
// sequencer.
func (d Drafts) Add(ctx context.Context, tx *store.Tx, b *store.Batch) error {
	return d.add(ctx, tx, b, true)
}

func (d Drafts) add(ctx context.Context, tx *store.Tx, b *store.Batch, number bool) error {
	if len(d) == 0 {
		return nil
	}
	rows, team := d, d[0].Team
	var h *handing
	var earlier int64 // events from before that get their numbers here

	if number || tx.Serial() { // what has no number yet cannot be sent
		h = hands(team)
	}
	switch {
	case tx.Engine() == store.SQLite:
		if err := numbers(ctx, tx, rows); err != nil {
			return err
		}
		for i := range rows {
			b.Insert(nil, insertInto, append(rows[i].args(tx), rows[i].seq), ``)
		}
	case number:
		addNumbered(tx, b, rows, &earlier)
	default:
		addArrays(tx, b, rows)
	}
	addDeliveries(tx, b, rows, h)
	tx.AfterCommit(func() {
		for i := range rows {
			recent.put(rows[i].id, rows[i].body, tx.Now())
		}
		switch {
		case rows[0].seq == 0:
			rung(tx.Engine(), team)
		case h != nil:
			h.to.Hand(team, h.fresh)
			ready.ring(team)
			if h.left || earlier > 0 {
				due.ring(team)
			}
		default:
			ready.ring(team)
			due.ring(team)
		}
	})
	return nil
}

// numbers gives rows the next numbers of their team. SQLite's one writer
// commits in the order it writes, so they are final.
func numbers(ctx context.Context, tx *store.Tx, rows []written) error {
	var last int64
	err := tx.QueryRow(ctx, `SELECT COALESCE(MAX(seq), 0) FROM events WHERE team_id = $1`, rows[0].Team).Scan(&last)
	if err != nil {
		return fmt.Errorf("events: numbering: %w", err)
	}
	for i := range rows {
		rows[i].seq = last + 1 + int64(i)
	}
	return nil
}

// addArrays writes any number of rows with one text, without numbers.
func addArrays(tx *store.Tx, b *store.Batch, rows []written) {
	b.Exec(nil, `INSERT INTO events (`+eventColumns+`)
		SELECT $1, n.id, n.user_id, n.type, n.size, $2, n.body, NULL FROM `+fromArrays, arraysOf(tx, rows)...)
}

// fromArrays are the rows of arraysOf as n.
const fromArrays = `UNNEST($3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::bytea[])
	WITH ORDINALITY AS n(id, user_id, type, size, body, place)`

func arraysOf(tx *store.Tx, rows []written) []any {
	n := len(rows)
	ids, users, types := make([][16]byte, n), make([]*[16]byte, n), make([]string, n)
	sizes, bodies := make([]int64, n), make([][]byte, n)
	for i := range rows {
		w := &rows[i]
		ids[i], types[i], sizes[i], bodies[i] = w.id, w.Type, int64(len(w.body)), w.sealed
		if w.User != uuid.Nil {
			users[i] = (*[16]byte)(&w.User)
		}
	}
	return []any{rows[0].Team, store.Micros(tx.Now()), ids, users, types, sizes, bodies}
}

// addDeliveries writes a delivery for every endpoint that listens, and marks
// those that are handed over as the courier's.
func addDeliveries(tx *store.Tx, b *store.Batch, rows []written, h *handing) {
	if tx.Engine() == store.Postgres {
		addDeliveryArrays(tx, b, rows, h)
		return
	}
	byType := map[string][]*written{}
	var order []string
	for i := range rows {
		if byType[rows[i].Type] == nil {
			order = append(order, rows[i].Type)
		}
		byType[rows[i].Type] = append(byType[rows[i].Type], &rows[i])
	}
	for _, kind := range order { // so that it is asked once for each type who listens
		_ = store.Split(byType[kind], together, func(part []*written) error {
			args := make([]any, 0, 3+len(part))
			args = append(args, store.Micros(tx.Now()))
			for _, w := range part {
				args = append(args, w.id)
			}
			args = append(args, part[0].Team, kind)
			if h == nil {
				b.Exec(nil, deliveryTexts[len(part)], args...)
			} else {
				b.Query(h.row(tx, part), handedTexts[len(part)], args...)
			}
			return nil
		})
	}
}

// together lists how many events of one type share a statement on SQLite.
// deliveryTexts has the statement for each number; those of handedTexts return
// the new deliveries.
var (
	together      = []int{32, 8, 2, 1}
	deliveryTexts = textsOf(together, ``)
	handedTexts   = textsOf(together, returning)
)

func textsOf(counts []int, ending string) map[int]string {
	texts := map[int]string{}
	for _, n := range counts {
		texts[n] = deliveriesOf(n) + ending
	}
	return texts
}

// deliveriesOf is SQLite's text for the deliveries of n events of one type: the
// time, the events, the team, the type.
func deliveriesOf(n int) string {
	var ids strings.Builder
	for i := range n {
		if i > 0 {
			ids.WriteString(", ")
		}
		fmt.Fprintf(&ids, "($%d)", 2+i)
	}
	who := strings.NewReplacer("$1", fmt.Sprintf("$%d", n+2), "$4", fmt.Sprintf("$%d", n+3)).Replace(listening)
	return `INSERT INTO webhook_deliveries (` + deliveryColumns + `)
		SELECT e.team_id, e.id, n.column1, 'pending', 0, $1, 0, 0
		FROM webhook_endpoints e CROSS JOIN (VALUES ` + ids.String() + `) AS n WHERE ` + who
}

// returning tells of each delivery which endpoint it is for, and its revision,
// NULL while the endpoint is off.
const returning = ` RETURNING endpoint_id, event_id, (SELECT o.revision FROM webhook_endpoints o
	WHERE o.team_id = webhook_deliveries.team_id AND o.id = webhook_deliveries.endpoint_id AND o.state = 'on' AND o.deleted_at IS NULL)`

func addDeliveryArrays(tx *store.Tx, b *store.Batch, rows []written, h *handing) {
	ids, types := make([][16]byte, len(rows)), make([]string, len(rows))
	written := make([]*written, len(rows))
	for i := range rows {
		ids[i], types[i], written[i] = rows[i].id, rows[i].Type, &rows[i]
	}
	args := []any{rows[0].Team, store.Micros(tx.Now()), ids, types}
	text := func(node string) string {
		return `INSERT INTO webhook_deliveries (` + deliveryColumns + `, node)
			SELECT e.team_id, e.id, n.id, 'pending', 0, $2, 0, 0, ` + node + `
			FROM UNNEST($3::uuid[], $4::text[]) AS n(id, type), webhook_endpoints e
			WHERE ` + strings.ReplaceAll(listening, "$4", "n.type")
	}
	if h == nil {
		b.Exec(nil, text(`NULL`), args...)
		return
	}
	mine := make([][16]byte, len(h.endpoints))
	for i, id := range h.endpoints {
		mine[i] = id
	}
	b.Query(h.row(tx, written), text(`CASE WHEN e.state = 'on' AND e.id = ANY ($5::uuid[])
			AND (SELECT v.seq FROM events v WHERE v.id = $7 AND v.team_id = $1) IS NOT NULL THEN $6::uuid END`)+returning,
		append(args, mine, h.node, rows[0].id)...)
}

// row reads what returning returns.
func (h *handing) row(tx *store.Tx, all []*written) func(store.Scanner) error {
	return func(row store.Scanner) error {
		var endpoint, event uuid.UUID
		var revision *int64
		if err := row.Scan(&endpoint, &event, &revision); err != nil {
			return err
		}
		for _, w := range all {
			if uuid.UUID(w.id) == event {
				h.take(endpoint, revision, w, tx.Now())
			}
		}
		return nil
	}
}
