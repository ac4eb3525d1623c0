package events

import (
	"encoding/json"

	"github.com/google/uuid"
)

// The catalogue of reference 8.1, without the hypnogram types that the spec
// removed. Data events come in families: one name for each resource.

// flat repeats the source beside its object, as some summaries do.
const flat = `"source_provider":"apple_health_kit","source_type":"watch"`

// summaries are the resources whose events carry one document each.
var summaries = map[string]string{
	"activity":          `"date":"2026-03-01T00:00:00+00:00","calendar_date":"2026-03-01","steps":8214,"distance":6120.5,"calories_active":412.0,"calories_total":2230.0,"floors_climbed":9,"time_zone":"Europe/Berlin","timezone_offset":3600`,
	"body":              `"date":"2026-03-01T00:00:00+00:00","calendar_date":"2026-03-01","weight":71.4,"fat":18.2`,
	"electrocardiogram": `"session_start":"2026-03-01T07:00:00+00:00","session_end":"2026-03-01T07:00:30+00:00","voltage_sample_count":15360,"heart_rate_mean":64,"sampling_frequency_hz":512.0,"classification":"sinus_rhythm",` + flat,
	"meal":              `"calendar_date":"2026-03-01","timestamp":"2026-03-01T12:10:00+00:00","name":"lunch","energy":{"unit":"kcal","value":640.0},"macros":{"carbs":71.0,"protein":32.0},"micros":null,"priority_id":0,"source_id":0,"provider_id":"00000000-0000-4000-8000-000000000002"`,
	"menstrual_cycle":   `"period_start":"2026-03-01","period_end":"2026-03-05","is_predicted":false,` + flat,
	"profile":           `"height":178`,
	"sleep":             `"date":"2026-03-01T00:00:00+00:00","calendar_date":"2026-03-01","bedtime_start":"2026-02-28T22:10:00+00:00","bedtime_stop":"2026-03-01T06:02:00+00:00","type":"long_sleep","duration":28320,"total":26100,"awake":2220,"light":14400,"rem":6300,"deep":5400`,
	"sleep_cycle":       `"session_start":"2026-02-28T22:10:00+00:00","session_end":"2026-03-01T06:02:00+00:00","stage_start_offset_second":[0,1800],"stage_end_offset_second":[1800,5400],"stage_type":[2,1],"sleep_id":"00000000-0000-4000-8000-000000000003",` + flat,
	"workout_stream":    `"message":"The stream is too large for an event; read it at /v2/timeseries/workouts/{workout_id}/stream","provider_id":"run-1","sport":{"id":1,"name":"Running","slug":"running"},"workout_id":"00000000-0000-4000-8000-000000000003"`,
	"workouts":          `"calendar_date":"2026-03-01","title":"Morning run","sport":{"id":1,"name":"Running","slug":"running"},"time_start":"2026-03-01T06:30:00+00:00","time_end":"2026-03-01T07:05:00+00:00","average_hr":148,"distance":6050.0,"calories":410.0,"provider_id":"run-1"`,
}

// sample is what the events of a series carry many of.
type sample struct {
	unit, kind string // kind is the sample's type
	value      string // JSON members
	interval   bool   // it has a start and an end
}

