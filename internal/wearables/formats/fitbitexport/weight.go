package fitbitexport

import (
	"strings"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/sheet"
)

// weights maps the columns of a table of weights to resources.
var weights = []struct{ column, resource string }{
	{"weightkg", "body_weight"}, {"fat", "body_fat"}, {"bmi", "body_mass_index"},
}

// weight takes one row: a weight and the values beside it.
func (r *reader) weight(row []string) error {
	count := r.report.Type("weightLogInfo")
	r.report.Records++
	count.Read++
	wall, ok := wallOf(sheet.Cell(row, r.header.Column("date")))
	if !ok {
		count.BadDate++
		r.report.Left(count)
		return nil
	}
	at, offset := r.wall.Instant(wall)
	source := wearables.Source{Provider: Provider, Type: "scale"}
	if strings.EqualFold(sheet.Cell(row, r.header.Column("ismanualreport")), "true") {
		source.Type = "app"
	}
	kept := false
	for _, w := range weights {
		if value, ok := sheet.Number(sheet.Cell(row, r.header.Column(w.column))); ok {
			r.gather.At(sheet.Key{Resource: w.resource, Source: source}, at, offset, value)
			kept = true
		}
	}
	if !kept {
		count.BadValue++
		r.report.Left(count)
		return nil
	}
	count.Mapped++
	r.report.Mapped++
	return nil
}
