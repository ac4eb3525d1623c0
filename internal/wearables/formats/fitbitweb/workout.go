package fitbitweb

import (
	"context"
	"encoding/json"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/sports"
)

// activityOfDay reads an activity of a day's reply. An activity with a day and no time of
// day is no session.
func (r *reader) activityOfDay(d replies.Document) replies.Verdict {
	wall, ok := wallOf(d, "startDate", "startTime")
	if !ok || string(d.Raw("hasStartTime")) == "false" {
		return replies.BadDate
	}
	start, offset := r.instant(wall)
	name := d.Text("activityParentName")
	if name == "" {
		name = d.Text("name")
	}
	w, became := workout(d, name, metresPerKilometre, derive.Workout{Start: start, Offset: offset})
	switch {
	case became != replies.Mapped:
	case w.ID != "" && len(r.coarse) < mostCoarse:
		r.coarse = append(r.coarse, w)
		return replies.Waits
	default:
		r.Workout(w)
	}
	return became
}

// These bound the activities that wait for the end of a file, and the ids that are kept
// until then. They allow three activities a day for years.
const (
	mostCoarse = 1 << 12
	mostListed = 1 << 16
)

// activityLog reads an activity from the list of activities. The list has exact times and
// states the unit of the distance.
func (r *reader) activityLog(d replies.Document) replies.Verdict {
	at, offset, ok := d.Moment("startTime")
	if !ok {
		return replies.BadDate
	}
	metres := map[string]float64{"": metresPerKilometre, "Kilometer": metresPerKilometre, "Mile": metresPerMile}[d.Text("distanceUnit")]
	w := derive.Workout{
		Start: at.UnixMicro(), Offset: offset, MeanBPM: d.Positive("averageHeartRate"), Moving: replies.Times(d.Positive("activeDuration"), 0.001),
	}
	if metres == metresPerKilometre { // otherwise the gain is in feet
		w.Gain = d.Positive("elevationGain")
	}
	w, became := workout(d, d.Text("activityName"), metres, w)
	if became != replies.Mapped {
		return became
	}
	if w.ID != "" && len(r.listed) < mostListed {
		if r.listed == nil {
			r.listed = map[string]bool{}
		}
		r.listed[w.ID] = true
	}
	r.Workout(w)
	return became
}

// workout reads the fields that both have. Without a length it is no session. Both have
// the id, and a day has the start only to the minute: so the id is the key.
func workout(d replies.Document, name string, metres float64, w derive.Workout) (derive.Workout, replies.Verdict) {
	length := d.Positive("duration")
	if length == nil || *length > float64(files.LongestWorkout.Milliseconds()) {
		return w, replies.BadValue
	}
	w.End = w.Start + int64(*length)*time.Millisecond.Microseconds()
	w.ID, w.Title, w.Sport, w.Source = files.Text(d.Word("logId")), files.Text(name), sportOf(name), watch
	w.Kcal, w.Steps = d.Positive("calories"), d.Positive("steps")
	if metres > 0 {
		w.Metres = replies.Times(d.Positive("distance"), metres)
	}
	if d.Text("logType") == "manual" { // typed in
		w.Source = app
	}
	if w.ID != "" {
		w.Key = "log|" + w.ID
	}
	return w, replies.Mapped
}

// endActivities stores the activities of days that are not in the list of
// activities. The list has the second, the offset and the recorder of an
// activity.
func (r *reader) endActivities(ctx context.Context) error {
	for _, w := range r.coarse {
		became := replies.Mapped
		if known, err := r.isListed(ctx, &w); err != nil {
			return err
		} else if known {
			became = replies.Copy
		} else {
			r.Workout(w)
		}
		r.Waited("activity", became, 0)
	}
	r.coarse = nil
	return nil
}

// isListed reports whether the list has an activity, in this file or before. Only the
// list has the moving time.
func (r *reader) isListed(ctx context.Context, w *derive.Workout) (bool, error) {
	if r.listed[w.ID] || r.Stored == nil {
		return r.listed[w.ID], nil
	}
	day := civil.DateOf(time.UnixMicro(w.Start).UTC()) // the local date may be the day before or after
	all, err := r.Stored(ctx, "workouts", day.AddDays(-1).String(), day.AddDays(1).String())
	if err != nil {
		return false, err
	}
	for i := range all {
		var body struct {
			ID     string   `json:"provider_id"`
			Moving *float64 `json:"moving_time"`
		}
		if json.Unmarshal(all[i].Body, &body) == nil && body.ID == w.ID && body.Moving != nil {
			return true, nil
		}
	}
	return false, nil
}

// sportOf returns the sport of an activity by its name.
func sportOf(name string) derive.Sport {
	if better, ok := sportNames[name]; ok {
		return sports.NamedSport(better)
	}
	return sports.OfWord(name)
}

// sportNames maps Fitbit's names to sports of the list.
var sportNames = map[string]string{
	"Outdoor Bike": "Cycling", "Spinning": "Cycling", "Weights": "TraditionalStrengthTraining", "Workout": "Other",
	"Interval Workout": "HighIntensityIntervalTraining", "Aerobic Workout": "Aerobics", "Stairclimber": "StairClimbing",
}
