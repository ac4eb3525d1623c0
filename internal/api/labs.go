package api

import (
	"context"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

func (a *API) labRoutes() []route {
	return []route{
		get("/v3/lab_tests/labs", a.listLabs, "List the labs"),
		get("/v3/lab_tests/markers", a.listMarkers, "List the markers that can be ordered, or find them by name or lab code"),
		post("/v3/lab_tests/list_order_set_markers", a.orderSetMarkers, "List the markers that an order would have"),
		get("/v3/lab_tests/{lab_test_id}/markers", a.labTestMarkers, "List the markers of a lab test, those that may follow from results included"),
		get("/v3/lab_tests/{lab_id}/markers/{provider_id}", a.labMarker, "Get a marker by a lab's own code"),
	}
}

// labBody is a laboratory on the wire.
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

// catalogue is what the caller's team sees of labs and markers.
func (a *API) catalogue(ctx context.Context, c Caller) (found *catalogue.Catalogue, err error) {
	err = a.db.Read(ctx, func(tx *store.Tx) error {
		found, err = catalogue.For(ctx, tx, c.Team)
		return err
	})
	return found, err
}

func (a *API) listLabs(ctx context.Context, c Caller, _ *struct{}) (*out[[]labBody], error) {
	found, err := a.catalogue(ctx, c)
	if err != nil {
		return nil, err
	}
	bodies := []labBody{}
	for _, l := range found.Labs() {
		bodies = append(bodies, labOf(l))
	}
	return answer(bodies), nil
}

// accountAsked is the account that a query names, nil for none.
func accountAsked(ctx context.Context, tx *store.Tx, c Caller, id catalogue.AccountID) (*catalogue.Account, error) {
	if id.IsZero() {
		return nil, nil
	}
	account, err := catalogue.GetAccount(ctx, tx, c.Team, id)
	return &account, err
}

type labMarkerIn struct {
	LabID        catalogue.LabID     `path:"lab_id"`
	ProviderID   string              `path:"provider_id" doc:"The lab's own code."`
	LabAccountID catalogue.AccountID `query:"lab_account_id" format:"uuid" doc:"Only what this account offers."`
}

func (a *API) labMarker(ctx context.Context, c Caller, in *labMarkerIn) (*out[markerBody], error) {
	var body markerBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		found, err := catalogue.For(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		account, err := accountAsked(ctx, tx, c, in.LabAccountID)
		if err != nil {
			return err
		}
		m, ok := found.MarkerCoded(in.LabID, in.ProviderID)
		if !ok || !m.Active || account != nil && account.Lab.ID != m.Lab {
			return fault.New(fault.NotFound, "Marker does not exist")
		}
		body = markerOf(m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}
