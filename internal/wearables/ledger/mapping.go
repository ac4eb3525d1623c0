package ledger

// The kinds of pushed payloads. Files have the kinds of imports, such as apple_health.
const (
	// Samples is a pushed body of samples of one resource.
	Samples = "push_samples"
	// Series is a pushed body of samples of several resources.
	Series = "push_series"
	// Summaries is a pushed body of summaries of one resource.
	Summaries = "push_summaries"
)

// mappings has the version of the current mapping of each kind. A change of the mapping
// increments it. Kinds that are not listed have version 1.
var mappings = map[string]int{
	// 2: sensor_location, intensity and the words of insulin. 3: steps with an
	// interval of seconds, or none. 4: values of other units are converted to the nearest
	// number: 2.3 g for 2300 mg. 5: short words of types, such as ldl.
	Samples: 5,
	Series:  5,

	// 2: a session or a meal without a day has that of its place; the number of a sport.
	Summaries: 2,

	// 2: insulin, swimming strokes, sports of distance, cycles, electrocardiograms.
	// 3: steps as above. 4: the words of insulin; the place of a thermometer.
	// 5: units as above.
	"apple_health": 5,

	// 2: meals and injections of one moment are added. 3, if present: steps as above; the
	// height that was measured last; the words of insulin; the place of a thermometer.
	// 4: all insulin of Nightscout is a bolus; of Health Connect, units as above.
	"dexcom_clarity": 2, "nightscout": 4, "health_connect": 4,
	// 2: the same; wall-clock times.
	"libreview": 2,
	// 2: the id identifies an activity; the zone of the profile. 3: steps as above.
	"fitbit": 3,
	// 2: the stages of a night end with them; the height that was measured last;
	// steps as above.
	"withings": 2,
	// 2: steps as above; the height that was measured last, of Polar also that of the
	// account. FIT also has the beats of a strap and R-R intervals. 3: a stated
	// variability is that of the night before; of Polar also the steps at the end of a
	// file.
	"fit": 3, "garmin": 2, "google_fit": 2, "polar": 3,
	// 2: the hours of days on which the clock changes.
	"fitbit_fitabase": 2,
	// 2: the source type of a maker's recording is that of its replies.
	"gpx": 2, "tcx": 2,
}

// Mapping returns the version of the current mapping of a kind. A payload has the version
// that read it last.
func Mapping(kind string) int {
	if version, ok := mappings[kind]; ok {
		return version
	}
	return 1
}
