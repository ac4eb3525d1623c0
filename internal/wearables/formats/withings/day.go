package withings

import (
	"cmp"
	"strconv"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/sports"
)

// day reads the totals of a day. Durations are in seconds.
//
// The unit of `elevation` is not certain: floors by the reference, but metres in public
// samples of walks.
func (r *reader) day(d replies.Document) replies.Verdict {
	day, ok := d.Day("date")
	if !ok {
		return replies.BadDate
	}
	body := replies.Activity{
		Total: d.Positive("totalcalories"), Active: d.Amount("calories"), Steps: d.Whole("steps"), Distance: d.Amount("distance"),
		Low: d.Minutes("soft"), Medium: d.Minutes("moderate"), High: d.Minutes("intense"),
		HeartRate: &replies.HeartRate{Average: d.Positive("hr_average"), Lowest: d.Positive("hr_min"), Highest: d.Positive("hr_max")},
	}
	if zone, err := civil.Zone(d.Text("timezone")); err == nil {
		body.TimeZone = zone.String()
		_, seconds := day.In(zone).Zone()
		offset := int32(seconds)
		body.Offset = &offset
	}
	kind := kindOf(d)
	switch {
	case kind != "":
	case d.Flag("is_tracker"):
		kind = watch
	default:
		kind = unknownDevice
	}
	became := r.Activity(source(kind), day, body)
	if became == replies.Mapped {
		r.climbed("activity", d)
	}
	return became
}

// climbed counts a climb, which has no resource.
func (r *reader) climbed(of string, d replies.Document) {
	if d.Positive("elevation") != nil {
		r.Part(of+".elevation", replies.Skipped)
	}
}

// longestMinute bounds an interval of a day in one value.
const longestMinute = 24 * 3600

// minute reads a stretch of a day, mostly a minute. A stretch without any count has only
// a duration.
func (r *reader) minute(d replies.Document) replies.Verdict {
	seconds, err := strconv.ParseInt(d.Under, 10, 64)
	start, ok := replies.InstantSince(seconds, time.Second)
	if err != nil || !ok {
		return replies.BadDate
	}
	length, timed := d.Integer("duration")
	if timed && (length < 0 || length > longestMinute) {
		return replies.BadDate
	}
	kind := kindOf(d)
	if kind == "" {
		kind = unknownDevice
	}
	before := r.Gather.N
	at := start.UnixMicro()
	offset := r.OffsetIn(d.Around("timezone").Text("timezone"), start)
	for _, one := range amounts {
		if v := d.Positive(one.field); v != nil && timed {
			r.Gather.Span(sheet.Key{Resource: one.resource, Source: source(kind)}, at, at+length*1e6, offset, *v)
		}
	}
	for _, one := range instantFields {
		if v := d.Positive(one.field); v != nil {
			r.Gather.At(sheet.Key{Resource: one.resource, Type: one.kind, Source: source(kind)}, at, offset, *v)
		}
	}
	if v := d.Positive("core_body_temperature"); v != nil {
		r.Gather.Span(sheet.Key{Resource: "body_temperature", Source: source(kind)}, at, at, offset, *v)
	}
	r.climbed("intraday activity", d)
	r.SkipFields("intraday activity", d, "stroke", "pool_lap")
	if r.Gather.N == before {
		return replies.Skipped
	}
	return replies.Mapped
}

var (
	amounts = []struct{ field, resource string }{
		{"steps", "steps"}, {"distance", "distance"}, {"calories", "calories_active"},
	}
	instantFields = []struct{ field, resource, kind string }{
		{"heart_rate", "heartrate", ""}, {"spo2_auto", "blood_oxygen", ""}, {"rmssd", "hrv", "rmssd"}, {"sdnn1", "hrv", "sdnn"},
	}
)

// noActivity is the category of a workout that the wearer rejected.
const noActivity = 128

// workout reads a workout. Zero means that a value was not measured. A typed value has
// precedence over a counted one.
func (r *reader) workout(d replies.Document) replies.Verdict {
	start, began := d.Unix("startdate")
	end, ended := d.Unix("enddate")
	if !began || !ended || end.Before(start) || end.Sub(start) > files.LongestWorkout {
		return replies.BadDate
	}
	category, ok := d.Integer("category")
	if !ok {
		return replies.BadValue
	}
	if category == noActivity {
		return replies.Skipped
	}
	kind := kindOf(d)
	if attrib, _ := d.Integer("attrib"); attrib == 2 {
		kind = app
	}
	if kind == "" {
		kind = unknownDevice
	}
	data := d.Inner("data")
	w := derive.Workout{
		ID: files.Text(d.Word("id")), Sport: sportOf(category), Source: source(kind),
		Start: start.UnixMicro(), End: end.UnixMicro(), Offset: r.OffsetIn(d.Around("timezone").Text("timezone"), start),
		Metres: cmp.Or(data.Positive("manual_distance"), data.Positive("distance")), Kcal: cmp.Or(data.Positive("manual_calories"), data.Positive("calories")),
		Steps: data.Positive("steps"), MeanBPM: data.Positive("hr_average"), MaxBPM: data.Positive("hr_max"),
	}
	if paused := data.Positive("pause_duration"); paused != nil {
		if moving := end.Sub(start).Seconds() - *paused; moving > 0 {
			w.Moving = &moving
		}
	}
	r.Workout(w)
	r.climbed("workout", data)
	r.SkipFields("workout", data, "spo2_average")
	return replies.Mapped
}

// sportNames maps categories to names in HealthKit's list, or to words if the list has no
// such sport.
//
// Withings' reference, Measure v2 - Getworkouts.
var sportNames = map[int64]string{
	1: "Walking", 2: "Running", 3: "Hiking", 4: "SkatingSports", 5: "Cycling", 6: "Cycling", 7: "Swimming",
	8: "SurfingSports", 9: "SurfingSports", 10: "SurfingSports", 11: "SurfingSports", 12: "Tennis", 13: "TableTennis",
	14: "Squash", 15: "Badminton", 16: "TraditionalStrengthTraining", 17: "FunctionalStrengthTraining", 18: "Elliptical",
	19: "Pilates", 20: "Basketball", 21: "Soccer", 22: "AmericanFootball", 23: "Rugby", 24: "Volleyball", 25: "WaterPolo",
	26: "EquestrianSports", 27: "Golf", 28: "Yoga", 29: "Dance", 30: "Boxing", 31: "Fencing", 32: "Wrestling",
	33: "MartialArts", 34: "DownhillSkiing", 35: "Snowboarding", 187: "Rowing", 188: "CardioDance", 191: "Baseball",
	192: "Handball", 193: "Hockey", 194: "Hockey", 195: "Climbing", 196: "SkatingSports", 272: "SwimBikeRun",
	306: "Walking", 307: "Running", 308: "Cycling",
}

// sportOf returns the sport of a category.
func sportOf(category int64) derive.Sport { return sports.NamedSport(sportNames[category]) }
