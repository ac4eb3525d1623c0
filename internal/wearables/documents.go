package wearables

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

// Kind is the JSON type of a summary's field.
type Kind string

// The kinds of fields.
const (
	Number  Kind = "number"
	Integer Kind = "integer"
	Text    Kind = "string"
	Flag    Kind = "boolean"
	Moment  Kind = "date-time"
	Day     Kind = "date"
	UUID    Kind = "uuid"
	Object  Kind = "object"
	List    Kind = "array"
)

// Field is one field of a summary on the wire. Every summary has all fields; an
// unknown one is null, or Default if that is set.
type Field struct {
	Name    string
	Kind    Kind
	Doc     string // unit and meaning
	Default string // JSON in place of null
}

// Document describes one kind of summary. Storage, reads, events and the OpenAPI
// document use the table.
//
// Reference 7.5.
type Document struct {
	Name string // activity; also in paths and event types
	// Label is for people: Daily activity.
	Label string
	Key   string // of the list in a read; empty where a read has another shape
	// Start and End name the fields of a session's bounds; empty for days.
	Start, End string
	Longest    time.Duration // longest plausible session; 0 means any
	Parallel   bool          // its lists are parallel: none is stored without the others
	Dated      bool          // has calendar_date
	Wakes      bool          // a session of the day on which it ends
	Foretold   time.Duration // how far ahead its day may be
	Fields     []Field
}

// storeFields are written by the storage; a summary's Body cannot set them.
var storeFields = []string{
	"id", "user_id", "source", "created_at", "updated_at",
	"source_provider", "source_type", "source_app_id", "source_device_id", "source_id", "priority_id", "sleep_stream",
}

// OtherSport is HealthKit's number of a workout without a name.
const OtherSport = 3000

var headFields = []Field{
	{"id", UUID, "Id of the summary. A revision keeps it.", ""},
	{"user_id", UUID, "", ""},
}

var tailFields = []Field{
	{"source", Object, "Source of the values.", ""},
	{"created_at", Moment, "Time of the first version.", ""},
	{"updated_at", Moment, "Time of the last change.", ""},
}

var days = []Field{
	{"date", Moment, "Deprecated: midnight UTC of calendar_date.", ""},
	{"calendar_date", Day, "The person's local day.", ""},
}

// flatFields repeats the source outside of its object, as some summaries do.
var flatFields = []Field{
	{"source_provider", Text, "Provider slug.", ""},
	{"source_type", Text, "Kind of device.", ""},
	{"source_app_id", Text, "", ""},
	{"source_device_id", UUID, "", ""},
}

