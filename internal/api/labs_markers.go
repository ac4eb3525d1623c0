package api

import (
	"context"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/store"
)

// PageQuery asks for a page of a list, counted from 1. It is exported for huma
// to see it embedded.
type PageQuery struct {
	Page int `query:"page" minimum:"1" maximum:"1000000" default:"1"`
	Size int `query:"size" minimum:"1" maximum:"100" default:"50"`
}

// markersBody is a page of markers.
//
// Spec: Lab lookups. Reference 1.16, GetMarkersResponse.
type markersBody struct {
	Markers []markerBody        `json:"markers"`
	Total   int                 `json:"total"`
	Page    int                 `json:"page" doc:"From 1."`
	Size    int                 `json:"size"`
	Pages   int                 `json:"pages"`
	Pricing *markerPricingsBody `json:"pricing,omitempty" doc:"With include_pricing=true."`
}

// pageOfMarkers cuts a page out of a list.
func pageOfMarkers(all []*catalogue.Marker, p PageQuery, priced bool) markersBody {
	body := markersBody{Markers: []markerBody{}, Total: len(all), Page: p.Page, Size: p.Size, Pages: (len(all) + p.Size - 1) / p.Size}
	from := min((p.Page-1)*p.Size, len(all))
	page := all[from:min(from+p.Size, len(all))]
	for _, m := range page {
		body.Markers = append(body.Markers, markerOf(m))
	}
	if priced {
		body.Pricing = pricingsOf(page)
	}
	return body
}

type listMarkersIn struct {
	LabID          []catalogue.LabID   `query:"lab_id,explode" doc:"Only these labs."`
	LabSlug        string              `query:"lab_slug" doc:"Only this lab; beats lab_id."`
	Name           string              `query:"name" maxLength:"200" doc:"Part of the name, or the start of the lab's code."`
	ALaCarte       Maybe[bool]         `query:"a_la_carte_enabled" doc:"Only what may be ordered by itself, or only what may not."`
	IncludePricing bool                `query:"include_pricing"`
	LabAccountID   catalogue.AccountID `query:"lab_account_id" format:"uuid" doc:"Only what this account offers."`
	PageQuery
}

func (a *API) listMarkers(ctx context.Context, c Caller, in *listMarkersIn) (*out[markersBody], error) {
	var body markersBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		found, err := catalogue.For(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		account, err := accountAsked(ctx, tx, c, in.LabAccountID)
		if err != nil {
			return err
		}
		filter := catalogue.MarkerFilter{Labs: in.LabID, Name: in.Name, ALaCarte: in.ALaCarte.pointer()}
		if in.LabSlug != "" {
			filter.Labs = []catalogue.LabID{}
			if l, ok := found.LabNamed(in.LabSlug); ok {
				filter.Labs = []catalogue.LabID{l.ID}
			}
		}
		markers := found.Markers(filter)
		if account != nil {
			markers = ofLab(markers, account.Lab.ID)
		}
		body = pageOfMarkers(markers, in.PageQuery, in.IncludePricing)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

// ofLab keeps the markers of one lab.
func ofLab(markers []*catalogue.Marker, lab catalogue.LabID) []*catalogue.Marker {
	var kept []*catalogue.Marker
	for _, m := range markers {
		if m.Lab == lab {
			kept = append(kept, m)
		}
	}
	return kept
}

// orderSetIn is what an order asks for.
//
// Reference 1.9, OrderSetRequest.
type orderSetIn struct {
	LabTestIDs   listOrNull[catalogue.TestID] `json:"lab_test_ids" required:"false" doc:"Lab tests of one lab and one collection method."`
	AddOn        orNull[addOnIn]              `json:"add_on" required:"false" doc:"Single markers, alone or beside lab tests."`
	LabAccountID *catalogue.AccountID         `json:"lab_account_id" required:"false" format:"uuid" nullable:"true"`
}

type addOnIn struct {
	MarkerIDs   listOrNull[catalogue.MarkerID] `json:"marker_ids" required:"false"`
	ProviderIDs listOrNull[string]             `json:"provider_ids" required:"false" doc:"The lab's own codes; not together with marker_ids."`
}

// set is the order set for the domain.
func (in orderSetIn) set() catalogue.OrderSet {
	set := catalogue.OrderSet{TestIDs: in.LabTestIDs}
	if add := in.AddOn.Value; add != nil {
		set.AddOn, set.MarkerIDs, set.ProviderIDs = true, add.MarkerIDs, add.ProviderIDs
	}
	return set
}

type orderSetMarkersIn struct {
	PageQuery
	Body orderSetIn
}

// orderSetMarkers needs no collection method, since nothing is collected yet.
func (a *API) orderSetMarkers(ctx context.Context, c Caller, in *orderSetMarkersIn) (*out[markersBody], error) {
	var body markersBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		markers, err := catalogue.OrderSetMarkers(ctx, tx, c.Team, in.Body.set(), in.Body.LabAccountID)
		body = pageOfMarkers(markers, in.PageQuery, false)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

type labTestMarkersIn struct {
	LabTestID    catalogue.TestID    `path:"lab_test_id" format:"uuid"`
	LabAccountID catalogue.AccountID `query:"lab_account_id" format:"uuid" doc:"Only what this account offers."`
	PageQuery
}

func (a *API) labTestMarkers(ctx context.Context, c Caller, in *labTestMarkersIn) (*out[markersBody], error) {
	var body markersBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		found, err := catalogue.For(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		t, err := labTestUnder(ctx, tx, c, in.LabTestID, in.LabAccountID)
		if err != nil {
			return err
		}
		body = pageOfMarkers(found.WithReflex(found.MarkersOf(t)), in.PageQuery, false)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}
