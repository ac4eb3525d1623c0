package fault

import (
	"cmp"
	"errors"
	"slices"
)

// CodeOfInternal is the code of errors that are not faults.
const CodeOfInternal = "internal_error"

// Code is a code of errors for programs. docs/errors.md and the page of each operation
// show it.
type Code struct {
	Name   string
	Status int
	// Cause and Remedy are Markdown.
	Cause, Remedy string
}

// Statuses returns the statuses of answers with the code.
func (c Code) Statuses() []int {
	if other := otherStatuses[c.Name]; other != 0 {
		return []int{min(c.Status, other), max(c.Status, other)}
	}
	return []int{c.Status}
}

// otherStatuses has the second status of codes with two.
var otherStatuses = map[string]int{
	"client_user_id_taken": 409, // of a change; a creation has 400
	"slot_taken":           400, // in sandbox
	"unknown_lab_test":     404, // of a replacement
}

// kinds has a row for each kind: the code of faults without a code of their own.
var kinds = map[Kind]Code{
	Internal:        {"internal_error", 500, "a fault of the service", "repeat; the operator finds it in the log by `X-Request-Id`"},
	Invalid:         {"invalid_request", 422, "bad input; each entry of `detail` has a `type` and a `loc`", "correct the field that `loc` names"},
	Refused:         {"refused", 400, "the request is well formed, but not allowed; `detail` says why", "correct what `detail` names"},
	Unauthenticated: {"unauthenticated", 401, "no valid key", "send the key of `HALE_API_KEY`; `hale keys create` creates another one"},
	Forbidden:       {"forbidden", 403, "the key has no right for this request", "use a key with the [scope](api-keys.md#scopes) of the operation"},
	NotFound:        {"not_found", 404, "the id is unknown, or belongs to another team", "compare the id and the team of the key; the object may be deleted"},
	Conflict:        {"conflict", 409, "another record or request is in the way", "read the other record, or repeat after `Retry-After` seconds if the header is there"},
	Changed:         {"precondition_failed", 412, "the record has another version than `If-Match` requires", "read it again, and repeat with its [ETag](users.md#change-only-the-version-that-you-read)"},
	Unprocessable:   {"state_not_allowed", 422, "the current state does not allow the request; `detail` is a text", "read the object, and wait or choose another operation"},
	TooLarge:        {"too_large", 413, "the body or batch exceeds its limit", "send smaller batches, or the file in parts"},
	TooMany:         {"too_many_requests", 429, "the key sends more requests than its limit", "repeat after `Retry-After` seconds"},
	Unavailable:     {"unavailable", 503, "the service starts, stops or is overloaded, or its database takes no requests; nothing was changed", "repeat after `Retry-After` seconds"},
}

// httpCodes are the codes of requests that no operation reads.
var httpCodes = []Code{
	{"method_not_allowed", 405, "the path has no operation with this method", "use a method of the header `Allow`"},
	{"unsupported_media_type", 415, "the body has a `Content-Encoding` that the operation does not read", "send it plain, or with gzip or deflate"},
}

