package merged

import (
	"cmp"
	"slices"
	"sort"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
)

// Span is a range of time, [Start, End) in UTC microseconds. A span without length is a
// moment.
type Span struct{ Start, End int64 }

func (v Span) length() int64 { return v.End - v.Start }

// Coverage maps time to the source that covers it. The zero Coverage is empty.
type Coverage struct {
	spans   []claim // in order, without overlap
	moments map[int64]int
}

type claim struct {
	Span
	owner int
}

// Share returns the free share of a span, 0 to 1. A moment is free or covered as a
// whole.
func (c *Coverage) Share(v Span) float64 {
	free := int64(0)
	moment := 0.0
	c.Split(v, func(part Span, owner int) {
		if owner < 0 {
			free += part.length()
			moment = 1
		}
	})
	if v.End <= v.Start {
		return moment
	}
	return float64(free) / float64(v.length())
}

// Split cuts a span where its owner changes and calls part in order; owner is -1 for a
// free part.
func (c *Coverage) Split(v Span, part func(v Span, owner int)) {
	i := c.from(v.Start)
	if v.End <= v.Start {
		owner := -1
		if i < len(c.spans) && c.spans[i].Start <= v.Start {
			owner = c.spans[i].owner
		} else if by, ok := c.moments[v.Start]; ok {
			owner = by
		}
		part(v, owner)
		return
	}
	at := v.Start
	for ; i < len(c.spans) && c.spans[i].Start < v.End; i++ {
		taken := Span{max(v.Start, c.spans[i].Start), min(v.End, c.spans[i].End)}
		if at < taken.Start {
			part(Span{at, taken.Start}, -1)
		}
		part(taken, c.spans[i].owner)
		at = taken.End
	}
	if at < v.End {
		part(Span{at, v.End}, -1)
	}
}

// from returns the index of the first span that ends after an instant.
func (c *Coverage) from(at int64) int {
	return sort.Search(len(c.spans), func(i int) bool { return c.spans[i].End > at })
}

// Add assigns the free parts of the spans to an owner. A moment covers only itself.
func (c *Coverage) Add(all []Span, owner int) {
	var fresh []claim
	for _, v := range Union(all) {
		c.Split(v, func(part Span, by int) {
			switch {
			case by >= 0:
			case part.End > part.Start:
				fresh = append(fresh, claim{part, owner})
			default:
				if c.moments == nil {
					c.moments = map[int64]int{}
				}
				c.moments[part.Start] = owner
			}
		})
	}
	c.insert(fresh)
}

// insert merges sorted claims into the existing ones. It does not touch earlier claims,
// because a line of a thousand workouts calls it a thousand times.
func (c *Coverage) insert(fresh []claim) {
	old := len(c.spans) - 1
	c.spans = append(c.spans, fresh...)
	for at, left := len(c.spans)-1, len(fresh); left > 0; at-- {
		if old >= 0 && c.spans[old].Start > fresh[left-1].Start {
			c.spans[at] = c.spans[old]
			old--
		} else {
			left--
			c.spans[at] = fresh[left]
		}
	}
}

// Union sorts spans and joins those that overlap or touch. A moment remains if no other
// span contains it.
func Union(all []Span) []Span {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	out := all[:0]
	for _, v := range all {
		last := len(out) - 1
		switch {
		case last < 0 || v.Start > out[last].End:
		case v.Start < out[last].End, v.End > v.Start && out[last].End > out[last].Start, v == out[last]:
			out[last].End = max(out[last].End, v.End)
			continue
		}
		out = append(out, v)
	}
	return out
}

const (
	secondUS = int64(1e6)
	minuteUS = 60 * secondUS
	hourUS   = 60 * minuteUS
	dayUS    = 24 * hourUS
)

