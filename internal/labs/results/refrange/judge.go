package refrange

import "math"

// Verdict is what a comparison says of a value: it is beyond an end, it is
// not, or nobody can tell (nil).
type Verdict struct{ Above, Below *bool }

// Value is a measured value as the numbers between which it lies: the same
// number twice for 5, minus infinity and an exclusive 5 for <5.
type Value struct{ From, To Bound }

// Exactly is the value of a plain number.
func Exactly(v float64) Value { return Value{Bound{v, true}, Bound{v, true}} }

// Between is a value that was only narrowed down, such as 10-20 cells.
func Between(low, high float64) Value { return Value{Bound{low, true}, Bound{high, true}} }

// Below is a value under the least that can be measured.
func Below(b Bound) Value { return Value{Bound{math.Inf(-1), false}, b} }

// Above is a value over the most that can be measured.
func Above(b Bound) Value { return Value{b, Bound{math.Inf(1), false}} }

// Judge compares a value with the range. A side that is open is passed by
// nothing; without any bound nobody can tell.
func (r Range) Judge(v Value) Verdict {
	if !r.Bounded() {
		return Verdict{}
	}
	no := false
	verdict := Verdict{&no, &no}
	if r.High != nil {
		verdict.Above = passes(v, *r.High)
	}
	if r.Low != nil {
		verdict.Below = passes(mirror(v), Bound{-r.Low.Value, r.Low.Inclusive})
	}
	return verdict
}

// passes reports whether all of a value is beyond an upper bound (true), none
// of it is (false), or only some (nil).
func passes(v Value, bound Bound) *bool {
	yes, no := true, false
	switch {
	case v.From.Value > bound.Value, v.From.Value == bound.Value && !(v.From.Inclusive && bound.Inclusive):
		return &yes
	case v.To.Value < bound.Value, v.To.Value == bound.Value && (!v.To.Inclusive || bound.Inclusive):
		return &no
	}
	return nil
}

// mirror turns a value around zero, so that one comparison serves both ends.
func mirror(v Value) Value {
	return Value{Bound{-v.To.Value, v.To.Inclusive}, Bound{-v.From.Value, v.From.Inclusive}}
}
