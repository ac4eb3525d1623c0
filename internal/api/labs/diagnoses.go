package labs

import (
	"context"

	"hale/internal/api"
	"hale/internal/labs/diagnoses"
	"hale/internal/platform/store"
)

func (h *Handlers) diagnosisRoutes() []api.Route {
	return []api.Route{
		api.Get("/v3/insurance/search/diagnosis", h.searchDiagnoses, "Find ICD-10-CM codes"),
		api.Post("/v3/insurance/validate_icd_codes", h.validateCodes, "Check that ICD-10-CM codes exist and may be used together").Sensitive().Reads(),
	}
}

// diagnosisBody is a diagnosis code in JSON.
//
// Reference 1.18, ClientFacingDiagnosisInformation.
type diagnosisBody struct {
	Code        string `json:"diagnosis_code" doc:"Code with its dot, such as E11.65."`
	Description string `json:"description" doc:"The official title."`
	IsSecondary bool   `json:"is_secondary" doc:"Must not be the first code of an order, because it names a manifestation, an agent or an external cause."`
}

type searchDiagnosesIn struct {
	Query string `query:"diagnosis_query" required:"true" minLength:"1" maxLength:"200" doc:"Words of the title, everyday words for it, or the start of a code."`
}

func (h *Handlers) searchDiagnoses(ctx context.Context, _ api.Caller, in *searchDiagnosesIn) (*api.Out[[]diagnosisBody], error) {
	var found []diagnoses.Diagnosis
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		found, err = diagnoses.Search(ctx, tx, in.Query)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := make([]diagnosisBody, len(found))
	for i, d := range found {
		body[i] = diagnosisBody{d.Code, d.Title, d.Secondary}
	}
	return api.Answer(body), nil
}

type validateCodesIn struct {
	Body struct {
		Codes []string `json:"codes" maxItems:"100" doc:"Codes with or without dots."`
	}
}

// verdictBody reports whether codes may be used together.
//
// Reference 1.18, ValidateICDCodesResponse.
type verdictBody struct {
	Valid      bool            `json:"valid" doc:"Whether there are no errors and no violations."`
	Errors     []string        `json:"errors" doc:"Codes that do not exist, are incomplete, or are duplicates."`
	Violations []violationBody `json:"violations" doc:"Pairs that must not be used together."`
	Warnings   []overlapBody   `json:"warnings" doc:"Pairs that may be used together only if the patient has both conditions."`
}

type violationBody struct {
	Code          string `json:"code"`
	ConflictsWith string `json:"conflicts_with"`
	Type          string `json:"type" doc:"excludes1"`
}

type overlapBody struct {
	Code         string `json:"code"`
	OverlapsWith string `json:"overlaps_with"`
	Type         string `json:"type" doc:"excludes2"`
}

func (h *Handlers) validateCodes(ctx context.Context, _ api.Caller, in *validateCodesIn) (*api.Out[verdictBody], error) {
	var v diagnoses.Verdict
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		v, err = diagnoses.Validate(ctx, tx, in.Body.Codes)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := verdictBody{Valid: v.Valid(), Errors: v.Errors, Violations: []violationBody{}, Warnings: []overlapBody{}}
	for _, clash := range v.Violations {
		body.Violations = append(body.Violations, violationBody{clash.Code, clash.Other, string(clash.Kind)})
	}
	for _, clash := range v.Warnings {
		body.Warnings = append(body.Warnings, overlapBody{clash.Code, clash.Other, string(clash.Kind)})
	}
	return api.Answer(body), nil
}
