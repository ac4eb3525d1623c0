// Package oura reads JSON documents of an Oura ring in the shapes of API v2. A file
// holds one document, a list, or a page {"data": […], "next_token": …}. Or it is one
// object that holds several of those by the names of resources.
//
// No field of a document names its kind, and file names are not used, so the fields
// that only one resource has identify it. So one file may hold several
// resources.
//
// Oura's values are stored unchanged. In particular the durations of a night are not
// recomputed from its hypnogram: real nights differ by minutes.
//
// Oura's day starts at 4 o'clock. Its `day` is the date of an activity and of a night;
// heart rate, which the day's activity uses, is by calendar day.
//
// Package replies contains the code that all providers' documents share.
//
// Facts come from Oura's OpenAPI document and public samples.
package oura

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/sports"
)

// Provider is the catalogue's name for Oura.
const Provider = "oura"

var maker = replies.Maker{Kind: "oura", Title: "Oura JSON", Provider: Provider, Lists: listNames, Open: open}

// Kind is a file of Oura's documents.
var Kind = maker.Files()

// Sources: the ring measured a value, or its wearer entered the value in the
// app.
var (
	ring = wearables.Source{Provider: Provider, Type: "ring"}
	app  = wearables.Source{Provider: Provider, Type: "app"}
)

// reader reads Oura's documents of one file.
type reader struct{ *replies.Reader }

// listNames are the names of long lists of documents.
var listNames = []string{
	"data", "sleep", "daily_activity", "daily_readiness", "daily_sleep", "daily_resilience", "daily_spo2", "daily_stress",
	"daily_cardiovascular_age", "heartrate", "workout", "session", "sleep_time", "enhanced_tag", "tag", "ring_configuration",
}

// open lists the resources in the order in which a document is compared with them.
//
// Some have no resource. A night's mean saturation has a day and no time. Minutes of
// stress are not on the scale of stress_level, and Oura's other scores have no
// counterpart. Tags are words; advice on going to bed is no measurement. A sleep that
// its wearer marked as no sleep is skipped. A deleted one deletes the stored one.
func open(r *replies.Reader) replies.Reading {
	m := &reader{r}
	return replies.Reading{Resources: []replies.Resource{
		{Name: "sleep deleted", Keys: []string{"bedtime_start", "bedtime_end"}, Is: hasType("deleted"), Take: m.deleted},
		{Name: "sleep rest", Keys: []string{"bedtime_start", "bedtime_end"}, Is: hasType("rest")},
		{Name: "sleep", Keys: []string{"bedtime_start", "bedtime_end"}, Is: hasOuraDates, Take: m.sleep},
		{Name: "daily_activity", Keys: []string{"day", "equivalent_walking_distance"}, Take: m.activity},
		{Name: "daily_readiness", Keys: []string{"day", "contributors", "temperature_deviation"}, Take: m.readiness},
		{Name: "daily_sleep", Keys: []string{"day", "contributors", "score"}, Is: rates("total_sleep"), Take: m.score},
		{Name: "daily_resilience", Keys: []string{"day", "contributors", "level"}},
		{Name: "daily_spo2", Keys: []string{"day", "spo2_percentage"}},
		{Name: "daily_stress", Keys: []string{"day", "stress_high", "recovery_high"}},
		{Name: "daily_cardiovascular_age", Keys: []string{"day", "vascular_age"}},
		{Name: "heartrate", Keys: []string{"bpm", "source", "timestamp"}, Take: m.heartrate},
		{Name: "workout", Keys: []string{"day", "start_datetime", "end_datetime", "activity"}, Take: m.workout},
		{Name: "session", Keys: []string{"day", "start_datetime", "end_datetime", "type"}, Take: m.session},
		{Name: "sleep_time", Keys: []string{"day", "optimal_bedtime", "recommendation"}},
		{Name: "enhanced_tag", Keys: []string{"tag_type_code", "start_time", "start_day"}},
		{Name: "tag", Keys: []string{"day", "tags", "timestamp"}},
		{Name: "personal_info", Keys: []string{"age", "height", "biological_sex"}, Take: m.personalInfo},
		{Name: "ring_configuration", Keys: []string{"hardware_type", "firmware_version", "design"}, Take: m.ring},
	}}
}

func hasType(word string) func(replies.Document) bool {
	return func(d replies.Document) bool { return d.Text("type") == word }
}

// hasOuraDates reports whether a night has Oura's form of dates: others' have numbers.
func hasOuraDates(d replies.Document) bool {
	_, began := d.Number("bedtime_start")
	return !began
}

func rates(contributor string) func(replies.Document) bool {
	return func(d replies.Document) bool { return d.Inner("contributors").Has(contributor) }
}

