package aggregate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/merged"
	"hale/internal/wearables/storage"
)

// frame holds the rows of a table: the values of the plan's inputs, and the source of
// each row.
type frame struct {
	index   []int64 // floating microseconds
	origin  []int32 // position in origins
	origins []origin
	inputs  []Vector

	width int // bytes of a row, without its texts
	texts int // bytes of all texts that the rows do not share
}

// origin holds the parts of a source that decide which source is the best.
type origin struct{ provider, sourceType string }

func newFrame(p *query.Plan) *frame {
	f := &frame{inputs: make([]Vector, len(p.Inputs)), width: 8 + 4} // index and origin
	for i, in := range p.Inputs {
		f.inputs[i].Kind = in.Kind
		f.width += width(in.Kind)
	}
	for _, k := range p.Keys {
		if k.Trunc != nil || k.Part != "" { // a column that groups are found by
			f.width += width(k.Kind)
		}
	}
	return f
}

// bytes returns the size of the frame with that many more rows.
func (f *frame) bytes(more int) int { return (len(f.index)+more)*f.width + f.texts }

func (f *frame) originOf(o origin) int32 {
	at := slices.Index(f.origins, o)
	if at < 0 {
		at = len(f.origins)
		f.origins = append(f.origins, o)
	}
	return int32(at)
}

// keep removes all rows except the given ones.
func (f *frame) keep(rows []int32) {
	index, origin := make([]int64, len(rows)), make([]int32, len(rows))
	for k, i := range rows {
		index[k], origin[k] = f.index[i], f.origin[i]
	}
	f.index, f.origin = index, origin
	for i := range f.inputs {
		f.inputs[i] = f.inputs[i].pick(rows)
	}
}

// sortByIndex sorts the rows by time. Rows of one moment stay in the order in which they
// were loaded, which is by source.
func (f *frame) sortByIndex() {
	if slices.IsSorted(f.index) {
		return
	}
	rows := make([]int32, len(f.index))
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(f.index[a], f.index[b]) })
	f.keep(rows)
}

// A series is read in stretches of time, so that a query fails before too much data is in
// memory. A stretch is shortened until it has at most fewSamples samples or is one block.
// The next stretch tries to be twice as long.
const (
	firstStretch = 32 * dayUS
	fewSamples   = 400_000
)

// loadSeries reads the samples of a time series from all its sources.
func (r *Request) loadSeries(ctx context.Context, tx *store.Tx) (*frame, error) {
	all, err := storage.SeriesOf(ctx, tx, r.User.Team.UUID(), r.User.ID.UUID(), r.Plan.Table.Series)
	if err != nil {
		return nil, err
	}
	if err := r.refuseMixtures(all); err != nil {
		return nil, err
	}
	resource, _ := wearables.ResourceNamed(r.Plan.Table.Series)
	f := newFrame(r.Plan)
	if !selectsApps(r.Plan) {
		storage.LatestOnly(all, externalKeyOf)
	}
	for i := range all {
		s := &all[i]
		from, to := max(s.Oldest, r.From-LargestOffset), min(s.Newest+1, r.To+LargestOffset)
		for width := firstStretch; from < to; {
			end, err := fit(ctx, tx, s, from, min(from+width, to), fewSamples)
			if err != nil {
				return nil, err
			}
			var found wearables.Samples
			if err := storage.ReadSeries(ctx, tx, *s, from, end, &found); err != nil {
				return nil, err
			}
			if r.Plan.Aggregated && resource.Additive {
				found = splitDays(found, r.wall.forProvider(s.Source.Provider))
			}
			if len(f.index)+found.Len() > r.mostRows() {
				return nil, errTooMuch
			}
			if !r.holds(f.bytes(found.Len())) {
				return nil, errTooHeavy
			}
			r.addSamples(f, s, &found)
			width, from = 2*(end-from), end
		}
	}
	return f, nil
}

// splitDays cuts the intervals that cross local midnights. Each part has its share of the
// amount by time, as in daily values.
func splitDays(c wearables.Samples, wall *wallClock) wearables.Samples {
	if len(c.End) == 0 {
		return c
	}
	out := c
	out.Time, out.End, out.Value, out.Offset = nil, nil, nil, nil
	for i, start := range c.Time {
		whole := c.End[i] - start
		for {
			at := wall.floatingTime(start, offsetAt(&c, i))
			end := min(c.End[i], start+dayUS-(at%dayUS+dayUS)%dayUS)
			value := c.Value[i]
			if whole > 0 {
				value *= float64(end-start) / float64(whole)
			}
			out.Time, out.End, out.Value = append(out.Time, start), append(out.End, end), append(out.Value, value)
			if len(c.Offset) > 0 {
				out.Offset = append(out.Offset, c.Offset[i])
			}
			if start = end; start >= c.End[i] {
				break
			}
		}
	}
	return out
}

