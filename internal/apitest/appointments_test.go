package apitest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hale/internal/app"
	"hale/internal/platform/store/storetest"
)

// booking is how one kind of appointment is made and called off.
type booking struct {
	method, path     string // of the order; behind it
	ask, where, call string // for free times, and to call the appointment off
}

var bookings = []booking{
	{"at_home_phlebotomy", "/phlebotomy/appointment", "/v3/order/phlebotomy/appointment/availability", visitedAddress, `{"cancellation_reason_id":"5c0257ef-6fea-4c0e-8a4d-5f1c1f1a0001"}`},
	{"walk_in_test", "/psc/appointment", "/v3/order/psc/appointment/availability?lab=quest&zip_code=85004&radius=50&allow_stale=true", "", `{"cancellationReasonId":"226a6520-6fea-4c0e-8a4d-5f1c1f1a0101"}`},
}

// The fixture has no appointments, since its lab takes no orders. Here the
// sandbox's does, and another team's appointments and booking keys are unknown
// ones: nothing tells them apart, and nothing happens to them.
func TestAnotherTeamsAppointmentIsAnUnknownOne(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		theirs := start(t, d, func(o *app.Options) { o.Networks = nil })
		us := theirs.another("Us")
		us.appointments(t)
		for _, b := range bookings {
			order := theirs.visitable(t, b.method)
			keys := theirs.keys(t, b)
			path := "/v3/order/" + order + b.path
			theirs.make(t, "POST", path+"/book", `{"booking_key":"`+keys[0]+`"}`)
			before := theirs.good(t, "GET", path, "")
			mine := us.visitable(t, b.method)
			for _, x := range []struct{ method, path, body string }{
				{"GET", "", ""},
				{"PATCH", "/cancel", b.call},
				{"POST", "/book", `{"booking_key":"` + us.keys(t, b)[0] + `"}`},
				{"PATCH", "/reschedule", `{"booking_key":"` + us.keys(t, b)[1] + `"}`},
			} {
				us.same(t, x.method, "/v3/order/%s"+b.path+x.path, x.body, order, unknownLike(order), http.StatusNotFound)
			}
			us.same(t, "POST", "/v3/order/"+mine+b.path+"/book", `{"booking_key":"%s"}`, keys[1], "no-key-at-all", http.StatusBadRequest)
			if after := theirs.good(t, "GET", path, ""); !bytes.Equal(before, after) {
				t.Errorf("%s: %s\nbecame %s", b.method, before, after)
			}
			theirs.make(t, "PATCH", path+"/reschedule", `{"booking_key":"`+keys[1]+`"}`) // which works for those whose it is
			theirs.make(t, "PATCH", path+"/cancel", b.call)
		}
	})
}

// same sends a request twice, once for each of two values where %s stands, and
// wants one answer.
func (s *service) same(t *testing.T, method, path, body, theirs, unknown string, status int) {
	t.Helper()
	var answers [2]answer
	for i, value := range []string{unknown, theirs} {
		fill := func(text string) string { return strings.ReplaceAll(text, "%s", value) }
		r := request{method: method, path: fill(path), headers: map[string]string{"x-idempotency-key": fmt.Sprint("key-", count.Add(1))}}
		if body != "" {
			r.body, r.headers["content-type"] = []byte(fill(body)), "application/json"
		}
		answers[i] = s.send(t, r, s.Key)
	}
	if answers[0].status != status || answers[1].status != status || !bytes.Equal(answers[0].body, answers[1].body) {
		t.Errorf("%s %s: unknown %d %s, theirs %d %s", method, path, answers[0].status, answers[0].body, answers[1].status, answers[1].body)
	}
}

// visitable makes an order that an appointment can be made for.
func (s *service) visitable(t *testing.T, method string) (order string) {
	t.Helper()
	s.appointments(t)
	user := s.field(t, "POST", "/v2/user", `{"client_user_id":"`+somebody()+`"}`, "user_id")
	test := s.activeTest(t, `{"name":"Visit","description":"","method":"`+method+`","provider_ids":["70002"],"lab_slug":"quest"}`)
	made := s.make(t, "POST", "/v3/order", fmt.Sprintf(`{"user_id":%q,"lab_test_id":%q,%s}`, user, test, orderPeople))
	order = made["order"].(map[string]any)["id"].(string)
	s.make(t, "POST", "/v3/order/"+order+"/test?final_status=received."+method+".requisition_created", "")
	await(t, "the requisition", func() bool {
		last := s.make(t, "GET", "/v3/order/"+order, "")["last_event"].(map[string]any)
		return strings.HasSuffix(last["status"].(string), ".requisition_created")
	})
	return order
}

// keys are booking keys of some free times.
func (s *service) keys(t *testing.T, b booking) (keys []string) {
	t.Helper()
	days, _ := s.make(t, "POST", b.ask, b.where)["slots"].([]any)
	for _, day := range days {
		for _, slot := range day.(map[string]any)["slots"].([]any) {
			keys = append(keys, slot.(map[string]any)["booking_key"].(string))
		}
	}
	if len(keys) < 2 {
		t.Fatalf("%d free times", len(keys))
	}
	return keys[len(keys)/2:]
}
