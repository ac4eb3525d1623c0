package resources

import "time"

// Block widths. A full block should have some hundred to a thousand samples.
const (
	perHour  = time.Hour
	perDay   = 24 * time.Hour
	perMonth = 32 * 24 * time.Hour
)

const (
	discrete = false
	interval = true
)

// Hypnogram is read from the sleep cycles that replaced it and never stored.
const Hypnogram = "hypnogram"

// Reference 7.7, in its order; bounds from what bodies and devices can do.
var table = []Resource{
	metric("afib_burden", "Irregular heart rhythm", interval, "%", 0, 100, 2, perMonth),
	metric("basal_body_temperature", "Body temperature", interval, "°C", 25, 45, 36.4, perMonth),
	vitalSign(metric("blood_oxygen", "Blood oxygen", discrete, "%", 50, 100, 97, perDay), "59408-5"),
	asPair(vitalSign(metric("blood_pressure", "Blood pressure", discrete, "mmHg", 40, 300, 118, perMonth), "85354-9"), 20, 200, 76),
	withEvent(vitalSign(metric("body_fat", "Body fat", discrete, "%", 1, 75, 18.2, perMonth), "41982-0"), "fat"),
	vitalSign(metric("body_mass_index", "Body mass index", interval, "index", 5, 150, 22.6, perMonth), "39156-5"),
	withFields(vitalSign(metric("body_temperature", "Body temperature", interval, "°C", 25, 45, 36.8, perDay), "8310-5"), sensorLocation),
	withFields(metric("body_temperature_delta", "Body temperature", interval, "°C", -20, 20, -0.2, perDay), sensorLocation),
	withEvent(vitalSign(metric("body_weight", "Weight", discrete, "kg", 1, 500, 71.4, perMonth), "29463-7"), "weight"),
	amount("caffeine", "Caffeine", interval, "g", 0, 20, 0.08, perMonth),
	allDay(amount("calories_active", "Energy used", interval, "kcal", 0, 20_000, 4.2, perDay)),
	withLength(allDay(amount("calories_basal", "Energy used", discrete, "kcal", 0, 20_000, 71, perDay))),
	amount("carbohydrates", "Carbohydrates", interval, "g", 0, 5_000, 45, perMonth),
	typeRequired(withTypes(metric("cholesterol", "Cholesterol", discrete, "mmol/L", 0, 60, 4.9, perMonth),
		"cholesterol/ldl", "cholesterol/hdl", "cholesterol/total", "cholesterol/triglycerides")),
	allDay(amount("daylight_exposure", "Time in daylight", interval, "min", 0, 1_500, 12, perDay)),
	allDay(amount("distance", "Distance", interval, "m", 0, 1_000_000, 812.5, perDay)),
	typeRequired(withAnyType(metric("electrocardiogram_voltage", "Heart recordings (ECG)", discrete, "mV", -100, 100, 0.11, perHour), "lead_1")),
	amount("fall", "Falls", interval, "count", 0, 10_000, 1, perMonth),
	withLength(allDay(amount("floors_climbed", "Floors climbed", discrete, "count", 0, 10_000, 3, perDay))),
	metric("forced_expiratory_volume_1", "Breathing tests", interval, "L", 0, 20, 3.1, perMonth),
	metric("forced_vital_capacity", "Breathing tests", interval, "L", 0, 20, 4.2, perMonth),
	oneType(withTypes(withLOINC(metric("glucose", "Blood sugar", discrete, "mmol/L", 0.6, 50, 5.4, perDay), "", "15074-8"), "automatic", "manual_scan")),
	amount("handwashing", "Hand washing", interval, "count", 0, 10_000, 1, perMonth),
	withKinds(amount("heart_rate_alert", "Heart rate alerts", interval, "count", 1, 1, 1, perMonth),
		"low_heart_rate", "high_heart_rate", "irregular_rhythm"),
	metric("heart_rate_recovery_one_minute", "Heart rate after exercise", interval, "count", 0, 300, 28, perMonth),
	vitalSign(metric("heartrate", "Heart rate", discrete, "bpm", 20, 300, 62, perDay), "8867-4"),
	lateType(withTypes(withLOINC(metric("hrv", "Heart rate variability", discrete, "rmssd", 1, 1_000, 48, perDay), "sdnn", "80404-7"), "rmssd", "sdnn")),
	withoutPush(metric(Hypnogram, "Sleep stages", interval, "stage", -1, 5, 2, perDay)),
	typeRequired(withAnyType(metric("ige", "Allergy test (IgE)", discrete, "FSU", 0, 1_000_000, 1.2, perMonth), "baha_grass")),
	typeRequired(withAnyType(metric("igg", "Allergy test (IgG)", discrete, "FSU", 0, 1_000_000, 0.7, perMonth), "dairy")),
	amount("inhaler_usage", "Inhaler use", interval, "count", 0, 10_000, 1, perMonth),
	withFields(withKinds(amount("insulin_injection", "Insulin", interval, "unit", 0, 1_000, 6, perMonth),
		"rapid_acting", "long_acting"), withExample(extraWords("delivery_mode", "basal", "bolus"), "bolus"),
		extraWords("delivery_form", "standard", "extended"), extraWords("bolus_purpose", "meal", "correction", "mixed", "unknown")),
	metric("lean_body_mass", "Lean body mass", interval, "kg", 1, 500, 57.9, perMonth),
	amount("mindfulness_minutes", "Mindfulness", interval, "min", 0, 1_500, 10, perMonth),
	textOnly(metric("note", "Notes", interval, "text", 0, 0, 0, perMonth), "food", "exercise", "insulin_injection", "unspecified"),
	metric("peak_expiratory_flow_rate", "Breathing tests", interval, "L/min", 0, 2_000, 480, perMonth),
	vitalSign(metric("respiratory_rate", "Breathing rate", discrete, "bpm", 3, 80, 14, perDay), "9279-1"),
	amount("sleep_apnea_alert", "Sleep apnea alerts", interval, "count", 0, 10_000, 1, perMonth),
	oneType(withTypes(amount("sleep_breathing_disturbance", "Breathing during sleep", interval, "count", 0, 10_000, 1, perMonth),
		"elevated", "not_elevated")),
	allDay(amount("stand_duration", "Standing", interval, "min", 0, 1_500, 4, perDay)),
	oneType(withKinds(amount("stand_hour", "Standing", interval, "count", 0, 1_500, 1, perDay), "stood", "idle")),
	withRate(allDay(withLOINC(amount("steps", "Steps", interval, "count", 0, 100_000, 214, perDay), "", "55423-8")), 300),
	metric("stress_level", "Stress level", discrete, "%", 0, 100, 31, perDay),
	metric("uv_exposure", "Sun exposure", interval, "index", 0, 50, 4, perMonth),
	metric("vo2_max", "Fitness level (VO₂ max)", interval, "mL/kg/min", 5, 120, 46.1, perMonth),
	metric("waist_circumference", "Waist size", interval, "cm", 10, 400, 82, perMonth),
	withLength(amount("water", "Water", discrete, "ml", 0, 50_000, 250, perMonth)),
	withRate(allDay(amount("wheelchair_push", "Wheelchair pushes", interval, "count", 0, 100_000, 40, perDay)), 300),
	amount("workout_distance", "Workouts", interval, "m", 0, 1_000_000, 1000, perDay),
	withFields(amount("workout_duration", "Workouts", interval, "min", 0, 10_080, 35, perMonth), extraWords("intensity", "low", "medium", "high")),
	amount("workout_swimming_stroke", "Swimming strokes", interval, "count", 0, 100_000, 18, perDay),
}