// SpecificCodes are the codes of single refusals. They replace the code of the status.
var SpecificCodes = []Code{
	{"activate_by_past", 400, "`activate_by` is before today", "send today or a later day; the day is that of New York"},
	{"ambiguous_provider_id", 400, "several laboratories have this provider id", "name the laboratory by a lab test, `lab_slug` or `lab_account_id`, or send `marker_ids`"},
	{"aoe_answer", 400, "an answer to an order question has the wrong form", "send an answer of the question's type; the lab test's markers list the questions and their answers"},
	{"aoe_missing", 400, "a required order question has no answer", "answer in `aoe_answers` each question that `detail` names"},
	{"aoe_repeated", 400, "an order question has two answers", "send one answer for each question"},
	{"appointment_exists", 400, "the order, or the patient with this provider, has an appointment already", "reschedule that appointment, or cancel it first"},
	{"async_confirmation_disabled", 400, "`async_confirmation` is not enabled for the team, or not for this kind of appointment", "set `async_confirmation_enabled` with `PATCH /v2/team/appointment_settings`; visits at home have no such confirmation"},
	{"billing_not_allowed", 400, "the account does not allow the billing type in the state", "choose another `billing_type` or lab account; `GET /v3/lab_test/lab_account` lists what each account allows"},
	{"booking_key_expired", 400, "the time in which the key could be used is over", "ask for availability again, and book with a new key"},
	{"booking_key_invalid", 400, "the booking key is not one of this team", "send a `booking_key` of an availability answer, unchanged"},
	{"booking_key_mismatch", 400, "the booking key is for another kind of appointment, laboratory or provider", "ask for availability for this order's kind and laboratory"},
	{"booking_key_used", 400, "the booking key was used before", "read the appointment of the order; ask for availability again if it has none"},
	{"both_id_kinds", 400, "`add_on` has `marker_ids` and `provider_ids`", "send one of the two lists"},
	{"client_user_id_taken", 400, "another user has the `client_user_id`", "use the user that the answer or a search names, or send another `client_user_id`"},
	{"collection_method_missing", 400, "`add_on` names markers without a `collection_method`", "send `collection_method`"},
	{"connection_paused", 400, "the connection is paused, or the user's `ingestion_end` is over: data is not accepted", "connect the user again, or change `ingestion_end`"},
	{"consents_missing", 400, "the team requires consents, and no physician of the team signs the order", "send `consents`, or a `physician`"},
	{"demographics_missing", 400, "the bill to the insurance needs the demographics of the user", "set them with `PATCH /v2/user/{user_id}/info`"},
	{"empty_add_on", 400, "`add_on` names no marker", "send `marker_ids` or `provider_ids`, or leave `add_on` out"},
	{"empty_order_set", 400, "the request names no test", "send `lab_test_ids` or an `add_on` in `order_set`, or `lab_test_id`"},
	{"guarantor_missing", 400, "the insurance record needs a guarantor, because `relationship` is not `Self`", "add an insurance record with a `guarantor`"},
	{"icd_codes_missing", 400, "`billing_type: commercial_insurance` needs `icd_codes`", "send at least one diagnosis in `icd_codes`"},
	{"idempotency_answer_lost", 409, "the first request was carried out, and its answer was lost", "read the resource; do not repeat the request with another key"},
	{"idempotency_key_reused", 409, "another request used the idempotency key", "send a new key for each new request, and the same body for a repeat"},
	{"idempotency_key_running", 409, "the first request with the key still runs", "repeat it after `Retry-After` seconds"},
	{"insurance_missing", 400, "the user has no primary insurance", "add one with `POST /v2/user/{user_id}/insurance`"},
	{"kit_not_registrable", 400, "the status of the test kit does not allow registration", "read the order; a kit can be registered once, before it returns"},
	{"lab_account_ambiguous", 400, "several active accounts of the team fit", "name one with `lab_account_id`"},
	{"lab_account_missing", 400, "the team has no account with the laboratory", "ask the operator to link one; `GET /v3/lab_test/lab_account` lists the accounts"},
	{"lab_account_not_active", 400, "the account is not active", "choose an account with the status `active`, or ask the operator to activate it"},
	{"lab_account_other_lab", 400, "the account is with another laboratory", "send an account of the laboratory of the tests"},
	{"lab_account_other_test", 400, "the test is offered with another account only", "send the account of the test, or leave it out"},
	{"lab_account_twice", 400, "`lab_account_id` and `order_set.lab_account_id` name different accounts", "send one of them"},
	{"lab_gone", 400, "the laboratory of the test is no longer offered", "choose a test of another laboratory"},
	{"lab_state", 400, "the laboratory does not serve the state", "choose a test of a laboratory that serves the patient's state"},
	{"lab_test_inactive", 400, "the test is not active", "choose another test, or unarchive it with `PATCH /v3/lab_tests/{lab_test_id}`"},
	{"lab_test_not_approved", 400, "the test waits for approval", "wait until the operator approves it"},
	{"marker_inactive", 400, "a marker is not active", "order without the marker that `detail` names"},
	{"marker_not_orderable", 400, "a marker cannot be ordered, such as a reflex test", "order without the marker that `detail` names"},
	{"medical_proxy_missing", 400, "a minor needs a medical proxy", "send `patient_details.medical_proxy`, or set it in the demographics of the user"},
	{"method_not_offered", 400, "the laboratory or a marker does not offer the collection method", "choose another method or test; a lab test and a laboratory list their methods"},
	{"minor_not_allowed", 400, "the patient is under 18, and the team does not order for minors", "check `dob`; the operator can turn on orders for minors"},
	{"no_markers", 400, "the tests have no markers that are still offered", "choose other tests"},
	{"no_report_reader", 503, "this node reads no reports; `Retry-After` is absent", "send the request to a node that reads reports; the operator knows it"},
	{"not_a_la_carte", 400, "a marker cannot be ordered alone", "order a lab test that contains the marker"},
	{"not_booked", 400, "the provider did not take the appointment", "ask for availability again, and book another time"},
	{"not_cancellable", 400, "the appointment cannot be cancelled: it has begun or ended, or the provider does not allow it", "read the appointment; call the provider if it must end"},
	{"not_reschedulable", 400, "the appointment cannot be moved", "cancel it and book again"},
	{"not_sandbox", 404, "only sandbox teams have a laboratory that can be simulated", "use a key of a sandbox team"},
	{"not_served", 404, "the provider takes no appointment requests in the ZIP code", "choose another provider; `GET /v3/order/area/info` lists them"},
	{"order_at_test_system", 400, "the order is at the test system of a laboratory: Hale does not simulate it", "wait for the report of the laboratory"},
	{"order_cancelled", 400, "the order is cancelled, so the document must not be used", "order again"},
	{"order_held", 400, "the user is deleted, and the order waits", "undo the deletion first, with `POST /v2/user/undo_delete`"},
	{"order_in_sandbox", 400, "the sandbox simulates the steps of this order", "advance its clock with `POST /v3/sandbox/advance`"},
	{"order_not_registered", 400, "the test kit is not registered for a person", "register it with `POST /v3/order/testkit/register`"},
	{"order_not_replaceable", 400, "the status of the order does not allow a replacement", "read the order; create another one"},
	{"order_not_scheduled", 400, "the order was created without `activate_by`, so the day cannot be changed", "cancel the order, and create one with `activate_by`"},
	{"order_not_waiting", 400, "the order no longer waits for `activate_by`, so the day cannot be changed", "read the order; cancel it if the day is wrong"},
	{"order_set_twice", 400, "`lab_test_id` and `order_set` both name the tests", "send one of them"},
	{"order_state", 400, "the status of the order does not allow this", "read the order, and wait or choose another operation"},
	{"outcome_unknown", 503, "the database did not confirm the change, which may be stored", "repeat with the same `Idempotency-Key`; without a key, read first"},
	{"outgoing_paused", 503, "Hale sends nothing to other systems, because it is a restored copy or a rehearsal; `Retry-After` is absent", "ask the operator, who can allow it"},
	{"patient_under_age", 400, "the patient is too young for a phlebotomy appointment", "order with another collection method"},
	{"payor_unknown", 400, "the insurance record names no known payor", "add a record with a `payor_code` of `GET /v3/insurance/search/payor`"},
	{"phone_number_incorrect", 400, "the telephone number has the area code 555, which is never assigned", "correct the field that `detail` means"},
	{"physician_missing", 400, "orders with this lab account need a physician", "send `physician`"},
	{"provider_no_answer", 503, "the provider did not answer in time; `Retry-After` is absent", "repeat after a minute; a booking left no appointment, and Hale releases its time first"},
	{"provider_refused", 400, "the provider does not take this appointment", "ask for availability again, or choose another provider"},
	{"radius_missing", 400, "`zip_code` needs a `radius`", "send `radius`, or leave the empty parameter out"},
	{"reason_unknown", 400, "the reason is not in the list of cancellation reasons", "send an id of the cancellation reasons of this kind of appointment"},
	{"requisition_missing", 400, "the order has no requisition yet", "wait for the event with the status `requisition_created`, or allow earlier bookings with `PATCH /v2/team/appointment_settings`"},
	{"sample_id", 400, "the sample id can no longer be changed: the laboratory has it", "leave `sample_id` out"},
	{"sample_id_taken", 409, "another order has the sample id", "send the number that is on this kit"},
	{"scheduling_disabled", 503, "the team turned appointments off; `Retry-After` is absent", "set `scheduling_enabled` with `PATCH /v2/team/appointment_settings`; a repeat alone does not help"},
	{"several_labs", 400, "the tests are of several laboratories", "create an order for each laboratory"},
	{"several_methods", 400, "the tests have several collection methods", "choose one with `collection_method`"},
	{"site_codes_or_zip_code", 400, "the request has neither site codes nor a ZIP code", "send `site_codes` or `zip_code`"},
	{"site_unknown", 400, "the service center is unknown or not active", "choose a center of `GET /v3/order/psc/info`"},
	{"slot_taken", 404, "another caller booked the time", "ask for availability again, and book another time"},
	{"start_date_far", 400, "`start_date` is more than two years ahead", "send an earlier day"},
	{"start_date_past", 400, "`start_date` is before today", "send today or a later day; the day is that of the place"},
	{"state_plan_unknown", 400, "`payor_code` is `MEDFED` or `MAIDFED`, and the insured person's address is in no state", "add an insurance record with the state in the address"},
	{"too_many_site_codes", 400, "the request has more than three site codes", "send at most three, in several requests"},
	{"unknown_lab", 400, "the laboratory does not exist", "send a `slug` of `GET /v3/lab_tests/labs`"},
	{"unknown_lab_account", 404, "the account does not exist", "send an id of `GET /v3/lab_test/lab_account`"},
	{"unknown_lab_test", 400, "the lab test does not exist", "send an id of `GET /v3/lab_test`"},
	{"unknown_marker", 400, "the marker does not exist, or is not of the laboratory", "send ids or codes of `GET /v3/lab_tests/markers` of the laboratory"},
	{"unknown_question", 400, "an answer names a question that no marker of the order has", "send answers for questions of the order's markers only"},
	{"unknown_sample_id", 404, "no test kit of the team has the sample id", "compare it with the number on the kit"},
	{"unknown_user", 404, "the user does not exist, or is deleted", "send the id of a user of this team"},
	{"zip_state", 400, "the ZIP code is in another state", "correct the ZIP code or the state"},
}

