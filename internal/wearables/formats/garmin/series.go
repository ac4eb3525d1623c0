package garmin

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// series has the key under which the values of a day are stored. Numbers below least
// are no values, but codes for a missing value.
type series struct {
	key   sheet.Key
	least float64
}

var (
	hearts  = series{sheet.Key{Resource: "heartrate", Source: watch}, 1}
	stress  = series{sheet.Key{Resource: "stress_level", Source: watch}, 0}
	breaths = series{sheet.Key{Resource: "respiratory_rate", Source: watch}, 1}
	oxygen  = series{sheet.Key{Resource: "blood_oxygen", Source: watch}, 1}
	variety = series{sheet.Key{Resource: "hrv", Type: "rmssd", Source: watch}, 1}
)

var (
	vo2Max     = sheet.Key{Resource: "vo2_max", Source: watch}
	deviations = sheet.Key{Resource: "body_temperature_delta", Source: watch}
)

// value reads one value, or counts it by the name of its part.
func (r *reader) value(of series, at moment, v float64, part string) bool {
	switch {
	case !replies.IsBelievableYear(at.at.Year()):
		r.Part(part, replies.BadDate)
	case v < of.least:
		r.Part(part, replies.BadValue)
	default:
		r.Gather.At(of.key, at.micros(), at.offset, v)
		return true
	}
	return false
}

// maxSpan bounds the distance of a value of a summary from its start, in seconds.
const maxSpan = 2 * 86400

// offsets reads values by their seconds from the start of a summary: {"15": 75, "30":
// 74}. It reports whether there were any.
func (r *reader) offsets(d replies.Document, name string, start moment, of series, part string) (some bool) {
	var all map[string]json.RawMessage
	if !d.Into(name, &all) {
		return false
	}
	type pair struct {
		after int64
		v     float64
	}
	pairs := make([]pair, 0, len(all))
	for key, raw := range all {
		v, stated := replies.NumberOf(raw)
		after, err := strconv.ParseInt(key, 10, 64)
		switch {
		case !stated: // null: there was none
		case err != nil || after < 0 || after > maxSpan:
			r.Part(part, replies.BadDate)
		default:
			pairs = append(pairs, pair{after, v})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.after, b.after) })
	for _, p := range pairs {
		at := moment{start.at.Add(time.Duration(p.after) * time.Second), start.offset}
		some = r.value(of, at, p.v, part) || some
	}
	return some
}

// pushedSeries reads a summary whose values are in one field.
func (r *reader) pushedSeries(name string, of series) func(replies.Document) replies.Verdict {
	return func(d replies.Document) replies.Verdict {
		start, ok := r.start(d)
		if !ok {
			return replies.BadDate
		}
		r.SkipFields(of.key.Resource, d, "timeOffsetBodyBatteryValues")
		return replies.VerdictOf(r.offsets(d, name, start, of, of.key.Resource+"."+name))
	}
}

// pushedHRV reads the five-minute values of a night, and its mean.
func (r *reader) pushedHRV(d replies.Document) replies.Verdict {
	start, ok := r.start(d)
	if !ok {
		return replies.BadDate
	}
	some := r.offsets(d, "hrvValues", start, variety, "hrv.hrvValues")
	if day, ok := d.Day("calendarDate"); ok {
		r.aboutNight(replies.NightlyValues{Day: day, Source: watch, Sleep: replies.Sleep{AverageHRV: d.Positive("lastNightAvg")}})
		some = some || d.Positive("lastNightAvg") != nil
	}
	return replies.VerdictOf(some)
}

// storeSkinTemperature stores the deviation of a sleep's skin temperature from the usual one.
func (r *reader) storeSkinTemperature(d replies.Document) replies.Verdict {
	start, ok := r.start(d)
	length := d.Amount("durationInSeconds")
	v := d.Deviation("avgDeviationCelsius")
	switch {
	case !ok || length == nil || *length > maxSpan:
		return replies.BadDate
	case v == nil:
		return replies.BadValue
	}
	r.Gather.Span(deviations, start.micros(), start.after(*length).UnixMicro(), start.offset, *v)
	return replies.Mapped
}

// snapshot reads two minutes in which the wearer sat still.
func (r *reader) snapshot(d replies.Document) replies.Verdict {
	start, ok := r.start(d)
	if !ok {
		return replies.BadDate
	}
	some := false
	for _, part := range d.Documents("summaries") {
		of, known := map[string]series{"heart_rate": hearts, "stress": stress, "spo2": oxygen, "respiration": breaths}[part.Text("summaryType")]
		switch mean, stated := part.Number("avgValue"); {
		case known:
			some = r.offsets(part, "epochSummaries", start, of, "health snapshot."+of.key.Resource) || some
		case part.Text("summaryType") == "rmssd_hrv" && stated: // of the whole
			some = r.value(variety, start, mean, "health snapshot.hrv") || some
		default:
			r.Part("health snapshot.other", replies.Skipped)
		}
	}
	return replies.VerdictOf(some)
}

