package sports

import (
	"strings"
	"unicode"

	"hale/internal/wearables/derive"
)

// OtherSport is an unnamed sport.
var OtherSport, _ = ByName("Other")

// NamedSport returns the sport of a name of HealthKit's list, such as
// CrossCountrySkiing. A word in that form that is not in the list becomes its
// own slug, with the number of Other.
func NamedSport(name string) derive.Sport {
	if s, ok := ByName(name); ok {
		return s
	}
	if name == "" || len(name) > 60 || name[0] <= '9' || !isName(name) {
		return OtherSport
	}
	words := SplitName(name)
	return derive.Sport{ID: OtherSport.ID, Name: words, Slug: SlugOf(words)}
}

// isName reports whether a name has letters and digits only.
func isName(name string) bool {
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return true
}

// OfWord returns the sport of a word as devices write it, such as "cross_country_skiing",
// "E-Biking", "trail running" or "TRAIL_RUNNING".
func OfWord(word string) derive.Sport {
	var name strings.Builder
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if part == strings.ToUpper(part) { // all in capitals
			part = strings.ToLower(part)
		}
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	if better, ok := synonyms[strings.ToLower(name.String())]; ok {
		return NamedSport(better)
	}
	return NamedSport(name.String())
}

// synonyms maps words of devices, in lower case, to sports of the list.
var synonyms = map[string]string{
	"biking": "Cycling", "ride": "Cycling", "bike": "Cycling", "mtb": "Cycling", "mountainbike": "Cycling", "roadbike": "Cycling", "run": "Running", "walk": "Walking", "hike": "Hiking",
	"swim": "Swimming", "generic": "Other", "sport": "Other", "default": "Other", "all": "Other",
	"alpineskiing": "DownhillSkiing", "boating": "WaterSports", "discgolf": "DiscSports", "diving": "UnderwaterDiving",
	"snorkeling": "UnderwaterDiving", "floorclimbing": "StairClimbing", "rockclimbing": "Climbing", "mountaineering": "Hiking",
	"hiit": "HighIntensityIntervalTraining", "horsebackriding": "EquestrianSports", "iceskating": "SkatingSports",
	"inlineskating": "SkatingSports", "kayaking": "PaddleSports", "paddling": "PaddleSports", "rafting": "PaddleSports",
	"standuppaddleboarding": "PaddleSports", "meditation": "MindAndBody", "mixedmartialarts": "MartialArts",
	"multisport": "SwimBikeRun", "racket": "Racquetball", "snowshoeing": "SnowSports", "surfing": "SurfingSports",
	"windsurfing": "SurfingSports", "kitesurfing": "SurfingSports", "training": "CrossTraining",
	"wheelchairpushwalk": "WheelchairWalkPace", "wheelchairpushrun": "WheelchairRunPace",
}

// mainSports are makers' words for how and where a sport of our list was done.
var mainSports = map[string]string{
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
	if name, ok := mainSports[word]; ok {
		return NamedSport(name)
	}
	return OfWord(word)
}
