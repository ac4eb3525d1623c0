package wearables

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"hale/internal/api/calltest"
)

// Notes come in from phones and from forms, and are read as samples.
func TestNotesComeInAndAreRead(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		path := d.Path("/v2/timeseries/{user_id}/note")
		sent := `[{"startDate":"2026-03-01T08:00:00+01:00","timestamp":"2026-03-01T08:00:00+01:00","value":"before lunch","tags":["food"],"source_type":"phone"}]`
		var pushed pushBody
		if d.Post(path, calltest.PushText(sent), &pushed); pushed.Created != 1 {
			t.Errorf("%+v", pushed)
		}
		if d.Post(path, calltest.PushText(sent), &pushed); pushed.Unchanged != 1 || pushed.Created+pushed.Updated != 0 {
			t.Errorf("%+v", pushed)
		}
		d.Post(d.Path("/v2/user/{user_id}/entries"), `{"time_zone":"Asia/Kolkata","data":[{"resource":"note","timestamp":"2026-03-01T06:30:00Z","value":"slept badly"}]}`, &pushed)
		if pushed.Created != 1 || len(pushed.Rejected) != 0 {
			t.Errorf("%+v", pushed)
		}
		mine := `{"timestamp":"2026-03-01T07:00:00+00:00","start":"2026-03-01T07:00:00+00:00","end":"2026-03-01T07:00:00+00:00","timezone_offset":3600,"type":null,"unit":"text","value":"before lunch","tags":["food"]}`
		typed := `{"timestamp":"2026-03-01T06:30:00+00:00","start":"2026-03-01T06:30:00+00:00","end":"2026-03-01T06:30:00+00:00","timezone_offset":19800,"type":null,"unit":"text","value":"slept badly","tags":null}`
		var groups noteGroupsBody
		got := d.Get(path+"/grouped?start_date=2026-03-01", &groups)
		if len(groups.Groups) != 2 || !strings.Contains(got, `"data":[`+mine+`]`) || !strings.Contains(got, `"data":[`+typed+`]`) || !strings.HasSuffix(got, `,"next_cursor":null,"next":null}`) {
			t.Error(got)
		}
		var plain []noteBody
		if got := d.Get(path+"?start_date=2026-03-01", &plain); got != "["+typed+","+mine+"]" {
			t.Error(got)
		}
		if got := d.Get(path+"?start_date=2026-03-01&provider=manual", &plain); got != "["+typed+"]" {
			t.Error(got)
		}
		if got := d.Get(path+"?start_date=2026-03-02", &plain); got != "[]" {
			t.Error(got)
		}
		want := []string{"daily.data.note.created", "daily.data.note.created"}
		types := slices.DeleteFunc(d.EventTypes(), func(name string) bool { return strings.HasPrefix(name, "provider.") })
		if !slices.Equal(types, want) {
			t.Errorf("announced %v", types)
		}
		d.Post(path, historicalPush(`[]`, `,"is_final_chunk":true`), &pushed)
		if types := d.EventTypes(); !slices.Contains(types, "historical.data.note.created") {
			t.Errorf("announced %v", types)
		}
	})
}

func TestNotesThatCannotBeRead(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		path := d.Path("/v2/timeseries/{user_id}/note")
		for body, place := range map[string]string{
			calltest.PushText(`[{"value":"x"}]`):                                                       `["body","data",0,"timestamp"]`,
			calltest.PushText(`[{"timestamp":"2026-03-01T08:00:00Z","value":7}]`):                      `["body","data",0,"value"]`,
			calltest.PushText(`[{"timestamp":"2026-03-01T08:00:00Z","value":"x","tags":["weather"]}]`): `["body","data",0,"tags"]`,
			calltest.PushText(`[{"timestamp":"2026-03-01T08:00:00Z"}]`):                                `["body","data",0,"value"]`,
			calltest.PushText(`[{"timestamp":"yesterday","value":"x"}]`):                               `["body","data",0,"timestamp"]`,
		} {
			w := d.Do(http.MethodPost, path, body)
			if d.Status(http.StatusUnprocessableEntity, w); !strings.Contains(w.Body.String(), place) {
				t.Errorf("%s: %s", body, w.Body)
			}
		}
		var pushed pushBody
		if d.Post(path, calltest.PushText(`[{"timestamp":"2026-03-01T08:00:00Z","value":""}]`), &pushed); len(pushed.Rejected) != 1 || pushed.Rejected[0].Reason != "missing_value" {
			t.Errorf("%+v", pushed)
		}
		d.Status(http.StatusUnprocessableEntity, d.Do(http.MethodGet, path+"/grouped?start_date=2026-03-01&next_cursor=x", ""))
		for _, query := range []string{"", "?start_date=x"} {
			d.Status(http.StatusUnprocessableEntity, d.Do(http.MethodGet, path+query, ""))
			d.Status(http.StatusUnprocessableEntity, d.Do(http.MethodGet, path+"/grouped"+query, ""))
		}
		d.Status(http.StatusNotFound, d.Do(http.MethodGet, "/v2/timeseries/019f0000-0000-7000-8000-000000000000/note/grouped?start_date=2026-03-01", ""))
	})
}
