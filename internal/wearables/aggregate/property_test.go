package aggregate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/wearables/aggregate/query"
)

// Grouping and reducing any rows, by any keys and functions, gives the same result as
// applying the rules row by row.
func TestGroupsAgainstAPlainReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(drawRow), 0, 60).Draw(t, "rows")
		slices.SortStableFunc(rows, func(a, b row) int { return int(a.at - b.at) })
		unit := query.Unit(rapid.SampledFrom([]string{"hour", "day", "week", "month"}).Draw(t, "unit"))
		function := query.Func(rapid.SampledFrom(query.Funcs()).Draw(t, "function"))
		byType := rapid.Bool().Draw(t, "by type")

		p := plan(unit, function, byType)
		r := Request{Plan: p}
		f := frameOf(p, rows)
		got := reduceFrame(t, r, f)
		if want := countByRules(rows, unit, function, byType); describe(got) != want {
			t.Fatalf("gave\n%swanted\n%s", describe(got), want)
		}
	})
}

func reduceFrame(t *rapid.T, r Request, f *frame) *Table {
	g, err := group(t.Context(), r.Plan, f, MostResults)
	if err != nil {
		t.Fatal(err)
	}
	table, err := r.reduce(t.Context(), f, g, g.rows())
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// row is one sample, as a test draws it.
type row struct {
	at      int64
	kind    string
	value   float64
	unknown bool
}

func drawRow(t *rapid.T) row {
	return row{
		at:      int64(rapid.IntRange(-3000, 3000).Draw(t, "hour")) * 3600e6,
		kind:    rapid.SampledFrom([]string{"watch", "phone", ""}).Draw(t, "type"),
		value:   float64(rapid.IntRange(-50, 50).Draw(t, "value")),
		unknown: rapid.IntRange(0, 5).Draw(t, "unknown") == 0,
	}
}

func plan(unit query.Unit, function query.Func, byType bool) *query.Plan {
	keys := fmt.Sprintf(`{"date_trunc":{"unit":%q},"arg":{"index":"timeseries"}}`, unit)
	if byType {
		keys += `,{"timeseries":"heartrate","field":"source_type"}`
	}
	q, _, err := query.DecodeQuery(fmt.Appendf(nil, `{"query":{"select":[{"group_key":"*"},{"func":%q,"arg":{"timeseries":"heartrate","field":"value"}}],"group_by":[%s]}}`,
		function, keys), "query", "config")
	if err != nil {
		panic(err)
	}
	p, err := query.Compile(q)
	if err != nil {
		panic(err)
	}
	return p
}

func frameOf(p *query.Plan, rows []row) *frame {
	f := newFrame(p)
	for _, r := range rows {
		f.index, f.origin = append(f.index, r.at), append(f.origin, 0)
		for i, in := range p.Inputs {
			switch {
			case in.Column.From == query.FromStart:
				f.inputs[i].appendTime(r.at)
			case in.Column.From == query.FromType:
				f.inputs[i].appendText(r.kind)
			case r.unknown:
				f.inputs[i].appendNull()
			default:
				f.inputs[i].appendNumber(r.value)
			}
		}
	}
	return f
}

// countByRules follows the documented rules step by step. It uses the calendar of package
// time and none of the code above.
func countByRules(rows []row, unit query.Unit, function query.Func, byType bool) string {
	type place struct{ bucket, kind string }
	groups := map[place][]float64{}
	for _, r := range rows {
		at := time.UnixMicro(r.at).UTC()
		switch unit {
		case "hour":
			at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), 0, 0, 0, time.UTC)
		case "day":
			at = time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		case "week":
			for at.Weekday() != time.Monday {
				at = at.AddDate(0, 0, -1)
			}
			at = time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		case "month":
			at = time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
		default:
			return "a unit that is not drawn"
		}
		p := place{bucket: at.Format("2006-01-02T15:04:05")}
		if byType {
			p.kind = r.kind
			if p.kind == "" {
				p.kind = "~null" // sorts last
			}
		}
		if _, ok := groups[p]; !ok {
			groups[p] = nil
		}
		if !r.unknown {
			groups[p] = append(groups[p], r.value)
		}
	}
	var lines []string
	for p, values := range groups {
		line := p.bucket
		if byType {
			line += " " + p.kind
		}
		lines = append(lines, line+" "+reduceByRules(function, values)+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func reduceByRules(function query.Func, values []float64) string {
	if function == query.Count {
		return fmt.Sprint(len(values))
	}
	if len(values) == 0 {
		return "null"
	}
	total := 0.0
	for _, v := range values {
		total += v
	}
	mean := total / float64(len(values))
	sorted := slices.Sorted(slices.Values(values))
	middle := sorted[len(sorted)/2]
	if len(sorted)%2 == 0 {
		middle = (sorted[len(sorted)/2-1] + sorted[len(sorted)/2]) / 2
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	result := map[query.Func]float64{
		query.Sum: total, query.Mean: mean, query.Median: middle, query.Min: sorted[0], query.Max: sorted[len(sorted)-1],
		query.Oldest: values[0], query.Newest: values[len(values)-1],
	}[function]
	if function == query.Stddev {
		if len(values) == 1 {
			return "null"
		}
		result = math.Sqrt(squares / float64(len(values)-1))
	}
	return fmt.Sprintf("%.9f", result+0)
}

// describe writes a table as text, one line per row.
func describe(t *Table) string {
	var b strings.Builder
	for row := range t.Len() {
		for i := range t.Columns {
			c := &t.Columns[i]
			switch {
			case i > 0 && c.Null[row] && c.Kind == query.Text:
				b.WriteString(" ~null")
			case i > 0 && c.Null[row]:
				b.WriteString(" null")
			case c.Kind == query.Moment:
				b.WriteString(time.UnixMicro(c.Time[row]).UTC().Format("2006-01-02T15:04:05"))
			case c.Kind == query.Text:
				b.WriteString(" " + c.Text[row])
			case c.Kind == query.Integer:
				fmt.Fprintf(&b, " %v", c.Num[row])
			default:
				fmt.Fprintf(&b, " %.9f", c.Num[row]+0)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// A table that is written and read again is the same table.
func TestTablesRoundTripThroughJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(drawRow), 0, 20).Draw(t, "rows")
		p := plan("hour", "mean", true)
		f := frameOf(p, rows)
		before := reduceFrame(t, Request{Plan: p}, f)
		after, err := ParseTable(before.AppendJSON(nil, nil), p)
		if err != nil {
			t.Fatal(err)
		}
		if describe(before) != describe(after) || before.Len() != after.Len() {
			t.Fatalf("%s became %s", describe(before), describe(after))
		}
		for row := range before.Len() {
			if !Equal(before, row, after, row) {
				t.Fatalf("row %d differs", row)
			}
		}
	})
}
