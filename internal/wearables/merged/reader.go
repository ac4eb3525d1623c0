package merged

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// Query selects the line to merge.
type Query struct {
	Team, User uuid.UUID
	Resource   *wearables.Resource // one that Can be merged
	Provider   string              // only this one's sources; empty means all
}

// Source describes the source of pieces: a series without its samples.
type Source struct {
	wearables.Source
	Type  string // the samples' type word, mostly empty
	Extra string // and their further words
}

// reader reads the series of a query, stretch by stretch.
type reader struct {
	sums, explain bool
	allDay        bool           // the resource may have totals of days
	zone          *time.Location // of samples that state no offset; nil means UTC
	most          int            // parts in a stretch

	series    []storage.Series // best first
	ranks     []int            // of each series
	lines     [][]int          // positions in series: one line for each quantity
	notInLine []int            // of those that are in no line, where the reader explains
}

// open finds the series of a query and sorts them. For an explanation it also finds the
// series that are not in the line.
func (q *Query) open(ctx context.Context, tx *store.Tx, explain bool) (*reader, error) {
	all, err := storage.SeriesOf(ctx, tx, q.Team, q.User, q.Resource.Name)
	if err != nil {
		return nil, err
	}
	priorities, err := providerPriorities(ctx, tx, q.Team)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s storage.Series) bool {
		return q.Provider != "" && s.Source.Provider != q.Provider || !explain && !IsDistanceSource(s.Resource, s.Source)
	})
	sortBySource(all, priorities)
	r := newReader(q.Resource, all, priorities)
	r.explain = explain
	return r, nil
}

// newReader returns a reader of sorted series.
func newReader(resource *wearables.Resource, all []storage.Series, priorities map[string]int64) *reader {
	r := &reader{sums: resource.Additive, allDay: resource.AllDay, most: mostParts, series: all, ranks: make([]int, len(all))}
	lines := map[string]int{}
	for i := range all {
		if i > 0 {
			r.ranks[i] = r.ranks[i-1]
			if a, b := all[i-1].Source, all[i].Source; Rank(a.Type) != Rank(b.Type) || priorities[a.Provider] != priorities[b.Provider] {
				r.ranks[i]++
			}
		}
		if !IsDistanceSource(all[i].Resource, all[i].Source) {
			r.notInLine = append(r.notInLine, i)
			continue
		}
		name := Quantity(&all[i])
		if _, ok := lines[name]; !ok {
			lines[name] = len(r.lines)
			r.lines = append(r.lines, nil)
		}
		r.lines[lines[name]] = append(r.lines[lines[name]], i)
	}
	return r
}

func (r *reader) source(i int) Source {
	return Source{r.series[i].Source, r.series[i].Type, r.series[i].Extra}
}

// extent returns the time in which pieces may start and end.
func (r *reader) extent() Span {
	v := Span{math.MaxInt64, math.MinInt64}
	for _, s := range r.series {
		v.Start, v.End = min(v.Start, s.Oldest), max(v.End, s.Newest+longestInterval+1)
	}
	return v
}

// A stretch of time is merged at once. It grows while samples are sparse, and is
// cut to where they are few enough. Four days of one sample a second fit into
// some ten megabytes for each source.
const (
	firstStretch                         = 4 * dayUS
	widestStretch                        = 512 * dayUS
	minStretchSamples, maxStretchSamples = 50_000, 400_000 // samples in a stretch
)

// walk passes the pieces that start in [from, to) to each, stretch by stretch, until it
// returns false.
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
		if width = max(end-from, dayUS); n < minStretchSamples {
			width = min(2*width, widestStretch)
		}
		from = end
	}
	return nil
}

// shorten merges a stretch of n samples, or as much of it as can be merged at once. A
// UTC day is not cut further: every part of it needs the same samples around it. So
// whether a day is refused depends on its samples only, and not on the requested range.
func (r *reader) shorten(ctx context.Context, tx *store.Tx, from, to int64, n int) (found line, end int64, err error) {
	midnight := (floorDiv(from, dayUS) + 1) * dayUS
	for end = to; ; {
		if err = errTooManyParts; n <= r.most { // each sample is a part at least
			found, err = r.stretch(ctx, tx, from, end)
		}
		if !errors.Is(err, errTooManyParts) || end <= midnight {
			return found, end, err
		}
		end = max(midnight, from+(end-from)/2)
		if n, err = r.count(ctx, tx, from, end); err != nil {
			return line{}, end, err
		}
	}
}

// fit shortens a stretch so that reading it needs a limited number of samples. It
// counts them before it reads any. A day is not cut further.
func (r *reader) fit(ctx context.Context, tx *store.Tx, from, to int64) (end int64, n int, err error) {
	return storage.Fit(from, to, dayUS, maxStretchSamples, func(to int64) (int, error) { return r.count(ctx, tx, from, to) })
}

