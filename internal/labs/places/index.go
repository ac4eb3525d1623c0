package places

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// MostFound is how many sites a search returns at most.
//
// Spec: Limits.
const MostFound = 30

// spot is one site in an index, with what it takes to choose it.
type spot struct {
	lat       float64
	at        vector
	caps      Capabilities
	from, til int32 // first and last day on which it is open to patients
	ref       int32 // which site of its list this is
}

// index is the sites of one list, in order of latitude.
//
// A search looks at the band of latitudes that its circle spans and compares
// squared chords there. Trees and grids were measured against it and won
// nothing: choosing among thousands of hits takes longer than finding them.
type index []spot

func newSpot(p Point, caps Capabilities, ref int) spot {
	return spot{lat: p.Lat, at: p.vector(), caps: caps, from: math.MinInt32, til: math.MaxInt32, ref: int32(ref)}
}

// newIndex puts spots in order. Those of one latitude stay in the order that
// they came in, so that equal distances are always answered alike.
func newIndex(spots []spot) index {
	slices.SortStableFunc(spots, func(a, b spot) int { return cmp.Compare(a.lat, b.lat) })
	return spots
}

// hits is what a search found.
type hits struct {
	nearest []hit // at most MostFound, nearest first
	total   int   // all within the radius
	caps    Capabilities
}

type hit struct {
	chord2 float64
	order  int32 // in the index: of two sites at one distance the first is taken
	ref    int32
}

// farther orders hits, nearest first.
func (h hit) farther(than hit) bool {
	return h.chord2 > than.chord2 || h.chord2 == than.chord2 && h.order > than.order
}

// search finds the sites within some miles of a point that have all of the
// capabilities and are open on a day, counted since 1970.
func (ix index) search(from Point, within float64, caps Capabilities, day int32) hits {
	var found hits
	var near nearest
	centre, most := from.vector(), chord2Of(within)
	band := latitudesOf(within) + 1e-9 // rounding must not cut the circle
	first := sort.Search(len(ix), func(i int) bool { return ix[i].lat >= from.Lat-band })
	for i := first; i < len(ix) && ix[i].lat <= from.Lat+band; i++ {
		s := &ix[i]
		d := chord2(centre, s.at)
		if d > most || s.caps&caps != caps || day < s.from || day > s.til {
			continue
		}
		found.total++
		found.caps |= s.caps
		near.offer(hit{d, int32(i), s.ref})
	}
	found.nearest = near.sorted()
	return found
}

// nearest keeps the nearest hits in a heap with the farthest on top, which is
// the one to go when a nearer one comes.
type nearest struct {
	n    int
	heap [MostFound]hit
}

func (q *nearest) offer(h hit) {
	if q.n < MostFound {
		q.heap[q.n] = h
		q.n++
		q.up(q.n - 1)
		return
	}
	if q.heap[0].farther(h) {
		q.heap[0] = h
		q.down()
	}
}

func (q *nearest) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.heap[i].farther(q.heap[parent]) {
			return
		}
		q.heap[i], q.heap[parent] = q.heap[parent], q.heap[i]
		i = parent
	}
}

func (q *nearest) down() {
	for i := 0; ; {
		top := i
		for child := 2*i + 1; child <= 2*i+2 && child < q.n; child++ {
			if q.heap[child].farther(q.heap[top]) {
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

func (q *nearest) sorted() []hit {
	all := slices.Clone(q.heap[:q.n])
	slices.SortFunc(all, func(a, b hit) int {
		if a.farther(b) {
			return 1
		}
		return -1
	})
	return all
}

// earthRadius is the mean radius of the Earth in miles.
const earthRadius = 3958.7613

// Point is a place on Earth in degrees, north and east positive.
type Point struct {
	Lat, Lng float64
}

// Miles is the great-circle distance to another point.
func (p Point) Miles(to Point) float64 { return miles(chord2(p.vector(), to.vector())) }

// vector is a point on the unit sphere. The straight line between two of them,
// the chord, grows with the distance along the surface, and its square takes
// three multiplications where the distance takes six trigonometric functions.
type vector struct{ x, y, z float64 }

func (p Point) vector() vector {
	sinLat, cosLat := math.Sincos(p.Lat * math.Pi / 180)
	sinLng, cosLng := math.Sincos(p.Lng * math.Pi / 180)
	return vector{cosLat * cosLng, cosLat * sinLng, sinLat}
}

// chord2 is the square of the chord between two points.
func chord2(a, b vector) float64 {
	x, y, z := a.x-b.x, a.y-b.y, a.z-b.z
	return x*x + y*y + z*z
}

// miles is the distance along the surface that belongs to a squared chord.
func miles(chord2 float64) float64 {
	return 2 * earthRadius * math.Asin(min(math.Sqrt(chord2)/2, 1))
}

// chord2Of is the squared chord that belongs to a distance.
func chord2Of(miles float64) float64 {
	half := math.Sin(miles / (2 * earthRadius))
	return 4 * half * half
}

// latitudesOf is how many degrees of latitude a distance spans at most.
func latitudesOf(miles float64) float64 { return miles / earthRadius * 180 / math.Pi }
