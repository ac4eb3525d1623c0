package ledger

// The kinds of payloads that are no files. Files have the names of their kinds
// of imports, such as apple_health.
const (
	// Samples is a pushed body of samples of one resource.
	Samples = "push_samples"
	// Series is a pushed body of samples of several resources; it has no one
	// resource.
	Series = "push_series"
	// Summaries is a pushed body of summaries of one resource.
	Summaries = "push_summaries"
)

// mappings is the version of today's reading of each kind. Whoever mends what a
// body or a file of a kind becomes raises its number; a kind that is not here
// is at its first.
var mappings = map[string]int{
	// 2: sensor_location, intensity and the words of insulin. 3: steps with an
	// interval of seconds, or none. 4: what came in another unit is the nearest
	// number in ours: 2.3 g for 2300 mg.
	Samples: 4,
	Series:  4,

	// 2: a session or a meal that says no day has that of its place; the number of
	// a sport.
	Summaries: 2,

	// 2: insulin, swimming strokes, sports of distance, cycles, electrocardiograms.
	// 3: steps as above. 4: the words of insulin; where a thermometer was.
	// 5: units as above.
	"apple_health": 5,

	// 2: what was eaten or injected at one moment is added up. 3, of those that
	// have them: steps as above; the height that was measured last; the words of
	// insulin; where a thermometer was. 4: all insulin of Nightscout is a bolus; of
	// Health Connect, units as above.
	"dexcom_clarity": 2, "nightscout": 4, "health_connect": 4,
	// 2: the same; times are those of the clock on the wall.
	"libreview": 2,
	// 2: an activity is known by its id; the zone of the profile. 3: steps as above.
	"fitbit": 3,
	// 2: the stages of a night end with them; the height that was measured last;
	// steps as above.
	"withings": 2,
	// 2: steps as above; the height that was measured last, of Polar also the
	// account's; of FIT also the beats of a strap and R-R intervals. 3: a stated
	// variability is that of the night before it; of Polar also the steps in which a
	// file ends.
	"fit": 3, "garmin": 2, "google_fit": 2, "polar": 3,
	// 2: the hours of the days on which the clock is set.
	"fitbit_fitabase": 2,
	// 2: the source type of a maker's recording is that of its replies.
	"gpx": 2, "tcx": 2,
}

// Mapping is the version of today's reading of a kind of payload. A payload
// remembers the one that read it last.
func Mapping(kind string) int {
	if version, ok := mappings[kind]; ok {
		return version
	}
	return 1
}
