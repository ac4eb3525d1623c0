package libreview

import (
	"context"
	"io"
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// Sources of readings. The sensor stores some readings by itself, and the
// wearer scans for others. Strips measure a drop of blood. People type the
// rest.
var (
	sensor      = wearables.Source{Provider: Provider, Type: "automatic"}
	scanned     = wearables.Source{Provider: Provider, Type: "manual_scan"}
	finger      = wearables.Source{Provider: Provider, Type: "fingerprick"}
	typedSource = wearables.Source{Provider: Provider, Type: "app"}
)

var (
	historic   = sheet.Key{Resource: "glucose", Type: "automatic", Source: sensor}
	scan       = sheet.Key{Resource: "glucose", Type: "manual_scan", Source: scanned}
	strip      = sheet.Key{Resource: "glucose", Source: finger}
	rapid      = sheet.Key{Resource: "insulin_injection", Type: "rapid_acting", Source: typedSource}
	longActing = sheet.Key{Resource: "insulin_injection", Type: "long_acting", Source: typedSource}
	food       = sheet.Key{Resource: "carbohydrates", Source: typedSource}
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

// row takes one record.
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
	r.keep(all, floating(wall), count)
}

// amounts returns the values of a row of a kind. Non-numeric marks say that there was
// insulin or food, but not how much. They give no value.
func (r *reader) amounts(kind string, row []string) []amount {
	switch kind {
	case "historic":
		return []amount{{historic, sheet.Cell(row, r.historic), r.historicUnit}}
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

// floating returns the local clock time unchanged.
//
// Reference 7.10, floating time: no zone moves the provider's times.
func floating(wall time.Time) int64 { return wall.UnixMicro() }

// isOutOfRange reports whether a reading is a word: lower or higher than the sensor can
// measure.
func isOutOfRange(cell string) bool {
	return strings.EqualFold(cell, "LO") || strings.EqualFold(cell, "HI")
}
