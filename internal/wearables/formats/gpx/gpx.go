// Package gpx reads GPX files: tracks of points with times, as nearly every sports
// program writes them.
//
// A track is a workout. It has positions and times, in extensions often heart rate,
// cadence, power and temperature. It has no energy and no totals, and seldom a sport.
// Routes and waypoints are plans, and so is a track without times.
//
// The package reads GPX 1.0 and 1.1. It recognizes extensions by their names, because
// programs use different namespaces.
package gpx

import (
	"math"
	"strings"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/xmlscan"
	"hale/internal/wearables/formats/xmltrack"
	"hale/internal/wearables/sports"
)

// Kind is that of GPX files.
var Kind = xmltrack.Format{
	Name: "gpx", Title: "GPX file", Root: "gpx",
	New: func(d *xmltrack.Document) xmltrack.Elements { return &reader{d: d} },
}.Kind()

// reader gathers one track after the other.
type reader struct {
	d       *xmltrack.Document
	creator string
	track   *track
	given   int
	undated int64 // points without a time that can be
}

// track is the one that is open.
type track struct {
	title, sport string
	course       files.Course
	offset       int32
	moving       int64 // microseconds within segments
	segment      int   // where the open segment starts in the course

	point files.Moment
	timed bool
}

// Open handles the start of an element.
func (r *reader) Open(name string, tag *xmlscan.Tag, text string) {
	switch name {
	case "gpx":
		r.creator = files.Text(xmlscan.Unescape(tag.Attr("creator")))
		return
	case "trk":
		r.track = &track{offset: wearables.NoOffset}
		return
	case "rte", "wpt":
		r.d.Outcome.Type(name).Read++
		r.d.Outcome.Type(name).Skipped++
		r.d.Outcome.Left(r.d.Outcome.Type(name))
		r.d.Outcome.Records++
		return
	}
	t := r.track
	switch {
	case t == nil:
	case name == "trkseg":
		t.segment = len(t.course)
	case name == "trkpt":
		t.point, t.timed = files.MomentAt(0), false
		t.point.Lat = xmltrack.Place(string(tag.Attr("lat")), 90)
		t.point.Lng = xmltrack.Place(string(tag.Attr("lon")), 180)
	case r.d.Within("trkpt"):
		t.field(name, text)
	case name == "name" && r.d.Parent() == "trk":
		t.title = files.Text(text)
	case name == "type" && r.d.Parent() == "trk":
		t.sport = text
	}
}

// field reads a value of the open point.
func (t *track) field(name, text string) {
	p := &t.point
	switch strings.ToLower(name) {
	case "time":
		if at, offset, ok := instant(text); ok {
			p.Time, t.timed = at, true
			if offset != wearables.NoOffset {
				t.offset = offset
			}
		}
	case "ele":
		p.Altitude = xmltrack.Number(text)
	case "speed":
		if v := xmltrack.Number(text); v >= 0 {
			p.Speed = v
		}
	case "hr", "heartrate":
		p.HeartRate = xmltrack.Beats(text)
	case "cad", "cadence":
		p.Cadence = xmltrack.Number(text)
	case "power", "powerinwatts", "watts":
		p.Power = xmltrack.Number(text)
	case "atemp", "temp", "temperature":
		p.Temperature = xmltrack.Number(text)
	}
}

// instant reads a time. The schema requires UTC, so some writers leave out the Z.
func instant(text string) (micros int64, offset int32, ok bool) {
	if micros, offset, ok = xmltrack.Instant(text); !ok {
		micros, offset, ok = xmltrack.Instant(text + "Z")
	}
	return micros, offset, ok
}

// Close handles the end of an element.
func (r *reader) Close(name string) error {
	switch name {
	case "trkpt":
		r.endPoint()
	case "trkseg":
		r.endSegment()
	case "trk":
		return r.endTrack()
	}
	return nil
}

func (r *reader) endPoint() {
	t := r.track
	if t == nil {
		return
	}
	o := r.d.Outcome
	count := o.Type("trkpt")
	count.Read++
	o.Records++
	switch {
	case !t.timed:
		count.BadDate++
		o.Left(count)
		r.undated++
	case math.IsNaN(t.point.Lat) || math.IsNaN(t.point.Lng):
		count.BadValue++
		o.Left(count)
	case len(t.course) >= files.MaxMoments:
		count.TooMany++
		o.Left(count)
	default: // counted with the track
		t.course = append(t.course, t.point)
	}
}

// endSegment adds the time of a segment: a pause starts a new one.
func (r *reader) endSegment() {
	if t := r.track; t != nil && len(t.course) > t.segment {
		t.moving += max(0, t.course[len(t.course)-1].Time-t.course[t.segment].Time)
		t.segment = len(t.course)
	}
}

// endTrack gives the track away.
func (r *reader) endTrack() error {
	t := r.track
	r.track = nil
	if t == nil || len(t.course) == 0 {
		return nil
	}
	first, last := t.course[0].Time, t.course[0].Time
	for _, p := range t.course {
		first, last = min(first, p.Time), max(last, p.Time)
	}
	track, points := r.d.Outcome.Type("trk"), r.d.Outcome.Type("trkpt")
	track.Read++
	r.d.Outcome.Records++
	n := int64(len(t.course))
	switch {
	case n == 1: // which was nowhere else
		track.BadValue++
		points.BadValue++
	case last-first > files.LongestWorkout.Microseconds():
		track.BadDate++
		points.BadDate += n
	case r.d.Outcome.Full():
		track.TooMany++
		points.TooMany += n
	default:
		track.Mapped++
		points.Mapped += n
		r.d.Outcome.Mapped += 1 + n
		return r.give(t, first, last)
	}
	r.d.Outcome.Left(track)
	r.d.Outcome.Left(points)
	return nil
}

func (r *reader) give(t *track, first, last int64) error {
	r.given++
	moving, provider := float64(t.moving)/1e6, files.Maker(r.creator)
	return r.d.Give(provider, files.Recording{
		Workout: derive.Workout{
			Title: t.title, Sport: sports.OfWord(t.sport), Source: wearables.Source{Type: sourceType(provider, r.creator)},
			Start: first, End: last, Offset: t.offset, Moving: &moving,
		},
		Course: t.course,
	}, nil)
}

// sourceType returns the type of the recording device: that of the manufacturer's
// recordings, otherwise the hint of the program that wrote the file. Sites write files
// of any device.
func sourceType(provider, creator string) string {
	kind, folded := files.Recorder(provider), strings.ToLower(creator)
	if kind == "unknown" && (strings.Contains(folded, "iphone") || strings.Contains(folded, "android")) {
		return "phone"
	}
	return kind
}

// End completes the elements that a truncated document left open. It returns an error if
// the file gave no workout.
func (r *reader) End() error {
	if r.track != nil {
		r.endSegment()
		if err := r.endTrack(); err != nil {
			return err
		}
	}
	switch {
	case r.given > 0:
		return nil
	case r.undated > 0:
		return fault.New(fault.Unprocessable, "the GPX file has no times, or none since 2000: it is a plan, or a recording by a clock that was never set")
	}
	return fault.New(fault.Unprocessable, "the GPX file holds no track that was recorded")
}
