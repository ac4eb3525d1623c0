package fitbitexport

import (
	"hale/internal/providers/sheet"
	"hale/internal/wearables"
)

// hourly is where the steps of hours go. The app keeps them apart from the
// minutes that Fitbit itself tells: both stand beside each other, and a merged
// line, which takes the app without a name first, counts an hour once.
var hourly = sheet.Key{Resource: "steps", Source: wearables.Source{Provider: Provider, Type: "watch", AppID: "fitabase"}}

// hour is how long a row counts, in microseconds.
const hour = 3600_000_000

// hour takes one row of the steps of an hour, as it stands.
func (r *reader) hour(row []string) error {
	count := r.report.Type("hourlySteps")
	r.report.Records++
	count.Read++
	wall, ok := wallOf(sheet.Cell(row, r.header.Column("activityhour")))
	if !ok {
		count.BadDate++
		r.report.Left(count)
		return nil
	}
	steps, ok := sheet.Number(sheet.Cell(row, r.header.Column("steptotal")))
	if !ok || steps < 0 {
		count.BadValue++
		r.report.Left(count)
		return nil
	}
	at, offset := r.wall.Instant(wall)
	r.gather.Span(hourly, at, at+hour, offset, steps)
	count.Mapped++
	r.report.Mapped++
	return nil
}
