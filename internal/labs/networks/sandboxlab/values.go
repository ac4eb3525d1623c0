package sandboxlab

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/civil"
)

// row is one invented result.
type row struct {
	test     int // index among the order's tests
	expected networks.Expected
	assay    catalogue.Assay
	kind     string // numeric, range, comment or coded_value
	value    string
	unit     string
	bounds   string // as printed
	flag     string // HL7 table 0078
	missing  bool
}

// resultRows invents the results of an order, from the ranges of the catalogue
// for its patient. A corrected report has other values.
//
// Reference 1.15.
func (s stepContext) resultRows() []row {
	out := s.Step.Outcome
	var all []row
	for i, t := range s.whole.Tests {
		marker, _ := s.catalogue.Marker(t.MarkerID)
		for _, e := range t.Expected {
			all = append(all, row{test: i, expected: e, assay: assayOf(marker, e)})
		}
	}
	odd := pickOdd(all, out.Interpretation, s.Order)
	for i := range all {
		all[i].fill(s, i, out, i == odd)
	}
	if out.Missing && len(all) > 0 {
		n := len(all) - 1
		if n == odd && n > 0 {
			n--
		}
		all[n].missing = true
	}
	if out.Partial { // the first half
		all = all[:(len(all)+1)/2]
	}
	return all
}

func assayOf(m *catalogue.Marker, e networks.Expected) catalogue.Assay {
	if m != nil {
		for _, r := range m.Results {
			if r.Slug == e.Slug && r.ProviderID == e.ProviderID {
				return r.Assay
			}
		}
	}
	return catalogue.Assay{Scale: catalogue.Words}
}

// pickOdd chooses the result with the requested interpretation; -1 for none.
// An unknown one has an ordinary value, and is flagged as indeterminate. A
// critical one needs a critical limit, if any result has one, and must be
// among the partial results too.
func pickOdd(all []row, as orders.Interpretation, order orders.ID) int {
	if len(all) == 0 || as == orders.Normal || as == "" {
		return -1
	}
	half := all[:(len(all)+1)/2]
	from := int(hashNumber(order.UUID(), "odd") % uint64(len(half)))
	best := from
	for n := range half {
		i := (from + n) % len(half)
		a := half[i].assay
		if a.Scale == catalogue.Quantity && len(a.Ranges) > 0 && (as != orders.Critical || a.CriticalHigh != nil || a.CriticalLow != nil) {
			return i
		}
	}
	return best
}

func (r *row) fill(s stepContext, i int, out Outcome, odd bool) {
	r.kind = defaultType(r.assay)
	if len(out.Types) > 0 {
		r.kind = out.Types[i%len(out.Types)]
		if odd && slices.Contains(out.Types, "numeric") && r.assay.Scale == catalogue.Quantity {
			r.kind = "numeric"
		}
	}
	doubtful := odd && out.Interpretation == orders.Unknown
	odd = odd && !doubtful
	r.unit = cmp.Or(r.expected.Unit, r.assay.Unit)
	version := ""
	if out.Corrected {
		version = " corrected"
	}
	f := 0.2 + 0.6*hashFraction(s.Order.UUID(), r.expected.Slug+version)
	bounds, _ := r.assay.RangeFor(s.whole.Patient.Gender, age(s.whole.Patient.DOB, civil.DateOf(s.Due)))
	r.bounds = printRange(bounds, r.assay.Decimals)
	switch r.kind {
	case "numeric":
		v, flag := numericValue(r.assay, bounds, f, odd, out.Interpretation)
		r.value, r.flag = strconv.FormatFloat(v, 'f', r.assay.Decimals, 64), flag
	case "range":
		r.value = intervalValue(bounds, r.assay.Decimals, f, odd)
		r.flag = flagOf(odd, out.Interpretation)
	default:
		r.value, r.unit = wordValue(r.assay, f, odd), ""
		r.flag = flagOf(odd, out.Interpretation)
	}
	if doubtful {
		r.flag = hl7.FlagUnclear
	}
}

