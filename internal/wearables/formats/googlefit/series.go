package googlefit

import (
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// target names the resource of the first field of a point.
type target struct {
	resource, sampleType string
	times                float64 // from the platform's unit to ours
}

// levels are measured in a moment: bpm, kg, %, mmol/L, °C; litres that were
// drunk.
var levels = map[string]target{
	"heart_rate.bpm":      {"heartrate", "", 1},
	"weight":              {"body_weight", "", 1},
	"body.fat.percentage": {"body_fat", "", 1},
	"blood_glucose":       {"glucose", "", 1},
	"oxygen_saturation":   {"blood_oxygen", "", 1},
	"body.temperature":    {"body_temperature", "", 1},
	"hydration":           {"water", "", 1000},
}

// amounts are counted from one time to another: steps, metres.
var amounts = map[string]target{
	"step_count.delta": {"steps", "", 1},
	"distance.delta":   {"distance", "", 1},
}

func (m *reader) level(d replies.Document, to target) replies.Verdict {
	start, _, ok := span(d)
	if !ok {
		return replies.BadDate
	}
	v, ok := number(d, 0)
	if !ok || v <= 0 { // some devices write 0 while they are not worn
		return replies.BadValue
	}
	source, _ := origin(d)
	m.Gather.At(sheet.Key{Resource: to.resource, Type: to.sampleType, Source: source}, start.UnixMicro(), wearables.NoOffset, v*to.times)
	return replies.Mapped
}

func (m *reader) amount(d replies.Document, to target) replies.Verdict {
	start, end, ok := span(d)
	if !ok || end.Sub(start) > longestSpan {
		return replies.BadDate
	}
	v, ok := number(d, 0)
	if !ok || v < 0 {
		return replies.BadValue
	}
	key := sheet.Key{Resource: to.resource, Type: to.sampleType, Source: amountSource(d)}
	m.Gather.Span(key, start.UnixMicro(), end.UnixMicro(), wearables.NoOffset, v*to.times)
	return replies.Mapped
}

// amountSource returns the source of an amount. An archive has the same steps in several
// streams of the platform: merged, estimated, or of one sensor. These streams have
// different intervals. So each stream of an archive is a separate source. The total of a
// day then counts the time that two streams cover only once. A reply has only one stream,
// so the apps of its points are the sources.
func amountSource(d replies.Document) wearables.Source {
	if !d.Has("fitValue") {
		source, _ := origin(d)
		return source
	}
	source, stream := container(d)
	if source.AppID == services && isWord(stream) {
		source.AppID += ":" + stream
	}
	return source
}

func isWord(s string) bool {
	for _, c := range []byte(s) {
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) < 60
}

// pressure reads a systolic and a diastolic pressure, mmHg.
func (m *reader) pressure(d replies.Document) replies.Verdict {
	start, _, ok := span(d)
	if !ok {
		return replies.BadDate
	}
	systolic, high := number(d, 0)
	diastolic, low := number(d, 1)
	if !high || !low || systolic <= 0 || diastolic <= 0 {
		return replies.BadValue
	}
	source, _ := origin(d)
	m.Gather.Pair(sheet.Key{Resource: "blood_pressure", Source: source}, start.UnixMicro(), wearables.NoOffset, systolic, diastolic)
	return replies.Mapped
}

// height keeps the last height, in metres, for the profile.
func (m *reader) height(d replies.Document) replies.Verdict {
	start, _, ok := span(d)
	if !ok {
		return replies.BadDate
	}
	metres, ok := number(d, 0)
	if !ok || metres < 0.3 || metres > 3 {
		return replies.BadValue
	}
	if at := start.UnixMicro(); m.person.Height == nil || at >= m.person.HeightAt {
		centimetres := 100 * metres
		m.person.Height, m.person.HeightAt = &centimetres, at
	}
	return replies.Mapped
}

// longestSpan is the longest stretch of one amount. A basal rate may cover days; a
// longer stretch comes from a wrong clock.
const longestSpan = 31 * 24 * time.Hour

// These streams of energy state what they count.
const (
	basalEnergy = "from_bmr"        // at rest
	activities  = "from_activities" // in activities, including the energy at rest
)

// energy reads kilocalories.
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
	case basalEnergy:
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
