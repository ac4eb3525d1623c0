package fitbitweb

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// Provider is the catalogue's name for Fitbit.
const Provider = "fitbit"

var maker = replies.Maker{
	WallClock: true,
	Kind:      "fitbit", Title: "Fitbit JSON", Provider: Provider,
	Lists: append(intradayNames(), "dataset"),
	Late:  append(totalNames(), "datasetInterval", "datasetType"),
	Open:  open,
}

// Kind is a file of replies of Fitbit's Web API, about one person.
var Kind = func() files.Kind {
	kind := maker.Files()
	kind.Run = run
	return kind
}()

// run looks for the wearer's zone before it reads. Most replies have local clock times,
// and the profile with the zone may come after them in the file.
//
// Reference 7.10: the profile's zone has precedence over the fallback zone.
func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	var zone *time.Location
	m := maker
	m.Open = func(r *replies.Reader) replies.Reading {
		r.Zone = cmp.Or(zone, r.Zone)
		return open(r)
	}
	return m.OfOne(func(d replies.Document) string {
		if !isUser(d) {
			return ""
		}
		if known, err := civil.Zone(d.Text("timezone")); err == nil {
			zone = known
		}
		return d.Text("encodedId")
	}).Run(ctx, in)
}

// isUser reports whether a document is a profile.
func isUser(d replies.Document) bool { return d.Has("encodedId") && d.Has("memberSince") }

// The sources are a tracker, a scale, and the app with typed values or values from other
// apps. Old replies do not name the source of a weight; its type is unknown.
var (
	watch       = wearables.Source{Provider: Provider, Type: "watch"}
	scale       = wearables.Source{Provider: Provider, Type: "scale"}
	app         = wearables.Source{Provider: Provider, Type: "app"}
	otherSource = wearables.Source{Provider: Provider, Type: "unknown"}
)

// reader is the state of one reading.
type reader struct {
	*replies.Reader
	clock sheet.Wall // of intraday values
	dates struct {   // of the series that is being read
		of   string
		raw  json.RawMessage
		days []civil.Date
		now  int    // which of them
		last string // the time before
	}
	listed map[string]bool // activities that the list of activities has, by id
	coarse []derive.Workout
}

func open(r *replies.Reader) replies.Reading {
	m := &reader{Reader: r, clock: sheet.Wall{Zone: r.Zone}}
	var all []replies.Resource
	for _, s := range intradayPages {
		name := "activities-" + s.name + "-intraday"
		one := replies.Resource{Name: name, Keys: []string{"time", "value"}, Is: func(d replies.Document) bool {
			return d.Under == "dataset" && d.Outer().Under == name
		}}
		if s.resource != "" {
			one.Take = func(d replies.Document) replies.Verdict { return m.point(d, s) }
		}
		all = append(all, one)
	}
	for _, t := range totals {
		one := replies.Resource{Name: "activities-" + t.name, Keys: []string{"dateTime", "value"}, Is: isUnder("activities-" + t.name)}
		if t.set != nil {
			one.Take = func(d replies.Document) replies.Verdict { return m.total(d, t.set) }
		}
		all = append(all, one)
	}
	all = append(all, []replies.Resource{
		{Name: "summary", Keys: []string{"caloriesOut", "sedentaryMinutes"}, Is: isUnder("summary"), Take: m.summary},
		{Name: "activity", Keys: []string{"logId", "activityId", "startDate", "startTime"}, Take: m.activityOfDay},
		{Name: "activity log", Keys: []string{"logId", "activityName", "startTime"}, Take: m.activityLog},
		{Name: "sleep", Keys: []string{"dateOfSleep", "startTime", "minutesAsleep"}, Take: m.sleep},
		{Name: "weight", Keys: []string{"logId", "date", "time", "weight"}, Take: m.weight},
		{Name: "fat", Keys: []string{"logId", "date", "time", "fat"}, Take: m.fat},
		{Name: "heart_rate", Keys: []string{"dateTime", "value"}, Is: states("bpm", "confidence"), Take: m.storeHeartRate},
		{Name: "resting_heart_rate", Keys: []string{"dateTime", "value"}, Is: states("date", "value", "error"), Take: m.storeRestingHeartRate},
		{Name: "hrv", Keys: []string{"dateTime", "value"}, Is: isUnder("hrv"), Take: m.hrv},
		{Name: "hrv intraday", Values: true, Keys: []string{"dateTime", "minutes"}, Is: isUnder("hrv"), Take: m.hrvIntraday},
		{Name: "br", Keys: []string{"dateTime", "value"}, Is: isUnder("br"), Take: m.breaths},
		{Name: "spo2", Keys: []string{"dateTime", "value"}, Is: states("avg", "min", "max")},
		{Name: "spo2 intraday", Values: true, Keys: []string{"dateTime", "minutes"}, Is: hasMinuteValues, Take: m.oxygen},
		{Name: "tempSkin", Keys: []string{"dateTime", "value"}, Is: isUnder("tempSkin"), Take: m.storeSkinTemperature},
		{Name: "tempCore", Keys: []string{"dateTime", "value"}, Is: isUnder("tempCore"), Take: m.core},
		{Name: "cardioScore", Keys: []string{"dateTime", "value"}, Is: isUnder("cardioScore"), Take: m.cardioScore},
		{Name: "active-zone-minutes intraday", Keys: []string{"dateTime", "minutes"}, Is: isUnder("activities-active-zone-minutes-intraday")},
		{Name: "user", Keys: []string{"encodedId", "memberSince"}, Take: m.user},
		{Name: "device", Keys: []string{"deviceVersion", "lastSyncTime", "id"}, Take: m.device},
		{Name: "goals", Keys: []string{"caloriesOut", "steps"}, Is: isUnder("goals")},
		{Name: "sleep summary", Keys: []string{"totalMinutesAsleep", "totalSleepRecords"}},
		{Name: "pagination", Keys: []string{"limit", "next", "offset", "previous"}, Is: isUnder("pagination")},
	}...)
	return replies.Reading{Resources: all, End: m.endActivities}
}

