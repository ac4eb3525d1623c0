package whoopexport

import (
	"math"
	"strconv"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sports"
)

// workoutBody has the wire fields of a workout that WHOOP states.
//
// Reference 7.5.
type workoutBody struct {
	Title      string       `json:"title,omitempty"`
	Offset     *int32       `json:"timezone_offset,omitempty"`
	AverageHR  *int64       `json:"average_hr,omitempty"`
	MaxHR      *int64       `json:"max_hr,omitempty"`
	Distance   *float64     `json:"distance,omitempty"` // m
	Calories   *float64     `json:"calories,omitempty"` // kcal
	Sport      derive.Sport `json:"sport"`
	Zones      []int64      `json:"hr_zones,omitempty"` // s
	Gain       *float64     `json:"total_elevation_gain,omitempty"`
	ProviderID string       `json:"provider_id"`
}

// workout takes a workout.
func (r *reader) workout(one row) verdict {
	start, offset, began := one.moment("Workout start time")
	end, _, ended := one.moment("Workout end time")
	if !began || !ended || !end.After(start) || end.Sub(start) > files.LongestWorkout {
		return badDate
	}
	key := replies.SessionKey(start, strap)
	body := workoutBody{
		Title: files.Text(one.text("Activity name")), Sport: sports.OfWord(one.text("Activity name")), ProviderID: key,
		AverageHR: replies.Whole(one.positive("Average HR (bpm)")), MaxHR: replies.Whole(one.positive("Max HR (bpm)")),
		Distance: one.positive("Distance (meters)"), Calories: one.positive("Energy burned (cal)"), Gain: one.positive("Altitude Gain (meters)"),
		Zones: one.zones(end.Sub(start)),
	}
	if offset != wearables.NoOffset {
		body.Offset = &offset
	}
	r.homeless(one, map[string]string{"Activity Strain": "workouts.activity_strain"})
	r.summaries = append(r.summaries, wearables.Summary{
		Resource: "workouts", Key: key, Source: strap, Date: replies.LocalDay(start, offset), Start: start, End: end, Body: replies.Encode(body),
	})
	return mapped
}

// zones holds the seconds in each zone of heart rate. The rest of the workout is below
// WHOOP's first zone, in Hale's first.
func (r row) zones(length time.Duration) []int64 {
	all := make([]int64, 6)
	left := 100.0
	for i := 1; i < len(all); i++ {
		share := r.amount("HR Zone " + strconv.Itoa(i) + " %")
		if share == nil || *share > 100 {
			return nil
		}
		left -= *share
		all[i] = int64(math.Round(*share / 100 * length.Seconds()))
	}
	all[0] = int64(math.Round(max(left, 0) / 100 * length.Seconds()))
	return all
}
