package strava

import (
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
)

// Provider is the catalogue's name for Strava.
const Provider = "strava"

var maker = replies.Maker{
	Kind: "strava", Title: "Strava JSON", Provider: Provider, Lists: []string{"activities"}, SumsDays: true, Open: open,
}

// Kind is a file of Strava's replies.
var Kind = maker.Files()

var source = wearables.Source{Provider: Provider, Type: "app"}

// reader is the state of one reading.
type reader struct {
	*replies.Reader
	pairs pairs
}

// open returns the resources in the order in which they are matched with a
// document.
//
// Some documents have no resource of ours:
//
//   - Laps and segments are parts of a workout, which is stored whole.
//   - Strava's five zones are its own. Ours are six shares of 220 minus the age.
//   - Totals of an athlete belong to no day.
func open(r *replies.Reader) replies.Reading {
	m := &reader{Reader: r}
	return replies.Reading{End: m.end, Resources: []replies.Resource{
		{Name: "lap", Keys: []string{"lap_index", "activity", "elapsed_time"}},
		{Name: "segment_effort", Keys: []string{"activity", "segment", "elapsed_time"}},
		{Name: "activity", Keys: []string{"id", "start_date", "elapsed_time", "moving_time", "distance"}, Is: isActivity, Take: m.activity},
		{Name: "stream", Keys: streamKeys, Is: isColumn, Take: m.stream},
		{Name: "stream moving", Keys: streamKeys, Is: ofType("moving")},
		{Name: "stream grade_smooth", Keys: streamKeys, Is: ofType("grade_smooth")},
		{Name: "stream other", Keys: streamKeys},
		{Name: "athlete", Keys: []string{"id", "sex", "resource_state"}, Take: m.athlete},
		{Name: "athlete_stats", Keys: []string{"recent_ride_totals", "all_ride_totals"}},
		{Name: "athlete_zones", Keys: []string{"heart_rate"}, Is: hasZones},
		{Name: "activity_zones", Keys: []string{"distribution_buckets", "sensor_based"}},
	}}
}

// isActivity reports whether a document is an activity. A part of an activity names the
// activity that it belongs to.
func isActivity(d replies.Document) bool {
	return !d.Has("activity") && (d.Text("type") != "" || d.Text("sport_type") != "")
}

func hasZones(d replies.Document) bool { return d.Inner("heart_rate").Has("custom_zones") }

// athlete reads the sex of the owner of the account. A weight without a day is no
// measurement. Names, places and pictures are not read.
func (m *reader) athlete(d replies.Document) replies.Verdict {
	m.SkipFields("athlete", d, "weight")
	sex := map[string]string{"F": "female", "M": "male"}[d.Text("sex")]
	if sex == "" {
		return replies.BadValue
	}
	m.Sink.Person(&derive.Person{Sex: sex})
	return replies.Mapped
}
