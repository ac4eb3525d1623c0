package refrange

// Kind says what a range is made of.
type Kind string

// The kinds.
const (
	Interval Kind = "interval" // both bounds
	Upper    Kind = "upper"    // only High
	Lower    Kind = "lower"    // only Low
	Text     Kind = "text"     // a word that is expected, such as Negative
	Titer    Kind = "titer"    // a dilution, such as <1:80
	Sexed    Kind = "sexed"    // one range for each sex
	Bands    Kind = "bands"    // labelled ranges, of which one is normal
	None     Kind = "none"     // the laboratory says that it has none
	Other    Kind = "other"    // not read
)

// Bound is an end of a range.
type Bound struct {
	Value     float64 `json:"value"`
	Inclusive bool    `json:"inclusive"` // the value itself is in the range
}

// Range is a reference range.
type Range struct {
	Kind Kind `json:"kind"`
	// Low and High are nil where the range is open, and where nothing was read.
	Low  *Bound `json:"low,omitempty"`
	High *Bound `json:"high,omitempty"`
	// Text is the word of a Text or Titer, the label of the normal band.
	Text string `json:"text,omitempty"`
	// Male and Female are the parts of a Sexed range.
	Male   *Range `json:"male,omitempty"`
	Female *Range `json:"female,omitempty"`
}

// For is the range of a person. Sex is female or male; of a range for each sex
// nobody else has one.
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

// Bounded reports whether there is anything to compare a number with.
func (r Range) Bounded() bool { return r.Low != nil || r.High != nil }