// series are the resources whose events carry samples.
//
// Reference 7.7. Events name weight and fat where paths say body_weight and
// body_fat.
var series = map[string]sample{
	"afib_burden":                    {unit: "%", value: `"value":2`, interval: true},
	"basal_body_temperature":         {unit: "°C", value: `"value":36.4`, interval: true},
	"blood_oxygen":                   {unit: "%", value: `"value":97`},
	"blood_pressure":                 {unit: "mmHg", value: `"systolic":118,"diastolic":76,"grouping":["watch",null,null,null]`},
	"body_mass_index":                {unit: "index", value: `"value":22.6`, interval: true},
	"body_temperature":               {unit: "°C", value: `"value":36.8,"sensor_location":"wrist"`, interval: true},
	"body_temperature_delta":         {unit: "°C", value: `"value":-0.2,"sensor_location":"wrist"`, interval: true},
	"caffeine":                       {unit: "g", value: `"value":0.08`, interval: true},
	"calories_active":                {unit: "kcal", value: `"value":4.2`, interval: true},
	"calories_basal":                 {unit: "kcal", value: `"value":71`},
	"carbohydrates":                  {unit: "g", value: `"value":45`, interval: true},
	"cholesterol":                    {unit: "mmol/L", kind: "cholesterol/ldl", value: `"value":4.9`},
	"daylight_exposure":              {unit: "min", value: `"value":12`, interval: true},
	"distance":                       {unit: "m", value: `"value":812.5`, interval: true},
	"electrocardiogram_voltage":      {unit: "mV", kind: "lead_1", value: `"value":0.11`},
	"fall":                           {unit: "count", value: `"value":1`, interval: true},
	"fat":                            {unit: "%", value: `"value":18.2`},
	"floors_climbed":                 {unit: "count", value: `"value":3`},
	"forced_expiratory_volume_1":     {unit: "L", value: `"value":3.1`, interval: true},
	"forced_vital_capacity":          {unit: "L", value: `"value":4.2`, interval: true},
	"glucose":                        {unit: "mmol/L", kind: "automatic", value: `"value":5.4`},
	"handwashing":                    {unit: "count", value: `"value":1`, interval: true},
	"heart_rate_alert":               {unit: "count", kind: "high_heart_rate", value: `"value":1`, interval: true},
	"heart_rate_recovery_one_minute": {unit: "count", value: `"value":28`, interval: true},
	"heartrate":                      {unit: "bpm", value: `"value":62`},
	"hrv":                            {unit: "rmssd", kind: "rmssd", value: `"value":48`},
	"ige":                            {unit: "FSU", kind: "baha_grass", value: `"value":1.2`},
	"igg":                            {unit: "FSU", kind: "dairy", value: `"value":0.7`},
	"inhaler_usage":                  {unit: "count", value: `"value":1`, interval: true},
	"insulin_injection":              {unit: "unit", kind: "rapid_acting", value: `"value":6,"delivery_mode":"bolus","delivery_form":"standard","bolus_purpose":"meal"`, interval: true},
	"lean_body_mass":                 {unit: "kg", value: `"value":57.9`, interval: true},
	"mindfulness_minutes":            {unit: "min", value: `"value":10`, interval: true},
	"note":                           {unit: "text", value: `"value":"before lunch","tags":["food"]`, interval: true},
	"peak_expiratory_flow_rate":      {unit: "L/min", value: `"value":480`, interval: true},
	"respiratory_rate":               {unit: "bpm", value: `"value":14`},
	"sleep_apnea_alert":              {unit: "count", value: `"value":1`, interval: true},
	"sleep_breathing_disturbance":    {unit: "count", kind: "not_elevated", value: `"value":1`, interval: true},
	"stand_duration":                 {unit: "min", value: `"value":4`, interval: true},
	"stand_hour":                     {unit: "count", kind: "stood", value: `"value":1`, interval: true},
	"steps":                          {unit: "count", value: `"value":214`, interval: true},
	"stress_level":                   {unit: "%", value: `"value":31`},
	"uv_exposure":                    {unit: "index", value: `"value":4`, interval: true},
	"vo2_max":                        {unit: "mL/kg/min", value: `"value":46.1`, interval: true},
	"waist_circumference":            {unit: "cm", value: `"value":82`, interval: true},
	"water":                          {unit: "ml", value: `"value":250`},
	"weight":                         {unit: "kg", value: `"value":71.4`},
	"wheelchair_push":                {unit: "count", value: `"value":40`, interval: true},
	"workout_distance":               {unit: "m", value: `"value":1000`, interval: true},
	"workout_duration":               {unit: "min", value: `"value":35,"intensity":"medium"`, interval: true},
	"workout_swimming_stroke":        {unit: "count", value: `"value":18`, interval: true},
}

// json is an example of the sample.
func (s sample) json() string {
	text := `{"timestamp":"2026-03-01T07:30:00+00:00"`
	if s.interval {
		text += `,"start":"2026-03-01T07:30:00+00:00","end":"2026-03-01T07:45:00+00:00"`
	}
	kind := "null"
	if s.kind != "" {
		kind = `"` + s.kind + `"`
	}
	return text + `,"timezone_offset":3600,"type":` + kind + `,"unit":"` + s.unit + `",` + s.value + `}`
}

// sourceOf is the source of data of a type of source.
//
// Spec: Events, data always carries user_id and source; slug stays in it.
func sourceOf(kind string) string {
	return `"source":{"provider":"apple_health_kit","type":"` + kind + `","app_id":null,"device_id":null,"sport":null,"workout_id":null,` +
		`"name":"Apple HealthKit","slug":"apple_health_kit","logo":""}`
}

var source = sourceOf("watch")

// historical is about all of a provider's sources.
var historical = `"start_date":"2026-01-30T00:00:00+00:00","end_date":"2026-03-01T00:00:00+00:00","provider":"apple_health_kit",` + sourceOf("unknown")

func init() {
	for resource, fields := range summaries {
		example := about(`"id":"00000000-0000-4000-8000-000000000002",` + fields + `,` + source +
			`,"created_at":"2026-03-01T08:00:00+00:00","updated_at":"2026-03-01T08:00:00+00:00"`)
		if resource == "workout_stream" {
			example = about(fields + `,` + source)
		}
		defineData(resource, "A summary", example)
	}
	for resource, s := range series {
		defineData(resource, "Samples", about(source+`,"source_id":1,"data":[`+s.json()+`]`))
	}
	for _, t := range others {
		Define(t)
	}
}

// unsent says of resources why nothing tells of them yet.
var unsent = map[string]string{
	"note": " Not sent yet: no source of notes is read.",
}

func defineData(resource, what string, example func(uuid.UUID) json.RawMessage) {
	why := unsent[resource]
	Define(
		Type{"daily.data." + resource + ".created", what + " of " + resource + " came in for the first time." + why, example},
		Type{"daily.data." + resource + ".updated", what + " of " + resource + " replaced an earlier version." + why, example},
		Type{"historical.data." + resource + ".created", "The history of " + resource + " of a new connection has been fetched to its end." + why, about(historical)},
	)
}

// about makes an example payload of fields about a user.
func about(fields string) func(uuid.UUID) json.RawMessage {
	return func(user uuid.UUID) json.RawMessage {
		return json.RawMessage(`{"user_id":"` + user.String() + `",` + fields + `}`)
	}
}
