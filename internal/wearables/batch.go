package wearables

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
)

// Summary is one document about a day, a session or a person. A later version replaces
// an earlier one: the fields that it has, or all of it if it is Whole. Package ingest
// finds the earlier version by Record, by Key, or by the time of a session.
//
// Spec: Events, summary events. Reference 7.4, 7.5.
type Summary struct {
	Resource string // activity, body, sleep, sleep_cycle, workouts, profile, …
	// Key identifies the summary among those of the user, provider and resource:
	// "2017-03-07|phone|com.x", or a session's start. It must not change when the
	// values do. See SummaryID.
	Key    string
	Record string // the provider's own id of the record; empty if it has none
	// Whole says that the version is complete: it replaces all of an earlier one. Other
	// versions replace the fields that they have.
	Whole bool
	// Assumed says that the place and the day are those of the batch, not of the record:
	// a stored version keeps its own.
	Assumed    bool
	Source     Source
	Date       civil.Date // calendar_date; zero for a profile, and for a session of which this version states no day
	Start, End time.Time  // zero if the summary has none
	Measured   time.Time  // of a profile: time of its height; zero if not stated
	Came       time.Time  // when it was received, if it is reprocessed; zero means now
	// Deleted says that the provider reports the record as deleted. Only Record, Key and
	// the bounds count then.
	Deleted bool
	// Body holds the resource's wire fields (reference 7.5). The store adds id,
	// user_id, source, created_at and updated_at. If Body has no date,
	// calendar_date, or start and end of a session, the store fills them. ComputedMember
	// lists the fields that Hale computed.
	Body json.RawMessage
}

// Stream is the course of one workout, as columns of equal length. A column
// is nil when the workout has none of it; NaN marks a missing element.
//
// Reference 7.8.
type Stream struct {
	WorkoutKey  string // Key of the workout's Summary of the same provider
	Source      Source // of the workout
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
	// HeartComputed says that Hale took the heart rate from samples. It follows them. Without
	// a column of a sensor or a route, all elements are theirs.
	HeartComputed bool
}

// Batch holds the data of one call of Ingest, which stores it in one transaction
// with its events.
type Batch struct {
	Provider string // for a Source without a provider
	Stage    Stage
	// Push sends daily.data events for historical values as well. Daily values
	// are always announced.
	Push bool
	// Pushed says that a phone, a hub or a form sends the data. Summaries of days follow
	// from it.
	Pushed bool
	// Imported says that the data is from a file. Of several versions of a session without an
	// id, the last one in the batch counts.
	Imported bool
	// Derived says that the values follow from stored ones. They do not connect a provider
	// that the user has disconnected since.
	Derived bool
	// Ends announces the histories of the resources that the batch changes.
	Ends      bool
	Samples   []Samples
	Summaries []Summary
	Streams   []Stream
	// Marked says that the samples were read with SamplesQuery.Marked: offsets of a
	// fallback zone are marked as such.
	Marked bool
	// Restores stores samples also if they were deleted before.
	Restores bool
	// Import is the import of the batch, which records its changes; zero for none.
	Import uuid.UUID
	// ReadBefore are the zones by which wall-clock times of the batch may have been stored
	// before; FloatingZone is among them. Data that was deleted then stays deleted.
	ReadBefore []*time.Location
	// Also, if set, runs in the transaction that stores the batch, also if nothing in
	// it is new. Its error undoes the transaction. It may run more than once.
	Also WithBatch
}

// WithBatch stores something together with a batch. It runs its statements, or adds
// them to b, which runs before the transaction ends. stored has the id of the summary that
// each of the batch's summaries is stored as; zero if another version counts.
type WithBatch func(ctx context.Context, tx *store.Tx, b *store.Batch, stored []uuid.UUID) error

// Counts counts values by outcome.
type Counts struct{ Created, Updated, Unchanged, Rejected int }

// Add adds other counts.
func (c *Counts) Add(o Counts) {
	c.Created += o.Created
	c.Updated += o.Updated
	c.Unchanged += o.Unchanged
	c.Rejected += o.Rejected
}

// Result is the outcome of a batch.
type Result struct {
	Counts
	Resources  map[string]Counts // by resource name
	Ranges     map[string]Range  // time of the accepted data, new or not, by resource name
	Rejections []Rejection
	Paused     bool // the batch was refused as a whole: see ErrPaused
}

// Rejection counts the samples, summaries or values of summaries that are not stored
// for one reason.
type Rejection struct {
	Resource string
	Reason   string // names the rule, never the value
	Count    int
	// Part and Index locate the first one: element Index of Batch.Samples[Part], or
	// Batch.Summaries[Part] with Index 0.
	Part, Index int
}

// Range is a range of time.
type Range struct{ Start, End time.Time }

// Join returns the range from the earlier start to the later end. The zero Range adds
// nothing.
func (r Range) Join(o Range) Range {
	switch {
	case r == Range{}:
		return o
	case o == Range{}:
		return r
	}
	return Range{earlierOf(r.Start, o.Start), laterOf(r.End, o.End)}
}

// TouchedData describes what a batch changed of one resource.
type TouchedData struct {
	Resource string // its name in events
	Provider string
	// Pushed and Historical are those of the batch.
	Pushed, Historical bool
	// Oldest and Newest bound the starts of the data, UTC microseconds; 0 for a
	// profile.
	Oldest, Newest int64
}

func earlierOf(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func laterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// idSpace is the namespace of summary ids.
var idSpace = uuid.MustParse("7f6de3a4-31c0-5a0e-9d0e-5d6b1f2a9c48")

// SummaryID returns the id of a user's summary. It depends on the subject of the
// summary only, so every version has the same one, from any pipeline.
//
// Spec: Events, summary events ("identified by its id").
func SummaryID(user uuid.UUID, provider, resource, key string) uuid.UUID {
	name := make([]byte, 0, 128)
	name = append(name, user[:]...)
	for _, part := range []string{provider, resource, key} {
		name = append(append(name, part...), 0)
	}
	return uuid.NewSHA1(idSpace, name)
}

// RecordID returns the digest of a provider's own id of a record; zero without one. Of
// the same user, provider and resource, equal ids are of one record.
func RecordID(user uuid.UUID, provider, resource, id string) uuid.UUID {
	if id == "" {
		return uuid.Nil
	}
	return SummaryID(user, provider, resource, "record|"+id)
}
