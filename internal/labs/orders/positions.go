package orders

import (
	"encoding/binary"
	"slices"
)

// places finds the position of an id in a column of them, which is not kept a
// second time: this is an open table of positions.
type places[ID ~[16]byte] struct {
	slots []int32 // 1 + position; 0 is free
}

// slot is where an id is, or the free one where it belongs. The last bytes of
// our ids are random, so they are their own hash.
func (p *places[ID]) slot(ids []ID, id ID) int {
	mask := uint64(len(p.slots) - 1)
	for i := binary.LittleEndian.Uint64(id[8:]) & mask; ; i = (i + 1) & mask {
		if at := p.slots[i]; at == 0 || ids[at-1] == id {
			return int(i)
		}
	}
}

func (p *places[ID]) find(ids []ID, id ID) (at int32, ok bool) {
	if len(p.slots) == 0 {
		return 0, false
	}
	at = p.slots[p.slot(ids, id)]
	return at - 1, at > 0
}

// add enters the last of ids.
func (p *places[ID]) add(ids []ID) {
	p.grow(ids[:len(ids)-1], 1)
	p.slots[p.slot(ids, ids[len(ids)-1])] = int32(len(ids))
}

// grow makes room for a number of ids beside those that are there. A quarter of
// the table stays free.
func (p *places[ID]) grow(ids []ID, more int) {
	size := max(64, len(p.slots))
	for (len(ids)+more)*4 > size*3 {
		size *= 2
	}
	if size == len(p.slots) {
		return
	}
	p.slots = make([]int32, size)
	for at := range ids {
		p.slots[p.slot(ids, ids[at])] = int32(at + 1)
	}
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