// personalInfo reads facts about the owner of the account. An age is no birth date, and a
// weight without a day is no measurement. The address is not read.
func (r *reader) personalInfo(d replies.Document) replies.Verdict {
	p := &derive.Person{}
	if sex := d.Text("biological_sex"); sex == "female" || sex == "male" {
		p.Sex = sex
	}
	if metres, ok := d.Number("height"); ok && metres > 0.3 && metres < 3 {
		height := 100 * metres
		p.Height = &height
	}
	if p.Sex == "" && p.Height == nil {
		return replies.BadValue
	}
	r.Sink.Person(p)
	return replies.Mapped
}

// ring reads a ring_configuration: one of the wearer's devices.
func (r *reader) ring(d replies.Document) replies.Verdict {
	if !r.Own(files.Device{
		Provider: Provider, SourceType: ring.Type, Manufacturer: "Oura", Model: files.Text(d.Text("hardware_type")),
		ExternalID: files.Text(d.Text("id")), Version: files.Text(d.Text("firmware_version")),
	}) {
		return replies.BadValue
	}
	return replies.Mapped
}

// activity reads a daily_activity. Its distance is that of a walk which takes
// the same effort: Oura counts no other.
func (r *reader) activity(d replies.Document) replies.Verdict {
	day, ok := d.Day("day")
	if !ok {
		return replies.BadDate
	}
	body := replies.Activity{
		Total: d.Amount("total_calories"), Active: d.Amount("active_calories"), Steps: d.Whole("steps"),
		Distance: d.Amount("equivalent_walking_distance"),
		Low:      d.Minutes("low_activity_time"), Medium: d.Minutes("medium_activity_time"), High: d.Minutes("high_activity_time"),
	}
	if _, offset, ok := d.Moment("timestamp"); ok {
		body.Offset = &offset
	}
	became := r.Activity(ring, day, body)
	if became == replies.Mapped {
		r.SkipFields("daily_activity", d, "met", "class_5_min")
	}
	return became
}

// score reads a daily_sleep.
func (r *reader) score(d replies.Document) replies.Verdict {
	day, ok := d.Day("day")
	value := d.Whole("score")
	switch {
	case !ok:
		return replies.BadDate
	case value == nil:
		return replies.BadValue
	}
	return r.Nightly(replies.NightlyValues{Name: "daily_sleep", Day: day, Source: ring, Sleep: replies.Sleep{Score: value}})
}

// readiness reads a daily_readiness.
func (r *reader) readiness(d replies.Document) replies.Verdict {
	day, ok := d.Day("day")
	said := replies.Sleep{Readiness: d.Whole("score"), Temperature: d.Deviation("temperature_deviation")}
	switch {
	case !ok:
		return replies.BadDate
	case said == replies.Sleep{}:
		return replies.BadValue
	}
	return r.Nightly(replies.NightlyValues{Name: "daily_readiness", Day: day, Source: ring, Sleep: said})
}

var (
	heartrates     = sheet.Key{Resource: "heartrate", Source: ring}
	variability    = sheet.Key{Resource: "hrv", Type: "rmssd", Source: ring}
	mindfulMinutes = sheet.Key{Resource: "mindfulness_minutes", Source: app}
)

// heartrate reads one value of the series of the day.
//
// Oura writes these in UTC, wherever the wearer was. So an offset of 0 means unknown, and
// the user's fallback zone applies.
func (r *reader) heartrate(d replies.Document) replies.Verdict {
	at, offset, ok := d.Moment("timestamp")
	if !ok {
		return replies.BadDate
	}
	bpm, ok := d.Number("bpm")
	if !ok || bpm <= 0 {
		return replies.BadValue
	}
	if offset == 0 {
		offset = sheet.OffsetAt(r.Zone, at.UnixMicro())
	}
	r.Gather.At(heartrates, at.UnixMicro(), offset, bpm)
	return replies.Mapped
}

// track is a field {interval, items, timestamp}: values at regular intervals of some
// seconds. null means that there is no value.
type track struct {
	start    time.Time
	offset   int32
	interval time.Duration
	items    []json.RawMessage
}

func trackOf(d replies.Document, name string) (t track, ok bool) {
	in := d.Inner(name)
	seconds, timed := in.Number("interval")
	if !in.Into("items", &t.items) || !timed || seconds <= 0 || seconds > 86400 {
		return t, false
	}
	t.interval = time.Duration(seconds * float64(time.Second))
	t.start, t.offset, ok = in.Moment("timestamp")
	return t, ok
}

// tracked reads values that were measured at regular intervals. It reports whether there
// were any.
func (r *reader) tracked(d replies.Document, name string, key sheet.Key) bool {
	t, ok := trackOf(d, name)
	if !ok {
		return false
	}
	before := r.Gather.N
	for i, raw := range t.items {
		at := t.start.Add(time.Duration(i) * t.interval)
		if at.Sub(t.start) > maxSession {
			break
		}
		if v, ok := replies.NumberOf(raw); ok && v > 0 {
			r.Gather.At(key, at.UnixMicro(), t.offset, v)
		}
	}
	return r.Gather.N > before
}

