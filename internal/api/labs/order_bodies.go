package labs

import (
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/api/people"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/diagnoses"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/platform/fault"
)

// createOrderBody orders a test.
//
// Reference 1.9, CreateOrderRequestCompatible.
type createOrderBody struct {
	UserID           users.ID                      `json:"user_id" format:"uuid"`
	LabTestID        *catalogue.TestID             `json:"lab_test_id" required:"false" format:"uuid" nullable:"true" doc:"Deprecated: see order_set."`
	OrderSet         api.ObjectOrNull[orderedIn]   `json:"order_set" required:"false" doc:"The ordered lab tests, single markers, or both."`
	CollectionMethod *string                       `json:"collection_method" required:"false" doc:"One of testkit, walk_in_test, at_home_phlebotomy and on_site_collection. It is required with add_on."`
	Physician        api.ObjectOrNull[physicianIn] `json:"physician" required:"false" doc:"Ordering physician. It is required if orders under the lab account are delegated to you."`
	HealthInsurance  api.ObjectOrNull[coverageIn]  `json:"health_insurance" required:"false" doc:"Deprecated: only diagnosis_codes are read; see the insurance endpoints."`
	Priority         bool                          `json:"priority" required:"false"`
	BillingType      *string                       `json:"billing_type" required:"false" default:"client_bill" doc:"client_bill, commercial_insurance, patient_bill_passthrough or patient_bill."`
	ICDCodes         api.ListOrNull[string]        `json:"icd_codes" required:"false" maxItems:"50" doc:"Diagnoses, for insurance."`
	Consents         api.ListOrNull[consentIn]     `json:"consents" required:"false" maxItems:"50"`
	ActivateBy       *api.DateText                 `json:"activate_by" required:"false" nullable:"true" doc:"Day in New York on which the order starts, today or later. If it is absent, the order starts at once."`
	AOEAnswers       api.ListOrNull[aoeAnswerIn]   `json:"aoe_answers" required:"false" maxItems:"500" doc:"Answers to the questions of the markers."`
	Passthrough      *string                       `json:"passthrough" required:"false" doc:"Your data, returned unchanged. At most 10,000 characters."`
	ClinicalNotes    *string                       `json:"clinical_notes" required:"false" doc:"Notes for the lab's requisition, at most 1,000 characters."`
	LabAccountID     *catalogue.AccountID          `json:"lab_account_id" required:"false" format:"uuid" nullable:"true" doc:"Account for the order. It is selected automatically if it is absent."`
	CreatorMemberID  *uuid.UUID                    `json:"creator_member_id" required:"false" format:"uuid" nullable:"true"`
	PatientDetails   patientIn                     `json:"patient_details"`
	PatientAddress   patientAddressIn              `json:"patient_address"`
}

// TransformSchema states the rules of the domain.
func (createOrderBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	null := &huma.Schema{Type: "null"}
	single, plain, adding := api.Has("lab_test_id", huma.TypeString), api.Has("order_set", huma.TypeObject), api.Has("order_set", huma.TypeObject)
	single.Properties["order_set"], plain.Properties["lab_test_id"], adding.Properties["lab_test_id"] = null, null, null
	plain.Properties["order_set"] = &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"add_on": null}}
	adding.Properties["order_set"] = api.Has("add_on", huma.TypeObject)
	adding.Required = append(adding.Required, "collection_method")
	adding.Properties["collection_method"] = &huma.Schema{Type: huma.TypeString}
	return api.State(s, map[string]api.Keywords{
		"collection_method": api.StateWords(catalogue.Methods, false), "billing_type": billingOrEmpty,
		"passthrough": api.StateOptional(orders.LongestPassthrough), "clinical_notes": api.StateOptional(orders.LongestNotes),
		"icd_codes[]": api.StatePatterns(diagnoses.Pattern),
		"":            api.StateAny(single, plain, adding),
	})
}

var billingOrEmpty = api.StateWordsOrEmpty(wordsOf(catalogue.Billings))

func wordsOf[T ~string](all []T) []string {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	return words
}

