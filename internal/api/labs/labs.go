package labs

import (
	"context"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (h *Handlers) labRoutes() []api.Route {
	return []api.Route{
		api.Get("/v3/lab_tests/labs", h.listLabs, "List the labs"),
		api.Get("/v3/lab_tests/markers", h.listMarkers, "List orderable markers, or find them by name or lab code").Refuses("unknown_lab_account"),
		api.Post("/v3/lab_tests/list_order_set_markers", h.orderSetMarkers, "List the markers of an order set").Reads().Refuses(setCodes...),
		api.Get("/v3/lab_tests/{lab_test_id}/markers", h.labTestMarkers, "List the markers of a lab test, including possible reflex tests").Refuses("unknown_lab_account"),
		api.Get("/v3/lab_tests/{lab_id}/markers/{provider_id}", h.labMarker, "Get a marker by the lab's code").Refuses("unknown_lab_account"),
	}
}

// labBody is a laboratory in JSON.
//
// Spec: Lab.
type labBody struct {
	ID                int64    `json:"id"`
	Slug              string   `json:"slug"`
	Name              string   `json:"name"`
	FirstLineAddress  string   `json:"first_line_address"`
	City              string   `json:"city"`
	Zipcode           string   `json:"zipcode"`
	CollectionMethods []string `json:"collection_methods" doc:"testkit, walk_in_test, at_home_phlebotomy, on_site_collection. The list may grow."`
	SampleTypes       []string `json:"sample_types" doc:"dried_blood_spot, arm_collector, serum, saliva, urine, stool. The list may grow."`
	LogoURL           *string  `json:"logo_url"`
}

func labOf(l catalogue.Lab) labBody {
	b := labBody{
		ID: l.ID, Slug: l.Slug, Name: l.Name, FirstLineAddress: l.Address, City: l.City, Zipcode: l.Zip,
		CollectionMethods: textsOf(l.Methods), SampleTypes: textsOf(l.SampleTypes),
	}
	if l.LogoURL != "" {
		b.LogoURL = &l.LogoURL
	}
	return b
}

func textsOf[T ~string](words []T) []string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return texts
}

// catalogue returns the labs and markers that the caller's team can see.
func (h *Handlers) catalogue(ctx context.Context, c api.Caller) (found *catalogue.Catalogue, err error) {
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		found, err = catalogue.Load(ctx, tx, c.Team)
		return err
	})
	return found, err
}

func (h *Handlers) listLabs(ctx context.Context, c api.Caller, _ *struct{}) (*api.Out[[]labBody], error) {
	found, err := h.catalogue(ctx, c)
	if err != nil {
		return nil, err
	}
	bodies := []labBody{}
	for _, l := range found.Labs() {
		bodies = append(bodies, labOf(l))
	}
	return api.Answer(bodies), nil
}

// accountInQuery returns the account in a query, nil for none.
func accountInQuery(ctx context.Context, tx *store.Tx, c api.Caller, id catalogue.AccountID) (*catalogue.Account, error) {
	if id.IsZero() {
		return nil, nil
	}
	account, err := catalogue.GetAccount(ctx, tx, c.Team, id)
	return &account, err
}

type labMarkerIn struct {
	LabID        catalogue.LabID     `path:"lab_id"`
	ProviderID   string              `path:"provider_id" doc:"The lab's own code."`
	LabAccountID catalogue.AccountID `query:"lab_account_id" format:"uuid" doc:"Return only tests and markers that this account offers."`
}

