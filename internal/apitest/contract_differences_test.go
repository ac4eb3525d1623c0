package apitest

import "strings"

// knownDifferences lists the other deliberate differences, with their reasons.
var knownDifferences = []struct {
	reason      string
	differences []string
}{
	{"One value has the same form in a query. These filters take several values, too (TestSpellingsOfParameters).", []string{
		`sent GET /v2/providers query source_type is of type array, not string`,
		`sent GET /v3/lab_test query lab_slug is of type array, not string`,
		`sent GET /v3/lab_test/lab_account query lab_account_id is of type array, not string`,
		`sent GET /v3/lab_tests query lab_slug is of type array, not string`,
		`sent GET /v3/lab_tests/markers query lab_slug is of type array, not string`,
		`sent GET /v3/orders query order_transaction_id is of type array, not string`,
		`sent GET /v3/orders query user_id is of type array, not string`,
		`sent GET /v3/unmatched_result query lab_slug is of type array, not string`,
		`sent Interpretation is of type array, not string`,
		`sent LabAccountStatus is of type array, not string`,
		`sent LabTestCollectionMethod is of type array, not string`,
		`sent LabTestStatus is of type array, not string`,
		`sent MatchDecisionCode is of type array, not string`,
		`sent MatchReviewStatusFilter is of type array, not string`,
		`sent PriorityResource is of type array, not string`,
	}},
	{"Without offset the list starts at 0. The service must see whether it was sent, because next_cursor excludes it.", []string{
		`sent GET /v2/user query offset is nothing when absent, not 0`,
	}},
	{"The contract has no bound. Identifiers of clearing houses and names of states are shorter.", []string{
		`sent CreatePayorBody.provider_payor_id maxLength is 64, not none`,
		`sent GET /v3/insurance/search/payor query provider_payor_id maxLength is 64, not none`,
		`sent PayorSearchRequest.provider_id maxLength is 64, not none`,
		`sent USAddress.state maxLength is 50, not none`,
	}},
	{"The value is a hash from an earlier answer, which has 32 characters.", []string{
		`sent SearchCompendiumBody.loinc_set_hash maxLength is 100, not none`,
	}},
	{"The contract has no bound. One sample needs few labels, and each takes time to draw.", []string{
		`sent GET /v3/order/{order_id}/labels/pdf query number_of_labels maximum is 100, not none`,
	}},
	{"The contract's pattern has a lookahead, which Go's regular expressions do not support. Its rule is enforced (TestBoundsOutsideOfTheDocument).", []string{
		`sent CreateContinuousQueryBody.slug maxLength is 128, not none`,
		`sent CreateContinuousQueryBody.slug pattern is , not ^(?!.*--)(?!.*-$)(?!-.*$)[a-z0-9-]{1,128}$`,
	}},
	{"The bounds apply after spaces are trimmed (reference, String input; TestBoundsOutsideOfTheDocument), so they are patterns.", []string{
		`sent PatientAddress.access_notes maxLength is none, not 1000`,
		`sent PatientAddressWithValidation.access_notes maxLength is none, not 1000`,
		`sent PatientAddressWithValidation.zip pattern is ^\s*[0-9]{5}(?:-[0-9]{4})?\s*$, not ^\d{5}(-\d{4})?$`,
		`sent PatientDetailsWithValidation.first_name maxLength is none, not 50`,
		`sent PatientDetailsWithValidation.first_name minLength is none, not 1`,
		`sent PatientDetailsWithValidation.last_name maxLength is none, not 50`,
		`sent PatientDetailsWithValidation.last_name minLength is none, not 1`,
		`sent ShippingAddressWithValidation.zip pattern is ^\s*[0-9]{5}(?:-[0-9]{4})?\s*$, not ^\d{5}(-\d{4})?$`,
	}},
	{"The contract has no bound. More candidates take time to find and no caller reads them.", []string{
		`sent ConvertCompendiumBody.limit maximum is 20, not none`,
		`sent SearchOrderableTestsBody.per_provider_limit maximum is 20, not none`,
	}},
	{"A refresh ends before its answer. Nothing runs afterwards.", []string{
		`answered POST /v2/user/refresh/{user_id} never with 202`,
	}},
	{"Reference 7.4: a meaningless number, deprecated and optional.", []string{
		`answered ClientFacingCholesterolTimeseries.id is missing`,
		`answered ClientFacingHRVTimeseries.id is missing`,
		`answered ClientFacingHeartRateTimeseries.id is missing`,
		`answered ClientFacingHypnogramTimeseries.id is missing`,
		`answered ClientFacingNoteSample.id is missing`,
		`answered ClientFacingRespiratoryRateTimeseries.id is missing`,
	}},
	{"spec-notes, Lab orders: only ?dry_run=true, which the contract does not have, has another answer.", []string{
		`answered PostOrderResponse.message is missing`,
		`answered PostOrderResponse.order is missing`,
		`answered PostOrderResponse.status is missing`,
	}},
	{"Optional, and a secret or access to another company's account: never returned.", []string{
		`answered ClientFacingTeam.airtable_api_key is missing`,
		`answered ClientFacingTeam.airtable_base_id is missing`,
		`answered ClientFacingTeam.api_key is missing`,
		`answered ClientFacingTeam.api_keys is missing`,
		`answered ClientFacingTeam.client_id is missing`,
		`answered ClientFacingTeam.client_secret is missing`,
		`answered ClientFacingTeam.svix_app_id is missing`,
		`answered ClientFacingTeam.webhook_secret is missing`,
	}},
	{"Optional, and about settings that a team does not have here.", []string{
		`answered ClientFacingTeam.logo_url is missing`,
		`answered LibreConfig.strip_tz is missing`,
		`answered TeamConfig.eds_preferences is missing`,
		`answered TeamConfig.event_type_prefixes is missing`,
		`answered TeamConfig.provider_raw_data is missing`,
		`answered TeamConfig.sdk_per_device_activity_timeseries is missing`,
	}},
	{"Optional: no price depends on a state here.", []string{
		`answered MarkerPricingConditions.us_state is missing`,
	}},
	{"spec-notes, Lab orders: only diagnosis_codes of the deprecated health_insurance is used. Insurance has separate records.", []string{
		`sent HealthInsuranceCreateRequest.assessment_plan is missing`,
		`sent HealthInsuranceCreateRequest.back_image is missing`,
		`sent HealthInsuranceCreateRequest.front_image is missing`,
		`sent HealthInsuranceCreateRequest.insurance_id is missing`,
		`sent HealthInsuranceCreateRequest.patient_signature_image is missing`,
		`sent HealthInsuranceCreateRequest.payor_code is missing`,
		`sent HealthInsuranceCreateRequest.responsible_details is missing`,
		`sent HealthInsuranceCreateRequest.responsible_relationship is missing`,
		`sent HealthInsuranceCreateRequest.subjective is missing`,
	}},
	{"spec-notes, Aggregation: placeholders are for queries of the platform, which do not exist here; refused.", []string{
		`sent Placeholder.anchor is required`,
		`sent Placeholder.func is required`,
		`sent Placeholder.index is required`,
		`sent Placeholder.past is required`,
		`sent Placeholder.placeholder is missing`,
		`sent Placeholder.type is required`,
		`sent Placeholder.unnest is required`,
	}},
	{"spec-notes, Aggregation: an unknown macro is refused, so that a misspelled one does not give an empty column.", []string{
		`sent UnrecognizedValueMacroExpr.value_macro takes the words [asleep_at awake_at awakenings chronotype sleep_score] only`,
	}},
	{"An additional column, returned only if the query names it.", []string{
		`answered MealColumnExpr.meal may be copper_microgram`,
	}},
	{"The document describes the fields of the elements in words.", []string{
		`answered MCMenstrualFlowFieldExpr is not described`,
	}},
}

