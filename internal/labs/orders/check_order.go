package orders

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/diagnoses"
	"hale/internal/people/insurance"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/teams"
)

// user makes sure that the order is for somebody.
func (v *review) user(ctx context.Context, id users.ID) {
	_, err := users.Get(ctx, v.tx, v.team, id)
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, "User does not exist on this team").At("body", "user_id").WithType("unknown_user")
	}
	v.found(err)
}

// place is where and with whom an order is placed.
type place struct {
	panel   catalogue.Panel
	account catalogue.Account
}

// resolve is catalogue.ResolveOrderSet or, for a dry run, catalogue.PreviewOrderSet.
type resolve = func(set catalogue.OrderSet, method *Method, account *catalogue.AccountID) (catalogue.Panel, error)

// place finds the lab test and the account of an order.
func (v *review) place(ctx context.Context, resolve resolve, set catalogue.OrderSet, method *Method, account *catalogue.AccountID, forImport bool) (place, bool) {
	panel, err := resolve(set, method, account)
	if !v.found(err) {
		return place{}, false
	}
	if account == nil {
		account = panel.Test.Account // offered with one account only
	}
	chosen, err := catalogue.ChooseAccount(ctx, v.tx, v.team, panel.Lab.ID, account, forImport)
	return place{panel, chosen}, v.found(err)
}

// terms checks what the lab and the account ask for.
func (v *review) terms(p place, state string, billing catalogue.Billing, physician *catalogue.Physician) {
	if !catalogue.ServesState(p.panel.Lab, state) {
		v.refuse("lab_state", fmt.Sprintf("Lab %s does not support state %s", p.panel.Lab.Name, state), "patient_address", "state")
	}
	if !catalogue.BillingAllowed(p.account, billing, state) {
		v.refuse("billing_not_allowed", fmt.Sprintf("Billing type %s is not allowed for this lab account in %s", billing, state), "billing_type")
	}
	if p.account.Flow.TeamOrders() && physician == nil {
		v.refuse("physician_missing", "A physician is required: orders under this lab account are delegated to the team", "physician")
	}
}

// minor refuses to order for children unless the team may and somebody speaks
// for them.
func (v *review) minor(ctx context.Context, user users.ID, p *Patient) {
	if p.Age(v.today) >= adult {
		return
	}
	team, err := teams.Get(ctx, v.tx, v.team)
	if !v.found(err) {
		return
	}
	if !team.Settings.MinorOrdering {
		v.refuse("minor_not_allowed", "The team may not order for patients under 18", "patient_details", "dob")
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
		v.refuse("medical_proxy_missing", "A medical_proxy is required for patients under 18", "patient_details", "medical_proxy")
	default:
		v.found(err)
	}
}

// insurance finds the record that an insured order is billed to.
//
// Reference 1.18.
func (v *review) insurance(ctx context.Context, user users.ID, billing catalogue.Billing, codes []string) *uuid.UUID {
	if len(codes) > 0 && v.found(diagnoses.Valid(ctx, v.tx, codes, "icd_codes")) {
		v.clashes(ctx, codes)
	}
	if billing != catalogue.CommercialInsurance {
		return nil
	}
	if len(codes) == 0 {
		v.refuse("icd_codes_missing", "icd_codes must name at least one diagnosis when billing_type is commercial_insurance", "icd_codes")
	}
	if _, err := users.LatestInfo(ctx, v.tx, v.team, user); err != nil {
		if users.IsNoInfo(err) {
			v.refuse("demographics_missing", "The user needs demographics before insurance can be billed", "user_id")
			return nil
		}
		if !fault.Is(err, fault.NotFound) { // an unknown user was found before
			v.found(err)
		}
		return nil
	}
	id, ok, err := insurance.InForce(ctx, v.tx, v.team, user)
	switch {
	case err != nil:
		v.found(err)
	case !ok:
		v.refuse("insurance_missing", "The user has no primary insurance", "user_id")
	default:
		v.billable(ctx, user, id)
		return &id
	}
	return nil
}

// billable refuses an insurance record that cannot be billed.
func (v *review) billable(ctx context.Context, user users.ID, id uuid.UUID) {
	record, err := insurance.Get(ctx, v.tx, v.team, user, id)
	if !v.found(err) {
		return
	}
	for _, w := range record.Warnings() {
		v.refuse(w.Code, "The user's primary insurance cannot be billed: "+w.Message, "user_id")
	}
}

// answers checks the answers to the questions of the markers, and fills in
// those that follow from the lab test or have a default.
//
// Reference 1.16, AOE.
func (v *review) answers(p catalogue.Panel, given []Answer) []Answer {
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
				v.answer(q, all[at].Answer)
			case q.Code == catalogue.FastingCode:
				all = putAnswer(all, at, Answer{m.ID, q.ID, fasting(q, p.Fasting)})
			case q.Default != "":
				all = putAnswer(all, at, Answer{m.ID, q.ID, q.Default})
			case q.Required:
				open = append(open, q.Value)
			}
		}
	}
	for i, a := range given {
		if !isAsked(p, a) {
			v.refuse("unknown_question", fmt.Sprintf("Marker %d of this order has no question %d", a.MarkerID, a.QuestionID), "aoe_answers")
		}
		if slices.ContainsFunc(given[:i], func(b Answer) bool { return a.MarkerID == b.MarkerID && a.QuestionID == b.QuestionID }) {
			v.refuse("aoe_repeated", fmt.Sprintf("Question %d of marker %d is answered more than once", a.QuestionID, a.MarkerID), "aoe_answers")
		}
	}
	if len(open) > 0 {
		slices.Sort(open)
		v.refuse("aoe_missing", "Required AOE questions are not answered: "+strings.Join(slices.Compact(open), "; "), "aoe_answers")
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

// fasting answers the question whether the person fasts by the lab test.
func fasting(q catalogue.Question, fasts bool) string {
	want := map[bool]string{true: "Y", false: "N"}[fasts]
	for _, a := range q.Answers {
		if strings.HasPrefix(strings.ToUpper(a.Code), want) {
			return a.Code
		}
	}
	return want
}

// decimal is a number as HL7 writes it (type NM), which has no exponent.
var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)$`)

// answer checks one answer. What was answered is personal and not repeated.
func (v *review) answer(q catalogue.Question, text string) {
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
	if bad || len([]rune(text)) > longestNotes {
		v.refuse("aoe_answer", "This is no answer to the question: "+q.Value, "aoe_answers")
	}
}
