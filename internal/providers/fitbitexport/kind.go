package fitbitexport

import (
	"context"
	"errors"
	"io"

	"hale/internal/fault"
	"hale/internal/providers/files"
	"hale/internal/providers/sheet"
)

// Provider is the catalogue's name for Fitbit.
const Provider = "fitbit"

// Kind is a Fitabase table.
var Kind = files.Kind{Name: "fitbit_fitabase", Title: "Fitabase table of Fitbit days or weights", Provider: Provider, Check: check, Run: run}

var errUnlike = files.Unlike("the file has no header of a Fitabase table of days or weights")

// table is an opened document.
type table struct {
	rows   *sheet.Rows
	header sheet.Header
	daily  bool // else weights
}

func isDaily(h sheet.Header) bool {
	return h.Column("id") >= 0 && h.Column("activitydate") >= 0 && h.Column("totalsteps") >= 0
}

func isWeights(h sheet.Header) bool {
	return h.Column("id") >= 0 && h.Column("date") >= 0 && h.Column("weightkg") >= 0
}

// open reads the header, which is the first row.
func open(in io.Reader) (*table, error) {
	rows := sheet.NewRows(in)
	h, ok, err := sheet.Head(rows, 1, func(h sheet.Header) bool { return isDaily(h) || isWeights(h) })
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errUnlike
	}
	return &table{rows, h, isDaily(h)}, nil
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
