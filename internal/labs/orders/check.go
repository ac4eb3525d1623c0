package orders

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/diagnoses"
	"hale/internal/labs/labclock"
	"hale/internal/labs/places"
	"hale/internal/people/insurance"
	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// review checks a request and collects all problems. A refusal reports only part
// of them: all invalid fields or, if there are none, the first other fault. A
// dry run returns all.
type review struct {
	tx    *store.Tx
	team  teams.ID
	today civil.Date
	form  person.Form
	// faults in the order of the checks.
	faults []*fault.Error
	// warnings lists warnings that do not refuse the order.
	warnings []*fault.Error
	// err is an internal error, which ends the request.
	err error
}

func newReview(ctx context.Context, tx *store.Tx, team teams.ID) *review {
	now, err := labclock.TimeOf(ctx, tx, team)
	return &review{tx: tx, team: team, today: Today(now), form: person.NewForm(civil.DateOf(now)), err: err}
}

// check adds the faults of err and reports whether there are none. An error that
// is not a fault is internal.
func (v *review) check(err error) (ok bool) {
	if err == nil {
		return true
	}
	var list fault.List
	var one *fault.Error
	switch {
	case errors.As(err, &list):
		v.faults = append(v.faults, list...)
	case errors.As(err, &one):
		v.faults = append(v.faults, one)
	case v.err == nil:
		v.err = err
	}
	return false
}

// refuse adds a 400 fault with a code for programs and the field at fault.
func (v *review) refuse(code, msg string, loc ...string) {
	v.faults = append(v.faults, fault.New(fault.Refused, msg).At(append([]string{"body"}, loc...)...).WithType(code))
}

// warn adds a warning.
func (v *review) warn(code, msg string, loc ...string) {
	v.warnings = append(v.warnings, fault.New(fault.Refused, msg).At(append([]string{"body"}, loc...)...).WithType(code))
}

// addInvalid adds a 422 fault.
func (v *review) addInvalid(code, msg string, loc ...string) {
	v.faults = append(v.faults, fault.New(fault.Invalid, msg).At(append([]string{"body"}, loc...)...).WithType(code))
}

// problems returns all faults, invalid fields first.
func (v *review) problems() []*fault.Error {
	var all fault.List
	errors.As(v.form.Err(), &all)
	all = append(all, v.faults...)
	slices.SortStableFunc(all, func(a, b *fault.Error) int { return faultRank(a) - faultRank(b) })
	return all
}

// faultRank sorts invalid fields before unknown objects before refusals.
func faultRank(e *fault.Error) int {
	switch e.Kind() {
	case fault.Invalid:
		return 0
	case fault.NotFound:
		return 1
	default:
		return 2
	}
}

// verdict returns the error that refuses the request, nil if there is none.
func (v *review) verdict() error {
	if v.err != nil {
		return v.err
	}
	all := v.problems()
	if len(all) == 0 {
		return nil
	}
	if all[0].Kind() != fault.Invalid {
		return all[0]
	}
	end := slices.IndexFunc(all, func(e *fault.Error) bool { return e.Kind() != fault.Invalid })
	if end < 0 {
		end = len(all)
	}
	return fault.List(all[:end])
}

// Lengths in characters.
const (
	LongestNotes       = 1000 // Spec: Limits, order clinical comments
	LongestPassthrough = 10_000
	longestICDList     = 50
	adultAge           = 18 // years
)

// checkTexts checks the fields of a request, except the people and addresses.
func (v *review) checkTexts(r *Request) {
	r.ClinicalNotes = v.form.Optional("clinical_notes", r.ClinicalNotes, LongestNotes)
	if r.Passthrough != nil {
		text := v.form.Optional("passthrough", *r.Passthrough, LongestPassthrough)
		r.Passthrough = &text
	}
	if r.Billing == "" {
		r.Billing = catalogue.ClientBill
	}
	oneOf(v, "billing_type", r.Billing, catalogue.Billings)
	if r.Method != nil {
		oneOf(v, "collection_method", *r.Method, catalogue.Methods)
	}
	v.checkConsentTypes(r.Consents)
	if r.ActivateBy != nil && r.ActivateBy.Before(v.today) {
		v.refuse("activate_by_past", "activate_by must be today or later", "activate_by")
	}
	v.checkDiagnosisCount(r.ICDCodes, "icd_codes")
}

func (v *review) checkDiagnosisCount(codes []string, at ...string) {
	if len(codes) > longestICDList {
		v.addInvalid("too_long", "List should have at most 50 items", at...)
	}
}

