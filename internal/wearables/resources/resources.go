// Package resources has the table of time series: the unit, the plausible values, the
// words of a sample and the storage of every kind. Validation, storage, reads, event
// types, the OpenAPI document and docs/resources.md use it.
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
	Label    string // for people: Heart rate
	Unit     string
	Interval bool // samples have start and end
	// QueryLength says that queries have a duration of its samples, as they have of an
	// Interval, although reads have none.
	QueryLength bool
	Pair        bool // systolic and diastolic instead of value
	// Types lists the words of a sample's type; nil means that it has no type. AnyType
	// allows every word, as for allergens and leads.
	Types   []string
	AnyType bool
	// Typed says that clients always read the type as text: it is empty, not null, if it
	// is not stated.
	Typed bool
	// Kinds means that clients always read one of Types. A pushed sample must state it;
	// a sample of a file may leave it out.
	Kinds bool
	// OneType says that the type is a state or an attribute of one measurement, such as an
	// idle hour. Of two samples that differ in it, the later one replaces the other.
	// Otherwise samples of two types are different measurements, such as LDL and HDL.
	OneType bool
	// LateType says that the type of a measurement may follow later. Of a sample with a type
	// and one without, the later one replaces the other.
	LateType bool
	// Min and Max bound a plausible value, PerMinute the rate of an interval. A value
	// without length has no rate: it may be a manual entry for a day.
	Min, Max  float64
	PerMinute float64
	// LeastLow and MostLow bound the lower number of a pair.
	LeastLow, MostLow float64
	// Additive says that values add up over time: a value may cover an interval. All others
	// are levels. The form of a sample is no criterion: a body temperature has a start and
	// an end, and calories_basal may have neither. Reference 7.1, 7.7.
	Additive bool
	// AllDay says that devices count the resource all day. Of others, such as water, people
	// type several amounts a day.
	AllDay bool
	// LOINC has the codes by the type of samples; the empty type is that of samples without
	// a type. A resource that is not in LOINC, or that has several codes there, has none.
	LOINC map[string]string
	// VitalSign says that FHIR has the resource in the category of vital signs. All others
	// are activities.
	VitalSign bool
	// Width is the time that one block covers. A dense first batch narrows it.
	Width time.Duration
	// Push reports whether samples of it can be pushed. The few others have values that
	// are texts, or are replaced by a summary.
	Push bool
	// Text says that values are texts, which are stored as documents. Tags lists the
	// words of their tags.
	Text bool
	Tags []string
	// Extra lists further fields of the samples of this resource.
	Extra []Extra
	// Example is a made-up sample, for documents and test events.
	Example Example
}

// Extra is a field of samples with one of a few words, or null.
type Extra struct {
	Name    string
	Camel   string   // the name as SDKs write it
	Words   []string // none for a field that is always null
	Example string   // one of Words
}

// Example is an example of a sample. Low is the lower number of a pair; Type is empty for
// samples without a type.
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

// List lists every kind of time series, in the order of the reference.
func List() []Resource { return slices.Clone(table) }

// Find finds a kind of time series by its path segment or by its name in
// events.
func Find(name string) (*Resource, bool) {
	r, ok := byName[name]
	return r, ok
}

// CanMerge reports whether sources of the resource can be merged. Texts and stages of sleep
// are no quantities.
func (r *Resource) CanMerge() bool { return !r.Text && r.Name != Hypnogram }

// Replaces reports whether a sample of one type replaces one of the other, if they have the
// same source and time.
func (r *Resource) Replaces(a, b string) bool {
	return a == b || r.OneType || r.LateType && (a == "" || b == "")
}

// HasVersions reports whether samples of one source and time may differ in their types or
// words, and replace each other.
func (r *Resource) HasVersions() bool {
	return r.OneType || r.LateType || slices.ContainsFunc(r.Extra, func(e Extra) bool { return len(e.Words) > 0 })
}

// TypeNamed finds the type of a sample by its word, which may leave out the part
// before a slash: ldl is cholesterol/ldl. The empty word is valid.
func (r *Resource) TypeNamed(word string) (name string, ok bool) {
	if word == "" || slices.Contains(r.Types, word) || r.AnyType && isWord(word) {
		return word, true
	}
	for _, name := range r.Types {
		if _, short, found := strings.Cut(name, "/"); found && short == word {
			return name, true
		}
	}
	return "", false
}

// isWord reports whether s is a lower-case identifier such as lead_1 or cholesterol/ldl.
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

func extraWords(name string, words ...string) Extra {
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
