package sandboxlab

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/hl7"
	"hale/internal/labs/loinc"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/civil"
)

// row is one invented result.
type row struct {
	test     int // index among the order's tests
	expected networks.ExpectedResult
	assay    catalogue.Assay
	kind     string // numeric, range, comment or coded_value
	value    string
	unit     string
	bounds   string // as printed
	flag     string // HL7 table 0078
	note     string
	missing  bool
}

// code identifies what a row measures.
func (r *row) code() string { return cmp.Or(r.expected.LOINC, r.expected.Slug, r.expected.ProviderID) }

// resultRows invents the results of an order, from the ranges of the catalogue
// for its patient. A corrected report has one other value, and what follows
// from it.
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
	collected, _ := s.specimenTimes()
	p := subject{s.whole.Patient.Gender, age(s.whole.Patient.DOB, civil.DateOf(collected))}
	return invent(s.Order, p, all, out)
}

// invent fills the rows of a report.
func invent(seed orders.ID, p subject, all []row, out Outcome) []row {
	m := measure(seed, p, all)
	odd := pickOdd(all, m, out.Interpretation)
	if odd >= 0 && all[odd].assay.Scale == catalogue.Quantity && (out.Interpretation == orders.Abnormal || out.Interpretation == orders.Critical) {
		m.unusual(all[odd].code(), out.Interpretation)
	}
	missing := -1
	if out.Missing {
		missing = pickMissing(all, m, odd)
	}
	before, corrected := m.values, ""
	if out.Corrected {
		corrected = m.correct(codeOf(all, odd), codeOf(all, missing))
	}
	for i := range all {
		all[i].fill(m, i, out, odd >= 0 && all[i].code() == all[odd].code())
		if was, known := before[all[i].code()]; known && was != m.values[all[i].code()] && all[i].kind == "numeric" {
			all[i].note = "Corrected. Previously reported: " + formatNumber(was, all[i].assay.Decimals)
		}
	}
	if out.Corrected && corrected == "" && out.Interpretation == "" {
		correctWord(all)
	}
	for i := range all {
		if missing >= 0 && all[i].code() == all[missing].code() {
			all[i].missing, all[i].note = true, ""
		}
	}
	if out.Partial {
		return firstRows(all, m, odd)
	}
	return all
}

// correctWord corrects the first result in words of a report without numbers.
func correctWord(all []row) {
	i := slices.IndexFunc(all, func(r row) bool { return len(r.assay.Abnormal) > 0 && r.kind != "numeric" && r.flag == "" })
	if i < 0 {
		return
	}
	all[i].note = "Corrected. Previously reported: " + all[i].value
	all[i].value, all[i].flag = all[i].assay.Abnormal[0], hl7.FlagAbnormal
}

func codeOf(all []row, i int) string {
	if i < 0 {
		return ""
	}
	return all[i].code()
}

// pickMissing chooses the result that the lab could not measure: the last one
// that no other result needs, a measured one if possible.
func pickMissing(all []row, m *measurements, odd int) int {
	best := -1
	for i := range all {
		code := all[i].code()
		if code == codeOf(all, odd) || m.dependents(code) > 0 || best >= 0 && m.calculated(code) && !m.calculated(all[best].code()) {
			continue
		}
		best = i
	}
	if best < 0 {
		best = len(all) - 1
	}
	return best
}

// firstRows returns the results of a partial report. They are the first half and
// the one with the requested interpretation. A result is left out if its inputs
// are not among them.
func firstRows(all []row, m *measurements, odd int) []row {
	early := map[string]bool{}
	for i := range all {
		if i < (len(all)+1)/2 || i == odd {
			early[all[i].code()] = true
		}
	}
	for _, r := range m.related { // in the order of calculation
		if early[r.code] && slices.ContainsFunc(r.inputs(m.has), func(code string) bool { return !early[code] }) {
			early[r.code] = false
		}
	}
	var first []row
	for i := range all {
		if early[all[i].code()] && (i < (len(all)+1)/2 || i == odd) {
			first = append(first, all[i])
		}
	}
	if len(first) > 0 {
		return first
	}
	return slices.DeleteFunc(all, func(r row) bool { return m.calculated(r.code()) })[:1:1]
}

// assayOf returns the assay of a result. A lab whose catalogue has no ranges
// uses those of the built-in catalogue.
func assayOf(m *catalogue.Marker, e networks.ExpectedResult) catalogue.Assay {
	if m != nil {
		for _, r := range m.Results {
			if r.Slug == e.Slug && r.ProviderID == e.ProviderID && r.Assay.Scale != "" {
				return r.Assay
			}
		}
	}
	if known, ok := catalogue.KnownAssay(e.LOINC); ok {
		return known
	}
	return catalogue.Assay{Scale: catalogue.Words}
}

// pickOdd chooses the result with the requested interpretation; -1 for none. An
// unknown one has an ordinary value, and is flagged as indeterminate. It prefers
// a measured quantity that no other result is calculated from and, for a
// critical one, with a critical limit.
func pickOdd(all []row, m *measurements, as orders.Interpretation) int {
	if len(all) == 0 || as == orders.Normal || as == "" {
		return -1
	}
	from := int(hashNumber(m.seed.UUID(), "odd") % uint64(len(all)))
	best, most := from, -1
	for n := range all {
		i := (from + n) % len(all)
		score := oddScore(&all[i], m, as)
		if score > most {
			best, most = i, score
		}
	}
	return best
}