func (v *review) checkConsentTypes(all []Consent) {
	for i := range all {
		if !slices.Contains(Consents, all[i].Type) {
			v.addInvalid("enum", fault.EnumMessage(Consents), "consents", strconv.Itoa(i), "consentType")
		}
		if all[i].Version == "" {
			all[i].Version = "1.0"
		}
	}
}

// oneOf refuses a word that is not in the list.
func oneOf[T ~string](v *review, field string, word T, words []T) {
	if !slices.Contains(words, word) {
		v.addInvalid("enum", fault.EnumMessage(words), field)
	}
}

var newYork = func() *time.Location {
	zone, err := civil.Zone("America/New_York")
	if err != nil {
		panic(err) // the zone database is embedded
	}
	return zone
}()

// Today returns the current day in the sense of activate_by: the day in New
// York, where the day of the labs begins.
func Today(now time.Time) civil.Date { return civil.DateOf(now.In(newYork)) }

// checkUser checks that the user exists.
func (v *review) checkUser(ctx context.Context, id users.ID) {
	err := users.Exists(ctx, v.tx, v.team, id)
	if fault.Is(err, fault.NotFound) {
		err = unknownUser().At("body", "user_id")
	}
	v.check(err)
}

func unknownUser() *fault.Error {
	return fault.New(fault.NotFound, "User does not exist on this team").WithType("unknown_user")
}

// placement holds the panel and the account of an order.
type placement struct {
	panel   catalogue.Panel
	account catalogue.Account
}

// resolver is catalogue.ResolveOrderSet or, for a dry run,
// catalogue.PreviewOrderSet.
type resolver = func(set catalogue.OrderSet, method *Method, account *catalogue.AccountID) (catalogue.Panel, error)

// findPlace finds the lab test and the account of an order.
func (v *review) findPlace(ctx context.Context, resolve resolver, set catalogue.OrderSet, method *Method, account *catalogue.AccountID, forImport bool) (placement, bool) {
	panel, err := resolve(set, method, account)
	if !v.check(err) {
		return placement{}, false
	}
	if account == nil {
		account = panel.Test.Account // a test that only one account offers
	}
	chosen, err := catalogue.ChooseAccount(ctx, v.tx, v.team, panel.Lab.ID, account, forImport)
	return placement{panel, chosen}, v.check(err)
}

// checkTerms checks the requirements of the lab and the account. Those of a state wait
// until the order has one.
func (v *review) checkTerms(p placement, state string, billing catalogue.Billing, physician *catalogue.Physician) {
	if state != "" && !catalogue.ServesState(p.panel.Lab, state) {
		v.refuse("lab_state", fmt.Sprintf("Lab %s does not support state %s", p.panel.Lab.Name, state), "patient_address", "state")
	}
	if state != "" && !catalogue.BillingAllowed(p.account, billing, state) {
		v.refuse("billing_not_allowed", fmt.Sprintf("billing_type %s is not allowed for this lab account in %s", billing, state), "billing_type")
	}
	if p.account.Flow.TeamOrders() && physician == nil {
		v.refuse("physician_missing", "A physician is required: orders under this lab account are delegated to the team", "physician")
	}
}

// checkMinor refuses orders for children, except if the team allows them and the
// order has a medical proxy.
func (v *review) checkMinor(ctx context.Context, user users.ID, p *Patient) {
	if p.Age(v.today) >= adultAge {
		return
	}
	team, err := teams.Get(ctx, v.tx, v.team)
	if !v.check(err) {
		return
	}
	if !team.Settings.MinorOrdering {
		v.refuse("minor_not_allowed", "The team may not order for patients under 18: patient_details.dob", "patient_details", "dob")
		return
	}
	if p.MedicalProxy != nil {
		return
	}
	info, err := users.LatestInfo(ctx, v.tx, v.team, user)
	switch {
	case err == nil && info.MedicalProxy != nil:
		p.MedicalProxy = info.MedicalProxy
	case err == nil, fault.Is(err, fault.NotFound):
		v.refuse("medical_proxy_missing", "A medical_proxy is required for patients under 18: patient_details.medical_proxy", "patient_details", "medical_proxy")
	default:
		v.check(err)
	}
}

