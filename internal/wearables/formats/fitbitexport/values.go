package fitbitexport

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/sheet"
)

// dayBody has the wire fields of an activity that a row states.
//
// Reference 7.5.
type dayBody struct {
	Calories *float64 `json:"calories_total"`
	Steps    *float64 `json:"steps"`
	Distance *float64 `json:"distance"` // m
	Movement *float64 `json:"daily_movement"`
	Low      *float64 `json:"low"` // min
	Medium   *float64 `json:"medium"`
	High     *float64 `json:"high"`
}

// day reads one row of daily totals. Distance is in kilometres.
func (r *reader) day(row []string) error {
	count := r.report.Type("dailyActivity")
	r.report.Records++
	count.Read++
	date, ok := dateOf(sheet.Cell(row, r.header.Column("activitydate")))
	if !ok {
		count.BadDate++
		r.report.Left(count)
		return nil
	}
	cell := func(column string, times float64, decimals float64) *float64 {
		v, ok := sheet.Number(sheet.Cell(row, r.header.Column(column)))
		if !ok || v < 0 {
			return nil
		}
		v = math.Round(v*times*decimals) / decimals
		return &v
	}
	body := dayBody{
		Calories: cell("calories", 1, 100), Steps: cell("totalsteps", 1, 1), Distance: cell("totaldistance", 1000, 100),
		Low: cell("lightlyactiveminutes", 1, 1), Medium: cell("fairlyactiveminutes", 1, 1), High: cell("veryactiveminutes", 1, 1),
	}
	body.Movement = body.Distance
	if body.Steps == nil {
		count.BadValue++
		r.report.Left(count)
		return nil
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	// The key is that of a derived day, so that a day has one activity however
	// its data came.
	r.days = append(r.days, wearables.Summary{
		Resource: "activity", Key: date.String(), Date: date,
		Source: wearables.Source{Provider: Provider, Type: "watch"}, Body: raw,
	})
	count.Mapped++
	r.report.Mapped++
	return nil
}

// hourly is the source of hourly steps. Its app id separates them from Fitbit's own
// minutes. A merged series uses the app without a name first, and so counts an hour
// once.
var hourly = sheet.Key{Resource: "steps", Source: wearables.Source{Provider: Provider, Type: "watch", AppID: "fitabase"}}

// hour is the length of a row, in microseconds.
const hour = 3600_000_000

// hour reads one row of the hourly steps, unchanged.
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

// weights maps the columns of a table of weights to resources.
var weights = []struct{ column, resource string }{
	{"weightkg", "body_weight"}, {"fat", "body_fat"}, {"bmi", "body_mass_index"},
}

// weight reads one row: a weight and the values beside it.
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
