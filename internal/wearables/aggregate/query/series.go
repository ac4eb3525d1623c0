package query

import (
	"slices"

	"hale/internal/wearables"
)

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
