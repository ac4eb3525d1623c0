package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hale/internal/app/apptest"
	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store/storetest"
)

// taggedAnswer is an answer with its ETag.
type taggedAnswer struct {
	status int
	tag    string
	header http.Header
	body   string
}

func askTagged(t *testing.T, s *apptest.Service, method, path, body string, headers ...string) taggedAnswer {
	t.Helper()
	res := s.Do(method, path, body, headers...)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return taggedAnswer{res.StatusCode, res.Header.Get("ETag"), res.Header, string(text)}
}

// want requires a status and returns the answer.
func (a taggedAnswer) want(t *testing.T, status int, words ...string) taggedAnswer {
	t.Helper()
	if a.status != status {
		t.Fatalf("%d, not %d: %s", a.status, status, a.body)
	}
	for _, word := range words {
		if !strings.Contains(a.body, word) {
			t.Errorf("%q is not in %s", word, a.body)
		}
	}
	return a
}

const preconditionFailed = `"code":"precondition_failed"`

// A user has an ETag that changes with the user and its connections. Conditions guard
// each change of it.
func TestVersionsOfAUser(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		ask := func(method, path, body string, headers ...string) taggedAnswer {
			t.Helper()
			return askTagged(t, s, method, path, body, headers...)
		}
		created := ask("POST", "/v2/user", `{"client_user_id":"a"}`).want(t, 200)
		var user struct {
			ID string `json:"user_id"`
		}
		if err := json.Unmarshal([]byte(created.body), &user); err != nil {
			t.Fatal(err)
		}
		path := "/v2/user/" + user.ID
		first := ask("GET", path, "").want(t, 200)
		if len(first.tag) != 26 || first.tag != created.tag || ask("GET", "/v2/user/resolve/a", "").tag != first.tag || ask("GET", path, "").tag != first.tag {
			t.Fatalf("the tags of one version differ: %s, created %s", first.tag, created.tag)
		}
		same := ask("GET", path, "", "If-None-Match", `"other", W/`+first.tag).want(t, 304)
		if same.body != "" || same.tag != first.tag || same.header.Get("Content-Type") != "" {
			t.Errorf("304 has %q, %v", same.body, same.header)
		}
		ask("HEAD", path, "", "If-None-Match", "*").want(t, 304)
		ask("GET", path, "", "If-None-Match", `"other"`).want(t, 200, user.ID)
		ask("GET", path, "", "If-Match", `"other"`).want(t, 412, preconditionFailed)
		ask("GET", path, "", "If-Match", first.tag).want(t, 200)

		patched := ask("PATCH", path, `{"fallback_time_zone":"Europe/Helsinki"}`, "If-Match", first.tag).want(t, 200, "User updated")
		second := ask("GET", path, "").want(t, 200, "Europe/Helsinki")
		if second.tag == first.tag || patched.tag != second.tag {
			t.Errorf("tags %s, after the change %s, in its answer %s", first.tag, second.tag, patched.tag)
		}
		ask("PATCH", path, `{"fallback_time_zone":"Asia/Tokyo"}`, "If-Match", first.tag).want(t, 412, preconditionFailed)
		ask("PATCH", path, `{"fallback_time_zone":"Asia/Tokyo"}`, "If-Match", "W/"+second.tag).want(t, 412, preconditionFailed)
		ask("PATCH", path, `{"fallback_time_zone":"Asia/Tokyo"}`, "If-None-Match", "*").want(t, 412, preconditionFailed)
		ask("PATCH", path, `{"fallback_time_zone":"Asia/Tokyo"}`, "If-Match", "no quotes").want(t, 422, `["header","If-Match"]`)
		ask("GET", path, "", "If-None-Match", "no quotes").want(t, 422, `["header","If-None-Match"]`)
		ask("DELETE", path, "", "If-Match", first.tag).want(t, 412, preconditionFailed)
		if got := ask("GET", path, "").want(t, 200); got.body != second.body || got.tag != second.tag {
			t.Errorf("refused changes changed\n%s to\n%s", second.body, got.body)
		}

		ask("POST", "/v2/timeseries/"+user.ID+"/heartrate", `{"stage":"daily","provider":"apple_health_kit","time_zone":"UTC","data":[{"timestamp":"2026-01-02T03:04:05+00:00","value":60}]}`).want(t, 200)
		connected := ask("GET", path, "").want(t, 200, "apple_health_kit")
		if connected.tag == second.tag {
			t.Error("a connection does not change the tag")
		}
		ask("DELETE", path+"/apple_health_kit", "", "If-Match", second.tag).want(t, 412, preconditionFailed)
		ask("DELETE", path+"/apple_health_kit", "", "If-Match", connected.tag).want(t, 200)
		if got := ask("GET", path, "").want(t, 200); got.tag != second.tag {
			t.Error("the user is as before, and its tag differs")
		}

		// Ids of others and unknown ones look the same. Other operations refuse If-Match.
		other := s.NewTeam("other")
		theirs := askTagged(t, other, "PATCH", path, `{}`, "If-Match", second.tag).want(t, 404)
		unknown := askTagged(t, other, "PATCH", "/v2/user/019f0000-0000-7000-8000-000000000000", `{}`, "If-Match", second.tag).want(t, 404)
		if theirs.body != unknown.body {
			t.Errorf("another team's user: %s, an unknown one: %s", theirs.body, unknown.body)
		}
		ask("PATCH", "/v2/user/x", `{}`, "If-Match", second.tag).want(t, 422, `["path","user_id"]`)
		ask("POST", "/v2/user", `{"client_user_id":"b"}`, "If-Match", "*").want(t, 422, `["header","If-Match"]`)
		ask("GET", "/v2/user", "", "If-None-Match", second.tag).want(t, 200)

		ask("PATCH", path, `{}`, "If-Match", "*").want(t, 200)
		ask("DELETE", path, "", "If-Match", `"old", `+second.tag).want(t, 200)
		ask("PATCH", path, `{}`, "If-Match", "*").want(t, 404)
	})
}

