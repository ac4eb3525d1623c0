package wearables

import (
	"slices"
	"time"
)

// Resource describes one kind of time series: what its samples look like,
// which are believable, and how they are kept. The one table of them below
// drives validation, storage, reads, events and the API document.
//
// Reference 7.1, 7.7.
type Resource struct {
	Name     string // path segment: heartrate, body_weight
	Event    string // in event types; differs from Name for weight and fat only
	Unit     string
	Interval bool // samples have start and end
	Pair     bool // systolic and diastolic instead of value
	// Types are the words a sample's type may be; nil means that it has none.
	// AnyType takes every word, as for allergens and leads.
	Types   []string
	AnyType bool
	// Typed says that clients read the type as text always: it is empty, and
	// not null, where nobody stated one.
	Typed bool
	// Kinds says that clients read one of Types always. Who pushes a sample has
	// to say which; a file that does not know cannot be asked.
	Kinds bool
	// Min and Max bound a believable value; PerMinute an interval's rate. A value
	// without length has no rate: it may be what somebody typed in for a day.
	Min, Max  float64
	PerMinute float64
	// Width is how much time one block covers; a dense first batch narrows it.
	Width time.Duration
	// Push says whether SDKs may send it. The few that cannot have values that
	// are no numbers, or are replaced by a summary.
	Push bool
	// Extra are fields that samples of this resource carry besides the common
	// ones.
	Extra []Extra
}

// Block widths. A full block should hold some hundred to a thousand samples.
const (
	perHour  = time.Hour
	perDay   = 24 * time.Hour
	perMonth = 32 * 24 * time.Hour
)

const (
	discrete = false
	interval = true
)

// hypnogram is read from the sleep cycles that replaced it and never stored.
const hypnogram = "hypnogram"

// Reference 7.7, in its order; bounds from what bodies and devices can do.
var resourceTable = []Resource{
	metric("afib_burden", interval, "%", 0, 100, perMonth),
	metric("basal_body_temperature", interval, "°C", 25, 45, perMonth),
	metric("blood_oxygen", discrete, "%", 50, 100, perDay),
	pair(metric("blood_pressure", discrete, "mmHg", 40, 300, perMonth)),
	renamed(metric("body_fat", discrete, "%", 1, 75, perMonth), "fat"),
	metric("body_mass_index", interval, "index", 5, 150, perMonth),
	extra(metric("body_temperature", interval, "°C", 25, 45, perDay), sensorLocation),
	extra(metric("body_temperature_delta", interval, "°C", -20, 20, perDay), sensorLocation),
	renamed(metric("body_weight", discrete, "kg", 1, 500, perMonth), "weight"),
	metric("caffeine", interval, "g", 0, 20, perMonth),
	metric("calories_active", interval, "kcal", 0, 20_000, perDay),
	metric("calories_basal", discrete, "kcal", 0, 20_000, perDay),
	metric("carbohydrates", interval, "g", 0, 5_000, perMonth),
	always(typed(metric("cholesterol", discrete, "mmol/L", 0, 60, perMonth),
		"cholesterol/ldl", "cholesterol/hdl", "cholesterol/total", "cholesterol/triglycerides")),
	metric("daylight_exposure", interval, "min", 0, 1_500, perDay),
	metric("distance", interval, "m", 0, 1_000_000, perDay),
	always(anyType(metric("electrocardiogram_voltage", discrete, "mV", -100, 100, perHour))),
	metric("fall", interval, "count", 0, 10_000, perMonth),
	metric("floors_climbed", discrete, "count", 0, 10_000, perDay),
	metric("forced_expiratory_volume_1", interval, "L", 0, 20, perMonth),
	metric("forced_vital_capacity", interval, "L", 0, 20, perMonth),
	typed(metric("glucose", discrete, "mmol/L", 0.6, 50, perDay), "automatic", "manual_scan"),
	metric("handwashing", interval, "count", 0, 10_000, perMonth),
	kinds(metric("heart_rate_alert", interval, "count", 1, 1, perMonth),
		"low_heart_rate", "high_heart_rate", "irregular_rhythm"),
	metric("heart_rate_recovery_one_minute", interval, "count", 0, 300, perMonth),
	metric("heartrate", discrete, "bpm", 20, 300, perDay),
	typed(metric("hrv", discrete, "rmssd", 0, 1_000, perDay), "rmssd", "sdnn"),
	notPushed(metric(hypnogram, interval, "stage", -1, 5, perDay)),
	always(anyType(metric("ige", discrete, "FSU", 0, 1_000_000, perMonth))),
	always(anyType(metric("igg", discrete, "FSU", 0, 1_000_000, perMonth))),
	metric("inhaler_usage", interval, "count", 0, 10_000, perMonth),
	extra(kinds(metric("insulin_injection", interval, "unit", 0, 1_000, perMonth),
		"rapid_acting", "long_acting"), oneOf("delivery_mode", "basal", "bolus"),
		oneOf("delivery_form", "standard", "extended"), oneOf("bolus_purpose", "meal", "correction", "mixed", "unknown")),
	metric("lean_body_mass", interval, "kg", 1, 500, perMonth),
	metric("mindfulness_minutes", interval, "min", 0, 1_500, perMonth),
	notPushed(extra(metric("note", interval, "text", 0, 0, perMonth), oneOf("tags"))),
	metric("peak_expiratory_flow_rate", interval, "L/min", 0, 2_000, perMonth),
	metric("respiratory_rate", discrete, "bpm", 3, 80, perDay),
	metric("sleep_apnea_alert", interval, "count", 0, 10_000, perMonth),
	typed(metric("sleep_breathing_disturbance", interval, "count", 0, 10_000, perMonth),
		"elevated", "not_elevated"),
	metric("stand_duration", interval, "min", 0, 1_500, perDay),
	kinds(metric("stand_hour", interval, "count", 0, 1_500, perDay), "stood", "idle"),
	rated(metric("steps", interval, "count", 0, 100_000, perDay), 300),
	metric("stress_level", discrete, "%", 0, 100, perDay),
	metric("uv_exposure", interval, "index", 0, 50, perMonth),
	metric("vo2_max", interval, "mL/kg/min", 5, 120, perMonth),
	metric("waist_circumference", interval, "cm", 10, 400, perMonth),
	metric("water", discrete, "ml", 0, 50_000, perMonth),
	rated(metric("wheelchair_push", interval, "count", 0, 100_000, perDay), 300),
	metric("workout_distance", interval, "m", 0, 1_000_000, perDay),
	extra(metric("workout_duration", interval, "min", 0, 10_080, perMonth), oneOf("intensity", "low", "medium", "high")),
	metric("workout_swimming_stroke", interval, "count", 0, 100_000, perDay),
}

