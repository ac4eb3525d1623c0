package resources

import (
	"encoding/json"
	"strconv"

	"github.com/google/uuid"

	"hale/internal/platform/events"
)

// EventTypes returns the types of events about data: four for each time series
// and each summary. The reference has no events about deletions.
//
// Reference 8.1, without the hypnogram types that the specification removed.
func EventTypes() []events.Type {
	var all []events.Type
	for resource, fields := range summaryExamples {
		example := events.ExampleOf(`"id":"00000000-0000-4000-8000-000000000002",` + fields + `,` + source +
			`,"created_at":"2026-03-01T08:00:00+00:00","updated_at":"2026-03-01T08:00:00+00:00"`)
		if resource == "workout_stream" {
			example = events.ExampleOf(fields + `,` + source)
		}
		all = append(all, dataTypes(resource, "A new summary", "was", example, nil)...)
	}
	for _, r := range table {
		if r.Name != Hypnogram {
			samples := func(example Example) func(uuid.UUID) json.RawMessage {
				return events.ExampleOf(source + `,"source_id":1,"data":[` + sample(&r, example) + `]`)
			}
			bare := r.Example
			if !r.Typed {
				bare.Type = ""
			}
			all = append(all, dataTypes(r.Event, "New samples", "were", samples(r.Example), samples(bare))...)
		}
	}
	return all
}

// dataTypes returns the types of a resource. sparse may be nil, see events.Type.
func dataTypes(resource, what, verb string, example, sparse func(uuid.UUID) json.RawMessage) []events.Type {
	return []events.Type{
		{Name: DailyEvent(resource, Created), Sentence: what + " of " + resource + " " + verb + " stored.", Example: example, Sparse: sparse},
		{Name: DailyEvent(resource, Updated), Sentence: what + " of " + resource + " replaced an earlier version.", Example: example, Sparse: sparse},
		{
			Name: DailyEvent(resource, Deleted), Sentence: "Data of " + resource + " was deleted.",
			Example: events.ExampleOf(`"resource":"` + resource + `",` + deletedExample),
		},
		{
			Name: HistoricalEvent(resource), Sentence: "The history of " + resource + " is complete.",
			Example: events.ExampleOf(historicalExample),
		},
	}
}

// flatSource repeats the source beside its object, as some summaries do.
const flatSource = `"source_provider":"apple_health_kit","source_type":"watch"`

// summaryExamples has the fields of an example for each resource whose events
// carry one document.
var summaryExamples = map[string]string{
	"activity":          `"date":"2026-03-01T00:00:00+00:00","calendar_date":"2026-03-01","steps":8214,"distance":6120.5,"calories_active":412.0,"calories_total":2230.0,"floors_climbed":9,"time_zone":"Europe/Berlin","timezone_offset":3600`,
	"body":              `"date":"2026-03-01T00:00:00+00:00","calendar_date":"2026-03-01","weight":71.4,"fat":18.2`,
	"electrocardiogram": `"session_start":"2026-03-01T07:00:00+00:00","session_end":"2026-03-01T07:00:30+00:00","voltage_sample_count":15360,"heart_rate_mean":64,"sampling_frequency_hz":512.0,"classification":"sinus_rhythm",` + flatSource,
	"meal":              `"calendar_date":"2026-03-01","timestamp":"2026-03-01T12:10:00+00:00","name":"lunch","energy":{"unit":"kcal","value":640.0},"macros":{"carbs":71.0,"protein":32.0},"micros":null,"priority_id":0,"source_id":0,"provider_id":"00000000-0000-4000-8000-000000000002"`,
	"menstrual_cycle":   `"period_start":"2026-03-01","period_end":"2026-03-05","is_predicted":false,` + flatSource,
	"profile":           `"height":178`,
	"sleep":             `"date":"2026-03-01T00:00:00+00:00","calendar_date":"2026-03-01","bedtime_start":"2026-02-28T22:10:00+00:00","bedtime_stop":"2026-03-01T06:02:00+00:00","type":"long_sleep","duration":28320,"total":26100,"awake":2220,"light":14400,"rem":6300,"deep":5400`,
	"sleep_cycle":       `"session_start":"2026-02-28T22:10:00+00:00","session_end":"2026-03-01T06:02:00+00:00","stage_start_offset_second":[0,1800],"stage_end_offset_second":[1800,5400],"stage_type":[2,1],"sleep_id":"00000000-0000-4000-8000-000000000003",` + flatSource,
	"workout_stream":    `"message":"The stream is too large for an event; read it at /v2/timeseries/workouts/{workout_id}/stream","provider_id":"run-1","sport":{"id":1,"name":"Running","slug":"running"},"workout_id":"00000000-0000-4000-8000-000000000003"`,
	"workouts":          `"calendar_date":"2026-03-01","title":"Morning run","sport":{"id":1,"name":"Running","slug":"running"},"time_start":"2026-03-01T06:30:00+00:00","time_end":"2026-03-01T07:05:00+00:00","average_hr":148,"distance":6050.0,"calories":410.0,"provider_id":"run-1"`,
}

// sample returns an example of a time series as it appears in an event.
func sample(r *Resource, example Example) string {
	text := `{"timestamp":"2026-03-01T07:30:00+00:00"`
	if r.Interval {
		text += `,"start":"2026-03-01T07:30:00+00:00","end":"2026-03-01T07:45:00+00:00"`
	}
	value := strconv.FormatFloat(example.Value, 'f', -1, 64)
	text += `,"timezone_offset":3600,"type":` + wordOrNull(example.Type) + `,"unit":"` + r.Unit + `",`
	switch {
	case r.Text:
		return text + `"value":"before lunch","tags":["` + r.Tags[0] + `"]}`
	case r.Pair:
		return text + `"systolic":` + value + `,"diastolic":` + strconv.FormatFloat(example.Low, 'f', -1, 64) + `,"grouping":["watch",null,null,null]}`
	}
	text += `"value":` + value
	for _, field := range r.Extra {
		text += `,"` + field.Name + `":` + wordOrNull(field.Example)
	}
	return text + `}`
}

func wordOrNull(word string) string {
	if word == "" {
		return "null"
	}
	return `"` + word + `"`
}

// sourceOf returns the source of data from a type of source.
//
// Spec: Events, data always carries user_id and source; slug stays in it.
func sourceOf(kind string) string {
	return `"source":{"provider":"apple_health_kit","type":"` + kind + `","app_id":null,"device_id":null,"sport":null,"workout_id":null,` +
		`"name":"Apple HealthKit","slug":"apple_health_kit","logo":""}`
}

var source = sourceOf("watch")

// deletedExample has the fields of an example about a deletion.
var deletedExample = `"deletion_id":"00000000-0000-4000-8000-000000000004","deleted":3,"restored":0,"start_date":"2026-03-01T07:30:00+00:00",` +
	`"end_date":"2026-03-01T08:30:00+00:00","ids":[],"providers":["apple_health_kit"],` + sourceOf("unknown")

// historicalExample has the fields of an example about all of a provider's sources.
var historicalExample = `"start_date":"2026-01-30T00:00:00+00:00","end_date":"2026-03-01T00:00:00+00:00","provider":"apple_health_kit",` + sourceOf("unknown")
