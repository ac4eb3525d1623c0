package whoopexport

import (
	"maps"
	"slices"
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
)

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

// sleep takes a row of the sleeps.
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
	return mapped
}

// slept holds the values of a row about a sleep, in both tables.
func (r row) slept(length time.Duration, offset int32) replies.Sleep {
	s := replies.Sleep{
		Type: wearables.SleepType(length), Duration: int64(length / time.Second),
		Total: r.seconds("Asleep duration (min)"), Awake: r.seconds("Awake duration (min)"), Light: r.seconds("Light sleep duration (min)"),
		REM: r.seconds("REM duration (min)"), Deep: r.seconds("Deep (SWS) duration (min)"),
		Score: replies.Whole(r.positive("Sleep performance %")), Efficiency: r.positive("Sleep efficiency %"), Respiratory: r.positive("Respiratory rate (rpm)"),
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
