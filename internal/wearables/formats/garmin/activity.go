package garmin

import (
	"cmp"
	"math"
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/sports"
)

// workout stores an activity. start is its start, and length is its duration on the wall
// clock in seconds.
//
// For an activity of several sports, the reader stores the workouts of its parts, as in a
// FIT file. It leaves out the activity around them.
func (r *reader) workout(w files.Recording, start moment, length float64) replies.Verdict {
	if length < 0 || length > files.LongestWorkout.Seconds() {
		return replies.BadDate
	}
	length = math.Round(length*1000) / 1000 // as in a single activity of Connect; the list has rounding errors of a narrower type
	w.Start, w.End, w.Offset = start.micros(), start.after(length).UnixMicro(), start.offset
	r.Recording(w)
	return replies.Mapped
}

// pushedActivity reads an activity of the interface for partners. Its duration
// is the time that the timer ran. The interface does not state pauses.
func (r *reader) pushedActivity(d replies.Document) replies.Verdict { return r.pushed(d, nil) }

func (r *reader) pushed(d replies.Document, course files.Course) replies.Verdict {
	r.listed = true
	start, ok := r.start(d)
	ran := d.Amount("durationInSeconds")
	if !ok || ran == nil {
		return replies.BadDate
	}
	length := *ran
	if n := len(course); n > 0 { // pauses are known
		length = math.Max(length, time.UnixMicro(course[n-1].Time).Sub(start.at).Seconds())
	}
	kind := d.Text("activityType")
	w := files.Recording{
		Workout: derive.Workout{
			ID: idOf(d), Title: files.Text(d.Text("activityName")), Sport: sportOf(kind), Source: sourceOf(kind, d.Flag("manual")),
			Moving: ran, Metres: d.Positive("distanceInMeters"), Kcal: d.Positive("activeKilocalories"), Steps: d.Positive("steps"),
			Gain: d.Amount("totalElevationGainInMeters"), Watts: d.Positive("averagePowerInWatts"), MaxW: d.Positive("maxPowerInWatts"),
			MeanBPM: d.Positive("averageHeartRateInBeatsPerMinute"), MaxBPM: d.Positive("maxHeartRateInBeatsPerMinute"),
		},
		Speed: d.Positive("averageSpeedInMetersPerSecond"), MaxSpeed: d.Positive("maxSpeedInMetersPerSecond"),
		Course: course, Weighted: d.Positive("normalizedPowerInWatts"),
	}
	return r.workout(w, start, length)
}

// idOf returns the id of the activity in Garmin Connect. A summary has the id with an
// ending for its type, or in a field of its own.
func idOf(d replies.Document) string {
	return files.Text(cmp.Or(d.Word("activityId"), strings.TrimSuffix(d.Word("summaryId"), "-detail")))
}

// details reads an activity with its course, moment by moment.
func (r *reader) details(d replies.Document) replies.Verdict {
	summary := d.Inner("summary")
	if summary.Flag("isParent") || d.Flag("isParent") {
		return replies.Skipped
	}
	start, ok := r.start(summary)
	if !ok {
		return replies.BadDate
	}
	var course files.Course
	for _, s := range d.Documents("samples") {
		at, ok := r.start(s)
		if !ok || at.at.Before(start.at) || at.at.Sub(start.at) > files.LongestWorkout {
			r.Part("activity details.samples", replies.BadDate)
			continue
		}
		if len(course) == files.MaxMoments {
			r.Part("activity details.samples", replies.TooMany)
			continue
		}
		course = append(course, momentOf(s, at.micros()))
	}
	return r.pushed(summary, course)
}

