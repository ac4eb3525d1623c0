package healthconnect

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"hale/internal/wearables/formats/replies"
)

// form describes a record as JSON, and its place in the export.
type form struct {
	record string // the client library's name of its class, without "Record"
	table  string
	span   bool // the record has startTime and endTime; otherwise it has time
	fields []field
	many   *endlessRows
	also   []string // other names of it, in the form of foldName
}

// field is a value of a record.
type field struct {
	column string
	name   string // in JSON
	in     measure
	flat   string  // HC Webhook's name of it; empty when it has none
	times  float64 // from HC Webhook's unit to the platform's
	may    bool    // the value may be missing
}

// endlessRows describes the samples of a record, which have a table of their own.
type endlessRows struct {
	table string
	list  string // in JSON
	field
}

// location is the field with the place of a thermometer, a number.
var location = []field{{column: "measurement_location", name: "measurementLocation", in: plainMeasure, may: true}}

// forms lists the records with a resource. The table of rules says which, for both the
// export and JSON.
var forms = []form{
	{record: "Steps", table: "steps_record_table", span: true, fields: []field{{column: "count", name: "count", in: plainMeasure, flat: "count", times: 1}}},
	{record: "Distance", table: "distance_record_table", span: true, fields: []field{{column: "distance", name: "distance", in: metre, flat: "meters", times: 1}}},
	{
		record: "ActiveCaloriesBurned", table: "active_calories_burned_record_table", span: true, also: []string{"activecalories"},
		fields: []field{{column: "energy", name: "energy", in: calorie, flat: "calories", times: 1000}},
	},
	{record: "ElevationGained", table: "elevation_gained_record_table", span: true, fields: []field{{column: "elevation", name: "elevation", in: metre}}},
	{record: "FloorsClimbed", table: "floors_climbed_record_table", span: true, fields: []field{{column: "floors", name: "floors", in: plainMeasure}}},
	{record: "WheelchairPushes", table: "wheelchair_pushes_record_table", span: true, fields: []field{{column: "count", name: "count", in: plainMeasure}}},
	{record: "Hydration", table: "hydration_record_table", span: true, fields: []field{{column: "volume", name: "volume", in: litre, flat: "liters", times: 1}}},
	{record: "Nutrition", table: "nutrition_record_table", span: true, fields: []field{
		{column: "total_carbohydrate", name: "totalCarbohydrate", in: gram, flat: "carbs_grams", times: 1, may: true},
		{column: "caffeine", name: "caffeine", in: gram, may: true},
	}},
	{record: "MindfulnessSession", table: "mindfulness_session_record_table", span: true},

	{record: "HeartRate", table: "heart_rate_record_table", span: true, many: &endlessRows{
		table: "heart_rate_record_series_table", list: "samples",
		field: field{column: "beats_per_minute", name: "beatsPerMinute", in: plainMeasure, flat: "bpm", times: 1},
	}},
	{record: "SkinTemperature", table: "skin_temperature_record_table", span: true, fields: location, many: &endlessRows{
		table: "skin_temperature_delta_table", list: "deltas",
		field: field{column: "delta", name: "delta", in: celsius, flat: "delta_celsius", times: 1},
	}},

	{
		record: "HeartRateVariabilityRmssd", table: "heart_rate_variability_rmssd_record_table", also: []string{"heartratevariability"},
		fields: []field{{column: "heart_rate_variability_millis", name: "heartRateVariabilityMillis", in: plainMeasure, flat: "rmssd_millis", times: 1}},
	},
	{record: "OxygenSaturation", table: "oxygen_saturation_record_table", fields: []field{{column: "percentage", name: "percentage", in: plainMeasure, flat: "percentage", times: 1}}},
	{record: "RespiratoryRate", table: "respiratory_rate_record_table", fields: []field{{column: "rate", name: "rate", in: plainMeasure, flat: "rate", times: 1}}},
	{record: "BodyTemperature", table: "body_temperature_record_table", fields: append([]field{{column: "temperature", name: "temperature", in: celsius, flat: "celsius", times: 1}}, location...)},
	{record: "BasalBodyTemperature", table: "basal_body_temperature_record_table", fields: []field{{column: "temperature", name: "temperature", in: celsius, flat: "celsius", times: 1}}},
	{record: "BloodGlucose", table: "blood_glucose_record_table", fields: []field{
		{column: "level", name: "level", in: millimolar, flat: "mmol_per_liter", times: 1},
		{column: "specimen_source", name: "specimenSource", in: specimens, may: true},
	}},
	{record: "BloodPressure", table: "blood_pressure_record_table", fields: []field{
		{column: "systolic", name: "systolic", in: mercury, flat: "systolic", times: 1},
		{column: "diastolic", name: "diastolic", in: mercury, flat: "diastolic", times: 1},
	}},
	{record: "Vo2Max", table: "vo2_max_record_table", fields: []field{{
		column: "vo2_milliliters_per_minute_kilogram", name: "vo2MillilitersPerMinuteKilogram", in: plainMeasure, flat: "ml_per_kg_per_min", times: 1,
	}}},
	{record: "Weight", table: "weight_record_table", fields: []field{{column: "weight", name: "weight", in: gram, flat: "kilograms", times: 1000}}},
	{record: "BodyFat", table: "body_fat_record_table", fields: []field{{column: "percentage", name: "percentage", in: plainMeasure, flat: "percentage", times: 1}}},
	{record: "LeanBodyMass", table: "lean_body_mass_record_table", fields: []field{{column: "mass", name: "mass", in: gram, flat: "kilograms", times: 1000}}},
	{record: "RestingHeartRate", table: "resting_heart_rate_record_table", fields: []field{{column: "beats_per_minute", name: "beatsPerMinute", in: plainMeasure, flat: "bpm", times: 1}}},
	{record: "Height", table: "height_record_table", fields: []field{{column: "height", name: "height", in: metre, flat: "meters", times: 1}}},

	{record: "SleepSession", table: sleepTable, span: true, also: []string{"sleep"}},
	{record: "ExerciseSession", table: exerciseTable, span: true, also: []string{"exercise", "activitysession"}},
}

