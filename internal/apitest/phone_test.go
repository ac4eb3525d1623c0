package apitest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// isForPhones reports whether a phone may call an operation for its own user: to send,
// read and delete data. The list is repeated here, so that a change of the permissions needs two
// edits.
func isForPhones(o operation) bool {
	switch name := o.String(); {
	case strings.HasPrefix(o.Path, "/v2/summary/") && strings.HasSuffix(o.Path, "/{user_id}"):
		return o.Method == http.MethodGet || o.Method == http.MethodPost
	default:
		return slices.Contains([]string{
			"POST /v2/timeseries/{user_id}",
			"POST /v2/timeseries/{user_id}/{resource}",
			"POST /v2/user/{user_id}/entries",
			"DELETE /v2/user/{user_id}/data",
			"POST /v2/timeseries/{user_id}/note",
			"GET /v2/timeseries/{user_id}/note/grouped",
			"GET /v2/timeseries/{user_id}/{resource}/grouped",
			"GET /v2/timeseries/{user_id}/{resource}/merged",
			"GET /v2/timeseries/{user_id}/{resource}/daily",
			"GET /v2/user/{user_id}/device",
			"POST /v2/user/{user_id}/device",
			"GET /v2/user/{user_id}/device/{device_id}",
			"GET /v2/user/providers/{user_id}",
			"POST /v2/link/provider/manual/{provider}",
		}, name) || isAboutSessions(o)
	}
}

// isAboutSessions reports whether the path of an operation names a session instead of its
// user. Another user's session is unknown there.
func isAboutSessions(o operation) bool {
	return slices.Contains([]string{
		"GET /v2/timeseries/workouts/{workout_id}/stream",
		"GET /v2/timeseries/sleep/{sleep_id}/stream",
	}, o.String())
}

// A phone's token gives access to its own user's data only. The test calls every
// operation with the id of its user, of another user of the team, and with an unknown
// id.
func TestPhoneReachesOnlyItsOwnUsersData(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	mine, others := s.fixture(t), &fixture{ids: map[string]string{}}
	others.ids["user_id"] = s.requestField(t, "POST", "/v2/user", `{"client_user_id":"another-user"}`, "user_id")
	s.sessions(t, others)
	signIn := s.requestField(t, "POST", "/v2/user/"+mine.ids["user_id"]+"/sign_in_token", "", "sign_in_token")
	token := s.requestField(t, "POST", "/v2/link/exchange", `{"sign_in_token":"`+signIn+`"}`, "access_token")
	s.settleJobs(t)
	before := s.dataOf(t, others)
	opened := 0
	for _, o := range s.doc.operations {
		if o.Public {
			continue
		}
		own, foreign, unknown := mine.values(), mine.values(), mine.values()
		refused := http.StatusForbidden
		named := []string{"user_id"}
		if isAboutSessions(o) {
			refused, named = http.StatusNotFound, []string{"workout_id", "sleep_id"}
		}
		for _, name := range named {
			foreign[name], unknown[name] = others.ids[name], unknownLike(others.ids[name])
		}
		status := func(values map[string]string) int {
			r := s.minimalRequest(t, o, values)
			r.headers["authorization"] = "Bearer " + token
			got := s.send(t, r, "")
			s.judge(t, o, r, got)
			return got.status
		}
		if got := status(own); isForPhones(o) {
			opened++
			if got == http.StatusForbidden || got == http.StatusUnauthorized {
				t.Errorf("%v for its own user was answered %d", o, got)
			}
		} else if got != http.StatusForbidden {
			t.Errorf("%v, which is not for phones, was answered %d", o, got)
		}
		for _, values := range []map[string]string{foreign, unknown} {
			if got := status(values); got != refused {
				t.Errorf("%v for %s was answered %d", o, values[named[0]], got)
			}
		}
	}
	if opened < 20 {
		t.Errorf("only %d operations are for phones: the list is out of date", opened)
	}
	if after := s.dataOf(t, others); after != before {
		t.Errorf("the other user changed:\nbefore %s\nafter  %s", before, after)
	}
}

// dataOf returns the team's view of one user's data.
func (s *service) dataOf(t *testing.T, f *fixture) string {
	t.Helper()
	var all strings.Builder
	for _, o := range s.doc.operations {
		if o.Method == http.MethodGet && isForPhones(o) {
			got := s.send(t, s.minimalRequest(t, o, f.values()), s.Key)
			fmt.Fprintf(&all, "%v %d %s\n", o, got.status, withoutVolatileParts(got.body))
		}
	}
	return all.String()
}