type orderedIn struct {
	LabTestIDs   api.ListOrNull[catalogue.TestID]   `json:"lab_test_ids" required:"false" maxItems:"50"`
	AddOn        api.ObjectOrNull[orderedMarkersIn] `json:"add_on" required:"false"`
	LabAccountID *catalogue.AccountID               `json:"lab_account_id" required:"false" format:"uuid" nullable:"true"`
}

type orderedMarkersIn struct {
	MarkerIDs   api.ListOrNull[int64]  `json:"marker_ids" required:"false" maxItems:"200"`
	ProviderIDs api.ListOrNull[string] `json:"provider_ids" required:"false" maxItems:"200" doc:"Codes of the lab. They cannot be combined with marker_ids."`
}

// TransformSchema states that an order set is not empty.
func (orderedIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return stateOrderSet(s)
}

func stateOrderSet(s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"": api.StateAny(api.HasList("lab_test_ids"), api.Has("add_on", huma.TypeObject))})
}

// TransformSchema states that an add-on names its markers in one way.
func (orderedMarkersIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return stateAddOn(s)
}

func stateAddOn(s *huma.Schema) *huma.Schema {
	none := 0
	byMarker, byProvider := api.HasList("marker_ids"), api.HasList("provider_ids")
	byMarker.Properties["provider_ids"], byProvider.Properties["marker_ids"] = &huma.Schema{MaxItems: &none}, &huma.Schema{MaxItems: &none}
	return api.State(s, map[string]api.Keywords{"": api.StateAny(byMarker, byProvider)})
}

func (in orderedIn) set() *orders.OrderSet {
	set := &orders.OrderSet{TestIDs: in.LabTestIDs, Account: in.LabAccountID}
	if a := in.AddOn.Value; a != nil {
		set.AddOn = &orders.AddOn{MarkerIDs: a.MarkerIDs, ProviderIDs: a.ProviderIDs}
	}
	return set
}

type physicianIn struct {
	FirstName      string                    `json:"first_name"`
	LastName       string                    `json:"last_name"`
	Email          *string                   `json:"email" required:"false"`
	NPI            string                    `json:"npi" doc:"Ten digits."`
	LicensedStates api.ListOrNull[string]    `json:"licensed_states" required:"false" maxItems:"60"`
	SignatureImage api.ObjectOrNull[imageIn] `json:"signature_image" required:"false" doc:"Image that is printed on the requisition."`
}

// TransformSchema states the rules of the domain.
func (physicianIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"first_name": api.StateText(orders.LongestLine), "last_name": api.StateText(orders.LongestLine),
		"email": api.StateEmail().OrEmpty(), "npi": api.StatePatterns(`^\s*[0-9]{10}\s*$`),
		"licensed_states[]": api.StateEnum(append(slices.Clip(catalogue.States), "DC")),
	})
}

// imageIn is an image in JSON.
//
// Reference 1.9, Jpeg and Png.
type imageIn struct {
	Content     imageContent `json:"content" doc:"The image in base64, at most 1 MiB and 2000 by 2000 pixels."`
	ContentType string       `json:"content_type" enum:"image/png,image/jpeg"`
}

// imageContent is base64, in any of its alphabets, with or without padding. Text
// that is no base64 becomes an image that cannot be read, which the domain
// refuses.
type imageContent string

func (c imageContent) bytes() []byte {
	text := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "").Replace(strings.TrimSpace(string(c))), "=")
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return []byte("not base64")
	}
	return raw
}

func physicianFrom(in api.ObjectOrNull[physicianIn]) *catalogue.Physician {
	if in.Value == nil {
		return nil
	}
	p := in.Value
	var signature []byte
	if image := p.SignatureImage.Value; image != nil {
		signature = image.Content.bytes()
	}
	return &catalogue.Physician{Signature: signature, FirstName: p.FirstName, LastName: p.LastName, NPI: p.NPI, Email: api.TextOf(p.Email), States: p.LicensedStates}
}

// coverageIn contains the fields of the deprecated insurance object that are still
// used.
type coverageIn struct {
	DiagnosisCodes api.ListOrNull[string] `json:"diagnosis_codes" required:"false" maxItems:"50"`
}

// TransformSchema states the form of a diagnosis.
func (coverageIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"diagnosis_codes[]": api.StatePatterns(diagnoses.Pattern)})
}

