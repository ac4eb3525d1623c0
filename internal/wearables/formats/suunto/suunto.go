// Package suunto reads replies of Suunto's cloud API: workouts, and a watch's sleep,
// activity and recovery.
//
// Suunto is not in the catalogue, so it cannot be connected. Its data is a person's own
// file, of the provider manual with the app id suunto.
//
// Facts come from public samples of workouts and sleep, and Suunto's public pages.
// There was no sample of a day, so only fields with a plain name and unit are read.
package suunto

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/sports"
)

// Provider is the provider of files whose maker is not in the catalogue.
const Provider = "manual"

var maker = replies.Maker{
	Kind: "suunto", Title: "Suunto JSON", Provider: Provider, Lists: []string{"payload"}, Open: open,
}

// Kind is a file of Suunto's replies.
var Kind = maker.Files()

var watch = wearables.Source{Provider: Provider, Type: "watch", AppID: "suunto"}

// reader is the state of one reading.
type reader struct {
	*replies.Reader
	nights  map[time.Time]replies.Night
	steps   map[civil.Date]float64
	watches map[string]bool // by serial number
}

// open returns the resources in the order in which they are matched with a document.
// Recovery, a share of the body's energy and a word for stress, has no scale of ours.
func open(r *replies.Reader) replies.Reading {
	m := &reader{Reader: r, nights: map[time.Time]replies.Night{}, steps: map[civil.Date]float64{}, watches: map[string]bool{}}
	return replies.Reading{End: m.end, Resources: []replies.Resource{
		{Name: "workout", Keys: []string{"activityId", "startTime", "totalTime", "totalDistance"}, Take: m.workout},
		{Name: "sleep", Keys: entryKeys, Is: notes("BedtimeStart", "DeepSleepDuration", "SleepId"), Take: m.sleep},
		{Name: "activity", Keys: entryKeys, Is: notes("HR", "HRV", "SpO2", "StepCount", "EnergyConsumption"), Take: m.sample},
		{Name: "recovery", Keys: entryKeys, Is: notes("Balance", "StressState")},
		{Name: "daily_statistics", Keys: []string{"Name", "Aggregation", "Sources"}, Take: m.statistics},
	}}
}

// entryKeys are the fields of all documents that a watch records day and night.
var entryKeys = []string{"timestamp", "entryData"}

// notes reports whether an entry has one of some fields.
func notes(names ...string) func(replies.Document) bool {
	has := replies.HasOne(names...)
	return func(d replies.Document) bool { return has(d.Inner("entryData")) }
}

// end stores the values that waited for the end of the file.
func (m *reader) end(context.Context) error {
	m.keepNights()
	m.keepDays()
	return nil
}

var (
	hearts      = sheet.Key{Resource: "heartrate", Source: watch}
	variability = sheet.Key{Resource: "hrv", Type: "rmssd", Source: watch}
	oxygen      = sheet.Key{Resource: "blood_oxygen", Source: watch}
)

// sample reads a watch's values at a moment of the day. The interval of steps and
// energy is unknown, so they have no resource; the totals of days have one.
func (m *reader) sample(d replies.Document) replies.Verdict {
	at, offset, ok := d.Moment("timestamp")
	if !ok {
		return replies.BadDate
	}
	e := d.Inner("entryData")
	became := replies.Skipped
	for _, one := range []struct {
		name   string
		key    sheet.Key
		factor float64
	}{
		{"HR", hearts, 1},
		{"HRV", variability, 1}, // ms
		{"SpO2", oxygen, 100},   // a share
	} {
		if v := e.Positive(one.name); v != nil {
			m.Gather.At(one.key, at.UnixMicro(), offset, *v*one.factor)
			became = replies.Mapped
		}
	}
	m.SkipFields("activity", e, "StepCount", "EnergyConsumption", "HRExt", "Altitude")
	return became
}

// statistics reads the totals of days of one quantity, by watch. It is unknown whether
// the energy includes the basal rate, so only steps have a resource.
func (m *reader) statistics(d replies.Document) replies.Verdict {
	if d.Text("Name") != "stepcount" || d.Text("Aggregation") != "sum" {
		return replies.Skipped
	}
	became := replies.BadValue
	for _, source := range d.Documents("Sources") {
		for _, one := range source.Documents("Samples") {
			steps := one.Amount("Value") // null where the watch was not worn
			day, ok := m.day(one)
			switch {
			case steps == nil:
				continue
			case !ok:
				m.Part("daily_statistics.day", replies.BadDate)
				continue
			}
			m.Part("daily_statistics.day", replies.Mapped)
			became = replies.Mapped
			m.steps[day] = math.Max(m.steps[day], *steps) // of two watches, the one that was worn
		}
	}
	return became
}

