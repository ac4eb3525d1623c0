package apitest

func init() {
	wholeBodies["POST /v2/user/{user_id}/entries"] = `{"data":[{"resource":"body_weight","timestamp":"2026-03-01T12:00:00Z","value":70}]}`
}
