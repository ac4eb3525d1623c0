package labs

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/loinc"
	"hale/internal/platform/store"
)

// markerBody is a marker in JSON.
//
// Spec: Marker. Reference 1.1, ClientFacingMarker; with expected_results it is
// ClientFacingMarkerComplete.
type markerBody struct {
	ID              int64                `json:"id"`
	Name            string               `json:"name"`
	Slug            string               `json:"slug"`
	Description     string               `json:"description"`
	LabID           int64                `json:"lab_id"`
	ProviderID      string               `json:"provider_id" doc:"The lab's code, which is the same in every environment."`
	Type            string               `json:"type" doc:"biomarker or panel. The list may grow."`
	Unit            *string              `json:"unit"`
	Price           string               `json:"price" doc:"Price in US dollars, or words such as N/A."`
	AOE             api.OrNull[aoeBody]  `json:"aoe" doc:"Questions that an order must answer."`
	ALaCarteEnabled bool                 `json:"a_la_carte_enabled" doc:"Whether it can be ordered singly."`
	CommonTATDays   *int                 `json:"common_tat_days" doc:"Number of days until 95 % of the results have arrived."`
	WorstTATDays    *int                 `json:"worst_case_tat_days" doc:"Number of days until 99 % of the results have arrived."`
	IsOrderable     bool                 `json:"is_orderable"`
	ExpectedResults []expectedResultBody `json:"expected_results" doc:"The rows of its report."`
	Specimen        *catalogue.Specimen  `json:"specimen,omitempty" doc:"Collection and shipping of the sample. It is omitted if nothing is known."`
}

type expectedResultBody struct {
	ID         int64      `json:"id"`
	Name       string     `json:"name"`
	Slug       string     `json:"slug"`
	LabID      int64      `json:"lab_id"`
	ProviderID string     `json:"provider_id" doc:"The lab's code; empty if it has none."`
	Required   bool       `json:"required" doc:"Whether a report without this result is incomplete."`
	LOINC      *loincBody `json:"loinc,omitempty" doc:"Omitted if no code is known."`
}

// loincBody is a LOINC code with its official name.
type loincBody struct {
	ID   int64   `json:"id"`
	Name string  `json:"name"`
	Slug string  `json:"slug"`
	Code string  `json:"code"`
	Unit *string `json:"unit" doc:"Unit as UCUM."`
}

type aoeBody struct {
	Questions []questionBody `json:"questions"`
}

type questionBody struct {
	ID         int64        `json:"id"`
	Required   bool         `json:"required"`
	Code       string       `json:"code"`
	Value      string       `json:"value" doc:"The question."`
	Type       string       `json:"type" doc:"choice, text, numeric, multi_choice. The list may grow."`
	Sequence   int          `json:"sequence"`
	Answers    []answerBody `json:"answers"`
	Constraint *string      `json:"constraint" doc:"Instructions for the answer, for people."`
	Default    *string      `json:"default"`
}

type answerBody struct {
	ID    int64  `json:"id"`
	Code  string `json:"code"`
	Value string `json:"value"`
}

func markerOf(m *catalogue.Marker) markerBody {
	b := markerBody{
		ID: m.ID, Name: m.Name, Slug: m.Slug, Description: m.Description, LabID: m.Lab, ProviderID: m.ProviderID, Type: string(m.Type),
		Unit: api.TextOrNull(m.Unit), Price: cmp.Or(m.Price, "N/A"), ALaCarteEnabled: m.ALaCarte, CommonTATDays: m.CommonTAT,
		WorstTATDays: m.WorstTAT, IsOrderable: m.Orderable && !m.Reflex && m.Active, ExpectedResults: []expectedResultBody{},
	}
	if s := m.Collect(); !s.IsZero() {
		b.Specimen = &s
	}
	if len(m.Questions) > 0 {
		aoe := aoeOf(m.Questions)
		b.AOE = api.Nullable(&aoe)
	}
	for _, r := range m.Results {
		b.ExpectedResults = append(b.ExpectedResults, expectedResultBody{
			ID: r.ID, Name: r.Name, Slug: r.Slug, LabID: m.Lab, ProviderID: r.ProviderID, Required: r.Required, LOINC: loincOf(r.Code()),
		})
	}
	return b
}

