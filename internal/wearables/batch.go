package wearables

import (
	"context"
	"encoding/json"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
)

// Summary is one document about a day, a session or a person. A later version
// replaces an earlier one field by field; a null or absent field never erases
// a value that was there.
//
// Spec: Events, summary events. Reference 7.4, 7.5.
type Summary struct {
	Resource string // activity, body, sleep, sleep_cycle, workouts, profile, …
	// Key tells the summary apart from the others of the user, provider and
	// resource: "2017-03-07|phone|com.x", or a session's start. It must not
	// change when values do. See SummaryID.
	Key        string
	Source     Source
	Date       civil.Date // calendar_date; zero for a profile, and for a session of which this version states no day
	Start, End time.Time  // zero when the summary has none
	Measured   time.Time  // of a profile: when its height was; zero when nobody says
	Came       time.Time  // when it came in, where it is read again; zero means now
	// Body holds the resource's wire fields (reference 7.5). The store adds id,
	// user_id, source, created_at and updated_at, and fills date, calendar_date
	// and the start and end of a session where Body leaves them out.
	Body json.RawMessage
}

// Stream is the course of one workout, as columns of equal length. A column
// is nil when the workout has none of it; NaN marks a missing element.
//
// Reference 7.8.
type Stream struct {
	WorkoutKey  string // Key of the workout's Summary from the same provider
	Time        []int64
	HeartRate   []float64 // bpm
	Cadence     []float64 // revolutions or steps per minute
	Altitude    []float64 // m
	Velocity    []float64 // m/s, smoothed
	Lat, Lng    []float64 // degrees
	Distance    []float64 // m since the start
	Power       []float64 // W
	Resistance  []float64 // the machine's own unit
	Temperature []float64 // °C
}

// Batch is what one call of Ingest stores: everything in one transaction, with
// its events.
type Batch struct {
	Provider string // fills the Source of elements that leave it out
	Stage    Stage
	// Push sends daily.data events for historical values as well. Daily values
	// are always announced.
	Push      bool
	Samples   []Samples
	Summaries []Summary
	Streams   []Stream
	// Marked says that the samples were read with SamplesQuery.Marked: what a
	// fallback zone gave is not taken for what a device stated.
	Marked bool
	// Also, when set, runs in the transaction that stores the batch, even when
	// nothing in it is new. Its error leaves everything as it was. It may run
	// more than once.
	Also Also
}

// Also is what is stored together with a batch. It may run its statements or
// add them to b, which is run before the transaction ends.
type Also func(ctx context.Context, tx *store.Tx, b *store.Batch) error

// Counts tells what became of values.
type Counts struct{ Created, Updated, Unchanged, Rejected int }

func (c *Counts) Add(o Counts) {
	c.Created += o.Created
	c.Updated += o.Updated
	c.Unchanged += o.Unchanged
	c.Rejected += o.Rejected
}

// Result tells what a batch changed.
type Result struct {
	Counts
	Resources  map[string]Counts // by resource name
	Ranges     map[string]Range  // of what was accepted, new or not, by resource name
	Rejections []Rejection
	Paused     bool // nothing was looked at: see ErrPaused
}

// Rejection is one reason for which samples or summaries were not stored, or
// single values of a summary.
type Rejection struct {
	Resource string
	Reason   string // names the rule, never the value
	Count    int
	// Part and Index point at the first one: element Index of Batch.Samples[Part],
	// or Batch.Summaries[Part] with Index 0.
	Part, Index int
}

// Range is a stretch of time.
type Range struct{ Start, End time.Time }

// Join is the stretch from the earlier start to the later end. The zero Range
// adds nothing.
func (r Range) Join(o Range) Range {
	switch {
	case r == Range{}:
		return o
	case o == Range{}:
		return r
	}
	return Range{earlier(r.Start, o.Start), later(r.End, o.End)}
}

// Touched is what a batch changed of one resource.
type Touched struct {
	Resource string // its name in events
	// Oldest and Newest bound the starts of the data, UTC microseconds; 0 for a
	// profile.
	Oldest, Newest int64
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