// amendments are deliberate differences between the contract's schemas and our answers.
// The tests of documents and of answers both apply them.
var amendments = []struct {
	fields string // schema.field, or several fields separated by spaces; * for every schema with the field
	schema string // JSON Schema that replaces it; empty removes the field
	reason string
}{
	{"*.client_user_id", `{"type":"string"}`, "Spec: Envelope, a string; the contract's own samples are no UUIDs either"},
	{"vital_core__schemas__db_schemas__lab_test__insurance__PersonDetails.gender", `{"type":"string"}`, "Spec: Insurance record, a string; spec-notes, any text"},
	{"ClientFacingLabLocation.distance", `{"type":"string"}`, "Spec: PSC, miles as text"},
	{"ClientFacingPatientDetailsCompatible.dob", `{"type":"string","format":"date"}`, "Spec: Order, a date"},
	{"ClientFacingOrder.sample_id notes", `{"type":"string"}`, "Spec: Order, strings and never null"},
	{"PatientAddressCompatible.second_line phone_number access_notes", `{"type":"string"}`, "Spec: Order, patient_address, all strings"},
	{
		"ClientFacingShipment.outbound_tracking_number outbound_tracking_url outbound_courier inbound_tracking_number inbound_tracking_url inbound_courier notes",
		`{"type":"string"}`, "Spec: Order, shipment, strings",
	},
	{"ClientFacingMarker.price", `{"type":"string"}`, "Spec: Marker, a string"},
	{"ClientFacingMarkerComplete.price", `{"type":"string"}`, "Spec: Marker, a string"},
	{"ClientFacingResult.provider_id", `{"type":"string"}`, "Spec: Marker, expected_results, a string"},
	{"ClientFacingResult.loinc", `{"$ref":"ClientFacingLoinc"}`, "Spec: Marker, expected_results, an object"},
	{"HistoricalPullCompleted.is_final", ``, "Spec: Historical pull completed, the flag is removed"},
	{"ProviderConnectionCreated.source", ``, "Spec: Versioning, source is replaced by provider"},
	{
		"ParsingJob.status", `{"type":"string","enum":["upload_pending","started","pending_review","completed","failed"]}`,
		"Spec: Lab report parser, a job may wait for review",
	},
	{"VitalTokenCreatedResponse.exchange_url", `{"type":"string"}`, "spec-notes: Phones, the scheme opens our own app"},
}