func loincOf(c *loinc.Code) *loincBody {
	if c == nil {
		return nil
	}
	return &loincBody{ID: c.ID, Name: c.Name, Slug: c.Slug(), Code: c.Code, Unit: api.TextOrNull(c.Unit)}
}

func aoeOf(questions []catalogue.Question) aoeBody {
	body := aoeBody{}
	for _, q := range questions {
		b := questionBody{
			ID: q.ID, Required: q.Required, Code: q.Code, Value: q.Value, Type: string(q.Type), Sequence: q.Sequence,
			Answers: []answerBody{}, Constraint: api.TextOrNull(q.Constraint), Default: api.TextOrNull(q.Default),
		}
		for _, answer := range q.Answers {
			b.Answers = append(b.Answers, answerBody(answer))
		}
		body.Questions = append(body.Questions, b)
	}
	return body
}

// PageQuery selects a page of a list, counted from 1. It is exported, because huma
// ignores embedded types that are not.
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
	Page    int                 `json:"page" doc:"Number of the page, from 1."`
	Size    int                 `json:"size"`
	Pages   int                 `json:"pages"`
	Pricing *markerPricingsBody `json:"pricing,omitempty" doc:"Price of the marker. It is present with include_pricing=true."`
}

// pageOfMarkers returns one page of a list.
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
	LabID          []catalogue.LabID   `query:"lab_id,explode" doc:"Return only markers of these labs."`
	LabSlug        []string            `query:"lab_slug,explode" maxItems:"50" doc:"Return only markers of these labs. It takes precedence over lab_id."`
	Name           string              `query:"name" maxLength:"200" doc:"Part of the name, or the start of the lab's code."`
	ALaCarte       api.Maybe[bool]     `query:"a_la_carte_enabled" doc:"Return only markers that can be ordered singly (true), or only the others (false)."`
	IncludePricing bool                `query:"include_pricing"`
	LabAccountID   catalogue.AccountID `query:"lab_account_id" format:"uuid" doc:"Return only tests and markers that this account offers."`
	PageQuery
}

