package app_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// accessList is the answer of GET /v2/audit.
type accessList struct {
	Accesses []struct {
		ActorKind  string  `json:"actor_kind"`
		Actor      string  `json:"actor"`
		OnBehalfOf *string `json:"on_behalf_of"`
		Action     string  `json:"action"`
		User       *string `json:"user_id"`
		Object     *string `json:"object_id"`
		Address    *string `json:"address"`
		Status     int     `json:"status"`
		RequestID  *string `json:"request_id"`
	} `json:"accesses"`
	NextCursor *string `json:"next_cursor"`
}

// waitForAccesses reads the log until it has a number of rows.
func waitForAccesses(t *testing.T, a *apptest.Service, query string, n int) (got accessList) {
	t.Helper()
	for range 600 {
		got = accessList{}
		a.Get("/v2/audit"+query, &got)
		if len(got.Accesses) >= n {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if len(got.Accesses) != n {
		t.Fatalf("%s: %d accesses, want %d: %+v", query, len(got.Accesses), n, got.Accesses)
	}
	return got
}

// createUser returns the id of a new user.
func createUser(a *apptest.Service, name string) string {
	var user struct {
		UserID string `json:"user_id"`
	}
	a.Expect(http.StatusOK, "POST", "/v2/user", `{"client_user_id":"`+name+`"}`, &user)
	return user.UserID
}

func TestAccessesAreNoted(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		a := apptest.Start(t, d)
		first, second := createUser(a, "anna"), createUser(a, "ben")
		request := func(method, path, body string) int {
			req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			req.Header.Set("X-Service-Api-Key", a.Key)
			req.Header.Set("X-Hale-On-Behalf-Of", "dr-17")
			req.Header.Set("X-Request-Id", "call-1")
			req.RemoteAddr = "192.0.2.7:4711"
			res := httptest.NewRecorder()
			a.Handler().ServeHTTP(res, req)
			return res.Code
		}
		push := `{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"2026-01-01T10:00:00Z","value":60,"unit":"bpm"}]}`
		for _, call := range []struct {
			method, path, body string
			status             int
		}{
			{"GET", "/v2/user/" + first, "", 200},
			{"GET", "/v2/user", "", 200},
			{"PATCH", "/v2/user/" + first, `{"fallback_time_zone":"Europe/Rome"}`, 200},
			{"PATCH", "/v2/user/" + first, `{"fallback_time_zone":"Mars/Base"}`, 422},
			{"GET", "/v2/user/00000000-0000-4000-8000-000000000000", "", 404},
			{"POST", "/v2/timeseries/" + first + "/heartrate", push, 200},
			{"POST", "/v2/timeseries/" + first + "/heartrate", push, 200},
		} {
			if got := request(call.method, call.path, call.body); got != call.status {
				t.Fatalf("%s %s: %d", call.method, call.path, got)
			}
		}

		got := waitForAccesses(t, a, "?on_behalf_of=dr-17&user_id="+first, 6)
		count := map[string]int{}
		for _, row := range got.Accesses {
			count[row.Action]++
			if row.ActorKind != "key" || *row.OnBehalfOf != "dr-17" || *row.Address != "192.0.2.7" || *row.RequestID != "call-1" || *row.User != first {
				t.Errorf("%+v", row)
			}
			if row.Action == "patchUser" && row.Status != 200 && row.Status != 422 {
				t.Errorf("%+v", row)
			}
		}
		if count["getUser"] != 1 || count["listUsers"] != 1 || count["patchUser"] != 2 || len(count) != 4 {
			t.Errorf("%v", count)
		}
		waitForAccesses(t, a, "?on_behalf_of=dr-17&user_id="+second, 1) // the list
		waitForAccesses(t, a, "?on_behalf_of=dr-17&user_id=00000000-0000-4000-8000-000000000000", 1)

		waitForAccesses(t, a, "?action=createUser&user_id="+second, 1)

		// Pages without gaps.
		var page accessList
		a.Get("/v2/audit?on_behalf_of=dr-17&limit=5", &page)
		var rest accessList
		a.Get("/v2/audit?on_behalf_of=dr-17&limit=5&next_cursor="+*page.NextCursor, &rest)
		if len(page.Accesses) != 5 || len(rest.Accesses) != 3 || rest.NextCursor != nil {
			t.Errorf("%d and %d", len(page.Accesses), len(rest.Accesses))
		}

		// Another team sees nothing of it.
		other := a.NewTeam("other")
		var none accessList
		other.Get("/v2/audit?on_behalf_of=dr-17", &none)
		if len(none.Accesses) != 0 {
			t.Errorf("another team reads %+v", none.Accesses)
		}

		// A name that could break a line is refused.
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v2/user", http.NoBody)
		req.Header.Set("X-Service-Api-Key", a.Key)
		req.Header["X-Hale-On-Behalf-Of"] = []string{strings.Repeat("x", 129)}
		res := httptest.NewRecorder()
		a.Handler().ServeHTTP(res, req)
		if res.Code != 400 {
			t.Errorf("a long name: %d %s", res.Code, res.Body)
		}
	})
}

// A push for several people has a row for each of them, and none twice. It holds for pushes
// that share a transaction and for those that have their own.
func TestAPushForSeveralPeopleNamesEach(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		a := apptest.Start(t, d)
		var body []string
		var people []string
		for i, minutes := range []int{1, 2, 400} {
			people = append(people, createUser(a, fmt.Sprint("person ", i)))
			samples := make([]string, minutes)
			for minute := range samples {
				samples[minute] = fmt.Sprintf(`{"timestamp":"2026-01-01T%02d:%02d:00Z","value":60}`, minute/60, minute%60)
			}
			body = append(body, fmt.Sprintf(`{"user_id":"%s","series":{"heartrate":[%s]}}`, people[i], strings.Join(samples, ",")))
		}
		push := `{"stage":"daily","provider":"apple_health_kit","users":[` + strings.Join(body, ",") + `]}`
		const times = 3
		for range times {
			a.Expect(http.StatusOK, "POST", "/v2/timeseries", push, nil)
		}
		for _, person := range people {
			waitForAccesses(t, a, "?action=pushPeople&user_id="+person, times)
		}
		waitForAccesses(t, a, "?action=pushPeople", times*len(people))
	})
}

// An access that was answered has a row after a stop.
func TestAStopWritesTheLastAccesses(t *testing.T) {
	d := storetest.NewSQLite(t)
	a := apptest.Start(t, d)
	user := createUser(a, "anna")
	for range 20 {
		a.Get("/v2/user/"+user, new(any))
	}
	a.End()
	db := d.Open(t, time.Now)
	ctx := store.AsSystem(t.Context())
	var rows, pending int
	err := db.Read(ctx, func(tx *store.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM audit_log WHERE action = 'getUser'`).Scan(&rows); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT COUNT(*) FROM audit_pending`).Scan(&pending)
	})
	if err != nil || rows != 20 || pending != 0 {
		t.Errorf("%d rows, %d pending, %v", rows, pending, err)
	}
	if bytes.Contains([]byte(a.Log.String()), []byte("audit log could not")) {
		t.Error(a.Log.String())
	}
}
