package suunto

import (
	"maps"
	"math"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

var (
	hearts      = sheet.Key{Resource: "heartrate", Source: watch}
	variability = sheet.Key{Resource: "hrv", Type: "rmssd", Source: watch}
	oxygen      = sheet.Key{Resource: "blood_oxygen", Source: watch}
)

// sample takes a watch's values at a moment of the day. The interval of steps and
// energy is unknown, so they have no resource; the totals of days have one.
func (m *reader) sample(d replies.Document) replies.Verdict {
	at, offset, ok := d.Moment("timestamp")
	if !ok {
		return replies.BadDate
	}
	e := d.Inner("entryData")
	became := replies.Skipped
	for _, one := range []struct {
		name   string
		key    sheet.Key
		factor float64
	}{
		{"HR", hearts, 1},
		{"HRV", variability, 1}, // ms
		{"SpO2", oxygen, 100},   // a share
	} {
		if v := e.Positive(one.name); v != nil {
			m.Gather.At(one.key, at.UnixMicro(), offset, *v*one.factor)
			became = replies.Mapped
		}
	}
	m.Homeless("activity", e, "StepCount", "EnergyConsumption", "HRExt", "Altitude")
	return became
}

// statistics takes the totals of days of one quantity, by watch. It is unknown whether
// the energy includes the basal rate, so only steps have a resource.
func (m *reader) statistics(d replies.Document) replies.Verdict {
	if d.Text("Name") != "stepcount" || d.Text("Aggregation") != "sum" {
		return replies.Skipped
	}
	became := replies.BadValue
	for _, source := range d.Documents("Sources") {
		for _, one := range source.Documents("Samples") {
			steps := one.Amount("Value") // null where the watch was not worn
			day, ok := m.day(one)
			switch {
			case steps == nil:
				continue
			case !ok:
				m.Part("daily_statistics.day", replies.BadDate)
				continue
			}
			m.Part("daily_statistics.day", replies.Mapped)
			became = replies.Mapped
			m.steps[day] = math.Max(m.steps[day], *steps) // of two watches, the one that was worn
		}
	}
	return became
}

// day returns the day with most of the 24 hours of a total. They begin at an instant,
// in UTC, that the requesting program chose.
func (m *reader) day(d replies.Document) (civil.Date, bool) {
	at, ok := d.Wall("TimeISO8601")
	if !ok {
		return civil.Date{}, false
	}
	noon := at.Add(12 * time.Hour)
	return replies.LocalDay(noon, sheet.OffsetAt(m.Zone, noon.UnixMicro())), true
}

// keepDays stores the steps of days, in order.
func (m *reader) keepDays() {
	for _, day := range slices.SortedFunc(maps.Keys(m.steps), civil.Date.Compare) {
		steps := m.steps[day]
		m.Activity(watch, day, replies.Activity{Steps: replies.Whole(&steps)})
	}
	clear(m.steps)
}
