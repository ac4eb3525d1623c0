package files

import (
	"cmp"
	"strings"
)

// makers are words for a provider at the start of the name of a device or
// program, folded.
var makers = []struct{ word, slug string }{
	{"garmin", "garmin"},
	{"edge ", "garmin"},
	{"forerunner", "garmin"},
	{"fenix", "garmin"},
	{"strava", "strava"},
	{"polar", "polar"},
	{"wahoo", "wahoo"},
	{"elemnt", "wahoo"},
	{"zwift", "zwift"},
	{"fitbit", "fitbit"},
	{"runkeeper", "runkeeper"},
	{"mapmy", "map_my_fitness"},
	{"hammerhead", "hammerhead"},
	{"peloton", "peloton"},
	{"withings", "withings"},
}

// Maker returns the slug of the provider whose name a device or program carries. If the
// catalogue has the manufacturer, the data belongs to it. So a file and a later pull of
// the same workout have one provider and are the same workout. Other files are manual:
// a person provided the file, and its manufacturer cannot be connected.
func Maker(name string) string {
	folded := strings.ToLower(strings.TrimSpace(name))
	for _, m := range makers {
		if strings.HasPrefix(folded, m.word) {
			return m.slug
		}
	}
	return "manual"
}

// recorders maps makers to the source type of their devices or programs, as in the
// replies of their interfaces.
var recorders = map[string]string{
	"fitbit": "watch", "garmin": "watch", "hammerhead": "watch", "polar": "watch", "wahoo": "watch",
	"runkeeper": "app", "strava": "app",
}

// Recorder returns the source type of a recording of a provider, or unknown if the
// provider states none. So a file and a reply about one workout agree.
func Recorder(provider string) string { return cmp.Or(recorders[provider], "unknown") }

// Text bounds a text that a file chooses.
func Text(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, ""))
	for i := range s {
		if i > 200 {
			return s[:i]
		}
	}
	return s
}
