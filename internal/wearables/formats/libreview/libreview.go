// Package libreview reads data of Abbott's glucose sensors in two forms. LibreView
// exports a CSV. LibreLinkUp answers a follower's app with a JSON document that has the
// readings of half a day.
//
// The CSV has a title line with the wearer's name, which the package ignores. A header
// and rows follow. The rows are grouped by sensor and kind of record, and are in order of
// time within a group. The kind of a row decides which column has the glucose. The
// names of the columns contain the unit. Times are those of the clock of the device that
// reads the sensor. They are to the minute, without a zone, and in the account's order of
// day and month. The whole file is scanned before the order is trusted (order.go). Times
// of the JSON document have seconds. Times of both forms float: they are stored
// unchanged, and no zone moves them.
//
//	libreview.go  recognizes a file; maps columns; converts rows to samples
//	order.go      day first or month first
//	linkup.go     the JSON document
//
// Abbott documents neither: the facts come from public exports and readers.
package libreview

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// Provider is the catalogue's name for sensors that are read through the
// wearer's own account.
const Provider = "abbott_libreview"

// Kind is a LibreView export, or a graph of LibreLinkUp.
var Kind = files.Kind{Name: "libreview", Title: "LibreView export", Provider: Provider, Check: check, Run: run}

var errUnlike = files.NewUnlikeError("the file has no header of a LibreView export")

func check(path string, limit int64) error {
	return sheet.Check(path, limit, func(in io.Reader) error {
		start := bufio.NewReader(in)
		if isObject(start) {
			_, _, err := readGraph(start)
			return err
		}
		_, _, err := open(start)
		return err
	})
}

// isObject looks whether a document is a JSON object.
func isObject(in *bufio.Reader) bool {
	start, _ := in.Peek(64) // an error comes again with the first read
	return bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n\ufeff"), []byte("{"))
}

func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	return sheet.Run(ctx, in, Provider, read)
}

// read reads either document to its end.
func read(ctx context.Context, d *sheet.Document) error {
	start := bufio.NewReader(d.File)
	if isObject(start) {
		return readLinkUp(ctx, d, start)
	}
	if _, err := d.File.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return readTable(ctx, d)
}

// Sources of readings. The sensor stores some readings by itself, and the
// wearer scans for others. Strips measure a drop of blood. People type the
// rest.
var (
	sensor      = wearables.Source{Provider: Provider, Type: "automatic"}
	scanSource  = wearables.Source{Provider: Provider, Type: "manual_scan"}
	finger      = wearables.Source{Provider: Provider, Type: "fingerprick"}
	typedSource = wearables.Source{Provider: Provider, Type: "app"}
)

var (
	historicGlucose = sheet.Key{Resource: "glucose", Type: "automatic", Source: sensor}
	scan            = sheet.Key{Resource: "glucose", Type: "manual_scan", Source: scanSource}
	strip           = sheet.Key{Resource: "glucose", Source: finger}
	rapid           = sheet.Key{Resource: "insulin_injection", Type: "rapid_acting", Source: typedSource}
	longActing      = sheet.Key{Resource: "insulin_injection", Type: "long_acting", Source: typedSource}
	food            = sheet.Key{Resource: "carbohydrates", Source: typedSource}
)

// kinds maps the numbers of record types to their names. Ketones and notes have no series
// of ours that an import fills.
var kinds = map[string]string{
	"0": "historic", "1": "scan", "2": "strip", "3": "ketone", "4": "insulin", "5": "food", "6": "note",
}

// reader is the state of one reading.
type reader struct {
	*sheet.Document
	columns
	order order
}

// readTable reads an export to its end, after a first pass over its dates.
func readTable(ctx context.Context, d *sheet.Document) error {
	order, err := orderOf(ctx, d.File)
	if err != nil {
		return err
	}
	if _, err := d.File.Seek(0, io.SeekStart); err != nil {
		return err
	}
	rows, c, err := open(d.File)
	if err != nil {
		return err
	}
	r := &reader{Document: d, columns: c, order: order}
	// Rows are complete, but some files that were saved again lack empty cells at the
	// end.
	return d.Each(ctx, rows, max(r.at, r.kind, r.historic)+1, r.row)
}

// amount is one value of a row.
type amount struct {
	key        sheet.Key
	cell, unit string
}

// row reads one record.
func (r *reader) row(row []string) {
	r.Report.Records++
	name, ok := kinds[sheet.Cell(row, r.kind)]
	if !ok {
		name = "other"
	}
	all := r.amounts(name, row)
	if len(all) > 0 && isOutOfRange(all[0].cell) {
		name, all = name+" outside the range", nil
	}
	count := r.Report.Type(name)
	count.Read++
	if len(all) == 0 {
		count.Skipped++
		r.Report.Left(count)
		return
	}
	wall, ok := r.order.wall(sheet.Cell(row, r.at))
	if !ok {
		count.BadDate++
		r.Report.Left(count)
		return
	}
	r.keep(all, floatingTime(wall), count)
}

