// Package sports names the sports of workouts, in the words and numbers of HealthKit's list.
// So a run is the same sport from every provider.
package sports

import (
	"strings"
	"unicode"

	"hale/internal/wearables/derive"
	list "hale/internal/wearables/sports"
)

// OtherSport is an unnamed sport.
var OtherSport, _ = list.ByName("Other")

// NamedSport returns the sport of a name of HealthKit's list, such as
// CrossCountrySkiing. A word in that form that is not in the list becomes its
// own slug, with the number of Other.
func NamedSport(name string) derive.Sport {
	if s, ok := list.ByName(name); ok {
		return s
	}
	if name == "" || len(name) > 60 || name[0] <= '9' || !isName(name) {
		return OtherSport
	}
	words := list.SplitName(name)
	return derive.Sport{ID: OtherSport.ID, Name: words, Slug: list.SlugOf(words)}
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
// "E-Biking" or "trail running".
func OfWord(word string) derive.Sport {
	var name strings.Builder
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	if better, ok := synonyms[strings.ToLower(name.String())]; ok {
		return NamedSport(better)
	}
	return NamedSport(name.String())
}

// synonyms maps words of devices, in lower case, to sports of the list.
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