// exercises are the sessions of deliberate mindfulness. Naps and rests are not among
// them; their sleep is in the sleep documents.
var exercises = []string{"meditation", "breathing"}

const maxSession = 24 * time.Hour

// session reads a guided session of the app, and the values that the ring measured in it.
func (r *reader) session(d replies.Document) replies.Verdict {
	start, offset, began := d.Moment("start_datetime")
	end, _, ended := d.Moment("end_datetime")
	if !began || !ended || end.Before(start) || end.Sub(start) > maxSession {
		return replies.BadDate
	}
	beats, varied := r.tracked(d, "heart_rate", heartrates), r.tracked(d, "heart_rate_variability", variability)
	r.SkipFields("session", d, "motion_count")
	if slices.Contains(exercises, d.Text("type")) {
		r.Gather.Span(mindfulMinutes, start.UnixMicro(), end.UnixMicro(), offset, end.Sub(start).Minutes())
		return replies.Mapped
	}
	if beats || varied {
		return replies.Mapped
	}
	return replies.Skipped
}

// sleep reads one sleep with its stages, and the values that the ring measured during it.
func (r *reader) sleep(d replies.Document) replies.Verdict {
	start, _, began := d.Moment("bedtime_start")
	end, offset, ended := d.Moment("bedtime_end")
	if !began || !ended {
		return replies.BadDate
	}
	night := replies.Night{
		ID: d.Text("id"), Source: ring, Start: start, End: end, Offset: offset, Stages: stages(d, end.Sub(start)),
		Sleep: replies.Sleep{
			Total: d.Whole("total_sleep_duration"), Awake: d.Whole("awake_time"), Light: d.Whole("light_sleep_duration"),
			REM: d.Whole("rem_sleep_duration"), Deep: d.Whole("deep_sleep_duration"), Latency: d.Whole("latency"),
			Readiness: d.Inner("readiness").Whole("score"), Temperature: d.Inner("readiness").Deviation("temperature_deviation"),
			HRLowest: d.Whole("lowest_heart_rate"), HRAverage: d.Whole("average_heart_rate"),
			Efficiency: d.Amount("efficiency"), AverageHRV: d.Amount("average_hrv"), Respiratory: d.Amount("average_breath"),
		},
	}
	if day, ok := d.Day("day"); ok {
		night.Date = day
	}
	switch d.Text("type") {
	case "late_nap":
		night.Sleep.Type = "acknowledged_nap"
	case "long_sleep":
		night.Sleep.Type = "long_sleep"
	}
	became := r.Night(night)
	if became == replies.Mapped {
		r.tracked(d, "heart_rate", heartrates)
		r.tracked(d, "hrv", variability)
		r.SkipFields("sleep", d, "movement_30_sec")
	}
	return became
}

// deleted reads a sleep that the wearer deleted.
func (r *reader) deleted(d replies.Document) replies.Verdict {
	start, _, _ := d.Moment("bedtime_start")
	end, _, _ := d.Moment("bedtime_end")
	return r.Deleted(replies.Night{ID: d.Text("id"), Source: ring, Start: start, End: end})
}

// stages reads the hypnogram, or the finer one if there are two. It has a digit
// for each 30 seconds or 5 minutes from bedtime. The digits 1 to 4 are our
// codes of stages. The last stage ends with the night.
func stages(d replies.Document, length time.Duration) (s replies.Stages) {
	digits, step := d.Text("sleep_phase_30_sec"), int64(30)
	if digits == "" {
		digits, step = d.Text("sleep_phase_5_min"), 300
	}
	end := int64(length / time.Second)
	for i := range len(digits) {
		stage := derive.Asleep // and the kind is unknown
		if n := strings.IndexByte("1234", digits[i]); n >= 0 {
			stage = []int8{derive.Deep, derive.Light, derive.REM, derive.Awake}[n]
		}
		from := int64(i) * step
		s.Add(from, min(from+step, end), stage)
	}
	return s
}

// workout reads a workout. Its heart rate comes from the series of the day.
func (r *reader) workout(d replies.Document) replies.Verdict {
	start, offset, began := d.Moment("start_datetime")
	end, _, ended := d.Moment("end_datetime")
	if !began || !ended || end.Before(start) || end.Sub(start) > files.LongestWorkout {
		return replies.BadDate
	}
	w := derive.Workout{
		ID: files.Text(d.Text("id")), Title: files.Text(d.Text("label")), Sport: sports.OfWord(d.Text("activity")), Source: ring,
		Start: start.UnixMicro(), End: end.UnixMicro(), Offset: offset,
		Metres: d.Amount("distance"), Kcal: d.Amount("calories"),
	}
	if d.Text("source") == "manual" { // typed in
		w.Source = app
	}
	r.Workout(w)
	return replies.Mapped
}
