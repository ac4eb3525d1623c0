package healthconnect

import "strings"

// shape is the meaning of the rows of a table.
type shape uint8

const (
	span             shape = iota // an amount of start_time to end_time
	length                        // the minutes from start_time to end_time
	point                         // a measurement at time
	pair                          // blood pressure at time
	glucose                       // a measurement at time that states its specimen
	series                        // a sample at epoch_millis; its record is in the parent table
	restingHeartRate              // the resting heart rate of the day
	height                        // a fact about the person
)

// rule says how the rows of a table are converted.
type rule struct {
	table    string
	value    string // column
	value2   string // the second column of a pair or of glucose
	shape    shape
	resource string   // our series; empty when only workouts use it
	kind     string   // its `type` word
	times    float64  // from the platform's unit to ours
	category int64    // of the person's order of apps
	parent   string   // table of a series' records
	effort   effort   // the amount that it adds to a workout around it
	where    []string // words for where a thermometer was, by the number of measurement_location; empty without one
}

// These words are the places of thermometers, by the platform's number. A place without a
// word of ours is empty.
//
// Source: android.health.connect.datatypes, BodyTemperatureMeasurementLocation and
// SkinTemperatureRecord.
var (
	thermometers = []string{"", "armpit", "finger", "forehead", "mouth", "rectum", "temporal_artery", "toe", "ear", "wrist"}
	skinSites    = []string{"", "finger", "toe", "wrist"}
)

// Categories of data, by which the person orders apps.
const (
	activity        = 1
	bodyMeasurement = 2
	nutrition       = 4
	vitals          = 6
	wellness        = 7
)

// rules lists the tables in the order of reading. Workouts need the amounts that were
// counted during them, and heart rate must be stored before workouts.
var rules = []rule{
	{table: "steps_record_table", value: "count", shape: span, resource: "steps", times: 1, category: activity, effort: steps},
	{table: "distance_record_table", value: "distance", shape: span, resource: "distance", times: 1, category: activity, effort: metres},
	{table: "active_calories_burned_record_table", value: "energy", shape: span, resource: "calories_active", times: 1e-3, category: activity, effort: kilocalories},
	{table: "elevation_gained_record_table", value: "elevation", shape: span, times: 1, category: activity, effort: effortClimbed},
	{table: "floors_climbed_record_table", value: "floors", shape: span, resource: "floors_climbed", times: 1, category: activity},
	{table: "wheelchair_pushes_record_table", value: "count", shape: span, resource: "wheelchair_push", times: 1, category: activity},
	{table: "hydration_record_table", value: "volume", shape: span, resource: "water", times: 1e3, category: nutrition},
	{table: "nutrition_record_table", value: "total_carbohydrate", shape: span, resource: "carbohydrates", times: 1, category: nutrition},
	{table: "nutrition_record_table", value: "caffeine", shape: span, resource: "caffeine", times: 1, category: nutrition},
	{table: "mindfulness_session_record_table", shape: length, resource: "mindfulness_minutes", times: 1, category: wellness},

	{table: "heart_rate_record_series_table", parent: "heart_rate_record_table", value: "beats_per_minute", shape: series, resource: "heartrate", times: 1, category: vitals},
	{table: "skin_temperature_delta_table", parent: "skin_temperature_record_table", value: "delta", shape: series, resource: "body_temperature_delta", times: 1, category: vitals, where: skinSites},

	{table: "heart_rate_variability_rmssd_record_table", value: "heart_rate_variability_millis", shape: point, resource: "hrv", kind: "rmssd", times: 1, category: vitals},
	{table: "oxygen_saturation_record_table", value: "percentage", shape: point, resource: "blood_oxygen", times: 1, category: vitals},
	{table: "respiratory_rate_record_table", value: "rate", shape: point, resource: "respiratory_rate", times: 1, category: vitals},
	{table: "body_temperature_record_table", value: "temperature", shape: point, resource: "body_temperature", times: 1, category: vitals, where: thermometers},
	{table: "basal_body_temperature_record_table", value: "temperature", shape: point, resource: "basal_body_temperature", times: 1, category: vitals},
	{table: "blood_glucose_record_table", value: "level", value2: "specimen_source", shape: glucose, resource: "glucose", times: 1, category: vitals},
	{table: "blood_pressure_record_table", value: "systolic", value2: "diastolic", shape: pair, resource: "blood_pressure", times: 1, category: vitals},
	{table: "vo2_max_record_table", value: "vo2_milliliters_per_minute_kilogram", shape: point, resource: "vo2_max", times: 1, category: activity},
	{table: "weight_record_table", value: "weight", shape: point, resource: "body_weight", times: 1e-3, category: bodyMeasurement},
	{table: "body_fat_record_table", value: "percentage", shape: point, resource: "body_fat", times: 1, category: bodyMeasurement},
	{table: "lean_body_mass_record_table", value: "mass", shape: point, resource: "lean_body_mass", times: 1e-3, category: bodyMeasurement},

	{table: "resting_heart_rate_record_table", value: "beats_per_minute", shape: restingHeartRate, times: 1, category: vitals},
	{table: "height_record_table", value: "height", shape: height, times: 100, category: bodyMeasurement},
}

// skippedTables are tables that are counted and have no series of ours. Total calories
// contain the active ones again, and a basal rate is no amount of energy.
var skippedTables = []string{
	"total_calories_burned_record_table", "basal_metabolic_rate_record_table", "body_water_mass_record_table", "bone_mass_record_table",
	"speed_record_table", "power_record_table", "steps_cadence_record_table", "cycling_pedaling_cadence_record_table",
	"menstruation_flow_record_table", "menstruation_period_record_table", "intermenstrual_bleeding_record_table",
	"cervical_mucus_record_table", "ovulation_test_record_table", "sexual_activity_record_table", "planned_exercise_session_record_table",
}

// name returns the name of a table in reports.
func name(table string) string {
	for _, end := range []string{"_record_series_table", "_record_table", "_table"} {
		if short, ok := strings.CutSuffix(table, end); ok {
			return short
		}
	}
	return table
}

// clock names the columns of a record's time and offset.
func (r *rule) clock() (at, offset string) {
	switch r.shape {
	case span, length, series:
		return "start_time", "start_zone_offset"
	default:
		return "time", "zone_offset"
	}
}

// tablesWithOffsets returns all tables of records, each once.
func tablesWithOffsets() []rule {
	all := []rule{{table: sleepTable, shape: span}, {table: exerciseTable, shape: span}}
	known := map[string]bool{}
	for _, r := range rules {
		if r.parent != "" {
			r.table = r.parent
		}
		if !known[r.table] {
			known[r.table] = true
			all = append(all, r)
		}
	}
	return all
}
