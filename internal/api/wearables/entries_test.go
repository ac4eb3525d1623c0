package wearables

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"hale/internal/wearables/connections"
)

const enteredBody = `{"time_zone":"Europe/Berlin","data":[
	{"resource":"body_weight","timestamp":"2026-03-01T07:00:00Z","value":154.3,"unit":"lb"},
	{"resource":"meal","timestamp":"2026-03-01T12:00:00Z","name":"Soup"},
	{"resource":"weight","timestamp":"2026-03-02T07:00:00+01:00","value":7000},
	{"resource":"blood_pressure","timestamp":"2026-03-01T07:05:00Z","systolic":120,"diastolic":80},
	{"resource":"activity","calendar_date":"1999-03-01","steps":12},
	{"resource":"weight","timestamp":"2026-03-03T07:00:00Z","value":71,"unit":"bushel"}
]}`

func TestEntriesAreStoredAsManual(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		text := d.Post(d.Path("/v2/user/{user_id}/entries"), enteredBody, &pushed)
		want := `{"success":true,"created":3,"updated":0,"unchanged":0,"rejected":[` +
			`{"reason":"implausible_value","count":1,"first":2},{"reason":"implausible_time","count":1,"first":4},{"reason":"unknown_unit","count":1,"first":5}]}`
		if strings.TrimSpace(text) != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		if d.Post(d.Path("/v2/user/{user_id}/entries"), enteredBody, &pushed); pushed.Created+pushed.Updated != 0 || pushed.Unchanged != 3 {
			t.Errorf("again %+v", pushed)
		}

		var groups groupsBody
		d.Get(d.Path("/v2/timeseries/{user_id}/body_weight/grouped?start_date=2026-03-01"), &groups)
		group := groups.Groups["manual"]
		if len(group) != 1 || len(group[0].Data) != 1 || *group[0].Data[0].Value < 69.98 || *group[0].Data[0].Value > 70 || *group[0].Data[0].TimezoneOffset != 3600 {
			t.Errorf("%+v", groups)
		}
		var meals struct {
			Meals []struct {
				Name         string
				CalendarDate string `json:"calendar_date"`
				Source       struct{ Provider string }
			}
		}
		d.Get(d.Path("/v2/summary/meal/{user_id}?start_date=2026-03-01"), &meals)
		if len(meals.Meals) != 1 || meals.Meals[0].Name != "Soup" || meals.Meals[0].Source.Provider != "manual" {
			t.Errorf("%+v", meals)
		}
		var connected connectionsBody
		d.Get(d.Path("/v2/user/providers/{user_id}"), &connected)
		if len(connected.Providers) != 1 || connected.Providers[0].Slug != "manual" || connected.Providers[0].Status != string(connections.Connected) ||
			len(connected.Providers[0].ResourceAvailability) != 3 {
			t.Errorf("%+v", connected)
		}
		// Values that a person has not typed yet cannot be requested.
		d.Status(http.StatusOK, d.Do("POST", d.Path("/v2/user/refresh/{user_id}"), ""))
	})
}

func TestFaultsOfEntriesNameTheirPlace(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		good := `{"resource":"heartrate","timestamp":"2026-03-01T07:00:00Z","value":60}`
		for body, want := range map[string]string{
			`{`:           `"loc":["body"]`,
			`[]`:          `"loc":["body"]`,
			`{}`:          `"loc":["body","data"]`,
			`{"data":{}}`: `"loc":["body","data"]`,
			`{"data":[` + good + `,{"timestamp":"2026-03-01T07:00:00Z"}]}`:                        `"loc":["body","data",1,"resource"]`,
			`{"data":[` + good + `,{"resource":"mood"}]}`:                                         `"loc":["body","data",1,"resource"]`,
			`{"data":[` + good + `,{"resource":"hypnogram","timestamp":"2026-03-01T07:00:00Z"}]}`: `"loc":["body","data",1,"resource"]`,
			`{"data":[{"resource":"note","timestamp":"2026-03-01T07:00:00Z"}]}`:                   `"loc":["body","data",0,"value"]`,
			`{"data":[{"resource":"meal","name":1},{"resource":"heartrate","value":"x"}]}`:        `"loc":["body","data",0,"name"]`,
			`{"data":[],"deleted":[7]}`:                                                           `"loc":["body","deleted",0]`,
			`{"data":[` + good + `],"deleted":"M1"}`:                                              `"loc":["body","deleted"]`,
			`{"deleted":[]}`:                                                                      `"loc":["body","data"]`,
			`{"time_zone":"Moon/Base","data":[` + good + `]}`:                                     `"loc":["body","time_zone"]`,
		} {
			w := d.Do("POST", d.Path("/v2/user/{user_id}/entries"), body)
			if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s\ngave %d %s, not %s", body, w.Code, w.Body, want)
			}
		}
		var connected connectionsBody
		if d.Get(d.Path("/v2/user/providers/{user_id}"), &connected); len(connected.Providers) != 0 {
			t.Error("bad input connected the user")
		}
		var some pushBody
		d.Post(d.Path("/v2/user/{user_id}/entries"), `{"data":[{"resource":"meal","name":1},`+good+`,{"resource":"heartrate","value":"x","timestamp":"2026-03-01T07:00:00Z"}]}`, &some)
		if want := []rejectBody{{"malformed_name", 1, 0}, {"malformed_value", 1, 2}}; some.Created != 1 || !slices.Equal(some.Rejected, want) {
			t.Errorf("%+v", some)
		}
		many := `{"data":[` + strings.Repeat(good+",", 10_000) + good + `]}`
		d.Status(http.StatusRequestEntityTooLarge, d.Do("POST", d.Path("/v2/user/{user_id}/entries"), many))
	})
}

func TestEntriesAreDeletedByTheirIDs(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		path := d.Path("/v2/user/{user_id}/entries")
		var pushed pushBody
		d.Post(path, `{"data":[{"resource":"steps","id":"S","timestamp":"2026-03-01T08:00:00Z","value":900},
			{"resource":"steps","id":"T","timestamp":"2026-03-01T09:00:00Z","value":100},
			{"resource":"meal","id":"M","timestamp":"2026-03-01T12:00:00Z","name":"Soup"}]}`, &pushed)
		if pushed.Created != 3 {
			t.Fatalf("%+v", pushed)
		}
		for _, c := range []struct {
			body string
			want int
		}{
			{`{"data":[],"deleted":[{"id":"S"},"M","unknown"]}`, 2},
			{`{"deleted":[{"id":"S"}]}`, 0},
			{`{"data":[{"resource":"steps","id":"U","timestamp":"2026-03-01T10:00:00Z","value":5}],"deleted":["T"]}`, 1},
		} {
			pushed = pushBody{}
			if d.Post(path, c.body, &pushed); pushed.Deleted != c.want {
				t.Errorf("%s: %+v", c.body, pushed)
			}
		}
		var steps []struct{ Value float64 }
		d.Get(d.Path("/v2/timeseries/{user_id}/steps?start_date=2026-03-01"), &steps)
		var meals struct{ Meals []struct{ Name string } }
		d.Get(d.Path("/v2/summary/meal/{user_id}?start_date=2026-03-01"), &meals)
		if len(steps) != 1 || steps[0].Value != 5 || len(meals.Meals) != 0 {
			t.Errorf("%+v, %+v", steps, meals)
		}
	})
}