// Piece is a part of a merged line: a sample, or the share of one.
type Piece struct {
	Span
	Source int   // position among the sources, best first
	By     int   // of a piece that was set aside: the better source, or apart; else -1
	Offset int32 // seconds east of UTC, or wearables.NoOffset
	// Value is the piece's count, or the level; Value2 is diastolic pressure.
	Value, Value2 float64
}

// notInLine is the By of a piece that is not in the line and covers no other piece.
const notInLine = -2

// longestInterval is the longest interval. A longer one counts as if all of it were in its
// first day. So a piece depends only on the samples of two days around it.
const longestInterval = dayUS

// track holds the samples of one source around the requested time.
type track struct {
	source int
	rank   int // equal for sources that neither the team's priority nor the type distinguishes
	wearables.Samples
	written []int64 // when each sample was stored, in a unit that grows with time; may be nil
	// latest has the sample that counts for each of its samples; nil means its own. sharing
	// are the tracks that may have samples of the same keys: see share.
	latest  []sample
	sharing []*track
}

func (t *track) span(i int) Span {
	v := Span{t.Time[i], t.Time[i]}
	if len(t.End) > 0 && t.End[i] > v.Start {
		v.End = min(t.End[i], v.Start+longestInterval)
	}
	return v
}

// differsInWordsOnly reports whether two tracks have the same source and type, and
// differ only in the further words of their samples.
func (t *track) differsInWordsOnly(o *track) bool {
	return t.Type == o.Type && t.Extra != o.Extra && t.Source.Same(o.Source)
}

// piece returns the part v of sample i. by is the By of the piece.
func (t *track) piece(i int, v Span, by int) Piece {
	t, i = t.sample(i)
	p := Piece{Span: v, Source: t.source, By: by, Offset: wearables.NoOffset, Value: t.Value[i]}
	if len(t.Offset) > 0 {
		p.Offset = t.Offset[i]
	}
	if len(t.Value2) > 0 {
		p.Value2 = t.Value2[i]
	}
	return p
}

// line is the merged line of some tracks. If explain is set, it also contains the pieces
// that were set aside. Both are in order of time.
type line struct {
	explain     bool
	kept, aside []Piece
	parts, most int // into which samples were cut, and may be
}

// mostParts limits the work and the memory for one stretch, which may be a day with the
// days around it. Wearables give a few parts for each sample. Long intervals that start
// every second, next to others of a few seconds, give one part for each pair.
const mostParts = 2_000_000

var errTooManyParts = fault.New(fault.Unprocessable, "too many samples lie beside one another to be merged; read /grouped")

func (l *line) sort() {
	for _, pieces := range [][]Piece{l.kept, l.aside} {
		slices.SortFunc(pieces, func(a, b Piece) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Source, b.Source), cmp.Compare(a.End, b.End),
				cmp.Compare(a.By, b.By), cmp.Compare(a.Value, b.Value))
		})
	}
}

// addSums merges resources that add up. tracks are sorted, best first. Each sample
// counts for the share of its interval that no better source covers. Samples of one
// source do not cover each other, even with different words. Samples that totals excludes
// are set aside as a whole.
//
// The kept and the set-aside pieces of a sample add up to its interval and its value.
func (l *line) addSums(tracks []*track, totals *totals) error {
	var taken Coverage
	var own []Span
	for n, t := range tracks {
		if n > 0 && !t.differsInWordsOnly(tracks[n-1]) {
			taken.Add(own, tracks[n-1].source)
			own = own[:0]
		}
		for i := range t.Time {
			if t.isLost(i) {
				continue
			}
			whole := t.span(i)
			if by, excluded := totals.excludes(t, i); excluded {
				l.add(t.piece(i, whole, by))
				continue
			}
			own = append(own, whole)
			taken.Split(whole, func(v Span, by int) {
				p := t.piece(i, v, by)
				if v != whole {
					p.Value *= float64(v.length()) / float64(whole.length())
				}
				l.add(p)
			})
			if l.parts > l.most {
				return errTooManyParts
			}
		}
	}
	return nil
}

