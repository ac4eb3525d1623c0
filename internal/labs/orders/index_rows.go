package orders

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/civil"
)

// key is the sort key of the rows.
type key struct {
	created int64
	id      ID
}

func (t *teamIndex) compare(row int, k key) int {
	return cmp.Or(cmp.Compare(t.created[row], k.created), bytes.Compare(t.ids[row][:], k.id[:]))
}

// locate returns the row of a key among the first n, or the position for it.
func (t *teamIndex) locate(n int, k key) (row int, found bool) {
	return sort.Find(n, func(row int) int { return -t.compare(row, k) })
}

// grow makes room for more orders.
func (t *teamIndex) grow(more int) {
	t.ids, t.users = slices.Grow(t.ids, more), slices.Grow(t.users, more)
	t.created, t.updated = slices.Grow(t.created, more), slices.Grow(t.updated, more)
	t.changes = slices.Grow(t.changes, more)
	t.kinds, t.results = slices.Grow(t.kinds, more), slices.Grow(t.results, more)
	t.activates, t.births = slices.Grow(t.activates, more), slices.Grow(t.births, more)
	t.patients, t.recipients = slices.Grow(t.patients, more), slices.Grow(t.recipients, more)
	t.rows = slices.Grow(t.rows, more)
}

// append adds a row at the end. The caller calls arrange.
func (t *teamIndex) append(r *indexRow) {
	t.ids, t.users = append(t.ids, r.id), append(t.users, r.user)
	t.created, t.updated = append(t.created, r.created), append(t.updated, 0)
	t.changes = append(t.changes, 0)
	t.kinds, t.results = append(t.kinds, 0), append(t.results, 0)
	t.perKind[0]++ // until set
	t.activates, t.births = append(t.activates, 0), append(t.births, 0)
	t.patients, t.recipients = append(t.patients, 0), append(t.recipients, 0)
	t.rows = append(t.rows, int32(len(t.rows)))
	t.set(len(t.ids)-1, r)
}

// set updates the variable columns of an order.
func (t *teamIndex) set(row int, r *indexRow) {
	t.changes[row] = r.change
	t.perKind[t.kinds[row]]--
	t.perKind[r.kind]++
	t.updated[row], t.kinds[row], t.results[row], t.activates[row], t.births[row] = r.updated, r.kind, r.result, r.activate, r.names.birth
	patient, recipient := r.names.lines()
	before := t.patients[row]
	t.names.replace(&t.patients[row], patient)
	t.names.replace(&t.recipients[row], recipient)
	if t.patients[row] != before {
		t.byPatient.forget(row)
	}
}

// arrange sorts the rows from first on and removes those that were erased. Of
// rows with the same id the last one stays. New orders are nearly always the
// newest, so few rows move.
func (t *teamIndex) arrange(first int, erased map[ID]bool) {
	t.byPatient.forget(first)
	order := slices.Clone(t.rows[first:])
	slices.SortStableFunc(order, func(a, b int32) int { return t.compare(int(a), key{t.created[b], t.ids[b]}) })
	kept := order[:0]
	for i, row := range order {
		if erased[t.ids[row]] || i+1 < len(order) && t.ids[order[i+1]] == t.ids[row] {
			t.perKind[t.kinds[row]]--
			t.names.replace(&t.patients[row], nameLine{})
			t.names.replace(&t.recipients[row], nameLine{})
			continue
		}
		kept = append(kept, row)
	}
	t.ids, t.users = permute(t.ids, first, kept), permute(t.users, first, kept)
	t.created, t.updated = permute(t.created, first, kept), permute(t.updated, first, kept)
	t.changes = permute(t.changes, first, kept)
	t.kinds, t.results = permute(t.kinds, first, kept), permute(t.results, first, kept)
	t.activates, t.births = permute(t.activates, first, kept), permute(t.births, first, kept)
	t.patients, t.recipients = permute(t.patients, first, kept), permute(t.recipients, first, kept)
	t.rows = t.rows[:len(t.ids)]
}

// permute replaces the values from first on by those of rows.
func permute[T any](column []T, first int, rows []int32) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i] = column[row]
	}
	return append(column[:first], values...)
}

// kindOf packs a status and a method.
func kindOf(s Status, m Method) uint8 {
	return uint8(slices.Index(Statuses, s)*len(catalogue.Methods) + slices.Index(catalogue.Methods, m))
}

// resultOf packs an interpretation and whether it is critical.
func resultOf(i Interpretation, critical bool) uint8 {
	packed := 2 * uint8(1+slices.Index(Interpretations, i))
	if critical {
		packed++
	}
	return packed
}

// dayNumber converts a date to a number that sorts like the date, such as 20260301.
func dayNumber(d civil.Date) int32 { return int32(d.Year*10000 + int(d.Month)*100 + d.Day) }
