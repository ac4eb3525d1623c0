package fitbitexport

import (
	"context"
	"errors"
	"io"
	"os"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// sink stores rows; *files.Store is one.
type sink interface {
	Samples(ctx context.Context, all []wearables.Samples) error
	Summaries(ctx context.Context, all []wearables.Summary, streams ...wearables.Stream) error
	Tell(done, total, records, skipped int64)
}

// reader is the state of one reading.
type reader struct {
	*table
	report *files.Report
	wall   sheet.Wall
	passes passes // of the hours
	gather sheet.Gather
	days   []wearables.Summary
	sink   sink
	size   int64
	cut    bool // the row before was too short
}

func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	outcome := files.NewOutcome()
	if err := check(in.Path, in.Limit); err != nil {
		return outcome, err
	}
	file, err := os.Open(in.Path)
	if err != nil {
		return outcome, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return outcome, err
	}
	if err := onePerson(ctx, file); err != nil {
		return outcome, err
	}
	store, err := in.Store(ctx, Provider, outcome)
	if err != nil {
		return outcome, err
	}
	store.DaysAreStated(true, false) // beside a table of weights, minutes that were imported before are no total
	r := &reader{report: &outcome.Report, wall: sheet.Wall{Zone: sheet.Zone(in)}, sink: store, size: info.Size()}
	if err := r.read(ctx, file); err != nil {
		return outcome, err
	}
	return outcome, store.Finish(ctx)
}

// read reads a table to its end.
func (r *reader) read(ctx context.Context, in io.Reader) (err error) {
	if r.table, err = open(in); err != nil {
		return err
	}
	for {
		row, err := r.rows.Next()
		switch {
		case errors.Is(err, io.EOF):
			r.report.Truncated = r.cut
			return r.flush(ctx, true)
		case err != nil:
			return errors.Join(r.flush(ctx, true), err)
		}
		if err := r.row(row); err != nil {
			return err
		}
		if err := r.flush(ctx, false); err != nil {
			return err
		}
	}
}

func (r *reader) row(row []string) error {
	if r.cut = len(row) < r.header.Len(); r.cut {
		r.report.Damaged++
		return nil
	}
	return r.sort.take(r, row)
}

// daysAtOnce counts the days that are stored together.
const daysAtOnce = 500

func (r *reader) flush(ctx context.Context, end bool) error {
	r.report.Bytes = r.rows.Bytes()
	if len(r.days) > 0 && (end || len(r.days) >= daysAtOnce) {
		if err := r.sink.Summaries(ctx, r.days); err != nil {
			return err
		}
		r.days = nil
		r.tell()
	}
	if r.gather.N > 0 && (end || r.gather.N >= sheet.Full) {
		if err := r.sink.Samples(ctx, r.gather.Take()); err != nil {
			return err
		}
		r.tell()
	}
	if end {
		r.tell()
	}
	return ctx.Err()
}

func (r *reader) tell() {
	r.sink.Tell(r.rows.Bytes(), r.size, r.report.Records, r.report.Skipped())
}