// skippedForms lists the records that are counted and not stored. Each has its table and
// the names that the client library and other writers use.
var skippedForms = func() (all []form) {
	also := map[string][]string{
		"total_calories_burned_record_table": {"totalcalories"}, "menstruation_flow_record_table": {"menstruation"},
	}
	for _, table := range skippedTables {
		all = append(all, form{record: foldName(name(table)), table: table, also: also[table]})
	}
	return all
}()

// formNamed returns the form of the record that a name means: HeartRate, heartRate,
// heart_rate, HeartRateRecord, HeartRateSeries. It returns nil for an unknown name.
func formNamed(s string) *form { return formsByName[foldName(s)] }

var formsByName = func() map[string]*form {
	all := map[string]*form{}
	for _, list := range [][]form{forms, skippedForms} {
		for i := range list {
			f := &list[i]
			for _, name := range append([]string{foldName(f.record)}, f.also...) {
				all[name] = f
			}
		}
	}
	return all
}()

// foldName returns a name in lower case, without hyphens, underscores, spaces and the
// endings record, records and series. It returns "" for long names.
func foldName(s string) string {
	if len(s) > 60 {
		return ""
	}
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(s))
	for _, end := range []string{"records", "record", "series"} {
		if short, ok := strings.CutSuffix(s, end); ok {
			return short
		}
	}
	return s
}