// amendedAnswers are operations whose successful answer deliberately differs from the
// contract.
var amendedAnswers = []struct {
	operation, status string
	schema            string // JSON Schema of our answer
	reason            string
}{
	{"PATCH /v2/user/{user_id}", "200", `{"type":"object","required":["detail"]}`, "Spec: Users, PATCH answers with detail, not with 204"},
}

// amend applies the amendments to the contract's schemas and answers.
func (c *contract) amend() {
	for _, a := range amendedAnswers {
		for i, o := range c.operations {
			if o.String() == a.operation {
				c.operations[i].Responses = map[string]*response{
					a.status: {Content: map[string]media{"application/json": {mustSchema(a.schema)}}},
				}
			}
		}
	}
	for _, a := range amendments {
		name, fields, _ := strings.Cut(a.fields, ".")
		for of, s := range c.schemas {
			for field := range strings.FieldsSeq(fields) {
				if s.Properties[field] == nil || name != "*" && name != of {
					continue
				}
				if a.schema == "" {
					s.drop(field)
				} else {
					s.Properties[field] = mustSchema(a.schema)
				}
			}
		}
	}
}

// unservedAreas are the parts of the contract that are not served, by the prefixes of their
// operations.
var unservedAreas = []struct {
	area     string
	prefixes []string
}{
	{"links to providers' clouds", []string{
		"POST /v2/link/token", "GET /v2/link/provider…", "POST /v2/link/provider/password/…", "POST /v2/link/provider/email/…",
	}},
	{"bulk operations on connections", []string{"GET /v2/link/bulk_…", "POST /v2/link/bulk_…"}},
	{"hosted webhook portal; the command line and /v2/webhooks offer the same", []string{"GET /v2/team/svix/url"}},
	{"organisations: teams, keys and members over the management API", []string{
		"/v1/org/{org_id}", "/v1/org/{org_id}/team", "/v1/org/{org_id}/team/{team_id}", "/v1/org/{org_id}/resolve_team",
		"/v1/org/{org_id}/team/{team_id}/create_api_access_token", "/v1/org/{org_id}/team/{team_id}/{environment}/event_delivery_metric",
		"/v1/org/{org_id}/member…", "/v1/org/{org_id}/invite…", "/v1/org/{org_id}/domain…", "/v1/org/{org_id}/management_key…",
		"/v1/org/{org_id}/team_api_keys…",
	}},
	{"providers' scopes, credentials and pull preferences of a team", []string{
		"/v1/org/{org_id}/team/{team_id}/scope_requirements", "/v1/org/{org_id}/team_custom_credentials…",
		"/v1/org/{org_id}/prepare_team_custom_credentials…", "/v1/org/{org_id}/team_data_pull_preferences…",
	}},
	{"pipelines into other stores", []string{"/v1/org/{org_id}/team_etl_pipelines…"}},
	{"integration into electronic health records", []string{"/v1/org/{org_id}/ehr_integration…", "/v1/org/{org_id}/team_ehr_pipelines…"}},
	{"lab accounts over the management API; the command line manages them", []string{"/v1/org/{org_id}/lab_account…"}},
}

// unservedArea returns the area of an operation that is not served. A prefix is a whole path,
// unless it ends in "…".
func unservedArea(o operation) (area string, listed bool) {
	for _, a := range unservedAreas {
		for _, path := range a.prefixes {
			prefix, open := strings.CutSuffix(path, "…")
			whole := prefix == o.Path || prefix == o.String()
			if whole || open && (strings.HasPrefix(o.Path, prefix) || strings.HasPrefix(o.String(), prefix)) {
				return a.area, true
			}
		}
	}
	return "", false
}
