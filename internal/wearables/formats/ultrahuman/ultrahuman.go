// Package ultrahuman reads the JSON that Ultrahuman's interface replies, for
// partners and for a wearer's own token. A reply has the metrics of one day,
// {"data": {"metric_data": [{"type": …, "object": …}]}}, or of several days,
// {"data": {"metrics": {"2024-01-15": […]}}}.
//
// The maker describes the metrics only in words. Their JSON is known from
// several independent readers that agree. Where these disagree about the meaning
// of a value, the value is counted and left out. Steps within a day may be
// running totals or not, so only the day's total is read.
//
// Instants are exact, in seconds since 1970. The zone is the one that the reply
// names, or otherwise the user's fallback zone.
package ultrahuman

import (
	"cmp"
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
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
	for _, name := range unusedMetrics {
		metric(name, nil)
	}
	all = append(all, replies.Resource{ // a night without the fields around it
		Name: "sleep", Keys: []string{"bedtime_start", "bedtime_end", "sleep_stages"},
		Take: func(d replies.Document) replies.Verdict { return m.sleep(d, d) },
	})
	return replies.Reading{Resources: all}
}

// unusedMetrics lists metrics without a resource: skin temperature is not that of the body,
// and most others are scores of the provider's own. A night's own values are read with
// the night.
var unusedMetrics = []string{
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
// the day whose midnight the metric states. dayOf then uses the date of noon.
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

// steps reads the day's total.
func (r *reader) steps(item, body replies.Document) replies.Verdict {
	total := body.Whole("total")
	if total == nil {
		return replies.Skipped
	}
	day, ok := r.dayOf(item, body)
	if !ok {
		return replies.BadDate
	}
	if len(body.List("values")) > 0 {
		r.Part("steps.values", replies.Skipped)
	}
	return r.Activity(ring, day, replies.Activity{Steps: total})
}

// recovery, variability and resting read values about the night of a day.
func (r *reader) recovery(item, body replies.Document) replies.Verdict {
	return r.nightly(item, body, "recovery_index", replies.Sleep{Readiness: replies.RoundNumber(body.Positive("value"))})
}

func (r *reader) variability(item, body replies.Document) replies.Verdict {
	return r.nightly(item, body, "avg_sleep_hrv", replies.Sleep{AverageHRV: body.Positive("value")})
}

// resting reads the resting heart rate of the night, which two metrics have.
func (r *reader) resting(item, body replies.Document) replies.Verdict {
	if item.Text("type") == "night_rhr" {
		return r.nightly(item, body, "night_rhr", replies.Sleep{HRResting: replies.RoundNumber(body.Positive("avg"))})
	}
	return r.nightly(item, body, "sleep_rhr", replies.Sleep{HRResting: replies.RoundNumber(body.Positive("value"))})
}

func (r *reader) nightly(item, body replies.Document, name string, said replies.Sleep) replies.Verdict {
	day, ok := r.dayOf(item, body)
	switch {
	case said == replies.Sleep{}:
		return replies.BadValue
	case !ok:
		return replies.BadDate
	}
	return r.Nightly(replies.NightlyValues{Day: day, Source: ring, Sleep: said, Name: name})
}

// vo2Max reads the value of a day, from its start to its end.
func (r *reader) vo2Max(item, body replies.Document) replies.Verdict {
	v := body.Positive("value")
	if v == nil {
		return replies.BadValue
	}
	from, ok := body.Unix("day_start_timestamp")
	if !ok {
		return replies.BadDate
	}
	key := sheet.Key{Resource: "vo2_max", Source: ring}
	r.Gather.Span(key, from.UnixMicro(), from.Add(24*time.Hour).UnixMicro(), r.offset(item, from), *v)
	return replies.Mapped
}

// measuredMetric is a metric with values through the day.
type measuredMetric struct {
	name, resource, sampleType string
	source                     wearables.Source
	times                      float64
}

// series lists these metrics: bpm, ms, %, mg/dL. The kind of the variability is
// unknown.
var series = []measuredMetric{
	{"hr", "heartrate", "", ring, 1},
	{"hrv", "hrv", "", ring, 1},
	{"spo2", "blood_oxygen", "", ring, 1},
	{"glucose", "glucose", "automatic", sensor, 1 / sheet.MilligramsPerMillimole},
}

func (r *reader) series(item, body replies.Document, s measuredMetric) replies.Verdict {
	key := sheet.Key{Resource: s.resource, Type: s.sampleType, Source: s.source}
	kept := false
	for _, one := range body.Documents("values") {
		at, ok := one.Unix("timestamp")
		v := one.Positive("value")
		if !ok || v == nil {
			continue
		}
		r.Gather.At(key, at.UnixMicro(), r.offset(item, at), *v*s.times)
		kept = true
	}
	return replies.VerdictOf(kept)
}

// sleep reads a night. Older replies have its values in lists, newer ones also in objects
// beside the lists.
func (r *reader) sleep(item, body replies.Document) replies.Verdict {
	start, began := body.Unix("bedtime_start")
	end, ended := body.Unix("bedtime_end")
	if !began || !ended {
		return replies.BadDate
	}
	n := replies.Night{Source: ring, Start: start, End: end, Offset: r.offset(item, end)}
	if day, ok := r.dayOf(item, body); ok {
		n.Date = day
	}
	figures := map[string]*float64{}
	for _, one := range body.Documents("quick_metrics") {
		figures[one.Text("type")] = one.Positive("value")
	}
	parts := map[string]*int64{}
	for _, one := range body.Documents("sleep_stages") {
		parts[one.Text("type")] = one.Whole("stage_time")
	}
	n.Sleep = replies.Sleep{
		Deep: parts["deep_sleep"], Light: parts["light_sleep"], REM: parts["rem_sleep"], Awake: parts["awake"],
		Total:      cmp.Or(replies.RoundNumber(figures["total_sleep"]), replies.RoundNumber(replies.Times(body.Inner("total_sleep").Positive("minutes"), 60))),
		Efficiency: cmp.Or(figures["sleep_efic"], body.Inner("sleep_efficiency").Positive("percentage"), body.Positive("sleep_efficiency")),
		HRAverage:  replies.RoundNumber(figures["avg_hr"]), AverageHRV: figures["avg_hrv"],
		Score: replies.RoundNumber(body.Inner("sleep_score").Positive("score")),
		Skin:  body.Inner("average_body_temperature").Positive("celsius"), Temperature: body.Inner("temperature_deviation").Deviation("celsius"),
	}
	if n.Sleep.Total == nil && n.Sleep.Deep != nil && n.Sleep.Light != nil && n.Sleep.REM != nil {
		n.Sleep.Total = replies.Sum(n.Sleep.Deep, n.Sleep.Light, n.Sleep.REM) // reference 7.5
	}
	for _, one := range body.Inner("sleep_graph").Documents("data") {
		from, begins := one.Unix("start")
		to, ends := one.Unix("end")
		stage, known := stages[strings.TrimSuffix(one.Text("type"), "_sleep")]
		if begins && ends && known {
			n.Stages.Add(from.Unix()-start.Unix(), min(to.Unix(), end.Unix())-start.Unix(), stage)
		}
	}
	return r.Night(n)
}

var stages = map[string]int8{"awake": derive.Awake, "light": derive.Light, "deep": derive.Deep, "rem": derive.REM}