func (h *Handlers) listMarkers(ctx context.Context, c api.Caller, in *listMarkersIn) (*api.Out[markersBody], error) {
	var body markersBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		found, err := catalogue.Load(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		account, err := accountInQuery(ctx, tx, c, in.LabAccountID)
		if err != nil {
			return err
		}
		filter := catalogue.MarkerFilter{Labs: in.LabID, Name: in.Name, ALaCarte: in.ALaCarte.Pointer()}
		if len(in.LabSlug) > 0 {
			filter.Labs = found.LabsBySlug(in.LabSlug)
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
	return api.Answer(body), nil
}

// ofLab returns the markers of one lab.
func ofLab(markers []*catalogue.Marker, lab catalogue.LabID) []*catalogue.Marker {
	var kept []*catalogue.Marker
	for _, m := range markers {
		if m.Lab == lab {
			kept = append(kept, m)
		}
	}
	return kept
}

// orderSetIn is the set of tests and markers of an order.
//
// Reference 1.9, OrderSetRequest.
type orderSetIn struct {
	LabTestIDs   api.ListOrNull[catalogue.TestID] `json:"lab_test_ids" required:"false" doc:"Lab tests of one lab and one collection method."`
	AddOn        api.OrNull[addOnIn]              `json:"add_on" required:"false" doc:"Single markers, alone or in addition to lab tests."`
	LabAccountID *catalogue.AccountID             `json:"lab_account_id" required:"false" format:"uuid" nullable:"true"`
}

type addOnIn struct {
	MarkerIDs   api.ListOrNull[catalogue.MarkerID] `json:"marker_ids" required:"false"`
	ProviderIDs api.ListOrNull[string]             `json:"provider_ids" required:"false" doc:"Codes of the lab. They cannot be combined with marker_ids."`
}

// TransformSchema states that an order set is not empty.
func (orderSetIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return stateOrderSet(s)
}

// TransformSchema states that an add-on names its markers in one way.
func (addOnIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema { return stateAddOn(s) }

// set returns the order set for the domain.
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

// orderSetMarkers needs no collection method, because it collects nothing.
func (h *Handlers) orderSetMarkers(ctx context.Context, c api.Caller, in *orderSetMarkersIn) (*api.Out[markersBody], error) {
	var body markersBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		markers, err := catalogue.OrderSetMarkers(ctx, tx, c.Team, in.Body.set(), in.Body.LabAccountID)
		body = pageOfMarkers(markers, in.PageQuery, false)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

type labTestMarkersIn struct {
	LabTestID    catalogue.TestID    `path:"lab_test_id" format:"uuid"`
	LabAccountID catalogue.AccountID `query:"lab_account_id" format:"uuid" doc:"Return only tests and markers that this account offers."`
	PageQuery
}

func (h *Handlers) labTestMarkers(ctx context.Context, c api.Caller, in *labTestMarkersIn) (*api.Out[markersBody], error) {
	var body markersBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		found, err := catalogue.Load(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		t, err := labTestUnder(ctx, tx, c, in.LabTestID, in.LabAccountID)
		if err != nil {
			return err
		}
		body = pageOfMarkers(found.AddReflex(found.MarkersOf(t)), in.PageQuery, false)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

// pricingBody is a price, or the reason why there is none.
//
// Reference 1.16, pricing.
type pricingBody struct {
	amount      *amountBody
	unspecified string
}

type amountBody struct {
	BaseAmountMinor int64               `json:"base_amount_minor" doc:"Price in US cents."`
	Modifiers       []priceModifierBody `json:"modifiers,omitempty"`
}

type unspecifiedBody struct {
	Unspecified string `json:"unspecified" doc:"refer_to_contract or price_unavailable."`
}

// MarshalJSON returns the one that is set.
func (b pricingBody) MarshalJSON() ([]byte, error) {
	if b.amount == nil {
		return json.Marshal(unspecifiedBody{b.unspecified})
	}
	return json.Marshal(b.amount)
}

// Schema declares both.
func (pricingBody) Schema(r huma.Registry) *huma.Schema {
	return api.AnyOf(r.Schema(reflect.TypeFor[amountBody](), true, ""), r.Schema(reflect.TypeFor[unspecifiedBody](), true, ""))
}

// priceModifierBody is a possible surcharge.
type priceModifierBody struct {
	DeltaAmountMinor priceRangeBody      `json:"delta_amount_minor"`
	Conditions       priceConditionsBody `json:"conditions"`
}

type priceRangeBody struct {
	Minimum int64 `json:"minimum" doc:"Lowest price in US cents."`
	Maximum int64 `json:"maximum"`
}

type priceConditionsBody struct {
	Reflex struct{} `json:"reflex" doc:"Price of a further test that a result requires."`
}

type markerPricingsBody struct {
	Currency string                 `json:"currency" enum:"USD"`
	Data     map[string]pricingBody `json:"data" doc:"Prices by marker id."`
}

type labTestPricingsBody struct {
	Currency string                        `json:"currency" enum:"USD"`
	Data     map[string]labTestPricingBody `json:"data" doc:"Prices by lab test id."`
}

type labTestPricingBody struct {
	Pricing         pricingBody            `json:"pricing"`
	MarkerBreakdown map[string]pricingBody `json:"marker_breakdown" doc:"Prices by marker id."`
}

func pricingOf(p catalogue.Pricing) pricingBody {
	if p.Unspecified != "" {
		return pricingBody{unspecified: p.Unspecified}
	}
	amount := &amountBody{BaseAmountMinor: p.Minor}
	if p.Reflex > 0 {
		amount.Modifiers = []priceModifierBody{{DeltaAmountMinor: priceRangeBody{0, p.Reflex}}}
	}
	return pricingBody{amount: amount}
}

func pricingsOf(markers []*catalogue.Marker) *markerPricingsBody {
	return &markerPricingsBody{"USD", breakdown(markers)}
}

func breakdown(markers []*catalogue.Marker) map[string]pricingBody {
	data := map[string]pricingBody{}
	for _, m := range markers {
		data[strconv.FormatInt(m.ID, 10)] = pricingOf(catalogue.PriceOf(m))
	}
	return data
}