var documents = []*Document{
	{Name: "activity", Label: "Daily activity", Key: "activity", Dated: true, Fields: fields(days, []Field{
		{"calories_total", Number, "kcal, with basal", ""},
		{"calories_active", Number, "kcal", ""},
		{"steps", Integer, "count", ""},
		{"daily_movement", Number, "Deprecated: m", ""},
		{"distance", Number, "m", ""},
		{"low", Number, "min of low intensity", ""},
		{"medium", Number, "min of medium intensity", ""},
		{"high", Number, "min of high intensity", ""},
		{"floors_climbed", Integer, "count", ""},
		{"time_zone", Text, "IANA name", ""},
		{"timezone_offset", Integer, "seconds east of UTC", ""},
		{"heart_rate", Object, "avg_bpm, min_bpm, max_bpm, resting_bpm, avg_walking_bpm", ""},
		{"wheelchair_use", Flag, "true or null", ""},
		{"wheelchair_push", Integer, "count", ""},
	})},
	{Name: "body", Label: "Body measurements", Key: "body", Dated: true, Fields: fields(days, []Field{
		{"weight", Number, "kg", ""},
		{"fat", Number, "%", ""},
		{"water_percentage", Number, "%", ""},
		{"muscle_mass_percentage", Number, "%", ""},
		{"visceral_fat_index", Number, "", ""},
		{"bone_mass_percentage", Number, "%", ""},
		{"body_mass_index", Number, "kg/m²", ""},
		{"lean_body_mass_kilogram", Number, "kg", ""},
		{"waist_circumference_centimeter", Number, "cm", ""},
	})},
	{Name: "profile", Label: "Profile (such as height and sex)", Fields: fields([]Field{
		{"height", Integer, "cm", ""},
		{"birth_date", Day, "", ""},
		{"wheelchair_use", Flag, "true or null", ""},
		{"gender", Text, "female, male, other, unknown", ""},
		{"sex", Text, "female, male, other", ""},
	})},
	{Name: "sleep", Label: "Sleep", Key: "sleep", Dated: true, Wakes: true, Start: "bedtime_start", End: "bedtime_stop", Longest: 24 * time.Hour, Fields: fields(days, []Field{
		{"bedtime_start", Moment, "", ""},
		{"bedtime_stop", Moment, "", ""},
		{"type", Text, "long_sleep (3 h or more), short_sleep, acknowledged_nap, unknown (ongoing)", `"unknown"`},
		{"timezone_offset", Integer, "seconds east of UTC", ""},
		{"duration", Integer, "s in bed", "0"},
		{"total", Integer, "s asleep; 0 if unknown, also in the next four fields", "0"},
		{"awake", Integer, "s", "0"},
		{"light", Integer, "s", "0"},
		{"rem", Integer, "s", "0"},
		{"deep", Integer, "s", "0"},
		{"score", Integer, "0 to 100", ""},
		{"recovery_readiness_score", Integer, "0 to 100", ""},
		{"hr_lowest", Integer, "bpm", ""},
		{"hr_average", Integer, "bpm", ""},
		{"hr_resting", Integer, "bpm", ""},
		{"efficiency", Number, "% of the time in bed", ""},
		{"latency", Integer, "s until asleep", ""},
		{"temperature_delta", Number, "°C from the baseline", ""},
		{"skin_temperature", Number, "°C", ""},
		{"hr_dip", Number, "%", ""},
		{"state", Text, "tentative, confirmed", ""},
		{"average_hrv", Number, "ms rmssd", ""},
		{"respiratory_rate", Number, "breaths/min", ""},
		{"sleep_stream", Object, "Deprecated: read the stream.", ""},
	})},
	{Name: "sleep_cycle", Label: "Sleep stages", Key: "sleep_cycle", Dated: true, Wakes: true, Start: "session_start", End: "session_end", Longest: 24 * time.Hour, Parallel: true, Fields: fields([]Field{
		{"sleep_id", UUID, "Id of the sleep.", ""},
		{"session_start", Moment, "", ""},
		{"session_end", Moment, "", ""},
		{"stage_start_offset_second", List, "s from session_start; the three lists are parallel", "[]"},
		{"stage_end_offset_second", List, "s from session_start", "[]"},
		{"stage_type", List, "-1 unknown, 1 deep, 2 light, 3 REM, 4 awake, 5 manual", "[]"},
		{"time_zone", Text, "IANA name", ""},
	}, flatFields)},
	{Name: "workouts", Label: "Workouts", Key: "workouts", Dated: true, Start: "time_start", End: "time_end", Longest: 7 * 24 * time.Hour, Fields: fields([]Field{
		{"title", Text, "", ""},
		{"timezone_offset", Integer, "seconds east of UTC", ""},
		{"average_hr", Integer, "bpm", ""},
		{"max_hr", Integer, "bpm", ""},
		{"distance", Number, "m", ""},
		{"calendar_date", Day, "The local day of the start.", ""},
		{"time_start", Moment, "", ""},
		{"time_end", Moment, "", ""},
		{"calories", Number, "kcal", ""},
		{"sport", Object, "id (deprecated), name, slug", `{"id":3000,"name":"Other","slug":"other"}`},
		{"hr_zones", List, "s in each of six zones of the maximum heart rate", ""},
		{"moving_time", Integer, "s", ""},
		{"total_elevation_gain", Number, "m", ""},
		{"elev_high", Number, "m", ""},
		{"elev_low", Number, "m", ""},
		{"average_speed", Number, "m/s", ""},
		{"max_speed", Number, "m/s", ""},
		{"average_watts", Number, "W", ""},
		{"device_watts", Number, "W", ""},
		{"max_watts", Number, "W", ""},
		{"weighted_average_watts", Number, "W", ""},
		{"steps", Integer, "count", ""},
		{"map", Object, "polyline and summary_polyline", ""},
		{"provider_id", Text, "The provider's own id.", `""`},
	})},
	{Name: "meal", Label: "Meals", Key: "meals", Dated: true, Start: "timestamp", Fields: fields([]Field{
		{"priority_id", Integer, "Deprecated.", "0"},
		{"source_id", Integer, "Deprecated.", "0"},
		{"provider_id", Text, "Deprecated.", `""`},
		{"timestamp", Moment, "", ""},
		{"calendar_date", Day, "", ""},
		{"name", Text, "", `""`},
		{"energy", Object, "unit (kcal) and value", ""},
		{"macros", Object, "g", ""},
		{"micros", Object, "minerals, trace_elements, vitamins", ""},
		{"data", Object, "Each food by name.", "{}"},
		{"source_app_id", Text, "", ""},
		{"source_device_id", UUID, "", ""},
	})},
	{Name: "menstrual_cycle", Label: "Menstrual cycle", Key: "menstrual_cycle", Dated: true, Foretold: 366 * 24 * time.Hour, Fields: fields([]Field{
		{"period_start", Day, "", ""},
		{"period_end", Day, "", ""},
		{"cycle_end", Day, "", ""},
		{"is_predicted", Flag, "", "false"},
		{"menstrual_flow", List, "date, flow", "[]"},
		{"cervical_mucus", List, "date, quality", "[]"},
		{"intermenstrual_bleeding", List, "date", "[]"},
		{"contraceptive", List, "date, type", "[]"},
		{"detected_deviations", List, "date, deviation", "[]"},
		{"ovulation_test", List, "date, test_result", "[]"},
		{"home_pregnancy_test", List, "date, test_result", "[]"},
		{"home_progesterone_test", List, "date, test_result", "[]"},
		{"sexual_activity", List, "date, protection_used", "[]"},
		{"basal_body_temperature", List, "date, value in °C", "[]"},
	}, flatFields)},
	{Name: "electrocardiogram", Label: "Heart recordings (ECG)", Key: "electrocardiogram", Dated: true, Start: "session_start", End: "session_end", Fields: fields([]Field{
		{"session_start", Moment, "", ""},
		{"session_end", Moment, "", ""},
		{"voltage_sample_count", Integer, "", "0"},
		{"heart_rate_mean", Integer, "bpm", ""},
		{"sampling_frequency_hz", Number, "Hz", ""},
		{"classification", Text, "sinus_rhythm, atrial_fibrillation, inconclusive", ""},
		{"inconclusive_cause", Text, "high_heart_rate, low_heart_rate, poor_reading", ""},
		{"algorithm_version", Text, "", ""},
		{"time_zone", Text, "IANA name", ""},
		{"source_device_model", Text, "", ""},
	}, flatFields)},
	{Name: NoteResource, Label: "Notes", Dated: true, Start: "timestamp", Fields: fields([]Field{
		{"timestamp", Moment, "Time with an offset.", ""},
		{"end", Moment, "End. The default is timestamp.", ""},
		{"timezone_offset", Integer, "seconds east of UTC", ""},
		{"value", Text, "The note itself.", ""},
		{"tags", List, "Topics of the note.", ""},
	}, flatFields)},
}

