package orders

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
)

// match is the set of positions that the filter leaves. What leaves few comes
// first: where a bitmap has none left, columns are not looked at.
func (m *memory) match(f Filter, within [][]ID, today civil.Date) bitmap {
	b := slices.Clone(m.live)
	for _, list := range within {
		b.and(m.positions(list))
	}
	if f.User != nil {
		if person, known := m.peopleAt.find(m.people, *f.User); known {
			keep(b, m.whose, between(person, person))
		} else {
			clear(b)
		}
	}
	if len(f.Statuses) > 0 || len(f.Methods) > 0 {
		keep(b, m.kinds, marked(f.kinds()))
	}
	if f.Critical != nil || f.Interpretation != "" {
		keep(b, m.results, marked(f.results()))
	}
	if len(f.Activations) == 1 {
		if until := dayNumber(today); f.Activations[0] == ScheduledOrders {
			keep(b, m.activates, between(until+1, math.MaxInt32))
		} else {
			keep(b, m.activates, between(0, until))
		}
	}
	f.Created.keep(b, m.created)
	f.Updated.keep(b, m.updated)
	if f.PatientName != "" {
		m.names.narrow(b, m.names.patients, Fold(f.PatientName), false)
	}
	if f.Recipient != "" {
		m.names.narrow(b, m.names.recipients, Fold(f.Recipient), true)
	}
	if f.Search != "" {
		b = m.search(b, strings.TrimSpace(f.Search))
	}
	return b
}

// positions of those orders of a list that are known.
func (m *memory) positions(list []ID) bitmap {
	some := newBitmap(m.len())
	for _, id := range list {
		if at, ok := m.places.find(m.ids, id); ok {
			some.set(at)
		}
	}
	return some
}

// kinds are the pairs of status and method that the filter wants.
func (f *Filter) kinds() *[256]uint8 {
	var want [256]uint8
	for _, s := range Statuses {
		for _, method := range catalogue.Methods {
			if (len(f.Statuses) == 0 || slices.Contains(f.Statuses, s)) && (len(f.Methods) == 0 || slices.Contains(f.Methods, method)) {
				want[kindOf(s, method)] = 1
			}
		}
	}
	return &want
}

// results are the pairs of interpretation and being critical that the filter
// wants.
func (f *Filter) results() *[256]uint8 {
	var want [256]uint8
	for _, i := range append([]Interpretation{""}, Interpretations...) {
		for _, critical := range []bool{false, true} {
			if (f.Interpretation == "" || f.Interpretation == i) && (f.Critical == nil || *f.Critical == critical) {
				want[resultOf(i, critical)] = 1
			}
		}
	}
	return &want
}

func (s Span) keep(b bitmap, column []int64) {
	if s.From == nil && s.To == nil {
		return
	}
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if s.From != nil {
		from = store.Micros(*s.From)
	}
	if s.To != nil {
		to = store.Micros(*s.To)
	}
	keep(b, column, between(from, to))
}

// narrow leaves those positions whose line in a column has the part. When few
// are left to look at, that is quicker one by one.
func (n *nameMemory) narrow(b bitmap, column []int32, part string, beforeTail bool) {
	if b.count()*8 < len(n.texts.starts) {
		for at := range b.all() {
			if !n.texts.has(column[at], []byte(part), beforeTail) {
				b.clear(at)
			}
		}
		return
	}
	lines, before := n.texts.with(part)
	if beforeTail {
		lines = before
	}
	keep(b, column, in(lines))
}

// search is those orders of a set that the input names in any of its ways.
func (m *memory) search(b bitmap, input string) bitmap {
	found := newBitmap(m.len())
	if prefix, ok := idPrefix(input); ok {
		found.or(kept(b, m.ids, beginWith(prefix)))
		people := newBitmap(len(m.people))
		for at := range m.people {
			if bytes.HasPrefix(m.people[at][:], prefix) {
				people.set(int32(at))
			}
		}
		if people.count() > 0 {
			found.or(kept(b, m.whose, in(people)))
		}
	}
	if day, err := civil.ParseDate(input); err == nil {
		found.or(kept(b, m.names.births, between(dayNumber(day), dayNumber(day))))
	}
	lines, beforeTail := m.names.texts.with(Fold(input))
	if lines.count() > 0 {
		found.or(kept(b, m.names.patients, in(lines)))
		found.or(kept(b, m.names.recipients, in(beforeTail)))
	}
	return found
}

// kept is keep on a set of its own.
func kept[T any](b bitmap, column []T, wanted test[T]) bitmap {
	b = slices.Clone(b)
	keep(b, column, wanted)
	return b
}

// idPrefix reads the beginning of an id, whole bytes of at least four.
func idPrefix(text string) ([]byte, bool) {
	digits := strings.ReplaceAll(strings.ToLower(text), "-", "")
	if len(digits) < 8 || len(digits) > 32 {
		return nil, false
	}
	prefix := make([]byte, len(digits)/2)
	for i := range prefix {
		high, low := strings.IndexByte(hex, digits[2*i]), strings.IndexByte(hex, digits[2*i+1])
		if high < 0 || low < 0 {
			return nil, false
		}
		prefix[i] = byte(high<<4 | low)
	}
	return prefix, true
}

const hex = "0123456789abcdef"

// beginWith wants the ids that begin with a prefix of at least four bytes, of
// which the first ones decide nearly always.
func beginWith(prefix []byte) test[ID] {
	first := binary.BigEndian.Uint32(prefix)
	return func(ids []ID) (word uint64) {
		for i := range ids {
			if binary.BigEndian.Uint32(ids[i][:]) == first && bytes.HasPrefix(ids[i][:], prefix) {
				word |= 1 << i
			}
		}
		return word
	}
}
