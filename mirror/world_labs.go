package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"
)

var (
	patientDetails = object{"first_name": "Given", "last_name": "Family", "dob": "1984-05-17", "gender": "female", "phone_number": "+14155550123", "email": "person@example.com"}
	patientAddress = object{"receiver_name": "Given Family", "first_line": "1 Example Street", "city": "Phoenix", "state": "AZ", "zip": "85004", "country": "US", "phone_number": "+14155550123"}
)

func (w *world) add(a answer, user, method string) {
	if id := textField(a.body, "order", "id"); id != "" {
		w.mu.Lock()
		w.orders = append(w.orders, placedOrder{id, user, method, textField(a.body, "order", "sample_id")})
		w.mu.Unlock()
	}
}

func (w *world) order(ctx context.Context, r *rand.Rand) (int, error) {
	method, user := pick(r, []string{"walk_in_test", "at_home_phlebotomy", "testkit", "on_site_collection"}), w.user(r)
	p, known := w.products[method]
	if !known {
		return 0, nil
	}
	body := object{
		"user_id": user, "order_set": object{"lab_test_ids": []string{p.id}}, "collection_method": method, "aoe_answers": p.answers,
		"passthrough": keyOf(r), "patient_address": patientAddress, "patient_details": patientDetails,
	}
	if r.IntN(4) == 0 {
		body["activate_by"] = time.Now().UTC().AddDate(0, 0, 1+r.IntN(20)).Format(time.DateOnly)
	}
	status, a, err := w.send(ctx, http.MethodPost, "/v3/order", keyOf(r), body)
	w.add(a, user, method)
	return status, err
}

func (w *world) orderKit(ctx context.Context, r *rand.Rand) (int, error) {
	user := w.user(r)
	status, a, err := w.send(ctx, http.MethodPost, "/v3/order/testkit", keyOf(r), object{"user_id": user, "lab_test_id": w.products["testkit"].id, "shipping_details": patientAddress})
	w.add(a, user, "testkit")
	return status, err
}

func (w *world) registerKit(ctx context.Context, r *rand.Rand) (int, error) {
	o, _ := w.someOrder(r)
	if o.sample == "" {
		return 0, nil
	}
	body := object{"sample_id": o.sample, "patient_details": patientDetails, "patient_address": patientAddress}
	if r.IntN(3) == 0 {
		body["user_id"] = w.user(r)
	}
	status, _, err := w.send(ctx, http.MethodPost, "/v3/order/testkit/register", keyOf(r), body)
	return status, err
}

func (w *world) simulate(ctx context.Context, r *rand.Rand) (int, error) {
	o, ok := w.someOrder(r)
	if !ok {
		return 0, nil
	}
	final := pick(r, map[string][]string{
		"walk_in_test":       {"received.walk_in_test.requisition_created", "sample_with_lab.walk_in_test.partial_results", "completed.walk_in_test.completed", "completed.walk_in_test.corrected", "failed.walk_in_test.sample_error"},
		"at_home_phlebotomy": {"received.at_home_phlebotomy.requisition_created", "collecting_sample.at_home_phlebotomy.draw_completed", "completed.at_home_phlebotomy.completed"},
		"testkit":            {"collecting_sample.testkit.transit_customer", "collecting_sample.testkit.with_customer", "sample_with_lab.testkit.delivered_to_lab", "completed.testkit.completed", "failed.testkit.sample_error"},
		"on_site_collection": {"received.on_site_collection.requisition_created", "sample_with_lab.on_site_collection.draw_completed", "completed.on_site_collection.completed"},
	}[o.method])
	var body any
	if r.IntN(2) == 0 {
		body = object{"interpretation": pick(r, []string{"normal", "abnormal", "critical"}), "has_missing_results": r.IntN(3) == 0}
	}
	status, _, err := w.send(ctx, http.MethodPost, "/v3/order/"+o.id+"/test?final_status="+url.QueryEscape(final), "", body)
	return status, err
}

var scenarios = []string{
	"success", "abnormal", "critical", "missing_result", "partial_then_corrected", "hemolyzed", "quantity_not_sufficient",
	"late", "duplicated", "out_of_order", "wrong_patient", "lost_kit", "lost_sample", "undeliverable",
}

func (w *world) scenario(ctx context.Context, r *rand.Rand) (int, error) {
	o, ok := w.someOrder(r)
	if !ok {
		return 0, nil
	}
	status, _, err := w.send(ctx, http.MethodPost, "/v3/sandbox/order/"+o.id+"/run", "", object{"script": pick(r, scenarios)})
	return status, err
}

