// Package googlefit reads the data points of Google Fit as JSON. It reads datasets of
// its REST API, {"dataSourceId": …, "point": […]}, alone or in buckets. It also reads
// the files of "All Data" in Google Takeout, {"Data Source": …, "Data Points": […]}. A
// point names its data type, so one file may hold several.
//
// Times are exact: nanoseconds since 1970, as text or as a number. No point has the
// person's zone. Series therefore have no offset, and days and sessions use the user's
// fallback zone, or UTC (reference 7.10).
//
// The service has no totals of days: those are the sums of the series.
//
//	googlefit.go  recognizes a file; a point's fields: times, values, source
//	series.go     converts measurements and amounts to samples; energy at rest and in all
//	segment.go    converts activities and sleep to workouts and nights
//
// Facts come from Google's pages on data types, activity types and sleep stages, and
// public samples; for the archive from several independent readers.
package googlefit

import (
	"context"
	"strings"
	"time"

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

// value is one field of a point. The type of the point defines the fields and their
// order.
type value struct {
	Float *float64 `json:"fpVal"`
	Int   *float64 `json:"intVal"`
}

func (v value) number() (float64, bool) {
	switch {
	case v.Float != nil:
		return *v.Float, true
	case v.Int != nil:
		return *v.Int, true
	}
	return 0, false
}

// number returns the i-th field of a point. The API lists values. The archive lists
// objects with one value each.
func number(d replies.Document, i int) (float64, bool) {
	var plain []value
	if d.Into("value", &plain) && i < len(plain) {
		return plain[i].number()
	}
	var wrapped []struct {
		Value value `json:"value"`
	}
	if d.Into("fitValue", &wrapped) && i < len(wrapped) {
		return wrapped[i].Value.number()
	}
	return 0, false
}

// span returns the start and end of a point. A measurement has one time, so its start may
// be missing. span returns false if the end is missing or before the start.
func span(d replies.Document) (start, end time.Time, ok bool) {
	end, ok = d.UnixNano("endTimeNanos")
	if !ok {
		return start, end, false
	}
	if start, ok = d.UnixNano("startTimeNanos"); !ok {
		if d.States("startTimeNanos") {
			return start, end, false
		}
		start = end
	}
	return start, end, !end.Before(start)
}

// origin returns the stream of a point: the one that it names, otherwise its container.
func origin(d replies.Document) (source wearables.Source, stream string) {
	if id := d.Text("originDataSourceId"); id != "" {
		return sourceOf(id)
	}
	return container(d)
}

// container returns the stream that contains a point.
func container(d replies.Document) (source wearables.Source, stream string) {
	if id := d.Around("Data Source").Text("Data Source"); id != "" {
		return sourceOf(id)
	}
	return sourceOf(d.Around("dataSourceId").Text("dataSourceId"))
}

const (
	services  = "com.google.android.gms" // values that the platform computed
	userInput = "user_input"             // the stream of typed values
)

// sourceOf reads the id of a stream, raw or derived:
//
//	derived:com.google.step_count.delta:com.example.app:maker:model:serial:name
//
// The app, or the three words about the device, may be missing. The id does not state the
// type of device, so the type is unknown. sourceOf ignores the name of the device.
func sourceOf(id string) (source wearables.Source, stream string) {
	source = wearables.Source{Provider: Provider, Type: "unknown"}
	parts := strings.Split(id, ":")
	if len(parts) < 3 || len(id) > 1000 {
		return source, ""
	}
	if app := parts[2]; isPackage(app) {
		source.AppID = app
	}
	if len(parts) > 3 {
		stream = parts[len(parts)-1]
	}
	if stream == userInput {
		source.Type = "app"
	}
	return source, stream
}

// isPackage reports whether a word is a name such as com.example.app.
func isPackage(s string) bool {
	if len(s) > 200 || !strings.Contains(s, ".") || strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".") {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}
