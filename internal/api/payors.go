package api

import (
	"context"

	"hale/internal/people/insurance"
	"hale/internal/platform/store"
)

func (a *API) payorRoutes() []route {
	return []route{
		get("/v3/insurance/search/payor", a.searchPayors, "Find payors by name or by a clearing house's code"),
		post("/v3/insurance/search/payor", a.searchPayorsByBody, "Find payors").deprecated(),
		post("/v3/payor", a.createPayor, "Add a payor of your own").creates(),
	}
}

// payorBody is a payor on the wire.
//
// Reference 1.18, ClientFacingPayor and ClientFacingPayorSearchResponse.
type payorBody struct {
	PayorCode string `json:"payor_code" doc:"For payor_code of an insurance record."`
	PayorDetails
}

// oldPayorBody has the code under its earlier name.
//
// Reference 1.18, ClientFacingPayorSearchResponseDeprecated.
type oldPayorBody struct {
	Code string `json:"code"`
	PayorDetails
}

// PayorDetails is what is known of a payor.
type PayorDetails struct {
	Name    string      `json:"name"`
	Aliases []string    `json:"aliases"`
	Address addressBody `json:"org_address" doc:"Empty but for the country where it is not known."`
	Source  string      `json:"source" enum:"platform,team" doc:"team: added by POST /v3/payor."`
}

func detailsOfPayor(p insurance.Payor) PayorDetails {
	return PayorDetails{Name: p.Name, Aliases: append([]string{}, p.Aliases...), Address: addressOf(p.Address), Source: string(p.Source)}
}

func payorOf(p insurance.Payor) payorBody { return payorBody{p.Code, detailsOfPayor(p)} }

type searchPayorsIn struct {
	Name     string `query:"insurance_name" maxLength:"200" doc:"The name or an alias, also its beginning or misspelt."`
	Provider string `query:"provider" enum:"change_healthcare,availity,stedi,waystar,claim_md,apero,pverify" doc:"Clearing house whose code provider_payor_id is."`
	Code     string `query:"provider_payor_id" maxLength:"64" doc:"What the clearing house calls the payor."`
}

func (a *API) searchPayors(ctx context.Context, c Caller, in *searchPayorsIn) (*out[[]payorBody], error) {
	found, err := a.findPayors(ctx, c, insurance.Query{Name: in.Name, Provider: in.Provider, Code: in.Code})
	if err != nil {
		return nil, err
	}
	body := make([]payorBody, len(found))
	for i, p := range found {
		body[i] = payorOf(p)
	}
	return answer(body), nil
}

type searchPayorsByBodyIn struct {
	Body struct {
		Name     *string `json:"insurance_name" required:"false" maxLength:"200"`
		Provider *string `json:"provider" required:"false" doc:"change_healthcare, availity, stedi, waystar, claim_md, apero or pverify."`
		Code     *string `json:"provider_id" required:"false" maxLength:"64" doc:"What the clearing house calls the payor."`
	}
}

func (a *API) searchPayorsByBody(ctx context.Context, c Caller, in *searchPayorsByBodyIn) (*out[[]oldPayorBody], error) {
	found, err := a.findPayors(ctx, c, insurance.Query{
		Name: word(in.Body.Name), Provider: word(in.Body.Provider), Code: word(in.Body.Code), Body: true,
	})
	if err != nil {
		return nil, err
	}
	body := make([]oldPayorBody, len(found))
	for i, p := range found {
		body[i] = oldPayorBody{p.Code, detailsOfPayor(p)}
	}
	return answer(body), nil
}

func (a *API) findPayors(ctx context.Context, c Caller, q insurance.Query) (found []insurance.Payor, err error) {
	err = a.db.Read(ctx, func(tx *store.Tx) (err error) {
		found, err = insurance.Search(ctx, tx, c.Team, q)
		return err
	})
	return found, err
}

type createPayorIn struct {
	Body struct {
		Name     string    `json:"name" maxLength:"200"`
		Address  addressIn `json:"address"`
		Provider *string   `json:"provider" required:"false" doc:"Clearing house whose code provider_payor_id is: change_healthcare, availity, stedi, waystar, claim_md, apero or pverify."`
		Code     *string   `json:"provider_payor_id" required:"false" maxLength:"64" doc:"What the clearing house calls the payor."`
	}
}

func (a *API) createPayor(ctx context.Context, c Caller, in *createPayorIn) (*out[payorBody], error) {
	address, missing := in.Body.Address.address("body", "address")
	if missing != nil {
		return nil, missing
	}
	asked := insurance.NewPayor{
		Company:  insurance.Company{Name: in.Body.Name, Address: address},
		Provider: word(in.Body.Provider), Code: word(in.Body.Code),
	}
	return answering(ctx, a, func(tx *store.Tx) (payorBody, error) {
		made, err := insurance.CreatePayor(ctx, tx, c.Team, asked)
		if err != nil {
			return payorBody{}, err
		}
		return payorOf(made), nil
	})
}
