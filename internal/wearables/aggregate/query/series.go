package query

import (
	"slices"

	"hale/internal/wearables"
)

// seriesNames are the time series that queries may read, by their names in
// events.
//
// Reference contract: DiscreteTimeseriesExpr, IntervalTimeseriesExpr and the
// series with fields of their own.
var seriesNames = slices.Concat(discreteSeries, intervalSeries, []string{
	"insulin_injection", "blood_pressure", "body_temperature", "body_temperature_delta", "workout_duration", "note",
})

var discreteSeries = []string{
	"glucose", "heartrate", "hrv", "ige", "igg", "cholesterol", "weight", "fat", "blood_oxygen",
	"electrocardiogram_voltage", "respiratory_rate", "stress_level",
}

var intervalSeries = []string{
	"steps", "distance", "vo2_max", "heart_rate_alert", "stand_hour", "sleep_breathing_disturbance", "water", "caffeine",
	"mindfulness_minutes", "calories_active", "floors_climbed", "calories_basal", "afib_burden", "stand_duration",
	"sleep_apnea_alert", "wheelchair_push", "forced_expiratory_volume_1", "forced_vital_capacity",
	"peak_expiratory_flow_rate", "inhaler_usage", "fall", "uv_exposure", "daylight_exposure", "handwashing",
	"basal_body_temperature", "body_mass_index", "lean_body_mass", "waist_circumference",
	"heart_rate_recovery_one_minute", "workout_swimming_stroke", "workout_distance", "carbohydrates",
}

// SeriesNames lists the time series that queries may read.
func SeriesNames() []string { return slices.Clone(seriesNames) }

// seriesColumns are those of every series.
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
	Index: Column{Name: indexColumn, Kind: Moment, From: "timestamp"},
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

// SeriesTable is the table of a time series.
func SeriesTable(name string) *Table { return seriesTables[name] }

// fieldsOf are the fields of a series of numbers beside the common ones.
func fieldsOf(name string) []Column {
	value := Column{Name: "value", Kind: Number, From: FromValue}
	length := Column{Name: "duration", Kind: Number, From: FromLength}
	switch {
	case name == "blood_pressure":
		return []Column{{Name: "systolic", Kind: Number, From: FromValue}, {Name: "diastolic", Kind: Number, From: FromValue2}}
	case slices.Contains(discreteSeries, name):
		return []Column{value}
	}
	columns := []Column{length, value}
	r, _ := wearables.ResourceNamed(name)
	for _, e := range r.Extra {
		columns = append(columns, Column{Name: e.Name, Kind: Text, From: FromExtra + e.Name})
	}
	return columns
}