// refuseMixtures refuses to aggregate values that are unlike: LDL with HDL, or SDNN with
// RMSSD. A query that knows the type selects it, groups by it or filters it. Amounts of
// several types, such as insulin, add up, and samples of any types can be counted.
func (r *Request) refuseMixtures(all []storage.Series) error {
	has := func(from string) bool {
		return slices.ContainsFunc(r.Plan.Inputs, func(in query.Input) bool { return in.Column.From == from })
	}
	counts := !slices.ContainsFunc(r.Plan.Outputs, func(out query.Output) bool { return out.Func != "" && out.Func != query.Count })
	resource, _ := wearables.ResourceNamed(r.Plan.Table.Series)
	if counts || !r.Plan.Aggregated || resource.Additive || !has(query.FromValue) || has(query.FromWord) {
		return nil
	}
	first := ""
	for i := range all {
		word := merged.Quantity(&all[i])
		if word == "" || !all[i].Within(r.From-LargestOffset, r.To+LargestOffset) {
			continue
		}
		if first != "" && word != first {
			return fault.Newf(fault.Unprocessable, "the samples of %s have the types %s and %s, which are not comparable; group by the type, or filter it",
				resource.Name, first, word)
		}
		first = word
	}
	return nil
}

// fit shortens a stretch of a series until it has few samples or is one block: a day of
// voltages may have forty million samples.
func fit(ctx context.Context, tx *store.Tx, s *storage.Series, from, to int64, few int) (end int64, err error) {
	end, _, err = storage.Fit(from, to, s.Width.Microseconds(), few, func(to int64) (int, error) {
		return s.Count(ctx, tx, from, to)
	})
	return end, err
}

// addSamples adds the samples within the request's time.
func (r *Request) addSamples(f *frame, s *storage.Series, c *wearables.Samples) {
	from, wall := f.originOf(origin{s.Source.Provider, s.Source.Type}), r.wall.forProvider(s.Source.Provider)
	var rows []int32
	for i, us := range c.Time {
		at := wall.floatingTime(us, offsetAt(c, i))
		if at < r.From || at >= r.To {
			continue
		}
		rows = append(rows, int32(i))
		f.index, f.origin = append(f.index, at), append(f.origin, from)
	}
	for i, in := range r.Plan.Inputs {
		r.addColumn(&f.inputs[i], in, s, c, rows, f.index[len(f.index)-len(rows):])
	}
}

// addColumn appends one column of some samples.
func (r *Request) addColumn(dst *Vector, in query.Input, s *storage.Series, c *wearables.Samples, rows []int32, index []int64) {
	word, constant := seriesWord(in.Column.From, s)
	for k, i := range rows {
		switch {
		case constant && in.List == nil:
			dst.appendText(word)
		case in.List != nil && in.List.Func == query.Count:
			dst.appendNumber(0) // no sample has a list
		case in.Column.From == query.FromStart:
			dst.appendTime(index[k])
		case in.Column.From == query.FromValue:
			dst.appendNumber(c.Value[i])
		case in.Column.From == query.FromValue2 && len(c.Value2) > 0 && !math.IsNaN(c.Value2[i]):
			dst.appendNumber(c.Value2[i])
		case in.Column.From == query.FromLength && len(c.End) > 0:
			dst.appendNumber(float64(c.End[i]-c.Time[i]) / 1e6)
		case in.Column.From == query.FromOffset && offsetAt(c, int(i)) != wearables.NoOffset:
			dst.appendNumber(float64(c.Offset[i]))
		default:
			dst.appendNull()
		}
	}
}

// seriesWord returns a text that all samples of a series share, such as the provider. It
// returns false if from names no such text.
func seriesWord(from string, s *storage.Series) (word string, ok bool) {
	switch from {
	case query.FromProvider:
		return s.Source.Provider, true
	case query.FromType:
		return s.Source.Type, true
	case query.FromApp:
		return s.Source.AppID, true
	case query.FromDevice:
		if s.Source.DeviceID != nil {
			word = s.Source.DeviceID.String()
		}
		return word, true
	case query.FromWorkout:
		if s.Source.WorkoutID != nil {
			word = s.Source.WorkoutID.String()
		}
		return word, true
	case query.FromSport:
		return s.Source.Sport, true
	case query.FromWord:
		return s.Type, true
	}
	name, ok := strings.CutPrefix(from, query.FromExtra)
	if !ok {
		return "", false
	}
	r, _ := wearables.ResourceNamed(s.Resource)
	return r.ExtraWord(s.Extra, name), true
}

func offsetAt(c *wearables.Samples, i int) int32 {
	if len(c.Offset) == 0 {
		return wearables.NoOffset
	}
	return c.Offset[i]
}

