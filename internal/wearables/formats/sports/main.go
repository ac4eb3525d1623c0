package sports

import (
	"strings"

	"hale/internal/wearables/derive"
)

// mains are makers' words for how and where a sport of our list was done.
var mains = map[string]string{
	"trail_running": "Running", "treadmill_running": "Running", "track_running": "Running", "indoor_running": "Running",
	"street_running": "Running", "road_running": "Running", "virtual_run": "Running", "ultra_run": "Running", "obstacle_run": "Running",
	"jogging": "Running", "track_and_field_running": "Running",
	"casual_walking": "Walking", "speed_walking": "Walking", "indoor_walking": "Walking", "nordic_walking": "Walking", "rucking": "Hiking",
	"road_biking": "Cycling", "mountain_biking": "Cycling", "gravel_cycling": "Cycling", "indoor_cycling": "Cycling",
	"virtual_ride": "Cycling", "track_cycling": "Cycling", "recumbent_cycling": "Cycling", "downhill_biking": "Cycling",
	"cyclocross": "Cycling", "bmx": "Cycling", "spin": "Cycling", "spinning": "Cycling", "e_bike": "Cycling", "e_bike_fitness": "Cycling",
	"e_bike_mountain": "Cycling", "hand_cycling": "HandCycling", "indoor_hand_cycling": "HandCycling",
	"lap_swimming": "Swimming", "open_water_swimming": "Swimming", "pool_swimming": "Swimming",
	"strength_training": "TraditionalStrengthTraining", "indoor_cardio": "MixedCardio", "cardio": "MixedCardio", "cardio_training": "MixedCardio",
	"indoor_rowing": "Rowing", "stair_stepper": "StairClimbing", "indoor_climbing": "Climbing", "bouldering": "Climbing",
	"resort_skiing": "DownhillSkiing", "resort_snowboarding": "Snowboarding", "resort_skiing_snowboarding": "DownhillSkiing",
	"skate_skiing": "CrossCountrySkiing", "snow_shoe": "SnowSports", "breathwork": "MindAndBody",
	"fitness_equipment": "Other", "uncategorized": "Other", "other_indoor": "Other", "other_outdoor": "Other",
}

// MainOf returns the main sport of a word as makers' web interfaces write it,
// such as TRAIL_RUNNING or treadmill_running. FIT files of the same activity
// name only the main sport. So a run on a trail or a treadmill is a run here
// too. Other words use OfWord.
func MainOf(word string) derive.Sport {
	word = strings.ReplaceAll(strings.ToLower(word), "-", "_")
	if name, ok := mains[word]; ok {
		return NamedSport(name)
	}
	return OfWord(word)
}
