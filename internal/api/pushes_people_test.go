package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/wearables/ledger"
)

// gathered is a body of several users; lists are their heart rates.
func gathered(who []users.User, lists ...string) string {
	all := make([]string, len(who))
	for i, u := range who {
		all[i] = fmt.Sprintf(`{"user_id":"%s","series":{"heartrate":%s}}`, u.ID, lists[i%len(lists)])
	}
	return `{"stage":"daily","provider":"apple_health_kit","source":{"type":"watch"},"users":[` + strings.Join(all, ",") + `]}`
}

func (d dataDoor) people(n int) []users.User {
	all := make([]users.User, n)
	for i := range all {
		all[i] = userstest.New(d.t, d.db, d.team.ID, users.NewUser{})
	}
	return all
}

// What is gathered of several users is what each would have sent, also where
// one has more than share a transaction, and the first time and later.
func TestPeopleArePushedTogether(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		apart, together := d.people(3), d.people(3)
		for _, lists := range [][]string{{heartbeats(3), heartbeats(300), `[]`}, {heartbeats(5), heartbeats(5), heartbeats(5)}} {
			var all pushedPeopleBody
			d.post("/v2/timeseries", gathered(together, lists...), &all)
			for i := range apart {
				var one pushedSeriesBody
				body := `{"stage":"daily","provider":"apple_health_kit","source":{"type":"watch"},"series":{"heartrate":` + lists[i] + `}}`
				d.post("/v2/timeseries/"+apart[i].ID.String(), body, &one)
				if got := all.Users[i]; got.UserID != together[i].ID || got.PushCounts != one.PushCounts || len(got.Rejected) != 0 || got.Detail != nil {
					t.Errorf("%+v, apart %+v", got, one)
				}
			}
		}
		for i := range apart {
			var groups groupsBody
			read := func(u users.User) string {
				return d.get("/v2/timeseries/"+u.ID.String()+"/heartrate/grouped?start_date=2026-02-01", &groups)
			}
			if a, b := read(apart[i]), read(together[i]); a != b || !strings.Contains(a, `"timestamp"`) {
				t.Errorf("apart %.300s\ntogether %.300s", a, b)
			}
			if a, b := d.kept(apart[i]), d.kept(together[i]); a != b || !strings.Contains(a, ledger.Series) {
				t.Errorf("kept apart %s, together %s", a, b)
			}
		}
		told := strings.Join(d.eventTypes(), " ")
		if n := strings.Count(told, "daily.data.heartrate.created"); n != 8 { // one of each list that brings something new
			t.Errorf("told of %d: %s", n, told)
		}
	})
}

// kept tells of the bodies in a user's ledger, in no order that means anything.
func (d dataDoor) kept(user users.User) string {
	var all []string
	for _, p := range d.payloads(user) {
		all = append(all, fmt.Sprint(p.Kind, p.Provider, p.Size, p.Times))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Who is refused does not touch the others; another team's user is an unknown
// one.
func TestWhoIsRefusedAmongPeople(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		stranger := userstest.New(t, d.db, userstest.Team(t, d.db).ID, users.NewUser{})
		nobody := users.User{ID: users.ID{7}}
		who := d.people(2)
		refused := `"success":false,"created":0,"updated":0,"unchanged":0,"rejected":[],"status":404,"detail":"Not found"}`
		for round, counts := range []string{`"created":2,"updated":0,"unchanged":0`, `"created":0,"updated":0,"unchanged":2`} {
			w := d.do(http.MethodPost, "/v2/timeseries", gathered([]users.User{who[0], stranger, nobody, who[1]}, heartbeats(2)))
			d.status(http.StatusOK, w)
			text := w.Body.String()
			if strings.Count(text, refused) != 2 || strings.Count(text, `"success":true,`+counts+`,"rejected":[]}`) != 2 {
				t.Errorf("round %d: %s", round, text)
			}
		}
		if told := strings.Join(d.eventTypes(), " "); strings.Count(told, "daily.data.heartrate.created") != 2 {
			t.Errorf("told %s", told)
		}
	})
}

// A value that breaks a rule is left out, and said of its user. A body that
// cannot be read in one place is stored for nobody.
func TestPeopleAreRefusedTogether(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		who := d.people(2)
		w := d.do(http.MethodPost, "/v2/timeseries", gathered(who, heartbeats(2), `[{"timestamp":"2026-03-01T10:00:00Z","value":"x"}]`))
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `["body","users",1,"series","heartrate",0,"value"]`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if kept := d.payloads(who[0]); len(kept) > 0 {
			t.Errorf("kept %+v", kept)
		}
		var all pushedPeopleBody
		d.post("/v2/timeseries", gathered(who, heartbeats(2), `[{"timestamp":"2026-03-01T10:00:00Z","value":9000}]`), &all)
		if got := all.Users[1].Rejected; len(got) != 1 || got[0] != (seriesRejectBody{"heartrate", "implausible_value", 1, 0}) || all.Users[0].Created != 2 {
			t.Errorf("%+v", all)
		}
		for body, status := range map[string]int{
			`{"stage":"daily","provider":"oura","users":[]}`:             http.StatusUnprocessableEntity,
			`{"stage":"daily","provider":"apple_health_kit","users":[]}`: http.StatusOK,
		} {
			d.status(status, d.do(http.MethodPost, "/v2/timeseries", body))
		}
	})
}

// Gateways that push the same users at the same moment, beside their phones,
// lose nothing and tell each value once.
func TestGatewaysAndPhonesAtOnce(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		const minutes = 8
		who := d.people(5)
		at := func(minute int) string {
			return fmt.Sprintf(`[{"timestamp":"2026-03-01T10:%02d:00Z","value":%d}]`, minute, 60+minute)
		}
		var all sync.WaitGroup
		push := func(path, body string) {
			all.Go(func() {
				if w := d.do(http.MethodPost, path, body); w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"success":false`) {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
		}
		for minute := range minutes {
			push("/v2/timeseries", gathered(who, at(minute)))
			push("/v2/timeseries", gathered(who[1:], at(minute)))
			push("/v2/timeseries/"+who[minute%len(who)].ID.String(), `{"stage":"daily","provider":"apple_health_kit","source":{"type":"watch"},"series":{"heartrate":`+at(minute)+`}}`)
		}
		all.Wait()
		if n := strings.Count(strings.Join(d.eventTypes(), " "), "daily.data.heartrate.created"); n != len(who)*minutes {
			t.Errorf("told of %d", n)
		}
	})
}
