package query

import "slices"

// Tables are the tables of summaries. Columns and names are the reference's;
// those without a place are in no summary that the service stores.
//
// Reference 7.12 with the column enums of its contract; 7.5 for the places.
var Tables = map[string]*Table{
	"sleep": {
		Name: "sleep", Document: "sleep", Resource: "sleep", Priorities: "sleep",
		Index: Column{Name: indexColumn, Kind: Moment, From: "bedtime_stop"},
		Columns: slices.Concat([]Column{
			{Name: "id", Kind: Text, From: FromID},
			{Name: "session_start", Kind: Moment, From: "bedtime_start"},
			{Name: "session_end", Kind: Moment, From: "bedtime_stop"},
			text("state"), text("type"),
			integer("duration_second", "duration"),
			integer("stage_asleep_second", "total"),
			integer("stage_awake_second", "awake"),
			integer("stage_light_second", "light"),
			integer("stage_rem_second", "rem"),
			integer("stage_deep_second", "deep"),
			integer("stage_unknown_second", ""),
			integer("latency_second", "latency"),
			integer("heart_rate_minimum", "hr_lowest"),
			integer("heart_rate_mean", "hr_average"),
			integer("heart_rate_maximum", ""),
			number("heart_rate_dip", "hr_dip"),
			integer("heart_rate_resting", "hr_resting"),
			number("efficiency", "efficiency"),
			number("hrv_mean_rmssd", "average_hrv"),
			number("hrv_mean_sdnn", ""),
			number("skin_temperature", "skin_temperature"),
			number("skin_temperature_delta", "temperature_delta"),
			number("respiratory_rate", "respiratory_rate"),
			integer("score", "score"),
			integer("recovery_readiness_score", "recovery_readiness_score"),
		}, sources, []Column{{Name: "time_zone", Kind: Text}}),
	},
	// A row for the long sleep of each day. What weighs several nights against
	// each other has no published formula, and is refused by the plan.
	"derived_readiness": {
		Name: "derived_readiness", Document: "sleep", Resource: "sleep", Priorities: "sleep",
		Index: Column{Name: indexColumn, Kind: Date, From: "calendar_date"},
		Columns: []Column{
			{Name: "date", Kind: Date, From: "calendar_date"},
			{Name: "chronotype", Kind: Text, From: FromMacro + "chronotype"},
			{Name: "sleep_score", Kind: Integer, From: FromMacro + "sleep_score"},
			integer("recovery_score", unpublished), text2("recovery_zone", unpublished),
			integer("stress_score", unpublished),
			integer("strain_score", unpublished), text2("strain_zone", unpublished),
		},
	},
	"activity": {
		Name: "activity", Document: "activity", Resource: "activity", Priorities: "activity",
		Index: Column{Name: indexColumn, Kind: Date, From: "calendar_date"},
		Columns: slices.Concat([]Column{
			{Name: "date", Kind: Date, From: "calendar_date"},
			number("calories_total", "calories_total"),
			number("calories_active", "calories_active"),
			integer("steps", "steps"),
			number("distance_meter", "distance"),
			integer("floors_climbed", "floors_climbed"),
			number("duration_active_second", ""), // daily_movement, its namesake, holds metres
			number("intensity_sedentary_second", ""),
			minutes("intensity_low_second", "low"),
			minutes("intensity_medium_second", "medium"),
			minutes("intensity_high_second", "high"),
			number("heart_rate_mean", "heart_rate.avg_bpm"),
			number("heart_rate_minimum", "heart_rate.min_bpm"),
			number("heart_rate_maximum", "heart_rate.max_bpm"),
			number("heart_rate_resting", "heart_rate.resting_bpm"),
			number("heart_rate_mean_walking", "heart_rate.avg_walking_bpm"),
			flag("wheelchair_use"),
			integer("wheelchair_push", "wheelchair_push"),
		}, sources, []Column{text("time_zone"), integer("time_zone_offset", "timezone_offset")}),
	},
	"workout": {
		Name: "workout", Document: "workouts", Resource: "workouts", Priorities: "workouts",
		Index: Column{Name: indexColumn, Kind: Moment, From: "time_start"},
		Columns: slices.Concat([]Column{
			{Name: "session_start", Kind: Moment, From: "time_start"},
			{Name: "session_end", Kind: Moment, From: "time_end"},
			text("title"),
			text2("sport_name", "sport.name"), text2("sport_slug", "sport.slug"),
			integer("duration_active_second", "moving_time"),
			integer("heart_rate_mean", "average_hr"),
			integer("heart_rate_minimum", ""),
			integer("heart_rate_maximum", "max_hr"),
			number("heart_rate_zone_1", "hr_zones.0"), number("heart_rate_zone_2", "hr_zones.1"),
			number("heart_rate_zone_3", "hr_zones.2"), number("heart_rate_zone_4", "hr_zones.3"),
			number("heart_rate_zone_5", "hr_zones.4"), number("heart_rate_zone_6", "hr_zones.5"),
			number("distance_meter", "distance"),
			number("calories", "calories"),
			number("elevation_gain_meter", "total_elevation_gain"),
			number("elevation_maximum_meter", "elev_high"),
			number("elevation_minimum_meter", "elev_low"),
			number("speed_mean", "average_speed"),
			number("speed_maximum", "max_speed"),
			number("power_source", "device_watts"),
			number("power_mean", "average_watts"),
			number("power_maximum", "max_watts"),
			number("power_weighted_mean", "weighted_average_watts"),
			integer("steps", "steps"),
			text2("map_polyline", "map.polyline"), text2("map_summary_polyline", "map.summary_polyline"),
		}, sources, []Column{text2("external_id", "provider_id"), {Name: "time_zone", Kind: Text}}),
	},
	"body": {
		Name: "body", Document: "body", Resource: "body", Priorities: "body",
		Index: Column{Name: indexColumn, Kind: Moment, From: FromMeasured},
		Columns: slices.Concat([]Column{
			{Name: "measured_at", Kind: Moment, From: FromMeasured},
			number("weight_kilogram", "weight"),
			number("fat_mass_percentage", "fat"),
			number("water_percentage", "water_percentage"),
			number("muscle_mass_percentage", "muscle_mass_percentage"),
			number("visceral_fat_index", "visceral_fat_index"),
			number("bone_mass_percentage", "bone_mass_percentage"),
			number("body_mass_index", "body_mass_index"),
			number("lean_body_mass_kilogram", "lean_body_mass_kilogram"),
			number("waist_circumference_centimeter", "waist_circumference_centimeter"),
		}, sources, []Column{{Name: "time_zone", Kind: Text}}),
	},
	"meal": {
		Name: "meal", Document: "meal", Resource: "meal",
		Index:   Column{Name: indexColumn, Kind: Moment, From: "timestamp"},
		Columns: slices.Concat(nutrients, []Column{{Name: "date", Kind: Date, From: "calendar_date"}, text("name")}, sources),
	},
	"menstrual_cycle": {
		Name: "menstrual_cycle", Document: "menstrual_cycle", Resource: "menstrual_cycle",
		Index:   Column{Name: indexColumn, Kind: Date, From: "period_start"},
		Columns: slices.Concat([]Column{day("period_start"), day("period_end"), day("cycle_end"), flag("is_predicted")}, cycleLists, sources),
	},
	"profile": {
		Name: "profile", Document: "profile", Resource: "profile",
		Index: Column{Name: indexColumn, Kind: Moment, From: FromUpdated},
		Columns: slices.Concat([]Column{
			integer("height_centimeter", "height"), day("birth_date"), flag("wheelchair_use"), text("gender"), text("sex"),
		}, sources, []Column{{Name: "created_at", Kind: Moment, From: FromCreated}, {Name: "updated_at", Kind: Moment, From: FromUpdated}}),
	},
}

