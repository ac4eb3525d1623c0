package main

import (
	"fmt"
	"io"
	"regexp"
	"sort"
	"strings"

	"hale/internal/labs/reports/extract"
)

// tally counts rows of one class of documents.
type tally struct {
	reports, failed                             int
	rows, found, value, unit, ranges, flag      int
	all, codes, codesRight, extra               int
	wrong, wrongUnflagged, extraUnflagged       int
	review                                      int
	name, birth, sex, lab, collected, accession int
	birthWrong                                  int
	pages                                       int
	seconds                                     float64
}

func (t *tally) add(o tally) {
	t.reports += o.reports
	t.failed += o.failed
	t.rows += o.rows
	t.found += o.found
	t.value += o.value
	t.unit += o.unit
	t.ranges += o.ranges
	t.flag += o.flag
	t.all += o.all
	t.codes += o.codes
	t.codesRight += o.codesRight
	t.extra += o.extra
	t.wrong += o.wrong
	t.wrongUnflagged += o.wrongUnflagged
	t.extraUnflagged += o.extraUnflagged
	t.review += o.review
	t.name += o.name
	t.birth += o.birth
	t.birthWrong += o.birthWrong
	t.sex += o.sex
	t.lab += o.lab
	t.collected += o.collected
	t.accession += o.accession
	t.pages += o.pages
	t.seconds += o.seconds
}

var notAlphanumeric = regexp.MustCompile(`[^a-z0-9%#]+`)

func fold(s string) string { return notAlphanumeric.ReplaceAllString(strings.ToLower(s), "") }

func squeeze(s string) string {
	return strings.NewReplacer(" ", "", "–", "-", "≤", "<=", "μ", "µ").Replace(strings.ToLower(s))
}

// scorer compares a reading with the truth and counts.
type scorer struct {
	tally
	want     truth
	got      extract.Result
	isImage  bool
	problems io.Writer // gets a line for each mistake; nil for none
}

// score compares a reading with the truth. Rows are paired by name in the order
// of the report. problems, if not nil, gets a line for each mistake.
//
// In images a comma and a point are the same mark: the numbers must be equal.
func score(want truth, got extract.Result, problems io.Writer) tally {
	s := scorer{
		tally: tally{reports: 1, rows: len(want.Rows)}, want: want, got: got, problems: problems,
		isImage: len(got.Pages) > 0 && got.Pages[0].Source == extract.FromOCR,
	}
	taken := make([]bool, len(got.Rows))
	for _, w := range want.Rows {
		if w.LOINC != "" {
			s.codes++
		}
		at := s.pair(w, taken)
		if at < 0 {
			s.report("missed %q %q %s", w.Name, w.Value, w.Unit)
			continue
		}
		taken[at] = true
		s.scoreRow(w, got.Rows[at])
	}
	for at, g := range got.Rows {
		if !taken[at] {
			s.scoreExtra(g)
		}
	}
	s.scoreMetadata()
	return s.tally
}

func (s *scorer) report(format string, args ...any) {
	if s.problems != nil {
		fmt.Fprintf(s.problems, s.want.ID+": "+format+"\n", args...)
	}
}

func (s *scorer) isSameValue(a, b string) bool {
	a, b = squeeze(a), squeeze(b)
	return a == b || s.isImage && strings.ReplaceAll(a, ",", ".") == strings.ReplaceAll(b, ",", ".")
}

// pair returns the position of the row that was read for a row of the truth, or -1.
func (s *scorer) pair(w truthRow, taken []bool) int {
	best, bestPoints := -1, 0
	for at, g := range s.got.Rows {
		if taken[at] {
			continue
		}
		points := 0
		switch {
		case fold(g.Name) == fold(w.Name):
			points = 4
		case isSimilar(fold(g.Name), fold(w.Name)):
			points = 3
		case w.LOINC != "" && len(g.Matches) > 0 && g.Matches[0].Code == w.LOINC:
			points = 2
		}
		if points == 0 {
			continue
		}
		points *= 4
		if s.isSameValue(g.Value, w.Value) {
			points += 2
		}
		if g.Panel != "" && fold(g.Panel) == fold(w.Panel) {
			points++
		}
		if points > bestPoints {
			best, bestPoints = at, points
		}
	}
	return best
}

