package catalogue

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// Scale is the kind of value that an assay has.
type Scale string

// The scales: a number, one of ordered words, or free text.
const (
	Quantity Scale = "quantity"
	Ordinal  Scale = "ordinal"
	Words    Scale = "words"
)

// Assay describes one row of a report and its normal values.
type Assay struct {
	Scale    Scale  `json:"scale"`
	Unit     string `json:"unit,omitempty"` // as printed, such as mg/dL
	Decimals int    `json:"decimals,omitempty"`
	// Ranges are the reference ranges, the more specific ones first.
	Ranges []Range `json:"ranges,omitempty"`
	// CriticalLow and CriticalHigh are limits: a physician must be called about
	// values at or beyond them.
	CriticalLow  *float64 `json:"critical_low,omitempty"`
	CriticalHigh *float64 `json:"critical_high,omitempty"`
	// Normal and Abnormal are the words of an assay without a quantity.
	Normal   []string `json:"normal,omitempty"`
	Abnormal []string `json:"abnormal,omitempty"`
}

// Range is the reference range of some people. Low and High are inclusive; nil
// is no limit.
type Range struct {
	Sex    string   `json:"sex,omitempty"` // female or male; empty for both
	MinAge int      `json:"min_age,omitempty"`
	MaxAge int      `json:"max_age,omitempty"` // exclusive, in years; 0 for no limit
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
}

// RangeFor returns the reference range of a person, or false if the assay has
// none for them. A range for one sex never applies to an unknown sex. Age is in
// years at collection.
func (a Assay) RangeFor(sex string, age int) (Range, bool) {
	for _, r := range a.Ranges {
		if (r.Sex == "" || r.Sex == sex) && age >= r.MinAge && (r.MaxAge == 0 || age < r.MaxAge) {
			return r, true
		}
	}
	return Range{}, false
}

var errRange = errors.New(`catalogue: a range is like "70..99", "..5", "F=11.1..15.9" or "M18-65=264..916"`)

var oneRange = regexp.MustCompile(`^(?:([FM]?)(?:([0-9]{1,3})(?:-([0-9]{1,3})|\+))?=)?(-?[0-9]+(?:\.[0-9]+)?)?\.\.(-?[0-9]+(?:\.[0-9]+)?)?$`)

// ParseRanges reads the reference ranges of an assay in the form of catalogue
// files. Ranges are separated by semicolons. Each may start with a sex and with
// ages in years, of which the upper one is exclusive. Low and high are
// inclusive; one of them may be missing.
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
