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

// or adds what is in c.
func (b bitmap) or(c bitmap) {
	for i := range b {
		b[i] |= c[i]
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

// A test looks at up to 64 values of a column and sets a bit for each that is
// wanted. Inside it there is no branch that depends on a value: half of a
// column's branches would be guessed wrong, at the price of ten comparisons.
type test[T any] func(values []T) uint64

// keep leaves those positions whose value in a column is wanted. It is short
// enough for the compiler to put it, and the test, into its callers: four times
// as quick.
func keep[T any](b bitmap, column []T, wanted test[T]) {
	for w := range b {
		if b[w] != 0 {
			b[w] &= wanted(column[w<<6 : min(w<<6+64, len(column))])
		}
	}
}

// marked wants the values that the table has a 1 for.
func marked(table *[256]uint8) test[uint8] {
	return func(values []uint8) (word uint64) {
		for i, v := range values {
			word |= uint64(table[v]) << (i & 63)
		}
		return word
	}
}

// between wants the values from one to another, both included.
func between[T int32 | int64](from, to T) test[T] {
	return func(values []T) (word uint64) {
		for i, v := range values {
			word |= (one(v >= from) & one(v <= to)) << (i & 63)
		}
		return word
	}
}

// in wants the values that are in a set.
func in(set bitmap) test[int32] {
	return func(values []int32) (word uint64) {
		for i, v := range values {
			word |= (set[v>>6] >> (v & 63) & 1) << (i & 63)
		}
		return word
	}
}

func one(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}
