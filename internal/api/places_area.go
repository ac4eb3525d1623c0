package api

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/places"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

type areaInfoIn struct {
	ZipCode      string              `query:"zip_code" required:"true" pattern:"^\\d{5}$" doc:"5 digits."`
	Radius       radius              `query:"radius" default:"25" doc:"Miles."`
	Lab          string              `query:"lab" deprecated:"true" doc:"Slug of a lab; use labs."`
	Labs         []string            `query:"labs,explode" doc:"Only these labs, by slug; repeat the parameter. All that have service centers when absent."`
	LabAccountID catalogue.AccountID `query:"lab_account_id" format:"uuid" doc:"Only the lab of this account, and how it may be paid."`
}

// areaInfoBody is what there is around a ZIP code.
//
// Spec: GET /v3/order/area/info.
type areaInfoBody struct {
	ZipCode     string                 `json:"zip_code" pattern:"^\\d{5}(-\\d{4})?$"`
	Phlebotomy  phlebotomyBody         `json:"phlebotomy"`
	CentralLabs map[string]areaLabBody `json:"central_labs" doc:"By slug of the lab. The list may grow."`
}

type phlebotomyBody struct {
	IsServed  bool                     `json:"is_served"`
	Providers []phlebotomyProviderBody `json:"providers"`
}

// phlebotomyProviderBody names the tiers of a provider twice: as the
// specification does, and as the reference does.
type phlebotomyProviderBody struct {
	Name         string   `json:"name" doc:"Provider slug. The list may grow."`
	Tier         []string `json:"tier" doc:"appointment-ready, appointment-request. The list may grow."`
	ServiceTypes []string `json:"service_types" doc:"The same as tier."`
}

// areaLabBody has the fields of the specification, and what the reference adds:
// supported_bill_types, lab_id and appointment_with_vital.
//
// Reference 2.2, PSCAreaInfo.
type areaLabBody struct {
	Centers            areaCentersBody `json:"patient_service_centers"`
	SupportedBillTypes []string        `json:"supported_bill_types"`
	LabID              int64           `json:"lab_id"`
}

type areaCentersBody struct {
	WithinRadius int      `json:"within_radius" doc:"How many."`
	Radius       string   `json:"radius" doc:"Miles."`
	Capabilities []string `json:"capabilities" doc:"That any of them has."`
	ScheduledBy  bool     `json:"appointment_with_vital" doc:"Appointments at some of them can be made through this service."`
}

func (a *API) areaInfo(ctx context.Context, c Caller, in *areaInfoIn) (*out[areaInfoBody], error) {
	var body areaInfoBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		body = areaInfoBody{ZipCode: in.ZipCode}
		offers, err := places.Coverage(ctx, tx, viewer(c), in.ZipCode)
		if err != nil {
			return err
		}
		body.Phlebotomy = phlebotomyOf(offers)
		asked, err := a.labsAsked(ctx, tx, c, in)
		if err != nil {
			return err
		}
		body.CentralLabs, err = a.centralLabs(ctx, tx, c, in, asked)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

func phlebotomyOf(offers []places.Offer) phlebotomyBody {
	body := phlebotomyBody{IsServed: len(offers) > 0, Providers: []phlebotomyProviderBody{}}
	for _, o := range offers { // by provider, then tier
		if n := len(body.Providers); n == 0 || body.Providers[n-1].Name != o.Provider {
			body.Providers = append(body.Providers, phlebotomyProviderBody{Name: o.Provider})
		}
		last := &body.Providers[len(body.Providers)-1]
		last.Tier = append(last.Tier, string(o.Tier))
		last.ServiceTypes = last.Tier
	}
	return body
}

// labAsked is a lab that area info speaks of.
type labAsked struct {
	catalogue.Lab
	named bool // by the caller, who wants to hear that it has nothing here
}

// labsAsked are the labs that the request is about: of the catalogue, and those
// that it names though the team's catalogue has them not.
func (a *API) labsAsked(ctx context.Context, tx *store.Tx, c Caller, in *areaInfoIn) ([]labAsked, error) {
	offered, err := catalogue.For(ctx, tx, c.Team)
	if err != nil {
		return nil, err
	}
	named := slices.Clone(in.Labs)
	if in.Lab != "" {
		named = append(named, in.Lab)
	}
	if err := checkLabs(offered, in); err != nil {
		return nil, err
	}
	account, err := accountAsked(ctx, tx, c, in.LabAccountID)
	if err != nil {
		return nil, err
	}
	var asked []labAsked
	for _, lab := range offered.Labs() {
		if account != nil && account.Lab.ID != lab.ID || len(named) > 0 && !slices.Contains(named, lab.Slug) {
			continue
		}
		if account != nil {
			lab.Billings = billingsOf(*account)
		}
		asked = append(asked, labAsked{lab, len(named) > 0 || slices.Contains(catalogue.CentralSlugs, lab.Slug)})
	}
	for _, slug := range named {
		_, ok := offered.LabNamed(slug)
		if lab, known := catalogue.LabKnown(slug); known && !ok && account == nil {
			lab.Billings = nil // nothing can be ordered there
			asked = append(asked, labAsked{lab, true})
		}
	}
	return asked, nil
}

// checkLabs refuses a slug that is neither in the catalogue nor one that
// clients know.
func checkLabs(offered *catalogue.Catalogue, in *areaInfoIn) error {
	check := func(slug string, at ...string) *fault.Error {
		if _, known := offered.LabNamed(slug); known || slices.Contains(catalogue.CentralSlugs, slug) {
			return nil
		}
		return fault.New(fault.Invalid, "Input should be the slug of a lab").At(append([]string{"query"}, at...)...).WithType("enum").WithInput(slug)
	}
	var faults []*fault.Error
	if in.Lab != "" {
		faults = append(faults, check(in.Lab, "lab"))
	}
	for i, slug := range in.Labs {
		faults = append(faults, check(slug, "labs", strconv.Itoa(i)))
	}
	return fault.Join(faults...)
}

func (a *API) centralLabs(ctx context.Context, tx *store.Tx, c Caller, in *areaInfoIn, asked []labAsked) (map[string]areaLabBody, error) {
	place, known := places.Zip(in.ZipCode)
	located := known && place.Located
	all := map[string]areaLabBody{}
	for _, lab := range asked {
		found, err := a.Places.Count(ctx, tx, viewer(c), places.Query{Lab: lab.Slug, From: place.Point, Miles: in.Radius.miles()})
		switch {
		case errors.Is(err, places.ErrNoSites) && !lab.named:
			continue
		case err != nil && !errors.Is(err, places.ErrNoSites):
			return nil, err
		case !located: // nothing is near a place that is not on the map
			found = places.Found{}
		}
		all[lab.Slug] = areaLabBody{
			Centers: areaCentersBody{
				WithinRadius: found.Total, Radius: string(in.Radius), Capabilities: found.Capabilities.Names(),
				ScheduledBy: found.Capabilities&places.ScheduledByUs != 0,
			},
			SupportedBillTypes: textsOf(lab.Billings), LabID: lab.ID,
		}
	}
	return all, nil
}
