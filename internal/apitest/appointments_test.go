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

// booking describes the requests for one kind of appointment.
type booking struct {
	method, path                     string // of the order's test; the path below the order
	slotsPath, slotsBody, cancelBody string // path and body for free times; body of a cancellation
}

var bookings = []booking{
	{"at_home_phlebotomy", "/phlebotomy/appointment", "/v3/order/phlebotomy/appointment/availability", visitedAddress, `{"cancellation_reason_id":"5c0257ef-6fea-4c0e-8a4d-5f1c1f1a0001"}`},
	{"walk_in_test", "/psc/appointment", "/v3/order/psc/appointment/availability?lab=quest&zip_code=85004&radius=50&allow_stale=true", "", `{"cancellationReasonId":"226a6520-6fea-4c0e-8a4d-5f1c1f1a0101"}`},
}

// The fixture has no appointments, because its lab accepts no orders. Here the
// sandbox's lab does. Another team's appointments and booking keys get the same answers
// as unknown ones, and are not changed.
func TestAnotherTeamsAppointmentIsUnknown(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		theirs := start(t, d, func(o *app.Options) { o.Networks = nil })
		us := theirs.newTeam("Us")
		us.appointments(t)
		for _, b := range bookings {
			order := theirs.createVisitOrder(t, b.method)
			keys := theirs.bookingKeys(t, b)
			path := "/v3/order/" + order + b.path
			theirs.requestObject(t, "POST", path+"/book", `{"booking_key":"`+keys[0]+`"}`)
			before := theirs.requestOK(t, "GET", path, "")
			mine := us.createVisitOrder(t, b.method)
			for _, x := range []struct{ method, path, body string }{
				{"GET", "", ""},
				{"PATCH", "/cancel", b.cancelBody},
				{"POST", "/book", `{"booking_key":"` + us.bookingKeys(t, b)[0] + `"}`},
				{"PATCH", "/reschedule", `{"booking_key":"` + us.bookingKeys(t, b)[1] + `"}`},
			} {
				us.checkSameAnswer(t, x.method, "/v3/order/%s"+b.path+x.path, x.body, order, unknownLike(order), http.StatusNotFound)
			}
			us.checkSameAnswer(t, "POST", "/v3/order/"+mine+b.path+"/book", `{"booking_key":"%s"}`, keys[1], "no-key-at-all", http.StatusBadRequest)
			if after := theirs.requestOK(t, "GET", path, ""); !bytes.Equal(before, after) {
				t.Errorf("%s: %s\nbecame %s", b.method, before, after)
			}
			theirs.requestObject(t, "PATCH", path+"/reschedule", `{"booking_key":"`+keys[1]+`"}`) // which works for the own team
			theirs.requestObject(t, "PATCH", path+"/cancel", b.cancelBody)
		}
	})
}

// checkSameAnswer sends a request twice, with each of two values in place of %s, and requires
// equal answers.
func (s *service) checkSameAnswer(t *testing.T, method, path, body, theirs, unknown string, status int) {
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

// createVisitOrder creates an order for which an appointment can be booked.
func (s *service) createVisitOrder(t *testing.T, method string) (order string) {
	t.Helper()
	s.appointments(t)
	return s.acceptedOrder(t, s.activeTest(t, `{"name":"Visit","description":"","method":"`+method+`","provider_ids":["70002"],"lab_slug":"quest"}`), method)
}

// acceptedOrder creates an order of a lab test that the lab has accepted.
func (s *service) acceptedOrder(t *testing.T, test, method string) (order string) {
	t.Helper()
	user := s.requestField(t, "POST", "/v2/user", `{"client_user_id":"`+newUserName()+`"}`, "user_id")
	made := s.requestObject(t, "POST", "/v3/order", fmt.Sprintf(`{"user_id":%q,"lab_test_id":%q,%s}`, user, test, orderPeople))
	order = made["order"].(map[string]any)["id"].(string)
	s.requestObject(t, "POST", "/v3/order/"+order+"/test?final_status=received."+method+".requisition_created", "")
	waitUntil(t, "the requisition", func() bool {
		last := s.requestObject(t, "GET", "/v3/order/"+order, "")["last_event"].(map[string]any)
		return strings.HasSuffix(last["status"].(string), ".requisition_created")
	})
	return order
}

// bookingKeys returns booking keys of some free times.
func (s *service) bookingKeys(t *testing.T, b booking) (keys []string) {
	t.Helper()
	days, _ := s.requestObject(t, "POST", b.slotsPath, b.slotsBody)["slots"].([]any)
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
