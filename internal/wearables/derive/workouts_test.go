package derive

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/twpayne/go-polyline"
	"pgregory.net/rapid"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
)

func TestZones(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2024, 7, 1, 10, 0, s, 0, time.UTC) }
	// The maximum is 200: zones begin at 100, 120, 140, 160, 180.
	heart := series("heartrate", source("watch"), time.UTC,
		sample{at(0), at(0), 99}, sample{at(5), at(5), 100}, sample{at(15), at(15), 139.9},
		sample{at(20), at(20), 180}, sample{at(25), at(25), 230}, sample{at(100), at(100), 150})
	got := zones(heart, at(104).UnixMicro(), 200)
	if want := []int64{5, 10, 5, 4, 0, 35}; !slices.Equal(got, want) {
		t.Errorf("%v seconds, want %v: a beat over the maximum is in the top zone, a gap counts half a minute", got, want)
	}
}

func TestMaximumHeartRate(t *testing.T) {
	born := civil.MustParse("1984-07-02")
	cases := []struct {
		name   string
		person *Person
		user   users.User
		want   float64
	}{
		{"the provider knows", &Person{Birth: born}, users.User{BirthDate: &users.BirthDate{Value: civil.MustParse("2000-01-01")}}, 220 - 39},
		{"the user's own", &Person{}, users.User{BirthDate: &users.BirthDate{Value: civil.MustParse("2000-07-01")}}, 220 - 24},
		{"unknown zone", nil, users.User{}, 190},
		{"born tomorrow", &Person{Birth: civil.MustParse("2024-07-02")}, users.User{}, 190},
	}
	for _, c := range cases {
		d := &Deriver{Person: c.person, User: c.user}
		if got := d.maximum(civil.MustParse("2024-07-01")); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func walk(n int) []Point {
	points := make([]Point, n)
	for i := range points {
		points[i] = Point{
			Time: time.Date(2024, 7, 1, 10, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Second).UnixMicro(),
			Lat:  52.5 + float64(i)*0.00001, Lng: 13.4 - float64(i%5)*0.00001, Altitude: float64(30 + i%10), Speed: math.NaN(),
		}
	}
	return points
}

func TestMapOfARoute(t *testing.T) {
	points := walk(30_000)
	m := mapOf(points)
	for text, most := range map[string]int{m.Polyline: mostPlaces, m.Summary: mostInSummary} {
		coords, rest, err := polyline.DecodeCoords([]byte(text))
		if err != nil || len(rest) != 0 || len(coords) > most || len(coords) < most/8 {
			t.Fatalf("%d places, %v, want at most %d", len(coords), err, most)
		}
		for i, p := range map[int]Point{0: points[0], len(coords) - 1: points[len(points)-1]} {
			if math.Abs(coords[i][0]-p.Lat) > 1e-5 || math.Abs(coords[i][1]-p.Lng) > 1e-5 {
				t.Errorf("place %d is %v, want %+v", i, coords[i], p)
			}
		}
	}
}

// One degree of latitude is 111.2 km.
func TestMetres(t *testing.T) {
	if got := metres(Point{Lat: 52, Lng: 13}, Point{Lat: 53, Lng: 13}); math.Abs(got-111195) > 10 {
		t.Errorf("%v m", got)
	}
	if got := metres(Point{Lat: 60, Lng: 13}, Point{Lat: 60, Lng: 14}); math.Abs(got-55597) > 20 {
		t.Errorf("%v m", got)
	}
}

func TestStream(t *testing.T) {
	w := &Workout{Route: append(walk(10), walk(10)...)}
	heart := series("heartrate", source("watch"), time.UTC,
		sample{time.UnixMicro(w.Route[2].Time), time.UnixMicro(w.Route[2].Time), 120})
	s, ok := streamOf(w, heart)
	if !ok || len(s.Time) != 10 || s.HeartRate[9] != 120 || s.Altitude[3] != 33 || !math.IsNaN(s.Velocity[0]) || s.Distance[9] <= s.Distance[8] {
		t.Errorf("%+v", s)
	}
	if s, ok := streamOf(&Workout{}, heart); !ok || len(s.Time) != 1 || s.Lat != nil {
		t.Errorf("%+v", s)
	}
	if _, ok := streamOf(&Workout{}, nil); ok {
		t.Error("a stream of nothing")
	}
}

// Thinning keeps first and last and never more than asked for.
func TestThinnedCourse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 400).Draw(t, "points")
		points := make([]Point, n)
		for i := range points {
			points[i] = Point{Lat: rapid.Float64Range(-90, 90).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")}
		}
		kept := thinPoints(points, 50)
		if len(kept) > max(50, 2) || kept[0] != points[0] || kept[len(kept)-1] != points[n-1] {
			t.Fatalf("%d of %d", len(kept), n)
		}
	})
}
