package derive

import (
	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

// Sport is the sport of a workout. ID is HealthKit's number of the activity, which the
// reference has deprecated.
type Sport struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}

// Point is one place of a route.
type Point struct {
	Time     int64   // UTC microseconds
	Lat, Lng float64 // degrees
	Altitude float64 // m; NaN when not known
	Speed    float64 // m/s; NaN when not known
}

// Workout is one session of sport as its app reported it. Unknown fields are nil.
// Heart-rate zones are derived from the stored heart-rate series.
type Workout struct {
	Key     string // of the stored workout that it is; empty makes it of the start and the source
	ID      string // the provider's own id; empty when it gives none
	Title   string
	Sport   Sport
	Source  wearables.Source
	Start   int64 // UTC microseconds
	End     int64
	Offset  int32 // seconds east of UTC, or wearables.NoOffset
	Moving  *float64
	Metres  *float64
	Kcal    *float64
	Steps   *float64
	Gain    *float64 // metres climbed
	Watts   *float64 // average
	MaxW    *float64
	MeanBPM *float64 // as the app says; else it comes from the series
	MaxBPM  *float64
	Route   []Point
	// Readings of sensors during the workout: m/s, W, revolutions or steps a minute.
	Speeds, Powers, Cadences Course
}

// DayFacts are values of a day that a provider states and that no series holds.
type DayFacts struct {
	RestingBPM *float64
	WalkingBPM *float64
	// ActiveKcal is the platform's own sum over all sources. It uses the person's order
	// of sources, so it is preferred to a sum computed here.
	ActiveKcal *float64
}

// Facts are those of many days.
type Facts map[civil.Date]DayFacts

// Sleeper holds the sleep data of one source.
type Sleeper struct {
	Source   wearables.Source
	Segments []Segment

	records []string // the ids of sessions; see Segment.record
}

// Add adds the segments of one session. A session with an id is never joined with another
// one.
func (s *Sleeper) Add(record string, all []Segment) {
	if record != "" {
		s.records = append(s.records, record)
		for i := range all {
			all[i].record = int32(len(s.records))
		}
	}
	s.Segments = append(s.Segments, all...)
}

// Segment is a stretch of one stage of sleep, or of time in bed.
type Segment struct {
	Start, End int64 // UTC microseconds
	Offset     int32 // seconds east of UTC, or wearables.NoOffset
	Stage      int8
	record     int32 // number of its session's id, from 1; 0 if it has none
}

// Stages of sleep: the codes on the wire, and InBed, which is no stage but
// the bounds of a night and stays inside. Asleep is sleep without a stage.
//
// Reference 7.7, hypnogram.
const (
	Asleep int8 = -1
	Deep   int8 = 1
	Light  int8 = 2
	REM    int8 = 3
	Awake  int8 = 4
	InBed  int8 = 100
)

// Person holds the provider's facts about the person.
type Person struct {
	Birth      civil.Date // zero when not known
	Sex        string     // female, male, other; empty when not known
	Height     *float64   // cm
	HeightAt   int64      // UTC microseconds of the measurement; 0 when not known
	Wheelchair bool
}
