package results

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hale/internal/labs/loinc"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results/refrange"
	"hale/internal/platform/civil"
)

// buildVersion builds an order's results from the merged reports.
func buildVersion(e *expectations, m mergedReport) Version {
	v := Version{
		Status: m.status, Corrected: m.corrected, Interpretation: orders.Normal, Samples: m.samples,
		Laboratory: cmp.Or(m.laboratory, e.lab.Name), CLIA: m.clia, Account: cmp.Or(m.account, e.account), Patient: m.patient, Comments: m.comments, Reviews: m.reviews,
	}
	v.Warnings = append(m.ahead, e.removeImpossibleTimes(&m)...)
	m.nameParents()
	for _, problem := range m.refused {
		v.Warnings = append(v.Warnings, Warning{Code: DocumentRefused, Detail: string(problem)})
	}
	sex, age := e.patient(m.samples)
	for _, f := range m.results {
		r := e.normalise(f, sex, age)
		v.Interpretation = worseInterpretation(v.Interpretation, r.Interpretation)
		v.Results = append(v.Results, r)
		if f.alone && f.Status == "C" {
			v.Warnings = append(v.Warnings, Warning{CorrectionWithoutResult, r.Name, f.sample})
		}
		if f.group == unknownSpecimen {
			v.Warnings = append(v.Warnings, Warning{SpecimenUnknown, r.Name, ""})
		}
	}
	v.CalledCritical = m.calledCritical
	v.interpretWithoutValue()
	if m.status == Final && !m.wholeOrder && e.waitsForTests(&v, m) {
		m.status, v.Status = Partial, Partial
	}
	v.Missing = e.listMissing(&v, m)
	if m.reflexFinal && m.status == Partial {
		e.completeByReflex(&v, m)
	}
	return v
}

// interpretWithoutValue completes the interpretation of the results by the facts that
// are no result.
func (v *Version) interpretWithoutValue() {
	switch {
	case v.CalledCritical:
		v.Interpretation = orders.Critical
	case len(v.Results) == 0:
		v.Interpretation = orders.Unknown
	}
}

// normalise brings one value into the form that all labs share.
func (e *expectations) normalise(f sampledResult, sex string, age int) Result {
	id := e.identify(f.ProviderID, f.TestProviderID, f.LOINC, f.Name)
	v := parseReported(&f.Result)
	r := Result{
		Name: id.name, Slug: id.slug, ProviderID: id.code, TestID: f.TestProviderID, SubID: f.SubID, LOINC: id.loinc, LOINCSlug: id.loincSlug,
		Type: v.kind, Text: v.text, Number: v.number, Flag: f.Flag, Status: f.Status, At: f.At,
		Laboratory: f.Laboratory, Sample: f.sample, Markers: id.markers, row: id.row, group: f.group,
	}
	r.Range.Text = strings.TrimSpace(f.Range)
	if v.kind != Coded {
		r.Unit = strings.TrimSpace(f.Unit)
	}
	r.UCUM, _ = loinc.UCUM(r.Unit)
	if v.kind == Range || v.kind == Comment || v.text != strings.TrimSpace(f.Value) && v.kind == Coded {
		r.Notes = []string{strings.TrimSpace(f.Value)}
	}
	for _, note := range f.Notes {
		if note = strings.TrimSpace(note); note != "" {
			r.Notes = append(r.Notes, note)
		}
	}
	r.interpret(v, id, sex, age)
	e.nameCancerSignal(&r)
	r.Finality = f.finality
	if f.previous != nil {
		r.Previous = e.previous(f.previous, sex, age)
	}
	return r
}

// previous returns an earlier value in the form that all labs share.
func (e *expectations) previous(f *sampledResult, sex string, age int) *Previous {
	p := e.normalise(*f, sex, age)
	return &Previous{
		Text: p.Text, Unit: p.Unit, Interpretation: p.Interpretation, Flag: p.Flag, Range: p.Range.Text, Notes: p.Notes, Finality: p.Finality, ReportedAt: f.at,
	}
}

// patient returns the patient's sex, and the age in years when the sample was
// taken; -1 when it is unknown.
func (e *expectations) patient(samples []Sample) (sex string, age int) {
	p := e.order.Body.Patient
	if p == nil || p.BirthDate.IsZero() {
		return "", -1
	}
	return p.Gender, p.Age(collectionDay(e.order, samples))
}

// CollectedOn returns the day on which the sample of some results was taken,
// as far as it is known.
func CollectedOn(o *orders.Order, v *Version) civil.Date { return collectionDay(o, v.Samples) }

// collectionDay returns the day on which the sample was taken, as far as it is
// known.
func collectionDay(o *orders.Order, samples []Sample) civil.Date {
	if at := collectionTime(samples); !at.Time.IsZero() {
		return civil.DateOf(AtOffset(at.Time, at.Offset))
	}
	if o.CollectedAt != nil {
		return civil.DateOf(*o.CollectedAt)
	}
	return civil.DateOf(o.CreatedAt)
}

// AtOffset returns an instant in a zone with an offset in seconds east of UTC;
// UTC without an offset.
func AtOffset(at time.Time, offset *int) time.Time {
	if offset == nil {
		return at.UTC()
	}
	return at.In(time.FixedZone("", *offset))
}

// value is a parsed value.
type value struct {
	kind   Type
	text   string
	number *float64
	// span holds the limits between which the number is; nil for words.
	span *refrange.Value
}

