package orders

import (
	"iter"
	"math/bits"
)

// bitmap is a set of positions.
type bitmap []uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) has(i int32) bool { return b[i>>6]&(1<<(i&63)) != 0 }
func (b bitmap) set(i int32)      { b[i>>6] |= 1 << (i & 63) }
func (b bitmap) clear(i int32)    { b[i>>6] &^= 1 << (i & 63) }

func (b bitmap) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// and keeps what is also in c.
func (b bitmap) and(c bitmap) {
	for i := range b {
		b[i] &= c[i]
	}
}

// keep leaves those positions whose value in a column is wanted.
func keep[T any](b bitmap, column []T, want func(T) bool) {
	for w, word := range b {
		for rest := word; rest != 0; rest &= rest - 1 {
			at := bits.TrailingZeros64(rest)
			if !want(column[w<<6|at]) {
				word &^= 1 << at
			}
		}
		b[w] = word
	}
}

// all goes through the positions; those at hand may be cleared meanwhile.
func (b bitmap) all() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for w, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(int32(w<<6 | bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
