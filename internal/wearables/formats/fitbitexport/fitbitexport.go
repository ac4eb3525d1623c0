// Package fitbitexport reads the CSV tables of Fitbit days, hours and weights that
// studies get from Fitabase: dailyActivity, hourlySteps and weightLogInfo.
//
// A table may have the rows of a whole study, separated by Id. An import is for one
// user, so a table of several people is refused before anything is stored. Dates have
// the month first, in one of two spellings that change within one file; times are local
// clock times without a zone.
//
// Daily totals are stored unchanged: they are not the sum of the hours. Two tables are
// refused by name. hourlyCalories mixes energy of rest and activity, for which there is
// no series. sleepDay has the minutes of a date, sometimes of several sleeps, without
// the start and end that a sleep needs.
//
//	fitbitexport.go  recognizes a table of one person; parses dates and times
//	values.go        converts days, steps of hours, and weights
package fitbitexport

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// Provider is the catalogue's name for Fitbit.
const Provider = "fitbit"

// Kind is a Fitabase table.
var Kind = files.Kind{Name: "fitbit_fitabase", Title: "Fitabase table of Fitbit days, hours or weights", Provider: Provider, WallClock: true, Check: check, Run: run}

var errUnlike = files.NewUnlikeError("the file has no header of a Fitabase table of days, hours or weights")

// table is an opened document.
type table struct {
	rows   *sheet.Rows
	header sheet.Header
	sort   *sort
}

// sort is one sort of table.
type sort struct {
	columns []string // that identify it
	take    func(r *reader, row []string) error
	refuse  error // the reason why it cannot be imported
}

// sorts are the tables that are known, by their columns beside Id.
var sorts = []sort{
	{columns: []string{"activitydate", "totalsteps"}, take: (*reader).day},
	{columns: []string{"date", "weightkg"}, take: (*reader).weight},
	{columns: []string{"activityhour", "steptotal"}, take: (*reader).hour},
	{columns: []string{"activityhour", "calories"}, refuse: fault.New(fault.Unprocessable,
		"the table hourlyCalories adds the energy at rest to that of activity, and no series has the sum; dailyActivity has the total of the day")},
	{columns: []string{"sleepday", "totalminutesasleep"}, refuse: fault.New(fault.Unprocessable,
		"the table sleepDay does not say when a sleep began or ended, so no sleep can be derived from it")},
}

// sortOf recognizes a table by its header. It returns nil for another table.
func sortOf(h sheet.Header) *sort {
	i := slices.IndexFunc(sorts, func(s sort) bool {
		return h.Column("id") >= 0 && !slices.ContainsFunc(s.columns, func(name string) bool { return h.Column(name) < 0 })
	})
	if i < 0 {
		return nil
	}
	return &sorts[i]
}

// open reads the header, which is the first row.
func open(in io.Reader) (*table, error) {
	rows := sheet.NewRows(in)
	h, ok, err := sheet.Head(rows, 1, func(h sheet.Header) bool { return sortOf(h) != nil })
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errUnlike
	}
	sort := sortOf(h)
	return &table{rows, h, sort}, sort.refuse
}

func check(path string, limit int64) error {
	return sheet.Check(path, limit, func(in io.Reader) error {
		_, err := open(in)
		return err
	})
}

var errSeveral = fault.New(fault.Unprocessable, "the table has the rows of several people; an import takes those of one Id")

// onePerson looks through all rows before one of them is stored.
func onePerson(ctx context.Context, in io.ReadSeeker) error {
	t, err := open(in)
	if err != nil {
		return err
	}
	id := t.header.Column("id")
	first := ""
	for {
		row, err := t.rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		switch own := sheet.Cell(row, id); {
		case first == "":
			first = own
		case own != "" && own != first:
			return errSeveral
		}
	}
	_, err = in.Seek(0, io.SeekStart)
	return err
}

// sink stores rows; *files.Store is one.
type sink interface {
	Samples(ctx context.Context, all []wearables.Samples) error
	Summaries(ctx context.Context, all []wearables.Summary, streams ...wearables.Stream) error
	ReportProgress(done, total, records, skipped int64)
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
		r.reportProgress()
	}
	if r.gather.N > 0 && (end || r.gather.N >= sheet.FlushSize) {
		if err := r.sink.Samples(ctx, r.gather.Take()); err != nil {
			return err
		}
		r.reportProgress()
	}
	if end {
		r.reportProgress()
	}
	return ctx.Err()
}

func (r *reader) reportProgress() {
	r.sink.ReportProgress(r.rows.Bytes(), r.size, r.report.Records, r.report.Skipped())
}

// dateOf reads a date: 4/13/2016, 04-12-16 or 2016-4-12.
func dateOf(cell string) (civil.Date, bool) {
	for _, layout := range []string{"1/2/2006", "01-02-06", "2006-1-2"} {
		if at, err := time.Parse(layout, cell); err == nil {
			return civil.DateOf(at), true
		}
	}
	return civil.Date{}, false
}

// wallOf reads a time on the wall: 5/2/2016 11:59:59 PM.
func wallOf(cell string) (time.Time, bool) {
	for _, layout := range []string{"1/2/2006 3:04:05 PM", "2006-1-2 15:04", "1/2/2006"} {
		if at, err := time.Parse(layout, cell); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
