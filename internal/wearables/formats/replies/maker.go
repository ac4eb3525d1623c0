package replies

import (
	"context"
	"slices"
)

// Maker describes whose replies are read and how.
type Maker struct {
	Kind     string // name of the kind of file, such as withings
	Title    string // in sentences, such as "Withings JSON"
	Provider string // the catalogue's slug
	// Lists are the names of long lists, and of the objects around them: they are read
	// one element at a time. Every other value must fit into MaxRecord.
	Lists []string
	// Late are fields beside a list that its documents look up with Around. All
	// documents see them, also if the fields follow the list.
	Late []string
	// SumsDays means that the maker states no totals of days, so they are the sums of
	// its series. If the maker states totals, a series may have only a part of the day,
	// and does not replace them.
	SumsDays bool
	// HeartOfDays means that the maker states the average, lowest and highest heart
	// rate of days. Then values from its series do not replace them.
	HeartOfDays bool
	// WallClock means that some times have no zone: see files.Kind.
	WallClock bool
	// Open begins one reading. It is called for each file, and also to recognize a
	// file: then no record is stored.
	Open func(r *Reader) Reading
}

// Reading describes how one file of a provider is read.
type Reading struct {
	// Resources are in the order in which they are matched with a document.
	Resources []Resource
	// End, when set, runs after the last document, when all was stored. Values that it
	// adds to the reader are stored as well.
	End func(ctx context.Context) error
}

// Resource is one kind of document.
type Resource struct {
	Name string   // in reports
	Keys []string // that all of its documents have, and together no other's
	// Is narrows it to some documents; nil accepts all. It may look around them.
	Is func(d Document) bool
	// Take reads a document; nil if it has no resource.
	Take func(d Document) Verdict
	// Values marks a document that is mostly a list of independent values. If the file
	// ends in one, the values before that are taken: then other fields may be missing.
	// Other documents are complete or lost.
	Values bool
	// Refuse, when set, is the reason to refuse a file that begins with such a
	// document, as a sentence. Such a document has a secret, or data of several
	// people.
	Refuse string
}

// Verdict is the outcome of a document or of a part of one.
type Verdict int

// Verdicts.
const (
	Mapped Verdict = iota
	Skipped
	BadDate
	BadValue
	BadUnit
	Unpaired // the other half of it is missing
	TooMany  // more than is kept
	Copy     // the file has it a second time
	Waits    // the maker's own state counts it later
)

// VerdictOf returns the verdict of a document that is useless without its
// values. some says that it has values.
func VerdictOf(some bool) Verdict {
	if some {
		return Mapped
	}
	return BadValue
}

// HasOne returns a function that reports whether a document has at least one of
// some fields.
func HasOne(names ...string) func(Document) bool {
	return func(d Document) bool { return slices.ContainsFunc(names, d.Has) }
}

// recognise returns the resource of a document, or nil if it has none.
func (g *Reading) recognise(d Document) *Resource {
next:
	for i := range g.Resources {
		r := &g.Resources[i]
		for _, key := range r.Keys {
			if !d.Has(key) {
				continue next
			}
		}
		if r.Is == nil || r.Is(d) {
			return r
		}
	}
	return nil
}
