package api

import (
	"context"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/fault"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
)

// LabTestQuery narrows and sorts lists of lab tests. It is exported for huma
// to see it embedded.
type LabTestQuery struct {
	GenerationMethod generationMethod     `query:"generation_method" default:"manual" doc:"auto: made for orders of single markers."`
	LabSlug          string               `query:"lab_slug"`
	CollectionMethod collectionMethod     `query:"collection_method"`
	Status           labTestStatus        `query:"status"`
	MarkerIDs        []catalogue.MarkerID `query:"marker_ids,explode" maxItems:"100" doc:"Only lab tests with all of these."`
	ProviderIDs      []string             `query:"provider_ids,explode" maxItems:"100" doc:"Only lab tests with all of these lab codes."`
	Name             string               `query:"name" maxLength:"200" doc:"Part of the name."`
	OrderKey         labTestOrderKey      `query:"order_key" doc:"created_at when absent."`
	OrderDirection   orderDirection       `query:"order_direction" default:"asc"`
}

// filter is the query for the domain; false when its lab is unknown, so that
// nothing is found.
func (q LabTestQuery) filter(found *catalogue.Catalogue) (catalogue.TestFilter, bool) {
	f := catalogue.TestFilter{
		Method: catalogue.Method(q.CollectionMethod), Status: catalogue.TestStatus(q.Status), MarkerIDs: q.MarkerIDs, ProviderIDs: q.ProviderIDs,
		Name: q.Name, Order: catalogue.TestOrder(q.OrderKey), Descending: q.OrderDirection == "desc",
	}
	if q.GenerationMethod != "all" {
		generated := q.GenerationMethod == "auto"
		f.Generated = &generated
	}
	if q.LabSlug != "" {
		l, ok := found.LabNamed(q.LabSlug)
		if !ok {
			return f, false
		}
		f.Lab = &l.ID
	}
	return f, true
}

func (a *API) listAllLabTests(ctx context.Context, c Caller, in *LabTestQuery) (*out[[]labTestBody], error) {
	bodies := []labTestBody{}
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		bodies = []labTestBody{}
		found, err := catalogue.For(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		f, ok := in.filter(found)
		if !ok {
			return nil
		}
		tests, err := catalogue.ListTests(ctx, tx, c.Team, f)
		for _, t := range tests {
			bodies = append(bodies, labTestOf(found, t))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(bodies), nil
}

type listLabTestsIn struct {
	LabTestQuery
	Limit          int                 `query:"lab_test_limit" minimum:"1" maximum:"500" default:"50"`
	NextCursor     string              `query:"next_cursor" doc:"next_cursor of the page before."`
	IncludePricing bool                `query:"include_pricing"`
	LabAccountID   catalogue.AccountID `query:"lab_account_id" format:"uuid" doc:"Only what this account offers."`
}

// labTestsBody is a page of lab tests.
//
// Reference 1.16, LabTestResourcesResponse.
type labTestsBody struct {
	Data       []labTestBody        `json:"data"`
	NextCursor *string              `json:"next_cursor" doc:"Null at the end."`
	Pricing    *labTestPricingsBody `json:"pricing,omitempty" doc:"With include_pricing=true."`
}

// labTestCursor is where a page ended, and in which order.
type labTestCursor struct {
	Order      catalogue.TestOrder `json:"o"`
	Descending bool                `json:"d"`
	catalogue.TestPlace
}

func (a *API) listLabTests(ctx context.Context, c Caller, in *listLabTestsIn) (*out[labTestsBody], error) {
	var body labTestsBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		body = labTestsBody{Data: []labTestBody{}}
		if in.IncludePricing {
			body.Pricing = &labTestPricingsBody{"USD", map[string]labTestPricingBody{}}
		}
		found, err := catalogue.For(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		f, ok := in.filter(found)
		if f.Account, err = accountAsked(ctx, tx, c, in.LabAccountID); err != nil || !ok {
			return err
		}
		if f.After, err = in.after(f); err != nil {
			return err
		}
		f.Limit = in.Limit + 1
		tests, err := catalogue.ListTests(ctx, tx, c.Team, f)
		if err != nil {
			return err
		}
		if len(tests) > in.Limit {
			tests = tests[:in.Limit]
			next := paging.Encode(labTestCursor{f.Order, f.Descending, f.Place(tests[in.Limit-1])})
			body.NextCursor = &next
		}
		body.add(found, tests)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

// after is where the cursor says to go on, nil for the beginning.
func (in *listLabTestsIn) after(f catalogue.TestFilter) (*catalogue.TestPlace, error) {
	if in.NextCursor == "" {
		return nil, nil
	}
	var at labTestCursor
	if err := paging.Decode(in.NextCursor, &at); err != nil {
		return nil, err
	}
	if at.Order != f.Order || at.Descending != f.Descending {
		return nil, fault.New(fault.Invalid, "Value error, this cursor belongs to another order").At("query", "next_cursor")
	}
	return &at.TestPlace, nil
}

func (b *labTestsBody) add(found *catalogue.Catalogue, tests []catalogue.Test) {
	for _, t := range tests {
		b.Data = append(b.Data, labTestOf(found, t))
		if b.Pricing != nil {
			markers := found.MarkersOf(t)
			b.Pricing.Data[t.ID.String()] = labTestPricingBody{pricingOf(found.PanelPricing(markers)), breakdown(markers)}
		}
	}
}
