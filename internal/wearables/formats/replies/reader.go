package replies

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// MaxRecord bounds one document, in bytes: a day of a value each second.
const MaxRecord = 4 << 20

// Sink stores documents; *files.Store is one.
type Sink interface {
	Samples(ctx context.Context, all []wearables.Samples) error
	Summaries(ctx context.Context, all []wearables.Summary, streams ...wearables.Stream) error
	Workouts(ctx context.Context, all []derive.Workout) error
	Recordings(ctx context.Context, all []files.Recording) error
	Sleep(one *derive.Sleeper)
	Fact(day civil.Date, f derive.DayFacts)
	Person(p *derive.Person)
	ReportProgress(done, total, records, skipped int64)
}

// Limits of a reader. summariesAtOnce limits the summaries of one batch. workoutsKept
// limits the workouts that wait, because their heart rate may follow. momentsKept
// limits the moments of the courses of those workouts.
const (
	summariesAtOnce = 500
	workoutsKept    = 1 << 12
	momentsKept     = 1 << 16
)

// Reader reads the documents of one file. Only one goroutine at a time may use
// it.
type Reader struct {
	Report *files.Report
	Zone   *time.Location // the user's fallback zone; nil when none is set
	Sink   Sink
	// Device keeps a device of the user's; nil keeps none.
	Device func(ctx context.Context, d files.Device) (uuid.UUID, error)
	// Stored reads the user's summaries of the maker from one date to another,
	// both included, such as 2025-03-02.
	Stored func(ctx context.Context, resource, from, to string) ([]storage.StoredSummary, error)
	// Gather collects samples.
	Gather sheet.Gather

	reading   Reading
	size      int64
	summaries []wearables.Summary
	streams   []wearables.Stream
	workouts  []derive.Workout
	recorded  []files.Recording
	moments   int // of those
	devices   []files.Device
	nightly   []NightlyValues
	bodies    map[bodyKey]*weighing
}

// Read reads a provider's file to its end with a reader whose exported fields are set.
// It keeps data before any damage.
func (m *Maker) Read(ctx context.Context, file io.ReadSeeker, size int64, r *Reader) error {
	late, err := m.lookAhead(file)
	if err != nil {
		return err
	}
	r.size, r.reading = size, m.Open(r)
	in := sheet.NewBoundedTo(file, MaxRecord)
	w := &walker{lists: m.Lists, reading: r.reading, next: in.Next, late: late}
	w.found = func(of *Resource, d *Document) error {
		r.take(of, d)
		r.Report.Bytes = in.Bytes
		return r.flush(ctx, false)
	}
	err = w.walk(in)
	r.Report.Bytes = in.Bytes
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.Report.Truncated, err = true, nil
	case errors.As(err, &syntax): // the start of the next document is unknown
		r.Report.Damaged++
		r.Report.Truncated, err = true, nil
	}
	return errors.Join(err, r.end(ctx))
}

// end stores the remaining values. Then it lets the maker finish, and stores the bodies,
// the nights and the devices.
func (r *Reader) end(ctx context.Context) error {
	if err := r.flush(ctx, true); err != nil {
		return err
	}
	if r.reading.End != nil {
		if err := r.reading.End(ctx); err != nil {
			return err
		}
	}
	r.endBodies()
	if err := r.flush(ctx, true); err != nil {
		return err
	}
	if err := r.joinNights(ctx); err != nil {
		return err
	}
	if err := r.flush(ctx, true); err != nil {
		return err
	}
	defer r.reportProgress()
	return r.keepDevices(ctx)
}

// Take recognizes a document and stores it, as the walk does. It is for documents inside
// one that is taken as a whole.
func (r *Reader) Take(d Document) { r.take(r.reading.recognise(d), &d) }

// take reads a document and counts it.
func (r *Reader) take(of *Resource, d *Document) {
	if d == nil {
		r.Report.Damaged++
		return
	}
	name := "other"
	if of != nil {
		name = of.Name
	}
	count := r.Report.Type(name)
	r.Report.Records++
	count.Read++
	became := Skipped
	if of != nil && of.Take != nil {
		became = of.Take(*d)
	}
	r.record(count, became, count.Read)
}

// record counts the outcome of a record. at is the record's number within its
// type.
func (r *Reader) record(count *files.TypeCount, v Verdict, at int64) {
	if v == Mapped {
		r.Report.Mapped++
	}
	if v == Copy {
		r.Report.Copies++
	}
	r.became(count, v, at)
}