// distinctFields maps fields that only one kind of record has to that record. Other fields, such
// as count, energy, percentage, mass and temperature, occur in several kinds.
var distinctFields = map[string]string{
	"distance": "Distance", "elevation": "ElevationGained", "floors": "FloorsClimbed", "volume": "Hydration", "totalCarbohydrate": "Nutrition",
	"deltas": "SkinTemperature", "heartRateVariabilityMillis": "HeartRateVariabilityRmssd", "rate": "RespiratoryRate", "level": "BloodGlucose",
	"systolic": "BloodPressure", "vo2MillilitersPerMinuteKilogram": "Vo2Max", "weight": "Weight", "height": "Height", "beatsPerMinute": "RestingHeartRate",
	"stages": "SleepSession", "exerciseType": "ExerciseSession", "basalMetabolicRate": "BasalMetabolicRate",
}

// formOf identifies a record without a name by its fields. It returns nil if they could
// be those of several kinds.
func formOf(d replies.Document) *form {
	if samples := d.Documents("samples"); len(samples) > 0 && samples[0].States("beatsPerMinute") {
		return formNamed("HeartRate")
	}
	for _, name := range slices.Sorted(maps.Keys(distinctFields)) {
		if d.States(name) {
			return formNamed(distinctFields[name])
		}
	}
	return nil
}

// measure maps the client library's names of units to the platform's units. The
// platform's own unit is first: it is used if a value has several, so that no digit is
// lost.
type measure []unit

type unit struct {
	name        string // singular, as capacitor-health-connect has it
	times, over float64
}

// Eighteen milligrams are a millimole here as in the library, so that its converted
// value is converted back exactly.
//
// Source: androidx.health.connect.client.units.
var (
	plainMeasure = measure{{"", 1, 1}}
	metre        = measure{{"meter", 1, 1}, {"kilometer", 1000, 1}, {"mile", 1609.344, 1}, {"inch", 0.0254, 1}, {"feet", 0.3048, 1}}
	calorie      = measure{{"calorie", 1, 1}, {"kilocalorie", 1000, 1}, {"joule", 1000, 4184}, {"kilojoule", 1e6, 4184}}
	gram         = measure{{"gram", 1, 1}, {"kilogram", 1000, 1}, {"milligram", 1, 1000}, {"microgram", 1, 1e6}, {"ounce", 28.34952, 1}, {"pound", 453.59237, 1}}
	litre        = measure{{"liter", 1, 1}, {"milliliter", 1, 1000}, {"fluidOunceUs", 0.02957353, 1}}
	celsius      = measure{{"celsius", 1, 1}}
	millimolar   = measure{{"millimolesPerLiter", 1, 1}, {"milligramsPerDeciliter", 1, 18}}
	mercury      = measure{{"millimetersOfMercury", 1, 1}}
	specimens    = measure{} // a number or a word
)

// read returns a value in the platform's unit. react-native-health-connect
// writes {"inKilograms": 71.2, "inGrams": 71200}. capacitor-health-connect
// writes {"unit": "gram", "value": 71200}. A value without a unit is a number.
func (m measure) read(raw json.RawMessage) (float64, bool) {
	if v, ok := replies.NumberOf(raw); ok {
		return v, m[0].name == ""
	}
	d, ok := replies.Parse(raw)
	if !ok {
		return 0, false
	}
	if v, ok := d.Number("value"); ok {
		of := d.Text("unit")
		for _, u := range m {
			if u.is(of) {
				return v * u.times / u.over, true
			}
		}
		return 0, false
	}
	for _, u := range m {
		if u.name == "" {
			continue
		}
		for _, end := range []string{"s", ""} {
			if v, ok := d.Number("in" + strings.ToUpper(u.name[:1]) + u.name[1:] + end); ok {
				return v * u.times / u.over, true
			}
		}
	}
	return 0, false
}

// is reports whether a word names the unit, in the singular or the plural.
func (u unit) is(word string) bool { return word == u.name || u.name != "" && word == u.name+"s" }

// specimenWords are the client library's words for the specimens of blood glucose. The
// index of a word is the platform's code.
//
// Source: android.health.connect.datatypes.BloodGlucoseRecord.SpecimenSource.
var specimenWords = []string{"unknown", "interstitial_fluid", "capillary_blood", "plasma", "serum", "tears", "whole_blood"}
