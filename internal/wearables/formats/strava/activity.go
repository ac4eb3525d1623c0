package strava

import (
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/sports"
)

// activity reads an activity, from a list or with its details.
//
// Strava writes 0 for unknown values, because no workout has no speed. Its kilojoules are
// mechanical work and no energy of the body. The average power of a ride without a meter
// is Strava's estimate. Our device_watts repeats a measured one.
func (m *reader) activity(d replies.Document) replies.Verdict {
	start, offset, ok := startOf(d)
	if !ok {
		return replies.BadDate
	}
	seconds := d.Amount("elapsed_time")
	if seconds == nil {
		return replies.BadValue
	}
	if *seconds > files.LongestWorkout.Seconds() {
		return replies.BadDate
	}
	sport, foot := sportOf(d)
	a := &activity{foot: foot, Recording: files.Recording{
		Workout: derive.Workout{
			ID: files.Text(d.Word("id")), Title: files.Text(d.Text("name")), Sport: sport, Source: source,
			Start: start.UnixMicro(), End: start.Add(time.Duration(*seconds * float64(time.Second))).UnixMicro(), Offset: offset,
			Moving: d.Positive("moving_time"), Metres: d.Positive("distance"), Kcal: d.Positive("calories"),
			Gain: d.Amount("total_elevation_gain"), MeanBPM: d.Positive("average_heartrate"), MaxBPM: d.Positive("max_heartrate"),
			Watts: d.Positive("average_watts"), MaxW: d.Positive("max_watts"),
		},
		Speed: d.Positive("average_speed"), MaxSpeed: d.Positive("max_speed"),
		High: d.Signed("elev_high"), Low: d.Signed("elev_low"),
		Polyline: line(d, "polyline"), Outline: line(d, "summary_polyline"),
		Weighted: d.Positive("weighted_average_watts"),
	}}
	if d.Flag("device_watts") {
		a.Metered = a.Watts
	}
	became := m.keep(a)
	m.parts(d)
	return became
}

// parts counts fields of an activity without a resource, and reads the streams inside
// it.
func (m *reader) parts(d replies.Document) {
	m.SkipFields("activity", d, "kilojoules", "average_cadence", "average_temp", "suffer_score")
	for _, name := range []string{"laps", "splits_metric", "splits_standard", "segment_efforts", "best_efforts"} {
		if len(d.List(name)) > 0 {
			m.Part("activity."+name, replies.Skipped)
		}
	}
	for _, one := range d.Documents("streams") {
		m.Take(one)
	}
	set := d.Inner("streams")
	for _, name := range streamTypes {
		if one := set.Inner(name); !one.Empty() {
			m.Take(one)
		}
	}
}

// startOf returns the start of an activity, and the offset from UTC at that time.
//
// If the athlete hides the start, Strava writes one second past midnight. startOf returns
// false then, because two workouts of one day would have the same start.
func startOf(d replies.Document) (at time.Time, offset int32, ok bool) {
	at, _, ok = d.Moment("start_date")
	if !ok || strings.HasSuffix(d.Text("start_date_local"), "T00:00:01Z") {
		return at, wearables.NoOffset, false
	}
	return at, offsetOf(d, at), true
}

// offsetOf returns the offset at an instant. It uses the offset that Strava
// states, or computes it from the local time, which Strava writes as if it were
// UTC. Otherwise it uses the zone's name. The number before the name, as in
// "(GMT-08:00) America/Los_Angeles", ignores daylight saving time.
func offsetOf(d replies.Document, at time.Time) int32 {
	if seconds, ok := d.Integer("utc_offset"); ok && replies.IsOffset(seconds) {
		return int32(seconds)
	}
	if local, _, ok := d.Moment("start_date_local"); ok {
		if seconds := int64(local.Sub(at) / time.Second); replies.IsOffset(seconds) {
			return int32(seconds)
		}
	}
	_, name, _ := strings.Cut(d.Text("timezone"), ") ")
	zone, err := civil.Zone(name)
	if name == "" || err != nil {
		return wearables.NoOffset
	}
	_, seconds := at.In(zone).Zone()
	return int32(seconds)
}

// longestLine bounds a route: a summary has to fit into one event.
const longestLine = 100_000

// line returns a Google polyline, or "" if it is missing, damaged or too long.
func line(d replies.Document, name string) string {
	s := d.Inner("map").Text(name)
	if s == "" || len(s) > longestLine || s[len(s)-1] >= '_' { // the last point is incomplete
		return ""
	}
	for _, c := range []byte(s) {
		if c < '?' || c > '~' {
			return ""
		}
	}
	return s
}

// words are Strava's sports by our names, where those differ. Any other word
// is taken as it is.
//
// Reference: SportType, ActivityType.
var words = map[string]string{
	"Run": "Running", "TrailRun": "Running", "VirtualRun": "Running",
	"Ride": "Cycling", "MountainBikeRide": "Cycling", "GravelRide": "Cycling", "EBikeRide": "Cycling",
	"EMountainBikeRide": "Cycling", "VirtualRide": "Cycling", "Velomobile": "Cycling", "Handcycle": "HandCycling",
	"Hike": "Hiking", "Walk": "Walking", "Swim": "Swimming", "Sail": "Sailing", "VirtualRow": "Rowing",
	"AlpineSki": "DownhillSkiing", "BackcountrySki": "CrossCountrySkiing", "NordicSki": "CrossCountrySkiing",
	"RollerSki": "CrossCountrySkiing", "Snowboard": "Snowboarding", "Snowshoe": "SnowSports",
	"IceSkate": "SkatingSports", "InlineSkate": "SkatingSports", "Skateboard": "SkatingSports",
	"Canoeing": "PaddleSports", "Kayaking": "PaddleSports", "StandUpPaddling": "PaddleSports",
	"Kitesurf": "SurfingSports", "Windsurf": "SurfingSports", "Surfing": "SurfingSports",
	"Crossfit": "CrossTraining", "StairStepper": "StairClimbing", "WeightTraining": "TraditionalStrengthTraining",
	"RockClimbing": "Climbing", "Workout": "Other",
}

// onFoot are those whose cadence counts strides, of two steps each.
var onFoot = map[string]bool{"Running": true, "Walking": true, "Hiking": true, "SnowSports": true}

// sportOf returns the sport of an activity, and whether it is on foot. The older field
// knows fewer words.
func sportOf(d replies.Document) (sport derive.Sport, foot bool) {
	word := d.Text("sport_type")
	if word == "" {
		word = d.Text("type")
	}
	if name, ok := words[word]; ok {
		return sports.NamedSport(name), onFoot[name]
	}
	return sports.NamedSport(word), false
}
