package oura

import (
	"math"

	"hale/internal/wearables"
)

// dayBody has the wire fields of an activity that Oura states.
//
// Reference 7.5.
type dayBody struct {
	Total    *float64 `json:"calories_total"`  // kcal
	Active   *float64 `json:"calories_active"` // kcal
	Steps    *int64   `json:"steps"`
	Distance *float64 `json:"distance"` // m
	Movement *float64 `json:"daily_movement"`
	Low      *float64 `json:"low"` // min
	Medium   *float64 `json:"medium"`
	High     *float64 `json:"high"`
	Offset   *int32   `json:"timezone_offset"`
}

// activity takes a daily_activity. Its distance is that of a walk which takes
// the same effort: Oura counts no other.
func (r *reader) activity(d document) verdict {
	day, ok := d.day()
	if !ok {
		return badDate
	}
	body := dayBody{
		Total: d.amount("total_calories"), Active: d.amount("active_calories"), Steps: d.whole("steps"),
		Distance: d.amount("equivalent_walking_distance"),
		Low:      d.minutes("low_activity_time"), Medium: d.minutes("medium_activity_time"), High: d.minutes("high_activity_time"),
	}
	if body == (dayBody{}) {
		return badValue
	}
	body.Movement = body.Distance
	if _, offset, ok := d.moment("timestamp"); ok {
		body.Offset = &offset
	}
	// The key is that of a derived day, so that a day has one activity however
	// its data came.
	r.summaries = append(r.summaries, wearables.Summary{
		Resource: "activity", Key: day.String(), Source: ring, Date: day, Body: encode(body),
	})
	r.homeless("daily_activity", d, "met", "class_5_min")
	return mapped
}

// minutes is a number of seconds in minutes.
func (d document) minutes(name string) *float64 {
	v := d.amount(name)
	if v == nil {
		return nil
	}
	minutes := math.Round(*v/60*100) / 100
	return &minutes
}
