package fitbitexport

import (
	"context"
	"errors"
	"io"
	"slices"

	"hale/internal/platform/fault"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// Provider is the catalogue's name for Fitbit.
const Provider = "fitbit"

// Kind is a Fitabase table.
var Kind = files.Kind{Name: "fitbit_fitabase", Title: "Fitabase table of Fitbit days, hours or weights", Provider: Provider, WallClock: true, Check: check, Run: run}

var errUnlike = files.Unlike("the file has no header of a Fitabase table of days, hours or weights")

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
