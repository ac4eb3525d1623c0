package derive

import (
	"cmp"
	"math"
	"slices"

	"github.com/twpayne/go-polyline"

	"hale/internal/wearables"
)

// How many places a polyline may have. A full one of ten thousand places is
// some fifty kilobytes and fits into an event.
const (
	mostPlaces    = 10_000
	mostInSummary = 250
)

// mapOf writes a route as Google polylines, one true and one rough.
func mapOf(points []Point) *routeMap {
	return &routeMap{Polyline: encoded(thinned(points, mostPlaces)), Summary: encoded(thinned(points, mostInSummary))}
}

func encoded(points []Point) string {
	coords := make([][]float64, len(points))
	for i, p := range points {
		coords[i] = []float64{p.Lat, p.Lng}
	}
	return string(polyline.EncodeCoords(coords))
}

// thinned leaves out places that lie close to the last one kept, with a
// distance that doubles until few enough are left. First and last always stay.
func thinned(points []Point, most int) []Point {
	if len(points) <= most {
		return points
	}
	points = slices.Clone(points)
	for least := 1.0; len(points) > most; least *= 2 {
		kept, last := points[:1], points[len(points)-1]
		for _, p := range points[1 : len(points)-1] {
			if apart(kept[len(kept)-1], p, least) {
				kept = append(kept, p) // never past the place that is looked at
			}
		}
		points = append(kept, last)
	}
	return points
}

// radius of the Earth, m, and one degree in radians.
const (
	radius = 6371008.8
	degree = math.Pi / 180
)

// apart is whether two places are at least so many metres from each other,
// on a flat map: it decides about many places and need not be exact.
func apart(a, b Point, least float64) bool {
	y := (b.Lat - a.Lat) * degree * radius
	if y >= least || y <= -least {
		return true
	}
	x := (b.Lng - a.Lng) * degree * radius * math.Cos(a.Lat*degree)
	return x*x+y*y >= least*least
}

// metres is the distance between two places on a sphere.
func metres(a, b Point) float64 {
	dLat, dLng := (b.Lat-a.Lat)*degree, (b.Lng-a.Lng)*degree
	h := math.Pow(math.Sin(dLat/2), 2) + math.Cos(a.Lat*degree)*math.Cos(b.Lat*degree)*math.Pow(math.Sin(dLng/2), 2)
	return 2 * radius * math.Asin(math.Min(1, math.Sqrt(h)))
}

// mostInStream bounds the rows of a stream: a day at one a second.
const mostInStream = 86_400

// nearBeat is how far a heart-rate sample may be from the place it goes with.
const nearBeat = 10 * secondUS

// streamOf makes the course of a workout: one row per place of the route with
// the heart rate nearest to it, or without a route one row per beat, or per
// reading of the sensor that gave the most. What else was measured stands beside.
func streamOf(w *Workout, heart *track) (wearables.Stream, bool) {
	places := increasing(w.Route)
	if len(places) == 0 {
		times := w.clock(heart)
		if len(times) == 0 || len(times) > mostInStream {
			return wearables.Stream{}, false
		}
		s := wearables.Stream{Time: slices.Clone(times), HeartRate: beatsAt(times, heart)}
		w.courses(&s)
		return s, true
	}
	if len(places) > mostInStream {
		places = places[:mostInStream]
	}
	n := len(places)
	s := wearables.Stream{
		Time: make([]int64, n), Lat: make([]float64, n), Lng: make([]float64, n), Distance: make([]float64, n),
		Altitude: make([]float64, n), Velocity: make([]float64, n),
	}
	along := 0.0
	for i, p := range places {
		if i > 0 {
			along += metres(places[i-1], p)
		}
		s.Time[i], s.Lat[i], s.Lng[i] = p.Time, p.Lat, p.Lng
		s.Altitude[i], s.Velocity[i] = p.Altitude, p.Speed
		s.Distance[i] = math.Round(along*100) / 100
	}
	s.HeartRate = beatsAt(s.Time, heart)
	w.courses(&s)
	return s, true
}

// increasing leaves out places that are not after the one before: some
// phones write two in one second.
func increasing(points []Point) []Point {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b Point) int { return cmp.Compare(a.Time, b.Time) })
	return slices.CompactFunc(sorted, func(a, b Point) bool { return a.Time == b.Time })
}

// beatsAt is the heart rate at each time; NaN where none is near.
func beatsAt(times []int64, heart *track) []float64 {
	if heart == nil || heart.Len() == 0 {
		return nil
	}
	beats := make([]float64, len(times))
	for i, at := range times {
		beats[i] = math.NaN()
		k := search(heart.Time, at)
		if k == heart.Len() || k > 0 && at-heart.Time[k-1] < heart.Time[k]-at {
			k--
		}
		if d := heart.Time[k] - at; -nearBeat <= d && d <= nearBeat {
			beats[i] = heart.Value[k]
		}
	}
	return beats
}