// indexColumn is what an index is called in results and conditions.
const indexColumn = "timestamp"

// unpublished marks a column whose formula the reference keeps to itself.
const unpublished = "$unpublished"

var cycleLists = []Column{
	entries("menstrual_flow", text("flow")),
	entries("cervical_mucus", text("quality")),
	entries("intermenstrual_bleeding"),
	entries("contraceptive", text("type")),
	entries("detected_deviations", text("deviation")),
	entries("ovulation_test", text("test_result")),
	entries("home_pregnancy_test", text("test_result")),
	entries("home_progesterone_test", text("test_result")),
	entries("sexual_activity", flag("protection_used")),
	entries("basal_body_temperature", number("value", "value")),
}

func number(name, from string) Column  { return Column{Name: name, Kind: Number, From: from} }
func integer(name, from string) Column { return Column{Name: name, Kind: Integer, From: from} }
func minutes(name, from string) Column {
	return Column{Name: name, Kind: Number, From: from, Scale: 60}
}
func text(name string) Column        { return text2(name, name) }
func text2(name, from string) Column { return Column{Name: name, Kind: Text, From: from} }
func flag(name string) Column        { return Column{Name: name, Kind: Flag, From: name} }
func day(name string) Column         { return Column{Name: name, Kind: Date, From: name} }

// entries is a list of dated observations.
func entries(name string, more ...Column) Column {
	return Column{Name: name, Kind: List, From: name, Fields: append([]Column{day("date")}, more...)}
}
