package aggregate_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/merged"
	"hale/internal/wearables/storage"

	"pgregory.net/rapid"
)

// A query over stored blocks gives the table that follows, row by row, from the samples
// of a plain read. The test covers time zones, duplicates with one external key, filters
// and the choice of the best source.
func TestQueriesAgainstPlainReads(t *testing.T) {
	db := storetest.NewSQLite(t).Open(t, func() time.Time { return time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC) })
	rapid.Check(t, func(rt *rapid.T) {
		c := drawCase(rt)
		r := newFixture(t, db, c.zone)
		for _, s := range c.series {
			if _, err := r.in.Ingest(r.ctx, r.user, wearables.Batch{Provider: s.Source.Provider, Stage: wearables.Daily, Samples: []wearables.Samples{s}}); err != nil {
				rt.Fatal(err)
			}
		}
		if c.prefer != 0 {
			r.prefer("oura", c.prefer)
		}
		table, err := r.table(c.anchor, c.days, c.query())
		if err != nil {
			rt.Fatalf("%s: %v", c.query(), err)
		}
		var got []string
		for row := range table.Len() {
			var cells []string
			for i := range table.Columns {
				v := &table.Columns[i]
				switch {
				case v.Null[row]:
					cells = append(cells, "null")
				case v.Kind == query.Moment:
					cells = append(cells, time.UnixMicro(v.Time[row]).UTC().Format(time.DateTime))
				case v.Kind == query.Text:
					cells = append(cells, v.Text[row])
				default:
					cells = append(cells, fmt.Sprintf("%.6f", v.Num[row]))
				}
			}
			got = append(got, strings.Join(cells, " "))
		}
		if want := c.byHand(rt, r); !slices.Equal(got, want) {
			rt.Fatalf("%s in %q\ngave   %q\nwanted %q", c.query(), c.zone, got, want)
		}
	})
}