func fields(parts ...[]Field) []Field {
	return slices.Concat(append(append([][]Field{headFields}, parts...), tailFields)...)
}

// Documents lists every kind of summary.
func Documents() []*Document { return documents }

// DocumentNamed finds a kind of summary.
func DocumentNamed(name string) (*Document, bool) {
	for _, d := range documents {
		if d.Name == name {
			return d, true
		}
	}
	return nil, false
}

// Settable finds a field that a Body may set.
func (d *Document) Settable(name string) (Field, bool) {
	if slices.Contains(storeFields, name) {
		return Field{}, false
	}
	for _, f := range d.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

var errDocument = errors.New("wearables: not a JSON object")

// ParseDocument reads one JSON object. Numbers keep their text.
func ParseDocument(data []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var doc map[string]any
	if err := d.Decode(&doc); err != nil || doc == nil {
		return nil, errDocument
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errDocument
	}
	return doc, nil
}

// AppendCanonical appends a document so that equal content has equal bytes: sorted
// keys, shortest numbers, no nulls in objects.
func AppendCanonical(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return AppendText(dst, v)
	case json.Number:
		f, err := v.Float64()
		switch {
		case err == nil && f == math.Trunc(f) && math.Abs(f) <= maxWhole:
			return strconv.AppendInt(dst, int64(f), 10) // readers of integers understand this
		case err == nil && isShortNumber(v):
			return AppendNumber(dst, f)
		}
		return append(dst, v...)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendCanonical(dst, item)
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		first := true
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name] == nil {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(AppendText(dst, name), ':')
			dst = AppendCanonical(dst, v[name])
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// maxWhole is the largest range in which doubles are exact whole numbers.
const maxWhole = 1 << 53

// isShortNumber reports whether a number has no more digits than a double always keeps.
func isShortNumber(n json.Number) bool {
	digits := 0
	for _, c := range []byte(n) {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return digits <= 15
}
