package query

// Op is the form of an expression.
type Op int

// The forms of expressions. Reference 7.12, in its order.
const (
	OfTable  Op = iota // {"sleep": "efficiency"}
	OfSeries           // {"timeseries": "heartrate", "field": "value"}
	OfSource           // {"source": "source_provider"}
	OfIndex            // {"index": "sleep"}
	OfKey              // {"group_key": 0} or "*"
	OfFunc             // {"func": "mean", "arg": …}
	OfMacro            // {"value_macro": "asleep_at"}
	OfList             // {"select": {"func": …, "arg": …}, "from": {"unnest": …}, "where": …}
	OfTrunc            // {"date_trunc": …, "arg": {"index": …}}
	OfPart             // {"date_part": "hour", "arg": {"index": …}}
)

// Expr is one expression of a query, of the form that Op names.
type Expr struct {
	Op    Op
	Table string // OfTable, OfIndex: the table; OfSeries: the resource
	Name  string // column, field, macro or date part
	Func  Func   // OfFunc, OfList
	Arg   *Expr  // OfFunc: the argument; OfList: the unnested column; OfTrunc, OfPart: the index
	// Field is the field that OfList reads from each element: a name, or ElementField.
	// When empty, OfList counts the elements.
	Field  string
	Where  *string // OfList
	Key    int     // OfKey; AllKeys for "*"
	Period Period  // OfTrunc

	at []string // its path in the request
}

// AllKeys is the Key of {"group_key": "*"}.
const AllKeys = -1

// ElementField names the element itself, in a list of plain values.
const ElementField = "element"

// Func is an aggregate function.
type Func string

// The aggregate functions. All except Count skip nulls and return null without values.
// Count counts the values that are not null.
const (
	Mean   Func = "mean"
	Min    Func = "min"
	Max    Func = "max"
	Sum    Func = "sum"
	Count  Func = "count"
	Median Func = "median" // of an even number the mean of the two in the middle
	Stddev Func = "stddev" // of the sample, n − 1; null of one value
	Oldest Func = "oldest" // of the row with the least index
	Newest Func = "newest"
)

// Funcs lists the aggregate functions.
func Funcs() []string {
	return textsOf(Mean, Min, Max, Sum, Count, Median, Stddev, Oldest, Newest)
}

func textsOf[T ~string](words ...T) []string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	return texts
}

// Unit is a unit of calendar time.
type Unit string

// Units lists the units of calendar time, the smallest first.
func Units() []string { return textsOf(Minute, Hour, Day, Week, Month, Year) }

// The units. Weeks begin on Monday.
const (
	Minute Unit = "minute"
	Hour   Unit = "hour"
	Day    Unit = "day"
	Week   Unit = "week"
	Month  Unit = "month"
	Year   Unit = "year"
)

// Period is a number of units.
type Period struct {
	Value int
	Unit  Unit
}

// Parts lists the parts of a moment that date_part can extract.
func Parts() []string { return append(Units(), "weekday", "week_of_year", "day_of_year") }

// Mode is the direction from which an empty bucket is filled.
type Mode string

// The modes. CarryNearest prefers the past when both are as near.
const (
	CarryForward  Mode = "carry_forward"
	CarryBackward Mode = "carry_backward"
	CarryNearest  Mode = "carry_nearest"
)

// Align adds a row for every bucket, filled from its neighbours.
type Align struct {
	Mode   Mode
	Window *Period // how far a value is carried; nil means any distance

	at []string
}

// Query is one question about one table.
type Query struct {
	Select  []Expr
	GroupBy []Expr
	Where   *string
	Align   *Align

	at []string
}

// Batch holds the queries of one request, which share a time frame.
type Batch struct {
	Timeframe Timeframe
	Queries   []Query
	Config    Config
}

// Config changes how one query chooses among sources.
type Config struct {
	// Overrides are providers in order of preference, above the team's own.
	Overrides []string
}
