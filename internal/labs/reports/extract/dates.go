package extract

import (
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
