package polar

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// Provider is the catalogue's name for Polar.
const Provider = "polar"

var maker = replies.Maker{
	WallClock: true,
	Kind:      "polar", Title: "Polar JSON", Provider: Provider,
	Lists: []string{"heart_rates", "nights", "recharges", "exercises", "activities"}, Open: open,
}

// Kind is a file of AccessLink's documents.
var Kind = maker.OfOne(personOf)

// These are the sources: worn devices, and typed values.
var (
	watch = wearables.Source{Provider: Provider, Type: "watch"}
	app   = wearables.Source{Provider: Provider, Type: "app"}
)

// reader reads Polar's documents of one file.
type reader struct {
	*replies.Reader
	owned  map[string]bool // devices, by their ids
	waits  int             // values that wait for their nights
	person derive.Person
}

// personOf returns the number of the user of a document. It is the end of the user's
// address. Without an address personOf returns "".
func personOf(d replies.Document) string {
	if address := hyphenated(d).Text("polar_user"); address != "" {
		return path.Base(strings.TrimRight(address, "/"))
	}
	return ""
}

// open returns the resources of one reading, in the order in which they are
// matched with a document.
//
// Some documents have no resource of ours. A cardio load and the alertness of
// each hour are on Polar's own scales. A list of nights holds no night.
func open(r *replies.Reader) replies.Reading {
	m := &reader{Reader: r}
	return replies.Reading{Resources: []replies.Resource{
		{Name: "sleep", Keys: []string{"date", "sleep_start_time", "sleep_end_time"}, Take: m.sleep},
		{Name: "continuous heart rate", Keys: []string{"date", "heart_rate_samples"}, Values: true, Take: m.heart},
		{Name: "nightly recharge", Keys: []string{"date", "ans_charge"}, Take: m.recharge},
		{Name: "exercise", Keys: []string{"start_time", "duration", "sport"}, Is: replies.HasOne("polar_user", "detailed_sport_info", "upload_time"), Take: m.exercise},
		{Name: "exercise", Keys: []string{"start-time", "duration", "sport"}, Take: m.exercise},
		{Name: "daily activity", Keys: []string{"start_time", "end_time", "active_duration"}, Take: m.activity},
		{Name: "daily activity", Keys: []string{"date", "calories", "active_calories"}, Take: m.activity},
		{Name: "daily activity", Keys: []string{"date", "calories", "active-calories"}, Take: m.activity},
		{Name: "activity samples", Values: true, Keys: []string{"steps"}, Is: func(d replies.Document) bool {
			steps := d.Inner("steps") // a file may end in them, before the zones
			return steps.Has("samples") && (steps.Has("interval_ms") || d.Has("activity_zones"))
		}, Take: m.steps},
		{Name: "cardio load", Keys: []string{"date", "cardio_load_status"}},
		{Name: "physical information", Keys: []string{"created", "maximum_heart_rate", "weight"}, Take: m.physical},
		{Name: "physical information", Keys: []string{"created", "maximum-heart-rate", "weight"}, Take: m.physical},
		{Name: "user", Keys: []string{"polar-user-id", "birthdate"}, Take: m.user},
		{Name: "body temperature", Values: true, Keys: []string{"source_device_id", "measurement_type", "samples"}, Take: m.temperature},
		{Name: "skin temperature", Keys: []string{"sleep_date", "sleep_time_skin_temperature_celsius"}, Take: m.storeSkinTemperature},
		{Name: "oxygen test", Keys: []string{"test_time", "blood_oxygen_percent"}, Take: m.oxygen},
		{Name: "alertness", Keys: []string{"sleep_inertia", "grade"}},
	}}
}

// hyphenDocument reads a document whose names may have hyphens in place of underscores.
type hyphenDocument struct{ replies.Document }

func hyphenated(d replies.Document) hyphenDocument { return hyphenDocument{d} }

func (e hyphenDocument) name(name string) string {
	if e.Has(name) {
		return name
	}
	return strings.ReplaceAll(name, "_", "-")
}

func (e hyphenDocument) Text(name string) string       { return e.Document.Text(e.name(name)) }
func (e hyphenDocument) Word(name string) string       { return e.Document.Word(e.name(name)) }
func (e hyphenDocument) Positive(name string) *float64 { return e.Document.Positive(e.name(name)) }
func (e hyphenDocument) Amount(name string) *float64   { return e.Document.Amount(e.name(name)) }
func (e hyphenDocument) Whole(name string) *int64      { return e.Document.Whole(e.name(name)) }
func (e hyphenDocument) Inner(name string) hyphenDocument {
	return hyphenDocument{e.Document.Inner(e.name(name))}
}

// Integer reads a whole number under either name.
func (e hyphenDocument) Integer(name string) (int64, bool) { return e.Document.Integer(e.name(name)) }

