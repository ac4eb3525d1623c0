package catalogue

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

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

var errRange = errors.New(`labs: a range is like "70..99", "..5", "F=11.1..15.9" or "M18-65=264..916"`)

var oneRange = regexp.MustCompile(`^(?:([FM]?)(?:([0-9]{1,3})(?:-([0-9]{1,3})|\+))?=)?(-?[0-9]+(?:\.[0-9]+)?)?\.\.(-?[0-9]+(?:\.[0-9]+)?)?$`)

// ParseRanges reads the reference ranges of an assay as catalogue files write
// them: separated by semicolons, each optionally for a sex and for ages in
// years, the upper one exclusive. Both ends are inclusive; one may be missing.
//
//	F18+=11.1..15.9;M18+=13..17.7;0-18=11..15
func ParseRanges(text string) ([]Range, error) {
	var ranges []Range
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		m := oneRange.FindStringSubmatch(part)
		if m == nil {
			return nil, errRange
		}
		r := Range{Sex: map[string]string{"F": "female", "M": "male"}[m[1]]}
		r.MinAge, _ = strconv.Atoi(m[2]) // digits or nothing
		r.MaxAge, _ = strconv.Atoi(m[3])
		var err error
		if r.Low, err = bound(m[4]); err != nil {
			return nil, err
		}
		if r.High, err = bound(m[5]); err != nil {
			return nil, err
		}
		inverted := r.Low != nil && r.High != nil && *r.Low > *r.High
		if r.Low == nil && r.High == nil || inverted || m[3] != "" && r.MaxAge <= r.MinAge {
			return nil, errRange
		}
		ranges = append(ranges, r)
	}
	return ranges, nil
}

func bound(text string) (*float64, error) {
	if text == "" {
		return nil, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, errRange
	}
	return &v, nil
}
