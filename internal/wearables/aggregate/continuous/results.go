package continuous

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables/aggregate"
	"hale/internal/wearables/aggregate/query"
)

// A page holds the rows whose buckets begin in one stretch of time. It is encrypted and
// written as a whole, so the stretch has some hundred buckets.
func pageWidth(p *query.Plan) int64 {
	const day = int64(24 * 3600 * 1e6)
	switch p.Keys[p.TruncKey()].Trunc.Unit {
	case query.Minute:
		return day
	case query.Hour:
		return 8 * day
	case query.Day:
		return 128 * day
	default:
		return 3660 * day
	}
}

func pageOf(us, width int64) int64 {
	page := us / width
	if us%width < 0 {
		page--
	}
	return page
}

// layout describes the columns of a query's result.
type layout struct {
	bucket int   // column of the date_trunc
	keys   []int // columns of all group keys, in their order
}

func layoutOf(p *query.Plan) (l layout) {
	for i := range p.Keys {
		at := slices.IndexFunc(p.Outputs, func(o query.Output) bool { return o.Key == i })
		l.keys = append(l.keys, at)
		if i == p.TruncKey() {
			l.bucket = at
		}
	}
	return l
}

// readPages reads the stored rows of pages from first to last.
func (q *Query) readPages(ctx context.Context, tx *store.Tx, user users.ID, first, last int64) (map[int64]*aggregate.Table, error) {
	type stored struct {
		page   int64
		sealed []byte
	}
	rows, err := tx.Query(ctx, `SELECT page, data FROM continuous_query_pages
		WHERE team_id = $1 AND user_id = $2 AND query_id = $3 AND page BETWEEN $4 AND $5 ORDER BY page`,
		q.Team, user, q.ID, first, last)
	if err != nil {
		return nil, fmt.Errorf("continuous: reading results: %w", err)
	}
	defer rows.Close()
	var all []stored
	for rows.Next() {
		var s stored
		if err := rows.Scan(&s.page, &s.sealed); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	pages := map[int64]*aggregate.Table{}
	for _, s := range all {
		text, err := tx.Unseal(ctx, q.Team.UUID(), user.UUID(), q.placeOf(s.page), s.sealed)
		if err != nil {
			return nil, err
		}
		if pages[s.page], err = aggregate.ParseTable(text, q.plan); err != nil {
			return nil, fmt.Errorf("continuous: stored results of query %v: %w", q.ID, err)
		}
	}
	return pages, nil
}

func (q *Query) placeOf(page int64) string {
	return "continuous_query_pages.data:" + q.ID.String() + ":" + strconv.FormatInt(page, 10)
}

func (q *Query) writePage(ctx context.Context, tx *store.Tx, user users.ID, page int64, t *aggregate.Table) error {
	if t.Len() == 0 {
		_, err := tx.Exec(ctx, `DELETE FROM continuous_query_pages WHERE team_id = $1 AND user_id = $2 AND query_id = $3 AND page = $4`,
			q.Team, user, q.ID, page)
		return err
	}
	sealed, err := tx.Seal(ctx, q.Team.UUID(), user.UUID(), q.placeOf(page), t.AppendJSON(nil, nil))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO continuous_query_pages (team_id, user_id, query_id, page, n, data) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (team_id, user_id, query_id, page) DO UPDATE SET n = excluded.n, data = excluded.data`,
		q.Team, user, q.ID, page, t.Len(), sealed)
	if err != nil {
		return fmt.Errorf("continuous: writing results: %w", err)
	}
	return nil
}

var errTooLarge = fault.New(fault.Unprocessable,
	"the result table has too many rows to be read at once; make a query with longer periods or fewer columns")

// readable refuses a result that is too large to read at once. Runs add new rows year
// after year, so a result can exceed the limit of a single run.
func (q *Query) readable(ctx context.Context, tx *store.Tx, user users.ID) error {
	var rows, bytes int
	err := tx.QueryRow(ctx, `SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT), CAST(COALESCE(SUM(LENGTH(data)), 0) AS BIGINT) FROM continuous_query_pages
		WHERE team_id = $1 AND user_id = $2 AND query_id = $3`, q.Team, user, q.ID).Scan(&rows, &bytes)
	switch {
	case err != nil:
		return fmt.Errorf("continuous: looking how large a result is: %w", err)
	case rows > mostCells/len(q.plan.Outputs) || bytes > mostBytes:
		return errTooLarge
	}
	return nil
}

// Result returns the whole result table of a user, in order of its group keys.
func (q *Query) Result(ctx context.Context, tx *store.Tx, user users.ID) (*aggregate.Table, error) {
	if err := q.readable(ctx, tx, user); err != nil {
		return nil, err
	}
	width := pageWidth(q.plan)
	pages, err := q.readPages(ctx, tx, user, pageOf(query.FirstMoment, width)-1, pageOf(query.EndOfTime, width)+1)
	if err != nil {
		return nil, err
	}
	t := aggregate.NewEmptyTable(q.plan)
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		t.Append(pages[page])
	}
	return t.Sorted(layoutOf(q.plan).keys), nil
}

// delta holds the changes of a run to a result.
type delta struct {
	rows    *aggregate.Table // new and changed rows
	removed *aggregate.Table // the group keys of removed rows
}

// store replaces the stale rows by the fresh ones. Rows are compared by their group
// keys.
func (t *task) store(ctx context.Context, tx *store.Tx) (d delta, err error) {
	q, l, width := &t.query, layoutOf(t.query.plan), pageWidth(t.query.plan)
	old, err := q.readPages(ctx, tx, t.user.ID, pageOf(t.begin, width), pageOf(t.end-1, width))
	if err != nil {
		return delta{}, err
	}
	fresh := map[int64][]int32{}
	for row, at := range t.fresh.Columns[l.bucket].Time {
		page := pageOf(at, width)
		fresh[page] = append(fresh[page], int32(row))
	}
	numbers := map[int64]bool{}
	for page := range old {
		numbers[page] = true
	}
	for page := range fresh {
		numbers[page] = true
	}
	news, gone := aggregate.NewEmptyTable(q.plan), aggregate.NewEmptyTable(q.plan)
	for _, page := range slices.Sorted(maps.Keys(numbers)) {
		was := old[page]
		if was == nil {
			was = aggregate.NewEmptyTable(q.plan)
		}
		now, differ, vanished := t.merge(l, was, t.fresh.Pick(fresh[page]))
		if differ.Len() == 0 && vanished.Len() == 0 {
			continue
		}
		news.Append(differ)
		gone.Append(vanished)
		if err := q.writePage(ctx, tx, t.user.ID, page, now); err != nil {
			return delta{}, err
		}
	}
	return delta{rows: news.Sorted(l.keys), removed: gone.Sorted(l.keys).Only(l.keys)}, nil
}

// merge computes a page's new rows from its old and its fresh ones. Old rows outside
// the stale time stay; those inside stay only if they are fresh.
func (t *task) merge(l layout, was, fresh *aggregate.Table) (now, differ, vanished *aggregate.Table) {
	before := map[string]int32{}
	var kept []int32
	for row, at := range was.Columns[l.bucket].Time {
		if at < t.begin || at >= t.end {
			kept = append(kept, int32(row))
			continue
		}
		before[was.Code(row, l.keys)] = int32(row)
	}
	var news []int32
	for row := range fresh.Len() {
		code := fresh.Code(row, l.keys)
		old, ok := before[code]
		delete(before, code)
		if !ok || !aggregate.Equal(was, int(old), fresh, row) {
			news = append(news, int32(row))
		}
	}
	vanished = was.Pick(slices.Sorted(maps.Values(before)))
	now = was.Pick(kept)
	now.Append(fresh)
	return now, fresh.Pick(news), vanished
}

// changedEvent lists rows that are new, changed or removed.
const changedEvent = "continuous_query.result_table.changed"

// EventTypes returns the types of events that this package emits.
func EventTypes() []events.Type {
	return []events.Type{{
		Name: changedEvent, Sentence: "Rows of a continuous query's result changed.",
		Example: func(uuid.UUID) json.RawMessage {
			return json.RawMessage(`[{"query_id":"00000000-0000-4000-8000-00000000000a","query_slug":"weekly-steps",` +
				`"data":{"group_key.0":["2026-03-02T00:00:00"],"sum.value":[8214]},"removed":{"group_key.0":["2026-02-23T00:00:00"]}}]`)
		},
	}}
}

// announce emits a delta, in as many events as it needs. Webhooks have it unless the
// query's data_events are off; the feed always has it.
//
// Reference 8.3: [{query_id, query_slug, data: column → array}]. removed is ours.
func (t *task) announce(ctx context.Context, tx *store.Tx, d delta) error {
	if d.rows.Len() == 0 && d.removed.Len() == 0 {
		return nil
	}
	e := events.New{
		Team: t.query.Team.UUID(), User: t.user.ID.UUID(), ClientUserID: t.user.ClientUserID, Type: changedEvent,
		FeedOnly: !t.query.DataEvents,
	}
	var all []events.New
	for _, payload := range t.payloads(nil, d, events.Room(e)) {
		part := e
		part.Data = payload
		all = append(all, part)
	}
	_, err := events.EmitMany(ctx, tx, all)
	return err
}

// payloads halves a delta until each part fits into an event. A single row that is too
// large for an event is left out; the result table still has it.
func (t *task) payloads(dst [][]byte, d delta, room int) [][]byte {
	slug, _ := json.Marshal(t.query.Slug) // a string always marshals
	payload := append([]byte(`[{"query_id":"`), t.query.ID.String()...)
	payload = append(append(payload, `","query_slug":`...), slug...)
	payload = d.rows.AppendJSON(append(payload, `,"data":`...), nil)
	if d.removed.Len() > 0 {
		payload = d.removed.AppendJSON(append(payload, `,"removed":`...), nil)
	}
	payload = append(payload, `}]`...)
	rows, removed := d.rows.Len(), d.removed.Len()
	switch {
	case len(payload) <= room:
		return append(dst, payload)
	case rows+removed == 1:
		return dst
	}
	// One half rounds up and the other one down, so that each part gets smaller.
	row, key := (rows+1)/2, removed/2
	dst = t.payloads(dst, delta{d.rows.Pick(span(0, row)), d.removed.Pick(span(0, key))}, room)
	return t.payloads(dst, delta{d.rows.Pick(span(row, rows)), d.removed.Pick(span(key, removed))}, room)
}

func span(from, to int) []int32 {
	all := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		all = append(all, int32(i))
	}
	return all
}
