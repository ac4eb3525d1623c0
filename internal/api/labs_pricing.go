package api

import (
	"strconv"

	"hale/internal/labs"
)

// pricingBody says what something costs, or why that is not said.
//
// Reference 1.16, pricing.
type pricingBody struct {
	BaseAmountMinor *int64              `json:"base_amount_minor,omitempty" doc:"US cents."`
	Modifiers       []priceModifierBody `json:"modifiers,omitempty"`
	Unspecified     string              `json:"unspecified,omitempty" doc:"Instead of an amount: refer_to_contract or price_unavailable."`
}

// priceModifierBody is what may come on top.
type priceModifierBody struct {
	DeltaAmountMinor priceRangeBody      `json:"delta_amount_minor"`
	Conditions       priceConditionsBody `json:"conditions"`
}

type priceRangeBody struct {
	Minimum int64 `json:"minimum" doc:"US cents."`
	Maximum int64 `json:"maximum"`
}

type priceConditionsBody struct {
	Reflex struct{} `json:"reflex" doc:"When a result asks for a further test."`
}

type markerPricingsBody struct {
	Currency string                 `json:"currency" enum:"USD"`
	Data     map[string]pricingBody `json:"data" doc:"By marker id."`
}

type labTestPricingsBody struct {
	Currency string                        `json:"currency" enum:"USD"`
	Data     map[string]labTestPricingBody `json:"data" doc:"By lab test id."`
}

type labTestPricingBody struct {
	Pricing         pricingBody            `json:"pricing"`
	MarkerBreakdown map[string]pricingBody `json:"marker_breakdown" doc:"By marker id."`
}

func pricingOf(p labs.Pricing) pricingBody {
	if p.Unspecified != "" {
		return pricingBody{Unspecified: p.Unspecified}
	}
	body := pricingBody{BaseAmountMinor: &p.Minor}
	if p.Reflex > 0 {
		body.Modifiers = []priceModifierBody{{DeltaAmountMinor: priceRangeBody{0, p.Reflex}}}
	}
	return body
}

func pricingsOf(markers []*labs.Marker) *markerPricingsBody {
	return &markerPricingsBody{"USD", breakdown(markers)}
}

func breakdown(markers []*labs.Marker) map[string]pricingBody {
	data := map[string]pricingBody{}
	for _, m := range markers {
		data[strconv.FormatInt(m.ID, 10)] = pricingOf(labs.PriceOf(m))
	}
	return data
}