// scoreRow compares a row with the truth.
func (s *scorer) scoreRow(w truthRow, g extract.Row) {
	s.found++
	if g.NeedsReview {
		s.review++
	}
	value := s.isSameValue(g.Value, w.Value)
	unit := sameUnit(g.Unit, w.Unit)
	ranges := sameBound(g.Range.Min, w.Min) && sameBound(g.Range.Max, w.Max) && (w.Expected == "" || fold(g.Range.Expected) == fold(w.Expected))
	flag := flagClass(g.Flag) == w.Flag
	count := func(ok bool, n *int) {
		if ok {
			*n++
		}
	}
	count(value, &s.value)
	count(unit, &s.unit)
	count(ranges, &s.ranges)
	count(flag, &s.flag)
	count(value && unit && ranges && flag, &s.all)
	if w.LOINC != "" {
		s.scoreCode(w, g)
	}
	if !value {
		s.wrong++
		if !g.NeedsReview {
			s.wrongUnflagged++
			s.report("WRONG AND NOT FLAGGED")
		}
	}
	if !value || !unit || !ranges || !flag {
		s.report("%q: value %q want %q; unit %q want %q; range %q %s want %s %q; flag %q want %q; review %v %v", w.Name, g.Value, w.Value, g.Unit, w.Unit, g.Range.Text, bounds(g.Range.Min, g.Range.Max), bounds(w.Min, w.Max), w.Expected, g.Flag, w.Flag, g.NeedsReview, g.Reasons)
	}
}

// scoreCode compares the LOINC code of a row with the truth.
func (s *scorer) scoreCode(w truthRow, g extract.Row) {
	if len(g.Matches) > 0 && g.Matches[0].Code == w.LOINC {
		s.codesRight++
		return
	}
	best := "none"
	if len(g.Matches) > 0 {
		best = g.Matches[0].Code + " " + g.Matches[0].Display
	}
	s.report("code of %q %s is %s, want %s", w.Name, g.Unit, best, w.LOINC)
}

// scoreExtra counts a row that the report does not have.
func (s *scorer) scoreExtra(g extract.Row) {
	s.extra++
	if !g.NeedsReview && g.Status != extract.NoMatch {
		s.extraUnflagged++
	}
	s.report("extra row %q %q %q %q", g.Name, g.Value, g.Unit, g.Range.Text)
}

// scoreMetadata compares what the report says about the patient and the sample.
func (s *scorer) scoreMetadata() {
	m, w := s.got.Metadata, s.want.Metadata
	count := func(ok bool, n *int, name, got, want string) {
		if ok {
			*n++
		} else {
			s.report("metadata %s %q want %q", name, got, want)
		}
	}
	count(strings.EqualFold(m.FirstName, w.FirstName) && strings.EqualFold(m.LastName, w.LastName), &s.name, "name", m.FirstName+"|"+m.LastName, w.FirstName+"|"+w.LastName)
	count(m.BirthDate == w.BirthDate, &s.birth, "birth date", m.BirthDate+" of "+m.BirthText, w.BirthDate)
	if m.BirthDate != "" && m.BirthDate != w.BirthDate {
		s.birthWrong++
	}
	count(m.Gender == w.Gender, &s.sex, "sex", m.Gender, w.Gender)
	count(fold(m.Lab) == fold(w.Lab), &s.lab, "lab", m.Lab, w.Lab)
	count(m.CollectedDate == w.Collected && (m.ReportedDate == w.Reported), &s.collected, "dates", m.CollectedText+"="+m.CollectedDate+" "+m.ReportedText+"="+m.ReportedDate, w.Collected+" "+w.Reported)
	count(strings.EqualFold(m.Specimen, w.Specimen), &s.accession, "specimen", m.Specimen, w.Specimen)
}

