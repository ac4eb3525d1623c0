package fitbitexport

import (
	"slices"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/sheet"
)

// hourly is the source of hourly steps. Its app id separates them from Fitbit's own
// minutes. A merged series takes the app without a name first, and so counts an hour
// once.
var hourly = sheet.Key{Resource: "steps", Source: wearables.Source{Provider: Provider, Type: "watch", AppID: "fitabase"}}

// hour is the length of a row, in microseconds.
const hour = 3600_000_000

// hour takes one row of the hourly steps, unchanged.
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
	at, ok := r.passes.instant(&r.wall, wall)
	if !ok {
		count.BadDate++
		r.report.Left(count)
		return nil
	}
	r.gather.Span(hourly, at, at+hour, sheet.OffsetAt(r.wall.Zone, at), steps)
	count.Mapped++
	r.report.Mapped++
	return nil
}

// passes distinguishes the two rows of an hour that occurs twice.
type passes struct {
	before time.Time      // the local time in the row before
	taken  map[int64]bool // instants of such hours that have their row
}

// instant returns the start of a row's hour. It returns false in the hour that
// the clock skips, because that hour does not exist. An hour that occurs twice
// has two rows. The first row is the first pass, or the second pass if the table
// has the newest hour first. A third row replaces the last one.
func (p *passes) instant(clock *sheet.Wall, wall time.Time) (at int64, ok bool) {
	backwards := wall.Before(p.before)
	p.before = wall
	all := clock.Passes(wall)
	switch {
	case len(all) == 0:
		return 0, false
	case len(all) == 1:
		return all[0], true
	case backwards:
		slices.Reverse(all)
	}
	for _, at = range all {
		if !p.taken[at] {
			break
		}
	}
	if p.taken == nil {
		p.taken = map[int64]bool{}
	}
	p.taken[at] = true
	return at, true
}
