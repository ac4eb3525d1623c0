package query

import (
	"slices"

	"hale/internal/wearables"
)

// Kind is the type of a column's values.
type Kind string

// The kinds. Moments and dates are floating: microseconds since 1970 began, on the
// clock at the person's place.
const (
	Number  Kind = "number"
	Integer Kind = "integer"
	Text    Kind = "string"
	Flag    Kind = "boolean"
	Moment  Kind = "timestamp"
	Date    Kind = "date"
	List    Kind = "list"
)

// numeric reports whether values can be added up.
func (k Kind) numeric() bool { return k == Number || k == Integer }

// Column is one column of a table.
type Column struct {
	Name string
	Kind Kind
	// From names the place of the value. It is a path into the summary's document,
	// such as heart_rate.avg_bpm or hr_zones.0. Or it is a word that begins with $,
	// such as FromID. Empty means that no stored value exists: the column is null.
	From string
	// Scale turns the stored unit into the column's; 0 means that they are one.
	Scale float64
	// Fields are those of a list's elements; of plain elements ElementField.
	Fields []Column
}

func (c *Column) fieldNames() []string { return names(c.Fields) }

// Special values of Column.From, which name columns of the tables.
const (
	FromID       = "$id"
	FromProvider = "$provider"
	FromType     = "$source_type"
	FromApp      = "$app"
	FromDevice   = "$device"
	FromWorkout  = "$workout"
	FromSport    = "$sport"
	FromCreated  = "$created"
	FromUpdated  = "$updated"
	FromStart    = "$start"    // of a sample
	FromOffset   = "$offset"   // of a sample, s east of UTC
	FromLength   = "$length"   // of an interval, s
	FromValue    = "$value"    // of a sample
	FromValue2   = "$value2"   // diastolic pressure
	FromWord     = "$word"     // the samples' type
	FromExtra    = "$extra:"   // the name of a further word of the samples follows
	FromMacro    = "$macro:"   // a macro's name follows
	FromOnDay    = "$onday:"   // the path of a moment follows, whose time of day counts on the calendar date
	FromMeasured = "$measured" // the day of a body summary, or its instant where one was stated
)

// Table is the input of a query: one kind of summary, or one time series.
type Table struct {
	Name     string // in expressions
	Document string // kind of document that is stored, such as a summary; empty for samples
	Series   string // kind of time series; empty for a summary
	Resource string // in events
	// Priorities is the data type whose provider priorities count; empty for none.
	Priorities string
	Index      Column
	Columns    []Column
}

const timeseries = "timeseries"

// tableNames are the tables of summaries, as expressions name them.
var tableNames = []string{"sleep", "derived_readiness", "activity", "workout", "body", "meal", "menstrual_cycle", "profile"}

// TableNames lists the tables of summaries.
func TableNames() []string { return slices.Clone(tableNames) }

// sourceColumns are the columns that {"source": …} may name, of any table.
var sourceColumns = []string{"source_provider", "source_type", "source_app_id", "source_workout_id", "source_sport"}

// SourceColumns lists the columns that every table has.
func SourceColumns() []string { return slices.Clone(sourceColumns) }

var sources = []Column{
	{Name: "source_type", Kind: Text, From: FromType},
	{Name: "source_provider", Kind: Text, From: FromProvider},
	{Name: "source_app_id", Kind: Text, From: FromApp},
	{Name: "source_device_id", Kind: Text, From: FromDevice},
}

// workoutSource holds columns that only series fill. In summaries they are null.
var workoutSource = []Column{
	{Name: "source_workout_id", Kind: Text, From: FromWorkout},
	{Name: "source_sport", Kind: Text, From: FromSport},
}

func names(columns []Column) []string {
	all := make([]string, len(columns))
	for i := range columns {
		all[i] = columns[i].Name
	}
	return all
}

func (t *Table) names() []string { return names(t.Columns) }

// ColumnNames lists the columns that expressions may name.
func (t *Table) ColumnNames() []string { return t.names() }

// Column finds a column by its name, including the source columns. It returns nil for an
// unknown name.
func (t *Table) Column(name string) *Column {
	if c := find(t.Columns, name); c != nil {
		return c
	}
	if c := find(workoutSource, name); c != nil {
		if t.Series == "" {
			return &Column{Name: name, Kind: Text}
		}
		return c
	}
	return find(sources, name)
}

func find(columns []Column, name string) *Column {
	for i := range columns {
		if columns[i].Name == name {
			return &columns[i]
		}
	}
	return nil
}

