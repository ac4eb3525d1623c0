package places

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// MostFound is the maximum number of sites that a search returns.
//
// Spec: Limits.
const MostFound = 30

// spot is one site in an index, with the fields that select it.
type spot struct {
	lat       float64
	at        vector
	caps      Capabilities
	from, til int32 // first and last day on which it is open to patients
	ref       int32 // position of the site in its list
}

// index holds the sites of one list, sorted by latitude.
//
// A search scans the band of latitudes of its circle and compares squared
// chords. Trees and grids were not faster in measurements: ranking thousands of
// hits takes longer than finding them.
type index []spot

func newSpot(p Point, caps Capabilities, ref int) spot {
	return spot{lat: p.Lat, at: p.vector(), caps: caps, from: math.MinInt32, til: math.MaxInt32, ref: int32(ref)}
}

// newIndex sorts spots. Those of one latitude keep their order, so that results at
// equal distances always have the same order.
func newIndex(spots []spot) index {
	slices.SortStableFunc(spots, func(a, b spot) int { return cmp.Compare(a.lat, b.lat) })
	return spots
}

// hits is the result of a search.
type hits struct {
	nearest []hit // at most MostFound, nearest first
	total   int   // all within the radius
	caps    Capabilities
}

type hit struct {
	chord2 float64
	order  int32 // position in the index, which decides between equal distances
	ref    int32
}

// isFarther reports whether h comes after another hit.
func (h hit) isFarther(than hit) bool {
	return h.chord2 > than.chord2 || h.chord2 == than.chord2 && h.order > than.order
}

// search finds the sites within a radius in miles that have all of the
// capabilities and are open on a day. Days are counted from 1970.
func (ix index) search(from Point, within float64, caps Capabilities, day int32) hits {
	var found hits
	var near nearestHits
	centre, most := from.vector(), chord2Of(within)
	band := latitudesOf(within) + 1e-9 // so that rounding does not cut the circle
	first := sort.Search(len(ix), func(i int) bool { return ix[i].lat >= from.Lat-band })
	for i := first; i < len(ix) && ix[i].lat <= from.Lat+band; i++ {
		s := &ix[i]
		d := chord2(centre, s.at)
		if d > most || s.caps&caps != caps || day < s.from || day > s.til {
			continue
		}
		found.total++
		found.caps |= s.caps
		near.add(hit{d, int32(i), s.ref})
	}
	found.nearest = near.sortedHits()
	return found
}

// nearestHits keeps the nearest hits in a heap. The farthest is on top; a
// nearer hit replaces it.
type nearestHits struct {
	n    int
	heap [MostFound]hit
}

func (q *nearestHits) add(h hit) {
	if q.n < MostFound {
		q.heap[q.n] = h
		q.n++
		q.siftUp(q.n - 1)
		return
	}
	if q.heap[0].isFarther(h) {
		q.heap[0] = h
		q.siftDown()
	}
}

func (q *nearestHits) siftUp(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.heap[i].isFarther(q.heap[parent]) {
			return
		}
		q.heap[i], q.heap[parent] = q.heap[parent], q.heap[i]
		i = parent
	}
}

func (q *nearestHits) siftDown() {
	for i := 0; ; {
		top := i
		for child := 2*i + 1; child <= 2*i+2 && child < q.n; child++ {
			if q.heap[child].isFarther(q.heap[top]) {
				top = child
			}
		}
		if top == i {
			return
		}
		q.heap[i], q.heap[top] = q.heap[top], q.heap[i]
		i = top
	}
}

func (q *nearestHits) sortedHits() []hit {
	all := slices.Clone(q.heap[:q.n])
	slices.SortFunc(all, func(a, b hit) int {
		if a.isFarther(b) {
			return 1
		}
		return -1
	})
	return all
}

// earthRadius is the mean radius of the Earth in miles.
const earthRadius = 3958.7613

// Point is a location on Earth in degrees; north and east are positive.
type Point struct {
	Lat, Lng float64
}

// Miles returns the great-circle distance to another point.
func (p Point) Miles(to Point) float64 { return miles(chord2(p.vector(), to.vector())) }

// vector is a point on the unit sphere. The chord, the straight line between
// two points, grows with the distance along the surface. The square of a chord
// takes three multiplications; the distance takes six trigonometric functions.
type vector struct{ x, y, z float64 }

func (p Point) vector() vector {
	sinLat, cosLat := math.Sincos(p.Lat * math.Pi / 180)
	sinLng, cosLng := math.Sincos(p.Lng * math.Pi / 180)
	return vector{cosLat * cosLng, cosLat * sinLng, sinLat}
}

// chord2 returns the square of the chord between two points.
func chord2(a, b vector) float64 {
	x, y, z := a.x-b.x, a.y-b.y, a.z-b.z
	return x*x + y*y + z*z
}

// miles converts a squared chord to a distance along the surface.
func miles(chord2 float64) float64 {
	return 2 * earthRadius * math.Asin(min(math.Sqrt(chord2)/2, 1))
}

// chord2Of converts a distance to a squared chord.
func chord2Of(miles float64) float64 {
	half := math.Sin(miles / (2 * earthRadius))
	return 4 * half * half
}

// latitudesOf returns the degrees of latitude that a distance spans at most.
func latitudesOf(miles float64) float64 { return miles / earthRadius * 180 / math.Pi }
