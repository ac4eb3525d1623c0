// Package tcx reads TCX files, Garmin's Training Center Database: activities
// in laps with totals and a track of moments.
//
// An activity is a workout: its laps are added up. Courses and workouts to do
// stand in the same format and are plans. Extensions (ActivityExtension v2)
// add speed, power and the cadence of runs, which counts strides.
package tcx

import (
	"math"

	"hale/internal/fault"
	"hale/internal/providers/files"
	"hale/internal/providers/sports"
	"hale/internal/providers/xmlscan"
	"hale/internal/providers/xmltrack"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
)

// Kind is that of TCX files.
var Kind = xmltrack.Format{
	Name: "tcx", Title: "TCX file", Root: "TrainingCenterDatabase",
	New: func(d *xmltrack.Document) xmltrack.Elements { return &reader{d: d} },
}.Kind()

// reader gathers one activity after the other.
type reader struct {
	d        *xmltrack.Document
	activity *activity
	lap      *lap
	point    files.Moment
	timed    bool
	given    int
}

// activity is the one that is open.
type activity struct {
	sport   string
	laps    []lap
	course  files.Course
	offset  int32
	creator creator
}

type creator struct{ name, unit, version string }

// lap is what a lap says of itself; NaN is what it does not.
type lap struct {
	start                           int64 // UTC microseconds; 0 when not known
	seconds, metres, kcal           float64
	meanBPM, maxBPM, maxSpeed       float64
	meanWatts, maxWatts, totalSteps float64
}

// maxLaps bounds the laps of an activity.
const maxLaps = 10_000

// Open takes an element that begins.
func (r *reader) Open(name string, tag *xmlscan.Tag, text string) {
	if name == "Activity" {
		r.activity = &activity{sport: xmlscan.Unescape(tag.Attr("Sport")), offset: wearables.NoOffset}
		return
	}
	if name == "Course" || name == "Workout" {
		r.d.Outcome.Type(name).Read++
		r.d.Outcome.Type(name).Skipped++
		r.d.Outcome.Records++
	}
	a := r.activity
	switch {
	case a == nil:
	case name == "Lap":
		n := math.NaN()
		r.lap = &lap{0, n, n, n, n, n, n, n, n, n}
		if at, offset, ok := xmltrack.Instant(string(tag.Attr("StartTime"))); ok {
			r.lap.start = at
			if offset != wearables.NoOffset {
				a.offset = offset
			}
		}
	case name == "Trackpoint":
		r.point, r.timed = files.At(0), false
	case r.d.Within("Trackpoint"):
		r.field(name, text)
	case r.d.Within("Lap") && r.lap != nil:
		r.lap.field(name, r.d.Parent(), text)
	case r.d.Within("Creator"):
		a.creator.field(name, text)
	}
}

// field takes a value of the open moment.
func (r *reader) field(name, text string) {
	p := &r.point
	switch name {
	case "Time":
		if at, offset, ok := xmltrack.Instant(text); ok {
			p.Time, r.timed = at, true
			if offset != wearables.NoOffset {
				r.activity.offset = offset
			}
		}
	case "LatitudeDegrees":
		p.Lat = xmltrack.Place(text, 90)
	case "LongitudeDegrees":
		p.Lng = xmltrack.Place(text, 180)
	case "AltitudeMeters":
		p.Altitude = xmltrack.Number(text)
	case "DistanceMeters":
		p.Distance = xmltrack.Number(text)
	case "Value":
		if r.d.Parent() == "HeartRateBpm" {
			p.HeartRate = xmltrack.Beats(text)
		}
	case "Cadence":
		p.Cadence = xmltrack.Number(text)
	case "RunCadence":
		p.Cadence = 2 * xmltrack.Number(text) // of strides, told in steps
	case "Speed":
		if v := xmltrack.Number(text); v >= 0 {
			p.Speed = v
		}
	case "Watts":
		p.Power = xmltrack.Number(text)
	}
}

// field takes a total of the lap.
func (l *lap) field(name, parent, text string) {
	v := xmltrack.Number(text)
	switch name {
	case "TotalTimeSeconds":
		l.seconds = v
	case "DistanceMeters":
		l.metres = v
	case "Calories":
		l.kcal = v
	case "MaximumSpeed":
		l.maxSpeed = v
	case "Value":
		switch parent {
		case "AverageHeartRateBpm":
			l.meanBPM = xmltrack.Beats(text)
		case "MaximumHeartRateBpm":
			l.maxBPM = xmltrack.Beats(text)
		}
	case "AvgWatts":
		l.meanWatts = v
	case "MaxWatts":
		l.maxWatts = v
	case "Steps":
		l.totalSteps = v
	}
}

func (c *creator) field(name, text string) {
	switch name {
	case "Name":
		c.name = files.Text(text)
	case "UnitId":
		c.unit = files.Text(text)
	case "VersionMajor":
		c.version = files.Text(text)
	case "VersionMinor":
		c.version += "." + files.Text(text)
	}
}

