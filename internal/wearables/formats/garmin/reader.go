package garmin

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// Provider is the catalogue's name for Garmin.
const Provider = "garmin"

var maker = replies.Maker{
	WallClock: true,
	Kind:      "garmin", Title: "Garmin JSON", Provider: Provider, Lists: listNames, HeartOfDays: true, Open: open,
}

// Kind is a file of Garmin's documents.
var Kind = maker.OfOne(personOf)

// These are the sources: worn or mounted devices, scales, cuffs, and typed values.
var (
	watch = wearables.Source{Provider: Provider, Type: "watch"}
	scale = wearables.Source{Provider: Provider, Type: "scale"}
	cuff  = wearables.Source{Provider: Provider, Type: "cuff"}
	app   = wearables.Source{Provider: Provider, Type: "app"}
)

// reader reads Garmin's documents of one file. It keeps data that several of them share
// until the end.
type reader struct {
	*replies.Reader
	days    map[civil.Date]*replies.Activity
	epochs  map[epochKey]epoch
	weighed map[string]bool // by Garmin's id
	listed  bool            // there was an activity
	nights  map[civil.Date]replies.Sleep
	nightly []replies.NightlyValues
}

func (r *reader) end(ctx context.Context) error {
	r.endDays()
	if err := r.endEpochs(ctx); err != nil {
		return err
	}
	r.endNights()
	return ctx.Err()
}

// personOf returns Garmin's number of the user of a document, or "" if the document does
// not state it.
func personOf(d replies.Document) string {
	for _, name := range []string{"userId", "userProfilePK", "userProfilePk", "userProfileId", "ownerId"} {
		if id := d.Word(name); id != "" {
			return id
		}
	}
	return ""
}

// listNames are the names under which Garmin pushes lists, and ConnectStats
// keeps one.
var listNames = []string{
	"activityList", "activities", "manuallyUpdatedActivities", "activityDetails", "moveIQActivities",
	"dailies", "epochs", "sleeps", "bodyComps", "stressDetails", "userMetrics", "pulseox", "allDayRespiration",
	"hrv", "healthSnapshot", "bloodPressures", "skinTemp", "menstrualCycleTracking",
}