// maximum reads a VO2max, which has a day and no time. Its time is the start of
// the day.
func (r *reader) maximum(d replies.Document, names ...string) replies.Verdict {
	day, ok := d.Day("calendarDate")
	if !ok {
		return replies.BadDate
	}
	for _, name := range names {
		if v := d.Positive(name); v != nil {
			at := r.midnight(day)
			r.Gather.At(vo2Max, at.micros(), at.offset, *v)
			return replies.Mapped
		}
	}
	return replies.BadValue
}

// metrics reads the pushed VO2max, that of running before that of cycling. An
// age of fitness is on a scale of Garmin's own.
func (r *reader) metrics(d replies.Document) replies.Verdict {
	r.SkipFields("user metrics", d, "fitnessAge")
	return r.maximum(d, "vo2Max", "vo2MaxCycling")
}

func (r *reader) maxMetrics(d replies.Document) replies.Verdict {
	return r.maximum(d, "vo2MaxPreciseValue", "vo2MaxValue")
}

// rows reads values of Connect's in rows of a time in milliseconds and a value.
func (r *reader) rows(d replies.Document, name string, offset int32, of series) (some bool) {
	for _, raw := range d.List(name) {
		var row []json.RawMessage
		if json.Unmarshal(raw, &row) != nil || len(row) < 2 {
			continue
		}
		v, stated := replies.NumberOf(row[1])
		if !stated {
			continue
		}
		at, ok := clock(row[0])
		if !ok {
			r.Part(of.key.Resource+"."+name, replies.BadDate)
			continue
		}
		some = r.value(of, moment{at, offset}, v, of.key.Resource+"."+name) || some
	}
	return some
}

// page reads a day of Connect's whose values are in rows.
func (r *reader) page(d replies.Document, name string, of series) replies.Verdict {
	start, ok := r.both(d, "startTimestampGMT", "startTimestampLocal")
	if !ok {
		return replies.BadDate
	}
	return replies.VerdictOf(r.rows(d, name, start.offset, of))
}

func (r *reader) heartPage(d replies.Document) replies.Verdict {
	became := r.page(d, "heartRateValues", hearts)
	day, ok := d.Day("calendarDate")
	if became == replies.BadDate || !ok {
		return replies.BadDate
	}
	said := replies.Activity{HeartRate: &replies.HeartRate{
		Lowest: d.Positive("minHeartRate"), Highest: d.Positive("maxHeartRate"), Resting: d.Positive("restingHeartRate"),
	}}
	if r.day(day, said) == replies.Mapped {
		return replies.Mapped
	}
	return became
}

func (r *reader) stressPage(d replies.Document) replies.Verdict {
	r.SkipFields("stress_level", d, "bodyBatteryValuesArray")
	return r.page(d, "stressValuesArray", stress)
}

func (r *reader) breathPage(d replies.Document) replies.Verdict {
	r.SkipFields("respiratory_rate", d, "respirationAveragesValuesArray")
	return r.page(d, "respirationValuesArray", breaths)
}

// oxygenPage reads the last measurement. It skips means of hours, because the
// sleep has their measurements.
func (r *reader) oxygenPage(d replies.Document) replies.Verdict {
	start, ok := r.both(d, "startTimestampGMT", "startTimestampLocal")
	if !ok {
		return replies.BadDate
	}
	r.SkipFields("blood_oxygen", d, "spO2HourlyAverages")
	before := r.Gather.N
	r.latest(d, start.offset)
	return replies.VerdictOf(r.Gather.N > before)
}

// objects reads values of Connect's that are objects with a time.
func (r *reader) objects(d replies.Document, name, at, value string, offset int32, of series) (some bool) {
	for _, one := range d.Documents(name) {
		v, stated := one.Number(value)
		if !stated {
			continue
		}
		when, ok := clock(one.Raw(at))
		if !ok {
			r.Part(of.key.Resource+"."+name, replies.BadDate)
			continue
		}
		some = r.value(of, moment{when, offset}, v, of.key.Resource+"."+name) || some
	}
	return some
}

func (r *reader) hrvPage(d replies.Document) replies.Verdict {
	start, ok := r.both(d, "startTimestampGMT", "startTimestampLocal")
	if !ok {
		return replies.BadDate
	}
	some := r.objects(d, "hrvReadings", "readingTimeGMT", "hrvValue", start.offset, variety)
	summary := d.Inner("hrvSummary")
	if day, ok := summary.Day("calendarDate"); ok && summary.Positive("lastNightAvg") != nil {
		r.aboutNight(replies.NightlyValues{Day: day, Source: watch, Sleep: replies.Sleep{AverageHRV: summary.Positive("lastNightAvg")}})
	}
	return replies.VerdictOf(some)
}
