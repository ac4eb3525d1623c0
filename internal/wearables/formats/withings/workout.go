package withings

import (
	"cmp"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
)

// noActivity is the category of a workout that the wearer rejected.
const noActivity = 128

// workout takes a workout. Zero means that a value was not measured. A typed value has
// precedence over a counted one.
func (r *reader) workout(d replies.Document) replies.Verdict {
	start, began := d.Unix("startdate")
	end, ended := d.Unix("enddate")
	if !began || !ended || end.Before(start) || end.Sub(start) > files.LongestWorkout {
		return replies.BadDate
	}
	category, ok := d.Integer("category")
	if !ok {
		return replies.BadValue
	}
	if category == noActivity {
		return replies.Skipped
	}
	kind := kindOf(d)
	if attrib, _ := d.Integer("attrib"); attrib == 2 {
		kind = app
	}
	if kind == "" {
		kind = unknown
	}
	data := d.Inner("data")
	w := derive.Workout{
		ID: files.Text(d.Word("id")), Sport: sportOf(category), Source: source(kind),
		Start: start.UnixMicro(), End: end.UnixMicro(), Offset: r.OffsetIn(d.Around("timezone").Text("timezone"), start),
		Metres: cmp.Or(data.Positive("manual_distance"), data.Positive("distance")), Kcal: cmp.Or(data.Positive("manual_calories"), data.Positive("calories")),
		Steps: data.Positive("steps"), MeanBPM: data.Positive("hr_average"), MaxBPM: data.Positive("hr_max"),
	}
	if paused := data.Positive("pause_duration"); paused != nil {
		if moving := end.Sub(start).Seconds() - *paused; moving > 0 {
			w.Moving = &moving
		}
	}
	r.Workout(w)
	r.climbed("workout", data)
	r.Homeless("workout", data, "spo2_average")
	return replies.Mapped
}
