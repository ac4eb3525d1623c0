package polar

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/sports"
)

// exercise reads an exercise, with its samples and route if it has them. Its start is
// the watch's local time, and the offset beside it in minutes.
func (r *reader) exercise(doc replies.Document) replies.Verdict {
	d := hyphenated(doc)
	length, timed := parseDuration(d.Text("duration"))
	start, offset, ok := r.began(d)
	if !timed || !ok || length > files.LongestWorkout {
		return replies.BadDate
	}
	beat := d.Inner("heart_rate")
	w := files.Recording{Workout: derive.Workout{
		ID: files.Text(d.Word("id")), Sport: sports.MainOf(cmp.Or(d.Text("detailed_sport_info"), d.Text("sport"))), Source: watch,
		Start: start.UnixMicro(), End: start.Add(length).UnixMicro(), Offset: offset,
		Metres: d.Positive("distance"), Kcal: d.Positive("calories"),
		MeanBPM: beat.Positive("average"), MaxBPM: beat.Positive("maximum"),
	}}
	w.Course = append(r.samples(doc, start), r.route(doc, start)...)
	r.Recording(w)
	r.own(d)
	return replies.Mapped
}

func (r *reader) began(d hyphenDocument) (at time.Time, offset int32, ok bool) {
	text := d.Text("start_time")
	if minutes, stated := d.Integer("start_time_utc_offset"); stated && minutes >= -840 && minutes <= 840 {
		if shown, ok := wall(text); ok {
			return shown.Add(-time.Duration(minutes) * time.Minute), int32(minutes) * 60, true
		}
	}
	micros, offset, ok := instant(&sheet.Wall{Zone: r.Zone}, text)
	return time.UnixMicro(micros).UTC(), offset, ok
}

// own keeps the watch whose number an exercise states.
func (r *reader) own(d hyphenDocument) {
	id := files.Text(d.Word("device_id"))
	if id == "" || r.owned[id] {
		return
	}
	if !r.Own(files.Device{
		Provider: Provider, SourceType: watch.Type, Manufacturer: "Polar", Model: files.Text(d.Text("device")), ExternalID: id,
	}) {
		return
	}
	if r.owned == nil {
		r.owned = map[string]bool{}
	}
	r.owned[id] = true
}

// columns maps Polar's numbers of sample types to the field of a moment and the factor to
// our unit. Polar's speed is in km/h.
var columns = map[string]struct {
	of     func(*files.Moment) *float64
	factor float64
}{
	"0":  {func(m *files.Moment) *float64 { return &m.HeartRate }, 1},
	"1":  {func(m *files.Moment) *float64 { return &m.Speed }, 1 / 3.6},
	"2":  {func(m *files.Moment) *float64 { return &m.Cadence }, 1},
	"3":  {func(m *files.Moment) *float64 { return &m.Altitude }, 1},
	"4":  {func(m *files.Moment) *float64 { return &m.Power }, 1},
	"8":  {func(m *files.Moment) *float64 { return &m.Cadence }, 1},
	"9":  {func(m *files.Moment) *float64 { return &m.Temperature }, 1},
	"10": {func(m *files.Moment) *float64 { return &m.Distance }, 1},
}

// samples returns the values of an exercise. Polar writes each quantity as a text of
// numbers with commas between them, in equal intervals of some seconds.
func (r *reader) samples(d replies.Document, start time.Time) (course files.Course) {
	for _, one := range d.Documents("samples") {
		s := hyphenated(one)
		column, known := columns[s.Word("sample_type")]
		rate, timed := s.Loose("recording_rate")
		if !known {
			r.Part("exercise.samples", replies.Skipped)
			continue
		}
		if !timed || rate <= 0 || rate > 3600 {
			r.Part("exercise.samples", replies.BadDate)
			continue
		}
		for i, text := range strings.Split(s.Text("data"), ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			after := time.Duration(float64(i) * rate * float64(time.Second))
			switch {
			case err != nil || math.IsNaN(v): // null: no value
				continue
			case s.Word("sample_type") == "0" && v <= 0:
				continue // no contact
			case len(course) == files.MaxMoments || after > files.LongestWorkout:
				r.Part("exercise.samples", replies.TooMany)
				return course
			}
			m := files.MomentAt(start.Add(after).UnixMicro())
			*column.of(&m) = v * column.factor
			course = append(course, m)
		}
	}
	return course
}

// route returns the places of an exercise. The document has their times since the start.
func (r *reader) route(d replies.Document, start time.Time) (course files.Course) {
	for _, one := range d.Documents("route") {
		lat, north := one.Number("latitude")
		lng, east := one.Number("longitude")
		after, ok := durationSince(one.Text("time"))
		switch {
		case !north || !east || math.Abs(lat) > 90 || math.Abs(lng) > 180:
			r.Part("exercise.route", replies.BadValue)
			continue
		case !ok || after > files.LongestWorkout:
			r.Part("exercise.route", replies.BadDate)
			continue
		case len(course) == files.MaxMoments:
			r.Part("exercise.route", replies.TooMany)
			return course
		}
		m := files.MomentAt(start.Add(after).UnixMicro())
		m.Lat, m.Lng = lat, lng
		course = append(course, m)
	}
	return course
}

// durationSince reads a time since the start: 01:02:03, or PT1H2M3S.
func durationSince(text string) (time.Duration, bool) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return parseDuration(text)
	}
	seconds := 0.0
	for _, part := range parts {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || len(part) > 12 || strings.Trim(part, "0123456789.") != "" {
			return 0, false
		}
		seconds = 60*seconds + v
	}
	if seconds > 1e8 {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}
