package labs

import "slices"

// The codes of refusals that several operations share, by the rules of the domain.
var (
	// testCodes: catalogue.ResolveOrderSet and orders.findPlace, for one lab test.
	testCodes = []string{
		"lab_account_ambiguous", "lab_account_missing", "lab_account_not_active", "lab_account_other_lab", "lab_account_other_test",
		"lab_gone", "lab_test_inactive", "lab_test_not_approved", "marker_inactive", "method_not_offered", "no_markers",
		"unknown_lab_account", "unknown_lab_test",
	}
	// setCodes: catalogue.OrderSetMarkers.
	setCodes = []string{
		"ambiguous_provider_id", "both_id_kinds", "empty_add_on", "empty_order_set", "lab_account_other_lab", "lab_account_other_test",
		"lab_gone", "lab_test_inactive", "lab_test_not_approved", "marker_inactive", "marker_not_orderable", "not_a_la_carte",
		"several_labs", "unknown_lab_account", "unknown_lab_test", "unknown_marker",
	}
	// patientCodes: orders.checkPatient, checkUser and checkMinor.
	patientCodes = []string{"medical_proxy_missing", "minor_not_allowed", "phone_number_incorrect", "unknown_user"}
	// termsCodes: orders.checkTerms.
	termsCodes = []string{"billing_not_allowed", "lab_state", "physician_missing"}
	// answerCodes: orders.checkAnswers.
	answerCodes = []string{"aoe_answer", "aoe_missing", "aoe_repeated", "unknown_question"}

	createOrderCodes = slices.Concat(testCodes, setCodes, patientCodes, termsCodes, answerCodes, []string{
		"activate_by_past", "collection_method_missing", "consents_missing", "demographics_missing", "guarantor_missing", "icd_codes_missing",
		"insurance_missing", "lab_account_twice", "order_set_twice", "payor_unknown", "several_methods", "state_plan_unknown", "zip_state",
	})
	importOrderCodes   = slices.Concat(testCodes, setCodes, patientCodes, []string{"billing_not_allowed", "lab_account_twice", "physician_missing"})
	createKitCodes     = slices.Concat(testCodes, []string{"phone_number_incorrect", "unknown_user", "zip_state"})
	registerKitCodes   = slices.Concat(patientCodes, termsCodes, []string{"consents_missing", "kit_not_registrable", "unknown_sample_id", "zip_state"})
	recreateOrderCodes = slices.Concat(testCodes, termsCodes, answerCodes, []string{"order_not_registered", "order_not_replaceable", "unknown_user"})

	createLabTestCodes = []string{
		"ambiguous_provider_id", "lab_account_other_lab", "marker_inactive", "marker_not_orderable", "method_not_offered", "several_labs",
		"unknown_lab", "unknown_lab_account", "unknown_marker",
	}

	// orderStateCodes: appointments.checkOrder and orders.RefuseHeld.
	orderStateCodes = []string{"order_held", "order_state", "requisition_missing"}
	// bookingCodes: appointments.Book and Reschedule.
	bookingCodes = slices.Concat(orderStateCodes, []string{
		"booking_key_expired", "booking_key_invalid", "booking_key_mismatch", "booking_key_used", "provider_no_answer", "provider_refused",
		"scheduling_disabled", "slot_taken",
	})
	// newVisitCodes: appointments.Book and RequestVisit.
	newVisitCodes = []string{"appointment_exists", "not_booked"}
	// cancelCodes: appointments.Cancel.
	cancelCodes = []string{"not_cancellable", "reason_unknown"}
	// slotCodes: appointments.AtHome and AtCenters.
	slotCodes = []string{"provider_no_answer", "scheduling_disabled", "start_date_far", "start_date_past"}
	// stepCodes: fulfilment.
	stepCodes = slices.Concat(orderStateCodes, []string{
		"appointment_exists", "conflict", "order_in_sandbox", "patient_under_age", "sample_id", "sample_id_taken", "scheduling_disabled", "site_unknown",
	})
)
