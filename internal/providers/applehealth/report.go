package applehealth

import (
	"maps"
	"slices"
)

// Report tells what was in a file. It holds types and counts, never values.
type Report struct {
	Bytes     int64 // of the XML document, uncompressed
	Records   int64 // top-level records
	Mapped    int64 // records that became samples or facts
	Copies    int64 // records inside correlations, which repeat top-level ones
	Workouts  int64
	Rings     int64 // days with an ActivitySummary
	Routes    int64
	Damaged   int64 // tags that were not well formed
	Truncated bool  // the document ends in the middle; what came before was kept
	Types     map[string]*TypeCount
}

// TypeCount is what became of the records of one HealthKit type, named
// without its prefix.
type TypeCount struct {
	Read    int64 `json:"read"`
	Mapped  int64 `json:"mapped"`
	Skipped int64 `json:"skipped,omitempty"` // the type has no home with us
	// Reasons for which single records of a known type were left out.
	BadDate  int64 `json:"bad_date,omitempty"`
	BadValue int64 `json:"bad_value,omitempty"`
	BadUnit  int64 `json:"bad_unit,omitempty"`
	Unpaired int64 `json:"unpaired,omitempty"` // half of a blood pressure
	TooMany  int64 `json:"too_many,omitempty"` // more sleep than a life has
}

// Skipped counts the records that did not become anything.
func (r *Report) Skipped() int64 { return r.Records - r.Mapped }

// TypeNames lists the types in order.
func (r *Report) TypeNames() []string { return slices.Sorted(maps.Keys(r.Types)) }

// maxTypes bounds the names a report holds; HealthKit has about two hundred.
const maxTypes = 1000

func (r *Report) typeCount(name string) *TypeCount {
	if c, ok := r.Types[name]; ok {
		return c
	}
	if len(r.Types) >= maxTypes {
		name = "other"
		if c, ok := r.Types[name]; ok {
			return c
		}
	}
	c := &TypeCount{}
	r.Types[name] = c
	return c
}
