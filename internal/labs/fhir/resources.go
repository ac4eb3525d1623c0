package fhir

import "encoding/json"

// Bundle holds resources.
type Bundle struct {
	ResourceType string  `json:"resourceType"`
	ID           string  `json:"id"`
	Type         string  `json:"type"`
	Timestamp    string  `json:"timestamp,omitempty"`
	Entry        []Entry `json:"entry,omitempty"`
}

// Entry is one resource of a bundle, under the URL that others refer to.
type Entry struct {
	FullURL  string `json:"fullUrl"`
	Resource any    `json:"resource"`
}

// PatientResource is who the sample is from.
type PatientResource struct {
	ResourceType string          `json:"resourceType"`
	ID           string          `json:"id"`
	Extension    []Extension     `json:"extension,omitempty"`
	Identifier   []Identifier    `json:"identifier,omitempty"`
	Name         []HumanName     `json:"name,omitempty"`
	Telecom      []ContactPoint  `json:"telecom,omitempty"`
	Gender       string          `json:"gender,omitempty"`
	BirthDate    string          `json:"birthDate,omitempty"`
	Address      []PostalAddress `json:"address,omitempty"`
}

// PractitionerResource is who signed the order.
type PractitionerResource struct {
	ResourceType string       `json:"resourceType"`
	ID           string       `json:"id"`
	Identifier   []Identifier `json:"identifier,omitempty"`
	Name         []HumanName  `json:"name,omitempty"`
}

// OrganizationResource is a laboratory or a payor.
type OrganizationResource struct {
	ResourceType string            `json:"resourceType"`
	ID           string            `json:"id"`
	Identifier   []Identifier      `json:"identifier,omitempty"`
	Type         []CodeableConcept `json:"type,omitempty"`
	Name         string            `json:"name,omitempty"`
	Telecom      []ContactPoint    `json:"telecom,omitempty"`
	Address      []PostalAddress   `json:"address,omitempty"`
}

// CoverageResource is an insurance policy.
type CoverageResource struct {
	ResourceType string           `json:"resourceType"`
	ID           string           `json:"id"`
	Status       string           `json:"status"`
	SubscriberID string           `json:"subscriberId,omitempty"`
	Beneficiary  Reference        `json:"beneficiary"`
	Relationship *CodeableConcept `json:"relationship,omitempty"`
	Payor        []Reference      `json:"payor"`
	Class        []CoverageClass  `json:"class,omitempty"`
}

// CoverageClass is a group or a plan of a policy.
type CoverageClass struct {
	Type  CodeableConcept `json:"type"`
	Value string          `json:"value"`
}

// ServiceRequest is one test that was ordered.
type ServiceRequest struct {
	ResourceType string            `json:"resourceType"`
	ID           string            `json:"id"`
	Identifier   []Identifier      `json:"identifier,omitempty"`
	Requisition  *Identifier       `json:"requisition,omitempty"`
	Status       string            `json:"status"`
	Intent       string            `json:"intent"`
	Category     []CodeableConcept `json:"category,omitempty"`
	Priority     string            `json:"priority,omitempty"`
	Code         *CodeableConcept  `json:"code,omitempty"`
	Subject      Reference         `json:"subject"`
	AuthoredOn   string            `json:"authoredOn,omitempty"`
	Requester    *Reference        `json:"requester,omitempty"`
	Performer    []Reference       `json:"performer,omitempty"`
	ReasonCode   []CodeableConcept `json:"reasonCode,omitempty"`
	Insurance    []Reference       `json:"insurance,omitempty"`
	Supporting   []Reference       `json:"supportingInfo,omitempty"`
	Specimen     []Reference       `json:"specimen,omitempty"`
	Note         []Annotation      `json:"note,omitempty"`
}

// QuestionnaireResponse is what was answered at order entry.
type QuestionnaireResponse struct {
	ResourceType string         `json:"resourceType"`
	ID           string         `json:"id"`
	Status       string         `json:"status"`
	Subject      *Reference     `json:"subject,omitempty"`
	Authored     string         `json:"authored,omitempty"`
	Item         []ResponseItem `json:"item,omitempty"`
}

