// Package sports names what workouts were, in the words and numbers of
// HealthKit's list, so that a run is the same sport from every provider.
package sports

import (
	"strings"
	"unicode"

	"hale/internal/wearables/derive"
)

// Other is a sport that nobody named.
var Other = known["Other"]

// Named is the sport of a name of HealthKit's list, such as
// CrossCountrySkiing, or of a word in that form that is not in the list: that
// becomes its own slug, with the number of Other.
func Named(name string) derive.Sport {
	if s, ok := known[name]; ok {
		return s
	}
	if name == "" || len(name) > 60 || name[0] <= '9' || !isName(name) {
		return Other
	}
	words := spaced(name)
	return derive.Sport{ID: Other.ID, Name: words, Slug: slugOf(words)}
}

// isName is whether a name has letters and digits only.
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

// OfWord is the sport of a word as devices write it: "cross_country_skiing",
// "E-Biking", "trail running".
func OfWord(word string) derive.Sport {
	var name strings.Builder
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	if better, ok := synonyms[strings.ToLower(name.String())]; ok {
		return Named(better)
	}
	return Named(name.String())
}

// synonyms are words of devices, folded, for sports of the list.
var synonyms = map[string]string{
	"biking": "Cycling", "ride": "Cycling", "bike": "Cycling", "run": "Running", "walk": "Walking", "hike": "Hiking",
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

var known = func() map[string]derive.Sport {
	all := map[string]derive.Sport{}
	for name, id := range activities {
		words := spaced(name)
		if better, ok := sportNames[name]; ok {
			words = better
		}
		all[name] = derive.Sport{ID: id, Name: words, Slug: slugOf(words)}
	}
	return all
}()

// slugOf writes "Cross Country Skiing" as cross_country_skiing.
func slugOf(words string) string { return slugs.Replace(strings.ToLower(words)) }

var slugs = strings.NewReplacer(" ", "_", "-", "_", "&", "and")

// spaced writes CrossCountrySkiing as "Cross Country Skiing".
func spaced(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// sportNames are where common words differ from HealthKit's.
var sportNames = map[string]string{
	"TraditionalStrengthTraining":   "Strength Training",
	"MixedMetabolicCardioTraining":  "Mixed Cardio",
	"HighIntensityIntervalTraining": "HIIT",
	"SwimBikeRun":                   "Multisport",
	"Play":                          "Free Play",
}

// activities have the numbers of HealthKit's own enumeration.
var activities = map[string]int{
	"AmericanFootball": 1, "Archery": 2, "AustralianFootball": 3, "Badminton": 4, "Baseball": 5,
	"Basketball": 6, "Bowling": 7, "Boxing": 8, "Climbing": 9, "Cricket": 10, "CrossTraining": 11,
	"Curling": 12, "Cycling": 13, "Dance": 14, "DanceInspiredTraining": 15, "Elliptical": 16,
	"EquestrianSports": 17, "Fencing": 18, "Fishing": 19, "FunctionalStrengthTraining": 20, "Golf": 21,
	"Gymnastics": 22, "Handball": 23, "Hiking": 24, "Hockey": 25, "Hunting": 26, "Lacrosse": 27,
	"MartialArts": 28, "MindAndBody": 29, "MixedMetabolicCardioTraining": 30, "PaddleSports": 31,
	"Play": 32, "PreparationAndRecovery": 33, "Racquetball": 34, "Rowing": 35, "Rugby": 36,
	"Running": 37, "Sailing": 38, "SkatingSports": 39, "SnowSports": 40, "Soccer": 41, "Softball": 42,
	"Squash": 43, "StairClimbing": 44, "SurfingSports": 45, "Swimming": 46, "TableTennis": 47,
	"Tennis": 48, "TrackAndField": 49, "TraditionalStrengthTraining": 50, "Volleyball": 51,
	"Walking": 52, "WaterFitness": 53, "WaterPolo": 54, "WaterSports": 55, "Wrestling": 56, "Yoga": 57,
	"Barre": 58, "CoreTraining": 59, "CrossCountrySkiing": 60, "DownhillSkiing": 61, "Flexibility": 62,
	"HighIntensityIntervalTraining": 63, "JumpRope": 64, "Kickboxing": 65, "Pilates": 66,
	"Snowboarding": 67, "Stairs": 68, "StepTraining": 69, "WheelchairWalkPace": 70,
	"WheelchairRunPace": 71, "TaiChi": 72, "MixedCardio": 73, "HandCycling": 74, "DiscSports": 75,
	"FitnessGaming": 76, "CardioDance": 77, "SocialDance": 78, "Pickleball": 79, "Cooldown": 80,
	"SwimBikeRun": 82, "Transition": 83, "UnderwaterDiving": 84, "Other": 3000,
}
