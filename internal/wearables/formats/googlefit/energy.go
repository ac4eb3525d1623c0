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

// These streams of energy state what they count.
const (
	basal      = "from_bmr"        // at rest
	activities = "from_activities" // in activities, including the energy at rest
)

// energy takes kilocalories.
//
// The type itself means all energy, basal and active together, and has no series. Two of
// the platform's streams are specific: one for the times at rest and one for the others.
// Together they cover the day. Typed values are those of an activity as well. Other
// streams are counted and left out, because an app may mean either.
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

// atRest stores basal energy. The API does not show the end of a basal value. So atRest
// cuts the interval at local midnights, and each day gets its share.
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

// midnight returns the next midnight after an instant, in the user's fallback zone or
// otherwise in UTC.
func (m *reader) midnight(at time.Time) time.Time {
	zone := m.Zone
	if zone == nil {
		zone = time.UTC
	}
	local := at.In(zone)
	next := time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, zone)
	if !next.After(at) { // a clock change skips midnight
		next = at.Add(time.Hour)
	}
	return next.UTC()
}
