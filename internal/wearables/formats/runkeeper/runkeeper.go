// Package runkeeper reads the fitness activities of Runkeeper's Health Graph: pages of
// the feed, and single activities with their course.
//
// Every activity has the source type app: fields name the way an activity arrived, not
// the device that measured it.
//
// Facts come from the Health Graph's page on fitness activities and a public sample.
// The API has been closed to new programs since.
package runkeeper

import (
	"math"
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/sports"
)

// Provider is the catalogue's name for Runkeeper.
const Provider = "runkeeper"

var maker = replies.Maker{
	WallClock: true,
	Kind:      "runkeeper", Title: "Runkeeper JSON", Provider: Provider, Lists: []string{"items"}, SumsDays: true, Open: open,
}

// Kind is a file of Runkeeper's replies.
var Kind = maker.Files()

var source = wearables.Source{Provider: Provider, Type: "app"}

type reader struct{ *replies.Reader }

func open(r *replies.Reader) replies.Reading {
	m := &reader{r}
	return replies.Reading{Resources: []replies.Resource{
		{Name: "fitness_activity", Keys: []string{"uri", "type", "start_time", "duration"}, Is: isBelow("/fitnessActivities/"), Take: m.activity},
		{Name: "strength_training_activity", Keys: []string{"uri", "start_time"}, Is: isBelow("/strengthTrainingActivities/")}, // weights lifted
	}}
}

// isBelow reports whether a document has an address below a path. The address shows its
// kind.
func isBelow(path string) func(replies.Document) bool {
	return func(d replies.Document) bool { return strings.Contains(d.Text("uri"), path) }
}

// activity reads an activity, as the feed has it or with its course.
//
// Its duration excludes pauses and is the only hint of its end, so an activity with
// pauses ends too early here. The average heart rate counts only without beats.
// Otherwise a later read of the feed would replace the average of the stored beats.
func (m *reader) activity(d replies.Document) replies.Verdict {
	start, offset, ok := m.started(d)
	if !ok {
		return replies.BadDate
	}
	seconds := d.Amount("duration")
	if seconds == nil {
		return replies.BadValue
	}
	if *seconds > files.LongestWorkout.Seconds() {
		return replies.BadDate
	}
	uri := d.Text("uri")
	one := files.Recording{
		Workout: derive.Workout{
			ID: files.Text(uri[strings.LastIndexByte(uri, '/')+1:]), Sport: sportOf(d), Source: source,
			Start: start, End: start + int64(*seconds*1e6), Offset: offset,
			Moving: d.Positive("duration"), Metres: d.Positive("total_distance"), Kcal: d.Positive("total_calories"),
			Gain: d.Amount("climb"),
		},
		Course: course(d, start),
	}
	if len(d.List("heart_rate")) == 0 {
		one.MeanBPM = d.Positive("average_heart_rate")
	}
	m.Recording(one)
	m.SkipFields("fitness_activity", d, "calories")
	return replies.Mapped
}

// started returns the start of an activity from its local time and its offset in hours.
// Without the offset, the user's fallback zone applies.
func (m *reader) started(d replies.Document) (at int64, offset int32, ok bool) {
	wall, err := time.Parse("Mon, 2 Jan 2006 15:04:05", d.Text("start_time"))
	if err != nil || !replies.IsBelievableYear(wall.Year()) {
		return 0, 0, false
	}
	hours, stated := d.Number("utc_offset")
	if stated && math.Abs(hours) <= 14 {
		offset = int32(math.Round(hours * 3600))
		return wall.UnixMicro() - int64(offset)*1e6, offset, true
	}
	at, offset = (&sheet.Wall{Zone: m.Zone}).Instant(wall)
	return at, offset, true
}

// course holds the measurements in separate lists, each with the seconds since the
// start. They are joined by moment later.
func course(d replies.Document, start int64) (c files.Course) {
	for _, list := range []string{"path", "heart_rate", "distance"} {
		for _, one := range d.Documents(list) {
			after, ok := one.Number("timestamp")
			if !ok || after < 0 || after > files.LongestWorkout.Seconds() || len(c) == files.MaxMoments {
				continue
			}
			at := files.MomentAt(start + int64(after*1e6))
			if fill(&at, one) {
				c = append(c, at)
			}
		}
	}
	return c
}

// fill reads the values of a moment. It reports whether there were any.
func fill(at *files.Moment, d replies.Document) bool {
	lat, north := d.Number("latitude")
	lng, east := d.Number("longitude")
	placed := north && east && math.Abs(lat) <= 90 && math.Abs(lng) <= 180
	if placed {
		at.Lat, at.Lng = lat, lng
		if metres, ok := d.Number("altitude"); ok {
			at.Altitude = metres
		}
	}
	beats, along := d.Positive("heart_rate"), d.Amount("distance")
	if beats != nil {
		at.HeartRate = *beats
	}
	if along != nil {
		at.Distance = *along
	}
	return placed || beats != nil || along != nil
}

// names are Runkeeper's types by our names, where those differ. Any other type
// is taken as it is.
var names = map[string]string{
	"Mountain Biking": "Cycling", "Spinning": "Cycling", "Skating": "SkatingSports", "Nordic Walking": "Walking",
	"Strength Training": "TraditionalStrengthTraining", "CrossFit": "CrossTraining", "Circuit Training": "CrossTraining",
	"Bootcamp": "CrossTraining", "Group Workout": "CrossTraining", "Core": "CoreTraining", "Zumba": "CardioDance",
	"Boxing / MMA": "Boxing", "Meditation": "MindAndBody", "Arc Trainer": "Elliptical", "Stairmaster / Stepwell": "StairClimbing",
	"Sports": "Other",
}

// sportOf returns the sport of an activity. Other has its own words.
func sportOf(d replies.Document) derive.Sport {
	word := d.Text("type")
	if more := d.Text("secondary_type"); word == "Other" && more != "" {
		word = more
	}
	if name, ok := names[word]; ok {
		return sports.NamedSport(name)
	}
	return sports.OfWord(word)
}
