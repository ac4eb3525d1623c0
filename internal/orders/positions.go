package orders

import (
	"encoding/binary"
	"slices"
)

// places finds the position of an order by its id. It holds positions only, in
// an open table: the ids are a column of the memory.
type places struct {
	slots []int32 // 1 + position; 0 is free
	used  int
}

// slot is where an id is, or the free one where it belongs. The last bytes of
// our ids are random, so they are their own hash.
func (p *places) slot(ids []ID, id ID) int {
	mask := uint64(len(p.slots) - 1)
	for i := binary.LittleEndian.Uint64(id[8:]) & mask; ; i = (i + 1) & mask {
		if at := p.slots[i]; at == 0 || ids[at-1] == id {
			return int(i)
		}
	}
}

func (p *places) find(ids []ID, id ID) (at int32, ok bool) {
	if len(p.slots) == 0 {
		return 0, false
	}
	at = p.slots[p.slot(ids, id)]
	return at - 1, at > 0
}

// add enters the last of ids.
func (p *places) add(ids []ID) {
	if p.used*4 >= len(p.slots)*3 {
		p.slots, p.used = make([]int32, max(64, 2*len(p.slots))), 0
		for at := range ids[:len(ids)-1] {
			p.slots[p.slot(ids, ids[at])] = int32(at + 1)
			p.used++
		}
	}
	p.slots[p.slot(ids, ids[len(ids)-1])] = int32(len(ids))
	p.used++
}

// placeInto puts positions into an order of positions. A few are each looked
// up; what stands behind them moves as a whole.
func placeInto(order, added []int32, compare func(a, b int32) int) []int32 {
	end := len(order)
	if len(added)*8 > end {
		order = append(order, added...)
		slices.SortFunc(order, compare)
		return order
	}
	slices.SortFunc(added, compare)
	order = append(order, added...)
	for i := len(added) - 1; i >= 0; i-- {
		place, _ := slices.BinarySearchFunc(order[:end], added[i], compare)
		copy(order[place+i+1:], order[place:end])
		order[place+i] = added[i]
		end = place
	}
	return order
}