// day returns the day with most of the 24 hours of a total. They begin at an instant,
// in UTC, that the requesting program chose.
func (m *reader) day(d replies.Document) (civil.Date, bool) {
	at, ok := d.Wall("TimeISO8601")
	if !ok {
		return civil.Date{}, false
	}
	noon := at.Add(12 * time.Hour)
	return replies.LocalDay(noon, sheet.OffsetAt(m.Zone, noon.UnixMicro())), true
}

// keepDays stores the steps of days, in order.
func (m *reader) keepDays() {
	for _, day := range slices.SortedFunc(maps.Keys(m.steps), civil.Date.Compare) {
		steps := m.steps[day]
		m.Activity(watch, day, replies.Activity{Steps: replies.RoundNumber(&steps)})
	}
	clear(m.steps)
}

// mostNights bounds the sleeps that wait for longer versions.
const mostNights = 1 << 15

// sleep reads one sleep; durations are in seconds. A watch repeats a sleep that
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
		Score: score(e), HRLowest: replies.RoundNumber(e.Positive("HRMin")), HRAverage: replies.RoundNumber(e.Positive("HRAvg")),
		AverageHRV: e.Positive("AvgHRV"), Latency: e.Whole("SleepOnsetLatencyDuration"),
	}}
	n.Sleep.Total = replies.Sum(n.Sleep.Light, n.Sleep.REM, n.Sleep.Deep)
	if e.Flag("IsNap") {
		n.Sleep.Type = "acknowledged_nap"
	}
	m.SkipFields("sleep", e, "MaxSpo2")
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
	return replies.RoundNumber(v)
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

// workout reads a workout. Instants are in milliseconds.
//
// The heart rate has values of the workout beside values of the person. A short
// name means the workout in some replies and the person in others. So the
// reader uses only the long names.
func (m *reader) workout(d replies.Document) replies.Verdict {
	start, began := d.UnixMilli("startTime")
	if !began {
		return replies.BadDate
	}
	seconds := d.Amount("totalTime")
	end, ended := d.UnixMilli("stopTime")
	if !ended && seconds != nil && *seconds <= files.LongestWorkout.Seconds() {
		end, ended = start.Add(time.Duration(*seconds*float64(time.Second))), true
	}
	if !ended || end.Before(start) || end.Sub(start) > files.LongestWorkout {
		return replies.BadDate
	}
	hearts := d.Inner("hrdata")
	m.Recording(files.Recording{
		Workout: derive.Workout{
			ID: idOf(d), Sport: sportOf(d), Source: watch, Start: start.UnixMicro(), End: end.UnixMicro(), Offset: m.offset(d, start),
			Moving: d.Positive("totalTime"), Metres: d.Positive("totalDistance"), Kcal: d.Positive("energyConsumption"),
			Steps: d.Positive("stepCount"), Gain: d.Amount("totalAscent"),
			MeanBPM: hearts.Positive("workoutAvgHR"), MaxBPM: hearts.Positive("workoutMaxHR"),
			Watts: d.Positive("avgPower"), MaxW: d.Positive("maxPower"),
		},
		Speed: d.Positive("avgSpeed"), MaxSpeed: d.Positive("maxSpeed"), // m/s
		High: height(d, "maxAltitude"), Low: height(d, "minAltitude"),
	})
	m.gear(d.Inner("gear"))
	m.SkipFields("workout", d, "recoveryTime", "cadence", "totalDescent")
	return replies.Mapped
}

// height returns a height in metres, or nil. Suunto writes 0 for an unknown height.
func height(d replies.Document, name string) *float64 {
	v := d.Signed(name)
	if v == nil || *v == 0 {
		return nil
	}
	return v
}

// idOf returns the key of a workout in Suunto's API, or otherwise its number.
func idOf(d replies.Document) string {
	for _, name := range []string{"workoutKey", "key", "workoutId"} {
		if id := d.Word(name); id != "" {
			return files.Text(id)
		}
	}
	return ""
}