// ResponseItem is a question with its answers.
type ResponseItem struct {
	LinkID string       `json:"linkId"`
	Text   string       `json:"text,omitempty"`
	Answer []ItemAnswer `json:"answer,omitempty"`
}

// ItemAnswer is one answer, in one of the forms.
type ItemAnswer struct {
	ValueDecimal json.Number `json:"valueDecimal,omitempty"`
	ValueString  string      `json:"valueString,omitempty"`
	ValueCoding  *Coding     `json:"valueCoding,omitempty"`
}

// SpecimenResource is the sample.
type SpecimenResource struct {
	ResourceType string       `json:"resourceType"`
	ID           string       `json:"id"`
	Identifier   []Identifier `json:"identifier,omitempty"`
	Status       string       `json:"status,omitempty"`
	Subject      *Reference   `json:"subject,omitempty"`
	ReceivedTime string       `json:"receivedTime,omitempty"`
	Request      []Reference  `json:"request,omitempty"`
	Collection   *Collection  `json:"collection,omitempty"`
	Note         []Annotation `json:"note,omitempty"`
}

// Collection is how the sample was taken.
type Collection struct {
	CollectedDateTime            string           `json:"collectedDateTime,omitempty"`
	FastingStatusCodeableConcept *CodeableConcept `json:"fastingStatusCodeableConcept,omitempty"`
}

// DiagnosticReport is what the lab reported.
type DiagnosticReport struct {
	ResourceType      string            `json:"resourceType"`
	ID                string            `json:"id"`
	BasedOn           []Reference       `json:"basedOn,omitempty"`
	Status            string            `json:"status"`
	Category          []CodeableConcept `json:"category,omitempty"`
	Code              CodeableConcept   `json:"code"`
	Subject           *Reference        `json:"subject,omitempty"`
	EffectiveDateTime string            `json:"effectiveDateTime,omitempty"`
	Issued            string            `json:"issued,omitempty"`
	Performer         []Reference       `json:"performer,omitempty"`
	Specimen          []Reference       `json:"specimen,omitempty"`
	Result            []Reference       `json:"result,omitempty"`
	Conclusion        string            `json:"conclusion,omitempty"`
	PresentedForm     []Attachment      `json:"presentedForm,omitempty"`
}

// Observation is one result, or one that is missing.
type Observation struct {
	ResourceType         string            `json:"resourceType"`
	ID                   string            `json:"id"`
	BasedOn              []Reference       `json:"basedOn,omitempty"`
	Status               string            `json:"status"`
	Category             []CodeableConcept `json:"category,omitempty"`
	Code                 CodeableConcept   `json:"code"`
	Subject              *Reference        `json:"subject,omitempty"`
	EffectiveDateTime    string            `json:"effectiveDateTime,omitempty"`
	Issued               string            `json:"issued,omitempty"`
	Performer            []Reference       `json:"performer,omitempty"`
	ValueQuantity        *Quantity         `json:"valueQuantity,omitempty"`
	ValueCodeableConcept *CodeableConcept  `json:"valueCodeableConcept,omitempty"`
	ValueString          string            `json:"valueString,omitempty"`
	ValueRange           *Range            `json:"valueRange,omitempty"`
	DataAbsentReason     *CodeableConcept  `json:"dataAbsentReason,omitempty"`
	Interpretation       []CodeableConcept `json:"interpretation,omitempty"`
	Note                 []Annotation      `json:"note,omitempty"`
	Specimen             *Reference        `json:"specimen,omitempty"`
	ReferenceRange       []ReferenceRange  `json:"referenceRange,omitempty"`
}

// ReferenceRange is what is usual.
type ReferenceRange struct {
	Low  *Quantity `json:"low,omitempty"`
	High *Quantity `json:"high,omitempty"`
	Text string    `json:"text,omitempty"`
}
