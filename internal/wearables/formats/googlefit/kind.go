package googlefit

import (
	"context"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
)

// Provider is the catalogue's name for Google Fit.
const Provider = "google_fit"

var maker = replies.Maker{
	Kind: "google_fit", Title: "Google Fit JSON", Provider: Provider,
	Lists:    []string{"bucket", "dataset", "point", "Data Points"},
	Late:     []string{"dataSourceId", "Data Source"},
	SumsDays: true,
	Open:     open,
}

// Kind is a file of Google Fit's data points.
var Kind = maker.Files()

// reader is the state of one reading.
type reader struct {
	*replies.Reader
	nights   map[wearables.Source]*derive.Sleeper
	sleepers []*derive.Sleeper // the same, in order
	stages   int
	person   derive.Person
}

// prefix begins the names of the platform's data types.
const prefix = "com.google."

func open(r *replies.Reader) replies.Reading {
	m := &reader{Reader: r, nights: map[wearables.Source]*derive.Sleeper{}}
	var all []replies.Resource
	typed := func(name string, take func(replies.Document) replies.Verdict) {
		quoted := `"` + prefix + name + `"`
		all = append(all, replies.Resource{
			Name: name, Keys: []string{"dataTypeName", "endTimeNanos"}, Take: take,
			Is: func(d replies.Document) bool { return string(d.Raw("dataTypeName")) == quoted },
		})
	}
	for name, to := range levels {
		typed(name, func(d replies.Document) replies.Verdict { return m.level(d, to) })
	}
	for name, to := range amounts {
		typed(name, func(d replies.Document) replies.Verdict { return m.amount(d, to) })
	}
	typed("blood_pressure", m.pressure)
	typed("height", m.height)
	typed("calories.expended", m.energy)
	typed("activity.segment", m.activity)
	typed("sleep.segment", m.sleep)
	for _, name := range skippedTypes {
		typed(name, nil)
	}
	// A data type of an app's own, or one that is not known.
	all = append(all, replies.Resource{Name: "other type", Keys: []string{"dataTypeName", "endTimeNanos"}})
	return replies.Reading{Resources: all, End: m.end}
}

// skippedTypes are types that no resource stores. Places, speeds, cadences, powers and
// wheel turns name no workout. A basal rate is not an amount of energy. Minutes of
// activity and heart points are scores of the platform. Running totals repeat the
// deltas, and summaries repeat the points.
var skippedTypes = []string{
	"location.sample", "location.bounding_box", "speed", "speed.summary", "cycling.pedaling.cadence", "cycling.pedaling.cumulative",
	"cycling.wheel_revolution.cumulative", "cycling.wheel_revolution.rpm", "step_count.cadence", "power.sample", "power.summary",
	"calories.bmr", "calories.bmr.summary", "active_minutes", "heart_minutes", "heart_minutes.summary", "step_count.cumulative",
	"activity.summary", "activity.exercise", "activity.samples", "heart_rate.summary", "height.summary", "weight.summary",
	"body.fat.percentage.summary", "body.temperature.summary", "blood_pressure.summary", "blood_glucose.summary",
	"oxygen_saturation.summary", "nutrition", "nutrition.summary", "menstruation", "cervical_mucus", "cervical_position",
	"ovulation_test", "vaginal_spotting", "accelerometer",
}

func (m *reader) end(context.Context) error {
	for _, one := range m.sleepers {
		m.Sink.Sleep(one)
	}
	if m.person.Height != nil {
		m.Sink.Person(&m.person)
	}
	return nil
}
