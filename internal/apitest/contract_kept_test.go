package apitest

import "strings"

// amendments are places where the contract's schemas are not what this service
// answers, on purpose. Both tests of the contract, the one over documents and
// the one over answers, read it so amended.
var amendments = []struct {
	at     string // schema.field, or several fields with blanks between; * for every schema that has the field
	to     string // JSON Schema in its place; empty takes the field away
	reason string
}{
	{"*.client_user_id", `{"type":"string"}`, "Spec: Envelope, a string; the contract's own samples are no UUIDs either"},
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
	{"VitalTokenCreatedResponse.exchange_url", `{"type":"string"}`, "spec-notes: Phones, the scheme opens our own app"},
}

// amendedAnswers are operations that succeed in another way than the contract's,
// on purpose.
var amendedAnswers = []struct {
	of, status string
	to         string // JSON Schema of what is answered in its place
	reason     string
}{
	{"PATCH /v2/user/{user_id}", "200", `{"type":"object","required":["detail"]}`, "Spec: Users, PATCH answers with detail, not with 204"},
}

// amend changes the contract's schemas and answers.
func (c *contract) amend() {
	for _, a := range amendedAnswers {
		for i, o := range c.operations {
			if o.String() == a.of {
				c.operations[i].Responses = map[string]*response{
					a.status: {Content: map[string]media{"application/json": {mustSchema(a.to)}}},
				}
			}
		}
	}
	for _, a := range amendments {
		name, fields, _ := strings.Cut(a.at, ".")
		for of, s := range c.schemas {
			for field := range strings.FieldsSeq(fields) {
				if s.Properties[field] == nil || name != "*" && name != of {
					continue
				}
				if a.to == "" {
					s.drop(field)
				} else {
					s.Properties[field] = mustSchema(a.to)
				}
			}
		}
	}
}
