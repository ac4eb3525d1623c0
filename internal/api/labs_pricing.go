package api

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/labs/catalogue"
)

// pricingBody says what something costs, or why that is not said.
//
// Reference 1.16, pricing.
type pricingBody struct {
	amount      *amountBody
	unspecified string
}

type amountBody struct {
	BaseAmountMinor int64               `json:"base_amount_minor" doc:"US cents."`
	Modifiers       []priceModifierBody `json:"modifiers,omitempty"`
}

type unspecifiedBody struct {
	Unspecified string `json:"unspecified" doc:"refer_to_contract or price_unavailable."`
}

// MarshalJSON writes the one that is there.
func (b pricingBody) MarshalJSON() ([]byte, error) {
	if b.amount == nil {
		return json.Marshal(unspecifiedBody{b.unspecified})
	}
	return json.Marshal(b.amount)
}

// Schema says either.
func (pricingBody) Schema(r huma.Registry) *huma.Schema {
	return anyOf(r.Schema(reflect.TypeFor[amountBody](), true, ""), r.Schema(reflect.TypeFor[unspecifiedBody](), true, ""))
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