func metric(name string, interval bool, unit string, least, most float64, width time.Duration) Resource {
	return Resource{
		Name: name, Event: name, Unit: unit, Interval: interval,
		Min: least, Max: most, Width: width, Push: true,
	}
}

func renamed(r Resource, event string) Resource    { r.Event = event; return r }
func typed(r Resource, types ...string) Resource   { r.Types = types; return r }
func anyType(r Resource) Resource                  { r.AnyType = true; return r }
func always(r Resource) Resource                   { r.Typed = true; return r }
func kinds(r Resource, types ...string) Resource   { r.Kinds = true; return always(typed(r, types...)) }
func rated(r Resource, perMinute float64) Resource { r.PerMinute = perMinute; return r }
func pair(r Resource) Resource                     { r.Pair = true; return r }
func notPushed(r Resource) Resource                { r.Push = false; return r }
func extra(r Resource, fields ...Extra) Resource   { r.Extra = fields; return r }

var sensorLocation = oneOf("sensor_location", "armpit", "body", "ear", "finger", "gastrointestinal", "mouth", "rectum", "toe",
	"eardrum", "temporal_artery", "forehead", "wrist")

// diastolic pressure has bounds of its own, mmHg.
const leastDiastolic, mostDiastolic = 20, 200

var resourcesByName = func() map[string]*Resource {
	byName := map[string]*Resource{}
	for i := range resourceTable {
		r := &resourceTable[i]
		byName[r.Name], byName[r.Event] = r, r
	}
	return byName
}()

// Resources lists every kind of time series, by name.
func Resources() []Resource { return slices.Clone(resourceTable) }

// ResourceNamed finds a kind of time series by its path segment or by its
// name in events.
func ResourceNamed(name string) (*Resource, bool) {
	r, ok := resourcesByName[name]
	return r, ok
}

// TakesType says whether a sample may have the type. The empty type is always
// fine.
func (r *Resource) TakesType(word string) bool {
	if word == "" || slices.Contains(r.Types, word) {
		return true
	}
	return r.AnyType && isWord(word)
}

// isWord says whether s is a lower-case identifier such as lead_1 or
// cholesterol/ldl.
func isWord(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', c == '-', c == '/', c == '.':
		default:
			return false
		}
	}
	return true
}