// offset returns the offset of the place, in seconds east of UTC. Suunto states it in
// minutes. Without it, offset returns the offset of the user's fallback zone.
func (m *reader) offset(d replies.Document, at time.Time) int32 {
	if minutes, ok := d.Integer("timeOffsetInMinutes"); ok && minutes >= -24*60 && minutes <= 24*60 && replies.IsOffset(minutes*60) {
		return int32(minutes * 60)
	}
	return sheet.OffsetAt(m.Zone, at.UnixMicro())
}

// gear keeps the watch that a workout names, once.
func (m *reader) gear(d replies.Document) {
	serial := files.Text(d.Text("serialNumber"))
	if serial == "" || m.watches[serial] {
		return
	}
	model := d.Text("displayName")
	if model == "" {
		model = d.Text("name")
	}
	if m.Own(files.Device{
		Provider: Provider, SourceType: watch.Type, Manufacturer: files.Text(d.Text("manufacturer")), Model: files.Text(model),
		ExternalID: serial, Version: files.Text(d.Text("swVersion")),
	}) {
		m.watches[serial] = true
	}
}

// activities maps Suunto's numbers to our names. Numbers that are not in it
// become Other. It omits 76 and 77, on which the public lists differ. It also
// omits numbers that mean several things:
//
//   - 4 to 9, sports
//   - 17, indoor sports
//   - 19, ball games
//   - 20, outdoor gym
//   - 108, wheelchair sports
//
// Facts: Suunto's list of activities, as others read it.
var activities = map[int64]string{
	0: "Walking", 1: "Running", 2: "Cycling", 3: "CrossCountrySkiing", 10: "Cycling", 11: "Hiking", 12: "SkatingSports",
	13: "DownhillSkiing", 14: "PaddleSports", 15: "Rowing", 16: "Golf", 18: "Parkour", 21: "Swimming", 22: "Running",
	23: "TraditionalStrengthTraining", 24: "Walking", 25: "EquestrianSports", 26: "Motorsports", 27: "SkatingSports", 28: "WaterSports",
	29: "Climbing", 30: "Snowboarding", 31: "CrossCountrySkiing", 32: "FitnessClass", 33: "Soccer", 34: "Tennis", 35: "Basketball",
	36: "Badminton", 37: "Baseball", 38: "Volleyball", 39: "AmericanFootball", 40: "TableTennis", 41: "Racquetball", 42: "Squash",
	43: "Floorball", 44: "Handball", 45: "Softball", 46: "Bowling", 47: "Cricket", 48: "Rugby", 49: "SkatingSports", 50: "Hockey",
	51: "Yoga", 52: "Cycling", 53: "Running", 54: "CrossTraining", 55: "Elliptical", 56: "CrossCountrySkiing", 57: "Rowing",
	58: "Flexibility", 59: "TrackAndField", 60: "Orienteering", 61: "PaddleSports", 62: "MartialArts",
	63: "TraditionalStrengthTraining", 64: "Dance", 65: "SnowSports", 66: "DiscSports", 67: "Soccer", 68: "SwimBikeRun",
	69: "Aerobics", 70: "Hiking", 71: "Sailing", 72: "PaddleSports", 73: "CrossTraining", 74: "SwimBikeRun", 75: "Padel",
	78: "UnderwaterDiving", 79: "UnderwaterDiving", 80: "AdventureRacing", 81: "Gymnastics", 82: "PaddleSports", 83: "Hiking",
	84: "DownhillSkiing", 85: "Swimming", 86: "SurfingSports", 87: "SurfingSports", 88: "Paragliding", 90: "UnderwaterDiving",
	91: "SurfingSports", 92: "SwimBikeRun", 93: "SwimBikeRun", 94: "SwimBikeRun", 95: "ObstacleRacing", 96: "Fishing", 97: "Hunting",
	98: "Transition", 99: "Cycling", 100: "Mermaiding", 101: "UnderwaterDiving", 102: "JumpRope", 103: "Running", 104: "Calisthenics",
	105: "Cycling", 106: "Cycling", 107: "CrossCountrySkiing", 109: "HandCycling", 110: "Snowboarding", 111: "Biathlon",
	112: "MindAndBody", 113: "Hockey", 114: "Cycling", 115: "Running", 116: "CrossCountrySkiing", 117: "CrossCountrySkiing",
	118: "CrossCountrySkiing", 119: "Chores", 120: "Pilates", 121: "Yoga",
}

func sportOf(d replies.Document) derive.Sport {
	id, ok := d.Integer("activityId")
	if !ok {
		return sports.OtherSport
	}
	return sports.NamedSport(activities[id])
}
