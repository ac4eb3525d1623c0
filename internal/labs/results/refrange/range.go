package refrange

import (
	"math"
)

// Kind is the form of a range.
type Kind string

// The kinds.
const (
	Interval Kind = "interval" // both bounds
	Upper    Kind = "upper"    // only High
	Lower    Kind = "lower"    // only Low
	Text     Kind = "text"     // an expected word, such as Negative
	Titer    Kind = "titer"    // a dilution, such as <1:80
	Sexed    Kind = "sexed"    // one range for each sex
	Bands    Kind = "bands"    // labelled ranges, one of them normal
	None     Kind = "none"     // the laboratory says that it has none
	Other    Kind = "other"    // not parsed
)

// Bound is an end of a range.
type Bound struct {
	Value     float64 `json:"value"`
	Inclusive bool    `json:"inclusive"` // the value itself is in the range
}

// Range is a reference range.
type Range struct {
	Kind Kind `json:"kind"`
	// Low and High are nil where the range is open, and where nothing was
	// parsed.
	Low  *Bound `json:"low,omitempty"`
	High *Bound `json:"high,omitempty"`
	// Text is the word of a Text or Titer, or the label of the normal band.
	Text string `json:"text,omitempty"`
	// Male and Female are the parts of a Sexed range.
	Male   *Range `json:"male,omitempty"`
	Female *Range `json:"female,omitempty"`
}

// For returns the range of a person. Sex is female or male; a Sexed range has
// no bounds for any other sex.
func (r Range) For(sex string) Range {
	switch {
	case r.Kind != Sexed:
		return r
	case sex == "male" && r.Male != nil:
		return *r.Male
	case sex == "female" && r.Female != nil:
		return *r.Female
	}
	return Range{Kind: Sexed}
}

// Bounded reports whether there is a bound to compare with.
func (r Range) Bounded() bool { return r.Low != nil || r.High != nil }

// Comparison says whether a value is beyond an end, is not, or is undecided
// (nil).
type Comparison struct{ Above, Below *bool }

// Value is a measured value as an interval: twice the same number for 5, minus
// infinity and an exclusive 5 for <5.
type Value struct{ From, To Bound }

// NewExact returns the value of a plain number.
func NewExact(v float64) Value { return Value{Bound{v, true}, Bound{v, true}} }

// NewBetween returns a value that is only known to be in an interval, such as
// 10-20 cells.
func NewBetween(low, high float64) Value { return Value{Bound{low, true}, Bound{high, true}} }

// NewBelow returns a value below the least that can be measured.
func NewBelow(b Bound) Value { return Value{Bound{math.Inf(-1), false}, b} }

// NewAbove returns a value above the most that can be measured.
func NewAbove(b Bound) Value { return Value{b, Bound{math.Inf(1), false}} }

// Compare compares a value with the range. No value is beyond an open side;
// without any bound the comparison is undecided.
func (r Range) Compare(v Value) Comparison {
	if !r.Bounded() {
		return Comparison{}
	}
	no := false
	verdict := Comparison{&no, &no}
	if r.High != nil {
		verdict.Above = isBeyond(v, *r.High)
	}
	if r.Low != nil {
		verdict.Below = isBeyond(mirror(v), Bound{-r.Low.Value, r.Low.Inclusive})
	}
	return verdict
}

// isBeyond reports whether all of a value is beyond an upper bound (true),
// none of it is (false), or only some (nil).
func isBeyond(v Value, bound Bound) *bool {
	yes, no := true, false
	switch {
	case v.From.Value > bound.Value, v.From.Value == bound.Value && !(v.From.Inclusive && bound.Inclusive):
		return &yes
	case v.To.Value < bound.Value, v.To.Value == bound.Value && (!v.To.Inclusive || bound.Inclusive):
		return &no
	}
	return nil
}

// mirror negates a value, so that one comparison serves both ends.
func mirror(v Value) Value {
	return Value{Bound{-v.To.Value, v.To.Inclusive}, Bound{-v.From.Value, v.From.Inclusive}}
}
