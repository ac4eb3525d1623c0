package apitest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// forPhones are the operations that a phone may call for its own user: sending
// data and reading it. The list stands here and not in the document, so that
// opening another to phones shows twice.
func forPhones(o operation) bool {
	switch name := o.String(); {
	case strings.HasPrefix(o.Path, "/v2/summary/") && strings.HasSuffix(o.Path, "/{user_id}"):
		return o.Method == http.MethodGet || o.Method == http.MethodPost
	default:
		return slices.Contains([]string{
			"POST /v2/timeseries/{user_id}",
			"POST /v2/timeseries/{user_id}/{resource}",
			"POST /v2/user/{user_id}/entries",
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
		}, name) || ofSessions(o)
	}
}

// ofSessions are operations whose path names a session and not its user: another
// user's is unknown there.
func ofSessions(o operation) bool {
	return slices.Contains([]string{
		"GET /v2/timeseries/workouts/{workout_id}/stream",
		"GET /v2/timeseries/sleep/{sleep_id}/stream",
	}, o.String())
}

// A phone's token opens its own user's data and nothing else: of every
// operation, with its user's id, another user's of the team, and one that
// nobody has.
func TestAPhoneReachesItsOwnUsersDataOnly(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	mine, others := s.fixture(t), &fixture{ids: map[string]string{}}
	others.ids["user_id"] = s.field(t, "POST", "/v2/user", `{"client_user_id":"somebody-else"}`, "user_id")
	s.sessions(t, others)
	signIn := s.field(t, "POST", "/v2/user/"+mine.ids["user_id"]+"/sign_in_token", "", "sign_in_token")
	token := s.field(t, "POST", "/v2/link/exchange", `{"sign_in_token":"`+signIn+`"}`, "access_token")
	before := s.dataOf(t, others)
	opened := 0
	for _, o := range s.doc.operations {
		if o.Public {
			continue
		}
		own, foreign, nobody := mine.known(), mine.known(), mine.known()
		refused := http.StatusForbidden
		named := []string{"user_id"}
		if ofSessions(o) {
			refused, named = http.StatusNotFound, []string{"workout_id", "sleep_id"}
		}
		for _, name := range named {
			foreign[name], nobody[name] = others.ids[name], unknownLike(others.ids[name])
		}
		status := func(values map[string]string) int {
			r := s.whole(t, o, values)
			r.headers["authorization"] = "Bearer " + token
			got := s.send(t, r, "")
			s.judge(t, o, r, got)
			return got.status
		}
		if got := status(own); forPhones(o) {
			opened++
			if got == http.StatusForbidden || got == http.StatusUnauthorized {
				t.Errorf("%v for its own user was answered %d", o, got)
			}
		} else if got != http.StatusForbidden {
			t.Errorf("%v, which is not for phones, was answered %d", o, got)
		}
		for _, values := range []map[string]string{foreign, nobody} {
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

// dataOf is what the team reads of one user's data.
func (s *service) dataOf(t *testing.T, f *fixture) string {
	t.Helper()
	var all strings.Builder
	for _, o := range s.doc.operations {
		if o.Method == http.MethodGet && forPhones(o) {
			got := s.send(t, s.whole(t, o, f.known()), s.Key)
			fmt.Fprintf(&all, "%v %d %s\n", o, got.status, steady(got.body))
		}
	}
	return all.String()
}
