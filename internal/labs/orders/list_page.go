package orders

import (
	"cmp"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
)

// few is how many orders are sorted anew for a page. More than that lie so
// close in an order that is kept, that walking through it is quicker.
const few = 2000

// page is the positions of the page, in order.
func (m *memory) page(matching bitmap, total int, f Filter) []int32 {
	skip := (f.Page - 1) * f.Size
	switch {
	case total <= few:
		all := slices.SortedFunc(matching.all(), m.comparing(f.Key))
		if !f.Ascending {
			slices.Reverse(all)
		}
		skip = min(skip, total)
		return all[skip:min(skip+f.Size, total)]
	case f.Key == ByPatientName:
		return walk(matching, m.names.byName, f.Ascending, skip, f.Size)
	case f.Key == ByLastStatus:
		return m.pageByStatus(matching, f.Ascending, skip, f.Size)
	}
	return walk(matching, m.byTime, f.Ascending, skip, f.Size)
}

// comparing is how positions are compared for a sort key.
func (m *memory) comparing(key SortKey) func(a, b int32) int {
	switch key {
	case ByCreation:
	case ByPatientName:
		return m.compareName
	case ByLastStatus:
		return func(a, b int32) int {
			return cmp.Or(cmp.Compare(rankOf[m.kinds[a]], rankOf[m.kinds[b]]), m.compareTime(a, b))
		}
	}
	return m.compareTime
}

// walk goes through positions in an order and takes size matching ones after
// passing over skip.
func walk(matching bitmap, order []int32, ascending bool, skip, size int) []int32 {
	var page []int32
	for i := range order {
		at := order[i]
		if !ascending {
			at = order[len(order)-1-i]
		}
		if !matching.has(at) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if page = append(page, at); len(page) == size {
			break
		}
	}
	return page
}

// byEvent are the kinds in the order of their event strings.
var byEvent = func() []uint8 {
	var all []uint8
	name := map[uint8]string{}
	for _, s := range Statuses {
		for _, method := range catalogue.Methods {
			k := kindOf(s, method)
			all, name[k] = append(all, k), s.Full(method)
		}
	}
	slices.SortFunc(all, func(a, b uint8) int { return strings.Compare(name[a], name[b]) })
	return all
}()

// rankOf is each kind's place in that order.
var rankOf = func() (ranks [256]int) {
	for rank, kind := range byEvent {
		ranks[kind] = rank
	}
	return ranks
}()

// pageByStatus counts the orders of each kind, which says how many of each are
// on the page, and then takes those in one walk.
func (m *memory) pageByStatus(matching bitmap, ascending bool, skip, size int) []int32 {
	var counts [256]int
	for at := range matching.all() {
		counts[m.kinds[at]]++
	}
	var onPage [256]struct{ skip, take, next int }
	var wanted [256]uint8
	left := size
	for i := range byEvent {
		kind := byEvent[i]
		if !ascending {
			kind = byEvent[len(byEvent)-1-i]
		}
		p := &onPage[kind]
		p.skip = min(skip, counts[kind])
		p.take, p.next = min(counts[kind]-p.skip, left), size-left
		skip, left = skip-p.skip, left-p.take
		wanted[kind] = uint8(one(p.take > 0))
	}
	page := make([]int32, size-left)
	matching, left = kept(matching, m.kinds, marked(&wanted)), len(page)
	for i := 0; left > 0; i++ {
		at := m.byTime[i]
		if !ascending {
			at = m.byTime[len(m.byTime)-1-i]
		}
		if !matching.has(at) {
			continue
		}
		p := &onPage[m.kinds[at]]
		switch {
		case p.skip > 0:
			p.skip--
		case p.take > 0:
			page[p.next] = at
			p.next, p.take, left = p.next+1, p.take-1, left-1
		}
	}
	return page
}
