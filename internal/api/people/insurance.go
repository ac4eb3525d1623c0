package people

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/people/insurance"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

func (h *Handlers) insuranceRoutes() []api.Route {
	return []api.Route{
		api.Post("/v2/user/{user_id}/insurance", h.createInsurance, "Add an insurance record").Creates().Sensitive(),
		api.Get("/v2/user/{user_id}/insurance/latest", h.latestInsurance, "Get the newest insurance record"),
	}
}

// Types for the words of insurance records and payors.
type (
	relationshipWord  string
	payorSourceWord   string
	clearingHouseWord string
)

func (relationshipWord) Schema(huma.Registry) *huma.Schema { return api.Enum(insurance.Relationships) }
func (payorSourceWord) Schema(huma.Registry) *huma.Schema  { return api.Enum(insurance.Sources) }
func (clearingHouseWord) Schema(huma.Registry) *huma.Schema {
	return api.Enum(insurance.ClearingHouses())
}

type createInsuranceIn struct {
	api.UserPath
	Body createInsuranceInBody
}

type createInsuranceInBody struct {
	PayorCode    string                        `json:"payor_code" doc:"A code of the payor directory; MEDFED or MAIDFED for the plan of the insured person's state. Any other text is stored with a warning."`
	MemberID     string                        `json:"member_id"`
	GroupID      *string                       `json:"group_id" required:"false"`
	Relationship relationshipWord              `json:"relationship"`
	Insured      insuredIn                     `json:"insured"`
	Guarantor    api.ObjectOrNull[GuarantorIn] `json:"guarantor" required:"false" doc:"Guarantor of the record. Orders require it to bill the record, unless the relationship is Self."`
	IsPrimary    *bool                         `json:"is_primary" required:"false" default:"true"`
}

// TransformSchema states the rules of the domain.
func (createInsuranceInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"payor_code": api.StateText(insurance.MaxCode), "member_id": api.StateText(insurance.MaxNumber), "group_id": api.StateOptional(insurance.MaxNumber),
	})
}

type insuredIn struct {
	FirstName   string       `json:"first_name"`
	LastName    string       `json:"last_name"`
	Gender      string       `json:"gender" doc:"female, male, other, unknown, or any other text."`
	DOB         api.DateText `json:"dob"`
	Email       string       `json:"email"`
	PhoneNumber string       `json:"phone_number"`
	Address     addressIn    `json:"address"`
}

// TransformSchema states the rules of the domain.
func (insuredIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"first_name": api.StateName(), "last_name": api.StateName(), "email": api.StateEmail(), "phone_number": api.StatePhone(),
		"gender": api.StateText(insurance.MaxGender),
	})
}

// insuranceBody is an insurance record in an answer.
//
// Spec: Insurance record.
type insuranceBody struct {
	PayorCode    string         `json:"payor_code"`
	MemberID     string         `json:"member_id"`
	GroupID      *string        `json:"group_id"`
	Relationship string         `json:"relationship" doc:"Self, Spouse or Other. The list may grow."`
	Insured      insuredBody    `json:"insured"`
	Company      companyBody    `json:"company"`
	Guarantor    *guarantorBody `json:"guarantor,omitempty"`
	IsPrimary    bool           `json:"is_primary"`

	Warnings []insuranceWarning `json:"warnings,omitempty" doc:"Reasons why orders cannot bill this record; absent if they can."`
}

type insuranceWarning struct {
	Code string   `json:"code" doc:"payor_unknown, state_plan_unknown or guarantor_missing. The list may grow."`
	Loc  []string `json:"loc"`
	Msg  string   `json:"msg"`
}

type insuredBody struct {
	FirstName   string      `json:"first_name"`
	LastName    string      `json:"last_name"`
	Gender      string      `json:"gender"`
	DOB         civil.Date  `json:"dob" format:"date"`
	Email       string      `json:"email"`
	PhoneNumber string      `json:"phone_number"`
	Address     addressBody `json:"address"`
}

type companyBody struct {
	Name    string      `json:"name"`
	Address addressBody `json:"address"`
}