// Close takes an element that ends.
func (r *reader) Close(name string) error {
	switch name {
	case "Trackpoint":
		r.endPoint()
	case "Lap":
		r.endLap()
	case "Activity":
		return r.endActivity()
	}
	return nil
}

func (r *reader) endPoint() {
	if r.activity == nil {
		return
	}
	o := r.d.Outcome
	count := o.Type("Trackpoint")
	count.Read++
	o.Records++
	switch {
	case !r.timed:
		count.BadDate++
	case len(r.activity.course) >= files.MaxMoments:
		count.TooMany++
	default:
		count.Mapped++
		o.Mapped++
		r.activity.course = append(r.activity.course, r.point)
	}
}

func (r *reader) endLap() {
	if r.activity == nil || r.lap == nil {
		return
	}
	o := r.d.Outcome
	count := o.Type("Lap")
	count.Read++
	o.Records++
	if len(r.activity.laps) >= maxLaps {
		count.TooMany++
	} else {
		count.Mapped++
		o.Mapped++
		r.activity.laps = append(r.activity.laps, *r.lap)
	}
	r.lap = nil
}

// endActivity gives the activity away.
func (r *reader) endActivity() error {
	a := r.activity
	r.activity = nil
	if a == nil {
		return nil
	}
	o := r.d.Outcome
	count := o.Type("Activity")
	count.Read++
	o.Records++
	recording, ok := a.recording()
	if !ok {
		count.BadDate++
		return nil
	}
	count.Mapped++
	o.Mapped++
	r.given++
	return r.d.Give(files.Maker(a.creator.name), recording, a.creator.device())
}

// device is the hardware that wrote the file, when it says its number.
func (c *creator) device() *files.Device {
	if c.unit == "" || c.unit == "0" {
		return nil
	}
	return &files.Device{Model: c.name, ExternalID: c.unit, Version: c.version}
}

// recording is the whole activity. It lasts from the first lap or moment to
// the last one.
func (a *activity) recording() (files.Recording, bool) {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, l := range a.laps {
		if l.start != 0 {
			first, last = min(first, l.start), max(last, l.start)
			if length := l.seconds * 1e6; length > 0 && length < float64(files.LongestWorkout.Microseconds()) {
				last = max(last, l.start+int64(length))
			}
		}
	}
	for _, p := range a.course {
		first, last = min(first, p.Time), max(last, p.Time)
	}
	if first > last || last-first > files.LongestWorkout.Microseconds() {
		return files.Recording{}, false
	}
	source := wearables.Source{Type: "unknown"}
	if a.creator.device() != nil {
		source.Type = "watch" // worn or mounted
	}
	return files.Recording{
		Workout: derive.Workout{
			Sport: sports.OfWord(a.sport), Source: source, Start: first, End: last, Offset: a.offset,
			Moving:  a.sum(func(l *lap) float64 { return l.seconds }),
			Metres:  a.sum(func(l *lap) float64 { return l.metres }),
			Kcal:    a.sum(func(l *lap) float64 { return l.kcal }),
			Steps:   a.sum(func(l *lap) float64 { return l.totalSteps }),
			MeanBPM: a.mean(func(l *lap) float64 { return l.meanBPM }),
			MaxBPM:  a.greatest(func(l *lap) float64 { return l.maxBPM }),
			Watts:   a.mean(func(l *lap) float64 { return l.meanWatts }),
			MaxW:    a.greatest(func(l *lap) float64 { return l.maxWatts }),
		},
		Course:   a.course,
		MaxSpeed: a.greatest(func(l *lap) float64 { return l.maxSpeed }),
	}, true
}

// sum adds up a total of the laps; nil where it is nothing or not known.
func (a *activity) sum(of func(*lap) float64) *float64 {
	sum := 0.0
	for i := range a.laps {
		if v := of(&a.laps[i]); v > 0 {
			sum += v
		}
	}
	if sum == 0 {
		return nil
	}
	return &sum
}

func (a *activity) greatest(of func(*lap) float64) *float64 {
	most := 0.0
	for i := range a.laps {
		if v := of(&a.laps[i]); v > most {
			most = v
		}
	}
	if most == 0 {
		return nil
	}
	return &most
}

// mean is the mean of the laps by their time. A lap that does not say leaves
// it to the course.
func (a *activity) mean(of func(*lap) float64) *float64 {
	sum, time := 0.0, 0.0
	for i := range a.laps {
		l := &a.laps[i]
		if !(l.seconds > 0) {
			continue
		}
		v := of(l)
		if !(v > 0) {
			return nil
		}
		sum, time = sum+v*l.seconds, time+l.seconds
	}
	if time == 0 {
		return nil
	}
	mean := sum / time
	return &mean
}

// End gives away what a cut document left open.
func (r *reader) End() error {
	if r.activity != nil {
		r.endLap()
		if err := r.endActivity(); err != nil {
			return err
		}
	}
	if r.given > 0 {
		return nil
	}
	return fault.New(fault.Unprocessable, "the TCX file holds no activity with a time: plans and courses are not imported")
}
