package fitbitweb

import (
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// total is a time series with one value per day, in a list under activities- and its
// name.
type total struct {
	name string
	set  func(a *replies.Activity, d replies.Document) // nil: no resource
}

// totals lists the daily series. Values of a tracker without manually logged activities
// repeat the same day; the others without a resource have no counterpart.
var totals = []total{
	{"steps", func(a *replies.Activity, d replies.Document) { a.Steps = replies.RoundNumber(amount(d)) }},
	{"distance", func(a *replies.Activity, d replies.Document) {
		a.Distance = replies.Times(amount(d), metresPerKilometre)
	}},
	{"calories", func(a *replies.Activity, d replies.Document) { a.Total = amount(d) }},
	{"activityCalories", func(a *replies.Activity, d replies.Document) { a.Active = amount(d) }},
	{"floors", func(a *replies.Activity, d replies.Document) { a.Floors = replies.RoundNumber(amount(d)) }},
	{"minutesLightlyActive", func(a *replies.Activity, d replies.Document) { a.Low = amount(d) }},
	{"minutesFairlyActive", func(a *replies.Activity, d replies.Document) { a.Medium = amount(d) }},
	{"minutesVeryActive", func(a *replies.Activity, d replies.Document) { a.High = amount(d) }},
	{"heart", takeRestingHeartRate},
	{"minutesSedentary", nil},
	{"caloriesBMR", nil},
	{"elevation", nil},
	{"swimming-strokes", nil},
	{"active-zone-minutes", nil},
	{"tracker-steps", nil},
	{"tracker-distance", nil},
	{"tracker-calories", nil},
	{"tracker-activityCalories", nil},
	{"tracker-floors", nil},
	{"tracker-elevation", nil},
	{"tracker-minutesSedentary", nil},
	{"tracker-minutesLightlyActive", nil},
	{"tracker-minutesFairlyActive", nil},
	{"tracker-minutesVeryActive", nil},
}

func totalNames() []string {
	names := make([]string, len(totals))
	for i, t := range totals {
		names[i] = "activities-" + t.name
	}
	return names
}

const (
	metresPerKilometre = 1000
	metresPerMile      = 1609.344
)

// amount returns the value of a day, which Fitbit writes as a number in a text. It
// returns nil if the value is missing or impossible.
func amount(d replies.Document) *float64 {
	v, ok := d.Loose("value")
	if !ok || v < 0 || v > 1e9 {
		return nil
	}
	return &v
}

// takeRestingHeartRate reads the resting heart rate. A day has no field for the minutes in four zones
// and for the mean of some hours.
func takeRestingHeartRate(a *replies.Activity, d replies.Document) {
	a.HeartRate = &replies.HeartRate{Resting: d.Inner("value").Positive("restingHeartRate")}
}

// total reads one value of a daily series.
func (r *reader) total(d replies.Document, set func(*replies.Activity, replies.Document)) replies.Verdict {
	day, ok := d.Day("dateTime")
	if !ok {
		return replies.BadDate
	}
	var body replies.Activity
	set(&body, d)
	if body.HeartRate != nil && body.HeartRate.Resting == nil {
		return replies.Skipped
	}
	return r.Activity(watch, day, body)
}

// summary reads the summary of a day's activities.
func (r *reader) summary(d replies.Document) replies.Verdict {
	day, ok := dayOf(d.Outer())
	if !ok {
		return replies.BadDate
	}
	body := replies.Activity{
		Total: d.Amount("caloriesOut"), Active: d.Amount("activityCalories"), Steps: d.Whole("steps"), Floors: d.Whole("floors"),
		Low: d.Amount("lightlyActiveMinutes"), Medium: d.Amount("fairlyActiveMinutes"), High: d.Amount("veryActiveMinutes"),
		HeartRate: &replies.HeartRate{Resting: d.Positive("restingHeartRate")},
	}
	for _, one := range d.Documents("distances") {
		if one.Text("activity") == "total" {
			body.Distance = replies.Times(one.Amount("distance"), metresPerKilometre)
		}
	}
	return r.Activity(watch, day, body)
}

// dayOf returns the date of a reply that does not state it. If the file has the
// request, it is the requested date. Otherwise it is the date of the
// activities, which must all be of one day.
func dayOf(reply replies.Document) (day civil.Date, ok bool) {
	_, asked, _ := strings.Cut(reply.Around("path").Text("path"), "/activities/date/")
	if day, err := civil.ParseDate(strings.TrimSuffix(asked, ".json")); err == nil {
		return day, replies.IsBelievableYear(day.Year)
	}
	for _, one := range reply.Documents("activities") {
		of, known := one.Day("startDate")
		if !known || ok && of != day {
			return day, false
		}
		day, ok = of, true
	}
	return day, ok
}

// weight reads a weight, in kilograms, and the values beside it.
func (r *reader) weight(d replies.Document) replies.Verdict {
	return r.weighed(d, [][2]string{{"weight", "body_weight"}, {"bmi", "body_mass_index"}, {"fat", "body_fat"}})
}

// fat reads a share of fat, in percent, without a weight.
func (r *reader) fat(d replies.Document) replies.Verdict {
	return r.weighed(d, [][2]string{{"fat", "body_fat"}})
}

func (r *reader) weighed(d replies.Document, fields [][2]string) replies.Verdict {
	if _, archived := dayOfArchive(d.Text("date")); archived {
		return replies.BadUnit // in the unit of the account, which is unknown
	}
	wall, ok := wallOf(d, "date", "time")
	if !ok {
		return replies.BadDate
	}
	if d.Positive(fields[0][0]) == nil {
		return replies.BadValue
	}
	at, offset := r.instant(wall)
	source := scaleOf(d.Text("source"))
	for _, f := range fields {
		if v := d.Positive(f[0]); v != nil {
			r.Gather.At(sheet.Key{Resource: f[1], Source: source}, at, offset, *v)
		}
	}
	return replies.Mapped
}

// scaleOf returns the source of a weight: a Fitbit scale, the app with typed values, or
// a client of the API. An old reply does not name it.
func scaleOf(name string) wearables.Source {
	switch {
	case strings.HasPrefix(name, "Aria"):
		return scale
	case name == "":
		return otherSource
	}
	return app
}

// core reads a temperature of the body that was typed in, in °C.
func (r *reader) core(d replies.Document) replies.Verdict {
	wall, ok := d.Wall("dateTime")
	if !ok {
		return replies.BadDate
	}
	v := d.Positive("value")
	if v == nil {
		return replies.BadValue
	}
	at, offset := r.instant(wall)
	r.Gather.At(sheet.Key{Resource: "body_temperature", Source: app}, at, offset, *v)
	return replies.Mapped
}

// cardioScore reads the VO₂max of a day. Without recorded runs Fitbit states a range,
// in which the value is unknown.
func (r *reader) cardioScore(d replies.Document) replies.Verdict {
	day, ok := d.Day("dateTime")
	if !ok {
		return replies.BadDate
	}
	v, ok := d.Inner("value").Loose("vo2Max")
	if !ok || v <= 0 {
		return replies.BadValue
	}
	from, to, offset := r.day(day)
	r.Gather.Span(sheet.Key{Resource: "vo2_max", Source: watch}, from, to, offset, v)
	return replies.Mapped
}

// day returns the start and the end of a local day, from midnight to midnight. The offset
// is that of the start.
func (r *reader) day(date civil.Date) (from, to int64, offset int32) {
	from, offset = r.instant(date.In(time.UTC))
	to, _ = r.instant(date.AddDays(1).In(time.UTC))
	return from, to, offset
}

// user reads the birth date of a profile. It does not read height and weight, because
// they may be in either system of units, and neither name nor picture.
func (r *reader) user(d replies.Document) replies.Verdict {
	birth, ok := d.Birth("dateOfBirth")
	if !ok {
		return replies.BadValue
	}
	r.Sink.Person(&derive.Person{Birth: birth})
	return replies.Mapped
}

// device reads one of the wearer's trackers or scales.
func (r *reader) device(d replies.Document) replies.Verdict {
	one := files.Device{
		Provider: Provider, SourceType: watch.Type, Manufacturer: "Fitbit", Model: files.Text(d.Text("deviceVersion")), ExternalID: files.Text(d.Word("id")),
	}
	if d.Text("type") == "SCALE" {
		one.SourceType = scale.Type
	}
	if !r.Own(one) {
		return replies.BadValue
	}
	return replies.Mapped
}
