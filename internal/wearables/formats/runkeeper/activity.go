package runkeeper

import (
	"math"
	"strings"
	"time"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// activity takes an activity, as the feed has it or with its course.
//
// Its duration excludes pauses and is the only hint of its end, so an activity with
// pauses ends too early here. The average heart rate counts only without beats.
// Otherwise a later read of the feed would replace the average of the stored beats.
func (m *reader) activity(d replies.Document) replies.Verdict {
	start, offset, ok := m.started(d)
	if !ok {
		return replies.BadDate
	}
	seconds := d.Amount("duration")
	if seconds == nil {
		return replies.BadValue
	}
	if *seconds > files.LongestWorkout.Seconds() {
		return replies.BadDate
	}
	uri := d.Text("uri")
	one := files.Recording{
		Workout: derive.Workout{
			ID: files.Text(uri[strings.LastIndexByte(uri, '/')+1:]), Sport: sportOf(d), Source: source,
			Start: start, End: start + int64(*seconds*1e6), Offset: offset,
			Moving: d.Positive("duration"), Metres: d.Positive("total_distance"), Kcal: d.Positive("total_calories"),
			Gain: d.Amount("climb"),
		},
		Course: course(d, start),
	}
	if len(d.List("heart_rate")) == 0 {
		one.MeanBPM = d.Positive("average_heart_rate")
	}
	m.Recording(one)
	m.Homeless("fitness_activity", d, "calories")
	return replies.Mapped
}

// started returns the start of an activity from its local time and its offset in hours.
// Without the offset, the user's fallback zone applies.
func (m *reader) started(d replies.Document) (at int64, offset int32, ok bool) {
	wall, err := time.Parse("Mon, 2 Jan 2006 15:04:05", d.Text("start_time"))
	if err != nil || !replies.IsBelievableYear(wall.Year()) {
		return 0, 0, false
	}
	hours, stated := d.Number("utc_offset")
	if stated && math.Abs(hours) <= 14 {
		offset = int32(math.Round(hours * 3600))
		return wall.UnixMicro() - int64(offset)*1e6, offset, true
	}
	at, offset = (&sheet.Wall{Zone: m.Zone}).Instant(wall)
	return at, offset, true
}

// course holds the measurements in separate lists, each with the seconds since the
// start. They are joined by moment later.
func course(d replies.Document, start int64) (c files.Course) {
	for _, list := range []string{"path", "heart_rate", "distance"} {
		for _, one := range d.Documents(list) {
			after, ok := one.Number("timestamp")
			if !ok || after < 0 || after > files.LongestWorkout.Seconds() || len(c) == files.MaxMoments {
				continue
			}
			at := files.MomentAt(start + int64(after*1e6))
			if fill(&at, one) {
				c = append(c, at)
			}
		}
	}
	return c
}

// fill reads the values of a moment. It reports whether there were any.
func fill(at *files.Moment, d replies.Document) bool {
	lat, north := d.Number("latitude")
	lng, east := d.Number("longitude")
	placed := north && east && math.Abs(lat) <= 90 && math.Abs(lng) <= 180
	if placed {
		at.Lat, at.Lng = lat, lng
		if metres, ok := d.Number("altitude"); ok {
			at.Altitude = metres
		}
	}
	beats, along := d.Positive("heart_rate"), d.Amount("distance")
	if beats != nil {
		at.HeartRate = *beats
	}
	if along != nil {
		at.Distance = *along
	}
	return placed || beats != nil || along != nil
}