var (
	decimalPattern = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$`)
	groupedPattern = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$`)
	// limitPattern and intervalPattern match the forms of a range that the
	// reference allows.
	limitPattern    = regexp.MustCompile(`^([<>]=?)(\d*\.?\d+)$`)
	intervalPattern = regexp.MustCompile(`^(\d*\.?\d+)-(\d*\.?\d+)$`)
	decimalComma    = regexp.MustCompile(`,(\d{1,2}|\d{4,})?(\D|$)`)
	constantPattern = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
)

// maxConstant bounds the length of words that become a constant.
const maxConstant = 64

// parseValue parses a value. kind is the type that the network gave; it counts
// where the text agrees with it.
//
// Reference 3, table of types.
func parseValue(text string, kind Type) value {
	text = strings.TrimSpace(text)
	if kind == Coded {
		if c := constantOf(text); c != "" {
			return value{kind: Coded, text: c}
		}
		return value{kind: Comment, text: text}
	}
	if kind == Comment {
		return value{kind: Comment, text: text}
	}
	if v, ok := parseNumber(text); ok {
		return v
	}
	if v, ok := parseInterval(text); ok {
		return v
	}
	return value{kind: Comment, text: text}
}

// parseReported parses the value of a result. A decimal comma makes a number
// only if the test has numbers and the commas on the report agree.
func parseReported(r *networks.Result) value {
	text := strings.TrimSpace(r.Value)
	comma := refrange.HasDecimalComma(r.Range)
	sameStyle := comma || Type(r.Type) == Numeric && refrange.HasDecimalComma(text) && !strings.ContainsAny(r.Range, ".,")
	if sameStyle && Type(r.Type) != Comment && Type(r.Type) != Coded && commaPattern.MatchString(text) {
		text = strings.Replace(text, ",", ".", 1)
	}
	return parseValue(text, Type(r.Type))
}

// commaPattern matches a number with one comma, and a limit.
var commaPattern = regexp.MustCompile(`^[<>]?=?\s*[+-]?\d+,\d+$`)

func parseNumber(text string) (value, bool) {
	plain := strings.ReplaceAll(text, " ", "")
	if groupedPattern.MatchString(plain) {
		plain = strings.ReplaceAll(plain, ",", "")
	}
	if !decimalPattern.MatchString(plain) {
		return value{}, false
	}
	number, err := strconv.ParseFloat(plain, 64)
	if err != nil { // too large for a number, and for a body
		return value{}, false
	}
	span := refrange.NewExact(number)
	return value{Numeric, strings.TrimPrefix(plain, "+"), &number, &span}, true
}

var rangeSigns = strings.NewReplacer(" ", "", "≤", "<=", "≥", ">=", "=<", "<=", "=>", ">=", "–", "-", "—", "-", ",", "")

// parseInterval parses a value that is a limit or an interval: <5, 10-20.
func parseInterval(text string) (value, bool) {
	if decimalComma.MatchString(text) {
		return value{}, false
	}
	plain := rangeSigns.Replace(text)
	if m := limitPattern.FindStringSubmatch(plain); m != nil {
		number, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return value{}, false
		}
		bound := refrange.Bound{Value: number, Inclusive: strings.HasSuffix(m[1], "=")}
		span := refrange.NewAbove(bound)
		if m[1][0] == '<' {
			span = refrange.NewBelow(bound)
		}
		return value{kind: Range, text: plain, span: &span}, true
	}
	m := intervalPattern.FindStringSubmatch(plain)
	if m == nil {
		return value{}, false
	}
	low, err1 := strconv.ParseFloat(m[1], 64)
	high, err2 := strconv.ParseFloat(m[2], 64)
	if err1 != nil || err2 != nil || low > high {
		return value{}, false
	}
	span := refrange.NewBetween(low, high)
	return value{kind: Range, text: plain, span: &span}, true
}

// constantOf makes an upper-case constant of a coded value: NOT_DETECTED from
// "Not detected". It is empty when the words make none.
func constantOf(text string) string {
	if constantPattern.MatchString(text) {
		return text
	}
	words := strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	c := strings.Join(words, "_")
	if len(c) > maxConstant || !constantPattern.MatchString(c) {
		return ""
	}
	return c
}

// cancerSignalCode is the code of a multi-cancer test at a central lab: the
// signal itself, then its possible origin, then comments.
//
// Reference 3.
const cancerSignalCode = "86038987"

// nameCancerSignal gives the rows of that test the names that clients know. A
// signal is critical in all its rows; without a signal there is only the first
// row.
func (e *expectations) nameCancerSignal(r *Result) {
	part, ours := strings.CutPrefix(r.ProviderID, cancerSignalCode)
	if !ours || e.lab.Slug != "quest" {
		return
	}
	switch {
	case part == "":
		r.Slug = "galleri-cancer-signal"
	case part == "_1":
		r.Slug = "galleri-cancer-signal-origin"
	case part == "_2":
		r.Slug = "galleri-cancer-signal-origin-subcategory"
	case strings.HasPrefix(part, "_"):
		r.Slug = fmt.Sprintf("galleri-comment-%s", loinc.Slug(part))
	}
	r.Interpretation = orders.Critical
	if part == "" && r.Text == "NOT_DETECTED" {
		r.Interpretation = orders.Normal
	}
}