// momentOf converts one sample of an activity. at is its time in UTC microseconds.
func momentOf(d replies.Document, at int64) files.Moment {
	m := files.MomentAt(at)
	for _, f := range []struct {
		name string
		to   *float64
	}{
		{"heartRate", &m.HeartRate},
		{"bikeCadenceInRPM", &m.Cadence},
		{"stepsPerMinute", &m.Cadence},
		{"powerInWatts", &m.Power},
		{"speedMetersPerSecond", &m.Speed},
		{"elevationInMeters", &m.Altitude},
		{"totalDistanceInMeters", &m.Distance},
		{"airTemperatureCelcius", &m.Temperature},
	} {
		if v := d.Signed(f.name); v != nil {
			*f.to = *v
		}
	}
	if m.HeartRate <= 0 {
		m.HeartRate = math.NaN()
	}
	lat, north := d.Number("latitudeInDegree")
	lng, east := d.Number("longitudeInDegree")
	if north && east && math.Abs(lat) <= 90 && math.Abs(lng) <= 180 {
		m.Lat, m.Lng = lat, lng
	}
	return m
}

// listedActivity reads an activity of Connect's list.
func (r *reader) listedActivity(d replies.Document) replies.Verdict {
	w := connectActivity(d, d.Inner("activityType").Text("typeKey"), d.Flag("manualActivity"))
	w.MeanBPM, w.MaxBPM = d.Positive("averageHR"), d.Positive("maxHR")
	w.Watts, w.Weighted = d.Positive("avgPower"), d.Positive("normPower")
	w.ID, w.Title = idOf(d), files.Text(d.Text("activityName"))
	return r.connect(w, d, d.Positive("vO2MaxValue"))
}

// openedActivity reads an activity as Connect shows it on its own page.
func (r *reader) openedActivity(d replies.Document) replies.Verdict {
	s := d.Inner("summaryDTO")
	w := connectActivity(s, d.Inner("activityTypeDTO").Text("typeKey"), d.Inner("metadataDTO").Flag("manualActivity"))
	w.MeanBPM, w.MaxBPM = s.Positive("averageHR"), s.Positive("maxHR")
	w.Watts, w.Weighted = s.Positive("averagePower"), s.Positive("normalizedPower")
	w.ID, w.Title = idOf(d), files.Text(d.Text("activityName"))
	return r.connect(w, s, nil)
}

// connectActivity reads the fields that have the same names in all of Connect's
// documents.
func connectActivity(d replies.Document, kind string, typedIn bool) files.Recording {
	w := files.Recording{
		Workout: derive.Workout{
			Sport: sportOf(kind), Source: sourceOf(kind, typedIn), Moving: d.Amount("duration"), Metres: d.Positive("distance"),
			Kcal: d.Positive("calories"), Steps: d.Positive("steps"), Gain: d.Amount("elevationGain"), MaxW: d.Positive("maxPower"),
		},
		Speed: d.Positive("averageSpeed"), MaxSpeed: d.Positive("maxSpeed"),
	}
	w.High, w.Low = d.Signed("maxElevation"), d.Signed("minElevation")
	return w
}

// connect stores an activity of Connect's, and the VO2max that the watch computed from
// it.
func (r *reader) connect(w files.Recording, d replies.Document, vo2 *float64) replies.Verdict {
	start, ok := r.both(d, "startTimeGMT", "startTimeLocal")
	length := d.Amount("elapsedDuration")
	if length == nil {
		length = w.Moving
	}
	if !ok || length == nil {
		return replies.BadDate
	}
	became := r.workout(w, start, *length)
	if became == replies.Mapped && vo2 != nil {
		r.Gather.At(vo2Max, start.after(*length).UnixMicro(), start.offset, *vo2)
	}
	return became
}

// sportOf names an activity by Garmin's word, such as TRAIL_RUNNING in the
// interface for partners and trail_running on the pages. Words that were given
// a new meaning end in _v2, those of winter sports in _ws.
func sportOf(word string) derive.Sport {
	return sports.MainOf(strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(word), "_v2"), "_ws"))
}

// machines are sports on a machine that does not move. The machine is their
// source, as in FIT files.
var machines = map[string]bool{"indoor_cycling": true, "spin": true, "virtual_ride": true}

func sourceOf(word string, typedIn bool) wearables.Source {
	switch {
	case typedIn:
		return app
	case machines[strings.ToLower(word)]:
		return wearables.Source{Provider: Provider, Type: "exercise_machine"}
	}
	return watch
}