// byName has all codes.
var byName = func() map[string]Code {
	all := map[string]Code{}
	for _, c := range slices.Concat(GeneralCodes(), SpecificCodes) {
		all[c.Name] = c
	}
	return all
}()

// GeneralCodes returns the codes of statuses, by status.
func GeneralCodes() []Code {
	all := slices.Clone(httpCodes)
	for _, row := range kinds {
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b Code) int {
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// FindCode returns the row of a code.
func FindCode(name string) (Code, bool) {
	c, ok := byName[name]
	return c, ok
}

// IsSpecific reports whether a code is one of a single refusal.
func IsSpecific(name string) bool {
	return slices.ContainsFunc(SpecificCodes, func(c Code) bool { return c.Name == name })
}

// Codes returns the closed list of the codes of errors.
func Codes() []string {
	var all []string
	for name := range byName {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// Word returns the code of the kind.
func (k Kind) Word() string { return kinds[k].Name }

// Status returns the HTTP status of the kind.
func (k Kind) Status() int { return cmp.Or(kinds[k].Status, kinds[Internal].Status) }

// KindOfStatus returns the kind with an HTTP status, or Internal if there is none. 422 is
// Unprocessable. Invalid has the same status, and its answer has a list of problems.
func KindOfStatus(status int) Kind {
	if status == Unprocessable.Status() {
		return Unprocessable
	}
	for kind, row := range kinds {
		if row.Status == status {
			return kind
		}
	}
	return Internal
}

// CodeOf returns the code of an error for programs: that of the fault, or of its kind.
// Bad input has a code for each field instead.
func CodeOf(err error) string {
	kind := KindOf(err)
	var one interface{ Code() string }
	if kind != Invalid && errors.As(err, &one) && IsSpecific(one.Code()) {
		return one.Code()
	}
	return kind.Word()
}
