package strava

import (
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sports"
)

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
