package aggregate

import (
	"context"
	"math"
	"slices"
	"strings"

	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/storage"
)

// A series is read stretch by stretch, so that too much of it is noticed
// before it is in memory. A stretch is cut to where it has few samples, or is
// a block; the next one tries to be twice as long.
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
	f := newFrame(r.Plan)
	keys := outsideKeysOf(r.Plan, all)
	for i := range all {
		s := &all[i]
		taken := keys.taken(s)
		var times []int64
		from, to := max(s.Oldest, r.From-Zones), min(s.Newest+1, r.To+Zones)
		for width := firstStretch; from < to; {
			end, err := fit(ctx, tx, s, from, min(from+width, to), fewSamples)
			if err != nil {
				return nil, err
			}
			var found wearables.Samples
			if err := storage.ReadSeries(ctx, tx, *s, from, end, &found); err != nil {
				return nil, err
			}
			if len(f.index)+found.Len() > r.mostRows() {
				return nil, errTooMuch
			}
			if !r.holds(f.bytes(found.Len())) {
				return nil, errTooHeavy
			}
			r.addSamples(f, s, &found, taken)
			times = append(times, found.Time...)
			width, from = 2*(end-from), end
		}
		keys.note(s, times)
	}
	return f, nil
}

// fit cuts a stretch of a series to where it has few samples, or to one block:
// a day of voltages may have forty million.
func fit(ctx context.Context, tx *store.Tx, s *storage.Series, from, to int64, few int) (end int64, err error) {
	end, _, err = storage.Fit(from, to, s.Width.Microseconds(), few, func(to int64) (int, error) {
		return s.Count(ctx, tx, from, to)
	})
	return end, err
}

// addSamples adds the samples that lie within the request's time and at none
// that is taken.
func (r *Request) addSamples(f *frame, s *storage.Series, c *wearables.Samples, taken []int64) {
	from, wall := f.originOf(origin{s.Source.Provider, s.Source.Type}), r.wall.of(s.Source.Provider)
	var rows []int32
	for i, us := range c.Time {
		at := wall.at(us, offsetAt(c, i))
		if at < r.From || at >= r.To {
			continue
		}
		if _, there := slices.BinarySearch(taken, us); there {
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

// seriesWord is a text that all samples of a series share.
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
