package applehealth

import (
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
)

// Kind is that of HealthKit exports.
var Kind = files.Kind{Name: "apple_health", Title: "Apple Health export (zip or XML)", Provider: Provider, Check: check, Run: run}

func check(path string, limit int64) error {
	export, err := Open(path, limit)
	if err != nil {
		return err
	}
	defer export.Close()
	return export.Check()
}

// run imports an export.
func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	im := importer{in: in, outcome: files.NewOutcome()}
	var err error
	if im.export, err = Open(in.Path, in.Limit); err != nil {
		return im.outcome, err
	}
	defer im.export.Close()
	if im.store, err = in.Store(ctx, Provider, im.outcome); err != nil {
		return im.outcome, err
	}
	if err := im.read(ctx); err != nil {
		return im.outcome, err
	}
	if err := im.recordings(ctx); err != nil {
		return im.outcome, err
	}
	return im.outcome, im.store.Finish(ctx)
}

// importer is one run over one export.
type importer struct {
	in      files.Input
	export  *Export
	store   *files.Store
	outcome *files.Outcome
}

// read parses on one goroutine and stores on another, so that both cores work.
// At most two chunks exist: one being stored, one being filled.
func (im *importer) read(ctx context.Context) error {
	document, err := im.export.Document()
	if err != nil {
		return err
	}
	defer document.Close()
	chunks := make(chan *Chunk)
	var devices []files.Device
	group, working := errgroup.WithContext(ctx)
	var report files.Report
	group.Go(func() error {
		defer close(chunks)
		reader := NewReader(func(c *Chunk) error {
			select {
			case chunks <- c:
				return nil
			case <-working.Done():
				return context.Cause(working)
			}
		})
		got, err := reader.Read(working, document)
		report, devices = *got, reader.Devices()
		return err
	})
	group.Go(func() error {
		for c := range chunks {
			if err := im.keep(working, c); err != nil {
				return err
			}
		}
		return nil
	})
	err = group.Wait()
	im.outcome.Report = report
	if err != nil {
		return err
	}
	return im.keepDevices(ctx, devices)
}

// keepDevices notes which hardware the records name.
func (im *importer) keepDevices(ctx context.Context, all []files.Device) error {
	if im.in.Device == nil {
		return nil
	}
	for _, d := range all {
		if _, err := im.in.Device(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// keep stores one chunk.
func (im *importer) keep(ctx context.Context, c *Chunk) error {
	if err := im.store.Samples(ctx, c.Samples); err != nil {
		return err
	}
	c.Release()
	for day, f := range c.Facts {
		im.store.Fact(day, f)
	}
	im.store.Person(c.Person)
	for _, s := range c.Sleep {
		im.store.Sleep(s)
	}
	if err := im.store.Summaries(ctx, c.Cycles); err != nil {
		return err
	}
	for some := range slices.Chunk(c.Meals, mealsAtOnce) {
		if err := im.store.Summaries(ctx, some); err != nil {
			return err
		}
	}
	if err := im.workouts(ctx, c.Workouts); err != nil {
		return err
	}
	im.store.ReportProgress(c.Bytes, im.export.Size(), c.Records, c.Skipped)
	return nil
}

// mealsAtOnce bounds the meals of one transaction.
const mealsAtOnce = 500

// routesAtOnce bounds how many workouts have their routes in memory.
const routesAtOnce = 8

// workouts stores workouts. Exports have them after all records, so their
// heart rate is stored already; where one has not, the days come again later.
func (im *importer) workouts(ctx context.Context, all []RoutedWorkout) error {
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
		if err := im.store.Workouts(ctx, batch); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
