package ultrahuman

import (
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
)

// Provider is the catalogue's name for Ultrahuman.
const Provider = "ultrahuman"

var maker = replies.Maker{Kind: "ultrahuman", Title: "Ultrahuman JSON", Provider: Provider, Open: open}

// Kind is a file of Ultrahuman's replies.
var Kind = maker.Files()

// These are the sources: the ring, and the glucose sensor.
var (
	ring   = wearables.Source{Provider: Provider, Type: "ring"}
	sensor = wearables.Source{Provider: Provider, Type: "automatic"}
)

// reader is the state of one reading.
type reader struct {
	*replies.Reader
}

func open(r *replies.Reader) replies.Reading {
	m := &reader{r}
	var all []replies.Resource
	values := false // whether a metric consists mostly of a list of values
	metric := func(name string, take func(item, body replies.Document) replies.Verdict) {
		quoted := `"` + name + `"`
		is := func(d replies.Document) bool { return string(d.Raw("type")) == quoted }
		one := func(within string, body func(replies.Document) replies.Document) {
			res := replies.Resource{Name: name, Keys: []string{"type", within}, Is: is, Values: values}
			if take != nil {
				res.Take = func(d replies.Document) replies.Verdict { return take(d, body(d)) }
			}
			all = append(all, res)
		}
		one("object", func(d replies.Document) replies.Document { return d.Inner("object") })
		one("values", func(d replies.Document) replies.Document { return d })
	}
	values = true
	for _, s := range series {
		metric(s.name, func(item, body replies.Document) replies.Verdict { return m.series(item, body, s) })
	}
	values = false
	metric("steps", m.steps)
	metric("Sleep", m.sleep)
	metric("sleep", m.sleep)
	metric("recovery_index", m.recovery)
	metric("avg_sleep_hrv", m.variability)
	metric("night_rhr", m.resting)
	metric("sleep_rhr", m.resting)
	metric("vo2_max", m.vo2Max)
	for _, name := range homeless {
		metric(name, nil)
	}
	all = append(all, replies.Resource{ // a night without the fields around it
		Name: "sleep", Keys: []string{"bedtime_start", "bedtime_end", "sleep_stages"},
		Take: func(d replies.Document) replies.Verdict { return m.sleep(d, d) },
	})
	return replies.Reading{Resources: all}
}

// homeless lists metrics without a resource: skin temperature is not that of the body,
// and most others are scores of the provider's own. A night's own values are read with
// the night.
var homeless = []string{
	"temp", "motion", "recovery", "metabolic_score", "glucose_variability", "average_glucose", "hba1c", "time_in_target",
	"movement_index", "active_minutes", "weekly_active_minutes", "inactive_time", "sleep_score", "total_sleep", "sleep_efficiency",
	"time_in_bed", "rem_sleep", "deep_sleep", "light_sleep", "temperature_deviation", "hr_drop", "restorative_sleep", "movements",
	"morning_alertness", "full_sleep_cycles", "tosses_and_turns", "average_body_temperature",
}

// offset returns the offset at an instant in the zone of the reply, or otherwise in the
// user's fallback zone.
func (r *reader) offset(d replies.Document, at time.Time) int32 {
	return r.OffsetIn(d.Around("latest_time_zone").Text("latest_time_zone"), at)
}

// dayOf returns the day that a metric is about. It is the date under which the
// reply lists the metric, or the date that the metric states. Otherwise it is
// the day whose midnight the metric states. dayOf then takes the date of noon.
// At noon the date in UTC is the local date in almost every zone, so the zone
// need not be known.
func (r *reader) dayOf(item, body replies.Document) (civil.Date, bool) {
	if date, err := civil.ParseDate(item.Under); err == nil {
		return date, replies.IsBelievableYear(date.Year)
	}
	for _, name := range []string{"date", "ultrahuman_date"} {
		if date, ok := body.Day(name); ok {
			return date, true
		}
	}
	start, ok := body.Unix("day_start_timestamp")
	if !ok {
		return civil.Date{}, false
	}
	noon := start.Add(12 * time.Hour)
	return replies.LocalDay(noon, r.offset(item, noon)), true
}
