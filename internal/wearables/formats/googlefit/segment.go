package googlefit

import (
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// mostStages bounds the stages of sleep that wait for the end of the file.
const mostStages = 1 << 19

// asleep are the numbers of activities that are sleep.
var asleep = map[float64]int8{72: derive.Asleep, 109: derive.Light, 110: derive.Deep, 111: derive.REM, 112: derive.Awake}

// mindful are meditation and guided breathing.
var mindful = map[float64]bool{45: true, 122: true}

// activity takes a stretch of one activity: sleep, mindfulness, a workout, or nothing.
//
// The platform guesses all day long whether its owner walks, drives or sits. Those
// guesses are no workouts. Activities that an app recorded or a person typed in are
// workouts.
func (m *reader) activity(d replies.Document) replies.Verdict {
	start, end, ok := span(d)
	if !ok || !end.After(start) {
		return replies.BadDate
	}
	code, ok := number(d, 0)
	if !ok {
		return replies.BadValue
	}
	if stage, ok := asleep[code]; ok {
		return m.segment(d, start, end, stage)
	}
	source, stream := origin(d)
	if mindful[code] && end.Sub(start) <= replies.LongestSleep {
		key := sheet.Key{Resource: "mindfulness_minutes", Source: source}
		m.Gather.Span(key, start.UnixMicro(), end.UnixMicro(), wearables.NoOffset, end.Sub(start).Minutes())
		return replies.Mapped
	}
	sport, ok := sportOf(code)
	if !ok || source.AppID == services && stream != userInput {
		return replies.Skipped
	}
	if end.Sub(start) > files.LongestWorkout {
		return replies.BadDate
	}
	m.Workout(derive.Workout{
		Sport: sport, Source: source, Start: start.UnixMicro(), End: end.UnixMicro(), Offset: sheet.OffsetAt(m.Zone, start.UnixMicro()),
	})
	return replies.Mapped
}

// sleepStages are the numbers of sleep.segment. Out of bed is awake.
var sleepStages = map[float64]int8{1: derive.Awake, 2: derive.Asleep, 3: derive.Awake, 4: derive.Light, 5: derive.Deep, 6: derive.REM}

// sleep takes a stretch of one stage.
func (m *reader) sleep(d replies.Document) replies.Verdict {
	start, end, ok := span(d)
	if !ok || !end.After(start) {
		return replies.BadDate
	}
	code, _ := number(d, 0)
	stage, ok := sleepStages[code]
	if !ok {
		return replies.BadValue
	}
	return m.segment(d, start, end, stage)
}

func (m *reader) segment(d replies.Document, start, end time.Time, stage int8) replies.Verdict {
	if end.Sub(start) > replies.LongestSleep {
		return replies.BadDate
	}
	if m.stages == mostStages {
		return replies.TooMany
	}
	m.stages++
	source, _ := origin(d)
	one := m.sleeper(source)
	one.Segments = append(one.Segments, derive.Segment{
		Start: start.UnixMicro(), End: end.UnixMicro(), Offset: sheet.OffsetAt(m.Zone, end.UnixMicro()), Stage: stage,
	})
	return replies.Mapped
}

func (m *reader) sleeper(source wearables.Source) *derive.Sleeper {
	one := m.nights[source]
	if one == nil {
		one = &derive.Sleeper{Source: source}
		m.nights[source], m.sleepers = one, append(m.sleepers, one)
	}
	return one
}