// findInsurance finds the record that pays for an insured order.
//
// Reference 1.18.
func (v *review) findInsurance(ctx context.Context, user users.ID, billing catalogue.Billing, codes []string) *uuid.UUID {
	if len(codes) > 0 && v.check(diagnoses.CheckCodes(ctx, v.tx, codes, "icd_codes")) {
		v.warnExclusions(ctx, codes)
	}
	if billing != catalogue.CommercialInsurance {
		return nil
	}
	if len(codes) == 0 {
		v.refuse("icd_codes_missing", "icd_codes must name at least one diagnosis when billing_type is commercial_insurance", "icd_codes")
	}
	switch _, err := users.LatestInfo(ctx, v.tx, v.team, user); {
	case users.IsNoInfo(err):
		v.refuse("demographics_missing", "The user needs demographics before insurance can be billed", "user_id")
	case fault.Is(err, fault.NotFound): // an unknown user was reported before
		return nil
	case err != nil:
		v.check(err)
		return nil
	}
	id, ok, err := insurance.PrimaryID(ctx, v.tx, v.team, user)
	switch {
	case err != nil:
		v.check(err)
	case !ok:
		v.refuse("insurance_missing", "The user has no primary insurance", "user_id")
	default:
		v.checkBillable(ctx, user, id)
		return &id
	}
	return nil
}

// checkBillable refuses an insurance record that cannot be billed.
func (v *review) checkBillable(ctx context.Context, user users.ID, id uuid.UUID) {
	record, err := insurance.Get(ctx, v.tx, v.team, user, id)
	if !v.check(err) {
		return
	}
	for _, w := range record.Warnings() {
		v.refuse(w.Code, "The user's primary insurance cannot be billed: "+w.Message, "user_id")
	}
}

// checkAnswers checks the answers to the questions of the markers. It adds answers
// that follow from the lab test or have a default.
//
// Reference 1.16, AOE.
func (v *review) checkAnswers(p catalogue.Panel, given []Answer) []Answer {
	all := slices.Clone(given)
	var open []string
	for _, m := range p.Markers {
		for _, q := range m.Questions {
			at := slices.IndexFunc(all, func(a Answer) bool { return a.MarkerID == m.ID && a.QuestionID == q.ID })
			if at >= 0 {
				all[at].Answer = strings.TrimSpace(all[at].Answer)
			}
			switch {
			case at >= 0 && all[at].Answer != "":
				v.checkAnswer(q, all[at].Answer)
			case q.Code == catalogue.FastingCode:
				all = putAnswer(all, at, Answer{m.ID, q.ID, fastingAnswer(q, p.Fasting)})
			case q.Default != "":
				all = putAnswer(all, at, Answer{m.ID, q.ID, q.Default})
			case q.Required:
				open = append(open, q.Value)
			}
		}
	}
	for i, a := range given {
		if !isAsked(p, a) {
			v.refuse("unknown_question", fmt.Sprintf("aoe_answers names marker %d, which has no question %d in this order", a.MarkerID, a.QuestionID), "aoe_answers")
		}
		if slices.ContainsFunc(given[:i], func(b Answer) bool { return a.MarkerID == b.MarkerID && a.QuestionID == b.QuestionID }) {
			v.refuse("aoe_repeated", fmt.Sprintf("aoe_answers has several answers to question %d of marker %d", a.QuestionID, a.MarkerID), "aoe_answers")
		}
	}
	if len(open) > 0 {
		slices.Sort(open)
		v.refuse("aoe_missing", "aoe_answers lacks answers to required questions: "+strings.Join(slices.Compact(open), "; "), "aoe_answers")
	}
	return slices.DeleteFunc(all, func(a Answer) bool { return a.Answer == "" })
}

func putAnswer(all []Answer, at int, a Answer) []Answer {
	if at >= 0 {
		all[at] = a
		return all
	}
	return append(all, a)
}

func isAsked(p catalogue.Panel, a Answer) bool {
	return slices.ContainsFunc(p.Markers, func(m *catalogue.Marker) bool {
		return m.ID == a.MarkerID && slices.ContainsFunc(m.Questions, func(q catalogue.Question) bool { return q.ID == a.QuestionID })
	})
}

// fastingAnswer returns the answer to the fasting question, from the lab test.
func fastingAnswer(q catalogue.Question, fasts bool) string {
	want := map[bool]string{true: "Y", false: "N"}[fasts]
	for _, a := range q.Answers {
		if strings.HasPrefix(strings.ToUpper(a.Code), want) {
			return a.Code
		}
	}
	return want
}

