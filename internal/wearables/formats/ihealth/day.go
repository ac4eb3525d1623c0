package ihealth

import "hale/internal/wearables/formats/replies"

const metresPerKilometre, metresPerMile = 1000, 1609.344

// day takes the totals of the day that its clock showed. Calories are those of
// the whole day, resting ones included.
func (r *reader) day(d replies.Document) replies.Verdict {
	wall, ok := d.Unix("MDate")
	factor, known := unit(d, "DistanceUnit", metresPerKilometre, metresPerMile)
	switch {
	case !ok:
		return replies.BadDate
	case !known:
		return replies.BadUnit
	}
	body := replies.Activity{
		Total: d.Positive("Calories"), Steps: d.Whole("Steps"), Distance: replies.Times(d.Amount("DistanceTraveled"), factor),
	}
	if offset, known := offsetOf(d); known {
		body.Offset = &offset
	}
	return r.Activity(sourceOf(d, "watch"), replies.LocalDay(wall, 0), body)
}
