package oura

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/google/uuid"

	"hale/internal/civil"
	"hale/internal/providers/files"
	"hale/internal/providers/sheet"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
)

// sink is where documents go; *files.Store is one.
type sink interface {
	Samples(ctx context.Context, all []wearables.Samples) error
	Summaries(ctx context.Context, all []wearables.Summary, streams ...wearables.Stream) error
	Workouts(ctx context.Context, all []derive.Workout) error
	Person(p *derive.Person)
	Tell(done, total, records, skipped int64)
}

// Sources: what the ring measured, and what its wearer told the app.
var (
	ring = wearables.Source{Provider: Provider, Type: "ring"}
	app  = wearables.Source{Provider: Provider, Type: "app"}
)

// How many summaries are stored at once, and how many workouts are kept back
// for their heart rate, which may stand behind them.
const (
	summariesAtOnce = 500
	workoutsKept    = 1 << 14
)

// reader is the state of one reading.
type reader struct {
	report *files.Report
	zone   *time.Location // the user's fallback zone; nil when none is set
	sink   sink
	device func(context.Context, files.Device) (uuid.UUID, error) // may be nil
	nights func(ctx context.Context, from, to string) ([]wearables.StoredSummary, error)
	size   int64

	gather    sheet.Gather
	summaries []wearables.Summary
	workouts  []derive.Workout
	scores    map[civil.Date]*score
	rings     []files.Device
}

// read reads a file to its end. What comes before any damage is kept.
func (r *reader) read(ctx context.Context, file io.Reader) error {
	in := sheet.NewBounded(file)
	err := walk(in, func(of *resource, d document) error {
		r.take(of, d)
		in.Next()
		r.report.Bytes = in.Bytes
		return r.flush(ctx, false)
	})
	r.report.Bytes = in.Bytes
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.report.Truncated, err = true, nil
	case errors.As(err, &syntax): // nobody knows where the next document begins
		r.report.Damaged++
		r.report.Truncated, err = true, nil
	}
	return errors.Join(err, r.flush(ctx, true))
}

// verdict is what became of a document.
type verdict int

const (
	mapped verdict = iota
	skipped
	badDate
	badValue
	waits // for the night that it is about
)

// take reads a document and counts it.
func (r *reader) take(of *resource, d document) {
	if d == nil {
		r.report.Damaged++
		return
	}
	name := "other"
	if of != nil {
		name = of.name
	}
	count := r.report.Type(name)
	r.report.Records++
	count.Read++
	became := skipped
	if of != nil && of.take != nil {
		became = of.take(r, d)
	}
	switch became {
	case mapped:
		count.Mapped++
		r.report.Mapped++
		return
	case skipped:
		count.Skipped++
	case badDate:
		count.BadDate++
	case badValue:
		count.BadValue++
	case waits:
		return
	}
	r.report.Left(count)
}

// homeless counts parts of a document that is kept which have no home.
func (r *reader) homeless(of string, d document, names ...string) {
	for _, name := range names {
		if d.states(name) {
			count := r.report.Type(of + "." + name)
			count.Read++
			count.Skipped++
			r.report.Left(count)
		}
	}
}

// flush stores what was gathered once it is worth it, or at the end.
func (r *reader) flush(ctx context.Context, end bool) error {
	if r.gather.N > 0 && (end || r.gather.N >= sheet.Full) {
		if err := r.sink.Samples(ctx, r.gather.Take()); err != nil {
			return err
		}
		r.tell()
	}
	if len(r.summaries) > 0 && (end || len(r.summaries) >= summariesAtOnce) {
		if err := r.sink.Summaries(ctx, r.summaries); err != nil {
			return err
		}
		r.summaries = nil
		r.tell()
	}
	if len(r.workouts) > 0 && (end || len(r.workouts) >= workoutsKept) {
		if err := r.sink.Workouts(ctx, r.workouts); err != nil {
			return err
		}
		r.workouts = nil
		r.tell()
	}
	if !end {
		return ctx.Err()
	}
	if err := r.join(ctx); err != nil {
		return err
	}
	defer r.tell()
	return r.keepRings(ctx)
}

func (r *reader) tell() {
	r.sink.Tell(r.report.Bytes, r.size, r.report.Records, r.report.Skipped())
}
