package reports

import (
	"regexp"
	"strconv"
	"strings"

	"hale/internal/labs/reports/extract"
	"hale/internal/labs/results/refrange"
)

var (
	numberPattern   = regexp.MustCompile(`^(<=|>=|<|>)?\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(%)?$`)
	betweenPattern  = regexp.MustCompile(`^(?:\d+\.?\d*|\.\d+)\s*-\s*(?:\d+\.?\d*|\.\d+)$`)
	ratioPattern    = regexp.MustCompile(`^\d+\s*[:/]\s*\d+$`)
	durationPattern = regexp.MustCompile(`(?i)^\d+(\.\d+)?\s*(h|hr|hrs|hours?|min|mins|minutes?|s|sec|secs|seconds?|days?)$`)
	signs           = strings.NewReplacer("≤", "<=", "≥", ">=", "–", "-")
)

var yesNo = map[string]bool{"yes": true, "no": true, "positive": true, "negative": true}

// deriveType sets the type and the number of a value that a reviewer typed.
//
// Reference 4, type from value.
func deriveType(r *extract.Row) {
	text := strings.TrimSpace(signs.Replace(r.Value))
	text = extract.PlainNumber(text)
	r.Number, r.Comparator = nil, ""
	if m := numberPattern.FindStringSubmatch(text); m != nil {
		if n, err := strconv.ParseFloat(m[2], 64); err == nil {
			r.Number, r.Comparator = &n, m[1]
			switch {
			case m[1] != "":
				r.Type = extract.Ranged
			case m[3] != "" || r.Unit == "%":
				r.Type = extract.Percentage
			default:
				r.Type = extract.Numeric
			}
			return
		}
	}
	switch {
	case betweenPattern.MatchString(text):
		r.Type = extract.Ranged
	case ratioPattern.MatchString(text):
		r.Type = extract.Ratio
	case durationPattern.MatchString(text):
		r.Type = extract.Duration
	case yesNo[strings.ToLower(text)]:
		r.Type = extract.Boolean
	default:
		r.Type = extract.Comment
	}
}

// splitComparator reads a text such as <5.
func splitComparator(text string) (comparator string, number *float64) {
	r := extract.Row{Value: text}
	deriveType(&r)
	return r.Comparator, r.Number
}

// deriveSide compares a corrected value with its range.
//
// Reference 4, flags and interpretation.
func deriveSide(r *extract.Row) {
	r.AboveMax, r.BelowMin, r.Interpretation = false, false, "unknown"
	if r.Number == nil || r.Range.Min == nil && r.Range.Max == nil {
		return
	}
	expected := refrange.Range{}
	if r.Range.Min != nil {
		expected.Low = &refrange.Bound{Value: *r.Range.Min, Inclusive: !r.Range.MinExclusive}
	}
	if r.Range.Max != nil {
		expected.High = &refrange.Bound{Value: *r.Range.Max, Inclusive: !r.Range.MaxExclusive}
	}
	c := expected.Compare(boundedValue(r))
	r.AboveMax, r.BelowMin = isTrue(c.Above), isTrue(c.Below)
	switch {
	case r.AboveMax || r.BelowMin:
		r.Interpretation = "abnormal"
	case r.Comparator == "", c.Above != nil && c.Below != nil:
		r.Interpretation = "normal"
	}
}

// boundedValue returns the number of a row with its comparator.
func boundedValue(r *extract.Row) refrange.Value {
	bound := refrange.Bound{Value: *r.Number, Inclusive: strings.HasSuffix(r.Comparator, "=")}
	switch {
	case strings.HasPrefix(r.Comparator, "<"):
		return refrange.NewBelow(bound)
	case strings.HasPrefix(r.Comparator, ">"):
		return refrange.NewAbove(bound)
	}
	return refrange.NewExact(*r.Number)
}

func isTrue(b *bool) bool { return b != nil && *b }
