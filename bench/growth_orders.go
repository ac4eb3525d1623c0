package main

// orderCalls are calls about orders. The paths and bodies contain these names in braces:
//
//   - {id}: an order
//   - {transaction}, {user}, {name}: its transaction, its user and its patient's name
//   - {page}: the number of a page of all orders
//   - {order}, {scheduled}: the body of an order, and of one that starts later
//   - {day}: a day in some weeks
//   - {n}: a number
//
// The other names are those of kept values.
var orderCalls = []growthCall{
	post("an order with results", "/v3/order", "{order}").keep("reported", "order.id").keep("reported_transaction", "order.order_transaction.id").keep("patient", "order.user_id").once(),
	post("an order that starts later", "/v3/order", "{scheduled}").keep("later", "order.id").once(),
	post("a critical result", "/v3/order/{reported}/test", `{"interpretation":"critical"}`).once(),
	get("wait for the result", "/v3/order/{reported}").until("last_event.status", ".completed").once(),

	get("get an order", "/v3/order/{id}"),
	get("list orders, newest first", "/v3/orders"),
	get("list orders of a user", "/v3/orders?user_id={user}"),
	get("list orders by status", "/v3/orders?status=completed"),
	get("list orders by a name", "/v3/orders?patient_name={name}"),
	get("list orders, any page", "/v3/orders?page={page}"),
	get("transaction of an order", "/v3/order_transaction/{transaction}"),
	get("messages to the patient", "/v3/order/{id}/communication_settings"),
	get("order, FHIR", "/v3/order/{reported}/fhir"),
	get("result of an order", "/v3/order/{reported}/result"),
	get("result metadata", "/v3/order/{reported}/result/metadata"),
	get("revisions of a result", "/v3/order/{reported}/result/revisions"),
	get("result, PDF", "/v3/order/{reported}/result/pdf"),
	get("result of a transaction", "/v3/order_transaction/{reported_transaction}/result"),
	get("result of a transaction, PDF", "/v3/order_transaction/{reported_transaction}/result/pdf"),
	get("lab results of a user", "/v2/user/{patient}/lab_results"),
	get("lab results of a user, FHIR", "/v2/user/{patient}/lab_results/fhir"),
	get("critical results", "/v3/critical_result"),
	get("report uploads", "/lab_report/v1/parser/job"),
	get("area of a ZIP code", "/v3/order/area/info?zip_code=85004"),
	get("service centers of a ZIP code", "/v3/order/psc/info?zip_code=85004&lab_id=2"),
	post("free times of a phlebotomist", "/v3/order/phlebotomy/appointment/availability", `{"first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip_code":"85004"}`),
	get("reasons to cancel a phlebotomist", "/v3/order/phlebotomy/appointment/cancellation-reasons"),
	get("reasons to cancel a service center", "/v3/order/psc/appointment/cancellation-reasons"),
	get("settings of appointments", "/v2/team/appointment_settings"),
	patch("change settings of appointments", "/v2/team/appointment_settings", `{"scheduling_enabled":true}`),
	get("physicians", "/v2/team/{team}/physicians"),
	put("set the clinic", "/v2/team/practice", clinic),
	get("clinics", "/v2/team/practice"),
	del("remove the clinic", "/v2/team/practice").after(put("a clinic", "/v2/team/practice", clinic)),
	get("payors", "/v3/insurance/search/payor?insurance_name=aetna"),
	post("payors, by body", "/v3/insurance/search/payor", `{"insurance_name":"aetna"}`),
	post("create a payor", "/v3/payor", `{"name":"Example Mutual {n}","address":{"first_line":"5 Insurer Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US"}}`),
	post("validate diagnoses", "/v3/insurance/validate_icd_codes", `{"codes":["E11.9"]}`),
	get("diagnoses", "/v3/insurance/search/diagnosis?diagnosis_query=diabetes"),
	post("compendium", "/v3/compendium/search", `{"mode":"crosswalk","query":"lipid panel"}`),
	get("lab tests, pages", "/v3/lab_tests"),
	get("markers", "/v3/lab_tests/markers"),
	get("laboratories", "/v3/lab_tests/labs"),
	get("lab accounts", "/v3/lab_test/lab_account"),
	get("lab tests", "/v3/lab_test"),
	post("orderable tests of a laboratory", "/v3/compendium/search_orderable_tests", `{"target_lab":"labcorp","provider_ids":["70002"]}`),
	post("markers of an order set", "/v3/lab_tests/list_order_set_markers", `{"add_on":{"provider_ids":["70002"]}}`),
	get("marker of a laboratory", "/v3/lab_tests/2/markers/70002"),
	get("review queue", "/v3/unmatched_result"),
	get("messages", "/v2/team/outbox?order_id={id}"),
	get("jobs", "/v2/jobs"),
	get("events, first page", "/v2/events"),
	get("audit log", "/v2/audit"),
	get("webhooks", "/v2/webhooks"),
	post("create an order", "/v3/order", "{order}").keep("created", "order.id"),
	post("create an order, other path", "/v3/order/create", "{order}").keep("drawn", "order.id"),
	patch("change the day of an order", "/v3/order/{later}", `{"activate_by":"{day}"}`),
	patch("change messages to the patient", "/v3/order/{created}/communication_settings", `{"sms_enabled":false}`),
	post("send events again", "/v3/order/resend_events", `{"order_ids":["{id}"]}`),
	post("cancel an order", "/v3/order/{created}/cancel", ""),

	post("complete requisitions", "/v3/order/{drawn}/test?final_status=received.on_site_collection.requisition_created", "").prepare(),
	patch("complete a draw", "/v3/order/{drawn}/draw_completed", ""),
	post("an order for the laboratory", "/v3/order", "{order}").keep("scripted", "order.id").prepare(),
	post("run a scenario", "/v3/sandbox/order/{scripted}/run", `{"script":"success"}`),
	get("sandbox", "/v3/sandbox"),
	get("scenarios", "/v3/sandbox/scripts"),
	post("advance the sandbox", "/v3/sandbox/advance", `{"seconds":0}`),
	post("critical results", "/v3/order/{scripted}/test", `{"interpretation":"critical"}`).prepare(),
	get("wait for notices", "/v3/critical_result?limit=100").until("data.15.id", "").keep("notice", "data.*.id").once(),
	get("critical result", "/v3/critical_result/{notice}"),
	post("acknowledge a critical result", "/v3/critical_result/{notice}/acknowledge", `{"notified_person":"Dr. Example","read_back":true}`),

	post("a walk-in test", "/v3/lab_tests", labTest("walk_in_test", "70002", "quest")).keep("walk_test", "id").once(),
	patch("activate it", "/v3/lab_tests/{walk_test}", `{"active":true}`).once(),
	post("a test at home", "/v3/lab_tests", labTest("at_home_phlebotomy", "70002", "quest")).keep("home_test", "id").once(),
	patch("activate it", "/v3/lab_tests/{home_test}", `{"active":true}`).once(),
	post("a kit", "/v3/lab_tests", labTest("testkit", "US-050", "ussl")).keep("kit_test", "id").once(),
	patch("activate it", "/v3/lab_tests/{kit_test}", `{"active":true}`).once(),
	get("account of a laboratory", "/v3/lab_test/lab_account").keep("account", "data.lab=quest.id").once(),
	post("a patient", "/v2/user", `{"client_user_id":"patient-{n}"}`).keep("visitor", "user_id").prepare(),

	post("create a walk-in order", "/v3/order", `{"user_id":"{visitor}","lab_test_id":"{walk_test}",`+orderPeople+`}`).keep("walk", "order.id"),
	post("bring an order to a status", "/v3/order/{walk}/test?final_status=received.walk_in_test.requisition_created", ""),
	get("wait for a requisition", "/v3/order/{walk}").until("last_event.status", ".requisition_created"),
	get("link to a requisition", "/v3/order/{walk}").keep("token", "requisition_form_url token=").prepare(),
	get("requisition by its link", "/v3/requisition_form?token={token}"),
	get("requisition, PDF", "/v3/order/{walk}/requisition/pdf"),
	del("revoke links to a requisition", "/v3/order/{walk}/requisition_link"),
	get("labels, PDF", "/v3/order/{walk}/labels/pdf?collection_date=2026-03-01T12:00:00%2B00:00"),
	get("collection instructions, PDF", "/v3/order/{walk}/collection_instruction_pdf"),
	get("service centers of an order", "/v3/order/{walk}/psc/info"),
	post("free times of a service center", "/v3/order/psc/appointment/availability?lab=quest&zip_code=85004&radius=50&allow_stale=true", ""),
	post("times to book", "/v3/order/psc/appointment/availability?lab=quest&zip_code=85004&radius=50", "").keep("center_key", "slots.*.slots.*.booking_key").once(),
	post("book a service center", "/v3/order/{walk}/psc/appointment/book", `{"booking_key":"{center_key}"}`).times(30),
	get("appointment at a service center", "/v3/order/{walk}/psc/appointment").times(20),
	post("other times to book", "/v3/order/psc/appointment/availability?lab=quest&zip_code=85004&radius=50&start_date={day}", "").keep("other_center_key", "slots.*.slots.*.booking_key").once(),
	patch("reschedule a service center", "/v3/order/{walk}/psc/appointment/reschedule", `{"booking_key":"{other_center_key}"}`).times(20),
	patch("cancel a service center", "/v3/order/{walk}/psc/appointment/cancel", `{"cancellationReasonId":"226a6520-6fea-4c0e-8a4d-5f1c1f1a0101"}`).times(20),
	post("recreate an order", "/v3/order/{walk}/recreate", `{"update_reason":"INCORRECT_LAB"}`).times(20),

	post("create an order at home", "/v3/order", `{"user_id":"{visitor}","lab_test_id":"{home_test}",`+orderPeople+`}`).keep("home", "order.id"),
	post("bring it to its requisition", "/v3/order/{home}/test?final_status=received.at_home_phlebotomy.requisition_created", "").prepare(),
	get("wait for a requisition at home", "/v3/order/{home}").until("last_event.status", ".requisition_created"),
	post("visits to book", "/v3/order/phlebotomy/appointment/availability", visitedAddress).keep("visit_key", "slots.*.slots.*.booking_key").once(),
	post("book a phlebotomist", "/v3/order/{home}/phlebotomy/appointment/book", `{"booking_key":"{visit_key}"}`).times(30),
	get("visit of a phlebotomist", "/v3/order/{home}/phlebotomy/appointment").times(20),
	post("other visits to book", "/v3/order/phlebotomy/appointment/availability?start_date={day}", visitedAddress).keep("other_visit_key", "slots.*.slots.*.booking_key").once(),
	patch("reschedule a phlebotomist", "/v3/order/{home}/phlebotomy/appointment/reschedule", `{"booking_key":"{other_visit_key}"}`).times(20),
	patch("cancel a phlebotomist", "/v3/order/{home}/phlebotomy/appointment/cancel", `{"cancellation_reason_id":"5c0257ef-6fea-4c0e-8a4d-5f1c1f1a0001"}`).times(20),
	post("request a phlebotomist", "/v3/order/{home}/phlebotomy/appointment/request", `{"provider":"phlebfinders","address":{"first_line":"1 Main Street","city":"Onalaska","state":"WI","zip_code":"54650"}}`).times(20),

	post("order a kit", "/v3/order/testkit", `{"user_id":"{visitor}","lab_test_id":"{kit_test}","shipping_details":`+orderAddress+`}`).keep("kit_sample", "order.sample_id"),
	post("register a kit", "/v3/order/testkit/register", `{"sample_id":"{kit_sample}",`+orderPeople+`}`),
	post("import an order", "/v3/order/import", `{"user_id":"{visitor}","sample_id":"IMPORTED-{n}","lab_account_id":"{account}","billing_type":"client_bill","collection_method":"walk_in_test",
		"order_set":{"lab_test_ids":["{walk_test}"]},`+orderPeople+`}`),

	get("cases of unmatched results", "/v3/unmatched_result_test/case"),
	post("rehearse an unmatched result", "/v3/unmatched_result_test", rehearsal).header("x-idempotency-key: try-{n}").keep("rehearsed", "run_id").times(40),
	get("a rehearsal", "/v3/unmatched_result_test/{rehearsed}"),
	get("wait for a rehearsal", "/v3/unmatched_result_test/{rehearsed}").until("raw_result_id", "").keep("raw_result", "raw_result_id"),
	get("unmatched result", "/v3/unmatched_result/{raw_result}"),
	post("an order for a result", "/v3/order", "{order}").keep("target", "order.id").prepare(),
	post("accept an unmatched result", "/v3/unmatched_result/{raw_result}/accept", `{"order_id":"{target}","confirm_identity":true}`),
	post("rehearse again", "/v3/unmatched_result_test", rehearsal).header("x-idempotency-key: again-{n}").keep("again", "run_id").times(40).prepare(),
	get("wait again", "/v3/unmatched_result_test/{again}").until("raw_result_id", "").keep("other_result", "raw_result_id"),
	post("resolve an unmatched result", "/v3/unmatched_result/{other_result}/resolve", `{"action":"unsure"}`),

	post("create a lab test", "/v3/lab_tests", labTest("walk_in_test", "70002", "quest")).keep("new_test", "id"),
	get("lab test", "/v3/lab_tests/{new_test}"),
	patch("change a lab test", "/v3/lab_tests/{new_test}", `{"name":"Annual check {n}"}`),
	get("markers of a lab test", "/v3/lab_tests/{new_test}/markers"),
	get("collection instructions of a lab test, PDF", "/v3/lab_test/{new_test}/collection_instruction_pdf"),
	post("convert a lab test", "/v3/compendium/convert", `{"lab_test_id":"{new_test}","target_lab":"labcorp"}`),
}

const (
	orderPeople = `"patient_details":{"first_name":"Ada","last_name":"Example","dob":"1984-12-10","gender":"female","phone_number":"+14155550132","email":"a@example.org"},
		"patient_address":` + orderAddress
	orderAddress   = `{"receiver_name":"Ada Example","first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US","phone_number":"+14155550132"}`
	visitedAddress = `{"first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip_code":"85004"}`
	clinic         = `{"name":"Clinic {n}","address":{"first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip":"85004"},"phone_number":"+16025550100"}`
	rehearsal      = `{"case":"no_match","order_source":"managed"}`
)

// labTest returns the body of a lab test with one marker.
func labTest(method, marker, lab string) string {
	return `{"name":"Panel","description":"","method":"` + method + `","provider_ids":["` + marker + `"],"lab_slug":"` + lab + `"}`
}
