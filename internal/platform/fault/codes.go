package fault

import (
	"cmp"
	"errors"
	"slices"
)

// CodeOfInternal is the code of errors that are not faults.
const CodeOfInternal = "internal_error"

// kinds has a row for each kind: its HTTP status, and the code of faults without a code
// of their own.
var kinds = map[Kind]struct {
	status int
	code   string
}{
	Internal:        {500, CodeOfInternal},
	Invalid:         {422, "invalid_request"}, // with a list of problems
	Refused:         {400, "refused"},
	Unauthenticated: {401, "unauthenticated"},
	Forbidden:       {403, "forbidden"},
	NotFound:        {404, "not_found"},
	Conflict:        {409, "conflict"},
	Changed:         {412, "precondition_failed"},
	Unprocessable:   {422, "state_not_allowed"}, // with a text
	TooLarge:        {413, "too_large"},
	TooMany:         {429, "too_many_requests"},
	Unavailable:     {503, "unavailable"},
}

// httpCodes are the codes of requests that no operation reads.
var httpCodes = []string{"method_not_allowed", "unsupported_media_type"}

// SpecificCodes are the codes of single refusals. docs/errors.md has their meanings.
var SpecificCodes = []string{
	"activate_by_past",
	"ambiguous_provider_id",
	"aoe_answer",
	"aoe_missing",
	"aoe_repeated",
	"appointment_exists",
	"async_confirmation_disabled",
	"billing_not_allowed",
	"both_id_kinds",
	"client_user_id_taken",
	"collection_method_missing",
	"connection_paused",
	"demographics_missing",
	"empty_add_on",
	"empty_order_set",
	"guarantor_missing",
	"icd_codes_missing",
	"idempotency_answer_lost",
	"idempotency_key_reused",
	"idempotency_key_running",
	"insurance_missing",
	"kit_not_registrable",
	"lab_account_ambiguous",
	"lab_account_missing",
	"lab_account_not_active",
	"lab_account_other_lab",
	"lab_account_other_test",
	"lab_account_twice",
	"lab_gone",
	"lab_state",
	"lab_test_inactive",
	"lab_test_not_approved",
	"marker_inactive",
	"marker_not_orderable",
	"medical_proxy_missing",
	"method_not_offered",
	"minor_not_allowed",
	"no_markers",
	"not_a_la_carte",
	"not_booked",
	"not_cancellable",
	"not_reschedulable",
	"not_sandbox",
	"not_served",
	"order_at_test_system",
	"order_cancelled",
	"order_held",
	"order_in_sandbox",
	"order_not_registered",
	"order_not_replaceable",
	"order_not_scheduled",
	"order_not_waiting",
	"order_set_twice",
	"order_state",
	"outcome_unknown",
	"patient_under_age",
	"payor_unknown",
	"phone_number_incorrect",
	"physician_missing",
	"provider_refused",
	"radius_missing",
	"reason_unknown",
	"requisition_missing",
	"sample_id",
	"sample_id_taken",
	"several_labs",
	"several_methods",
	"site_codes_or_zip_code",
	"site_unknown",
	"start_date_far",
	"start_date_past",
	"state_plan_unknown",
	"too_many_site_codes",
	"unknown_lab_account",
	"unknown_lab_test",
	"unknown_marker",
	"unknown_question",
	"unknown_sample_id",
	"unknown_user",
	"zip_state",
}

// Codes returns the closed list of the codes of errors.
func Codes() []string {
	all := slices.Concat(httpCodes, SpecificCodes)
	for _, row := range kinds {
		all = append(all, row.code)
	}
	slices.Sort(all)
	return all
}

// Word returns the code of the kind.
func (k Kind) Word() string { return kinds[k].code }

// Status returns the HTTP status of the kind.
func (k Kind) Status() int { return cmp.Or(kinds[k].status, kinds[Internal].status) }

// KindOfStatus returns the kind with an HTTP status, or Internal if there is none. 422 is
// Unprocessable. Invalid has the same status, and its answer has a list of problems.
func KindOfStatus(status int) Kind {
	if status == Unprocessable.Status() {
		return Unprocessable
	}
	for kind, row := range kinds {
		if row.status == status {
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
	if kind != Invalid && errors.As(err, &one) && slices.Contains(SpecificCodes, one.Code()) {
		return one.Code()
	}
	return kind.Word()
}