func (h *Handlers) labMarker(ctx context.Context, c api.Caller, in *labMarkerIn) (*api.Out[markerBody], error) {
	var body markerBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		found, err := catalogue.Load(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		account, err := accountInQuery(ctx, tx, c, in.LabAccountID)
		if err != nil {
			return err
		}
		m, ok := found.MarkerByCode(in.LabID, in.ProviderID)
		if !ok || !m.Active || account != nil && account.Lab.ID != m.Lab {
			return fault.New(fault.NotFound, "Marker does not exist")
		}
		body = markerOf(m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

func (h *Handlers) labAccountRoutes() []api.Route {
	return []api.Route{
		api.Get("/v3/lab_test/lab_account", h.listLabAccounts, "List the lab accounts that you may order under"),
		api.Get("/v2/team/{team_id}/physicians", h.listPhysicians, "List your team's physicians"),
	}
}

// labAccountBody is a lab account in JSON.
//
// Reference 1.16, ClientFacingLabAccount.
type labAccountBody struct {
	ID                   string              `json:"id" format:"uuid"`
	Lab                  string              `json:"lab" doc:"Slug of the lab."`
	OrgID                *string             `json:"org_id" format:"uuid" doc:"Organisation of the account. It is null for accounts of the platform."`
	Status               string              `json:"status" doc:"active, pending, suspended, ready_to_launch. The list may grow."`
	DelegatedFlow        string              `json:"delegated_flow" doc:"order_delegated, result_delegated, fully_delegated, not_delegated. The list may grow."`
	ProviderAccountID    string              `json:"provider_account_id" doc:"The number of the account at the lab."`
	AccountName          *string             `json:"account_name"`
	DefaultClinicalNotes *string             `json:"default_clinical_notes" doc:"Clinical notes that are printed on every requisition."`
	BusinessUnits        []string            `json:"business_units"`
	AllowedBilling       map[string][]string `json:"allowed_billing" doc:"The states in which each billing type may be used."`
	TeamIDAllowlist      []teams.ID          `json:"team_id_allowlist" doc:"Linked teams that you may see; empty for accounts of the platform."`
}

func labAccountOf(account catalogue.Account) labAccountBody {
	b := labAccountBody{
		ID: account.ID.String(), Lab: account.Lab.Slug, Status: string(account.Status), DelegatedFlow: string(account.Flow),
		ProviderAccountID: account.Number, AccountName: api.TextOrNull(account.Name), DefaultClinicalNotes: api.TextOrNull(account.DefaultNotes),
		BusinessUnits: append([]string{}, account.BusinessUnits...), AllowedBilling: map[string][]string{}, TeamIDAllowlist: append([]teams.ID{}, account.Teams...),
	}
	if account.Owner != nil {
		b.OrgID = api.TextOrNull(account.Owner.String())
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
	LabAccountID []api.IDText `query:"lab_account_id,explode" maxItems:"50"`
	Status       []string     `query:"status,explode" maxItems:"50" doc:"Statuses to search: active, pending, suspended or ready_to_launch, in any case."`
}

func (h *Handlers) listLabAccounts(ctx context.Context, c api.Caller, in *listLabAccountsIn) (*api.Out[labAccountsBody], error) {
	var f catalogue.AccountFilter
	var err error
	if f.IDs, err = api.ParseIDs[catalogue.Account]("lab_account_id", in.LabAccountID); err != nil {
		return nil, err
	}
	for _, word := range in.Status {
		status := catalogue.AccountStatus(strings.ToLower(word))
		if !status.Known() {
			return nil, fault.NotInEnum(catalogue.AccountStatuses).At("query", "status").WithInput(word)
		}
		f.Statuses = append(f.Statuses, status)
	}
	body := labAccountsBody{}
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
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
	return api.Answer(body), nil
}

// physicianBody is a physician in JSON.
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

func (h *Handlers) listPhysicians(ctx context.Context, c api.Caller, in *physiciansIn) (*api.Out[[]physicianBody], error) {
	if in.TeamID != c.Team {
		return nil, fault.New(fault.NotFound, "Team not found")
	}
	bodies := []physicianBody{}
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
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
	return api.Answer(bodies), nil
}

// Types for request values from a fixed list. Answers declare them as plain text,
// because the lists may grow.
type (
	collectionMethod  string
	labTestStatus     string
	generationMethod  string
	labTestOrderKey   string
	orderDirection    string
	compendiumMode    string
	compendiumLabSlug string
)

func (collectionMethod) Schema(huma.Registry) *huma.Schema { return api.Enum(catalogue.Methods) }
func (labTestStatus) Schema(huma.Registry) *huma.Schema    { return api.Enum(catalogue.TestStatuses) }

func (compendiumLabSlug) Schema(huma.Registry) *huma.Schema { return api.Enum(catalogue.CentralSlugs) }

func (orderDirection) Schema(huma.Registry) *huma.Schema { return api.Enum([]string{"asc", "desc"}) }

func (generationMethod) Schema(huma.Registry) *huma.Schema {
	return api.Enum([]string{"auto", "manual", "all"})
}

func (labTestOrderKey) Schema(huma.Registry) *huma.Schema {
	return api.Enum([]catalogue.TestOrder{catalogue.ByPrice, catalogue.ByCreation, catalogue.ByUpdate})
}

func (compendiumMode) Schema(huma.Registry) *huma.Schema {
	return api.Enum([]string{"canonical", "crosswalk"})
}
