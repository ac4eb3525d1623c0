package continuous

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables/aggregate"
)

// store puts the fresh rows in place of the stale ones and gives those that
// are new or changed, told apart by their group keys.
func (t *task) store(ctx context.Context, tx *store.Tx) (delta *aggregate.Table, err error) {
	q, l, width := &t.query, layoutOf(t.query.plan), pageWidth(t.query.plan)
	old, err := q.readPages(ctx, tx, t.user.ID, pageOf(t.begin, width), pageOf(t.end-1, width))
	if err != nil {
		return nil, err
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
	delta = aggregate.Empty(q.plan)
	for _, page := range slices.Sorted(maps.Keys(numbers)) {
		was := old[page]
		if was == nil {
			was = aggregate.Empty(q.plan)
		}
		now, news, changed := t.merge(l, was, t.fresh.Pick(fresh[page]))
		if !changed {
			continue
		}
		delta.Append(news)
		if err := q.writePage(ctx, tx, t.user.ID, page, now); err != nil {
			return nil, err
		}
	}
	return delta.Sorted(l.keys), nil
}

// merge makes a page's new rows of its old and its fresh ones. Old rows outside
// the stale time stay; those inside that are not fresh are gone.
func (t *task) merge(l layout, was, fresh *aggregate.Table) (now, news *aggregate.Table, changed bool) {
	before := map[string]int{}
	var kept []int32
	for row, at := range was.Columns[l.bucket].Time {
		if at < t.begin || at >= t.end {
			kept = append(kept, int32(row))
			continue
		}
		before[was.Code(row, l.keys)] = row
	}
	var differ []int32
	same := 0
	for row := range fresh.Len() {
		if old, ok := before[fresh.Code(row, l.keys)]; ok && aggregate.Equal(was, old, fresh, row) {
			same++
			continue
		}
		differ = append(differ, int32(row))
	}
	now = was.Pick(kept)
	now.Append(fresh)
	return now, fresh.Pick(differ), len(differ) > 0 || same != len(before)
}

// changedEvent lists rows that are new or changed.
const changedEvent = "continuous_query.result_table.changed"

// EventTypes returns the types of events that this package emits.
func EventTypes() []events.Type {
	return []events.Type{{
		Name: changedEvent, Sentence: "Rows of a continuous query's result changed.",
		Example: func(uuid.UUID) json.RawMessage {
			return json.RawMessage(`[{"query_id":"00000000-0000-4000-8000-00000000000a","query_slug":"weekly-steps","data":{"group_key":[0],"sum":[8214]}}]`)
		},
	}}
}

// announce emits the rows of a delta, in as many events as they need.
//
// Reference 8.3: [{query_id, query_slug, data: column → array}].
func (t *task) announce(ctx context.Context, tx *store.Tx, delta *aggregate.Table) error {
	if delta.Len() == 0 || !t.query.DataEvents {
		return nil
	}
	e := events.New{
		Team: t.query.Team.UUID(), User: t.user.ID.UUID(), ClientUserID: t.user.ClientUserID, Type: changedEvent,
	}
	var all []events.New
	for _, payload := range t.payloads(nil, delta, events.Room(e)) {
		part := e
		part.Data = payload
		all = append(all, part)
	}
	_, err := events.EmitMany(ctx, tx, all)
	return err
}

// payloads halves the rows until each part fits. A single row that does not is
// left out: it stands in the result table, and no event could ever hold it.
func (t *task) payloads(dst [][]byte, rows *aggregate.Table, room int) [][]byte {
	slug, _ := json.Marshal(t.query.Slug) // a string always marshals
	payload := append([]byte(`[{"query_id":"`), t.query.ID.String()...)
	payload = append(append(payload, `","query_slug":`...), slug...)
	payload = rows.AppendJSON(append(payload, `,"data":`...), nil)
	payload = append(payload, `}]`...)
	switch {
	case len(payload) <= room:
		return append(dst, payload)
	case rows.Len() == 1:
		return dst
	}
	half := rows.Len() / 2
	dst = t.payloads(dst, rows.Pick(span(0, half)), room)
	return t.payloads(dst, rows.Pick(span(half, rows.Len())), room)
}

func span(from, to int) []int32 {
	all := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		all = append(all, int32(i))
	}
	return all
}