func insuranceOf(r insurance.Record) insuranceBody {
	i := r.Insured
	body := insuranceBody{
		PayorCode: r.PayorCode, MemberID: r.MemberID, GroupID: api.TextOrNull(r.GroupID), Relationship: string(r.Relationship),
		Insured:   insuredBody{i.FirstName, i.LastName, i.Gender, i.BirthDate, i.Email, i.PhoneNumber, addressOf(i.Address)},
		Company:   companyBody{r.Company.Name, addressOf(r.Company.Address)},
		IsPrimary: r.IsPrimary,
	}
	if r.Guarantor != nil {
		g := guarantorOf(*r.Guarantor)
		body.Guarantor = &g
	}
	for _, w := range r.Warnings() {
		body.Warnings = append(body.Warnings, insuranceWarning{w.Code, []string{"body", w.Field}, w.Message})
	}
	return body
}

func (in *createInsuranceIn) record() (insurance.Record, error) {
	b := in.Body
	r := insurance.Record{
		PayorCode: b.PayorCode, MemberID: b.MemberID, GroupID: api.TextOf(b.GroupID), Relationship: insurance.Relationship(b.Relationship),
		Insured: insurance.Insured{
			FirstName: b.Insured.FirstName, LastName: b.Insured.LastName, Gender: b.Insured.Gender,
			Email: b.Insured.Email, PhoneNumber: b.Insured.PhoneNumber,
		},
		IsPrimary: b.IsPrimary == nil || *b.IsPrimary,
	}
	var err1, err2, err3 *fault.Error
	r.Insured.BirthDate, err1 = b.Insured.DOB.Date("insured", "dob")
	r.Insured.Address, err2 = b.Insured.Address.address("body", "insured", "address")
	r.Guarantor, err3 = GuarantorFrom(b.Guarantor, "body", "guarantor")
	return r, fault.Join(err1, err2, err3)
}

func (h *Handlers) createInsurance(ctx context.Context, c api.Caller, in *createInsuranceIn) (*api.Out[insuranceBody], error) {
	r, err := in.record()
	if err != nil {
		return nil, err
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (insuranceBody, error) {
		made, err := insurance.Create(ctx, tx, c.Team, in.UserID, r)
		if err != nil {
			return insuranceBody{}, err
		}
		return insuranceOf(made), nil
	})
}

type latestInsuranceIn struct {
	api.UserPath
	IsPrimary bool `query:"is_primary" default:"true" doc:"Return the newest primary record (true), or the newest of the others (false)."`
}

func (h *Handlers) latestInsurance(ctx context.Context, c api.Caller, in *latestInsuranceIn) (*api.Out[insuranceBody], error) {
	var r insurance.Record
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		r, err = insurance.GetLatest(ctx, tx, c.Team, in.UserID, in.IsPrimary)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(insuranceOf(r)), nil
}

func (h *Handlers) payorRoutes() []api.Route {
	return []api.Route{
		api.Get("/v3/insurance/search/payor", h.searchPayors, "Find payors by name or by a clearing house's code"),
		api.Post("/v3/insurance/search/payor", h.searchPayorsByBody, "Find payors").Deprecated().Reads(),
		api.Post("/v3/payor", h.createPayor, "Add a payor of your own").Creates(),
	}
}

// payorBody is a payor in an answer.
//
// Reference 1.18, ClientFacingPayor and ClientFacingPayorSearchResponse.
type payorBody struct {
	PayorCode string `json:"payor_code" doc:"Code for payor_code of an insurance record."`
	PayorDetails
}

// oldPayorBody has the code under its earlier name.
//
// Reference 1.18, ClientFacingPayorSearchResponseDeprecated.
type oldPayorBody struct {
	Code string `json:"code"`
	PayorDetails
}

// PayorDetails has the fields of a payor except its code.
type PayorDetails struct {
	Name    string          `json:"name"`
	Aliases []string        `json:"aliases"`
	Address addressBody     `json:"org_address" doc:"Address of the payor. It has only the country if the address is not known."`
	Source  payorSourceWord `json:"source" doc:"Source of the payor. team means that POST /v3/payor added it."`
}

func detailsOfPayor(p insurance.Payor) PayorDetails {
	return PayorDetails{Name: p.Name, Aliases: append([]string{}, p.Aliases...), Address: addressOf(p.Address), Source: payorSourceWord(p.Source)}
}

func payorOf(p insurance.Payor) payorBody { return payorBody{p.Code, detailsOfPayor(p)} }

type searchPayorsIn struct {
	Name     string            `query:"insurance_name" maxLength:"200" doc:"The name or an alias, its beginning, or a similar text."`
	Provider clearingHouseWord `query:"provider" doc:"Clearing house whose code provider_payor_id is."`
	Code     string            `query:"provider_payor_id" maxLength:"64" doc:"The clearing house's code of the payor."`
}

