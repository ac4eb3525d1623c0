package catalogue

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

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