// defaultType returns the type of a row's values in the catalogue.
func defaultType(a catalogue.Assay) string {
	switch a.Scale {
	case catalogue.Quantity:
		return "numeric"
	case catalogue.Ordinal:
		return "coded_value"
	default:
		return "comment"
	}
}

func flagOf(odd bool, as orders.Interpretation) string {
	switch {
	case odd && as == orders.Critical:
		return hl7.FlagCritical
	case odd:
		return hl7.FlagAbnormal
	}
	return ""
}

// numericValue returns a value within its range, or beyond it. f is the
// position within.
func numericValue(a catalogue.Assay, r catalogue.Range, f float64, odd bool, as orders.Interpretation) (value float64, flag string) {
	low, high := finiteRange(r)
	step := math.Pow10(-a.Decimals)
	round := func(v float64) float64 { return math.Round(v/step) * step }
	value = round(low + (high-low)*f)
	switch {
	case !odd:
		return value, ""
	case as == orders.Critical && a.CriticalHigh != nil:
		return round(*a.CriticalHigh * (1 + f/10)), hl7.FlagCriticalHigh
	case as == orders.Critical && a.CriticalLow != nil:
		return round(*a.CriticalLow * (1 - f/10)), hl7.FlagCriticalLow
	case as == orders.Critical:
		return value, hl7.FlagCritical
	case r.High != nil:
		beyond := *r.High + max((high-low)*f/4, step)
		if a.CriticalHigh != nil && beyond >= *a.CriticalHigh {
			beyond = (*r.High + *a.CriticalHigh) / 2
		}
		return round(beyond), hl7.FlagHigh
	case r.Low != nil:
		beyond := *r.Low - max((high-low)*f/4, step)
		if a.CriticalLow != nil && beyond <= *a.CriticalLow {
			beyond = (*r.Low + *a.CriticalLow) / 2
		}
		return round(max(beyond, 0)), hl7.FlagLow
	}
	return value, hl7.FlagAbnormal
}

// finiteRange makes both ends of a range finite.
func finiteRange(r catalogue.Range) (low, high float64) {
	switch {
	case r.Low != nil && r.High != nil:
		return *r.Low, *r.High
	case r.High != nil:
		return 0, *r.High
	case r.Low != nil:
		return *r.Low, max(*r.Low*2, 1)
	}
	return 1, 10
}

// intervalValue returns a value that a report gives only as a limit or an
// interval. It is an interval where the range has both ends, since one limit
// would decide nothing there. f is the position within the range; odd means
// beyond it.
//
// Reference 2, results: the form of type range, which has no negative numbers.
func intervalValue(r catalogue.Range, decimals int, f float64, odd bool) string {
	text := func(sign string, v float64) string { return sign + strconv.FormatFloat(v, 'f', decimals, 64) }
	switch {
	case r.High != nil && odd:
		return text(">", *r.High)
	case r.Low != nil && odd:
		return text("<", *r.Low)
	case r.High != nil && r.Low != nil:
		low := max(*r.Low, 0)
		width := *r.High - low
		return text("", low+width*(f-0.1)) + text("-", low+width*(f+0.1))
	case r.High != nil:
		return text("<", *r.High)
	case r.Low != nil:
		return text(">", *r.Low)
	}
	return "<1"
}

func wordValue(a catalogue.Assay, f float64, odd bool) string {
	choices, otherwise := a.Normal, "Within expectations"
	if odd {
		choices, otherwise = a.Abnormal, "Not within expectations"
	}
	if len(choices) == 0 {
		return otherwise
	}
	return choices[int(f*float64(len(choices)))]
}

// printRange returns a range as a report prints it.
func printRange(r catalogue.Range, decimals int) string {
	text := func(v float64) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
	switch {
	case r.Low != nil && r.High != nil:
		return fmt.Sprintf("%s-%s", text(*r.Low), text(*r.High))
	case r.High != nil:
		return "<=" + text(*r.High)
	case r.Low != nil:
		return ">=" + text(*r.Low)
	}
	return ""
}

func age(born, on civil.Date) int {
	years := on.Year - born.Year
	if on.Month < born.Month || on.Month == born.Month && on.Day < born.Day {
		years--
	}
	return years
}
