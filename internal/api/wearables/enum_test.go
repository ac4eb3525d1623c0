package wearables

import "testing"

// Every refusal of an unknown provider or resource lists the words, in the style of
// fault.EnumMessage.
func TestUnknownProvidersAndResourcesAreListed(t *testing.T) {
	c := newCaller(t)
	user := c.User("ada")
	const listed, providers = `"msg":"Input should be '`, "'oura', "
	for _, r := range []struct{ method, path, body, loc, msg, word string }{
		{"DELETE", "/v2/user/" + user + "/data?provider=nope", "", `["query","provider"]`, providers, " or 'manual'"},
		{"DELETE", "/v2/user/" + user + "/data?resource=nope", "", `["query","resource"]`, listed, "'heartrate', "},
		{"POST", "/v2/user/" + user + "/data/shifts", `{"provider":"nope","start":"2026-03-01T00:00:00Z","end":"2026-03-02T00:00:00Z","seconds":3600}`, `["body","provider"]`, providers, " or 'manual'"},
		{"GET", "/v2/user/" + user + "/data/export?resource=hypnogram", "", `["query","resource"]`, listed, " or 'workout_stream'"},
		{"GET", "/v2/introspect/resources?provider=nope", "", `["query","provider"]`, providers, " or 'manual'"},
		{"PATCH", "/v2/team/source/priorities", `[{"data_type":"sleep","provider":"nope","priority":1}]`, `["body",0,"provider"]`, providers, " or 'manual'"},
		{"POST", "/v2/link/provider/manual/oura", `{"user_id":"` + user + `"}`, `["path","provider"]`, "'apple_health_kit', ", " or 'manual'"},
		{"POST", "/v2/user/" + user + "/device", `{"provider":"oura","device_model":"Ring 4"}`, `["body","provider"]`, "'apple_health_kit', ", " or 'manual'"},
	} {
		c.Want(422, r.method, r.path, r.body, `"type":"enum"`, r.loc, listed, r.msg, r.word)
	}
}
