package oura

import (
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sports"
)

// workout takes a workout. Its heart rate comes from the series of the day.
func (r *reader) workout(d replies.Document) replies.Verdict {
	start, offset, began := d.Moment("start_datetime")
	end, _, ended := d.Moment("end_datetime")
	if !began || !ended || end.Before(start) || end.Sub(start) > files.LongestWorkout {
		return replies.BadDate
	}
	w := derive.Workout{
		ID: files.Text(d.Text("id")), Title: files.Text(d.Text("label")), Sport: sports.OfWord(d.Text("activity")), Source: ring,
		Start: start.UnixMicro(), End: end.UnixMicro(), Offset: offset,
		Metres: d.Amount("distance"), Kcal: d.Amount("calories"),
	}
	if d.Text("source") == "manual" { // typed in
		w.Source = app
	}
	r.Workout(w)
	return replies.Mapped
}
