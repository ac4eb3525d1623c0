package reports

import (
	"cmp"
	"context"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/labs/loinc"
	"hale/internal/labs/orders"
	"hale/internal/labs/reports/extract"
	"hale/internal/labs/results"
	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// OriginKind is a kind of source of results.
type OriginKind string

// The kinds of sources.
const (
	FromOrder  OriginKind = "order"
	FromReport OriginKind = "report"
)

// Origin names a result, or all results of an order or a report.
type Origin struct {
	Kind  OriginKind `json:"kind"`
	Order uuid.UUID  `json:"order,omitzero"`
	Job   ID         `json:"job,omitzero"`
	Row   int        `json:"row"` // of a report; -1 for all
}

// whole returns the order or report of a result.
func (o Origin) whole() Origin { o.Row = -1; return o }

// fact is one result in a form that can be compared.
type fact struct {
	origin     Origin
	loinc      string // empty if it is not certain
	name       string
	number     *float64
	comparator string
	text       string
	unit       string // UCUM, or as printed
	day        string // of the collection, yyyy-mm-dd; empty if unknown
	reported   string // day of the report, for a report without a day of collection
	clock      string // time of the collection as printed, such as 08:15; empty if unknown
	specimens  []string
}

// facts returns the rows of a report for comparison.
func facts(j *Job, v *Version) []fact {
	m := &v.Metadata
	specimens := specimenNumbers(m.Specimen)
	var all []fact
	for i := range v.Rows {
		r := &v.Rows[i]
		if v.Removed[i] || !r.HasValue() {
			continue
		}
		all = append(all, fact{
			origin: Origin{Kind: FromReport, Job: j.ID, Row: i}, loinc: codeOf(r), name: foldText(r.Name), number: r.Number,
			comparator: r.Comparator, text: foldText(r.Value), unit: foldUnit(codeOf(r), cmp.Or(r.UCUM, r.Unit)), day: m.CollectedDate,
			reported: m.ReportedDate, clock: printedClock.FindString(m.CollectedText), specimens: specimens,
		})
	}
	return all
}

// printedClock finds the time in a printed date.
var printedClock = regexp.MustCompile(`\b\d{1,2}:\d{2}\b`)

func specimenNumbers(printed ...string) (all []string) {
	for _, number := range printed {
		if number = foldText(number); number != "" {
			all = append(all, number)
		}
	}
	return all
}

// codeOf returns the LOINC code of a row if it is certain.
func codeOf(r *extract.Row) string {
	if r.Status != extract.AutoMatch || len(r.Matches) == 0 {
		return ""
	}
	return r.Matches[0].Code
}

// factsOfOrder returns the results of an order for comparison.
func factsOfOrder(o *orders.Order, r *results.Revision) []fact {
	day := ""
	if d := results.CollectedOn(o, &r.Version); !d.IsZero() {
		day = d.String()
	}
	specimens := specimenNumbers(o.SampleID)
	for _, s := range r.Samples {
		specimens = append(specimens, specimenNumbers(s.Specimen.Number, s.Key)...)
	}
	var all []fact
	for i := range r.Results {
		one := &r.Results[i]
		f := fact{
			origin: Origin{Kind: FromOrder, Order: o.ID.UUID(), Row: i}, loinc: one.LOINC, name: foldText(one.Name), number: one.Number,
			text: foldText(one.Text), unit: foldUnit(one.LOINC, cmp.Or(one.UCUM, one.Unit)), day: day, specimens: specimens,
		}
		if f.number == nil {
			f.comparator, f.number = splitComparator(one.Text)
		}
		all = append(all, f)
	}
	return all
}

func foldText(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// foldUnit returns a unit in UCUM if it is known. mEq/L of sodium becomes mmol/L, which
// has the same number. Results of orders have IU/L as U/L.
func foldUnit(code, unit string) string {
	if loinc.SameUnit(code, unit, "mmol/L") {
		return "mmol/L"
	}
	if unit == "[IU]/L" {
		return "U/L"
	}
	if known, ok := loinc.UCUM(unit); ok {
		return known
	}
	return strings.ReplaceAll(unit, " ", "")
}

// isSameSample reports whether two results are of one sample: both have its number, or the
// day is the same and nothing distinguishes them. Two reports with different numbers or times
// are of two samples; an order has numbers that its report may not print.
func (f *fact) isSameSample(g *fact) bool {
	if f.sharesSpecimen(g) {
		return true
	}
	areReports := f.origin.Kind == FromReport && g.origin.Kind == FromReport
	if areReports && len(f.specimens) > 0 && len(g.specimens) > 0 || f.clock != "" && g.clock != "" && f.clock != g.clock {
		return false
	}
	day := cmp.Or(f.day, f.reported)
	return day != "" && day == cmp.Or(g.day, g.reported)
}

func (f *fact) sharesSpecimen(g *fact) bool {
	return slices.ContainsFunc(f.specimens, func(number string) bool { return slices.Contains(g.specimens, number) })
}

// isOneCollection reports whether nothing distinguishes the samples of two results. If
// they share a number, their days must not differ. If not both have numbers, their days
// must be known and equal, and their times must not differ. An unknown day or time does
// not differ from another one.
func (f *fact) isOneCollection(g *fact) bool {
	sameDay := f.day == g.day || f.day == "" || g.day == ""
	if f.sharesSpecimen(g) {
		return sameDay
	}
	numbered := len(f.specimens) > 0 && len(g.specimens) > 0
	return !numbered && f.day != "" && f.day == g.day && (f.clock == "" || g.clock == "" || f.clock == g.clock)
}

func (f *fact) isSameAnalyte(g *fact) bool {
	if f.loinc != "" && g.loinc != "" {
		return f.loinc == g.loinc
	}
	return f.name == g.name
}

func (f *fact) isSameUnit(g *fact) bool { return f.unit == "" || g.unit == "" || f.unit == g.unit }

func (f *fact) isSameValue(g *fact) bool {
	if f.number != nil && g.number != nil {
		return f.comparator == g.comparator && f.isSameUnit(g) && math.Abs(*f.number-*g.number) <= 1e-9*math.Abs(*f.number)
	}
	return f.number == nil && g.number == nil && f.text == g.text
}

// contradicts reports whether two results of one sample differ.
func (f *fact) contradicts(g *fact) bool {
	return f.isOneCollection(g) && f.isSameAnalyte(g) && f.isSameUnit(g) && !f.isSameValue(g)
}

// findRepeats links the rows of a version to stored results that they repeat. It reports
// whether a row contradicts a stored result of the same sample.
func findRepeats(ctx context.Context, tx *store.Tx, j *Job, v *Version) (contradicts bool, err error) {
	stored, err := storedFacts(ctx, tx, j.Team, j.User, j.ID)
	if err != nil {
		return false, err
	}
	v.Repeated, j.Repeats = nil, nil
	rows := facts(j, v)
	for i := range rows {
		f := &rows[i]
		repeated, differs := findSame(f, stored)
		if repeated != nil {
			if v.Repeated == nil {
				v.Repeated = map[int]Origin{}
			}
			v.Repeated[f.origin.Row] = *repeated
			continue
		}
		contradicts = contradicts || differs
	}
	j.Repeats = commonOrigin(v, len(rows))
	return contradicts, nil
}

// findSame returns the stored result that f repeats, or nil. differs means that a result of
// the same sample has another value.
func findSame(f *fact, stored []fact) (same *Origin, differs bool) {
	for i := range stored {
		g := &stored[i]
		if f.isSameAnalyte(g) && f.isSameSample(g) && f.isSameValue(g) {
			return &g.origin, false
		}
		differs = differs || f.contradicts(g)
	}
	return nil, differs
}

// commonOrigin returns the order or report that has all rows of a version; nil for none.
func commonOrigin(v *Version, rows int) *Origin {
	if rows == 0 || len(v.Repeated) < rows {
		return nil
	}
	var common *Origin
	for _, o := range v.Repeated {
		w := o.whole()
		if common != nil && *common != w {
			return nil
		}
		common = &w
	}
	return common
}

// storedFacts returns the results of the user's orders and of completed reports, except one.
// Results of orders are first.
func storedFacts(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, except ID) ([]fact, error) {
	ordered, err := results.OfUser(ctx, tx, team, user)
	if err != nil {
		return nil, err
	}
	var all []fact
	for i := range ordered {
		all = append(all, factsOfOrder(&ordered[i].Order, &ordered[i].Revision)...)
	}
	read, err := completedReports(ctx, tx, team, user)
	if err != nil {
		return nil, err
	}
	for i := range read {
		if read[i].ID == except {
			continue
		}
		r, err := Results(ctx, tx, &read[i])
		if err != nil {
			return nil, err
		}
		for _, f := range facts(&read[i], &r.Version) {
			if _, repeats := r.Repeated[f.origin.Row]; !repeats { // the first one counts
				all = append(all, f)
			}
		}
	}
	return all, nil
}
