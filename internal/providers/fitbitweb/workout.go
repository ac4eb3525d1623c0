package fitbitweb

import (
	"time"

	"hale/internal/providers/files"
	"hale/internal/providers/replies"
	"hale/internal/providers/sports"
	"hale/internal/wearables/derive"
)

// activityOfDay takes an activity of a day's reply. One whose owner said on
// which day it was and not when is no session.
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
	return r.workout(d, name, metresPerKilometre, derive.Workout{Start: start, Offset: offset})
}

// activityLog takes an activity of the list of them, which has exact times and
// says in which unit its distance is.
func (r *reader) activityLog(d replies.Document) replies.Verdict {
	at, offset, ok := d.Moment("startTime")
	if !ok {
		return replies.BadDate
	}
	metres := map[string]float64{"": metresPerKilometre, "Kilometer": metresPerKilometre, "Mile": metresPerMile}[d.Text("distanceUnit")]
	w := derive.Workout{
		Start: at.UnixMicro(), Offset: offset, MeanBPM: d.Positive("averageHeartRate"), Moving: replies.Times(d.Positive("activeDuration"), 0.001),
	}
	if metres == metresPerKilometre { // else it is in feet
		w.Gain = d.Positive("elevationGain")
	}
	return r.workout(d, d.Text("activityName"), metres, w)
}

// workout takes what both say. Without a length it is no session.
func (r *reader) workout(d replies.Document, name string, metres float64, w derive.Workout) replies.Verdict {
	length := d.Positive("duration")
	if length == nil || *length > float64(files.LongestWorkout.Milliseconds()) {
		return replies.BadValue
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
	r.Workout(w)
	return replies.Mapped
}

// sportOf is the sport of an activity by its name.
func sportOf(name string) derive.Sport {
	if better, ok := sportNames[name]; ok {
		return sports.Named(better)
	}
	return sports.OfWord(name)
}

// sportNames are names of Fitbit's for sports of the list.
var sportNames = map[string]string{
	"Outdoor Bike": "Cycling", "Spinning": "Cycling", "Weights": "TraditionalStrengthTraining", "Workout": "Other",
	"Interval Workout": "HighIntensityIntervalTraining", "Aerobic Workout": "Aerobics", "Stairclimber": "StairClimbing",
}
