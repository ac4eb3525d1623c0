package merged

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/wearables"
)

// samples returns a track of triples: start, end, value.
func samples(source int, triples ...float64) *track {
	t := &track{source: source}
	for i := 0; i+2 < len(triples); i += 3 {
		t.Time = append(t.Time, int64(triples[i]))
		t.End = append(t.End, int64(triples[i+1]))
		t.Value = append(t.Value, triples[i+2])
	}
	return t
}

// heartRates returns a track of levels at minutes.
func heartRates(source int, minutes ...int64) *track {
	t := &track{source: source}
	for _, m := range minutes {
		t.Time = append(t.Time, m*minuteUS)
		t.Value = append(t.Value, float64(60+source))
	}
	return t
}

func keptPiece(start, end int64, value float64, source int) Piece {
	return Piece{Span: Span{start, end}, Value: value, Source: source, By: -1, Offset: wearables.NoOffset}
}

func coveredPiece(start, end int64, value float64, source, by int) Piece {
	p := keptPiece(start, end, value, source)
	p.By = by
	return p
}

// sumLine returns the merged line of a few tracks whose values add up.
func sumLine(tracks []*track) line {
	l := line{explain: true, most: mostParts}
	if err := l.addSums(tracks, nil); err != nil {
		panic(err)
	}
	l.sort()
	return l
}

func TestSums(t *testing.T) {
	for _, c := range []struct {
		name        string
		tracks      []*track
		kept, aside []Piece
	}{
		{"one source", []*track{samples(0, 0, 10, 5, 10, 20, 7)}, []Piece{keptPiece(0, 10, 5, 0), keptPiece(10, 20, 7, 0)}, nil},
		{
			"a mirror counts once",
			[]*track{samples(0, 0, 10, 5), samples(1, 0, 10, 6)},
			[]Piece{keptPiece(0, 10, 5, 0)},
			[]Piece{coveredPiece(0, 10, 6, 1, 0)},
		},
		{
			"the second fills a gap pro rata",
			[]*track{samples(0, 6, 10, 1), samples(1, 0, 20, 40)},
			[]Piece{keptPiece(0, 6, 12, 1), keptPiece(6, 10, 1, 0), keptPiece(10, 20, 20, 1)},
			[]Piece{coveredPiece(6, 10, 8, 1, 0)},
		},
		{
			"the third yields to both",
			[]*track{samples(0, 0, 4, 1), samples(1, 2, 8, 6), samples(2, 0, 10, 10)},
			[]Piece{keptPiece(0, 4, 1, 0), keptPiece(4, 8, 4, 1), keptPiece(8, 10, 2, 2)},
			[]Piece{coveredPiece(0, 4, 4, 2, 0), coveredPiece(2, 4, 2, 1, 0), coveredPiece(4, 8, 4, 2, 1)},
		},
		{
			"samples of one source do not cover each other",
			[]*track{samples(0, 0, 10, 5, 5, 15, 5)},
			[]Piece{keptPiece(0, 10, 5, 0), keptPiece(5, 15, 5, 0)},
			nil,
		},
		{
			"a moment inside is covered",
			[]*track{samples(0, 0, 10, 5), samples(1, 5, 5, 9)},
			[]Piece{keptPiece(0, 10, 5, 0)},
			[]Piece{coveredPiece(5, 5, 9, 1, 0)},
		},
		{
			"a moment at the end is not",
			[]*track{samples(0, 0, 10, 5), samples(1, 10, 10, 9)},
			[]Piece{keptPiece(0, 10, 5, 0), keptPiece(10, 10, 9, 1)},
			nil,
		},
		{
			"the same moment counts once",
			[]*track{samples(0, 5, 5, 9), samples(1, 5, 5, 9)},
			[]Piece{keptPiece(5, 5, 9, 0)},
			[]Piece{coveredPiece(5, 5, 9, 1, 0)},
		},
		{
			"a moment covers no interval",
			[]*track{samples(0, 5, 5, 9), samples(1, 0, 10, 8)},
			[]Piece{keptPiece(0, 10, 8, 1), keptPiece(5, 5, 9, 0)},
			nil,
		},
		{"longer than a day", []*track{samples(0, 0, float64(3*dayUS), 30)}, []Piece{keptPiece(0, dayUS, 30, 0)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := sumLine(c.tracks)
			if !slices.Equal(l.kept, c.kept) || !slices.Equal(l.aside, c.aside) {
				t.Errorf("kept  %v\nwant  %v\naside %v\nwant  %v", l.kept, c.kept, l.aside, c.aside)
			}
		})
	}
}

