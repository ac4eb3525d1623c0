package googlefit

import (
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/sports"
)

// mostStages bounds the stages of sleep that wait for the end of the file.
const mostStages = 1 << 19

// sleepActivities are the numbers of activities that are sleep.
var sleepActivities = map[float64]int8{72: derive.Asleep, 109: derive.Light, 110: derive.Deep, 111: derive.REM, 112: derive.Awake}

// mindfulActivities are meditation and guided breathing.
var mindfulActivities = map[float64]bool{45: true, 122: true}

// activity reads a stretch of one activity: sleep, mindfulness, a workout, or nothing.
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
	if stage, ok := sleepActivities[code]; ok {
		return m.segment(d, start, end, stage)
	}
	source, stream := origin(d)
	if mindfulActivities[code] && end.Sub(start) <= replies.LongestSleep {
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

// sleep reads a stretch of one stage.
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

// sportOf returns the sport of an activity. ok is false for activities that are
// no sport: being in a vehicle, standing still, elevators, and movement that
// the platform did not recognize.
func sportOf(code float64) (sport derive.Sport, ok bool) {
	if code < 0 || code >= float64(len(activityNames)) || code != float64(int(code)) {
		return sport, false
	}
	name := activityNames[int(code)]
	if name == "" {
		return sport, false
	}
	return sports.NamedSport(name), true
}

// activityNames are the platform's activities by their numbers, in the words
// of HealthKit's list where it has one.
var activityNames = [...]string{
	1: "Cycling", 2: "Walking", 7: "Walking", 8: "Running", 9: "Aerobics", 10: "Badminton", 11: "Baseball", 12: "Basketball",
	13: "Biathlon", 14: "HandCycling", 15: "Cycling", 16: "Cycling", 17: "Cycling", 18: "Cycling", 19: "Cycling", 20: "Boxing",
	21: "Calisthenics", 22: "CircuitTraining", 23: "Cricket", 24: "Dance", 25: "Elliptical", 26: "Fencing", 27: "AmericanFootball",
	28: "AustralianFootball", 29: "Soccer", 30: "DiscSports", 31: "Gardening", 32: "Golf", 33: "Gymnastics", 34: "Handball",
	35: "Hiking", 36: "Hockey", 37: "EquestrianSports", 38: "HouseWork", 39: "JumpRope", 40: "PaddleSports",
	41: "TraditionalStrengthTraining", 42: "Kickboxing", 43: "SurfingSports", 44: "MartialArts", 46: "MartialArts",
	47: "CrossTraining", 48: "Paragliding", 49: "Pilates", 50: "Polo", 51: "Racquetball", 52: "Climbing", 53: "Rowing", 54: "Rowing",
	55: "Rugby", 56: "Running", 57: "Running", 58: "Running", 59: "Sailing", 60: "UnderwaterDiving", 61: "Skateboarding",
	62: "SkatingSports", 63: "SkatingSports", 64: "SkatingSports", 65: "DownhillSkiing", 66: "CrossCountrySkiing",
	67: "CrossCountrySkiing", 68: "DownhillSkiing", 69: "SnowSports", 70: "SkatingSports", 71: "SnowSports", 73: "Snowboarding",
	74: "Snowmobile", 75: "SnowSports", 76: "Squash", 77: "StairClimbing", 78: "StairClimbing", 79: "PaddleSports",
	80: "TraditionalStrengthTraining", 81: "SurfingSports", 82: "Swimming", 83: "Swimming", 84: "Swimming", 85: "TableTennis",
	86: "TeamSports", 87: "Tennis", 88: "Treadmill", 89: "Volleyball", 90: "Volleyball", 91: "Volleyball", 92: "WaterSports",
	93: "Walking", 94: "Walking", 95: "Walking", 96: "WaterPolo", 97: "TraditionalStrengthTraining", 98: "WheelchairWalkPace",
	99: "SurfingSports", 100: "Yoga", 101: "CardioDance", 102: "Diving", 103: "Ergometer", 104: "SkatingSports",
	105: "SkatingSports", 106: "Curling", 108: "Other", 113: "CrossTraining", 114: "HighIntensityIntervalTraining",
	115: "HighIntensityIntervalTraining", 116: "Walking", 119: "Archery", 120: "Softball",
}