func codesOf(in api.ObjectOrNull[coverageIn]) []string {
	if in.Value == nil {
		return nil
	}
	return in.Value.DiagnosisCodes
}

type consentIn struct {
	ConsentType   string     `json:"consentType" doc:"Type of the consent."`
	Version       *string    `json:"version" required:"false" default:"1.0"`
	TimeOfConsent *time.Time `json:"timeOfConsent" required:"false"`
}

// TransformSchema states the rules of the domain.
func (consentIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"consentType": api.StateWords(orders.Consents, false)})
}

func consentsFrom(in []consentIn) []orders.Consent {
	var all []orders.Consent
	for _, c := range in {
		all = append(all, orders.Consent{Type: strings.TrimSpace(c.ConsentType), Version: api.TextOf(c.Version), At: c.TimeOfConsent})
	}
	return all
}

type aoeAnswerIn struct {
	MarkerID   int64  `json:"marker_id"`
	QuestionID int64  `json:"question_id"`
	Answer     string `json:"answer" doc:"Answer to the question. For a choice, it is the code of the answer."`
}

// patientIn is the patient of an order.
//
// Reference 1.9, PatientDetailsWithValidation.
type patientIn struct {
	FirstName         string                               `json:"first_name" doc:"1 to 50 ASCII letters, digits, and - . , ' with single spaces between words."`
	LastName          string                               `json:"last_name" doc:"1 to 50 characters, as in first_name."`
	DOB               api.DateText                         `json:"dob" doc:"Date of birth, not in the future and at most 130 years ago."`
	Gender            string                               `json:"gender" doc:"female, male, other or unknown, in any case."`
	PhoneNumber       string                               `json:"phone_number" doc:"Telephone number. A number without a country code is North American. Area code 555 is refused."`
	Email             string                               `json:"email" doc:"E-mail address of at most 254 characters."`
	MedicalProxy      api.ObjectOrNull[people.GuarantorIn] `json:"medical_proxy" required:"false" doc:"The representative of a minor."`
	Race              *string                              `json:"race" required:"false"`
	Ethnicity         *string                              `json:"ethnicity" required:"false"`
	SexualOrientation *string                              `json:"sexual_orientation" required:"false"`
	GenderIdentity    *string                              `json:"gender_identity" required:"false"`
	HouseholdIncome   *int64                               `json:"household_income" required:"false" doc:"Income in US dollars per year."`
	HouseholdSize     *int64                               `json:"household_size" required:"false"`
}

// TransformSchema states the rules of the domain.
func (patientIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	natural := api.Keywords{"minimum": 0}
	return api.State(s, map[string]api.Keywords{
		"first_name": api.StateName(), "last_name": api.StateName(), "email": api.StateEmail(), "phone_number": orderPhone(),
		"gender": api.StateWords(person.Genders, true), "race": api.StateWordsOrEmpty(users.Races), "ethnicity": api.StateWordsOrEmpty(users.Ethnicities),
		"sexual_orientation": api.StateWordsOrEmpty(users.Orientations), "gender_identity": api.StateWordsOrEmpty(users.Identities),
		"household_income": natural, "household_size": natural,
	})
}

// orderPhone states the form of a telephone number in an order.
func orderPhone() api.Keywords {
	s := api.StatePhone()
	s["not"] = &huma.Schema{Pattern: person.Phone555Pattern}
	return s
}

func (in patientIn) patient() (orders.Patient, error) {
	dob, err1 := in.DOB.Date("patient_details", "dob")
	proxy, err2 := people.GuarantorFrom(in.MedicalProxy, "body", "patient_details", "medical_proxy")
	trimmed := func(text *string) string { return strings.TrimSpace(api.TextOf(text)) }
	return orders.Patient{
		FirstName: in.FirstName, LastName: in.LastName, BirthDate: dob, Gender: in.Gender, PhoneNumber: in.PhoneNumber, Email: in.Email,
		MedicalProxy: proxy, Race: trimmed(in.Race), Ethnicity: trimmed(in.Ethnicity),
		SexualOrientation: trimmed(in.SexualOrientation), GenderIdentity: trimmed(in.GenderIdentity),
		HouseholdIncome: in.HouseholdIncome, HouseholdSize: in.HouseholdSize,
	}, fault.Join(err1, err2)
}