// open returns the resources of one reading, in the order in which a document is
// compared with them.
//
// Some have no resource. A level of stress or a saturation of a whole day has no time.
// The body battery has a scale of its own. An activity that the watch guessed (Move IQ)
// is in the epochs too. ConnectStats' comparison has no times. Empty replies are named,
// so that a report separates them from unknown documents.
func open(r *replies.Reader) replies.Reading {
	m := &reader{Reader: r}
	health := func(keys ...string) []string { return append([]string{"summaryId"}, keys...) }
	timed := func(keys ...string) []string {
		return health(append([]string{"startTimeInSeconds", "durationInSeconds"}, keys...)...)
	}
	day := func(keys ...string) []string { return append([]string{"calendarDate"}, keys...) }
	return replies.Reading{End: m.end, Resources: []replies.Resource{
		// Pushed to partners.
		{Name: "activity details", Keys: health("summary"), Take: m.details},
		{Name: "activity files", Keys: health("callbackURL")},
		{Name: "sleep", Keys: timed(), Is: replies.HasOne("deepSleepDurationInSeconds", "sleepLevelsMap", "validation"), Take: m.pushedSleep},
		{Name: "stress", Values: true, Keys: timed(), Is: replies.HasOne("timeOffsetStressLevelValues", "timeOffsetBodyBatteryValues"), Take: m.pushedSeries("timeOffsetStressLevelValues", stress)},
		{Name: "hrv", Keys: health("startTimeInSeconds"), Is: replies.HasOne("hrvValues", "lastNightAvg"), Take: m.pushedHRV},
		{Name: "oxygen", Values: true, Keys: health("timeOffsetSpo2Values"), Take: m.pushedSeries("timeOffsetSpo2Values", oxygen)},
		{Name: "breathing", Values: true, Keys: health("timeOffsetEpochToBreaths"), Take: m.pushedSeries("timeOffsetEpochToBreaths", breaths)},
		{Name: "skin temperature", Keys: health("avgDeviationCelsius"), Take: m.storeSkinTemperature},
		{Name: "health snapshot", Keys: health("startTimeInSeconds", "summaries"), Take: m.snapshot},
		{Name: "body composition", Keys: health("measurementTimeInSeconds"), Is: lacksField("systolic"), Take: m.pushedWeight},
		{Name: "blood pressure", Keys: health("measurementTimeInSeconds", "systolic"), Take: m.pushedPressure},
		{Name: "user metrics", Keys: health("calendarDate"), Is: replies.HasOne("vo2Max", "vo2MaxCycling", "fitnessAge"), Take: m.metrics},
		{Name: "menstrual cycle", Keys: health("periodStartDate")},
		{Name: "move iq", Keys: timed("activitySubType")},
		{Name: "daily", Keys: timed("calendarDate"), Take: m.pushedDay},
		{Name: "activity of several sports", Keys: timed("isParent"), Is: isFlag("isParent")},
		{Name: "activity", Keys: timed("activityType"), Is: isActivity, Take: m.pushedActivity},
		{Name: "epoch", Keys: timed(), Take: m.epoch},

		// Kept by ConnectStats.
		{Name: "page", Keys: []string{"total", "start", "limit"}, Is: func(d replies.Document) bool { return m.listed && d.Under == "paging" }},
		{Name: "comparison", Keys: []string{"types", "summaries", "duplicates"}},
		{Name: "no activities", Keys: []string{"activityList"}, Is: func(d replies.Document) bool { return d.EmptyList("activityList") }},

		// Of the pages of Garmin Connect.
		{Name: "activity of several sports", Keys: []string{"activityId", "startTimeGMT", "activityType"}, Is: isFlag("parent")},
		{Name: "activity", Keys: []string{"activityId", "startTimeGMT", "activityType"}, Take: m.listedActivity},
		{Name: "activity of several sports", Keys: []string{"activityId", "activityTypeDTO", "summaryDTO"}, Is: isFlag("isMultiSportParent")},
		{Name: "activity", Keys: []string{"activityId", "activityTypeDTO", "summaryDTO"}, Take: m.openedActivity},
		{Name: "no sleep", Keys: []string{"dailySleepDTO"}, Is: noSleep},
		{Name: "sleep", Keys: []string{"dailySleepDTO"}, Take: m.nightPage},
		{Name: "hrv", Keys: []string{"hrvSummary", "hrvReadings"}, Take: m.hrvPage},
		{Name: "hrv of a night", Keys: day("weeklyAvg", "lastNightAvg"), Take: m.hrvOfNight},
		{Name: "sleep score", Keys: day("value"), Is: repliedBy("/sleep/score"), Take: m.sleepScore},
		{Name: "heart rate", Values: true, Keys: day("heartRateValues"), Take: m.heartPage},
		{Name: "stress", Values: true, Keys: day("stressValuesArray"), Take: m.stressPage},
		{Name: "breathing", Values: true, Keys: day("respirationValuesArray"), Take: m.breathPage},
		{Name: "oxygen", Keys: day("averageSpO2", "lowestSpO2"), Take: m.oxygenPage},
		{Name: "body battery", Keys: []string{"bodyBatteryValuesArray", "charged"}},
		{Name: "daily", Keys: day("totalSteps", "totalKilocalories"), Take: m.dayPage},
		{Name: "steps of a day", Keys: day("totalSteps", "totalDistance"), Take: m.stepsOfDay},
		{Name: "steps", Keys: []string{"startGMT", "endGMT", "steps"}, Take: m.steps},
		{Name: "stress of a day", Keys: day("values"), Is: func(d replies.Document) bool { return d.Inner("values").Has("overallStressLevel") }},
		{Name: "water", Keys: day("valueInML"), Take: m.water},
		{Name: "no weight", Keys: []string{"samplePk", "timestampGMT", "weight"}, Is: func(d replies.Document) bool { return !d.States("samplePk") }},
		{Name: "weight", Keys: []string{"samplePk", "timestampGMT", "weight"}, Take: m.weighing},
		{Name: "average weight", Keys: []string{"from", "until", "weight"}},
		{Name: "blood pressure", Keys: []string{"measurementTimestampGMT", "systolic"}, Take: m.pressurePage},
		{Name: "vo2 max of cycling", Keys: day("vo2MaxPreciseValue"), Is: func(d replies.Document) bool { return d.Under == "cycling" }},
		{Name: "vo2 max", Keys: day("vo2MaxPreciseValue"), Take: m.maxMetrics},
		{Name: "settings", Keys: []string{"userData", "userSleep"}, Take: m.settings},
		{Name: "no data", Keys: []string{"path", "status", "body"}, Is: noData},
	}}
}

func lacksField(name string) func(replies.Document) bool {
	return func(d replies.Document) bool { return !d.Has(name) }
}

