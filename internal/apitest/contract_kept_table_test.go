package apitest

// kept are the other differences that stay, by their reason.
var kept = []struct {
	reason      string
	differences []string
}{
	{"The contract states no bound. Identifiers of clearing houses and names of states are shorter.", []string{
		`sent CreatePayorBody.provider_payor_id maxLength is 64, not none`,
		`sent GET /v3/insurance/search/payor query provider_payor_id maxLength is 64, not none`,
		`sent PayorSearchRequest.provider_id maxLength is 64, not none`,
		`sent USAddress.state maxLength is 50, not none`,
	}},
	{"It repeats a hash of an earlier answer, which has 32 characters.", []string{
		`sent SearchCompendiumBody.loinc_set_hash maxLength is 100, not none`,
	}},
	{"The contract states no bound. One sample needs a few labels, and each is drawn.", []string{
		`sent GET /v3/order/{order_id}/labels/pdf query number_of_labels maximum is 100, not none`,
	}},
	{"The contract's pattern looks ahead, which expressions in Go cannot. What it asks for holds (TestBoundsThatTheDocumentDoesNotSay).", []string{
		`sent CreateContinuousQueryBody.slug maxLength is 128, not none`,
		`sent CreateContinuousQueryBody.slug pattern is , not ^(?!.*--)(?!.*-$)(?!-.*$)[a-z0-9-]{1,128}$`,
	}},
	{"The bounds hold once spaces around the text are gone (reference, String input; TestBoundsThatTheDocumentDoesNotSay), which a schema cannot say.", []string{
		`sent PatientAddress.access_notes maxLength is none, not 1000`,
		`sent PatientAddressWithValidation.access_notes maxLength is none, not 1000`,
		`sent PatientAddressWithValidation.zip pattern is , not ^\d{5}(-\d{4})?$`,
		`sent PatientDetailsWithValidation.first_name maxLength is none, not 50`,
		`sent PatientDetailsWithValidation.first_name minLength is none, not 1`,
		`sent PatientDetailsWithValidation.last_name maxLength is none, not 50`,
		`sent PatientDetailsWithValidation.last_name minLength is none, not 1`,
		`sent ShippingAddressWithValidation.zip pattern is , not ^\d{5}(-\d{4})?$`,
	}},
	{"A refresh ends before it is answered; nothing goes on behind it.", []string{
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
	{"spec-notes, Lab orders: only ?dry_run=true, which the contract has not, answers another shape.", []string{
		`answered PostOrderResponse.message is missing`,
		`answered PostOrderResponse.order is missing`,
		`answered PostOrderResponse.status is missing`,
	}},
	{"Optional, and a secret or the way into another company's account: never shown.", []string{
		`answered ClientFacingTeam.airtable_api_key is missing`,
		`answered ClientFacingTeam.airtable_base_id is missing`,
		`answered ClientFacingTeam.api_key is missing`,
		`answered ClientFacingTeam.api_keys is missing`,
		`answered ClientFacingTeam.client_id is missing`,
		`answered ClientFacingTeam.client_secret is missing`,
		`answered ClientFacingTeam.svix_app_id is missing`,
		`answered ClientFacingTeam.webhook_secret is missing`,
	}},
	{"Optional, and about something that a team cannot set here.", []string{
		`answered ClientFacingTeam.critical_result_notification_email is missing`,
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
	{"spec-notes, Lab orders: of health_insurance only diagnosis_codes is read. It is deprecated; insurance has records of its own.", []string{
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
	{"spec-notes, Lab orders: passed over. A requisition leaves a line for the signature, and shows no image.", []string{
		`sent PhysicianCreateRequest.signature_image is missing`,
	}},
	{"spec-notes, Aggregation: placeholders belong to queries of the platform, which are not offered; refused.", []string{
		`sent Placeholder.anchor is required`,
		`sent Placeholder.func is required`,
		`sent Placeholder.index is required`,
		`sent Placeholder.past is required`,
		`sent Placeholder.placeholder is missing`,
		`sent Placeholder.type is required`,
		`sent Placeholder.unnest is required`,
	}},
	{"spec-notes, Aggregation: a macro that nobody knows is refused, so that a slip of the pen is no empty column.", []string{
		`sent UnrecognizedValueMacroExpr.value_macro takes the words [asleep_at awake_at awakenings chronotype sleep_score] only`,
	}},
	{"A column of ours, answered only to a team whose query asks for it.", []string{
		`answered MealColumnExpr.meal may be copper_microgram`,
	}},
	{"The document describes in words which fields the elements of a list have.", []string{
		`answered MCMenstrualFlowFieldExpr is not described`,
	}},
}