func oddScore(r *row, m *measurements, as orders.Interpretation) (score int) {
	if r.assay.Scale != catalogue.Quantity || m.excuses[r.code()] != "" {
		if len(r.assay.Abnormal) > 0 {
			return 1
		}
		return 0
	}
	if m.calculated(r.code()) {
		return 0
	}
	score = 2
	if _, ok := r.assay.RangeFor(m.sex, m.age); ok {
		score += 4
	}
	if as == orders.Critical && (r.assay.CriticalHigh != nil || r.assay.CriticalLow != nil) {
		score += 8
	}
	if m.dependents(r.code()) == 0 && !m.movesOthers(r.code()) {
		score++
	}
	return score
}

func (r *row) fill(m *measurements, i int, out Outcome, odd bool) {
	r.kind = defaultType(r.assay)
	value, measured := m.values[r.code()]
	if len(out.Types) > 0 {
		r.kind = out.Types[i%len(out.Types)]
		if odd && slices.Contains(out.Types, "numeric") && measured {
			r.kind = "numeric"
		}
	}
	doubtful := odd && out.Interpretation == orders.Unknown
	odd = odd && !doubtful
	r.unit = cmp.Or(r.assay.Unit, loinc.PrintedUnit(r.expected.Unit))
	bounds, _ := r.assay.RangeFor(m.sex, m.age)
	r.bounds = printRange(bounds, r.assay.Decimals)
	f := 0.2 + 0.6*hashFraction(m.seed.UUID(), r.expected.Slug)
	if measured {
		r.flag = flagOfValue(r.assay, bounds, value)
	}
	switch {
	case m.excuses[r.code()] != "":
		r.kind, r.value, r.unit, r.flag = "comment", m.excuses[r.code()], "", ""
	case r.kind == "numeric" && measured:
		r.value = formatNumber(value, r.assay.Decimals)
		if odd && r.flag == "" { // it has no range
			r.flag = flagOf(odd, out.Interpretation)
		}
		if odd && out.Interpretation == orders.Critical { // the lab decides where the catalogue has no limit
			r.flag = cmp.Or(map[string]string{hl7.FlagHigh: hl7.FlagCriticalHigh, hl7.FlagLow: hl7.FlagCriticalLow}[r.flag], r.flag)
		}
	case r.kind == "numeric": // asked for a result in words
		r.value, r.unit, r.flag = formatNumber(1+9*f, r.assay.Decimals), "", flagOf(odd, out.Interpretation)
	case r.kind == "range":
		r.value = intervalValue(bounds, r.assay.Decimals, intervalPosition(bounds, value, f), r.flag)
		r.flag = flagOf(odd || r.flag != "", out.Interpretation)
	default:
		r.value, r.unit = wordValue(r, m, f, odd), ""
		r.flag = flagOf(odd, out.Interpretation)
	}
	if doubtful {
		r.flag = hl7.FlagUnclear
	}
}

// flagOfValue compares a value with its limits.
func flagOfValue(a catalogue.Assay, r catalogue.Range, v float64) string {
	switch {
	case a.CriticalHigh != nil && v >= *a.CriticalHigh:
		return hl7.FlagCriticalHigh
	case a.CriticalLow != nil && v <= *a.CriticalLow:
		return hl7.FlagCriticalLow
	case r.High != nil && v > *r.High:
		return hl7.FlagHigh
	case r.Low != nil && v < *r.Low:
		return hl7.FlagLow
	}
	return ""
}

// defaultType returns the type of a row's values in the catalogue.
func defaultType(a catalogue.Assay) string {
	switch {
	case a.Scale == catalogue.Quantity:
		return "numeric"
	case a.Scale == catalogue.Ordinal || len(a.Normal) > 0:
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

func formatNumber(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }

// intervalPosition returns the position of a value within its range, so that
// the interval around it is within the range too.
func intervalPosition(r catalogue.Range, value, otherwise float64) float64 {
	if r.Low == nil || r.High == nil || *r.Low >= *r.High {
		return otherwise
	}
	return min(max((value-*r.Low)/(*r.High-*r.Low), 0.1), 0.9)
}

// intervalValue returns a value that a report gives only as a limit or an
// interval. It is an interval where the range has both ends, since one limit
// would decide nothing there. f is the position within the range; flag is empty
// for a value within.
//
// Reference 2, results: the form of type range, which has no negative numbers.
func intervalValue(r catalogue.Range, decimals int, f float64, flag string) string {
	text := func(sign string, v float64) string { return sign + formatNumber(v, decimals) }
	isLow := flag == hl7.FlagLow || flag == hl7.FlagCriticalLow
	switch {
	case r.Low != nil && flag != "" && (isLow || r.High == nil):
		return text("<", *r.Low)
	case r.High != nil && flag != "":
		return text(">", *r.High)
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

func wordValue(r *row, m *measurements, f float64, odd bool) string {
	for _, w := range wordRelations {
		if v, known := m.values[w.from]; known && w.code == r.code() {
			if v >= w.threshold {
				return w.high
			}
			return w.low
		}
	}
	choices, otherwise := r.assay.Normal, "Within expectations"
	if odd {
		choices, otherwise = r.assay.Abnormal, "Not within expectations"
	}
	if len(choices) == 0 {
		return otherwise
	}
	return choices[int(f*float64(len(choices)))]
}

// printRange returns a range as a report prints it.
func printRange(r catalogue.Range, decimals int) string {
	text := func(v float64) string { return formatNumber(v, decimals) }
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
