package files

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/wearables"
	"hale/internal/wearables/providers"
)

// Moments in any order and number give a course of increasing times that loses no
// value.
func TestCourseIsSortedWithoutDuplicates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 100).Draw(t, "times")
		var c Course
		hearts, powers := map[int64]bool{}, map[int64]bool{}
		for i, at := range times {
			m := MomentAt(at)
			if i%2 == 0 {
				m.HeartRate = 60 + float64(at)
				hearts[at] = true
			} else {
				m.Power = 100 + float64(at)
				powers[at] = true
			}
			c = append(c, m)
		}
		c = c.tidy()
		if !slices.IsSortedFunc(c, func(a, b Moment) int { return int(a.Time - b.Time) }) {
			t.Fatal("not in order")
		}
		for i, m := range c {
			if i > 0 && m.Time == c[i-1].Time {
				t.Fatal("a time twice")
			}
			if hearts[m.Time] != (m.HeartRate == 60+float64(m.Time)) || powers[m.Time] != (m.Power == 100+float64(m.Time)) {
				t.Fatalf("%+v lost a value", m)
			}
		}
	})
}

// A course omits impossible values. Otherwise values that are computed from
// them would not be numbers.
func TestCourseSkipsImpossibleValues(t *testing.T) {
	m := MomentAt(1)
	m.HeartRate, m.Altitude, m.Speed, m.Cadence = 60, -1e308, 1e308, math.Inf(1)
	c := Course{m}.tidy()
	if c[0].HeartRate != 60 || !math.IsNaN(c[0].Altitude) || !math.IsNaN(c[0].Speed) || !math.IsNaN(c[0].Cadence) {
		t.Errorf("%+v", c[0])
	}
	r := Recording{Course: c}
	if body, err := r.complete([]byte(`{}`)); err != nil || string(body) != `{}` {
		t.Errorf("%s %v", body, err)
	}
}

func TestCourseMeasuresPlaces(t *testing.T) {
	c := Course{MomentAt(0), MomentAt(1), MomentAt(2), MomentAt(3)}
	for i, lat := range []float64{46, math.NaN(), 46.001, 46.001} {
		if c[i].Lat = lat; lat == lat {
			c[i].Lng = 14
		}
	}
	c.measure()
	if c[0].Distance != 0 || !math.IsNaN(c[1].Distance) || c[2].Distance != 111.2 || c[3].Distance != 111.2 {
		t.Errorf("%v %v %v %v", c[0].Distance, c[1].Distance, c[2].Distance, c[3].Distance)
	}
	counted := Course{MomentAt(0), MomentAt(1)}
	counted[1].Distance, counted[0].Lat, counted[0].Lng = 7, 46, 14
	if counted.measure(); counted[1].Distance != 7 || !math.IsNaN(counted[0].Distance) {
		t.Error("what the device counted was overwritten")
	}
}

func TestStreamLeavesOutEmptyColumns(t *testing.T) {
	c := Course{MomentAt(1), MomentAt(2)}
	c[0].HeartRate = 70
	s := c.stream("key")
	if s.WorkoutKey != "key" || len(s.Time) != 2 || len(s.HeartRate) != 2 || s.Power != nil || s.Lat != nil || !math.IsNaN(s.HeartRate[1]) {
		t.Errorf("%+v", s)
	}
	if beats := c.samples("heartrate", func(m *Moment) *float64 { return &m.HeartRate }, wearables.Source{}, 3600); beats.Len() != 1 || beats.Offset[0] != 3600 {
		t.Errorf("%+v", beats)
	}
}

func TestMaker(t *testing.T) {
	for name, slug := range map[string]string{
		"Garmin Connect": "garmin", "StravaGPX iPhone": "strava", "Polar Flow": "polar", "Edge 530": "garmin", "": "manual", "OsmAnd": "manual", "bipolar": "manual",
	} {
		if got := Maker(name); got != slug {
			t.Errorf("%q: %s, want %s", name, got, slug)
		}
	}
}

func TestMakersAreInTheCatalogue(t *testing.T) {
	for _, m := range makers {
		if _, ok := providers.Find(m.slug); !ok {
			t.Errorf("%s is not in the catalogue", m.slug)
		}
	}
}
