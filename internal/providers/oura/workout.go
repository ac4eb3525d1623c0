package oura

import (
	"hale/internal/providers/files"
	"hale/internal/providers/sports"
	"hale/internal/wearables/derive"
)

// workout takes a workout. Its heart rate comes from the series of the day.
func (r *reader) workout(d document) verdict {
	start, offset, began := d.moment("start_datetime")
	end, _, ended := d.moment("end_datetime")
	if !began || !ended || end.Before(start) || end.Sub(start) > files.LongestWorkout {
		return badDate
	}
	w := derive.Workout{
		ID: files.Text(d.text("id")), Title: files.Text(d.text("label")), Sport: sports.OfWord(d.text("activity")), Source: ring,
		Start: start.UnixMicro(), End: end.UnixMicro(), Offset: offset,
		Metres: d.amount("distance"), Kcal: d.amount("calories"),
	}
	if d.text("source") == "manual" { // typed in
		w.Source = app
	}
	r.workouts = append(r.workouts, w)
	return mapped
}
