package files

import (
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

// Report describes the contents of a file. It holds types and counts, never values.
type Report struct {
	Bytes     int64 // of the document, uncompressed
	Records   int64 // that could have become something
	Mapped    int64 // records that became samples or facts
	Copies    int64 // records that the file has a second time
	Workouts  int64
	Routes    int64
	Damaged   int64 // places that were not well formed
	Truncated bool  // the document ends in the middle; the data before was kept
	// Types counts records by the file's own names of types.
	Types map[string]*TypeCount

	left map[*TypeCount]LeftOut
}

// LeftOut is the first record of a type that was left out: its place and the reason,
// never its values.
type LeftOut struct {
	Record int64  `json:"record" doc:"Position among the records of its type in the file, from 1. It is 0 if only the end of the file showed it."`
	Reason string `json:"reason" doc:"Reason: skipped (no resource for the type), bad_date, bad_value, bad_unit, unpaired or too_many."`
}

// Left remembers the first record of a type that was left out. If the last
// records that were read are left out together, it is the first of those. Call
// Left after the count. Call LeftAt if an earlier record is left out, such as
// one whose other half is missing.
func (r *Report) Left(c *TypeCount) {
	if _, known := r.left[c]; known {
		return
	}
	for _, reason := range []struct {
		n    int64
		word string
	}{
		{c.Skipped, "skipped"},
		{c.BadDate, "bad_date"},
		{c.BadValue, "bad_value"},
		{c.BadUnit, "bad_unit"},
		{c.Unpaired, "unpaired"},
		{c.TooMany, "too_many"},
	} {
		if reason.n > 0 {
			example := LeftOut{Record: c.Read - reason.n + 1, Reason: reason.word}
			if reason.word == "unpaired" {
				example.Record = 0
			}
			r.keepLeft(c, example)
			return
		}
	}
}

// LeftAt records that a record was left out, after the reader already read others of
// its type. The arguments are the record's number within its type, from 1, and the reason. It
// keeps the first such record of the file.
func (r *Report) LeftAt(c *TypeCount, record int64, reason string) {
	if was, known := r.left[c]; !known || was.Record == 0 || record < was.Record {
		r.keepLeft(c, LeftOut{Record: record, Reason: reason})
	}
}

func (r *Report) keepLeft(c *TypeCount, example LeftOut) {
	if r.left == nil {
		r.left = map[*TypeCount]LeftOut{}
	}
	r.left[c] = example
}

// FirstLeft returns the first record of each type that was left out, by type.
func (r *Report) FirstLeft() map[string]LeftOut {
	all := map[string]LeftOut{}
	for name, c := range r.Types {
		if example, ok := r.left[c]; ok {
			all[name] = example
		}
	}
	return all
}

// TypeCount counts the outcome of the records of one type. The reasons are the same
// words for all kinds of files.
type TypeCount struct {
	Read    int64 `json:"read"`
	Mapped  int64 `json:"mapped"`
	Skipped int64 `json:"skipped,omitempty" doc:"Number of records without a resource for their type."`
	// Reasons for which single records of a known type were left out.
	BadDate  int64 `json:"bad_date,omitempty"`
	BadValue int64 `json:"bad_value,omitempty"`
	BadUnit  int64 `json:"bad_unit,omitempty"`
	Unpaired int64 `json:"unpaired,omitempty" doc:"Number of records whose other half is missing."`
	TooMany  int64 `json:"too_many,omitempty" doc:"Number of records above the limit of their type."`
	Copies   int64 `json:"copies,omitempty" doc:"Number of records that the file repeats."`
}

// Skipped counts the records that did not become anything.
func (r *Report) Skipped() int64 { return r.Records - r.Mapped }

// MaxTypes bounds the names a report holds; the richest kind, HealthKit, has
// about two hundred.
const MaxTypes = 1000

// Type returns the counts of a type, and adds them if they do not exist yet. After
// MaxTypes names, further types count as "other".
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

// Outcome holds the contents of an import and its changes.
type Outcome struct {
	Report
	wearables.Counts
	Resources  map[string]wearables.Counts
	Rejections map[string]int // "resource: reason" to count
	Refused    map[string]Refused
	Days       int // with summaries

	recorded int // recordings that were taken
}

// Full reports whether the file reached the limit of recordings.
func (o *Outcome) Full() bool { return o.recorded >= MaxRecordings }

// NewOutcome returns an empty outcome.
func NewOutcome() *Outcome {
	return &Outcome{
		Report:    Report{Types: map[string]*TypeCount{}},
		Resources: map[string]wearables.Counts{}, Rejections: map[string]int{}, Refused: map[string]Refused{},
	}
}

// Refused describes the first value that broke a rule. It has the time and the source of
// the value, never the value.
type Refused struct {
	At         string `json:"at" doc:"Time of the measurement in UTC. For a summary of a day it is the date, and for a profile it is empty."`
	SourceType string `json:"source_type" doc:"Kind of device, such as watch. It is empty for a stream, because the workout has it."`
}

// refusedOf finds the value that a rejection points at.
func refusedOf(b *wearables.Batch, r *wearables.Rejection) (first Refused) {
	at := func(all []int64, i int) string {
		if i >= len(all) {
			return ""
		}
		return civil.Instant(time.UnixMicro(all[i])).String()
	}
	_, series := wearables.ResourceNamed(r.Resource)
	switch {
	case r.Resource == wearables.WorkoutStream && r.Part < len(b.Streams):
		first.At = at(b.Streams[r.Part].Time, 0)
	case series && r.Part < len(b.Samples):
		s := &b.Samples[r.Part]
		first = Refused{at(s.Time, r.Index), s.Source.Type}
	case !series && r.Part < len(b.Summaries):
		s := &b.Summaries[r.Part]
		first.SourceType = s.Source.Type
		switch {
		case !s.Start.IsZero():
			first.At = civil.Instant(s.Start).String()
		case !s.Date.IsZero():
			first.At = s.Date.String()
		}
	}
	return first
}

// add adds up the changes of a batch.
func (o *Outcome) add(b wearables.Batch, r wearables.Result) {
	addCounts(&o.Counts, r.Counts)
	for resource, c := range r.Resources {
		sum := o.Resources[resource]
		addCounts(&sum, c)
		o.Resources[resource] = sum
	}
	for i := range r.Rejections {
		refused := &r.Rejections[i]
		name := refused.Resource + ": " + refused.Reason
		if o.Rejections[name] == 0 {
			o.Refused[name] = refusedOf(&b, refused)
		}
		o.Rejections[name] += refused.Count
	}
}

func addCounts(sum *wearables.Counts, c wearables.Counts) {
	sum.Created += c.Created
	sum.Updated += c.Updated
	sum.Unchanged += c.Unchanged
	sum.Rejected += c.Rejected
}

// Progress is the progress of an import.
type Progress struct {
	Step            Step
	Done, Total     int64 // bytes of the document, uncompressed
	Records         int64 // read
	Skipped         int64 // of them, not kept
	Days, TotalDays int64 // summarised
}

// Step names the current step of an import.
type Step string

// The steps, in order.
const (
	Reading     Step = "reading"
	Summarising Step = "summarising"
)