// Loose reads a number, or a text that holds one, under either name.
func (e hyphenDocument) Loose(name string) (float64, bool) { return e.Document.Loose(e.name(name)) }

// wall reads a local time of the watch. It ignores a Z at the end, because Polar's own
// examples have it after local times.
func wall(text string) (time.Time, bool) {
	text = strings.TrimSuffix(text, "Z")
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, replies.IsBelievableYear(at.Year())
		}
	}
	return time.Time{}, false
}

// instant reads a time. A time without an offset is local time of the watch. at is in UTC
// microseconds, and offset in seconds east of UTC.
func instant(clock *sheet.Wall, text string) (at int64, offset int32, ok bool) {
	if shown, ok := wall(text); ok {
		at, offset = clock.Instant(shown)
		return at, offset, true
	}
	exact, err := time.Parse(time.RFC3339, text)
	if err != nil || !replies.IsBelievableYear(exact.Year()) {
		return 0, 0, false
	}
	_, seconds := exact.Zone()
	return exact.UnixMicro(), int32(seconds), replies.IsOffset(int64(seconds))
}

// isoDuration is a duration such as PT2H44M45.5S.
var isoDuration = regexp.MustCompile(`^P(?:(\d{1,4})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?$`)

// parseDuration reads a duration.
func parseDuration(text string) (time.Duration, bool) {
	parts := isoDuration.FindStringSubmatch(text)
	if parts == nil || strings.Join(parts[1:], "") == "" {
		return 0, false
	}
	seconds := 0.0
	for i, unit := range []float64{86400, 3600, 60, 1} {
		v, _ := strconv.ParseFloat("0"+parts[i+1], 64) // digits, or nothing
		seconds += v * unit
	}
	if seconds > 1e8 {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// nightMargin bounds the distance of a sample from its night.
const nightMargin = time.Hour

// minuteOf returns the minute of the day of a time such as 23:45, or -1 for any other
// text.
func minuteOf(text string) int {
	at, err := time.Parse("15:04", text)
	if err != nil {
		return -1
	}
	return at.Hour()*60 + at.Minute()
}

// nightMinute returns the instant of a night at which clocks showed a minute of the day. It
// looks from an hour before the start of the night until an hour after its end.
func nightMinute(minute int, start, end time.Time, offset int32) (time.Time, bool) {
	if minute < 0 {
		return time.Time{}, false
	}
	local := start.Add(time.Duration(offset) * time.Second)
	midnight := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	for day := -1; day <= 1; day++ {
		candidate := midnight.AddDate(0, 0, day).Add(time.Duration(minute) * time.Minute)
		exact := candidate.Add(-time.Duration(offset) * time.Second)
		if !exact.Before(start.Add(-nightMargin)) && !exact.After(end.Add(nightMargin)) {
			return exact, true
		}
	}
	return time.Time{}, false
}

// physical reads the wearer's statements about the body, from the time of the
// statement.
func (r *reader) physical(doc replies.Document) replies.Verdict {
	d := hyphenated(doc)
	at, _, ok := d.Moment("created") // in UTC everywhere
	if !ok {
		return replies.BadDate
	}
	before, offset := r.Gather.N, r.OffsetIn("", at)
	for _, f := range []struct{ name, resource string }{{"weight", "body_weight"}, {"vo2_max", "vo2_max"}} {
		if v := d.Positive(f.name); v != nil {
			r.Gather.At(sheet.Key{Resource: f.resource, Source: app}, at.UnixMicro(), offset, *v)
		}
	}
	tall := r.height(d, at.UnixMicro())
	return replies.VerdictOf(r.Gather.N > before || tall)
}

// user reads the account. Names and the weight, which has no day, are not read.
func (r *reader) user(doc replies.Document) replies.Verdict {
	d := hyphenated(doc)
	known := r.height(d, 0)
	if sex := strings.ToLower(d.Text("gender")); sex == "female" || sex == "male" {
		r.person.Sex, known = sex, true
	}
	if born, ok := d.Birth("birthdate"); ok {
		r.person.Birth, known = born, true
	}
	if !known {
		return replies.BadValue
	}
	r.Sink.Person(&r.person)
	return replies.Mapped
}

// height stores a body height, given in cm. at is the time of the entry, in UTC
// microseconds. The height of the account has no time: at is 0, and the day on which the
// file arrived is used.
func (r *reader) height(d hyphenDocument, at int64) bool {
	height := d.Positive("height")
	if height == nil || *height < 30 || *height > 300 {
		return false
	}
	undated := r.person.Height != nil && r.person.HeightAt == 0
	if at == 0 || !undated && at >= r.person.HeightAt {
		r.person.Height, r.person.HeightAt = height, at
		r.Sink.Person(&r.person)
	}
	return true
}
