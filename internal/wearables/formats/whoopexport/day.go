package whoopexport

import (
	"maps"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
)

// cycle is one of WHOOP's days, with the totals of the day.
type cycle struct {
	length time.Duration
	body   replies.Activity
}

// cycleParts lists the columns of a cycle without a resource. Strain has a scale of its
// own, and the blood's oxygen is a mean that has a day and no time.
var cycleParts = map[string]string{"Day Strain": "physiological_cycles.day_strain", "Blood oxygen %": "physiological_cycles.blood_oxygen"}

// cycle takes a cycle: its recovery belongs to the sleep that it begins with,
// the rest to the day.
func (r *reader) cycle(one row) verdict {
	start, offset, ok := one.moment("Cycle start time")
	if !ok {
		return badDate
	}
	slept := r.recovery(one)
	r.homeless(one, cycleParts)
	date, length, ok := one.dayOf(start, offset)
	if !ok { // the current one, whose length is unknown
		if slept {
			return mapped
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
			return mapped
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
	return mapped
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
	n.body.Readiness, n.body.HRResting = replies.Whole(one.amount("Recovery score %")), replies.Whole(one.positive("Resting heart rate (bpm)"))
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
