package googlefit

import (
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// longestSpan is the longest stretch of one amount. A basal rate may cover days; a
// longer stretch comes from a wrong clock.
const longestSpan = 31 * 24 * time.Hour

// Streams of energy of which it is known what they count.
const (
	basal      = "from_bmr"        // at rest
	activities = "from_activities" // meanwhile, with what would have been used at rest
)

// energy takes kilocalories.
//
// The type itself means all energy, basal and active together, which has no series. Two
// of the platform's streams are specific: together they are the day, one for the times
// at rest and one for the others. Typed values are those of an activity as well. The
// rest is counted and left out: an app may mean either.
func (m *reader) energy(d replies.Document) replies.Verdict {
	start, end, ok := span(d)
	if !ok || end.Sub(start) > longestSpan {
		return replies.BadDate
	}
	v, ok := number(d, 0)
	if !ok || v < 0 {
		return replies.BadValue
	}
	_, stream := origin(d)
	switch stream {
	case basal:
		m.atRest(amountSource(d), start, end, v)
	case activities, userInput:
		key := sheet.Key{Resource: "calories_active", Source: amountSource(d)}
		m.Gather.Span(key, start.UnixMicro(), end.UnixMicro(), wearables.NoOffset, v)
	default:
		return replies.Skipped
	}
	return replies.Mapped
}

// atRest stores basal energy, which has no end of its own on the wire: cut at
// local midnights, so that each day has its share.
func (m *reader) atRest(source wearables.Source, start, end time.Time, kcal float64) {
	key := sheet.Key{Resource: "calories_basal", Source: source}
	length := end.Sub(start)
	for from := start; ; {
		to := m.midnight(from)
		if !to.Before(end) {
			to = end
		}
		part := kcal
		if length > 0 {
			part = kcal * float64(to.Sub(from)) / float64(length)
		}
		m.Gather.Span(key, from.UnixMicro(), to.UnixMicro(), wearables.NoOffset, part)
		if from = to; !from.Before(end) {
			return
		}
	}
}

// midnight is the next one where the user lives, else in UTC.
func (m *reader) midnight(at time.Time) time.Time {
	zone := m.Zone
	if zone == nil {
		zone = time.UTC
	}
	local := at.In(zone)
	next := time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, zone)
	if !next.After(at) { // midnight itself is jumped over
		next = at.Add(time.Hour)
	}
	return next.UTC()
}
