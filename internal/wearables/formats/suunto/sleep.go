package suunto

import (
	"slices"
	"time"

	"hale/internal/wearables/formats/replies"
)

// mostNights bounds the sleeps that wait for longer versions.
const mostNights = 1 << 15

// sleep takes one sleep; durations are in seconds. A watch repeats a sleep that
// continued, and then the longest version counts.
func (m *reader) sleep(d replies.Document) replies.Verdict {
	e := d.Inner("entryData")
	start, _, began := e.Moment("BedtimeStart")
	end, offset, ended := e.Moment("BedtimeEnd")
	if !began || !ended || !end.After(start) || end.Sub(start) > replies.LongestSleep {
		return replies.BadDate
	}
	n := replies.Night{Source: watch, Start: start, End: end, Offset: offset, Sleep: replies.Sleep{
		Light: e.Whole("LightSleepDuration"), REM: e.Whole("REMSleepDuration"), Deep: e.Whole("DeepSleepDuration"),
		Score: score(e), HRLowest: replies.Whole(e.Positive("HRMin")), HRAverage: replies.Whole(e.Positive("HRAvg")),
		AverageHRV: e.Positive("AvgHRV"), Latency: e.Whole("SleepOnsetLatencyDuration"),
	}}
	n.Sleep.Total = replies.Sum(n.Sleep.Light, n.Sleep.REM, n.Sleep.Deep)
	if e.Flag("IsNap") {
		n.Sleep.Type = "acknowledged_nap"
	}
	m.Homeless("sleep", e, "MaxSpo2")
	was, known := m.nights[start]
	switch {
	case known && was.End.After(end):
		return replies.Copy
	case !known && len(m.nights) == mostNights:
		return replies.TooMany
	}
	m.nights[start] = n
	if known {
		return replies.Copy
	}
	return replies.Waits
}

// score returns the score of a sleep, out of 100, or nil. Suunto writes 0 for no score.
func score(e replies.Document) *int64 {
	v := e.Positive("SleepQualityScore")
	if v == nil || *v > 100 {
		return nil
	}
	return replies.Whole(v)
}

// keepNights stores the sleeps, in order.
func (m *reader) keepNights() {
	all := make([]replies.Night, 0, len(m.nights))
	for _, n := range m.nights {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b replies.Night) int { return a.Start.Compare(b.Start) })
	for _, n := range all {
		m.Waited("sleep", m.Night(n), 0)
	}
	m.nights = map[time.Time]replies.Night{}
}
