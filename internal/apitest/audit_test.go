package apitest

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/platform/store/storetest"
)

// namedElsewhere are the operations about a person, without that person in the address. The
// row of the audit log must name the person, who has a right to a list of the accesses.
// Reads come first, because the others change the objects.
var namedElsewhere = []string{
	"GET /v3/order/{order_id}",
	"GET /v3/orders",
	"GET /v3/order/{order_id}/communication_settings",
	"GET /v3/order/{order_id}/psc/info",
	"GET /v3/order/{order_id}/result",
	"GET /v3/order/{order_id}/result/metadata",
	"GET /v3/order/{order_id}/result/revisions",
	"GET /v3/order/{order_id}/result/pdf",
	"GET /v3/order/{order_id}/requisition/pdf",
	"GET /v3/order/{order_id}/labels/pdf",
	"GET /v3/order/{order_id}/abn_pdf",
	"GET /v3/order/{order_id}/collection_instruction_pdf",
	"GET /v3/order_transaction/{transaction_id}",
	"GET /v3/order_transaction/{transaction_id}/result",
	"GET /v3/order_transaction/{transaction_id}/result/pdf",
	"GET /v3/critical_result",
	"GET /v3/critical_result/{critical_result_id}",
	"GET /v3/unmatched_result",
	"GET /v3/unmatched_result/{raw_result_id}",
	"GET /lab_report/v1/parser/job",
	"GET /lab_report/v1/parser/job/{job_id}",
	"GET /lab_report/v1/parser/job/{job_id}/review",
	"GET /lab_report/v1/parser/job/{job_id}/page/{page}",
	"GET /v2/team/outbox",
	"GET /v2/timeseries/sleep/{sleep_id}/stream",
	"GET /v2/timeseries/workouts/{workout_id}/stream",
	"GET /v2/user",
	"GET /v2/events",
	"POST /v2/timeseries",
	"POST /lab_report/v1/parser/job",
	"POST /lab_report/v1/parser/job/{job_id}/review",
	"POST /v3/critical_result/{critical_result_id}/acknowledge",
	"POST /v3/unmatched_result/{raw_result_id}/accept",
	"POST /v3/unmatched_result/{raw_result_id}/resolve", // after the decision: refused
	"PATCH /v3/order/{order_id}/communication_settings",
	"DELETE /v3/order/{order_id}/requisition_link",
	"POST /v3/order/resend_events with order_ids[]",
	"POST /v3/order",
	"POST /v3/order/testkit",
	"POST /v3/order/{order_id}/cancel",
}

// accessRows returns the rows of the audit log of one request, by its name of the caller's
// user.
func (s *service) accessRows(t *testing.T, name string) (people []string) {
	t.Helper()
	waitUntil(t, "a row of the audit log for "+name, func() bool {
		var page struct {
			Accesses []struct {
				User *string `json:"user_id"`
			}
		}
		s.get(t, "/v2/audit?limit=500&on_behalf_of="+name, &page)
		people = nil
		for _, row := range page.Accesses {
			person := "none"
			if row.User != nil {
				person = *row.User
			}
			people = append(people, person)
		}
		return len(people) > 0
	})
	return people
}

func TestAuditRowsNameThePerson(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	f := s.fixture(t)
	for i, name := range namedElsewhere {
		t.Run(name, func(t *testing.T) {
			o, with := s.operationAndPlaces(t, name)
			r := s.minimalRequest(t, o, f.valuesFor(o), with...)
			caller := fmt.Sprint("caller-", i)
			r.headers["x-hale-on-behalf-of"] = caller
			if got := s.send(t, r, s.Key); got.status >= 500 || got.status == http.StatusUnprocessableEntity {
				t.Fatalf("%v: %d %.300s", r, got.status, got.body)
			}
			people := s.accessRows(t, caller)
			if n := len(people); !slices.Contains(people, f.ids["user_id"]) || len(slices.Compact(slices.Sorted(slices.Values(people)))) != n {
				t.Errorf("%v: the rows name %v, want %s once", r, people, f.ids["user_id"])
			}
		})
	}
}

// operationAndPlaces returns an operation of the document, and the place that its name in
// validBodies sets.
func (s *service) operationAndPlaces(t *testing.T, name string) (operation, []place) {
	t.Helper()
	for _, o := range s.doc.operations {
		if o.String() == name {
			return o, nil
		}
		if at := o.String() + " with order_ids[]"; at == name {
			return o, []place{{"body", "order_ids[]"}}
		}
	}
	t.Fatalf("the document has no %s", name)
	return operation{}, nil
}

// The rows of all operations with appointments name the patient.
func TestAuditRowsOfAppointmentsNameThePerson(t *testing.T) {
	s := start(t, storetest.NewSQLite(t), func(o *app.Options) { o.Networks = nil })
	for _, b := range bookings {
		order := s.createVisitOrder(t, b.method)
		var body struct {
			UserID string `json:"user_id"`
		}
		s.get(t, "/v3/order/"+order, &body)
		keys := s.bookingKeys(t, b)
		for _, x := range []struct{ method, path, body string }{
			{"POST", "/book", `{"booking_key":"` + keys[0] + `"}`},
			{"GET", "", ""},
			{"PATCH", "/reschedule", `{"booking_key":"` + keys[1] + `"}`},
			{"PATCH", "/cancel", b.cancelBody},
		} {
			caller := fmt.Sprint("caller-", time.Now().UnixNano())
			r := request{method: x.method, path: "/v3/order/" + order + b.path + x.path, headers: map[string]string{"x-hale-on-behalf-of": caller}}
			if x.body != "" {
				r.body, r.headers["content-type"] = []byte(x.body), "application/json"
			}
			if got := s.send(t, r, s.Key); got.status/100 != 2 {
				t.Fatalf("%v: %d %.300s", r, got.status, got.body)
			}
			if people := s.accessRows(t, caller); len(people) != 1 || people[0] != body.UserID {
				t.Errorf("%v: the rows name %v, want %s", r, people, body.UserID)
			}
		}
	}
}
