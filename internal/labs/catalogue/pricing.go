package catalogue

import (
	"math"
	"strconv"
	"strings"
)

// Pricing is a price, or the reason why there is none.
//
// Reference 1.16, pricing.
type Pricing struct {
	// Minor is in US cents; it is valid if Unspecified is empty.
	Minor int64
	// Unspecified is refer_to_contract or price_unavailable.
	Unspecified string
	// Reflex is the maximum price of reflex markers that may follow, in cents.
	Reflex int64
}

// The reasons for a missing price.
const (
	ReferToContract  = "refer_to_contract"
	PriceUnavailable = "price_unavailable"
)

// PriceOf parses a marker's price. Words that mention a contract refer to it.
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

// PriceMinor returns the sum of the prices of markers, in US cents, without
// those that have none.
func PriceMinor(markers []*Marker) int64 {
	var sum int64
	for _, m := range markers {
		sum += PriceOf(m).Minor
	}
	return sum
}

// PanelPricing returns the price of a lab test: the sum of its markers, and the
// price of the reflex markers that may follow. If a marker has no price, it
// returns the reason of the first such marker instead.
func (c *Catalogue) PanelPricing(markers []*Marker) Pricing {
	var total Pricing
	for _, m := range markers {
		p := PriceOf(m)
		if p.Unspecified != "" {
			return p
		}
		total.Minor += p.Minor
	}
	for _, m := range c.AddReflex(markers)[len(markers):] {
		total.Reflex += PriceOf(m).Minor
	}
	return total
}
