package apitest

import (
	"fmt"
	"testing"
	"time"
)

const (
	orderPatient = `{"first_name":"Given","last_name":"Family","dob":"1984-05-17","gender":"female","phone_number":"+14155550123","email":"person@example.com"}`
	orderAddress = `{"receiver_name":"Given Family","first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US","phone_number":"+14155550123"}`
	orderPeople  = `"patient_details":` + orderPatient + `,"patient_address":` + orderAddress
)

func init() {
	wholeBodies["POST /v3/order"] = `{"user_id":"$user_id","lab_test_id":"$lab_test_id","lab_account_id":"$lab_account_id",` + orderPeople + `}`
	wholeBodies["POST /v3/order/create"] = wholeBodies["POST /v3/order"]
	wholeBodies["POST /v3/order/import"] = `{"user_id":"$user_id","sample_id":"IMPORTED-1","lab_account_id":"$lab_account_id","billing_type":"client_bill","collection_method":"walk_in_test","order_set":{"add_on":{"provider_ids":["70002"]}},` + orderPeople + `}`
	wholeBodies["POST /v3/order/testkit"] = `{"user_id":"$user_id","lab_test_id":"$kit_test_id","shipping_details":` + orderAddress + `}`
	wholeBodies["POST /v3/order/testkit/register"] = `{"sample_id":"$sample_id",` + orderPeople + `}`
	wholeBodies["POST /v3/order/resend_events"] = `{"start_at":"2026-01-01T00:00:00Z","end_at":"2026-01-02T00:00:00Z"}`
	wholeBodies["PATCH /v3/order/{order_id}"] = `{"activate_by":null}`
	chosen["POST /v3/order/import body sample_id"] = true
	indifferent["POST /v3/order/testkit body lab_test_id"] = "the lab test of the fixture is no kit, and so refused like one that is not there"
	indifferent["GET /v3/orders query order_transaction_id"] = "a list that finds nothing is an answer"
}

// orders makes an order, a kit that can be registered, and an order with
// results.
func (s *service) orders(t *testing.T, f *fixture) {
	t.Helper()
	made := s.make(t, "POST", "/v3/order", fmt.Sprintf(`{"user_id":%q,"lab_test_id":%q,"lab_account_id":%q,%s}`,
		f.ids["user_id"], f.ids["lab_test_id"], f.ids["lab_account_id"], orderPeople))
	order := made["order"].(map[string]any)
	f.ids["order_id"] = order["id"].(string)
	f.ids["transaction_id"] = order["order_transaction"].(map[string]any)["id"].(string)
	f.ids["order_transaction_id"] = f.ids["transaction_id"]
	test := s.make(t, "POST", "/v3/lab_tests", `{"name":"Kit","description":"","method":"testkit","provider_ids":["US-050"],"lab_slug":"ussl"}`)["id"].(string)
	s.make(t, "PATCH", "/v3/lab_tests/"+test, `{"active":true}`)
	f.ids["kit_test_id"] = test
	kit := s.make(t, "POST", "/v3/order/testkit", fmt.Sprintf(`{"user_id":%q,"lab_test_id":%q,"shipping_details":%s}`, f.ids["user_id"], test, orderAddress))
	f.ids["sample_id"] = kit["order"].(map[string]any)["sample_id"].(string)
	s.reported(t, f)
}

// settle waits until the fixture's work is done and stands still.
func (s *service) settle(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); s.atWork(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the work of a fixture does not end")
		}
	}
}

// atWork reports whether orders are still being handed over and spoken of,
// or results rehearsed, after which nothing changes any more by itself. A job
// that is due only later is not waited for.
func (s *service) atWork() bool {
	for _, kind := range []string{"orders.place", "orders.ship", "messages.send", "matching.match", "matching.drill"} {
		for _, status := range []string{"queued", "running"} {
			var page struct {
				Jobs []struct {
					RunAt time.Time `json:"run_at"`
				}
			}
			s.Get("/v2/jobs?kind="+kind+"&status="+status, &page)
			for _, job := range page.Jobs {
				if job.RunAt.Before(time.Now()) {
					return true
				}
			}
		}
	}
	return false
}
