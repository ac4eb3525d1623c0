package whoopexport

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/sports"
)

// cycle is one of WHOOP's days, with the totals of the day.
type cycle struct {
	length time.Duration
	body   replies.Activity
}

// cycleParts lists the columns of a cycle without a resource. Strain has a scale of its
// own, and the blood's oxygen is a mean that has a day and no time.
var cycleParts = map[string]string{"Day Strain": "physiological_cycles.day_strain", "Blood oxygen %": "physiological_cycles.blood_oxygen"}

// cycle reads a cycle: its recovery belongs to the sleep that it begins with,
// the rest to the day.
func (r *reader) cycle(one row) verdict {
	start, offset, ok := one.moment("Cycle start time")
	if !ok {
		return badDate
	}
	slept := r.recovery(one)
	r.skipFields(one, cycleParts)
	date, length, ok := one.dayOf(start, offset)
	if !ok { // the current one, whose length is unknown
		if slept {
			return verdictMapped
		}
		return badDate
	}
	body := replies.Activity{Total: one.positive("Energy burned (cal)"), HeartRate: &replies.HeartRate{
		Average: one.positive("Average HR (bpm)"), Highest: one.positive("Max HR (bpm)"), Resting: one.positive("Resting heart rate (bpm)"),
	}}
	if *body.HeartRate == (replies.HeartRate{}) {
		body.HeartRate = nil
	}
	if body == (replies.Activity{}) {
		if slept {
			return verdictMapped
		}
		return badValue
	}
	if offset != wearables.NoOffset {
		body.Offset = &offset
	}
	if known, ok := r.days[date]; ok && known.length >= length {
		return tooMany
	}
	r.days[date] = cycle{length, body}
	return verdictMapped
}

// recovery adds a cycle's values about its sleep, and reports whether there are any.
// Values in both tables come from that of the sleeps.
func (r *reader) recovery(one row) bool {
	start, end, offset, ok := one.bounds()
	if !ok {
		return false
	}
	key := replies.SessionKey(start, strap)
	n := r.nights[key]
	if n == nil {
		if len(r.nights) >= maxNights {
			return false
		}
		n = &night{start, end, offset, one.slept(end.Sub(start), offset)}
		r.nights[key] = n
	}
	n.body.Readiness, n.body.HRResting = replies.RoundNumber(one.amount("Recovery score %")), replies.RoundNumber(one.positive("Resting heart rate (bpm)"))
	n.body.AverageHRV, n.body.Skin = one.positive("Heart rate variability (ms)"), one.positive("Skin temp (celsius)")
	return true
}

// dayOf returns the date of a cycle: that of waking, or, without sleep, that of its
// middle.
func (r row) dayOf(start time.Time, offset int32) (date civil.Date, length time.Duration, ok bool) {
	if end, _, ended := r.moment("Cycle end time"); ended && end.After(start) {
		length = end.Sub(start)
	}
	if wake, at, woke := r.moment("Wake onset"); woke {
		return replies.LocalDay(wake, at), length, true
	}
	return replies.LocalDay(start.Add(length/2), offset), length, length > 0 && length <= 4*24*time.Hour
}

// storeDays stores the days. Of two cycles on one date the longer was kept.
func (r *reader) storeDays() {
	for _, date := range slices.SortedFunc(maps.Keys(r.days), civil.Date.Compare) {
		body := r.days[date].body
		r.summaries = append(r.summaries, wearables.Summary{
			Resource: "activity", Key: date.String(), Source: strap, Date: date, Body: replies.Encode(body),
		})
	}
}

// maxNights bounds the nights that are kept until both tables are read; a life has fewer.
const maxNights = 100_000

// night is one sleep from both tables.
type night struct {
	start, end time.Time
	offset     int32
	body       replies.Sleep
}

// bounds returns the start and the end of a row's sleep, with the offset at its end. It
// returns false if the times are missing or impossible.
func (r row) bounds() (start, end time.Time, offset int32, ok bool) {
	start, _, began := r.moment("Sleep onset")
	end, offset, ended := r.moment("Wake onset")
	return start, end, offset, began && ended && end.After(start) && end.Sub(start) <= replies.LongestSleep
}

// sleep reads a row of the sleeps.
func (r *reader) sleep(one row) verdict {
	start, end, offset, ok := one.bounds()
	if !ok {
		return badDate
	}
	key := replies.SessionKey(start, strap)
	if _, known := r.nights[key]; !known && len(r.nights) >= maxNights {
		return tooMany
	}
	r.nights[key] = &night{start, end, offset, one.slept(end.Sub(start), offset)}
	return verdictMapped
}

// slept holds the values of a row about a sleep, in both tables.
func (r row) slept(length time.Duration, offset int32) replies.Sleep {
	s := replies.Sleep{
		Type: wearables.SleepType(length), Duration: int64(length / time.Second),
		Total: r.seconds("Asleep duration (min)"), Awake: r.seconds("Awake duration (min)"), Light: r.seconds("Light sleep duration (min)"),
		REM: r.seconds("REM duration (min)"), Deep: r.seconds("Deep (SWS) duration (min)"),
		Score: replies.RoundNumber(r.positive("Sleep performance %")), Efficiency: r.positive("Sleep efficiency %"), Respiratory: r.positive("Respiratory rate (rpm)"),
	}
	if strings.EqualFold(r.text("Nap"), "true") {
		s.Type = "acknowledged_nap"
	}
	if offset != wearables.NoOffset {
		s.Offset = &offset
	}
	return s
}

// storeNights stores the sleeps. The day of a sleep is the day of waking up.
func (r *reader) storeNights() {
	for _, key := range slices.Sorted(maps.Keys(r.nights)) {
		n := r.nights[key]
		r.summaries = append(r.summaries, wearables.Summary{
			Resource: "sleep", Key: key, Source: strap, Date: replies.LocalDay(n.end, n.offset), Start: n.start, End: n.end, Body: replies.Encode(n.body),
		})
	}
}

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

// workout reads a workout.
func (r *reader) workout(one row) verdict {
	start, offset, began := one.moment("Workout start time")
	end, _, ended := one.moment("Workout end time")
	if !began || !ended || !end.After(start) || end.Sub(start) > files.LongestWorkout {
		return badDate
	}
	key := replies.SessionKey(start, strap)
	body := workoutBody{
		Title: files.Text(one.text("Activity name")), Sport: sports.OfWord(one.text("Activity name")), ProviderID: key,
		AverageHR: replies.RoundNumber(one.positive("Average HR (bpm)")), MaxHR: replies.RoundNumber(one.positive("Max HR (bpm)")),
		Distance: one.positive("Distance (meters)"), Calories: one.positive("Energy burned (cal)"), Gain: one.positive("Altitude Gain (meters)"),
		Zones: one.zones(end.Sub(start)),
	}
	if offset != wearables.NoOffset {
		body.Offset = &offset
	}
	r.skipFields(one, map[string]string{"Activity Strain": "workouts.activity_strain"})
	r.summaries = append(r.summaries, wearables.Summary{
		Resource: "workouts", Key: key, Source: strap, Date: replies.LocalDay(start, offset), Start: start, End: end, Body: replies.Encode(body),
	})
	return verdictMapped
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
