package platform

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"hale/internal/api/calltest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// readSettings returns the settings of the caller's team.
func readSettings(d calltest.UserCaller) map[string]any {
	var all map[string]any
	d.Get("/v2/team/settings", &all)
	return all
}

func want(t testing.TB, w *httptest.ResponseRecorder, status int, words ...string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("%d, not %d: %s", w.Code, status, w.Body)
	}
	for _, word := range words {
		if !strings.Contains(w.Body.String(), word) {
			t.Errorf("%q is not in %s", word, w.Body)
		}
	}
}

// Every setting that hale teams settings knows is read and changed by its name. Those
// of the operator can only be read.
func TestTeamSettings(t *testing.T) {
	const path = "/v2/team/settings"
	eachCaller(t, func(d calltest.UserCaller) {
		t := d.T
		if got := len(readSettings(d)); got != len(teams.Switches)+len(teams.Values) {
			t.Errorf("%d settings, want %d switches and %d values", got, len(teams.Switches), len(teams.Values))
		}
		for _, w := range teams.Switches {
			before := readSettings(d)[w.Name].(bool)
			body := fmt.Sprintf(`{%q:%v}`, w.Name, !before)
			if w.By == teams.ByOperator {
				want(t, d.Do("PATCH", path, body), 403, `"code":"forbidden"`, "Only the operator", w.Name)
				want(t, d.Do("PATCH", path, fmt.Sprintf(`{%q:%v}`, w.Name, before)), 200)
			} else {
				want(t, d.Do("PATCH", path, body), 200, body[1:len(body)-1])
			}
			if after := readSettings(d)[w.Name].(bool); (after != before) != (w.By == teams.ByTeam) {
				t.Errorf("%s was %v and is %v", w.Name, before, after)
			}
			want(t, d.Do("PATCH", path, fmt.Sprintf(`{%q:"on"}`, w.Name)), 422, `["body","`+w.Name+`"]`, "bool_type")
			unchanged := fmt.Sprintf(`%q:%v`, w.Name, readSettings(d)[w.Name])
			want(t, d.Do("PATCH", path, fmt.Sprintf(`{%q:null}`, w.Name)), 200, unchanged)
		}
		for _, v := range teams.Values {
			good, bad := `"lab@example.org"`, []string{`"Lab <lab@example.org>"`, `7`, `true`}
			if v.Most > 0 {
				good, bad = `15`, []string{`0`, `1.5`, `"15"`, `100000000000000000000`}
			}
			want(t, d.Do("PATCH", path, fmt.Sprintf(`{%q:%s}`, v.Name, good)), 200, fmt.Sprintf(`%q:%s`, v.Name, good))
			for _, text := range bad {
				want(t, d.Do("PATCH", path, fmt.Sprintf(`{%q:%s}`, v.Name, text)), 422, `["body","`+v.Name+`"]`)
			}
			want(t, d.Do("GET", path, ""), 200, fmt.Sprintf(`%q:%s`, v.Name, good))
			want(t, d.Do("PATCH", path, fmt.Sprintf(`{%q:null}`, v.Name)), 200)
		}
		want(t, d.Do("GET", path, ""), 200, `"critical_result_notification_email":null`, `"critical_result_minutes":60`)

		// One bad setting changes nothing. All of them are named. All can be sent back.
		want(t, d.Do("PATCH", path, `{"redraws_enabled":false,"color":"red","critical_result_minutes":0}`), 422, `["body","color"]`, `["body","critical_result_minutes"]`, "redraws_enabled")
		want(t, d.Do("PATCH", path, `{"redraws_enabled":false,"consents_required":true}`), 403, "consents_required")
		all, err := json.Marshal(readSettings(d))
		if err != nil {
			t.Fatal(err)
		}
		want(t, d.Do("PATCH", path, string(all)), 200, `"redraws_enabled":true`)
		want(t, d.Do("PATCH", path, `{}`), 200)
		want(t, d.Do("PATCH", path, `[]`), 422)
	})
}

// Simultaneous changes of different settings all last.
func TestSimultaneousChangesOfTeamSettings(t *testing.T) {
	eachCaller(t, func(d calltest.UserCaller) {
		t := d.T
		var all sync.WaitGroup
		var names []string
		for _, w := range teams.Switches {
			if w.By == teams.ByTeam {
				names = append(names, w.Name)
				all.Go(func() { d.Do("PATCH", "/v2/team/settings", fmt.Sprintf(`{%q:true}`, w.Name)) })
			}
		}
		all.Wait()
		for _, name := range names {
			if after := readSettings(d); after[name] != true {
				t.Errorf("%s is off: %v", name, after)
			}
		}
	})
}

// A key needs the scope admin.
func TestTeamSettingsNeedAdmin(t *testing.T) {
	eachCaller(t, func(d calltest.UserCaller) {
		t := d.T
		userstest.Write(t, d.DB, func(ctx context.Context, tx *store.Tx) error {
			_, key, err := teams.CreateKey(ctx, tx, d.Team, teams.NewKey{Label: "test", Rights: teams.Rights{Scopes: []teams.Scope{teams.Read, teams.Write}, PersonalData: true}})
			d.Key = key.Reveal()
			return err
		})
		want(t, d.Do("GET", "/v2/team/settings", ""), 403, "scope admin")
		want(t, d.Do("PATCH", "/v2/team/settings", `{"redraws_enabled":true}`), 403, "scope admin")
	})
}