// count returns the number of samples that merging a stretch reads.
func (r *reader) count(ctx context.Context, tx *store.Tx, from, to int64) (n int, err error) {
	first, last := readWindow(from, to)
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

// readWindow returns the time whose samples determine the pieces that start in [from,
// to). It begins a day earlier and ends a day later, for the longest intervals. It is
// extended to whole UTC days, which set the spacing of levels.
func readWindow(from, to int64) (first, last int64) {
	return floorDiv(from-longestInterval, dayUS) * dayUS, (floorDiv(to+longestInterval-1, dayUS) + 1) * dayUS
}

// stretch merges the pieces that start in [from, to).
func (r *reader) stretch(ctx context.Context, tx *store.Tx, from, to int64) (l line, err error) {
	l.explain, l.most = r.explain, r.most
	first, last := readWindow(from, to)
	for _, members := range r.lines {
		tracks, err := r.tracks(ctx, tx, members, first, last)
		if err != nil {
			return line{}, err
		}
		if err := r.addTracks(&l, tracks); err != nil {
			return line{}, err
		}
	}
	tracks, err := r.tracks(ctx, tx, r.notInLine, first, last)
	if err != nil {
		return line{}, err
	}
	for _, t := range tracks {
		for i := range t.Time {
			l.aside = append(l.aside, t.piece(i, t.span(i), notInLine))
		}
	}
	outside := func(p Piece) bool { return p.Start < from || p.Start >= to }
	l.kept = slices.DeleteFunc(l.kept, outside)
	l.aside = slices.DeleteFunc(l.aside, outside)
	l.sort()
	return l, nil
}

// addTracks merges the tracks of one line.
func (r *reader) addTracks(l *line, tracks []*track) error {
	for _, t := range tracks {
		l.kept = slices.Grow(l.kept, t.Len())
	}
	r.share(l, tracks)
	if !r.sums {
		l.addLevels(tracks)
		return nil
	}
	var all *totals
	if r.allDay {
		all = newTotals(tracks, r.zone)
	}
	return l.addSums(tracks, all)
}

// tracks reads some series between two instants, those that have samples there.
func (r *reader) tracks(ctx context.Context, tx *store.Tx, members []int, first, last int64) (all []*track, err error) {
	for _, i := range members {
		if !r.series[i].Within(first, last) {
			continue
		}
		t := &track{source: i, rank: r.ranks[i]}
		if t.Samples, t.written, err = storage.ReadWritten(ctx, tx, r.series[i], first, last); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// Page is one page of a merged line. Pieces name their sources by position.
type Page struct {
	Sources []Source
	Pieces  []Piece
	Aside   []Piece // what better sources covered, or is no part of the line; nil unless an explanation was asked for
	Next    *int64  // start of the first piece of the next page, UTC microseconds; nil at the end
}

// Range is a part of a merged line. A piece that crosses its edges counts for the share
// inside.
type Range struct {
	Span
	Through bool   // with samples at End, and intervals cut at End
	After   *int64 // Page.Next of the page before
	Most    int    // pieces in a page; 0 means storage.PageSamples
	Explain bool   // also return the pieces that were set aside
	// Zone is the user's zone, for samples that state no offset; nil means UTC.
	Zone *time.Location
}

// Read merges one page of a range. A piece does not depend on the range or on the page
// that asks for it, so pages fit together.
func Read(ctx context.Context, tx *store.Tx, q Query, in Range) (Page, error) {
	r, err := q.open(ctx, tx, in.Explain)
	if err != nil {
		return Page{}, err
	}
	r.zone = in.Zone
	most := in.Most
	if most == 0 {
		most = storage.PageSamples
	}
	from := in.Start - longestInterval // a piece may reach into the range
	if in.After != nil {
		from = *in.After
	}
	var p Page
	to := in.End
	if in.Through {
		to++
	}
	err = r.walk(ctx, tx, from, to, func(l line) bool {
		p.Pieces = in.clip(p.Pieces, l.kept, r.sums)
		p.Aside = in.clip(p.Aside, l.aside, r.sums)
		return len(p.Pieces) <= most && len(p.Aside) <= most
	})
	if err != nil {
		return Page{}, err
	}
	p.end(most)
	p.name(r)
	return p, nil
}

// clip appends the parts of pieces that are within the range.
func (in *Range) clip(dst, pieces []Piece, sums bool) []Piece {
	dst = slices.Grow(dst, len(pieces))
	for _, p := range pieces {
		v := p.Span
		if p.Start < in.Start || sums && p.End > in.End {
			v = Span{max(p.Start, in.Start), min(p.End, in.End)}
			if !sums || v.length() <= 0 {
				continue
			}
			p.Value *= float64(v.length()) / float64(p.length())
		}
		p.Span = v
		dst = append(dst, p)
	}
	return dst
}

// end cuts the page where one of its lists is full, between two start times.
func (p *Page) end(most int) {
	next := int64(math.MaxInt64)
	for _, pieces := range [][]Piece{p.Pieces, p.Aside} {
		if len(pieces) > most {
			next = min(next, pieces[most-1].Start+1)
		}
	}
	if next == math.MaxInt64 {
		return
	}
	later := func(piece Piece) bool { return piece.Start >= next }
	p.Pieces, p.Aside = slices.DeleteFunc(p.Pieces, later), slices.DeleteFunc(p.Aside, later)
	p.Next = &next
}

// name lists the sources of the page's pieces, best first.
func (p *Page) name(r *reader) {
	used := map[int]bool{}
	for _, pieces := range [][]Piece{p.Pieces, p.Aside} {
		for _, piece := range pieces {
			used[piece.Source] = true
			if piece.By >= 0 {
				used[piece.By] = true
			}
		}
	}
	at := newSourceList(used)
	for _, i := range at.order {
		p.Sources = append(p.Sources, r.source(i))
	}
	for _, pieces := range [][]Piece{p.Pieces, p.Aside} {
		for i := range pieces {
			pieces[i].Source = at.position[pieces[i].Source]
			if pieces[i].By >= 0 {
				pieces[i].By = at.position[pieces[i].By]
			}
		}
	}
}

// sourceList are the sources that an answer lists, and where.
type sourceList struct {
	order    []int
	position map[int]int
}

func newSourceList(used map[int]bool) sourceList {
	n := sourceList{position: map[int]int{}}
	for i := range used {
		n.order = append(n.order, i)
	}
	slices.Sort(n.order)
	for at, i := range n.order {
		n.position[i] = at
	}
	return n
}
