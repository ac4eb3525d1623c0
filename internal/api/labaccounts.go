package api

import (
	"context"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (a *API) labAccountRoutes() []route {
	return []route{
		get("/v3/lab_test/lab_account", a.listLabAccounts, "List the lab accounts that you may order under"),
		get("/v2/team/{team_id}/physicians", a.listPhysicians, "List your team's physicians"),
	}
}

// labAccountBody is a lab account on the wire.
//
// Reference 1.16, ClientFacingLabAccount.
type labAccountBody struct {
	ID                   string              `json:"id" format:"uuid"`
	Lab                  string              `json:"lab" doc:"Slug of the lab."`
	OrgID                *string             `json:"org_id" format:"uuid" doc:"Null for accounts of the platform."`
	Status               string              `json:"status" doc:"active, pending, suspended, ready_to_launch. The list may grow."`
	DelegatedFlow        string              `json:"delegated_flow" doc:"order_delegated, result_delegated, fully_delegated, not_delegated. The list may grow."`
	ProviderAccountID    string              `json:"provider_account_id" doc:"Its number at the lab."`
	AccountName          *string             `json:"account_name"`
	DefaultClinicalNotes *string             `json:"default_clinical_notes" doc:"Printed on every requisition."`
	BusinessUnits        []string            `json:"business_units"`
	AllowedBilling       map[string][]string `json:"allowed_billing" doc:"In which states each billing type may be used."`
	TeamIDAllowlist      []teams.ID          `json:"team_id_allowlist" doc:"Teams it is linked to, as far as you may know; empty for accounts of the platform."`
}

func labAccountOf(account catalogue.Account) labAccountBody {
	b := labAccountBody{
		ID: account.ID.String(), Lab: account.Lab.Slug, Status: string(account.Status), DelegatedFlow: string(account.Flow),
		ProviderAccountID: account.Number, AccountName: orNone(account.Name), DefaultClinicalNotes: orNone(account.DefaultNotes),
		BusinessUnits: append([]string{}, account.BusinessUnits...), AllowedBilling: map[string][]string{}, TeamIDAllowlist: append([]teams.ID{}, account.Teams...),
	}
	if account.Owner != nil {
		b.OrgID = orNone(account.Owner.String())
	}
	for billing, states := range account.AllowedBilling {
		b.AllowedBilling[string(billing)] = states
	}
	return b
}

type labAccountsBody struct {
	Data []labAccountBody `json:"data"`
}

type listLabAccountsIn struct {
	LabAccountID Maybe[catalogue.AccountID] `query:"lab_account_id" format:"uuid"`
	Status       string                     `query:"status" doc:"active, pending, suspended or ready_to_launch, in any case."`
}

func (a *API) listLabAccounts(ctx context.Context, c Caller, in *listLabAccountsIn) (*out[labAccountsBody], error) {
	f := catalogue.AccountFilter{ID: in.LabAccountID.pointer(), Status: catalogue.AccountStatus(strings.ToLower(in.Status))}
	if f.Status != "" && !f.Status.Known() {
		return nil, fault.New(fault.Invalid, "Input should be 'active', 'pending', 'suspended' or 'ready_to_launch'").
			At("query", "status").WithType("enum").WithInput(in.Status)
	}
	body := labAccountsBody{}
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		accounts, err := catalogue.Accounts(ctx, tx, c.Team, f)
		body.Data = []labAccountBody{}
		for _, account := range accounts {
			body.Data = append(body.Data, labAccountOf(account))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

// physicianBody is a physician on the wire.
//
// Reference 1.1, ClientFacingPhysician.
type physicianBody struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	NPI       string `json:"npi"`
}

type physiciansIn struct {
	TeamID teams.ID `path:"team_id" format:"uuid"`
}

func (a *API) listPhysicians(ctx context.Context, c Caller, in *physiciansIn) (*out[[]physicianBody], error) {
	if in.TeamID != c.Team {
		return nil, fault.New(fault.NotFound, "Team not found")
	}
	bodies := []physicianBody{}
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		all, err := catalogue.Physicians(ctx, tx, c.Team)
		bodies = []physicianBody{}
		for _, p := range all {
			bodies = append(bodies, physicianBody{p.FirstName, p.LastName, p.NPI})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(bodies), nil
}
