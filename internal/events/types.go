package events

import (
	"encoding/json"

	"github.com/google/uuid"
)

// The catalogue of reference 8.1, without the hypnogram types that the spec
// removed. Data events come in families: one name for each resource.

// summaries are the resources whose events carry one document each.
var summaries = map[string]string{
	"activity":          `"calendar_date":"2026-03-01","steps":8214,"distance":6120.5,"calories_active":412.0,"calories_total":2230.0,"floors_climbed":9,"time_zone":"Europe/Berlin","timezone_offset":3600`,
	"body":              `"calendar_date":"2026-03-01","weight":71.4,"fat":18.2`,
	"electrocardiogram": `"session_start":"2026-03-01T07:00:00+00:00","session_end":"2026-03-01T07:00:30+00:00","voltage_sample_count":15360,"heart_rate_mean":64,"sampling_frequency_hz":512.0,"classification":"sinus_rhythm"`,
	"meal":              `"calendar_date":"2026-03-01","timestamp":"2026-03-01T12:10:00+00:00","name":"lunch","energy":{"unit":"kcal","value":640.0},"macros":{"carbs":71.0,"protein":32.0}`,
	"menstrual_cycle":   `"period_start":"2026-03-01","period_end":"2026-03-05","is_predicted":false`,
	"profile":           `"height":178`,
	"sleep":             `"calendar_date":"2026-03-01","bedtime_start":"2026-02-28T22:10:00+00:00","bedtime_stop":"2026-03-01T06:02:00+00:00","type":"long_sleep","duration":28320,"total":26100,"awake":2220,"light":14400,"rem":6300,"deep":5400`,
	"sleep_cycle":       `"session_start":"2026-02-28T22:10:00+00:00","session_end":"2026-03-01T06:02:00+00:00","stage_start_offset_second":[0,1800],"stage_end_offset_second":[1800,5400],"stage_type":[2,1]`,
	"workout_stream":    `"message":"The stream is too large for an event; read it at /v2/timeseries/workouts/{workout_id}/stream","provider_id":"run-1","sport":{"id":1,"name":"Running","slug":"running"},"workout_id":"00000000-0000-4000-8000-000000000003"`,
	"workouts":          `"calendar_date":"2026-03-01","title":"Morning run","sport":{"id":1,"name":"Running","slug":"running"},"time_start":"2026-03-01T06:30:00+00:00","time_end":"2026-03-01T07:05:00+00:00","average_hr":148,"distance":6050.0,"calories":410.0`,
}

// series are the resources whose events carry samples: unit and one value.
//
// Reference 7.7. Events name weight and fat where paths say body_weight and
// body_fat.
var series = map[string][2]string{
	"afib_burden": {"%", "2"}, "basal_body_temperature": {"°C", "36.4"}, "blood_oxygen": {"%", "97"},
	"blood_pressure": {"mmHg", ""}, "body_mass_index": {"index", "22.6"}, "body_temperature": {"°C", "36.8"},
	"body_temperature_delta": {"°C", "-0.2"}, "caffeine": {"g", "0.08"}, "calories_active": {"kcal", "4.2"},
	"calories_basal": {"kcal", "71"}, "carbohydrates": {"g", "45"}, "cholesterol": {"mmol/L", "4.9"},
	"daylight_exposure": {"min", "12"}, "distance": {"m", "812.5"}, "electrocardiogram_voltage": {"mV", "0.11"},
	"fall": {"count", "1"}, "fat": {"%", "18.2"}, "floors_climbed": {"count", "3"},
	"forced_expiratory_volume_1": {"L", "3.1"}, "forced_vital_capacity": {"L", "4.2"}, "glucose": {"mmol/L", "5.4"},
	"handwashing": {"count", "1"}, "heart_rate_alert": {"count", "1"}, "heart_rate_recovery_one_minute": {"count", "28"},
	"heartrate": {"bpm", "62"}, "hrv": {"rmssd", "48"}, "ige": {"FSU", "1.2"}, "igg": {"FSU", "0.7"},
	"inhaler_usage": {"count", "1"}, "insulin_injection": {"unit", "6"}, "lean_body_mass": {"kg", "57.9"},
	"mindfulness_minutes": {"min", "10"}, "note": {"text", `"before lunch"`}, "peak_expiratory_flow_rate": {"L/min", "480"},
	"respiratory_rate": {"bpm", "14"}, "sleep_apnea_alert": {"count", "1"}, "sleep_breathing_disturbance": {"count", "1"},
	"stand_duration": {"min", "4"}, "stand_hour": {"count", "1"}, "steps": {"count", "214"}, "stress_level": {"%", "31"},
	"uv_exposure": {"index", "4"}, "vo2_max": {"mL/kg/min", "46.1"}, "waist_circumference": {"cm", "82"},
	"water": {"ml", "250"}, "weight": {"kg", "71.4"}, "wheelchair_push": {"count", "40"},
	"workout_distance": {"m", "1000"}, "workout_duration": {"min", "35"}, "workout_swimming_stroke": {"count", "18"},
}

const source = `"source":{"provider":"apple_health_kit","type":"watch","app_id":null,"device_id":null}`

const historical = `"start_date":"2026-01-30T00:00:00+00:00","end_date":"2026-03-01T00:00:00+00:00","provider":"apple_health_kit"`

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
		value := `"value":` + s[1]
		if resource == "blood_pressure" {
			value = `"systolic":118,"diastolic":76`
		}
		defineData(resource, "Samples", about(source+`,"source_id":1,"data":[{"timestamp":"2026-03-01T07:30:00+00:00","timezone_offset":3600,"type":null,"unit":"`+s[0]+`",`+value+`}]`))
	}
	for _, t := range others {
		Define(t)
	}
}

func defineData(resource, what string, example func(uuid.UUID) json.RawMessage) {
	Define(
		Type{"daily.data." + resource + ".created", what + " of " + resource + " came in for the first time.", example},
		Type{"daily.data." + resource + ".updated", what + " of " + resource + " replaced an earlier version.", example},
		Type{"historical.data." + resource + ".created", "The history of " + resource + " of a new connection has been fetched to its end.", about(historical)},
	)
}

// about makes an example payload of fields about a user.
func about(fields string) func(uuid.UUID) json.RawMessage {
	return func(user uuid.UUID) json.RawMessage {
		return json.RawMessage(`{"user_id":"` + user.String() + `",` + fields + `}`)
	}
}
