package apitest

func init() {
	wholeBodies["POST /v2/timeseries/{user_id}"] = `{"stage":"daily","provider":"apple_health_kit","series":{
		"heartrate":[{"timestamp":"2026-03-01T12:00:00Z","value":70}],"glucose":[{"timestamp":"2026-03-01T12:00:00Z","value":5.1}]}}`
	wholeBodies["POST /v2/user/{user_id}/entries"] = `{"data":[{"resource":"body_weight","timestamp":"2026-03-01T12:00:00Z","value":70}]}`
}
