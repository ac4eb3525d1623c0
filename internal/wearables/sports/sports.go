// Package sports contains HealthKit's list of sports, so that a run is the same sport
// from every provider. It maps the providers' own words to that list.
package sports

import (
	"strings"

	"hale/internal/wearables/derive"
)

// ByName returns the sport with a name of the list, such as CrossCountrySkiing.
func ByName(name string) (sport derive.Sport, ok bool) {
	sport, ok = sportsByName[name]
	return sport, ok
}

// BySlug returns the sport with a slug of the list, such as cross_country_skiing.
func BySlug(slug string) (sport derive.Sport, ok bool) {
	sport, ok = sportsBySlug[slug]
	return sport, ok
}

var sportsByName, sportsBySlug = func() (byName, bySlug map[string]derive.Sport) {
	byName, bySlug = map[string]derive.Sport{}, map[string]derive.Sport{}
	for name, id := range activities {
		words, renamed := sportNames[name]
		if !renamed {
			words = SplitName(name)
		}
		sport := derive.Sport{ID: id, Name: words, Slug: SlugOf(words)}
		byName[name] = sport
		if _, taken := bySlug[sport.Slug]; !taken || !renamed { // of two, whose own name it is
			bySlug[sport.Slug] = sport
		}
	}
	return byName, bySlug
}()

// SlugOf converts words such as "Cross Country Skiing" to the slug cross_country_skiing.
func SlugOf(words string) string { return slugs.Replace(strings.ToLower(words)) }

var slugs = strings.NewReplacer(" ", "_", "-", "_", "&", "and")

// SplitName converts a name such as CrossCountrySkiing to "Cross Country Skiing".
func SplitName(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// sportNames contains the common words that differ from HealthKit's names.
var sportNames = map[string]string{
	"TraditionalStrengthTraining":   "Strength Training",
	"MixedMetabolicCardioTraining":  "Mixed Cardio",
	"HighIntensityIntervalTraining": "HIIT",
	"SwimBikeRun":                   "Multisport",
	"Play":                          "Free Play",
}

// activities contains the numbers of HealthKit's own enumeration.
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
