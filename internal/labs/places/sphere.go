package places

import "math"

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
