package oura

import "hale/internal/wearables/formats/replies"

// activity takes a daily_activity. Its distance is that of a walk which takes
// the same effort: Oura counts no other.
func (r *reader) activity(d replies.Document) replies.Verdict {
	day, ok := d.Day("day")
	if !ok {
		return replies.BadDate
	}
	body := replies.Activity{
		Total: d.Amount("total_calories"), Active: d.Amount("active_calories"), Steps: d.Whole("steps"),
		Distance: d.Amount("equivalent_walking_distance"),
		Low:      d.Minutes("low_activity_time"), Medium: d.Minutes("medium_activity_time"), High: d.Minutes("high_activity_time"),
	}
	if _, offset, ok := d.Moment("timestamp"); ok {
		body.Offset = &offset
	}
	became := r.Activity(ring, day, body)
	if became == replies.Mapped {
		r.Homeless("daily_activity", d, "met", "class_5_min")
	}
	return became
}