func (r *fixture) prefer(provider string, priority int64) {
	r.t.Helper()
	err := r.db.Write(r.ctx, func(tx *store.Tx) error {
		return merged.SetPriorities(r.ctx, tx, r.user.Team.UUID(), []merged.Change{{DataType: "timeseries", Provider: provider, Priority: &priority}})
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// bruteCase is a query with the user's time zone and the stored samples. prefer is the
// team's priority of the provider oura, or 0 for none.
type bruteCase struct {
	zone     string
	series   []wearables.Samples
	prefer   int64
	anchor   string
	days     int
	unit     string
	value    int
	function string
	keys     []string // source columns
	where    string
}

var bruteSources = []wearables.Source{
	{Provider: "apple_health_kit", Type: "watch", AppID: "com.example.a"},
	{Provider: "apple_health_kit", Type: "watch", AppID: "com.example.b"},
	{Provider: "apple_health_kit", Type: "phone", AppID: "com.example.a"},
	{Provider: "oura", Type: "watch"},
	{Provider: "oura", Type: "ring"},
}

// bruteBounds maps conditions of a query to the same conditions in Go.
var bruteBounds = map[string]func(s plainSample) bool{
	"":           func(plainSample) bool { return true },
	"value > 40": func(s plainSample) bool { return s.value > 40 },
	"source_type = 'ring' OR NOT (value >= 20)":     func(s plainSample) bool { return s.kind == "ring" || s.value < 20 },
	"source_provider != 'oura' AND duration <= 120": func(s plainSample) bool { return s.provider != "oura" && s.length <= 120 },
	"timezone_offset = 7200":                        func(s plainSample) bool { return s.offset == 7200 },
	"timestamp >= '2026-03-29T02:30:00'":            func(s plainSample) bool { return s.wall >= time.Date(2026, 3, 29, 2, 30, 0, 0, time.UTC).UnixMicro() },
}

func drawCase(t *rapid.T) (c bruteCase) {
	c.zone = rapid.SampledFrom([]string{"", "Europe/Berlin", "Asia/Kathmandu", "America/Havana"}).Draw(t, "zone")
	c.prefer = rapid.SampledFrom([]int64{0, 0, 5, -5}).Draw(t, "priority")
	c.anchor = rapid.SampledFrom([]string{"2026-03-29", "2026-04-02", "2026-03-08"}).Draw(t, "anchor")
	c.days = rapid.IntRange(1, 40).Draw(t, "days")
	c.unit = rapid.SampledFrom([]string{"minute", "hour", "day", "week", "month", "year"}).Draw(t, "unit")
	c.value = rapid.SampledFrom([]int{1, 1, 3}).Draw(t, "units")
	c.function = rapid.SampledFrom([]string{"sum", "count", "min", "max", "mean", "median", "oldest", "newest"}).Draw(t, "function")
	c.keys = rapid.SampledFrom([][]string{nil, {"source_type"}, {"source_provider"}, {"source_provider", "source_type"}}).Draw(t, "keys")
	c.where = rapid.SampledFrom(sortedKeys(bruteBounds)).Draw(t, "where")
	for _, source := range bruteSources {
		s := wearables.Samples{Resource: "steps", Source: source}
		at := time.Date(2026, 3, rapid.SampledFrom([]int{1, 7, 8, 27, 28, 29}).Draw(t, "first day"), 22, 0, 0, 0, time.UTC).UnixMicro()
		stated := rapid.Bool().Draw(t, "states offsets")
		for range rapid.IntRange(0, 12).Draw(t, "samples") {
			s.Time = append(s.Time, at)
			s.End = append(s.End, at+rapid.SampledFrom([]int64{0, 60, 120, 600}).Draw(t, "length")*1e6)
			s.Value = append(s.Value, float64(rapid.IntRange(0, 60).Draw(t, "value")))
			if stated {
				s.Offset = append(s.Offset, rapid.SampledFrom([]int32{wearables.NoOffset, 7200, -16200}).Draw(t, "offset"))
			}
			at += rapid.SampledFrom([]int64{60, 1800, 3600, 6 * 3600, 20 * 3600}).Draw(t, "step") * 1e6
		}
		if len(s.Time) > 0 {
			c.series = append(c.series, s)
		}
	}
	return c
}

func sortedKeys[V any](m map[string]V) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

func (c *bruteCase) query() string {
	keys := []string{trunc(c.value, c.unit, "timeseries")}
	for _, name := range c.keys {
		keys = append(keys, `{"source":"`+name+`"}`)
	}
	if c.where == "" {
		return groupRows(keys, aggregateOf(c.function, value("steps")))
	}
	return groupRows(keys, aggregateOf(c.function, value("steps")), fmt.Sprintf(`"where":%q`, c.where))
}

// plainSample is one row of a plain read.
type plainSample struct {
	provider, kind string
	at, wall       int64
	offset         int32
	length, value  float64
}

// plainSamples reads all stored samples, with one row for each provider, source type
// and time. All samples are stored in the same millisecond, so of two apps the later
// series counts.
func (c *bruteCase) plainSamples(t *rapid.T, r *fixture) (all []plainSample) {
	var groups []wearables.Samples
	err := r.db.Read(r.ctx, func(tx *store.Tx) (err error) {
		groups, _, err = storage.ListSamples(context.WithoutCancel(r.ctx), tx, r.user.Team.UUID(), r.user.ID.UUID(), storage.SamplesQuery{Resource: "steps", To: 1 << 60})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	zone := time.UTC
	if c.zone != "" {
		if zone, err = civil.Zone(c.zone); err != nil {
			t.Fatal(err)
		}
	}
	at := map[string]int{} // positions in all, by key
	for _, g := range groups {
		for i, us := range g.Time {
			s := plainSample{g.Source.Provider, g.Source.Type, us, us, wearables.NoOffset, float64(g.End[i]-us) / 1e6, g.Value[i]}
			if len(g.Offset) > 0 {
				s.offset = g.Offset[i]
			}
			shift := int(s.offset)
			if s.offset == wearables.NoOffset {
				_, shift = time.UnixMicro(us).In(zone).Zone()
			}
			s.wall += int64(shift) * 1e6
			key := fmt.Sprint(s.provider, s.kind, us)
			if _, ok := at[key]; !ok {
				at[key] = len(all)
				all = append(all, s)
			}
			all[at[key]] = s
		}
	}
	return all
}

// byHand computes the expected table from a plain read, one text per row.
func (c *bruteCase) byHand(t *rapid.T, r *fixture) (lines []string) {
	to := civil.MustParse(c.anchor).AddDays(1).In(time.UTC).UnixMicro()
	from := to - int64(c.days)*86_400e6
	kept := slices.DeleteFunc(c.plainSamples(t, r), func(s plainSample) bool {
		return s.wall < from || s.wall >= to || !bruteBounds[c.where](s)
	})
	slices.SortStableFunc(kept, func(a, b plainSample) int { return cmp.Compare(a.wall, b.wall) })
	groups := map[string][]plainSample{}
	for _, s := range kept {
		key := c.bucket(s.wall)
		for _, name := range c.keys {
			key += " " + map[string]string{"source_type": s.kind, "source_provider": s.provider}[name]
		}
		groups[key] = append(groups[key], s)
	}
	for _, key := range sortedKeys(groups) {
		rows := groups[key]
		best := slices.MinFunc(rows, func(a, b plainSample) int { return strings.Compare(c.place(a), c.place(b)) })
		var values []float64
		for _, s := range rows {
			if len(c.keys) == 2 || c.place(s) == c.place(best) {
				values = append(values, s.value)
			}
		}
		lines = append(lines, fmt.Sprintf("%s %.6f", key, c.result(values)))
	}
	return lines
}

// place sorts sources, the best first: by kind, by the team's order, by name.
func (c *bruteCase) place(s plainSample) string {
	order := 10
	if s.provider == "oura" {
		order -= int(c.prefer)
	}
	return fmt.Sprintf("%d %02d %s", slices.Index([]string{"watch", "ring", "phone"}, s.kind), order, s.provider)
}

// bucket returns the start of a moment's bucket. Minutes, hours and days are
// counted from 1970, weeks from a Monday, months and years from the year 0.
func (c *bruteCase) bucket(wall int64) string {
	at := time.UnixMicro(wall).UTC()
	day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	switch c.unit {
	case "minute":
		at = time.Unix(at.Unix()-at.Unix()%int64(60*c.value), 0).UTC()
	case "hour":
		at = time.Unix(at.Unix()-at.Unix()%int64(3600*c.value), 0).UTC()
	case "day":
		at = time.Unix(at.Unix()-at.Unix()%int64(86_400*c.value), 0).UTC()
	case "week":
		first := time.Date(1969, 12, 29, 0, 0, 0, 0, time.UTC)
		weeks := int(day.Sub(first).Hours()) / 24 / 7
		at = first.AddDate(0, 0, 7*(weeks-weeks%c.value))
	case "month":
		months := at.Year()*12 + int(at.Month()) - 1
		at = time.Date(0, time.Month(months-months%c.value+1), 1, 0, 0, 0, 0, time.UTC)
	default:
		at = time.Date(at.Year()-at.Year()%c.value, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return at.Format(time.DateTime)
}

func (c *bruteCase) result(values []float64) (x float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(values)
	for _, v := range values {
		x += v
	}
	switch c.function {
	case "count":
		return float64(n)
	case "min":
		return sorted[0]
	case "max":
		return sorted[n-1]
	case "mean":
		return x / float64(n)
	case "median":
		return (sorted[(n-1)/2] + sorted[n/2]) / 2
	case "oldest":
		return values[0]
	case "newest":
		return values[n-1]
	}
	return x
}
