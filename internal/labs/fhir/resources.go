package fhir

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Bundle holds resources.
type Bundle struct {
	ResourceType string  `json:"resourceType"`
	ID           string  `json:"id"`
	Type         string  `json:"type"`
	Timestamp    string  `json:"timestamp,omitempty"`
	Entry        []Entry `json:"entry,omitempty"`
}

// Entry is one resource of a bundle, with the URL by which others refer to it.
type Entry struct {
	FullURL  string `json:"fullUrl"`
	Resource any    `json:"resource"`
}

// PatientResource is the person of the sample.
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

// PractitionerResource is the physician who signed the order.
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

// RelatedPersonResource is the insured person of a policy that covers the patient.
type RelatedPersonResource struct {
	ResourceType string          `json:"resourceType"`
	ID           string          `json:"id"`
	Patient      Reference       `json:"patient"`
	Name         []HumanName     `json:"name,omitempty"`
	Gender       string          `json:"gender,omitempty"`
	BirthDate    string          `json:"birthDate,omitempty"`
	Address      []PostalAddress `json:"address,omitempty"`
}

// CoverageResource is an insurance policy.
type CoverageResource struct {
	ResourceType string           `json:"resourceType"`
	ID           string           `json:"id"`
	Status       string           `json:"status"`
	Subscriber   *Reference       `json:"subscriber,omitempty"`
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

// ServiceRequest is one ordered test.
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

// QuestionnaireResponse holds the answers at order entry.
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

	Type         *CodeableConcept `json:"type,omitempty"`
	Subject      *Reference       `json:"subject,omitempty"`
	ReceivedTime string           `json:"receivedTime,omitempty"`
	Request      []Reference      `json:"request,omitempty"`
	Collection   *Collection      `json:"collection,omitempty"`
	Note         []Annotation     `json:"note,omitempty"`
}

// Collection describes the draw of the sample.
type Collection struct {
	CollectedDateTime            string           `json:"collectedDateTime,omitempty"`
	FastingStatusCodeableConcept *CodeableConcept `json:"fastingStatusCodeableConcept,omitempty"`
}

// DiagnosticReport is the lab's report.
type DiagnosticReport struct {
	ResourceType      string            `json:"resourceType"`
	ID                string            `json:"id"`
	Meta              *Meta             `json:"meta,omitempty"`
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

// Observation is one result, or a missing one.
type Observation struct {
	ResourceType         string            `json:"resourceType"`
	ID                   string            `json:"id"`
	Meta                 *Meta             `json:"meta,omitempty"`
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

// ReferenceRange is the usual range.
type ReferenceRange struct {
	Low  *Quantity `json:"low,omitempty"`
	High *Quantity `json:"high,omitempty"`
	Text string    `json:"text,omitempty"`
}

// Coding is a code of a system.
type Coding struct {
	System  string `json:"system,omitempty"`
	Code    string `json:"code,omitempty"`
	Display string `json:"display,omitempty"`
}

// CodeableConcept is a concept in codes and in words.
type CodeableConcept struct {
	Coding []Coding `json:"coding,omitempty"`
	Text   string   `json:"text,omitempty"`
}

// Identifier is a number with its namespace.
type Identifier struct {
	Use    string           `json:"use,omitempty"`
	Type   *CodeableConcept `json:"type,omitempty"`
	System string           `json:"system,omitempty"`
	Value  string           `json:"value,omitempty"`
}

// Extension holds facts for which the standard has no element: a value, or
// further extensions.
type Extension struct {
	Extension   []Extension `json:"extension,omitempty"`
	URL         string      `json:"url"`
	ValueCoding *Coding     `json:"valueCoding,omitempty"`
	ValueString string      `json:"valueString,omitempty"`
}

// Reference points to a resource of the bundle.
type Reference struct {
	Reference string `json:"reference,omitempty"`
	Display   string `json:"display,omitempty"`
}

// HumanName is the name of a person.
type HumanName struct {
	Use    string   `json:"use,omitempty"`
	Family string   `json:"family,omitempty"`
	Given  []string `json:"given,omitempty"`
}

// ContactPoint is a phone number or an e-mail address.
type ContactPoint struct {
	System string `json:"system,omitempty"`
	Value  string `json:"value,omitempty"`
}

// PostalAddress is an address.
type PostalAddress struct {
	Use        string   `json:"use,omitempty"`
	Line       []string `json:"line,omitempty"`
	City       string   `json:"city,omitempty"`
	State      string   `json:"state,omitempty"`
	PostalCode string   `json:"postalCode,omitempty"`
	Country    string   `json:"country,omitempty"`
}

// Quantity is a number with a unit. The number keeps its written digits,
// because they show its precision.
type Quantity struct {
	Value      json.Number `json:"value,omitempty"`
	Comparator string      `json:"comparator,omitempty"`
	Unit       string      `json:"unit,omitempty"`
	System     string      `json:"system,omitempty"`
	Code       string      `json:"code,omitempty"`
}

// Range has two quantities as its ends.
type Range struct {
	Low  *Quantity `json:"low,omitempty"`
	High *Quantity `json:"high,omitempty"`
}

// Annotation is a note.
type Annotation struct {
	Text string `json:"text"`
}

// Attachment is a document; Data is encoded in base64.
type Attachment struct {
	ContentType string `json:"contentType,omitempty"`
	Data        []byte `json:"data,omitempty"`
	Title       string `json:"title,omitempty"`
}

// parseDecimal reads a decimal of the standard, which has digits and at most
// one point. A JSON number begins with a digit, and has no leading zeros.
func parseDecimal(text string) (json.Number, bool) {
	text = strings.TrimSpace(text)
	sign := ""
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		sign, text = "-", rest
	} else {
		text = strings.TrimPrefix(text, "+")
	}
	whole, fraction, point := strings.Cut(text, ".")
	if !isDigits(whole) || !isDigits(fraction) || whole+fraction == "" || len(whole)+len(fraction) > 18 {
		return "", false
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if point && fraction != "" {
		whole += "." + fraction
	}
	return json.Number(sign + whole), true
}

func isDigits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

func number(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }

// instant formats a time to the microsecond, as it is stored, always with an offset.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
}

// dateTime formats a moment as precisely as it is known: to the second with an
// offset, to the day without one. Midnight is a date whose time is not known.
func dateTime(m Moment) string {
	switch {
	case m.Time.IsZero():
		return ""
	case m.Offset == nil:
		return m.Time.UTC().Format(time.DateOnly)
	}
	written := m.Time.In(time.FixedZone("", *m.Offset))
	if hour, minute, second := written.Clock(); hour+minute+second == 0 {
		return written.Format(time.DateOnly)
	}
	return written.Format("2006-01-02T15:04:05Z07:00")
}

// clean makes a text valid for the standard: no control characters except line
// ends and tabs, and no white space around it.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text))
}

// Meta describes a resource itself.
type Meta struct {
	Source string   `json:"source,omitempty"`
	Tag    []Coding `json:"tag,omitempty"`
}
