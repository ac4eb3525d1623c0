package applehealth

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"hale/internal/civil"
	"hale/internal/store"
	"hale/internal/users"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
)

// Sink is where an import puts what it finds; *wearables.Ingester is one.
type Sink interface {
	Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error)
	HistoricalDone(ctx context.Context, user users.User, provider string, resources map[string]wearables.Range) error
}

// Import reads one export into the store. It can be repeated, or run again
// after it was interrupted: what is stored already changes nothing.
type Import struct {
	DB       *store.DB
	Sink     Sink
	User     users.User
	Stage    wearables.Stage // Historical when the connection is new
	Push     bool            // announce historical values one by one too
	MaxBytes int64           // of the document, uncompressed; 0 means DefaultMaxBytes
	Progress func(Progress)  // called often, from one goroutine at a time; may be nil

	deriver derive.Deriver
	export  *Export
	total   Progress
	days    map[civil.Date]bool
	zone    *time.Location
	outcome Outcome
}

// Progress tells how far an import is.
type Progress struct {
	Step            Step
	Done, Total     int64 // bytes of the document
	Records         int64 // read
	Skipped         int64 // of them, not kept
	Days, TotalDays int64 // summarised
}

// Step names what an import is doing.
type Step string

// The steps, in order.
const (
	Reading     Step = "reading"
	Summarising Step = "summarising"
)

// Run imports the file. An outcome comes along with an error too: it tells
// what was stored before.
func (im *Import) Run(ctx context.Context, name string) (*Outcome, error) {
	im.outcome = Outcome{
		Resources: map[string]wearables.Counts{}, Rejections: map[string]int{}, ranges: map[string]wearables.Range{},
	}
	im.days = map[civil.Date]bool{}
	export, err := Open(name, im.MaxBytes)
	if err != nil {
		return &im.outcome, err
	}
	defer export.Close()
	im.export = export
	im.total = Progress{Step: Reading, Total: export.Size()}
	im.deriver = derive.Deriver{
		DB: im.DB, Ingester: im.Sink, User: im.User, Provider: Provider, Stage: im.Stage, Push: im.Push,
		Facts: derive.Facts{}, Stored: im.stored, Progress: im.summarised,
	}
	if im.User.TimeZone != nil {
		im.zone, _ = civil.Zone(im.User.TimeZone.Name) // nil means UTC
	}
	if err := im.read(ctx); err != nil {
		return &im.outcome, err
	}
	return &im.outcome, im.summarise(ctx)
}

// read parses on one goroutine and stores on another, so that both cores work.
// At most two chunks exist: one being stored, one being filled.
func (im *Import) read(ctx context.Context) error {
	document, err := im.export.Document()
	if err != nil {
		return err
	}
	defer document.Close()
	chunks := make(chan *Chunk)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(chunks)
		reader := NewReader(func(c *Chunk) error {
			select {
			case chunks <- c:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		report, err := reader.Read(ctx, document)
		im.outcome.Report = *report
		return err
	})
	group.Go(func() error {
		for c := range chunks {
			if err := im.keep(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// keep stores one chunk.
func (im *Import) keep(ctx context.Context, c *Chunk) error {
	if len(c.Samples) > 0 {
		b := wearables.Batch{Provider: Provider, Stage: im.Stage, Push: im.Push, Samples: c.Samples}
		result, err := im.Sink.Ingest(ctx, im.User, b)
		if err != nil {
			return err
		}
		im.stored(b, result)
		for i := range c.Samples {
			derive.DaysOf(im.days, &c.Samples[i], im.zone)
		}
	}
	c.Release()
	for day, f := range c.Facts {
		im.fact(day, f)
	}
	im.deriver.Person = c.Person
	for _, s := range c.Sleep {
		im.deriver.Sleep = append(im.deriver.Sleep, s)
		s.DaysOf(im.days)
	}
	if err := im.workouts(ctx, c.Workouts); err != nil {
		return err
	}
	im.total.Done, im.total.Records, im.total.Skipped = c.Bytes, c.Records, c.Skipped
	im.tell()
	return nil
}

// fact overlays what is newly known about a day.
func (im *Import) fact(day civil.Date, f derive.DayFacts) {
	im.days[day] = true
	known := im.deriver.Facts[day]
	set(&known.RestingBPM, f.RestingBPM)
	set(&known.WalkingBPM, f.WalkingBPM)
	set(&known.ActiveKcal, f.ActiveKcal)
	im.deriver.Facts[day] = known
}

// routesAtOnce bounds how many workouts have their routes in memory.
const routesAtOnce = 8

// workouts stores workouts. Exports have them after all records, so their
// heart rate is stored already; where one has not, the days come again later.
func (im *Import) workouts(ctx context.Context, all []RoutedWorkout) error {
	for part := range slices.Chunk(all, routesAtOnce) {
		batch := make([]derive.Workout, len(part))
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for i, w := range part {
			batch[i] = w.Workout
			if len(w.Route) == 0 && w.RoutePath != "" {
				group.Go(func() error {
					batch[i].Route = im.export.Route(w.RoutePath)
					return nil
				})
			}
		}
		if err := group.Wait(); err != nil {
			return err
		}
		if err := im.deriver.Workouts(ctx, batch); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// summarise derives the summaries of all days that the file touched.
func (im *Import) summarise(ctx context.Context) error {
	im.total.Step, im.total.Done = Summarising, im.outcome.Bytes
	im.total.Records, im.total.Skipped = im.outcome.Records, im.outcome.Skipped()
	im.outcome.Days = len(im.days)
	if err := im.deriver.Days(ctx, slices.Collect(maps.Keys(im.days))); err != nil {
		return err
	}
	if err := im.deriver.Profile(ctx); err != nil {
		return err
	}
	if im.Stage != wearables.Historical {
		return nil
	}
	return im.Sink.HistoricalDone(ctx, im.User, Provider, im.outcome.ranges)
}

func (im *Import) summarised(done, total int) {
	im.total.Days, im.total.TotalDays = int64(done), int64(total)
	im.tell()
}

func (im *Import) tell() {
	if im.Progress != nil {
		im.Progress(im.total)
	}
}
