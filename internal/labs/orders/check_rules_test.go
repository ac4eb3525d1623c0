package orders_test

import (
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/people/insurance"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/teams"
)

// rules lists the rules of reference 1.9, in its order, each with its fault.
// Rules about the form of the JSON are in the tests of the API.
var rules = []struct {
	name  string
	given func(c *requestBuilder)
	own   bool // changes the team, so the rule needs a team of its own
	kind  fault.Kind
	code  string
	at    string // below body
	says  string
}{
	// The patient's name.
	{
		name: "an empty first name", given: func(c *requestBuilder) { c.r.Patient.FirstName = " " },
		kind: fault.Invalid, code: "string_too_short", at: "patient_details.first_name",
		says: "String should have at least 1 character",
	},
	{
		name: "an empty last name", given: func(c *requestBuilder) { c.r.Patient.LastName = "" },
		kind: fault.Invalid, code: "string_too_short", at: "patient_details.last_name",
		says: "String should have at least 1 character",
	},
	{
		name: "a name that is not ASCII", given: func(c *requestBuilder) { c.r.Patient.LastName = "Müller" },
		kind: fault.Invalid, code: "value_error", at: "patient_details.last_name",
		says: "Value error, a name has ASCII letters, digits and - . , ' only, starts with a letter or digit, and has single spaces",
	},
	{
		name: "two blanks in a name", given: func(c *requestBuilder) { c.r.Patient.LastName = "de  Vries" },
		kind: fault.Invalid, code: "value_error", at: "patient_details.last_name",
		says: "Value error, a name has ASCII letters, digits and - . , ' only, starts with a letter or digit, and has single spaces",
	},
	{
		name: "a name that begins with a hyphen", given: func(c *requestBuilder) { c.r.Patient.FirstName = "-Ada" },
		kind: fault.Invalid, code: "value_error", at: "patient_details.first_name",
		says: "Value error, a name has ASCII letters, digits and - . , ' only, starts with a letter or digit, and has single spaces",
	},
	{
		name: "a name of 51 characters", given: func(c *requestBuilder) { c.r.Patient.FirstName = strings.Repeat("a", 51) },
		kind: fault.Invalid, code: "string_too_long", at: "patient_details.first_name",
		says: "String is longer than allowed",
	},
	// The rest of the patient.
	{
		name: "no gender", given: func(c *requestBuilder) { c.r.Patient.Gender = "" },
		kind: fault.Invalid, code: "missing", at: "patient_details.gender",
		says: "Field required",
	},
	{
		name: "an unknown gender", given: func(c *requestBuilder) { c.r.Patient.Gender = "x" },
		kind: fault.Invalid, code: "enum", at: "patient_details.gender",
		says: "Input should be 'female', 'male', 'other' or 'unknown'",
	},
	{
		name: "a birth date to come", given: func(c *requestBuilder) { c.r.Patient.BirthDate = civil.DateOf(c.db.Now()).AddDays(2) },
		kind: fault.Invalid, code: "value_error", at: "patient_details.dob",
		says: "Value error, the date is in the future",
	},
	{
		name: "a telephone number that is none", given: func(c *requestBuilder) { c.r.Patient.PhoneNumber = "123" },
		kind: fault.Invalid, code: "value_error", at: "patient_details.phone_number",
		says: "Value error, Invalid phone number",
	},
	{
		name: "area code 555", given: func(c *requestBuilder) { c.r.Patient.PhoneNumber = "+15551234567" },
		kind: fault.Refused, code: "phone_number_incorrect", at: "patient_details.phone_number",
		says: "Phone number is not correct",
	},
	{
		name: "an e-mail address that is none", given: func(c *requestBuilder) { c.r.Patient.Email = "nobody" },
		kind: fault.Invalid, code: "value_error", at: "patient_details.email",
		says: "Value error, not an e-mail address",
	},
	{
		name: "an unknown race", given: func(c *requestBuilder) { c.r.Patient.Race = "x" },
		kind: fault.Invalid, code: "enum", at: "patient_details.race",
		says: "Input should be 'african_american_or_black', 'asian', 'indigenous_native_american_alaska_native', 'other', 'pacific_islander_or_hawaiian' or 'white_caucasian'",
	},
	{
		name: "an unknown ethnicity", given: func(c *requestBuilder) { c.r.Patient.Ethnicity = "x" },
		kind: fault.Invalid, code: "enum", at: "patient_details.ethnicity",
		says: "Input should be 'hispanic', 'non_hispanic', 'ashkenazi_jewish' or 'other'",
	},
	{
		name: "an unknown sexual orientation", given: func(c *requestBuilder) { c.r.Patient.SexualOrientation = "x" },
		kind: fault.Invalid, code: "enum", at: "patient_details.sexual_orientation",
		says: "Input should be 'lesbian_gay_or_homosexual', 'heterosexual_or_straight', 'bisexual', 'dont_know' or 'other'",
	},
	{
		name: "an unknown gender identity", given: func(c *requestBuilder) { c.r.Patient.GenderIdentity = "x" },
		kind: fault.Invalid, code: "enum", at: "patient_details.gender_identity",
		says: "Input should be 'male', 'female', 'female_to_male_ftm_transgender_male_trans_man', 'male_to_female_mtf_transgender_female_trans_woman', 'genderqueer' or 'other'",
	},
	// The address.
	{
		name: "a zip code that is none", given: func(c *requestBuilder) { c.r.Address.Zip = "8500" },
		kind: fault.Invalid, code: "string_pattern_mismatch", at: "patient_address.zip",
		says: "String should match pattern '^\\d{5}(-\\d{4})?$'",
	},
	{
		name: "a state that is none", given: func(c *requestBuilder) { c.r.Address.State = "XX" },
		kind: fault.Invalid, code: "value_error", at: "patient_address.state",
		says: "Value error, Invalid state",
	},
	{
		name: "another country", given: func(c *requestBuilder) { c.r.Address.Country = "DE" },
		kind: fault.Invalid, code: "value_error", at: "patient_address.country",
		says: "Value error, orders are placed in the United States",
	},
	{
		name: "access notes of 1,001 characters", given: func(c *requestBuilder) { c.r.Address.AccessNotes = strings.Repeat("a", 1001) },
		kind: fault.Invalid, code: "string_too_long", at: "patient_address.access_notes",
		says: "String is longer than allowed",
	},
	// Enumerations and texts.
	{
		name: "clinical notes of 1,001 characters", given: func(c *requestBuilder) { c.r.ClinicalNotes = strings.Repeat("a", 1001) },
		kind: fault.Invalid, code: "string_too_long", at: "clinical_notes",
		says: "String is longer than allowed",
	},
	{
		name: "a passthrough of 10,001 characters", given: func(c *requestBuilder) { text := strings.Repeat("a", 10_001); c.r.Passthrough = &text },
		kind: fault.Invalid, code: "string_too_long", at: "passthrough",
		says: "String is longer than allowed",
	},
	{
		name: "an unknown billing type", given: func(c *requestBuilder) { c.r.Billing = "cash" },
		kind: fault.Invalid, code: "enum", at: "billing_type",
		says: "Input should be 'client_bill', 'commercial_insurance', 'patient_bill_passthrough' or 'patient_bill'",
	},
	{
		name: "an unknown method", given: func(c *requestBuilder) { m := catalogue.Method("post"); c.r.Method = &m },
		kind: fault.Invalid, code: "enum", at: "collection_method",
		says: "Input should be 'testkit', 'walk_in_test', 'at_home_phlebotomy' or 'on_site_collection'",
	},
	{
		name: "an unknown consent", given: func(c *requestBuilder) { c.r.Consents = []orders.Consent{{Type: orders.Consents[0]}, {Type: "x"}} },
		kind: fault.Invalid, code: "enum", at: "consents.1.consentType",
		says: fault.EnumMessage(orders.Consents),
	},
	{
		name: "a physician's number that is none", given: func(c *requestBuilder) {
			c.r.Physician = &catalogue.Physician{FirstName: "A", LastName: "B", NPI: "12"}
		},
		kind: fault.Invalid, code: "value_error", at: "physician.npi",
		says: "Value error, an NPI has ten digits",
	},
	// User, lab test and markers.
	{
		name: "an unknown user", given: func(c *requestBuilder) { c.r.User = ids.FromUUID[users.User](unknownID.UUID()) },
		kind: fault.NotFound, code: "unknown_user", at: "user_id",
		says: "User does not exist on this team",
	},
	{
		name: "neither lab_test_id nor order_set", given: func(c *requestBuilder) { c.r.Set = nil },
		kind: fault.Refused, code: "empty_order_set", at: "order_set",
		says: "Give either lab_test_id or order_set",
	},
	{
		name: "both lab_test_id and order_set", given: func(c *requestBuilder) { c.r.LabTest = &c.r.Set.TestIDs[0] },
		kind: fault.Refused, code: "order_set_twice", at: "order_set",
		says: "Give either lab_test_id or order_set, not both",
	},
	{
		name: "an order set of nothing", given: func(c *requestBuilder) { c.r.Set = &orders.OrderSet{} },
		kind: fault.Refused, code: "empty_order_set", at: "order_set",
		says: "order_set must name lab_test_ids, or marker_ids or provider_ids in add_on",
	},
	{
		name: "an add-on without a method", given: func(c *requestBuilder) { c.addOn(orders.AddOn{ProviderIDs: []string{"70002"}}, "") },
		kind: fault.Refused, code: "collection_method_missing", at: "collection_method",
		says: "collection_method is required when order_set.add_on is given",
	},
	{
		name: "an add-on of nothing", given: func(c *requestBuilder) { c.addOn(orders.AddOn{}, catalogue.WalkIn) },
		kind: fault.Refused, code: "empty_add_on", at: "order_set.add_on",
		says: "order_set.add_on must name marker_ids or provider_ids",
	},
	{
		name: "an add-on with both kinds of ids", given: func(c *requestBuilder) {
			c.addOn(orders.AddOn{MarkerIDs: []int64{1}, ProviderIDs: []string{"1"}}, catalogue.WalkIn)
		},
		kind: fault.Refused, code: "both_id_kinds", at: "order_set.add_on",
		says: "order_set.add_on takes either marker_ids or provider_ids, not both",
	},
	{
		name: "tests of several labs", given: func(c *requestBuilder) {
			c.r.Set.TestIDs = append([]catalogue.TestID{}, c.r.Set.TestIDs[0], seededTest(c, catalogue.AtHome))
		},
		kind: fault.Refused, code: "several_labs", at: "order_set",
		says: "All tests and markers of an order must be of one lab",
	},
	{
		name: "tests of several methods", own: true, given: func(c *requestBuilder) {
			c.r.Set.TestIDs = append([]catalogue.TestID{}, c.r.Set.TestIDs[0], c.active(c.test(catalogue.AtHome, "70002")))
		},
		kind: fault.Refused, code: "several_methods", at: "collection_method",
		says: "The tests have several collection methods: choose one with collection_method",
	},
	{
		name: "an unknown lab test", given: func(c *requestBuilder) { c.r.Set.TestIDs = []catalogue.TestID{unknownID} },
		kind: fault.Refused, code: "unknown_lab_test", at: "order_set.lab_test_ids",
		says: "Test does not exist",
	},
	{
		name: "a lab test that waits for approval", own: true, given: func(c *requestBuilder) { c.r.Set.TestIDs = []catalogue.TestID{c.test(catalogue.WalkIn, "70002")} },
		kind: fault.Refused, code: "lab_test_not_approved", at: "order_set.lab_test_ids",
		says: "Test is pending approval",
	},
	{
		name: "a method that the test is not offered with", given: func(c *requestBuilder) { kit := catalogue.TestKit; c.r.Method = &kit },
		kind: fault.Refused, code: "method_not_offered", at: "collection_method",
		says: "Cannot set collection_method to TESTKIT",
	},
	// Dates, state, and requirements of the lab.
	{
		name: "a zip code in another state", given: func(c *requestBuilder) { c.r.Address.State, c.r.Address.Zip = "NJ", "10001" },
		kind: fault.Refused, code: "zip_state", at: "patient_address.zip",
		says: "The zip code is in another state: patient_address.zip",
	},
	{
		name: "a state that the lab is not licensed in", given: func(c *requestBuilder) { c.r.Address.State, c.r.Address.Zip = "GU", "96910" },
		kind: fault.Refused, code: "lab_state", at: "patient_address.state",
		says: "Lab Quillhaven Diagnostics (sandbox) does not support state GU",
	},
	{
		name: "an AOE question that is not answered", given: func(c *requestBuilder) {
			walkIn := catalogue.WalkIn
			c.r.Method, c.r.Answers, c.r.Set = &walkIn, nil, &orders.OrderSet{AddOn: &orders.AddOn{MarkerIDs: []int64{askingMarker(c)}}}
		},
		kind: fault.Refused, code: "aoe_missing", at: "aoe_answers",
		says: "aoe_answers lacks answers to required questions: Does the patient take an anticoagulant?",
	},
	{
		name: "an answer without a question", given: func(c *requestBuilder) {
			c.r.Answers = append(append([]orders.Answer{}, c.r.Answers...), orders.Answer{MarkerID: -1, QuestionID: 1, Answer: "x"})
		},
		kind: fault.Refused, code: "unknown_question", at: "aoe_answers",
		says: "aoe_answers names marker -1, which has no question 1 in this order",
	},
	{
		name: "a child, and the team may not", given: func(c *requestBuilder) { c.ofAge(10) },
		kind: fault.Refused, code: "minor_not_allowed", at: "patient_details.dob",
		says: "The team may not order for patients under 18: patient_details.dob",
	},
	{
		name: "a child without a proxy", own: true, given: func(c *requestBuilder) {
			c.settings(func(s *teams.Settings) { s.MinorOrdering = true })
			c.ofAge(10)
		},
		kind: fault.Refused, code: "medical_proxy_missing", at: "patient_details.medical_proxy",
		says: "A medical_proxy is required for patients under 18: patient_details.medical_proxy",
	},
	{
		name: "a day in the past", given: func(c *requestBuilder) { day := civil.MustParse("2020-01-01"); c.r.ActivateBy = &day },
		kind: fault.Refused, code: "activate_by_past", at: "activate_by",
		says: "activate_by must be today or later",
	},
	{
		name: "no consents, and the team must have them", own: true, given: func(c *requestBuilder) {
			c.settings(func(s *teams.Settings) { s.ConsentsRequired = true })
		},
		kind: fault.Refused, code: "consents_missing", at: "consents",
		says: "consents are required when no physician of the team signs the order",
	},
	// The lab account.
	{
		name: "an unknown account", given: func(c *requestBuilder) { a := ids.FromUUID[catalogue.Account](unknownID.UUID()); c.r.Account = &a },
		kind: fault.NotFound, code: "unknown_lab_account", at: "lab_account_id",
		says: "Lab account does not exist",
	},
	{
		name: "two accounts named", own: true, given: func(c *requestBuilder) {
			one, other := c.account(func(*catalogue.NewAccount) {}), c.account(func(*catalogue.NewAccount) {})
			c.r.Account, c.r.Set.Account = &one, &other
		},
		kind: fault.Refused, code: "lab_account_twice", at: "lab_account_id",
		says: "lab_account_id and order_set.lab_account_id name two accounts",
	},
	{
		name: "two accounts to choose from", own: true, given: func(c *requestBuilder) {
			c.account(func(*catalogue.NewAccount) {})
			c.account(func(*catalogue.NewAccount) {})
		},
		kind: fault.Refused, code: "lab_account_ambiguous", at: "lab_account_id",
		says: "The team has several active accounts with this lab: name one with lab_account_id",
	},
	{
		name: "an account that is suspended", own: true, given: func(c *requestBuilder) {
			c.account(func(n *catalogue.NewAccount) { n.Status = catalogue.AccountSuspended })
		},
		kind: fault.Refused, code: "lab_account_not_active", at: "lab_account_id",
		says: "None of the team's accounts with this lab is active",
	},
	{
		name: "ordering is delegated, and no physician", own: true, given: func(c *requestBuilder) {
			c.account(func(n *catalogue.NewAccount) { n.Flow = catalogue.OrderDelegated })
		},
		kind: fault.Refused, code: "physician_missing", at: "physician",
		says: "A physician is required: orders under this lab account are delegated to the team",
	},
	{
		name: "all is delegated, and no physician", own: true, given: func(c *requestBuilder) {
			c.account(func(n *catalogue.NewAccount) { n.Flow = catalogue.FullyDelegated })
		},
		kind: fault.Refused, code: "physician_missing", at: "physician",
		says: "A physician is required: orders under this lab account are delegated to the team",
	},
	{
		name: "a billing type that the account has not", own: true, given: func(c *requestBuilder) {
			c.account(func(*catalogue.NewAccount) {})
			c.r.Billing = catalogue.PatientBill
		},
		kind: fault.Refused, code: "billing_not_allowed", at: "billing_type",
		says: "billing_type patient_bill is not allowed for this lab account in AZ",
	},
	{
		name: "a billing type that the account has elsewhere", own: true, given: func(c *requestBuilder) {
			c.account(func(n *catalogue.NewAccount) {
				n.AllowedBilling = map[catalogue.Billing][]string{catalogue.ClientBill: {"CA"}}
			})
		},
		kind: fault.Refused, code: "billing_not_allowed", at: "billing_type",
		says: "billing_type client_bill is not allowed for this lab account in AZ",
	},
	// Insurance.
	{
		name: "insurance without a diagnosis", own: true, given: func(c *requestBuilder) { insure(c, c.db, c.user, "UHC"); c.insured() },
		kind: fault.Refused, code: "icd_codes_missing", at: "icd_codes",
		says: "icd_codes must name at least one diagnosis when billing_type is commercial_insurance",
	},
	{
		name: "a diagnosis that is none", given: func(c *requestBuilder) { c.r.ICDCodes = []string{"I10", "cough"} },
		kind: fault.Invalid, code: "value_error", at: "icd_codes.1",
		says: "Value error, is no code of ICD-10-CM, such as E11.65",
	},
	{
		name: "insurance without demographics", own: true, given: func(c *requestBuilder) {
			c.user = bareUser(c)
			c.r.User = c.user.ID
			insure(c, c.db, c.user, "UHC")
			c.insured("I10")
		},
		kind: fault.Refused, code: "demographics_missing", at: "user_id",
		says: "The user needs demographics before insurance can be billed",
	},
	{
		name: "insurance without a primary record", given: func(c *requestBuilder) { c.insured("I10") },
		kind: fault.Refused, code: "insurance_missing", at: "user_id",
		says: "The user has no primary insurance",
	},
	{
		name: "insurance of an unknown payor", own: true, given: func(c *requestBuilder) { insure(c, c.db, c.user, "ACME"); c.insured("I10") },
		kind: fault.Refused, code: "payor_unknown", at: "user_id",
		says: "The user's primary insurance cannot be billed: payor_code names no payor: GET /v3/insurance/search/payor finds codes, POST /v3/payor adds a payor",
	},
	{
		name: "insurance by the plan of no state", own: true, given: func(c *requestBuilder) {
			insure(c, c.db, c.user, "MEDFED", func(r *insurance.Record) { r.Insured.Address.State, r.Insured.Address.Zip = "AE", "09012" })
			c.insured("I10")
		},
		kind: fault.Refused, code: "state_plan_unknown", at: "user_id",
		says: "The user's primary insurance cannot be billed: payor_code means the plan of a state: the insured person's address must be in a US state, the District of Columbia or a territory",
	},
	{
		name: "insurance of a spouse without guarantor", own: true, given: func(c *requestBuilder) {
			insure(c, c.db, c.user, "UHC", func(r *insurance.Record) { r.Relationship = insurance.Spouse })
			c.insured("I10")
		},
		kind: fault.Refused, code: "guarantor_missing", at: "user_id",
		says: "The user's primary insurance cannot be billed: guarantor is missing: it is needed unless relationship is Self",
	},
	{
		name: "insurance in a state where the account has none", own: true, given: func(c *requestBuilder) {
			insure(c, c.db, c.user, "UHC")
			c.account(func(n *catalogue.NewAccount) { n.AllowedBilling[catalogue.CommercialInsurance] = []string{"CA"} })
			c.insured("I10")
		},
		kind: fault.Refused, code: "billing_not_allowed", at: "billing_type",
		says: "billing_type commercial_insurance is not allowed for this lab account in AZ",
	},
}
