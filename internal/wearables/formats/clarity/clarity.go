// Package clarity reads the CSV that Dexcom Clarity exports: readings of a glucose
// sensor every five minutes, and the wearer's notes.
//
// The document begins with rows without a time: the wearer's name and birth date, which
// are not read, the receivers and their alarms. Then follow events in order of time.
// The name of a column contains the unit of glucose. A reading outside of the sensor's
// range has the word Low or High in place of a number; it is left out, not clamped.
// Times are those of the receiver's clock, without a zone.
//
// Dexcom documents no format: the facts come from public exports, one of which the
// tests read.
package clarity

import (
	"context"
	"io"
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// Provider is the catalogue's name for Dexcom's sensors.
const Provider = "dexcom_v3"

// Kind is a Clarity export.
var Kind = files.Kind{Name: "dexcom_clarity", Title: "Dexcom Clarity export", Provider: Provider, WallClock: true, Check: check, Run: run}

var errUnlike = files.NewUnlikeError("the file has no header of a Dexcom Clarity export")

func check(path string, limit int64) error {
	return sheet.Check(path, limit, func(in io.Reader) error {
		_, _, err := open(in)
		return err
	})
}

func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	return sheet.Run(ctx, in, Provider, read)
}

// headerRows bounds the distance of the header from the start; it is usually the first
// row.
const headerRows = 3

// columns holds the position of each column; -1 if the export lacks it.
type columns struct {
	n                                          int
	at, event, subtype, glucose, insulin, carb int
	unit                                       string // the name of the glucose column
}

// open reads up to and with the header.
func open(in io.Reader) (*sheet.Rows, columns, error) {
	rows := sheet.NewRows(in)
	h, ok, err := sheet.Head(rows, headerRows, func(h sheet.Header) bool {
		return h.Column("timestamp…") >= 0 && h.Column("event type") >= 0 && sheet.IsGlucoseUnit(h.Name(h.Column("glucose value…")))
	})
	if err != nil {
		return nil, columns{}, err
	}
	if !ok {
		return nil, columns{}, errUnlike
	}
	c := columns{
		n: h.Len(), at: h.Column("timestamp…"), event: h.Column("event type"), subtype: h.Column("event subtype"),
		glucose: h.Column("glucose value…"), insulin: h.Column("insulin value…"), carb: h.Column("carb value…"),
	}
	c.unit = h.Name(c.glucose)
	return rows, c, nil
}

// These are the sources of events. Typed values come from the app; a calibration is a
// drop of blood.
var (
	sensor      = wearables.Source{Provider: Provider, Type: "automatic"}
	finger      = wearables.Source{Provider: Provider, Type: "fingerprick"}
	typedSource = wearables.Source{Provider: Provider, Type: "app"}
)

// resourceKeys maps a type of event to its resource. Types without a resource, such as
// Alert or Exercise, have no row.
var resourceKeys = map[string]sheet.Key{
	"EGV":         {Resource: "glucose", Type: "automatic", Source: sensor},
	"Calibration": {Resource: "glucose", Source: finger},
	"Carbs":       {Resource: "carbohydrates", Source: typedSource},
	"Insulin":     {Resource: "insulin_injection", Source: typedSource},
}

// insulins are the subtypes of insulin as types of samples.
var insulins = map[string]string{"Fast-Acting": "rapid_acting", "Long-Acting": "long_acting"}

// skippedTypes lists known types of events without a resource. Only known names go into a
// report: other cells of the column may contain anything.
var skippedTypes = map[string]bool{
	"Alert": true, "Device": true, "Exercise": true, "Health": true, "Note": true, "Notes": true,
	"FirstName": true, "LastName": true, "DateOfBirth": true,
}

// reader is the state of one reading.
type reader struct {
	*sheet.Document
	columns
	wall sheet.Wall
}

// read reads an export to its end.
func read(ctx context.Context, d *sheet.Document) error {
	rows, c, err := open(d.File)
	if err != nil {
		return err
	}
	r := &reader{Document: d, columns: c, wall: sheet.Wall{Zone: d.Zone}}
	// Exporters leave out the last cell, and no more.
	return d.Each(ctx, rows, r.n-1, r.row)
}

// row reads one event.
func (r *reader) row(row []string) {
	r.Report.Records++
	name := sheet.Cell(row, r.event)
	key, ok := resourceKeys[name]
	if !ok {
		if !skippedTypes[name] {
			name = "other"
		}
		count := r.Report.Type(name)
		count.Read++
		count.Skipped++
		r.Report.Left(count)
		return
	}
	cell := sheet.Cell(row, r.cellOf(key.Resource))
	if key.Resource == "glucose" && isOutOfRange(cell) {
		count := r.Report.Type(name + " outside the range")
		count.Read++
		count.Skipped++
		r.Report.Left(count)
		return
	}
	count := r.Report.Type(name)
	count.Read++
	at, offset, ok := r.instant(sheet.Cell(row, r.at))
	if !ok {
		count.BadDate++
		r.Report.Left(count)
		return
	}
	value, ok := r.value(key.Resource, cell)
	if !ok {
		count.BadValue++
		r.Report.Left(count)
		return
	}
	if key.Resource == "insulin_injection" {
		key.Type = insulins[sheet.Cell(row, r.subtype)]
	}
	if key.Resource == "glucose" {
		r.Gather.At(key, at, offset, value)
	} else {
		r.Portion(key, at, offset, value)
	}
	count.Mapped++
	r.Report.Mapped++
}

func (c *columns) cellOf(resource string) int {
	switch resource {
	case "insulin_injection":
		return c.insulin
	case "carbohydrates":
		return c.carb
	}
	return c.glucose
}

func (c *columns) value(resource, cell string) (float64, bool) {
	if resource == "glucose" {
		return sheet.Glucose(cell, c.unit)
	}
	return sheet.Number(cell)
}

// isOutOfRange reports whether a reading is a word: lower or higher than the sensor can
// measure.
func isOutOfRange(cell string) bool {
	return strings.EqualFold(cell, "Low") || strings.EqualFold(cell, "High")
}

// instant reads a time of the receiver's clock. Some exports that were saved
// again have a space in place of the T.
func (r *reader) instant(cell string) (at int64, offset int32, ok bool) {
	wall, err := time.Parse("2006-01-02T15:04:05", strings.Replace(cell, " ", "T", 1))
	if err != nil {
		return 0, 0, false
	}
	at, offset = r.wall.Instant(wall)
	return at, offset, true
}