// metric returns a resource with values between least and most. Its values are levels.
// Resources with the same label are shown once to people.
func metric(name, label string, interval bool, unit string, least, most, example float64, width time.Duration) Resource {
	return Resource{
		Name: name, Event: name, Label: label, Unit: unit, Interval: interval,
		Min: least, Max: most, Width: width, Push: true, Example: Example{Value: example},
	}
}

// amount returns a resource whose values add up over time.
func amount(name, label string, interval bool, unit string, least, most, example float64, width time.Duration) Resource {
	r := metric(name, label, interval, unit, least, most, example, width)
	r.Additive = true
	return r
}

func allDay(r Resource) Resource { r.AllDay = true; return r }
func withLOINC(r Resource, kind, code string) Resource {
	r.LOINC = map[string]string{kind: code}
	return r
}

func vitalSign(r Resource, code string) Resource {
	r.VitalSign = true
	return withLOINC(r, "", code)
}

func withEvent(r Resource, event string) Resource { r.Event = event; return r }
func withAnyType(r Resource, example string) Resource {
	r.AnyType, r.Example.Type = true, example
	return r
}
func typeRequired(r Resource) Resource { r.Typed = true; return r }
func withKinds(r Resource, types ...string) Resource {
	r.Kinds = true
	return typeRequired(withTypes(r, types...))
}
func oneType(r Resource) Resource                     { r.OneType = true; return r }
func lateType(r Resource) Resource                    { r.LateType = true; return r }
func withRate(r Resource, perMinute float64) Resource { r.PerMinute = perMinute; return r }
func withLength(r Resource) Resource                  { r.QueryLength = true; return r }
func withoutPush(r Resource) Resource                 { r.Push = false; return r }
func withFields(r Resource, fields ...Extra) Resource { r.Extra = fields; return r }
func withExample(e Extra, example string) Extra       { e.Example = example; return e }

func textOnly(r Resource, tags ...string) Resource {
	r.Push, r.Text, r.Tags = false, true, tags
	return r
}

func withTypes(r Resource, types ...string) Resource {
	r.Types, r.Example.Type = types, types[0]
	return r
}

func asPair(r Resource, leastLow, mostLow, example float64) Resource {
	r.Pair, r.LeastLow, r.MostLow, r.Example.Low = true, leastLow, mostLow, example
	return r
}

var sensorLocation = withExample(extraWords("sensor_location", "armpit", "body", "ear", "finger", "gastrointestinal", "mouth", "rectum", "toe",
	"eardrum", "temporal_artery", "forehead", "wrist"), "wrist")
