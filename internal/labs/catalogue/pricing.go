package catalogue

import (
	"math"
	"strconv"
	"strings"
)

// Pricing is what something costs, or why that is not said.
//
// Reference 1.16, pricing.
type Pricing struct {
	// Minor is US cents; it counts when Unspecified is empty.
	Minor int64
	// Unspecified is refer_to_contract or price_unavailable.
	Unspecified string
	// Reflex is what markers that may follow would add at most, in cents.
	Reflex int64
}

// The reasons for a price that is not said.
const (
	ReferToContract  = "refer_to_contract"
	PriceUnavailable = "price_unavailable"
)

// PriceOf reads a marker's price. Words that speak of a contract refer to it.
func PriceOf(m *Marker) Pricing {
	text := strings.TrimPrefix(strings.TrimSpace(m.Price), "$")
	dollars, err := strconv.ParseFloat(text, 64)
	switch {
	case err == nil && dollars >= 0 && dollars < 1e7:
		return Pricing{Minor: int64(math.Round(dollars * 100))}
	case strings.Contains(strings.ToLower(text), "contract"):
		return Pricing{Unspecified: ReferToContract}
	}
	return Pricing{Unspecified: PriceUnavailable}
}

// PriceMinor adds up the prices of markers, in US cents; those that say none
// add nothing.
func PriceMinor(markers []*Marker) int64 {
	var sum int64
	for _, m := range markers {
		sum += PriceOf(m).Minor
	}
	return sum
}

// PanelPricing is what a lab test costs: the sum of its markers, or the reason
// of the first that has no price; and what markers that may follow would add.
func (c *Catalogue) PanelPricing(markers []*Marker) Pricing {
	var total Pricing
	for _, m := range markers {
		p := PriceOf(m)
		if p.Unspecified != "" {
			return p
		}
		total.Minor += p.Minor
	}
	for _, m := range c.WithReflex(markers)[len(markers):] {
		total.Reflex += PriceOf(m).Minor
	}
	return total
}