// decimal is a number of HL7 (type NM), which has no exponent.
var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)$`)

// checkAnswer checks one answer. Answers are personal data, so the message does not
// contain it.
func (v *review) checkAnswer(q catalogue.Question, text string) {
	known := func(code string) bool {
		return slices.ContainsFunc(q.Answers, func(a catalogue.Answer) bool { return a.Code == strings.TrimSpace(code) })
	}
	bad := false
	switch q.Type {
	case catalogue.Choice:
		bad = !known(text)
	case catalogue.MultiChoice:
		bad = slices.ContainsFunc(strings.Split(text, ","), func(code string) bool { return !known(code) })
	case catalogue.Text:
	case catalogue.Numeric:
		bad = !decimal.MatchString(text)
	}
	if bad || len([]rune(text)) > LongestNotes {
		v.refuse("aoe_answer", "aoe_answers has no valid answer to the question: "+q.Value, "aoe_answers")
	}
}

// checkPatient checks the patient and normalizes the fields.
//
// Reference 1.9, PatientDetailsWithValidation.
func (v *review) checkPatient(p *Patient) {
	form := v.form.In("patient_details")
	p.FirstName = form.Name("first_name", p.FirstName)
	p.LastName = form.Name("last_name", p.LastName)
	form.BirthDate("dob", p.BirthDate)
	p.Gender = strings.ToLower(strings.TrimSpace(p.Gender))
	form.Required("gender", p.Gender, person.Genders)
	p.Email = form.Email("email", p.Email)
	p.PhoneNumber = v.checkPhone(form, p.PhoneNumber, "patient_details")
	if p.MedicalProxy != nil {
		proxy := form.Guarantor("medical_proxy", *p.MedicalProxy)
		p.MedicalProxy = &proxy
	}
	form.OneOf("race", p.Race, users.Races)
	form.OneOf("ethnicity", p.Ethnicity, users.Ethnicities)
	form.OneOf("sexual_orientation", p.SexualOrientation, users.Orientations)
	form.OneOf("gender_identity", p.GenderIdentity, users.Identities)
	for field, n := range map[string]*int64{"household_income": p.HouseholdIncome, "household_size": p.HouseholdSize} {
		if n != nil && *n < 0 {
			form.Fail(field, "greater_than_equal", "Input should be greater than or equal to 0")
		}
	}
}

// warnOtherPerson warns of details of the patient that differ from those of the
// user: the results of the order will be those of the user. The warnings do not
// contain the values, which are personal.
func (v *review) warnOtherPerson(ctx context.Context, user users.ID, p *Patient) {
	info, err := users.LatestInfo(ctx, v.tx, v.team, user)
	if fault.Is(err, fault.NotFound) { // no demographics, or an unknown user, which was reported before
		return
	}
	if !v.check(err) {
		return
	}
	for _, c := range []struct {
		field string
		same  bool
	}{
		{"first_name", Fold(p.FirstName) == Fold(info.FirstName)},
		{"last_name", Fold(p.LastName) == Fold(info.LastName)},
		{"dob", p.BirthDate == info.BirthDate},
		{"gender", p.Gender == strings.ToLower(strings.TrimSpace(info.Gender))},
	} {
		if !c.same {
			v.warn("patient_differs_from_user", c.field+" differs from the demographics of the user: check that the order is for the right person", "patient_details", c.field)
		}
	}
}

// checkPhone checks a telephone number. Area code 555 is never assigned; the
// reference refuses it with a 400, after all invalid fields.
func (v *review) checkPhone(form person.Form, number, object string) string {
	number = form.Phone("phone_number", number)
	if strings.HasPrefix(number, "+1555") {
		v.refuse("phone_number_incorrect", "Phone number is not correct", object, "phone_number")
	}
	return number
}

// checkAddress checks the patient's address.
//
// Reference 1.9, PatientAddressWithValidation.
func (v *review) checkAddress(field string, a *Address) {
	a.Address = v.form.Address(field, a.Address)
	form := v.form.In(field)
	if a.Country != person.US {
		form.Fail("country", "value_error", "Value error, orders are placed in the United States")
	}
	a.Receiver = form.Optional("receiver_name", a.Receiver, LongestLine)
	if !places.IsInState(a.Zip, a.State) {
		v.refuse("zip_state", "The zip code is in another state: "+field+".zip", field, "zip")
	}
	if strings.TrimSpace(a.PhoneNumber) != "" {
		a.PhoneNumber = v.checkPhone(form, a.PhoneNumber, field)
	}
}

// LongestLine limits the length of a one-line text of an order, in characters.
const LongestLine = 200

// checkImportedAddress checks only the required fields of an imported order's
// address, because the lab already has it. A ZIP code of another state is a warning.
//
// Reference 1.13.
func (v *review) checkImportedAddress(field string, a *Address) {
	form := v.form.In(field)
	a.Receiver = form.Text("receiver_name", a.Receiver, LongestLine)
	a.FirstLine = form.Text("first_line", a.FirstLine, LongestLine)
	a.SecondLine = form.Optional("second_line", a.SecondLine, LongestLine)
	a.City = form.Text("city", a.City, LongestLine)
	a.State = strings.ToUpper(form.Text("state", a.State, LongestLine))
	a.Zip = form.Text("zip", a.Zip, LongestLine)
	a.Country = strings.ToUpper(form.Text("country", a.Country, LongestLine))
	a.AccessNotes = form.Optional("access_notes", a.AccessNotes, LongestNotes)
	a.PhoneNumber = form.Optional("phone_number", a.PhoneNumber, LongestLine)
	if !places.IsInState(a.Zip, a.State) {
		v.warn("zip_state", "The zip code is in another state", field, "zip")
	}
}

// checkShipping checks the address for a kit.
//
// Reference 1.12, ShippingAddressWithValidation.
func (v *review) checkShipping(a *Address) {
	v.checkAddress("shipping_details", a)
	form := v.form.In("shipping_details")
	if a.Receiver == "" {
		form.Fail("receiver_name", "string_too_short", "String should have at least 1 character")
	}
	if a.PhoneNumber == "" {
		form.Fail("phone_number", "string_too_short", "String should have at least 1 character")
	}
}

// checkPhysician checks the ordering physician of the request.
func (v *review) checkPhysician(p *catalogue.Physician) {
	if p == nil {
		return
	}
	form := v.form.In("physician")
	p.FirstName = form.Text("first_name", p.FirstName, LongestLine)
	p.LastName = form.Text("last_name", p.LastName, LongestLine)
	if strings.TrimSpace(p.Email) != "" {
		p.Email = form.Email("email", p.Email)
	}
	p.NPI = strings.TrimSpace(p.NPI)
	if len(p.NPI) != 10 || strings.Trim(p.NPI, "0123456789") != "" {
		form.Fail("npi", "value_error", "Value error, an NPI has ten digits")
	}
	if len(p.Signature) > 0 {
		image, err := normalizeSignature(p.Signature)
		if err != nil {
			v.form.In("physician").In("signature_image").Fail("content", "value_error", "Value error, "+errSignature.Error())
		}
		p.Signature = image
	}
	for _, s := range p.States {
		if !slices.Contains(catalogue.States, s) && s != "DC" {
			form.Fail("licensed_states", "enum", fault.EnumMessage(append(slices.Clip(catalogue.States), "DC")))
			return
		}
	}
}

// checkConsents checks for the patient's consent to treatment by a physician of the
// platform, who signs if the request has no physician. The operator decides
// which consents are required, so a consent of any type is enough. Only teams
// with the setting are refused; the sandbox of the reference accepts orders
// without consents.
//
// Reference 1.9, consents; 1.12.
func (v *review) checkConsents(ctx context.Context, own *catalogue.Physician, given []Consent) {
	if own != nil || len(given) > 0 {
		return
	}
	team, err := teams.Get(ctx, v.tx, v.team)
	if !v.check(err) {
		return
	}
	const code, msg = "consents_missing", "consents are required when no physician of the team signs the order"
	if team.Settings.ConsentsRequired {
		v.refuse(code, msg, "consents")
		return
	}
	v.warn(code, "An order that no physician of the team signs needs the patient's consents", "consents")
}

// warnExclusions warns of diagnoses that the Excludes notes of ICD-10-CM separate.
// It does not refuse them. Unrelated conditions may be coded together in spite of
// an Excludes1 note (Official Guidelines, I.A.12.a). Only a coder can decide that.
// The warning names the positions of the codes, because the codes are personal
// data.
//
// Reference 1.18, validate_icd_codes.
func (v *review) warnExclusions(ctx context.Context, codes []string) {
	verdict, err := diagnoses.Validate(ctx, v.tx, codes)
	if !v.check(err) {
		return
	}
	at := func(code string) int {
		return slices.IndexFunc(codes, func(given string) bool { tidy, _ := diagnoses.Tidy(given); return tidy == code })
	}
	for _, c := range slices.Concat(verdict.Violations, verdict.Warnings) {
		msg := "icd_codes %d and %d exclude each other (Excludes1): use both only if the conditions are unrelated"
		if c.Kind == diagnoses.Excludes2 {
			msg = "icd_codes %d and %d are not part of each other (Excludes2): the patient must have both"
		}
		first, second := at(c.Code), at(c.Other)
		v.warn("icd_"+string(c.Kind), fmt.Sprintf(msg, first, second), "icd_codes", strconv.Itoa(second))
	}
}