func isUnder(name string) func(replies.Document) bool {
	return func(d replies.Document) bool { return d.Under == name }
}

// states reports whether the value has some fields.
func states(names ...string) func(replies.Document) bool {
	return func(d replies.Document) bool {
		in := d.Inner("value")
		for _, name := range names {
			if !in.Has(name) {
				return false
			}
		}
		return true
	}
}

// hasMinuteValues reports whether the minutes are those of the saturation, which have a number
// each.
func hasMinuteValues(d replies.Document) bool {
	if strings.HasPrefix(d.Under, "activities-") {
		return false
	}
	for _, one := range d.Documents("minutes") {
		_, ok := one.Number("value")
		return ok && one.Has("minute")
	}
	return false
}

// Google's archive has Fitbit's data a second time, in other files. Their sleep
// is that of the interface. Of the rest, the reader reads only data that names
// its kind. Steps, distances, energy and heights do not: all are lists of
// {"dateTime": …, "value": …}, and only the names of their files differ.
//
// Intraday times there are in UTC: a file of a day begins at the UTC time of
// the wearer's midnight.

// archiveDay is the date format of the archive.
const archiveDay = "01/02/06"

// storeHeartRate stores one heart rate of the archive. Confidence 0 means that the tracker
// was not worn, so the value is rejected.
func (r *reader) storeHeartRate(d replies.Document) replies.Verdict {
	at, err := time.Parse(archiveDay+" 15:04:05", d.Text("dateTime"))
	if err != nil || !replies.IsBelievableYear(at.Year()) {
		return replies.BadDate
	}
	v := d.Inner("value")
	bpm := v.Positive("bpm")
	if bpm == nil || v.Positive("confidence") == nil {
		return replies.BadValue
	}
	r.Gather.At(sheet.Key{Resource: "heartrate", Source: watch}, at.UnixMicro(), r.OffsetIn("", at), *bpm)
	return replies.Mapped
}

// storeRestingHeartRate stores the resting heart rate of a day of the archive.
func (r *reader) storeRestingHeartRate(d replies.Document) replies.Verdict {
	v := d.Inner("value")
	bpm := v.Positive("value")
	if bpm == nil {
		return replies.BadValue
	}
	day, ok := dayOfArchive(v.Text("date"))
	if !ok {
		return replies.BadDate
	}
	return r.Activity(watch, day, replies.Activity{HeartRate: &replies.HeartRate{Resting: bpm}})
}

func dayOfArchive(text string) (civil.Date, bool) {
	at, err := time.Parse(archiveDay, text)
	if err != nil || !replies.IsBelievableYear(at.Year()) {
		return civil.Date{}, false
	}
	return civil.DateOf(at), true
}

// instant returns the instant of a local clock time.
func (r *reader) instant(wall time.Time) (at int64, offset int32) {
	one := sheet.Wall{Zone: r.Zone}
	return one.Instant(wall)
}

// wallOf combines the date of one field with the time of another, such as 11:55 or
// 11:55:30.
func wallOf(d replies.Document, day, clock string) (time.Time, bool) {
	date, ok := d.Day(day)
	if !ok {
		return time.Time{}, false
	}
	return clockOn(date, d.Text(clock))
}

func clockOn(date civil.Date, clock string) (time.Time, bool) {
	for _, layout := range []string{"15:04:05", "15:04"} {
		if at, err := time.Parse(layout, clock); err == nil {
			return date.In(time.UTC).Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second), true
		}
	}
	return time.Time{}, false
}
