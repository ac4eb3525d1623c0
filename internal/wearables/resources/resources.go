// Package resources is the one table of time series: of every kind the unit,
// the values that are believed, the words that a sample may carry and how its
// samples are kept. Validation, storage, reads, the catalogue of events, the
// API document and docs/resources.md all read it here.
//
// Reference 7.1, 7.7.
package resources

import (
	"slices"
	"strings"
	"time"
)

// Resource describes one kind of time series.
type Resource struct {
	Name     string // path segment: heartrate, body_weight
	Event    string // in event types; differs from Name for weight and fat only
	Unit     string
	Interval bool // samples have start and end
	Pair     bool // systolic and diastolic instead of value
	// Types are the words a sample's type may be; nil means that it has none.
	// AnyType takes every word, as for allergens and leads.
	Types   []string
	AnyType bool
	// Typed says that clients read the type as text always: it is empty, and
	// not null, where nobody stated one.
	Typed bool
	// Kinds says that clients read one of Types always. Who pushes a sample has
	// to say which; a file that does not know cannot be asked.
	Kinds bool
	// Min and Max bound a believable value; PerMinute an interval's rate. A value
	// without length has no rate: it may be what somebody typed in for a day.
	Min, Max  float64
	PerMinute float64
	// LeastLow and MostLow bound the lower number of a pair.
	LeastLow, MostLow float64
	// Width is how much time one block covers; a dense first batch narrows it.
	Width time.Duration
	// Push says whether samples of it are taken. The few that are not have values
	// that are texts, or are replaced by a summary.
	Push bool
	// Text says that values are texts, which are kept as documents, and Tags the
	// words that a list of theirs may hold.
	Text bool
	Tags []string
	// Extra are fields that samples of this resource carry besides the common
	// ones.
	Extra []Extra
	// Example is an invented sample, for documents and test events.
	Example Example
}

// Extra is a field of samples that holds one of a few words, or null.
type Extra struct {
	Name    string
	Camel   string   // the name as SDKs write it
	Words   []string // none for a field that is always null
	Example string   // one of Words
}

// Example is what a sample may look like. Low is the lower number of a pair,
// Type empty where samples have none.
type Example struct {
	Value, Low float64
	Type       string
}

var byName = func() map[string]*Resource {
	named := map[string]*Resource{}
	for i := range table {
		r := &table[i]
		named[r.Name], named[r.Event] = r, r
	}
	return named
}()

// All lists every kind of time series, in the order of the reference.
func All() []Resource { return slices.Clone(table) }

// Named finds a kind of time series by its path segment or by its name in
// events.
func Named(name string) (*Resource, bool) {
	r, ok := byName[name]
	return r, ok
}

// TakesType says whether a sample may have the type. The empty type is always
// fine.
func (r *Resource) TakesType(word string) bool {
	if word == "" || slices.Contains(r.Types, word) {
		return true
	}
	return r.AnyType && isWord(word)
}

// isWord says whether s is a lower-case identifier such as lead_1 or
// cholesterol/ldl.
func isWord(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', c == '-', c == '/', c == '.':
		default:
			return false
		}
	}
	return true
}

func oneOf(name string, words ...string) Extra {
	parts := strings.Split(name, "_")
	for i, part := range parts[1:] {
		parts[1+i] = strings.ToUpper(part[:1]) + part[1:]
	}
	e := Extra{Name: name, Camel: strings.Join(parts, ""), Words: words}
	if len(words) > 0 {
		e.Example = words[0]
	}
	return e
}