func (h *Handlers) searchPayors(ctx context.Context, c api.Caller, in *searchPayorsIn) (*api.Out[[]payorBody], error) {
	found, err := h.findPayors(ctx, c, insurance.Query{Name: in.Name, Provider: string(in.Provider), Code: in.Code})
	if err != nil {
		return nil, err
	}
	body := make([]payorBody, len(found))
	for i, p := range found {
		body[i] = payorOf(p)
	}
	return api.Answer(body), nil
}

type searchPayorsByBodyIn struct {
	Body searchPayorsByBodyInBody
}

type searchPayorsByBodyInBody struct {
	Name     *string `json:"insurance_name" required:"false" maxLength:"200"`
	Provider *string `json:"provider" required:"false" doc:"change_healthcare, availity, stedi, waystar, claim_md, apero or pverify."`
	Code     *string `json:"provider_id" required:"false" maxLength:"64" doc:"The clearing house's code of the payor."`
}

// TransformSchema states the rules of the domain.
func (searchPayorsByBodyInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	named := noCodeOfHouse("provider_id")
	named.Required = []string{"insurance_name"}
	named.Properties["insurance_name"] = &huma.Schema{Type: huma.TypeString, Pattern: `[a-zA-Z0-9]|[^\x00-\x7f]`}
	return api.State(s, map[string]api.Keywords{"": api.StateAny(codeOfHouse("provider_id"), named)})
}

func (h *Handlers) searchPayorsByBody(ctx context.Context, c api.Caller, in *searchPayorsByBodyIn) (*api.Out[[]oldPayorBody], error) {
	found, err := h.findPayors(ctx, c, insurance.Query{
		Name: api.TextOf(in.Body.Name), Provider: api.TextOf(in.Body.Provider), Code: api.TextOf(in.Body.Code), Body: true,
	})
	if err != nil {
		return nil, err
	}
	body := make([]oldPayorBody, len(found))
	for i, p := range found {
		body[i] = oldPayorBody{p.Code, detailsOfPayor(p)}
	}
	return api.Answer(body), nil
}

func (h *Handlers) findPayors(ctx context.Context, c api.Caller, q insurance.Query) (found []insurance.Payor, err error) {
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		found, err = insurance.Search(ctx, tx, c.Team, q)
		return err
	})
	return found, err
}

type createPayorIn struct {
	Body createPayorInBody
}

type createPayorInBody struct {
	Name     string    `json:"name" maxLength:"200"`
	Address  addressIn `json:"address"`
	Provider *string   `json:"provider" required:"false" doc:"Clearing house whose code provider_payor_id is: change_healthcare, availity, stedi, waystar, claim_md, apero or pverify."`
	Code     *string   `json:"provider_payor_id" required:"false" maxLength:"64" doc:"The clearing house's code of the payor."`
}

// TransformSchema states the rules of the domain.
func (createPayorInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"name": api.StateText(insurance.MaxName), "": api.StateAny(codeOfHouse("provider_payor_id"), noCodeOfHouse("provider_payor_id")),
	})
}

// codeOfHouse states that a body has a clearing house and its code of a payor.
func codeOfHouse(field string) *huma.Schema {
	return api.Object([]string{"provider", field}, map[string]*huma.Schema{
		"provider": api.StateWords(insurance.ClearingHouses(), false).Text(), field: api.StateText(insurance.MaxExternal).Text(),
	})
}

// noCodeOfHouse states that a body has neither.
func noCodeOfHouse(field string) *huma.Schema {
	return api.Object(nil, map[string]*huma.Schema{"provider": {Pattern: `^\s*$`}, field: {Pattern: `^\s*$`}})
}

func (h *Handlers) createPayor(ctx context.Context, c api.Caller, in *createPayorIn) (*api.Out[payorBody], error) {
	address, missing := in.Body.Address.address("body", "address")
	if missing != nil {
		return nil, missing
	}
	asked := insurance.NewPayor{
		Company:  insurance.Company{Name: in.Body.Name, Address: address},
		Provider: api.TextOf(in.Body.Provider), Code: api.TextOf(in.Body.Code),
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (payorBody, error) {
		made, err := insurance.CreatePayor(ctx, tx, c.Team, asked)
		if err != nil {
			return payorBody{}, err
		}
		return payorOf(made), nil
	})
}