// Macros are values that are computed from a sleep.
var macros = []Column{
	{Name: "sleep_score", Kind: Integer, From: FromMacro + "sleep_score"},
	{Name: "chronotype", Kind: Text, From: FromMacro + "chronotype"},
	{Name: "asleep_at", Kind: Moment, From: FromMacro + "asleep_at"},
	{Name: "awake_at", Kind: Moment, From: FromMacro + "awake_at"},
	{Name: "awakenings", Kind: Integer, From: FromMacro + "awakenings"},
}

var macroNames = names(macros)

// MacroNames lists the value macros.
func MacroNames() []string { return slices.Clone(macroNames) }

// NeedsCycles reports whether the column is computed from the stages of the night.
func (c *Column) NeedsCycles() bool {
	return c.From == FromMacro+"awake_at" || c.From == FromMacro+"awakenings"
}

// Tables maps names to the tables of summaries. Columns and names are the reference's.
// Columns with an empty From are in no summary that the service stores.
//
// Reference 7.12 with the column enums of its contract; 7.5 for the places.
var Tables = map[string]*Table{
	"sleep": {
		Name: "sleep", Document: "sleep", Resource: "sleep", Priorities: "sleep",
		Index: Column{Name: indexColumn, Kind: Moment, From: FromOnDay + "bedtime_stop"},
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
	// A row for the long sleep of each day. Values that compare several nights have no
	// published formula; the plan refuses them.
	"derived_readiness": {
		Name: "derived_readiness", Document: "sleep", Resource: "sleep", Priorities: "sleep",
		Index: Column{Name: indexColumn, Kind: Date, From: "calendar_date"},
		Columns: []Column{
			{Name: "date", Kind: Date, From: "calendar_date"},
			{Name: "chronotype", Kind: Text, From: FromMacro + "chronotype"},
			{Name: "sleep_score", Kind: Integer, From: FromMacro + "sleep_score"},
			integer("recovery_score", unpublishedFormula), text2("recovery_zone", unpublishedFormula),
			integer("stress_score", unpublishedFormula),
			integer("strain_score", unpublishedFormula), text2("strain_zone", unpublishedFormula),
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
		Index: Column{Name: indexColumn, Kind: Moment, From: FromOnDay + "time_start"},
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
		Index:   Column{Name: indexColumn, Kind: Moment, From: FromOnDay + "timestamp"},
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

// indexColumn is the name of an index in results and conditions.
const indexColumn = "timestamp"

// unpublishedFormula marks a column whose formula the reference keeps to itself.
const unpublishedFormula = "$unpublished"

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

// entries returns a list column of observations. Each element has a date and the columns
// in more.
func entries(name string, more ...Column) Column {
	return Column{Name: name, Kind: List, From: name, Fields: append([]Column{day("date")}, more...)}
}

// seriesNames are the time series that queries may read, by their names in events:
// all that are stored.
//
// Reference contract: DiscreteTimeseriesExpr, IntervalTimeseriesExpr and the series with
// fields of their own.
var seriesNames = func() (names []string) {
	for _, r := range wearables.Resources() {
		if wearables.KeepsData(r.Event) {
			names = append(names, r.Event)
		}
	}
	return names
}()

// SeriesNames lists the time series that queries may read.
func SeriesNames() []string { return slices.Clone(seriesNames) }

// seriesColumns are the columns of every series.
var seriesColumns = []Column{
	{Name: "source_provider", Kind: Text, From: FromProvider},
	{Name: "source_type", Kind: Text, From: FromType},
	{Name: "source_app_id", Kind: Text, From: FromApp},
	{Name: "source_workout_id", Kind: Text, From: FromWorkout},
	{Name: "source_sport", Kind: Text, From: FromSport},
	{Name: "timezone_offset", Kind: Integer, From: FromOffset},
	{Name: "type", Kind: Text, From: FromWord},
}

var seriesTables = func() map[string]*Table {
	tables := map[string]*Table{}
	for _, name := range seriesNames {
		tables[name] = &Table{
			Name: timeseries, Series: name, Resource: name, Priorities: timeseries,
			Index:   Column{Name: indexColumn, Kind: Moment, From: FromStart},
			Columns: slices.Concat(seriesColumns, fieldsOf(name)),
		}
	}
	tables[note] = notes
	return tables
}()

const note = "note"

// notes are a time series of texts, which are stored as documents.
//
// Reference contract: NoteTimeseriesExpr.
var notes = &Table{
	Name: timeseries, Document: note, Series: note, Resource: note, Priorities: timeseries,
	Index: Column{Name: indexColumn, Kind: Moment, From: FromOnDay + "timestamp"},
	Columns: []Column{
		{Name: "source_provider", Kind: Text, From: FromProvider},
		{Name: "source_type", Kind: Text, From: FromType},
		{Name: "source_app_id", Kind: Text, From: FromApp},
		{Name: "source_workout_id", Kind: Text},
		{Name: "source_sport", Kind: Text},
		{Name: "timezone_offset", Kind: Integer, From: "timezone_offset"},
		{Name: "type", Kind: Text},
		{Name: "tags", Kind: List, From: "tags", Fields: []Column{{Name: ElementField, Kind: Text}}},
		{Name: "content", Kind: Text, From: "value"},
	},
}

// SeriesTable returns the table of a time series, or nil if there is no such series.
func SeriesTable(name string) *Table { return seriesTables[name] }

// fieldsOf returns the fields of a series of numbers, without the common ones.
func fieldsOf(name string) []Column {
	r, _ := wearables.ResourceNamed(name)
	if r.Pair {
		return []Column{{Name: "systolic", Kind: Number, From: FromValue}, {Name: "diastolic", Kind: Number, From: FromValue2}}
	}
	var columns []Column
	if r.Interval || r.QueryLength {
		columns = append(columns, Column{Name: "duration", Kind: Number, From: FromLength})
	}
	columns = append(columns, Column{Name: "value", Kind: Number, From: FromValue})
	for _, e := range r.Extra {
		columns = append(columns, Column{Name: e.Name, Kind: Text, From: FromExtra + e.Name})
	}
	return columns
}

// nutrients are the columns of a meal, in the units of their names. Two are
// stored in another unit.
//
// Reference 7.5, meal.
var nutrients = []Column{
	number("calories", "energy.value"),
	number("carbohydrate_gram", "macros.carbs"),
	number("protein_gram", "macros.protein"),
	number("alcohol_gram", "macros.alcohol"),
	number("water_gram", "macros.water"),
	number("fibre_gram", "macros.fibre"),
	number("sugar_gram", "macros.sugar"),
	number("cholesterol_gram", "macros.cholesterol"),
	number("saturated_fat_gram", "macros.fats.saturated"),
	number("monounsaturated_fat_gram", "macros.fats.monounsaturated"),
	number("polyunsaturated_fat_gram", "macros.fats.polyunsaturated"),
	number("omega3_fat_gram", "macros.fats.omega3"),
	number("omega6_fat_gram", "macros.fats.omega6"),
	number("total_fat_gram", "macros.fats.total"),

	number("sodium_milligram", "micros.minerals.sodium"),
	number("potassium_milligram", "micros.minerals.potassium"),
	number("calcium_milligram", "micros.minerals.calcium"),
	number("phosphorus_milligram", "micros.minerals.phosphorus"),
	number("magnesium_milligram", "micros.minerals.magnesium"),
	number("iron_milligram", "micros.minerals.iron"),
	number("zinc_milligram", "micros.minerals.zinc"),
	number("fluoride_milligram", "micros.minerals.fluoride"),
	number("chloride_milligram", "micros.minerals.chloride"),

	{Name: "vitamin_a_milligram", Kind: Number, From: "micros.vitamins.vitamin_a", Scale: 0.001}, // stored in µg
	number("vitamin_b1_milligram", "micros.vitamins.vitamin_b1"),
	number("riboflavin_milligram", "micros.vitamins.riboflavin"),
	number("niacin_milligram", "micros.vitamins.niacin"),
	number("pantothenic_acid_milligram", "micros.vitamins.pantothenic_acid"),
	number("vitamin_b6_milligram", "micros.vitamins.vitamin_b6"),
	number("biotin_microgram", "micros.vitamins.biotin"),
	number("vitamin_b12_microgram", "micros.vitamins.vitamin_b12"),
	number("vitamin_c_milligram", "micros.vitamins.vitamin_c"),
	number("vitamin_d_microgram", "micros.vitamins.vitamin_d"),
	number("vitamin_e_milligram", "micros.vitamins.vitamin_e"),
	number("vitamin_k_microgram", "micros.vitamins.vitamin_k"),
	number("folic_acid_microgram", "micros.vitamins.folic_acid"),

	number("chromium_microgram", "micros.trace_elements.chromium"),
	number("copper_milligram", "micros.trace_elements.copper"),
	{Name: "copper_microgram", Kind: Number, From: "micros.trace_elements.copper", Scale: 1000}, // stored in mg
	number("iodine_microgram", "micros.trace_elements.iodine"),
	number("manganese_milligram", "micros.trace_elements.manganese"),
	number("molybdenum_microgram", "micros.trace_elements.molybdenum"),
	number("selenium_microgram", "micros.trace_elements.selenium"),
}
