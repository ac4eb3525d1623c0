package files

import (
	"hale/internal/wearables"
)

// Report tells what was in a file. It holds types and counts, never values.
type Report struct {
	Bytes     int64 // of the document, uncompressed
	Records   int64 // that could have become something
	Mapped    int64 // records that became samples or facts
	Copies    int64 // records that the file has a second time
	Workouts  int64
	Routes    int64
	Damaged   int64 // places that were not well formed
	Truncated bool  // the document ends in the middle; what came before was kept
	// Types counts records by the file's own names of types.
	Types map[string]*TypeCount
}

// TypeCount is what became of the records of one type. The reasons are the
// same words for all kinds of files.
type TypeCount struct {
	Read    int64 `json:"read"`
	Mapped  int64 `json:"mapped"`
	Skipped int64 `json:"skipped,omitempty" doc:"The type has no home"`
	// Reasons for which single records of a known type were left out.
	BadDate  int64 `json:"bad_date,omitempty"`
	BadValue int64 `json:"bad_value,omitempty"`
	BadUnit  int64 `json:"bad_unit,omitempty"`
	Unpaired int64 `json:"unpaired,omitempty" doc:"The other half of it is missing"`
	TooMany  int64 `json:"too_many,omitempty" doc:"More than is kept of it"`
}

// Skipped counts the records that did not become anything.
func (r *Report) Skipped() int64 { return r.Records - r.Mapped }

// MaxTypes bounds the names a report holds; the richest kind, HealthKit, has
// about two hundred.
const MaxTypes = 1000

// Type is the count of a type.
func (r *Report) Type(name string) *TypeCount {
	if c, ok := r.Types[name]; ok {
		return c
	}
	if len(r.Types) >= MaxTypes {
		name = "other"
		if c, ok := r.Types[name]; ok {
			return c
		}
	}
	if r.Types == nil {
		r.Types = map[string]*TypeCount{}
	}
	c := &TypeCount{}
	r.Types[name] = c
	return c
}

// Outcome tells what an import found and what it changed.
type Outcome struct {
	Report
	wearables.Counts
	Resources  map[string]wearables.Counts
	Rejections map[string]int // "resource: reason" to count
	Days       int            // with summaries
}

// NewOutcome is that of a file of which nothing was read yet.
func NewOutcome() *Outcome {
	return &Outcome{
		Report:    Report{Types: map[string]*TypeCount{}},
		Resources: map[string]wearables.Counts{}, Rejections: map[string]int{},
	}
}

// add adds up what a batch changed.
func (o *Outcome) add(r wearables.Result) {
	addCounts(&o.Counts, r.Counts)
	for resource, c := range r.Resources {
		sum := o.Resources[resource]
		addCounts(&sum, c)
		o.Resources[resource] = sum
	}
	for _, refused := range r.Rejections {
		o.Rejections[refused.Resource+": "+refused.Reason] += refused.Count
	}
}

func addCounts(sum *wearables.Counts, c wearables.Counts) {
	sum.Created += c.Created
	sum.Updated += c.Updated
	sum.Unchanged += c.Unchanged
	sum.Rejected += c.Rejected
}
