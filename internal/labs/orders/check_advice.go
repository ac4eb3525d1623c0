package orders

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/diagnoses"
	"hale/internal/platform/teams"
)

// consented asks for the patient's consent to be treated by physicians whom
// they did not choose: those of the platform, who sign what no physician of
// the team does. Which of the consents there must be is for whoever runs the
// service to say, so one of any type will do. Only teams that have the setting
// are refused; the reference's own sandbox takes orders without.
//
// Reference 1.9, consents; 1.12.
func (v *review) consented(ctx context.Context, own *catalogue.Physician, given []Consent) {
	if own != nil || len(given) > 0 {
		return
	}
	team, err := teams.Get(ctx, v.tx, v.team)
	if !v.found(err) {
		return
	}
	const code, msg = "consents_missing", "consents are required when no physician of the team signs the order"
	if team.Settings.ConsentsRequired {
		v.refuse(code, msg, "consents")
		return
	}
	v.advise(code, "The patient's consents belong to an order that no physician of the team signs", "consents")
}

// clashes warns of diagnoses that the Excludes notes of ICD-10-CM keep apart.
// They refuse nothing: two conditions that have nothing to do with each other
// may stand together in spite of an Excludes1 note (Official Guidelines,
// I.A.12.a), and only whoever codes can tell. The codes are said by their
// place, for they are a person's.
//
// Reference 1.18, validate_icd_codes.
func (v *review) clashes(ctx context.Context, codes []string) {
	verdict, err := diagnoses.Validate(ctx, v.tx, codes)
	if !v.found(err) {
		return
	}
	at := func(code string) int {
		return slices.IndexFunc(codes, func(given string) bool { tidy, _ := diagnoses.Tidy(given); return tidy == code })
	}
	for _, c := range slices.Concat(verdict.Violations, verdict.Warnings) {
		msg := "icd_codes %d and %d exclude each other (Excludes1): they stand together only when they have nothing to do with each other"
		if c.Kind == diagnoses.Excludes2 {
			msg = "icd_codes %d and %d are not part of each other (Excludes2): the patient must have both"
		}
		first, second := at(c.Code), at(c.Other)
		v.advise("icd_"+string(c.Kind), fmt.Sprintf(msg, first, second), "icd_codes", strconv.Itoa(second))
	}
}
