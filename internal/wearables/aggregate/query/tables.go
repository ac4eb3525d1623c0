package query

import "slices"

// Kind is the type of a column's values.
type Kind string

// The kinds. Moments and dates are floating: what the clock on the person's
// wall showed, as microseconds since 1970 began on that clock.
const (
	Number  Kind = "number"
	Integer Kind = "integer"
	Text    Kind = "string"
	Flag    Kind = "boolean"
	Moment  Kind = "timestamp"
	Date    Kind = "date"
	List    Kind = "list"
)

// numeric says whether values can be added up.
func (k Kind) numeric() bool { return k == Number || k == Integer }

// Column is one column of a table.
type Column struct {
	Name string
	Kind Kind
	// From is where the value stands: a path into the summary's document, such
	// as heart_rate.avg_bpm or hr_zones.0, or one of the store's own words, which
	// begin with $. Empty means that nothing stored has it: the column is null.
	From string
	// Scale turns the stored unit into the column's; 0 means that they are one.
	Scale float64
	// Fields are those of a list's elements; of plain elements ElementField.
	Fields []Column
}

func (c *Column) fieldNames() []string { return names(c.Fields) }

// Words of the store's own, in Column.From.
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
	FromMeasured = "$measured" // the day of a body summary, or its instant where one was stated
)

// Table is what queries read: one kind of summary, or one time series.
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

// sourceColumns are what {"source": …} may name, of any table.
var sourceColumns = []string{"source_provider", "source_type", "source_app_id", "source_workout_id", "source_sport"}

// SourceColumns lists the columns that every table has.
func SourceColumns() []string { return slices.Clone(sourceColumns) }

var sources = []Column{
	{Name: "source_type", Kind: Text, From: FromType},
	{Name: "source_provider", Kind: Text, From: FromProvider},
	{Name: "source_app_id", Kind: Text, From: FromApp},
	{Name: "source_device_id", Kind: Text, From: FromDevice},
}

// workoutSource is of series only; summaries have null there.
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

// Column finds a column by its name, that of a source column included.
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

// NeedsCycles says whether the column is computed from the stages of the
// night.
func (c *Column) NeedsCycles() bool {
	return c.From == FromMacro+"awake_at" || c.From == FromMacro+"awakenings"
}