func isFlag(name string) func(replies.Document) bool {
	return func(d replies.Document) bool { return d.Flag(name) }
}

// isActivity distinguishes an activity from an epoch, which has a type of activity too.
func isActivity(d replies.Document) bool {
	if d.Under == "epochs" {
		return false
	}
	return replies.HasOne("deviceName", "activityId", "activityName", "averageHeartRateInBeatsPerMinute", "averageSpeedInMetersPerSecond")(d) ||
		strings.Contains(strings.ToLower(d.Under), "activit")
}

// repliedBy reports whether a document is in the recorded reply of an address. Some
// documents have no other hint of their kind.
func repliedBy(part string) func(replies.Document) bool {
	return func(d replies.Document) bool { return strings.Contains(d.Around("path").Text("path"), part) }
}

func noSleep(d replies.Document) bool {
	return !d.Inner("dailySleepDTO").States("sleepStartTimestampGMT")
}

// noData reports whether a document is a recorded reply of Connect's services without any
// data.
func noData(d replies.Document) bool {
	if !strings.Contains(d.Text("path"), "-service/") {
		return false
	}
	return !d.States("body") || slices.Contains([]string{"[]", "{}"}, string(d.Raw("body")))
}

// moment is an instant, and the offset from UTC that held, in seconds.
type moment struct {
	at     time.Time
	offset int32
}

func (m moment) micros() int64             { return m.at.UnixMicro() }
func (m moment) after(s float64) time.Time { return m.at.Add(time.Duration(s * float64(time.Second))) }

// start returns the start of a pushed summary. Newer kinds of summaries name the offset
// differently.
func (r *reader) start(d replies.Document) (moment, bool) {
	return r.epochSeconds(d, "startTimeInSeconds", "startTimeOffsetInSeconds", "offsetStartTimeInSeconds")
}

// measured returns the time of a pushed measurement.
func (r *reader) measured(d replies.Document) (moment, bool) {
	return r.epochSeconds(d, "measurementTimeInSeconds", "measurementTimeOffsetInSeconds")
}

// epochSeconds reads an instant in seconds since 1970, which seldom has fractions, and
// its offset. Without an offset it uses the user's fallback zone.
func (r *reader) epochSeconds(d replies.Document, name string, offsets ...string) (moment, bool) {
	seconds, ok := d.Number(name)
	if !ok || seconds < 0 || seconds > 4e9 {
		return moment{}, false
	}
	at := time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC()
	if !replies.IsBelievableYear(at.Year()) {
		return moment{}, false
	}
	for _, name := range offsets {
		if n, ok := d.Integer(name); ok && replies.IsOffset(n) {
			return moment{at, int32(n)}, true
		}
	}
	return moment{at, r.OffsetIn("", at)}, true
}

// both reads an instant that Connect states twice: in UTC and in local time. Both have
// the same form, as if both were UTC. The difference is the offset.
func (r *reader) both(d replies.Document, utc, local string) (moment, bool) {
	at, ok := clock(d.Raw(utc))
	if !ok {
		return moment{}, false
	}
	if shown, ok := clock(d.Raw(local)); ok {
		seconds := math.Round(shown.Sub(at).Seconds())
		if math.Abs(seconds) <= 14*3600 && replies.IsOffset(int64(seconds)) && int64(seconds)%60 == 0 {
			return moment{at, int32(seconds)}, true
		}
	}
	return moment{at, r.OffsetIn("", at)}, true
}

// clock reads one of Connect's times: milliseconds since 1970, or a text without a zone.
// It ignores a Z at the end of a text, because local times have it too.
func clock(raw json.RawMessage) (time.Time, bool) {
	if v, ok := replies.NumberOf(raw); ok {
		if v < 0 || v > 4e12 {
			return time.Time{}, false
		}
		at := time.UnixMilli(int64(math.Round(v))).UTC()
		return at, replies.IsBelievableYear(at.Year())
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return time.Time{}, false
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), replies.IsBelievableYear(at.Year())
		}
	}
	return time.Time{}, false
}

// midnight returns the time for a value that has a day and no time: the start of the day
// in the user's fallback zone. Without a zone the time floats; see sheet.Wall.
func (r *reader) midnight(day civil.Date) moment {
	wall := sheet.Wall{Zone: r.Zone}
	at, offset := wall.Instant(day.In(time.UTC))
	return moment{time.UnixMicro(at).UTC(), offset}
}

// offsetOf returns nil for an unknown offset.
func offsetOf(offset int32) *int32 {
	if offset == wearables.NoOffset {
		return nil
	}
	return &offset
}