// summariesAtOnce bounds the stored summaries in memory. A summary is at most as large as
// an event, so these are at most about 50 MB.
const summariesAtOnce = 200

// each reads the summaries of a kind from all sources, some at a time.
func (r *Request) each(ctx context.Context, tx *store.Tx, document string, do func(*storage.StoredSummary) error) error {
	q := r.days(document)
	q.Limit = summariesAtOnce
	for {
		page, err := storage.ListSummaries(ctx, tx, r.User.Team.UUID(), r.User.ID.UUID(), q)
		if err != nil {
			return err
		}
		for i := range page {
			if err := do(&page[i]); err != nil {
				return err
			}
		}
		if len(page) < q.Limit {
			return nil
		}
		q.After = &page[len(page)-1]
	}
}

// loadSummaries reads the summaries of a kind, or notes, and the stages of the
// nights where they are needed.
func (r *Request) loadSummaries(ctx context.Context, tx *store.Tx) (f *frame, err error) {
	var nights map[uuid.UUID]*stages
	if r.Plan.NeedsCycles() {
		if nights, err = r.nights(ctx, tx); err != nil {
			return nil, err
		}
	}
	f = newFrame(r.Plan)
	err = r.each(ctx, tx, r.Plan.Table.Document, func(s *storage.StoredSummary) error {
		doc, err := parseSummary(s, r.wall.forProvider(s.Source.Provider))
		if err != nil {
			return fmt.Errorf("aggregate: a stored %s summary: %w", s.Resource, err)
		}
		doc.night = nights[s.ID]
		return r.addSummary(f, doc)
	})
	return f, err
}

// addSummary adds a summary whose index is within the request's time.
func (r *Request) addSummary(f *frame, s *summary) error {
	p := r.Plan
	if p.Table.Name == "derived_readiness" && s.word("type") != "long_sleep" {
		return nil
	}
	at, ok := s.time(&p.Table.Index)
	if !ok || at < r.From || at >= r.To {
		return nil
	}
	f.index = append(f.index, at)
	f.origin = append(f.origin, f.originOf(origin{s.Source.Provider, s.Source.Type}))
	for k, in := range p.Inputs {
		s.appendTo(&f.inputs[k], in)
		if in.Kind == query.Text {
			f.texts += len(f.inputs[k].Text[len(f.index)-1])
		}
	}
	switch {
	case len(f.index) > r.mostRows():
		return errTooMuch
	case !r.holds(f.bytes(0)):
		return errTooHeavy
	}
	return nil
}

// dateSlack is the largest distance, in days, between a summary's index and its
// calendar date. Most have none; a body may have been measured at another time.
const dateSlack = 6

// days selects the summaries whose calendar date is near the request's time. Summaries
// without a date, or with a date of another meaning, are all read.
func (r *Request) days(document string) storage.SummaryQuery {
	q := storage.SummaryQuery{Resource: document}
	if document == "profile" || document == "menstrual_cycle" {
		return q
	}
	day := func(us int64, n int) string { return time.UnixMicro(us).UTC().AddDate(0, 0, n).Format(time.DateOnly) }
	if r.From > query.FirstMoment+10*LargestOffset {
		q.From = day(r.From, -dateSlack)
	}
	if r.To < query.EndOfTime-10*LargestOffset {
		q.To = day(r.To, dateSlack)
	}
	return q
}

// nights finds the stages of sleeps, by the sleep's id.
func (r *Request) nights(ctx context.Context, tx *store.Tx) (map[uuid.UUID]*stages, error) {
	nights := map[uuid.UUID]*stages{}
	err := r.each(ctx, tx, "sleep_cycle", func(s *storage.StoredSummary) error {
		if sleep, found := parseStages(s.Body); found != nil {
			nights[sleep] = found
		}
		return nil
	})
	return nights, err
}

// externalKey is the visible part of a series' key. For a distance it includes the
// workout and the sport.
//
// Two apps on one phone may write the same minute. Both samples are stored, but here
// they would be two rows of one sample: a sum would count it twice. Only the one that
// was stored last counts, unless the query selects apps or devices.
//
// Spec: Events, timeseries events: the compound key.
type externalKey struct{ provider, kind, sport, workout string }

func externalKeyOf(s *storage.Series) externalKey {
	o := externalKey{s.Source.Provider, s.Source.Type, s.Source.Sport, ""}
	if s.Source.WorkoutID != nil {
		o.workout = s.Source.WorkoutID.String()
	}
	return o
}

// selectsApps reports whether a query needs the samples of each app or device.
func selectsApps(p *query.Plan) bool {
	return slices.ContainsFunc(p.Inputs, func(in query.Input) bool {
		return in.Column.From == query.FromApp || in.Column.From == query.FromDevice
	})
}