// Of simultaneous changes of one version, exactly one happens.
func TestOneOfManyChangesOfAVersionHappens(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		var user struct {
			ID string `json:"user_id"`
		}
		s.Expect(200, "POST", "/v2/user", `{"client_user_id":"a"}`, &user)
		path := "/v2/user/" + user.ID
		const writers = 4
		for round := range 5 {
			tag := askTagged(t, s, "GET", path, "").want(t, 200).tag
			var done, refused atomic.Int32
			var all sync.WaitGroup
			for i := range writers { // no two write the same, which would be no change
				all.Go(func() {
					switch code, text := s.Call("PATCH", path, fmt.Sprintf(`{"client_user_id":"%d-%d"}`, round, i), "If-Match", tag); code {
					case 200:
						done.Add(1)
					case 412:
						refused.Add(1)
					default:
						t.Errorf("%d: %s", code, text)
					}
				})
			}
			all.Wait()
			if done.Load() != 1 || int(refused.Load()) != writers-1 {
				t.Errorf("round %d: %d changes happened, %d were refused", round, done.Load(), refused.Load())
			}
		}
	})
}

// An order has an ETag that changes with its events and not with the links of an
// answer. Conditions guard its actions, and a repeated request gets its first answer.
func TestVersionsOfAnOrder(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		ask := func(method, path, body string, headers ...string) taggedAnswer {
			t.Helper()
			return askTagged(t, c.Service, method, path, body, headers...)
		}
		o := c.order("at_home_phlebotomy")
		path := "/v3/order/" + o.ID
		before := ask("GET", path, "").want(t, 200)
		c.Expect(200, "POST", path+"/test?final_status=received.at_home_phlebotomy.requisition_created", ``, nil)
		c.until(o.ID, "received.at_home_phlebotomy.requisition_created")
		first := ask("GET", path, "").want(t, 200, "requisition_form_url")
		if first.tag == "" || first.tag == before.tag || ask("GET", path, "").tag != first.tag {
			t.Errorf("the tag was %s, is %s", before.tag, first.tag)
		}
		ask("GET", path, "", "If-None-Match", first.tag, "Accept-Encoding", "gzip").want(t, 304)
		var free freeTimes
		c.Expect(200, "POST", "/v3/order/phlebotomy/appointment/availability", `{"first_line":"1 West Lincoln Street","city":"Phoenix","state":"AZ","zip_code":"85004"}`, &free)
		visit := path + "/phlebotomy/appointment"
		for _, x := range []struct{ method, path, body string }{
			{"PATCH", path, `{"activate_by":null}`},
			{"POST", path + "/cancel", ""},
			{"PATCH", path + "/communication_settings", `{"sms_enabled":false}`},
			{"POST", visit + "/book", `{"booking_key":"` + free.key(9) + `"}`},
			{"POST", path + "/test?final_status=completed.at_home_phlebotomy.completed", ""},
			{"POST", "/v3/sandbox/order/" + o.ID + "/run", `{"script":"success"}`},
		} {
			if got := ask(x.method, x.path, x.body, "If-Match", before.tag); got.status != 412 || !strings.Contains(got.body, preconditionFailed) {
				t.Errorf("%s %s: %d %s", x.method, x.path, got.status, got.body)
			}
		}
		if got := ask("GET", path, ""); got.tag != first.tag {
			t.Errorf("refused actions changed the order to %s", got.body)
		}
		c.Expect(404, "GET", visit, "", nil)

		// 412 does not use up the idempotency key. A repeat after success gets the answer.
		booking := []string{"If-Match", before.tag, "Idempotency-Key", "one"}
		ask("POST", visit+"/book", `{"booking_key":"`+free.key(9)+`"}`, booking...).want(t, 412)
		booking[1] = first.tag
		booked := ask("POST", visit+"/book", `{"booking_key":"`+free.key(9)+`"}`, booking...).want(t, 200, "confirmed")
		again := ask("POST", visit+"/book", `{"booking_key":"`+free.key(9)+`"}`, booking...).want(t, 200)
		if again.body != booked.body || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("the repeat was answered %v %s", again.header, again.body)
		}
		second := ask("GET", path, "").want(t, 200)
		if second.tag == first.tag {
			t.Error("a booking does not change the tag of the order")
		}
		ask("POST", path+"/cancel", "", "If-Match", first.tag).want(t, 412)
		cancelled := ask("POST", path+"/cancel", "", "If-Match", second.tag).want(t, 200, "order cancelled")
		if last := ask("GET", path, ""); last.tag != cancelled.tag || last.tag == second.tag {
			t.Errorf("cancelled %s, read %s", cancelled.tag, last.tag)
		}
	})
}

// The stored answer of a creation has the same ETag.
func TestARepeatedCreationHasItsTag(t *testing.T) {
	s := apptest.Start(t, storetest.NewSQLite(t))
	first := askTagged(t, s, "POST", "/v2/user", `{"client_user_id":"a"}`, "Idempotency-Key", "one").want(t, 200)
	again := askTagged(t, s, "POST", "/v2/user", `{"client_user_id":"a"}`, "Idempotency-Key", "one").want(t, 200)
	if first.tag == "" || again.tag != first.tag || again.body != first.body {
		t.Errorf("%+v\n%+v", first, again)
	}
}
