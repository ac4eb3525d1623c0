package apitest

func init() {
	wholeBodies["POST /v2/timeseries/{user_id}"] = `{"stage":"daily","provider":"apple_health_kit","series":{
		"heartrate":[{"timestamp":"2026-03-01T12:00:00Z","value":70}],"glucose":[{"timestamp":"2026-03-01T12:00:00Z","value":5.1}]}}`
	wholeBodies["POST /v2/timeseries"] = `{"stage":"daily","provider":"apple_health_kit","users":[
		{"user_id":"$user_id","series":{"heartrate":[{"timestamp":"2026-03-01T12:00:00Z","value":70}]}}]}`
	wholeBodies["POST /v2/timeseries/{user_id}/note"] = `{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"2026-03-01T12:00:00Z","value":"Slept badly."}]}`
	wholeBodies["POST /v2/user/{user_id}/entries"] = `{"data":[{"resource":"body_weight","timestamp":"2026-03-01T12:00:00Z","value":70}]}`
}
