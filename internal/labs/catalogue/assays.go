package catalogue

// Scale says what kind of value an assay has.
type Scale string

// The scales: a number, one of ordered words, or free text.
const (
	Quantity Scale = "quantity"
	Ordinal  Scale = "ordinal"
	Words    Scale = "words"
)

// Assay is how one row of a report looks, and what is normal in it.
type Assay struct {
	Scale    Scale  `json:"scale"`
	Unit     string `json:"unit,omitempty"` // as printed, such as mg/dL
	Decimals int    `json:"decimals,omitempty"`
	// Ranges are what is normal, the more special ones first.
	Ranges []Range `json:"ranges,omitempty"`
	// CriticalLow and CriticalHigh are where a physician must be called:
	// values at or beyond them.
	CriticalLow  *float64 `json:"critical_low,omitempty"`
	CriticalHigh *float64 `json:"critical_high,omitempty"`
	// Normal and Abnormal are the words of a scale that is no quantity.
	Normal   []string `json:"normal,omitempty"`
	Abnormal []string `json:"abnormal,omitempty"`
}

// Range is what is normal for some people. Low and High are inclusive; nil
// leaves that side open.
type Range struct {
	Sex    string   `json:"sex,omitempty"` // female, male; empty for both
	MinAge int      `json:"min_age,omitempty"`
	MaxAge int      `json:"max_age,omitempty"` // exclusive, years; 0 for no end
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
}

// RangeFor is the reference range of a person, or false when none of the
// assay's fits: a range for one sex fits nobody whose sex is not known.
// Age is in years at collection.
func (a Assay) RangeFor(sex string, age int) (Range, bool) {
	for _, r := range a.Ranges {
		if (r.Sex == "" || r.Sex == sex) && age >= r.MinAge && (r.MaxAge == 0 || age < r.MaxAge) {
			return r, true
		}
	}
	return Range{}, false
}
