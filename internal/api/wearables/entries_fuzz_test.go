package wearables

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"hale/internal/api/calltest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store/storetest"
)

// Any body is stored, with refusals that point into its list, or is refused in
// words.
func FuzzEntries(f *testing.F) {
	for _, body := range []string{
		enteredBody, `{"data":[]}`, `{"data":[null]}`, `[]`, `{"data":{}}`, "{\"time_zone\":\"\\u0000\",\"data\":[]}",
		`{"time_zone":1,"data":[{"resource":"heartrate","timestamp":"2026-03-01T07:00:00Z","value":60}]}`,
		`{"data":[{"resource":"heartrate","timestamp":"2026-03-01T07:00:00Z","value":1e400}]}`,
		`{"data":[{"resource":"steps","timestamp":"9999-12-31T23:59:59Z","end":"0001-01-01T00:00:00Z","value":-0}]}`,
		`{"data":[{"resource":"meal","timestamp":"2026-03-01T12:00:00Z","name":"\ud800","macros":{"carbs":1e308}},{"resource":"meal","timestamp":"2026-03-01T12:00:00Z"}]}`,
		`{"data":[{"resource":"workouts","time_start":"2026-03-01T12:00:00Z","time_end":"2026-03-01T11:00:00Z"},{"resource":"sleep_cycle","session_start":"2026-03-01T00:00:00Z","session_end":"2026-03-01T08:00:00Z","stage_type":[1]}]}`,
		`{"data":[{"resource":"glucose","RESOURCE":"steps","timestamp":"2026-03-01T07:00:00Z","type":"manual_scan","value":5,"unit":"mg/dL"}]}`,
		`{"data":[{"resource":"profile","height":"x"},{"resource":"insulin_injection","timestamp":"2026-03-01T07:00:00Z","value":3,"type":"rapid_acting"}]}`,
	} {
		f.Add(body)
	}
	db := storetest.NewSQLite(f).Open(f, func() time.Time { return calltest.March })
	d := userCaller{calltest.UserCaller{T: f, DB: db, Team: userstest.Team(f, db), API: newAPI(db)}}
	d.Key = d.NewKey(d.Team)
	d.User = userstest.New(f, db, d.Team.ID, users.NewUser{})
	f.Fuzz(func(t *testing.T, body string) {
		d := d
		d.T = t
		w := d.Do("POST", d.Path("/v2/user/{user_id}/entries"), body)
		switch w.Code {
		case http.StatusOK:
			checkEntriesAnswer(t, body, w.Body.Bytes())
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
			var answer struct{ Detail any }
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Detail == nil {
				t.Fatalf("%s for %s", w.Body, body)
			}
		default:
			t.Fatalf("%d %s for %s", w.Code, w.Body, body)
		}
	})
}

// checkEntriesAnswer compares an answer with what was sent.
func checkEntriesAnswer(t *testing.T, sent string, text []byte) {
	t.Helper()
	var body struct{ Data []json.RawMessage }
	var answer pushBody
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s for %s", text, sent)
	}
	if err := json.Unmarshal([]byte(sent), &body); err != nil {
		t.Fatalf("%s was taken: %v", sent, err)
	}
	if answer.Created+answer.Updated+answer.Unchanged > len(body.Data) {
		t.Fatalf("%s for %d entries", text, len(body.Data))
	}
	for _, r := range answer.Rejected {
		if r.First < 0 || r.First >= len(body.Data) || r.Count < 1 || r.Count > len(body.Data) || r.Reason == "" {
			t.Fatalf("%+v of %d entries", r, len(body.Data))
		}
	}
}