func (w *world) advance(ctx context.Context, r *rand.Rand) (int, error) {
	status, _, err := w.send(ctx, http.MethodPost, "/v3/sandbox/advance", "", object{"seconds": pick(r, []int{3600, 86400, 4 * 86400})})
	return status, err
}

func (w *world) cancelOrder(ctx context.Context, r *rand.Rand) (int, error) {
	return w.onOrder(ctx, r, http.MethodPost, "/cancel", nil)
}

func (w *world) recreateOrder(ctx context.Context, r *rand.Rand) (int, error) {
	return w.onOrder(ctx, r, http.MethodPost, "/recreate", object{"update_reason": "INCORRECT_LAB"})
}

func (w *world) changeOrder(ctx context.Context, r *rand.Rand) (int, error) {
	if r.IntN(2) == 0 {
		return w.onOrder(ctx, r, http.MethodPatch, "/communication_settings", object{"sms_enabled": r.IntN(2) == 0})
	}
	return w.onOrder(ctx, r, http.MethodPatch, "", object{"activate_by": pick(r, []any{nil, time.Now().UTC().AddDate(0, 0, r.IntN(30)).Format(time.DateOnly)})})
}

func (w *world) completeDraw(ctx context.Context, r *rand.Rand) (int, error) {
	return w.onOrder(ctx, r, http.MethodPatch, "/draw_completed", nil)
}

func (w *world) onOrder(ctx context.Context, r *rand.Rand, method, path string, body any) (int, error) {
	o, ok := w.someOrder(r)
	if !ok {
		return 0, nil
	}
	status, a, err := w.send(ctx, method, "/v3/order/"+o.id+path, keyOf(r), body)
	if path == "/recreate" && textField(a.body, "order", "id") != o.id {
		w.add(a, o.user, o.method)
	}
	return status, err
}

// book books a free time, or asks for a visit.
func (w *world) book(ctx context.Context, r *rand.Rand) (int, error) {
	o, ok := w.someOrder(r)
	if !ok || o.method != "at_home_phlebotomy" && o.method != "walk_in_test" {
		return 0, nil
	}
	visited := object{"first_line": "1 Main Street", "city": "Phoenix", "state": "AZ", "zip_code": "85004"}
	day := time.Now().UTC().AddDate(0, 0, 1+r.IntN(60)).Format(time.DateOnly)
	path := "/v3/order/phlebotomy/appointment/availability?start_date=" + day
	if o.method == "walk_in_test" {
		path, visited = "/v3/order/psc/appointment/availability?lab=quest&zip_code=85004&start_date="+day, nil
	} else if r.IntN(4) == 0 {
		asked := object{"first_line": "1 Main Street", "city": "Onalaska", "state": "WI", "zip_code": "54650"}
		return w.visit(ctx, r, o, "/request", object{"provider": "phlebfinders", "address": asked})
	}
	_, a, err := w.send(ctx, http.MethodPost, path, "", visited)
	if err != nil {
		return 0, err
	}
	slots := listField(pick(r, listField(a.body, "slots")), "slots")
	if len(slots) == 0 {
		return 0, nil
	}
	return w.visit(ctx, r, o, pick(r, []string{"/book", "/book", "/reschedule"}), object{"booking_key": pick(r, slots)["booking_key"]})
}

func (w *world) cancelVisit(ctx context.Context, r *rand.Rand) (int, error) {
	o, ok := w.someOrder(r)
	if !ok {
		return 0, nil
	}
	body := object{"cancellation_reason_id": "5330c863-6fea-4c0e-8a4d-5f1c1f1a0004"}
	if o.method == "walk_in_test" {
		body = object{"cancellationReasonId": "226a6520-6fea-4c0e-8a4d-5f1c1f1a0101"}
	}
	return w.visit(ctx, r, o, "/cancel", body)
}

func (w *world) visit(ctx context.Context, r *rand.Rand, o placedOrder, path string, body object) (int, error) {
	method := http.MethodPatch
	if slices.Contains([]string{"/book", "/request"}, path) {
		method = http.MethodPost
	}
	status, _, err := w.send(ctx, method, appointmentPath(o)+path, keyOf(r), body)
	return status, err
}

func appointmentPath(o placedOrder) string {
	if o.method == "at_home_phlebotomy" {
		return "/v3/order/" + o.id + "/phlebotomy/appointment"
	}
	return "/v3/order/" + o.id + "/psc/appointment"
}

func (w *world) resend(ctx context.Context, r *rand.Rand) (int, error) {
	o, ok := w.someOrder(r)
	if !ok {
		return 0, nil
	}
	status, _, err := w.send(ctx, http.MethodPost, "/v3/order/resend_events", "", object{"order_ids": []string{o.id}})
	return status, err
}