// addLevels merges levels. tracks are sorted, best first. A sample counts if no better
// one was kept within the better source's usual spacing. So it only fills gaps longer
// than twice that spacing. Samples of a source that measures continuously come before
// all others: a watch that measures every five minutes does not hide a strap's peaks.
// Samples of one source do not hide each other, even with different words. No source
// hides a sample whose key it has too.
func (l *line) addLevels(tracks []*track) {
	var taken Coverage
	groups, last := map[int]int{}, 0 // of the tracks of one source
	for n, t := range tracks {
		if n > 0 && !t.differsInWordsOnly(tracks[n-1]) {
			last++
		}
		groups[t.source] = last
		for _, other := range tracks[:n] { // a phone, and its export
			if other.Source.IsOtherTransport(&t.Source) {
				groups[t.source] = groups[other.source]
			}
		}
	}
	for _, continuous := range []bool{true, false} {
		var own []Span
		for n, t := range tracks {
			if n > 0 && !t.differsInWordsOnly(tracks[n-1]) {
				taken.Add(own, tracks[n-1].source)
				own = own[:0]
			}
			usual := spacing{times: t.Time}
			for i, at := range t.Time {
				if t.isLost(i) || t.isContinuous(i) != continuous {
					continue
				}
				taken.Split(Span{at, at}, func(_ Span, by int) {
					if by >= 0 && (groups[by] == groups[t.source] || t.shares(i, by)) {
						by = -1
					}
					l.add(t.piece(i, t.span(i), by))
					if by < 0 && len(tracks) > 1 {
						around := usual.at(i)
						own = append(own, Span{at - around, at + around + 1})
					}
				})
			}
		}
		if len(tracks) > 0 {
			taken.Add(own, tracks[len(tracks)-1].source)
		}
	}
}

// continuousGap is the longest gap between samples of a continuous measurement.
const continuousGap = 15 * secondUS

// isContinuous reports whether sample i has neighbours on both sides within continuousGap,
// or is the end of such a run.
func (t *track) isContinuous(i int) bool {
	return t.hasNext(i-1) && (t.hasNext(i) || t.hasNext(i-2)) || t.hasNext(i) && t.hasNext(i+1)
}

// hasNext reports whether the sample after sample i follows within continuousGap.
func (t *track) hasNext(i int) bool {
	return i >= 0 && i+1 < len(t.Time) && t.Time[i+1]-t.Time[i] <= continuousGap
}

func (l *line) add(p Piece) {
	l.parts++
	switch {
	case p.By < 0:
		l.kept = append(l.kept, p)
	case l.explain:
		l.aside = append(l.aside, p)
	}
}

// spacing computes the usual distance between a source's samples. This is the median over
// the UTC day of a sample, at least a minute and at most an hour. On days with fewer than
// three samples it is an hour.
type spacing struct {
	times []int64
	day   int64
	known bool
	usual int64
	gaps  []int64
}

const (
	leastSpacing = minuteUS
	mostSpacing  = hourUS
)

func (s *spacing) at(i int) int64 {
	day := floorDiv(s.times[i], dayUS)
	if s.known && day == s.day {
		return s.usual
	}
	s.day, s.known, s.usual = day, true, mostSpacing
	first, last := search(s.times, day*dayUS), search(s.times, (day+1)*dayUS)
	if last-first < 3 {
		return s.usual
	}
	s.gaps = s.gaps[:0]
	for k := first + 1; k < last; k++ {
		s.gaps = append(s.gaps, s.times[k]-s.times[k-1])
	}
	slices.Sort(s.gaps)
	s.usual = min(max(s.gaps[len(s.gaps)/2], leastSpacing), mostSpacing)
	return s.usual
}

// search returns the index of the first time that is not before at, or len(times) if
// there is none.
func search(times []int64, at int64) int {
	i, _ := slices.BinarySearch(times, at)
	return i
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