// amounts returns the values of a row of a kind. Non-numeric marks say that there was
// insulin or food, but not how much. They give no value.
func (r *reader) amounts(kind string, row []string) []amount {
	switch kind {
	case "historic":
		return []amount{{historicGlucose, sheet.Cell(row, r.historic), r.historicUnit}}
	case "scan":
		return []amount{{scan, sheet.Cell(row, r.scan), r.scanUnit}}
	case "strip":
		return []amount{{strip, sheet.Cell(row, r.strip), r.stripUnit}}
	}
	// A row of insulin may have food beside it, and the other way round.
	if kind != "insulin" && kind != "food" {
		return nil
	}
	var all []amount
	for _, a := range []amount{
		{rapid, sheet.Cell(row, r.rapid), ""}, {longActing, sheet.Cell(row, r.long), ""}, {food, sheet.Cell(row, r.grams), ""},
	} {
		if a.cell != "" {
			all = append(all, a)
		}
	}
	return all
}

// keep adds the values of a row that are numbers.
func (r *reader) keep(all []amount, at int64, count *files.TypeCount) {
	kept := false
	for _, a := range all {
		if a.key.Resource == "glucose" {
			if v, ok := sheet.Glucose(a.cell, a.unit); ok {
				r.Gather.At(a.key, at, wearables.NoOffset, v)
				kept = true
			}
		} else if v, ok := sheet.Number(a.cell); ok {
			r.Portion(a.key, at, wearables.NoOffset, v)
			kept = true
		}
	}
	if !kept {
		count.BadValue++
		r.Report.Left(count)
		return
	}
	count.Mapped++
	r.Report.Mapped++
}

// floatingTime returns the local clock time unchanged.
//
// Reference 7.10, floating time: no zone moves the provider's times.
func floatingTime(wall time.Time) int64 { return wall.UnixMicro() }

// isOutOfRange reports whether a reading is a word: lower or higher than the sensor can
// measure.
func isOutOfRange(cell string) bool {
	return strings.EqualFold(cell, "LO") || strings.EqualFold(cell, "HI")
}

// headerRows bounds the distance of the header from the start: below a title and
// perhaps a line with the date.
const headerRows = 5

// columns holds the position of each column; -1 if the export lacks it.
type columns struct {
	n                                 int
	at, kind                          int
	historic, scan, strip             int
	rapid, long, grams                int
	historicUnit, scanUnit, stripUnit string // the names of the columns
}

// The header has the same columns in the same places in every language. Only
// the units are written alike, so that is how a translated one is known.
const (
	atColumn, kindColumn     = 2, 3
	historicColumn           = 4
	scanColumn               = 5
	rapidColumn, gramsColumn = 7, 9
	longColumn, stripColumn  = 12, 14
	translatedColumns        = 18 // at least
)

// open reads up to and with the header.
func open(in io.Reader) (*sheet.Rows, columns, error) {
	rows := sheet.NewRows(in)
	h, ok, err := sheet.Head(rows, headerRows, func(h sheet.Header) bool { return english(h) || isTranslated(h) })
	if err != nil {
		return nil, columns{}, err
	}
	if !ok {
		return nil, columns{}, errUnlike
	}
	return rows, columnsOf(h), nil
}

func english(h sheet.Header) bool {
	return h.Column("device timestamp") >= 0 && h.Column("record type") >= 0 &&
		sheet.IsGlucoseUnit(h.Name(h.Column("historic glucose…")))
}

func isTranslated(h sheet.Header) bool {
	return h.Len() >= translatedColumns &&
		sheet.IsGlucoseUnit(h.Name(historicColumn)) && sheet.IsGlucoseUnit(h.Name(scanColumn)) && sheet.IsGlucoseUnit(h.Name(stripColumn))
}

func columnsOf(h sheet.Header) columns {
	c := columns{
		n: h.Len(), at: atColumn, kind: kindColumn, historic: historicColumn, scan: scanColumn, strip: stripColumn,
		rapid: rapidColumn, long: longColumn, grams: gramsColumn,
	}
	if english(h) {
		c = columns{
			n: h.Len(), at: h.Column("device timestamp"), kind: h.Column("record type"),
			historic: h.Column("historic glucose…"), scan: h.Column("scan glucose…"), strip: h.Column("strip glucose…"),
			rapid: h.Column("rapid-acting insulin…"), long: h.Column("long-acting insulin…"),
			grams: h.Column("carbohydrates (grams)"),
		}
	}
	c.historicUnit, c.scanUnit, c.stripUnit = h.Name(c.historic), h.Name(c.scan), h.Name(c.strip)
	return c
}
