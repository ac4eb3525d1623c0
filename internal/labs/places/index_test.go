package places

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// haversine computes the distance with the textbook formula, as an independent
// check.
func haversine(a, b Point) float64 {
	rad := math.Pi / 180
	s1, s2 := math.Sin((b.Lat-a.Lat)*rad/2), math.Sin((b.Lng-a.Lng)*rad/2)
	return 2 * 3958.7613 * math.Asin(math.Sqrt(s1*s1+math.Cos(a.Lat*rad)*math.Cos(b.Lat*rad)*s2*s2))
}

func TestMiles(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b Point
		want float64
	}{
		{"nowhere", Point{33, -112}, Point{33, -112}, 0},
		{"one degree of latitude", Point{33, -112}, Point{34, -112}, 69.0934},
		{"New York to Los Angeles", Point{40.7128, -74.0060}, Point{34.0522, -118.2437}, 2445.55},
		{"over the date line", Point{-14.3, -170.7}, Point{13.4, 144.8}, 3595.71},
		{"half around", Point{0, 0}, Point{0, 180}, math.Pi * 3958.7613},
	} {
		got := c.a.Miles(c.b)
		if math.Abs(got-haversine(c.a, c.b)) > 1e-6*max(1, got) {
			t.Errorf("%s: %v miles, by the textbook %v", c.name, got, haversine(c.a, c.b))
		}
		if math.Abs(got-c.want) > 0.001*c.want {
			t.Errorf("%s: %.2f miles, want %.2f", c.name, got, c.want)
		}
	}
}

// A search returns the same sites in the same order as a full scan.
func TestSearchEqualsAScan(t *testing.T) {
	points := rapid.Custom(func(t *rapid.T) Point {
		// Few distinct values, so that distances and latitudes often are equal.
		return Point{
			float64(rapid.IntRange(0, 40).Draw(t, "lat"))/10 + float64(rapid.SampledFrom([]int{30, 64, -14}).Draw(t, "from")),
			-100 + float64(rapid.IntRange(0, 40).Draw(t, "lng"))/10,
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		var spots []spot
		where := map[int32]Point{}
		for i := range rapid.IntRange(0, 300).Draw(t, "sites") {
			p := points.Draw(t, "site")
			s := newSpot(p, Capabilities(rapid.IntRange(0, 7).Draw(t, "caps")), i)
			if rapid.IntRange(0, 4).Draw(t, "bounded") == 0 {
				s.from = int32(rapid.IntRange(0, 4).Draw(t, "from"))
				s.til = s.from + int32(rapid.IntRange(0, 4).Draw(t, "days"))
			}
			spots, where[int32(i)] = append(spots, s), p
		}
		ix := newIndex(slices.Clone(spots))
		from, day := points.Draw(t, "centre"), int32(rapid.IntRange(0, 8).Draw(t, "today"))
		radius := float64(rapid.SampledFrom(Radii[:]).Draw(t, "radius"))
		want := Capabilities(rapid.SampledFrom([]int{0, 1, 2, 6}).Draw(t, "wanted"))

		var all []spot
		var caps Capabilities
		for _, s := range spots {
			d := haversine(from, where[s.ref])
			if math.Abs(d-radius) < 1e-6 {
				t.Skip("a site on the circle itself")
			}
			if d <= radius && s.caps&want == want && s.from <= day && day <= s.til {
				all, caps = append(all, s), caps|s.caps
			}
		}
		got := ix.search(from, radius, want, day)
		if got.total != len(all) || got.caps != caps || len(got.nearest) != min(len(all), MostFound) {
			t.Fatalf("found %d (%d, %v), want %d (%v)", got.total, len(got.nearest), got.caps, len(all), caps)
		}
		slices.SortStableFunc(all, func(a, b spot) int { return cmp.Compare(a.lat, b.lat) })
		slices.SortStableFunc(all, func(a, b spot) int {
			return cmp.Compare(chord2(from.vector(), a.at), chord2(from.vector(), b.at))
		})
		for i, h := range got.nearest {
			if h.ref != all[i].ref || math.Abs(miles(h.chord2)-haversine(from, where[h.ref])) > 1e-4 {
				t.Fatalf("the %d. is site %d at %v miles, want site %d at %v", i, h.ref, miles(h.chord2),
					all[i].ref, haversine(from, where[all[i].ref]))
			}
		}
	})
}

// fiftyThousand returns an index of 50,000 sites distributed like the
// population, and ZIP codes to search from.
func fiftyThousand() (index, []Point) {
	lines, weights := zips().inhabited("")
	d := dice(7)
	at := func() Point {
		p, _ := zips().parseLine(int(lines[sortSearch(weights, d.intN(weights[len(weights)-1]))]))
		return p.Point
	}
	spots := make([]spot, 50_000)
	for i := range spots {
		p := at()
		p.Lat, p.Lng = p.Lat+d.fraction()*0.04, p.Lng+d.fraction()*0.04
		spots[i] = newSpot(p, Capabilities(d.intN(8)), i)
	}
	centres := make([]Point, 1000)
	for i := range centres {
		centres[i] = at()
	}
	return newIndex(spots), centres
}

func sortSearch(sums []int, n int) int {
	i, _ := slices.BinarySearch(sums, n+1)
	return i
}

// BenchmarkSearch searches among 50,000 sites. The target is 200 µs.
func BenchmarkSearch(b *testing.B) {
	ix, centres := fiftyThousand()
	for _, radius := range []float64{10, 25, 100} {
		b.Run(fmt.Sprintf("%.0f miles", radius), func(b *testing.B) {
			found := 0
			for i := 0; b.Loop(); i++ {
				found += ix.search(centres[i%len(centres)], radius, 0, 0).total
			}
			b.ReportMetric(float64(found)/float64(b.N), "hits")
		})
	}
}