func TestLevels(t *testing.T) {
	minutes := func(pieces []Piece) (at []int64) {
		for _, p := range pieces {
			at = append(at, p.Start/minuteUS)
		}
		return at
	}
	for _, c := range []struct {
		name   string
		tracks []*track
		want   []int64
	}{
		{"one source", []*track{heartRates(0, 1, 2, 3)}, []int64{1, 2, 3}},
		{"the second is set aside", []*track{heartRates(0, 0, 5, 10, 15), heartRates(1, 1, 6, 12)}, []int64{0, 5, 10, 15}},
		{"no gap of twice the spacing", []*track{heartRates(0, 0, 5, 10, 20, 25), heartRates(1, 15)}, []int64{0, 5, 10, 20, 25}},
		{"a gap of more is filled", []*track{heartRates(0, 0, 5, 10, 22, 27), heartRates(1, 14, 16, 18)}, []int64{0, 5, 10, 16, 22, 27}},
		{"few samples speak for an hour", []*track{heartRates(0, 100), heartRates(1, 39, 41, 160, 161)}, []int64{39, 100, 161}},
		{"what was set aside covers nothing", []*track{heartRates(0, 100), heartRates(1, 110), heartRates(2, 165)}, []int64{100, 165}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := line{explain: true}
			l.addLevels(c.tracks)
			l.sort()
			total := 0
			for _, track := range c.tracks {
				total += track.Len()
			}
			if got := minutes(l.kept); !slices.Equal(got, c.want) || len(l.kept)+len(l.aside) != total {
				t.Errorf("kept %v of %d, want %v; set aside %v", got, total, c.want, minutes(l.aside))
			}
		})
	}
}

// drawTracks draws up to four sources, whose samples may overlap each other.
func drawTracks(t *rapid.T) []*track {
	var all []*track
	for source := range rapid.IntRange(1, 4).Draw(t, "sources") {
		s := &track{source: source}
		at := int64(0)
		for range rapid.IntRange(0, 15).Draw(t, "samples") {
			at += rapid.Int64Range(1, 40).Draw(t, "step")
			s.Time = append(s.Time, at)
			s.End = append(s.End, at+rapid.SampledFrom([]int64{0, 1, 10, 30, 60}).Draw(t, "length"))
			s.Value = append(s.Value, float64(rapid.IntRange(0, 100).Draw(t, "value")))
		}
		all = append(all, s)
	}
	return all
}

// The kept and the set-aside pieces add up to the samples. No time and no value is
// lost or added, and no two sources count the same time.
func TestSumsCountEveryValueOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tracks := drawTracks(t)
		l := sumLine(tracks)
		given, lies := 0.0, []Span(nil)
		for _, s := range tracks {
			for i := range s.Time {
				given += s.Value[i]
				lies = append(lies, s.span(i))
			}
		}
		value, spans := 0.0, []Span(nil)
		for _, p := range l.kept {
			value += p.Value
			spans = append(spans, p.Span)
			if own := amount(tracks[p.Source], p.Span); p.Value > own+1e-6 {
				t.Fatalf("%v counts more than its source's %v", p, own)
			}
		}
		for _, p := range l.aside {
			value += p.Value
			if p.By >= p.Source {
				t.Fatalf("%v was set aside for a source that is no better", p)
			}
		}
		if math.Abs(value-given) > 1e-6 {
			t.Fatalf("%v was given, %v counted and set aside", given, value)
		}
		if got, want := length(Union(spans)), length(Union(lies)); got != want {
			t.Fatalf("%d covered, %d kept", want, got)
		}
		for i, p := range l.kept {
			for _, o := range l.kept[i+1:] {
				if o.Source != p.Source && o.Start < p.End && p.Start < o.End && p.length() > 0 && o.length() > 0 {
					t.Fatalf("%v and %v count the same time", p, o)
				}
			}
		}
	})
}

// The best source counts in full, independent of the other sources.
func TestSumsKeepTheBestSource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tracks := drawTracks(t)
		alone, among := sumLine(tracks[:1]), sumLine(tracks)
		among.kept = slices.DeleteFunc(among.kept, func(p Piece) bool { return p.Source != 0 })
		if !slices.Equal(alone.kept, among.kept) {
			t.Fatalf("alone %v\namong %v", alone.kept, among.kept)
		}
	})
}

func length(all []Span) (n int64) {
	for _, v := range all {
		n += v.length()
	}
	return n
}

// amount returns the sum of one source's values within a span.
func amount(s *track, within Span) (sum float64) {
	for i := range s.Time {
		v := s.span(i)
		if v.length() == 0 {
			if within.length() == 0 && v.Start == within.Start || within.Start <= v.Start && v.Start < within.End {
				sum += s.Value[i]
			}
			continue
		}
		if shared := min(v.End, within.End) - max(v.Start, within.Start); shared > 0 {
			sum += s.Value[i] * float64(shared) / float64(v.length())
		}
	}
	return sum
}

// A coverage does not depend on the order of an owner's spans.
func TestCoverageIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spans []Span
		for _, s := range drawTracks(t) {
			for i := range s.Time {
				spans = append(spans, s.span(i))
			}
		}
		var one, other Coverage
		one.Add(spans, 1)
		for part := range slices.Chunk(rapid.Permutation(spans).Draw(t, "order"), 3) {
			other.Add(part, 1)
		}
		whole := Span{0, 1000}
		if a, b := one.Share(whole), other.Share(whole); math.Abs(a-b) > 1e-12 {
			t.Fatalf("free %v and %v", a, b)
		}
		for _, v := range spans {
			if share := one.Share(v); share != 0 {
				t.Fatalf("%v of the added %v is free", share, v)
			}
		}
	})
}