// patientAddressIn is the address of a patient, or of the delivery of a kit.
type patientAddressIn struct {
	ReceiverName *string `json:"receiver_name" required:"false"`
	FirstLine    string  `json:"first_line"`
	SecondLine   *string `json:"second_line" required:"false"`
	City         string  `json:"city"`
	State        string  `json:"state" doc:"State of two letters."`
	Zip          string  `json:"zip" doc:"ZIP code such as 12345 or 12345-6789."`
	Country      string  `json:"country" doc:"US, or empty, which means the same."`
	AccessNotes  *string `json:"access_notes" required:"false" doc:"Directions to the door for a phlebotomist. At most 1,000 characters."`
	PhoneNumber  *string `json:"phone_number" required:"false" doc:"Telephone number, as in patient_details."`
}

// TransformSchema states the rules of the domain.
func (patientAddressIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	rules := orderAddress()
	rules["receiver_name"], rules["phone_number"] = api.StateOptional(orders.LongestLine), orderPhone().OrEmpty()
	rules["access_notes"] = api.StateOptional(orders.LongestNotes)
	return api.State(s, rules)
}

// orderAddress states the form of an address for a visit or a delivery.
func orderAddress() map[string]api.Keywords {
	line := api.StateText(orders.LongestLine)
	return map[string]api.Keywords{
		"first_line": line, "second_line": api.StateOptional(orders.LongestLine), "city": line,
		"state": api.StateWords(person.StateCodes(), true), "zip": api.StatePatterns(person.ZipPattern), "country": api.StatePatterns(person.USPattern),
	}
}

// importedAddressIn is the address of an imported order.
type importedAddressIn patientAddressIn

// TransformSchema states the rules of the domain.
func (importedAddressIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	line, optional := api.StateText(orders.LongestLine), api.StateOptional(orders.LongestLine)
	required := api.StateText(orders.LongestLine)
	required["type"] = huma.TypeString
	return api.State(s, map[string]api.Keywords{
		"receiver_name": required, "first_line": line, "second_line": optional, "city": line, "state": line, "zip": line, "country": line,
		"access_notes": api.StateOptional(orders.LongestNotes), "phone_number": optional,
		"": {"required": append(slices.Clip(s.Required), "receiver_name")},
	})
}

func (in patientAddressIn) address() orders.Address {
	return orders.Address{
		Receiver: api.TextOf(in.ReceiverName), PhoneNumber: api.TextOf(in.PhoneNumber),
		Address: person.Address{
			FirstLine: in.FirstLine, SecondLine: api.TextOf(in.SecondLine), City: in.City, State: in.State, Zip: in.Zip,
			Country: in.Country, AccessNotes: api.TextOf(in.AccessNotes),
		},
	}
}

// request converts the body for the domain.
func (b *createOrderBody) request() (orders.Request, error) {
	patient, unread := b.PatientDetails.patient()
	r := orders.Request{
		User: b.UserID, LabTest: b.LabTestID, Physician: physicianFrom(b.Physician), Priority: b.Priority,
		Billing: catalogue.Billing(strings.TrimSpace(api.TextOf(b.BillingType))), ICDCodes: b.ICDCodes, Consents: consentsFrom(b.Consents),
		Passthrough: b.Passthrough, ClinicalNotes: api.TextOf(b.ClinicalNotes), Account: b.LabAccountID, Creator: b.CreatorMemberID,
		Patient: patient, Address: b.PatientAddress.address(),
	}
	if b.OrderSet.Value != nil {
		r.Set = b.OrderSet.Value.set()
	}
	if b.CollectionMethod != nil {
		method := catalogue.Method(strings.TrimSpace(*b.CollectionMethod))
		r.Method = &method
	}
	if len(r.ICDCodes) == 0 {
		r.ICDCodes = codesOf(b.HealthInsurance)
	}
	for _, a := range b.AOEAnswers {
		r.Answers = append(r.Answers, orders.Answer(a))
	}
	day, bad := api.OptionalDate(b.ActivateBy, "activate_by")
	r.ActivateBy = day
	return r, fault.Join(append(faultsOf(unread), bad)...)
}
