package extract

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// date is a printed date. It is ambiguous when day and month can be exchanged.
type date struct {
	day       time.Time
	ambiguous bool
}

var (
	isoForm      = regexp.MustCompile(`^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})`)
	numbersForm  = regexp.MustCompile(`^(\d{1,2})([-/.])(\d{1,2})[-/.](\d{4}|\d{2})(?:\D|$)`)
	dayWordForm  = regexp.MustCompile(`(?i)^(\d{1,2})(?:st|nd|rd|th)?[-/ .]*(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[-/ .,]*(\d{4}|\d{2})(?:\D|$)`)
	wordDayForm  = regexp.MustCompile(`(?i)^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[-/ .]*(\d{1,2})(?:st|nd|rd|th)?[-/ .,]+(\d{4})(?:\D|$)`)
	monthsByName = map[string]time.Month{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12}
)

// parseDate reads a date at the start of text.
func parseDate(text string) (date, bool) {
	text = strings.TrimSpace(text)
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	year := func(s string) int {
		n := number(s)
		if len(s) == 2 {
			if n += 2000; n > 2050 {
				n -= 100
			}
		}
		return n
	}
	if m := isoForm.FindStringSubmatch(text); m != nil {
		d, ok := makeDate(number(m[1]), number(m[2]), number(m[3]))
		return date{day: d}, ok
	}
	if m := dayWordForm.FindStringSubmatch(text); m != nil {
		d, ok := makeDate(year(m[3]), int(monthsByName[strings.ToLower(m[2])]), number(m[1]))
		return date{day: d}, ok
	}
	if m := wordDayForm.FindStringSubmatch(text); m != nil {
		d, ok := makeDate(year(m[3]), int(monthsByName[strings.ToLower(m[1])]), number(m[2]))
		return date{day: d}, ok
	}
	if m := numbersForm.FindStringSubmatch(text); m != nil {
		a, b, y := number(m[1]), number(m[3]), year(m[4])
		if m[2] == "." || a > 12 { // day first
			d, ok := makeDate(y, b, a)
			return date{day: d}, ok
		}
		d, ok := makeDate(y, a, b)
		if !ok {
			d, ok = makeDate(y, b, a)
			return date{day: d}, ok
		}
		return date{day: d, ambiguous: b <= 12 && a != b}, ok
	}
	return date{}, false
}

func makeDate(year, month, day int) (time.Time, bool) {
	if year < 1880 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31 {
		return time.Time{}, false
	}
	d := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return d, d.Day() == day
}

// dateOrder is the order of day and month in ambiguous dates.
type dateOrder int

const (
	orderUnknown dateOrder = iota
	monthFirst
	dayFirst
)

// dateOrder looks at all dates of the document, then at which order is possible: a
// report is not older than its sample. At last it looks for a laboratory of the United
// States.
func (r *reader) dateOrder(m Metadata) dateOrder {
	months, days := 0, 0
	for _, p := range r.pages {
		for _, l := range p.lines {
			for _, c := range l.cells {
				for _, w := range c.words {
					parts := numbersForm.FindStringSubmatch(strings.TrimLeft(w.Text, ":("))
					if parts == nil || parts[2] == "." {
						continue
					}
					switch {
					case parts[1] > "12" && len(parts[1]) == 2:
						days++
					case parts[3] > "12" && len(parts[3]) == 2:
						months++
					}
				}
			}
		}
	}
	switch {
	case months > 0 && days == 0:
		return monthFirst
	case days > 0 && months == 0:
		return dayFirst
	case days > 0:
		return orderUnknown
	}
	if order := possibleOrder(m); order != orderUnknown {
		return order
	}
	if m.CollectedText+m.ReportedText != "" && r.isAmerican() {
		return monthFirst
	}
	return orderUnknown
}

// possibleOrder returns the only order that does not put the report before its sample.
func possibleOrder(m Metadata) dateOrder {
	drawn, ok1 := parseDate(m.CollectedText)
	reported, ok2 := parseDate(m.ReportedText)
	if !ok1 || !ok2 || !drawn.ambiguous && !reported.ambiguous {
		return orderUnknown
	}
	month := !reported.day.Before(drawn.day)
	if drawn.ambiguous {
		drawn.day = exchangeDayAndMonth(drawn.day)
	}
	if reported.ambiguous {
		reported.day = exchangeDayAndMonth(reported.day)
	}
	day := !reported.day.Before(drawn.day)
	switch {
	case month && !day:
		return monthFirst
	case day && !month:
		return dayFirst
	}
	return orderUnknown
}

// americanSigns are signs of a laboratory of the United States. They are a time zone behind a
// time, a state with a ZIP code, and the number of a CLIA certificate.
var americanSigns = []*regexp.Regexp{
	regexp.MustCompile(`\d:\d{2}(?: ?[APap][Mm])? (?:[ECMP][SD]T|AK[SD]T|HST)\b`),
	regexp.MustCompile(`\b(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]) \d{5}(?:-\d{4})?\b`),
	regexp.MustCompile(`\b\d{2}D\d{7}\b`),
}

// isAmerican reports whether the head of the first page has two signs of a laboratory of the
// United States. One can be of a patient, or of another laboratory.
func (r *reader) isAmerican() bool {
	first := math.Inf(1)
	for i := range r.drafts {
		if r.drafts[i].page == 0 {
			first = min(first, r.drafts[i].y)
		}
	}
	found := map[int]bool{}
	for _, l := range r.pages[0].lines {
		for i, sign := range americanSigns {
			found[i] = found[i] || l.y < first && sign.MatchString(l.text())
		}
	}
	signs := 0
	for _, has := range found {
		if has {
			signs++
		}
	}
	return signs >= 2
}

func exchangeDayAndMonth(d time.Time) time.Time {
	return time.Date(d.Year(), time.Month(d.Day()), int(d.Month()), 0, 0, 0, 0, time.UTC)
}

// dayOf returns a printed date as YYYY-MM-DD, or nothing when it is ambiguous.
func dayOf(text string, order dateOrder) string {
	d, ok := parseDate(text)
	switch {
	case !ok:
		return ""
	case d.ambiguous && order == orderUnknown:
		return ""
	case d.ambiguous && order == dayFirst:
		return exchangeDayAndMonth(d.day).Format(time.DateOnly)
	}
	return d.day.Format(time.DateOnly)
}