func isSimilar(a, b string) bool {
	if len(a) < 4 || len(b) < 4 {
		return false
	}
	return strings.HasPrefix(a, b) && len(a)-len(b) <= 3 || strings.HasPrefix(b, a) && len(b)-len(a) <= 3 || distance(a, b)*6 <= max(len(a), len(b))
}

func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

func sameUnit(got, want string) bool {
	unify := func(s string) string {
		return strings.NewReplacer("^", "", "*", "", "µ", "u", "μ", "u").Replace(squeeze(s))
	}
	return unify(got) == unify(want)
}

func sameBound(a, b *float64) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return *a == *b
}

func bounds(low, high *float64) string {
	text := func(v *float64) string {
		if v == nil {
			return ""
		}
		return fmt.Sprint(*v)
	}
	return "[" + text(low) + ".." + text(high) + "]"
}

// flagClass maps a printed flag to H, L, A or C.
func flagClass(flag string) string {
	switch strings.ToLower(strings.Trim(flag, "()[] ")) {
	case "h", "high", "+", "↑", "hi", "h*", "▲":
		return "H"
	case "l", "low", "-", "↓", "lo", "l*", "▼":
		return "L"
	case "a", "abnormal", "*", "**", "abn", "!":
		return "A"
	case "hh", "ll", "c", "critical", "aa":
		return "C"
	}
	return ""
}

func ratio(a, b int) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f %%", 100*float64(a)/float64(b))
}

func printTable(w io.Writer, classes map[string]*tally) {
	fmt.Fprintln(w, "| class | reports | rows | found | value | unit | range | flag | all four | LOINC top-1 | precision | for review | wrong, not flagged | extra rows, not flagged |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	names := make([]string, 0, len(classes))
	for name := range classes {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t := classes[name]
		fmt.Fprintf(w, "| %s | %d | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s | %d | %d |\n", name, t.reports, t.rows, ratio(t.found, t.rows), ratio(t.value, t.rows), ratio(t.unit, t.rows),
			ratio(t.ranges, t.rows), ratio(t.flag, t.rows), ratio(t.all, t.rows), ratio(t.codesRight, t.codes), ratio(t.value, t.found+t.extra), ratio(t.review, t.found), t.wrongUnflagged, t.extraUnflagged)
	}
	fmt.Fprintln(w, "\n| class | name | birth date | wrong birth date | sex | lab | both dates | accession | failed | pages | CPU s/page |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|")
	for _, name := range names {
		t := classes[name]
		rate := 0.0
		if t.pages > 0 {
			rate = t.seconds / float64(t.pages)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %d | %s | %s | %s | %s | %d | %d | %.3f |\n", name, ratio(t.name, t.reports), ratio(t.birth, t.reports), t.birthWrong, ratio(t.sex, t.reports), ratio(t.lab, t.reports), ratio(t.collected, t.reports), ratio(t.accession, t.reports), t.failed, t.pages, rate)
	}
}

// truth is all that a generated report says. All persons are invented.
type truth struct {
	ID       string     `json:"id"`
	Family   string     `json:"family"`
	Printer  string     `json:"printer"` // chromium or libreoffice
	Metadata metadata   `json:"metadata"`
	Rows     []truthRow `json:"rows"`
}

type metadata struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	BirthDate string `json:"birth_date"` // YYYY-MM-DD
	Gender    string `json:"gender"`
	Lab       string `json:"lab"`
	Collected string `json:"collected"` // YYYY-MM-DD
	Reported  string `json:"reported"`
	Specimen  string `json:"specimen"`
}

type truthRow struct {
	Name     string   `json:"name"`
	Value    string   `json:"value"` // as printed
	Unit     string   `json:"unit"`  // as printed
	Min      *float64 `json:"min,omitempty"`
	Max      *float64 `json:"max,omitempty"`
	Expected string   `json:"expected,omitempty"` // the normal answer in words
	Flag     string   `json:"flag"`               // H, L, A, C or empty
	LOINC    string   `json:"loinc,omitempty"`    // empty for analytes outside the table
	Panel    string   `json:"panel"`
}
