package apitest

import "testing"

const visitedAddress = `{"first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip_code":"85004"}`

func init() {
	const visit, center = "/v3/order/{order_id}/phlebotomy/appointment", "/v3/order/{order_id}/psc/appointment"
	wholeBodies["POST /v3/order/phlebotomy/appointment/availability"] = visitedAddress
	for _, path := range []string{visit, center} {
		wholeBodies["POST "+path+"/book"] = `{"booking_key":"no-key-at-all"}`
		wholeBodies["PATCH "+path+"/reschedule"] = `{"booking_key":"no-key-at-all"}`
	}
	wholeBodies["POST "+visit+"/request"] = `{"provider":"phlebfinders","address":` + visitedAddress + `}`
	wholeBodies["PATCH "+visit+"/cancel"] = `{"cancellation_reason_id":"5c0257ef-6fea-4c0e-8a4d-5f1c1f1a0001"}`
	wholeBodies["PATCH "+center+"/cancel"] = `{"cancellationReasonId":"226a6520-6fea-4c0e-8a4d-5f1c1f1a0101"}`
	// Orders with appointments have a test of their own, in appointments_test.go.
	for _, operation := range []string{"GET " + visit, "POST " + visit + "/book", "POST " + visit + "/request", "PATCH " + visit + "/reschedule", "PATCH " + visit + "/cancel"} {
		indifferent[operation+" path order_id"] = "the order of the fixture is a walk-in, and not found like one that is not there"
	}
	indifferent["GET "+center+" path order_id"] = "the order of the fixture has no appointment, which is not found either"
	indifferent["PATCH "+center+"/reschedule path order_id"] = indifferent["GET "+center+" path order_id"]
	indifferent["PATCH "+center+"/cancel path order_id"] = indifferent["GET "+center+" path order_id"]
}

// appointments lets the team make appointments, whatever a request before has
// made of its settings.
func (s *service) appointments(t *testing.T) {
	t.Helper()
	s.make(t, "PATCH", "/v2/team/appointment_settings", `{"scheduling_enabled":true}`)
}