// became counts the outcome of a record or of a part. at is its number within
// its type.
func (r *Reader) became(count *files.TypeCount, v Verdict, at int64) {
	var reason string
	switch v {
	case Mapped:
		count.Mapped++
		return
	case Skipped:
		count.Skipped++
		reason = "skipped"
	case BadDate:
		count.BadDate++
		reason = "bad_date"
	case BadValue:
		count.BadValue++
		reason = "bad_value"
	case BadUnit:
		count.BadUnit++
		reason = "bad_unit"
	case Unpaired:
		count.Unpaired++
		reason = "unpaired"
	case TooMany:
		count.TooMany++
		reason = "too_many"
	case Copy:
		count.Copies++
		return
	case Waits:
		return
	}
	r.Report.LeftAt(count, at, reason)
}

// Part counts the outcome of a part of a document. name is one of our names,
// never a word of the file. Parts are no records.
func (r *Reader) Part(name string, v Verdict) {
	count := r.Report.Type(name)
	count.Read++
	r.became(count, v, count.Read)
}

// Nth returns the number of the present document among the documents of its
// resource.
func (r *Reader) Nth(name string) int64 { return r.Report.Type(name).Read }

// Waited counts the outcome of a document whose verdict was Waits. name is its
// resource, and nth its number among the documents of that resource, or 0 if it
// is unknown. NightlyValues calls Waited itself.
func (r *Reader) Waited(name string, v Verdict, nth int64) {
	r.record(r.Report.Type(name), v, nth)
}

// SkipFields counts fields of a stored document that have no resource as skipped.
func (r *Reader) SkipFields(of string, d Document, names ...string) {
	for _, name := range names {
		if d.States(name) {
			r.Part(of+"."+name, Skipped)
		}
	}
}

// Summary stores a summary, and streams of workouts with it.
func (r *Reader) Summary(s wearables.Summary, streams ...wearables.Stream) {
	r.summaries, r.streams = append(r.summaries, s), append(r.streams, streams...)
}

// Workout stores a workout. Gather may have its heart rate, which is stored
// first.
func (r *Reader) Workout(w derive.Workout) { r.workouts = append(r.workouts, w) }

// Recording stores a workout. The maker may also state its course, moment by moment,
// and values that no derived workout has, such as its highest speed.
func (r *Reader) Recording(w files.Recording) {
	r.recorded = append(r.recorded, w)
	r.moments += len(w.Course)
}

// Own keeps one of the wearer's devices. It returns false if the device has no
// id, or if the file names too many devices.
func (r *Reader) Own(d files.Device) bool {
	if d.ExternalID == "" || len(r.devices) == files.MaxDevices {
		return false
	}
	r.devices = append(r.devices, d)
	return true
}

func (r *Reader) keepDevices(ctx context.Context) error {
	if r.Device == nil {
		return nil
	}
	for _, one := range r.devices {
		if _, err := r.Device(ctx, one); err != nil {
			return err
		}
	}
	r.devices = nil
	return nil
}

// flush stores the collected data if there is enough for a batch, or at the
// end.
func (r *Reader) flush(ctx context.Context, end bool) error {
	if r.Gather.N > 0 && (end || r.Gather.N >= sheet.FlushSize) {
		if err := r.Sink.Samples(ctx, r.Gather.Take()); err != nil {
			return err
		}
		r.reportProgress()
	}
	if len(r.summaries) > 0 && (end || len(r.summaries) >= summariesAtOnce) {
		if err := r.Sink.Summaries(ctx, r.summaries, r.streams...); err != nil {
			return err
		}
		r.summaries, r.streams = nil, nil
		r.reportProgress()
	}
	if len(r.workouts) > 0 && (end || len(r.workouts) >= workoutsKept) {
		if err := r.Sink.Workouts(ctx, r.workouts); err != nil {
			return err
		}
		r.workouts = nil
		r.reportProgress()
	}
	if len(r.recorded) > 0 && (end || len(r.recorded) >= workoutsKept || r.moments >= momentsKept) {
		if err := r.Sink.Recordings(ctx, r.recorded); err != nil {
			return err
		}
		r.recorded, r.moments = nil, 0
		r.reportProgress()
	}
	return ctx.Err()
}

func (r *Reader) reportProgress() {
	r.Sink.ReportProgress(r.Report.Bytes, r.size, r.Report.Records, r.Report.Skipped())
}
