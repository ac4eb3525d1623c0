// Package tcx reads TCX files, Garmin's Training Center Database: activities in laps
// with totals and a track of moments.
//
// An activity is a workout: its laps are added up. Courses and planned workouts have
// the same format and are plans. Extensions (ActivityExtension v2) add speed, power and
// the cadence of runs, which counts strides.
package tcx

import (
	"math"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/xmlscan"
	"hale/internal/wearables/formats/xmltrack"
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

// Open handles the start of an element.
func (r *reader) Open(name string, tag *xmlscan.Tag, text string) {
	if name == "Activity" {
		r.activity = &activity{sport: xmlscan.Unescape(tag.Attr("Sport")), offset: wearables.NoOffset}
		return
	}
	if name == "Course" || name == "Workout" {
		r.d.Outcome.Type(name).Read++
		r.d.Outcome.Type(name).Skipped++
		r.d.Outcome.Left(r.d.Outcome.Type(name))
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
		r.point, r.timed = files.MomentAt(0), false
	case r.d.Within("Trackpoint"):
		r.field(name, text)
	case r.d.Within("Lap") && r.lap != nil:
		r.lap.field(name, r.d.Parent(), text)
	case r.d.Within("Creator"):
		a.creator.field(name, text)
	}
}

// field reads a value of the open moment.
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
		p.Cadence = 2 * xmltrack.Number(text) // of strides, stored in steps
	case "Speed":
		if v := xmltrack.Number(text); v >= 0 {
			p.Speed = v
		}
	case "Watts":
		p.Power = xmltrack.Number(text)
	}
}

// Close handles the end of an element.
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
		o.Left(count)
	case len(r.activity.course) >= files.MaxMoments:
		count.TooMany++
		o.Left(count)
	default: // counted with the activity
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
		o.Left(count)
	} else {
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
	o.Type("Activity").Read++
	o.Records++
	recording, ok := a.recording()
	for name, n := range map[string]int{"Activity": 1, "Lap": len(a.laps), "Trackpoint": len(a.course)} {
		if n == 0 {
			continue
		}
		count, n := o.Type(name), int64(n)
		switch {
		case !ok:
			count.BadDate += n
		case o.Full():
			count.TooMany += n
		default:
			count.Mapped += n
			o.Mapped += n
			continue
		}
		o.Left(count)
	}
	if !ok || o.Full() {
		return nil
	}
	r.given++
	return r.d.Give(files.Maker(a.creator.name), recording, a.creator.device())
}

// End completes the lap and the activity that a truncated document left open. It returns
// an error if the file gave no workout.
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
