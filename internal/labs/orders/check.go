package orders

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// review goes through a request and collects everything that is wrong with
// it. An order is refused with the first part of that: all bad fields, or else
// the first refusal. A dry run gets all of it.
type review struct {
	tx    *store.Tx
	team  teams.ID
	today civil.Date
	form  person.Form
	// faults in the order they were found.
	faults []*fault.Error
	// advice is what forbids nothing and is still worth knowing; a dry run
	// gives it.
	advice []*fault.Error
	// err is a failure of ours, which ends everything.
	err error
}

func newReview(tx *store.Tx, team teams.ID) *review {
	today := Today(tx.Now())
	return &review{tx: tx, team: team, today: today, form: person.NewForm(civil.DateOf(tx.Now()))}
}

// found adds what an error says; one that is not meant for the caller is ours.
func (v *review) found(err error) (ok bool) {
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

// refuse adds a 400 with a code for programs and the field it is about.
func (v *review) refuse(code, msg string, loc ...string) {
	v.faults = append(v.faults, fault.New(fault.Refused, msg).At(append([]string{"body"}, loc...)...).WithType(code))
}

// advise adds what a dry run warns of.
func (v *review) advise(code, msg string, loc ...string) {
	v.advice = append(v.advice, fault.New(fault.Refused, msg).At(append([]string{"body"}, loc...)...).WithType(code))
}

// invalid adds a 422.
func (v *review) invalid(code, msg string, loc ...string) {
	v.faults = append(v.faults, fault.New(fault.Invalid, msg).At(append([]string{"body"}, loc...)...).WithType(code))
}

// problems are all faults, bad fields first.
func (v *review) problems() []*fault.Error {
	var all fault.List
	errors.As(v.form.Err(), &all)
	all = append(all, v.faults...)
	slices.SortStableFunc(all, func(a, b *fault.Error) int { return rank(a) - rank(b) })
	return all
}

// rank is bad fields before what is unknown before what is not allowed.
func rank(e *fault.Error) int {
	switch e.Kind() {
	case fault.Invalid:
		return 0
	case fault.NotFound:
		return 1
	default:
		return 2
	}
}

// verdict is the error that the request is refused with, nil for none.
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
	longestNotes       = 1000 // Spec: Limits, order clinical comments
	longestPassthrough = 10_000
	longestICDList     = 50
	adult              = 18 // years
)

// texts checks what a request says beside the people in it.
func (v *review) texts(r *Request) {
	r.ClinicalNotes = v.form.Optional("clinical_notes", r.ClinicalNotes, longestNotes)
	if r.Passthrough != nil {
		text := v.form.Optional("passthrough", *r.Passthrough, longestPassthrough)
		r.Passthrough = &text
	}
	if r.Billing == "" {
		r.Billing = catalogue.ClientBill
	}
	oneOf(v, "billing_type", r.Billing, catalogue.Billings)
	if r.Method != nil {
		oneOf(v, "collection_method", *r.Method, catalogue.Methods)
	}
	v.consents(r.Consents)
	if r.ActivateBy != nil && r.ActivateBy.Before(v.today) {
		v.refuse("activate_by_past", "activate_by must be today or later", "activate_by")
	}
	v.diagnoses(r.ICDCodes, "icd_codes")
}

func (v *review) diagnoses(codes []string, at ...string) {
	if len(codes) > longestICDList {
		v.invalid("too_long", "List should have at most 50 items", at...)
	}
}

func (v *review) consents(all []Consent) {
	for i := range all {
		if !slices.Contains(Consents, all[i].Type) {
			v.invalid("enum", fault.EnumMessage(Consents), "consents", strconv.Itoa(i), "consentType")
		}
		if all[i].Version == "" {
			all[i].Version = "1.0"
		}
	}
}

// oneOf refuses a word that is not of the list.
func oneOf[T ~string](v *review, field string, word T, words []T) {
	if !slices.Contains(words, word) {
		v.invalid("enum", fault.EnumMessage(words), field)
	}
}

var newYork = func() *time.Location {
	zone, err := civil.Zone("America/New_York")
	if err != nil {
		panic(err) // the zone database is part of the binary
	}
	return zone
}()

// Today is the day in the sense of activate_by: that of New York, where the
// labs' day begins.
func Today(now time.Time) civil.Date { return civil.DateOf(now.In(newYork)) }
