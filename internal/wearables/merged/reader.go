package merged

import (
	"context"
	"errors"
	"math"
	"slices"

	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// Query says which line to merge.
type Query struct {
	Team, User uuid.UUID
	Resource   *wearables.Resource // one that Can be merged
	Provider   string              // only this one's sources; empty means all
}

// Source is where pieces come from: a series, without its samples.
type Source struct {
	wearables.Source
	Type  string // the samples' type word, mostly empty
	Extra string // and their further words
}

// reader walks along the series of a query.
type reader struct {
	sums, explain bool
	most          int // parts in a stretch

	series []storage.Series // best first
	lines  [][]int          // positions in series: one line for each quantity
	apart  []int            // of those that are in no line, where the reader explains
}

// open finds the series of a query and puts them in order: those of the line,
// and those that are no part of it where it is to be explained.
func (q *Query) open(ctx context.Context, tx *store.Tx, explain bool) (*reader, error) {
	all, err := storage.SeriesOf(ctx, tx, q.Team, q.User, q.Resource.Name)
	if err != nil {
		return nil, err
	}
	priorities, err := byProvider(ctx, tx, q.Team)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s storage.Series) bool {
		return q.Provider != "" && s.Source.Provider != q.Provider || !explain && !Counts(s.Resource, s.Source)
	})
	inOrder(all, priorities)
	r := &reader{sums: AddsUp(q.Resource), explain: explain, most: mostParts, series: all}
	lines := map[string]int{}
	for i := range all {
		if !Counts(all[i].Resource, all[i].Source) {
			r.apart = append(r.apart, i)
			continue
		}
		name := quantity(&all[i])
		if _, ok := lines[name]; !ok {
			lines[name] = len(r.lines)
			r.lines = append(r.lines, nil)
		}
		r.lines[lines[name]] = append(r.lines[lines[name]], i)
	}
	return r, nil
}

func (r *reader) source(i int) Source {
	return Source{r.series[i].Source, r.series[i].Type, r.series[i].Extra}
}

// extent is where pieces may start and end.
func (r *reader) extent() Span {
	v := Span{math.MaxInt64, math.MinInt64}
	for _, s := range r.series {
		v.Start, v.End = min(v.Start, s.Oldest), max(v.End, s.Newest+longest+1)
	}
	return v
}

// A stretch of time is merged at once. It grows while samples are sparse, and
// is cut to where they are few enough: four days of one sample a second fit into
// some ten megabytes for each source.
const (
	firstStretch  = 4 * dayUS
	widestStretch = 512 * dayUS
	sparse, crowd = 50_000, 400_000 // samples in a stretch
)

// walk gives the pieces that start in [from, to), stretch by stretch, until
// each returns false.
func (r *reader) walk(ctx context.Context, tx *store.Tx, from, to int64, each func(line) (more bool)) error {
	within := r.extent()
	from, to = max(from, within.Start), min(to, within.End)
	for width := firstStretch; from < to; {
		end, n, err := r.fit(ctx, tx, from, min(from+width, to))
		if err != nil {
			return err
		}
		found, end, err := r.shorten(ctx, tx, from, end, n)
		if err != nil || !each(found) {
			return err
		}
		if width = max(end-from, dayUS); n < sparse {
			width = min(2*width, widestStretch)
		}
		from = end
	}
	return nil
}

// shorten merges a stretch of n samples, or as much of it as can be merged at
// once. A UTC day is not cut further: whichever part of it is read, the samples
// around it are the same. So whether a day is refused depends on them alone, and
// not on the range in which it is read.
func (r *reader) shorten(ctx context.Context, tx *store.Tx, from, to int64, n int) (found line, end int64, err error) {
	midnight := (floorDiv(from, dayUS) + 1) * dayUS
	for end = to; ; {
		if err = errCrowded; n <= r.most { // each sample is a part at least
			found, err = r.stretch(ctx, tx, from, end)
		}
		if !errors.Is(err, errCrowded) || end <= midnight {
			return found, end, err
		}
		end = max(midnight, from+(end-from)/2)
		if n, err = r.count(ctx, tx, from, end); err != nil {
			return line{}, end, err
		}
	}
}

// fit cuts a stretch to where no crowd of samples has to be read for it, and
// counts them before any is. A day is not cut further.
func (r *reader) fit(ctx context.Context, tx *store.Tx, from, to int64) (end int64, n int, err error) {
	return storage.Fit(from, to, dayUS, crowd, func(to int64) (int, error) { return r.count(ctx, tx, from, to) })
}

// count is how many samples are read to merge a stretch.
func (r *reader) count(ctx context.Context, tx *store.Tx, from, to int64) (n int, err error) {
	first, last := around(from, to)
	for i := range r.series {
		if !r.series[i].Within(first, last) {
			continue
		}
		more, err := r.series[i].Count(ctx, tx, first, last)
		if err != nil {
			return 0, err
		}
		n += more
	}
	return n, nil
}

// around is the time whose samples say what the pieces that start in [from, to)
// are: up to a day before and behind, and those whole UTC days set the spacing
// of levels.
func around(from, to int64) (first, last int64) {
	return floorDiv(from-longest, dayUS) * dayUS, (floorDiv(to+longest-1, dayUS) + 1) * dayUS
}

// stretch merges the pieces that start in [from, to).
func (r *reader) stretch(ctx context.Context, tx *store.Tx, from, to int64) (l line, err error) {
	l.explain, l.most = r.explain, r.most
	first, last := around(from, to)
	for _, members := range r.lines {
		tracks, err := r.tracks(ctx, tx, members, first, last)
		if err != nil {
			return line{}, err
		}
		for _, t := range tracks {
			l.kept = slices.Grow(l.kept, t.Len())
		}
		if !r.sums {
			l.addLevels(tracks)
		} else if err := l.addSums(tracks); err != nil {
			return line{}, err
		}
	}
	tracks, err := r.tracks(ctx, tx, r.apart, first, last)
	if err != nil {
		return line{}, err
	}
	for _, t := range tracks {
		for i := range t.Time {
			l.aside = append(l.aside, t.piece(i, t.span(i), apart))
		}
	}
	outside := func(p Piece) bool { return p.Start < from || p.Start >= to }
	l.kept = slices.DeleteFunc(l.kept, outside)
	l.aside = slices.DeleteFunc(l.aside, outside)
	l.sort()
	return l, nil
}

// tracks reads some series between two instants, those that have samples there.
func (r *reader) tracks(ctx context.Context, tx *store.Tx, members []int, first, last int64) (all []*track, err error) {
	for _, i := range members {
		if !r.series[i].Within(first, last) {
			continue
		}
		t := &track{source: i}
		if err := storage.ReadSeries(ctx, tx, r.series[i], first, last, &t.Samples); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}
