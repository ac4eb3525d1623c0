package extract

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// columnKind is the kind of content of a table's column.
type columnKind int

const (
	otherColumn columnKind = iota
	nameColumn
	valueColumn
	unitColumn
	rangeColumn
	flagColumn
	previousColumn
	dateColumn // results of one visit
)

// column is one column of a table, placed by its header.
type column struct {
	kind columnKind
	x0   float64
	x1   float64
	date time.Time
	text string
	// bound is set if the column has one bound of the range.
	bound bound
}

var (
	inOutHeader    = regexp.MustCompile(`(?i)^(?:in[ -]range|out[ -]of[ -]range|within range|outside range)$`)
	previousHeader = regexp.MustCompile(`(?i)\b(?:` + earlierWords(inHeader) + `)\b`)
	rangeHeader    = regexp.MustCompile(`(?i)\b(?:ref|reference|range|ranges|interval|intervals|normal|normals|expected|limits?|optimal|desirable)\b`)
	flagHeader     = regexp.MustCompile(`(?i)^(?:flags?|abn\.?|abnormal|h/l|ind\.?|indicator|alert|l/h|hi/lo|a/n|remark|abn flag)$`)
	unitHeader     = regexp.MustCompile(`(?i)\b(?:units?|uom)\b`)
	otherHeader    = regexp.MustCompile(`(?i)^(?:lab|labs|site|status|method|methods?|methodology|code|loinc|specimen|specimen type|sample|comments?|notes?|remarks?|date|time|trend|graph|history|performed|verified|date/time|tech|accred|instrument)\b`)
	valueHeader    = regexp.MustCompile(`(?i)\b(?:results?|values?|observed|findings?|concentration|current|now|today|this (?:visit|time|week|month|year|sample|admission)|measured|your level|outcome)\b`)
	nameHeader     = regexp.MustCompile(`(?i)\b(?:tests?|investigations?|analytes?|analysis|analyses|components?|parameters?|examinations?|descriptions?|determinations?|biomarkers?|markers?|assays?|procedures?|study|studies|measures?|items?|test name|tests? performed|tests? ordered)\b`)
	headerPhrase   = regexp.MustCompile(`(?i)^(test name|test|tests|investigation|analyte|component|parameter|examination|results?|values?|flags?|units?|reference ranges?|reference intervals?|reference values?|ref\.? ranges?|ref\.? intervals?|ref\.? values?|normal ranges?|biological ref\.? intervals?|in range|out of range|lab|status|method)(?:\s|$)`)
	headerWordsRe  = regexp.MustCompile(`(?i)^(?:and|or|flag|date|interval|intervals|range|ranges|units?|result|results|value|values|level|name|limits|reference|ref\.?|&|\(?cont\.?\)?|current|` + earlierWords(headerWord) + `|test|in|out|of|status)$`)
)

// agoHeader is the header of results of an earlier day, such as "3 months ago" or
// "Admission".
var agoHeader = regexp.MustCompile(`(?i)^(?:(?:about |ca\.? |> ?)?(?:\d{1,3}|an?|one|two|three|four|five|six|nine|ten|twelve)\s*(?:h|hrs?|hours?|d|days?|w|wks?|weeks?|mo|mths?|months?|y|yrs?|years?)\.? (?:ago|earlier|before|prior|back)|` +
	`(?:on |at )?admission(?: value| result)?|(?:day before )?yesterday|old(?:er)? (?:values?|results?))$`)

// translatedHeaders are headers of other languages in a report in English.
var translatedHeaders = []struct {
	words *regexp.Regexp
	kind  columnKind
}{
	{regexp.MustCompile(`(?i)^(?:vorwerte?|vorbefunde?|ant[ée]riorit[ée]s?|(?:r[ée]sultats?|valeurs?) (?:ant[ée]rieur|pr[ée]c[ée]dent)\S*|letzter wert|valor anterior|valore precedente)$`), previousColumn},
	{regexp.MustCompile(`(?i)^(?:valeurs? (?:de r[ée]f[ée]rence|usuelles?|normales?|d'usage)|(?:intervalles? de )?r[ée]f[ée]rences?|norm(?:es?|en)?|referenz\S*|norm(?:al)?(?:bereich|wert)\S*|valore?s? de referencia|valori di riferimento|referentie\S*)$`), rangeColumn},
	{regexp.MustCompile(`(?i)^(?:unit[ée]s?|einheit(?:en)?|unidad(?:es)?|unit[àa]|eenheid)$`), unitColumn},
	{regexp.MustCompile(`(?i)^(?:r[ée]sultats?|valeurs?|ergebnis(?:se)?|messwerte?|werte?|resultados?|risultat[oi]|resultaat|uitslag)$`), valueColumn},
	{regexp.MustCompile(`(?i)^(?:analyses?|examens?|param[èe]tres?|untersuchung(?:en)?|ex[aá]menes|esam[ei]|bepaling)$`), nameColumn},
}

// monthHeader is a header of results of a month: "Nov 2025", "11/2025".
var monthHeader = regexp.MustCompile(`(?i)^(?:\d{1,2}|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?)[-/ ](?:19|20)\d\d$`)

// isPeriod reports whether a header is a year or a month.
func isPeriod(text string) bool { return yearOnly.MatchString(text) || monthHeader.MatchString(text) }

// plainName is a header of names without other words.
var plainName = regexp.MustCompile(`(?i)^(?:tests?|test names?|names?|analytes?|analysis|parameters?|components?|investigations?|examinations?|markers?|biomarkers?)$`)

// hasYears reports whether years can be headers next to the other cells of a line. In a row
// of results, "2020" is a value.
func hasYears(cells []cell) bool {
	isNamed := false
	for _, c := range cells {
		text := strings.Trim(plainSpaces(c.text()), " :.*")
		kind, day, _ := headerKind(text)
		switch {
		case !day.IsZero() || kind == previousColumn:
		case strings.ContainsAny(text, "0123456789") || isUnit(text):
			return false
		case plainName.MatchString(text):
			isNamed = true
		}
	}
	return isNamed
}

// headerKind classifies a header's text.
func headerKind(text string) (columnKind, time.Time, bool) {
	text = strings.Trim(plainSpaces(text), " :.*")
	if text == "" || len(strings.Fields(text)) > 6 {
		return 0, time.Time{}, false
	}
	if d, ok := parseDate(text); ok && onlyDate(text) {
		return dateColumn, d.day.Add(clockIn(text)), true
	}
	if words, day, ok := cutDate(text); ok {
		return datedKind(words), day, true
	}
	for _, h := range translatedHeaders {
		if h.words.MatchString(text) {
			return h.kind, time.Time{}, true
		}
	}
	switch {
	case onlyClock.MatchString(text):
		return dateColumn, someDay.Add(clockIn(text)), true
	case yearOnly.MatchString(text): // its last day: results of the year are not older than that
		year, _ := strconv.Atoi(text)
		return dateColumn, time.Date(year, time.December, 31, 0, 0, 0, 0, time.UTC), true
	case monthHeader.MatchString(text):
		day, ok := dayOfAside(text)
		return dateColumn, day, ok
	case agoHeader.MatchString(text):
		return previousColumn, time.Time{}, true
	case inOutHeader.MatchString(text):
		return valueColumn, time.Time{}, true
	case strings.ContainsAny(text, "0123456789:"):
		return 0, time.Time{}, false
	case previousHeader.MatchString(text):
		return previousColumn, time.Time{}, true
	case flagHeader.MatchString(text):
		return flagColumn, time.Time{}, true
	case rangeHeader.MatchString(text):
		return rangeColumn, time.Time{}, true
	case unitHeader.MatchString(text) && !valueHeader.MatchString(text):
		return unitColumn, time.Time{}, true
	case otherHeader.MatchString(text):
		return otherColumn, time.Time{}, true
	case valueHeader.MatchString(text):
		return valueColumn, time.Time{}, true
	case nameHeader.MatchString(text):
		return nameColumn, time.Time{}, true
	}
	return 0, time.Time{}, false
}

// onlyDate reports whether a text that begins with a date has no words behind it.
func onlyDate(text string) bool {
	words, _, ok := cutDate(text)
	return !ok || words == ""
}

// cutDate cuts a date and a time out of a header's text: "Previous (03/04/2026)".
func cutDate(text string) (words string, day time.Time, ok bool) {
	at := dateInHeader.FindStringIndex(text)
	if at == nil {
		return "", time.Time{}, false
	}
	d, ok := parseDate(text[at[0]:at[1]])
	if !ok {
		return "", time.Time{}, false
	}
	words = clockForm.ReplaceAllString(text[:at[0]]+" "+text[at[1]:], " ")
	words = strings.Trim(strings.Join(strings.Fields(words), " "), " ()[],;:-–—/.")
	if aboutReport.MatchString(words) || len(strings.Fields(words)) > 4 {
		return "", time.Time{}, false
	}
	return words, d.day.Add(clockIn(text)), true
}

// datedKind returns the kind of a column whose header has a date. If it does not know the
// words of the header, the column has the results of a visit.
func datedKind(words string) columnKind {
	switch {
	case previousHeader.MatchString(words):
		return previousColumn
	case rangeHeader.MatchString(words):
		return rangeColumn
	case valueHeader.MatchString(words):
		return valueColumn
	}
	return dateColumn
}

var (
	dateInHeader = regexp.MustCompile(`(?i)\b(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|` +
		`\d{1,2}(?:st|nd|rd|th)?[-/ .]*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[-/ .,]*(?:\d{4}|\d{2})|` +
		`(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[-/ .]*\d{1,2}(?:st|nd|rd|th)?[-/ .,]+\d{4})\b`)
	// aboutReport are the words of a head, which is no header of a table.
	aboutReport = regexp.MustCompile(`(?i)\b(?:date|collect\w*|collection|reported|reporting|drawn|receiv\w*|print\w*|birth|dob|d\.o\.b|born|issued|ordered|registered|released|page|patient|age|sex)\b`)
)

var (
	onlyClock = regexp.MustCompile(`(?i)^\d{1,2}:\d{2}(?:\s?[ap]m|\s?h(?:rs)?)?$`)
	clockForm = regexp.MustCompile(`(?i)\b(\d{1,2}):(\d{2})(?:\s?([ap])m)?\b`)
	// someDay is the day of columns that have only times.
	someDay = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)
)

// clockIn returns the time of day in a text; 0 without one.
func clockIn(text string) time.Duration {
	m := clockForm.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	switch {
	case strings.EqualFold(m[3], "p") && hour < 12:
		hour += 12
	case strings.EqualFold(m[3], "a") && hour == 12:
		hour = 0
	}
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
}

// headerCells splits cells that hold several headers, such as "FLAG REFERENCE
// RANGE".
func headerCells(l *line) []cell {
	var out []cell
	for _, c := range l.cells {
		words := c.words
		for len(words) > 0 {
			m := headerPhrase.FindStringSubmatch(plainSpaces(newCell(words).text()) + " ")
			n := len(words)
			if m != nil {
				n = min(n, len(strings.Fields(m[1])))
			}
			k := datedWords(words)
			for k > 0 && k < len(words) && onlyClock.MatchString(strings.Trim(words[k].Text, ",()")) { // "2026-11-20 08:15"
				k++
			}
			if k > 0 && k < n { // "27 Nov 2022 25 Apr 2023"
				out = append(out, newCell(words[:k]))
				words = words[k:]
				continue
			}
			if n < len(words) {
				rest := plainSpaces(newCell(words[n:]).text())
				if headerPhrase.FindString(rest+" ") == "" {
					n = len(words)
				}
			}
			out = append(out, newCell(words[:n]))
			words = words[n:]
		}
	}
	return out
}

// datedWords returns the number of words at the start that form a date.
func datedWords(words []Word) int {
	if len(words) > 1 && yearOnly.MatchString(words[0].Text) && yearOnly.MatchString(words[1].Text) { // "2025 2026"
		return 1
	}
	for n := min(3, len(words)); n >= 1; n-- {
		text := plainSpaces(newCell(words[:n]).text())
		if d, ok := parseDate(text); ok && len(text) <= 13 && d.day.Year() > 1990 {
			if n > 1 {
				if _, shorter := parseDate(plainSpaces(newCell(words[:n-1]).text())); shorter {
					continue
				}
			}
			return n
		}
	}
	return 0
}

// detectHeader reads a table's header at line i. It returns the columns, the number of
// lines that the header occupies, and whether the column of values is a guess.
func detectHeader(lines []*line, i int, em float64) (columns []column, used int, guessed bool) {
	cells := headerCells(lines[i])
	if len(cells) < 2 {
		return nil, 0, false
	}
	used = 1
	columns = headerColumns(cells)
	for next := i + 1; next < len(lines) && next <= i+2; next++ { // wrapped headers
		if lines[next].y-lines[next-1].y > 1.7*em {
			break
		}
		merged, ok := mergeHeader(cells, lines[next], em)
		if !ok {
			break
		}
		better := headerColumns(merged)
		if countKinds(better) < countKinds(columns) {
			break
		}
		cells, columns, used = merged, better, next-i+1
	}
	if isHeader(columns) {
		return columns, used, false
	}
	if pair, ok := pairOfValues(columns); ok {
		return pair, used, true
	}
	return nil, 0, false
}

func countKinds(columns []column) int {
	n := 0
	for _, c := range columns {
		if c.kind != otherColumn || c.text != "" && otherHeader.MatchString(c.text) {
			n++
		}
	}
	return n
}

func headerColumns(cells []cell) []column {
	columns := make([]column, 0, len(cells))
	years := hasYears(cells)
	for _, c := range cells {
		kind, date, ok := headerKind(c.text())
		if !ok || !years && isPeriod(plainSpaces(c.text())) {
			kind, date = otherColumn, time.Time{}
		}
		columns = append(columns, column{kind: kind, x0: c.x0, x1: c.x1, date: date, text: plainSpaces(c.text())})
	}
	slices.SortFunc(columns, func(a, b column) int { return int(math.Copysign(1, a.x0-b.x0)) })
	pairBounds(columns)
	return columns
}

func isHeader(columns []column) bool {
	has := map[columnKind]int{}
	known := 0
	for _, c := range columns {
		has[c.kind]++
		if c.kind != otherColumn {
			known++
		}
	}
	if known < 2 || known*2 < len(columns) {
		return false
	}
	if has[valueColumn]+has[dateColumn] == 0 && (has[previousColumn] == 0 || has[nameColumn] == 0 || has[unitColumn]+has[rangeColumn] == 0) {
		return false
	}
	if has[dateColumn] > 0 && has[valueColumn] == 0 && has[nameColumn]+has[unitColumn]+has[rangeColumn] == 0 {
		return false
	}
	return has[nameColumn]+has[unitColumn]+has[rangeColumn]+has[flagColumn] > 0
}

// mergeHeader adds a line below to header cells when all of it continues them.
func mergeHeader(cells []cell, l *line, em float64) ([]cell, bool) {
	merged := slices.Clone(cells)
	for _, c := range l.cells {
		for _, w := range c.words {
			isPart := yearOnly.MatchString(w.Text) || clockForm.MatchString(w.Text) // "14 Mar" above "2023", or above "08:15"
			if isPart && continuesDate(merged, c, em) {
				continue
			}
			if _, isDate := parseDate(strings.Trim(w.Text, "()[]")); !isDate && !headerWordsRe.MatchString(strings.Trim(w.Text, ".,:")) {
				return nil, false
			}
		}
		at := -1
		for i, m := range merged {
			if c.x0 < m.x1+0.3*em && c.x1 > m.x0-0.3*em {
				at = i
			}
		}
		if at < 0 && strongHeader.MatchString(c.text()) {
			merged = append(merged, c)
			continue
		}
		if at < 0 {
			return nil, false
		}
		merged[at] = newCell(append(slices.Clone(merged[at].words), c.words...))
	}
	return merged, true
}

var yearOnly = regexp.MustCompile(`^(?:19|20)\d\d$`)

// continuesDate reports whether a cell below a header completes its date.
func continuesDate(headers []cell, c cell, em float64) bool {
	return slices.ContainsFunc(headers, func(h cell) bool {
		_, _, isDate := cutDate(plainSpaces(h.text() + " " + c.text()))
		return c.x0 < h.x1+0.3*em && c.x1 > h.x0-0.3*em && isDate
	})
}

var strongHeader = regexp.MustCompile(`(?i)^(?:reference|range|ranges|interval|results?|value|units?|flag|previous|ref\.?)\b`)

// headerAbove adds the first line of headers that are higher than the others.
func headerAbove(columns []column, l *line, y, em float64) ([]column, bool) {
	if y-l.y > 1.7*em || len(l.cells) == 1 && sectionOfTime.MatchString(l.text()) && l.cells[0].x0 < columns[0].x1 {
		return nil, false
	}
	out := slices.Clone(columns)
	for _, c := range l.cells {
		for _, w := range c.words {
			if !headerWordsRe.MatchString(strings.Trim(w.Text, ".,:")) {
				return nil, false
			}
		}
		at := -1
		for i, col := range out {
			if c.x0 < col.x1+0.3*em && c.x1 > col.x0-0.3*em {
				at = i
			}
		}
		if at < 0 {
			out = append(out, column{x0: c.x0, x1: c.x1})
			at = len(out) - 1
		}
		out[at].text = strings.TrimSpace(plainSpaces(c.text()) + " " + out[at].text)
		out[at].x0, out[at].x1 = min(out[at].x0, c.x0), max(out[at].x1, c.x1)
		if kind, day, ok := headerKind(out[at].text); ok {
			out[at].kind, out[at].date = kind, day
		}
	}
	slices.SortFunc(out, func(a, b column) int { return int(math.Copysign(1, a.x0-b.x0)) })
	return out, true
}

// chooseDates marks the column of the newest date as the value and other dates as
// previous ones. The words of their headers do not change this choice. uncertain reports
// that the columns do not show for certain which value is the current one. order is the
// order of day and month.
func chooseDates(columns []column, order dateOrder) (out []column, uncertain bool) {
	out = slices.Clone(columns)
	isDated := func(c column) bool {
		return !c.date.IsZero() && (c.kind == dateColumn || c.kind == valueColumn || c.kind == previousColumn)
	}
	undated := slices.ContainsFunc(out, func(c column) bool { return c.kind == valueColumn && c.date.IsZero() })
	newest, second, count := -1, -1, 0
	for i := range out {
		if !isDated(out[i]) {
			continue
		}
		count++
		if order == dayFirst && isAmbiguous(out[i].text) {
			out[i].date = exchangedTime(out[i].date)
		}
		if newest < 0 || out[i].date.After(out[newest].date) {
			newest = i
		}
		if other := exchangedIf(out[i], order); second < 0 || other.After(exchangedIf(out[second], order)) {
			second = i
		}
	}
	isPair := count > 1 && !undated
	for i, c := range out {
		switch {
		case !isDated(c):
			if isPair && c.kind == valueColumn {
				out[i].kind = previousColumn
			}
		case isPair:
			words := columns[i].kind
			out[i].kind = previousColumn
			if c.date.Equal(out[newest].date) {
				out[i].kind = valueColumn
			}
			uncertain = uncertain || words != dateColumn && words != out[i].kind
		case c.kind == dateColumn && (undated || i != newest):
			out[i].kind = previousColumn
		case c.kind == dateColumn:
			out[i].kind = valueColumn
		}
	}
	if isPair && second != newest && !(columns[newest].kind == valueColumn && columns[second].kind == previousColumn) {
		uncertain = true // the order of day and month decides
	}
	if isPair && isPeriod(out[newest].text) && slices.ContainsFunc(out, func(c column) bool {
		return isDated(c) && c.date.Year() == out[newest].date.Year() && isPeriod(c.text) != isPeriod(out[newest].text)
	}) {
		uncertain = true // a year, and a day of this year
	}
	values := 0
	for _, c := range out {
		if c.kind == valueColumn && !inOutHeader.MatchString(c.text) {
			values++
		}
	}
	return out, uncertain || values > 1
}

// isAmbiguous reports whether day and month of the date in a header can be exchanged.
func isAmbiguous(text string) bool {
	d, ok := parseDate(dateInHeader.FindString(text))
	return ok && d.ambiguous
}

func exchangedTime(t time.Time) time.Time {
	return exchangeDayAndMonth(t).Add(t.Sub(t.Truncate(24 * time.Hour)))
}

// exchangedIf returns a column's date with day and month exchanged if they can be.
func exchangedIf(c column, order dateOrder) time.Time {
	if order == orderUnknown && isAmbiguous(c.text) {
		return exchangedTime(c.date)
	}
	return c.date
}

// pairOfValues makes a header of columns whose words are not known, such as "Baseline"
// and "Follow-up" between names and units. The last of them is the value, unless its
// words say that it is the first.
func pairOfValues(columns []column) ([]column, bool) {
	hasName := false
	first := len(columns)
	for i, c := range columns {
		hasName = hasName || c.kind == nameColumn
		if c.kind == unitColumn || c.kind == rangeColumn {
			first = min(first, i)
		}
		if c.kind == valueColumn || c.kind == dateColumn || c.kind == previousColumn {
			return nil, false
		}
	}
	var unknown []int
	for i, c := range columns {
		if c.kind == otherColumn && !startsWithLetter(c.text) {
			return nil, false
		}
		if c.kind == otherColumn && i > 0 && (!otherHeader.MatchString(c.text) || endsInNumber.MatchString(c.text)) {
			unknown = append(unknown, i)
		}
	}
	if !hasName || first == len(columns) || len(unknown) < 2 || len(columns) > 8 {
		return nil, false
	}
	out := slices.Clone(columns)
	value := unknown[len(unknown)-1]
	if startHeader.MatchString(out[value].text) {
		value = unknown[0]
	}
	for _, i := range unknown {
		out[i].kind = previousColumn
	}
	out[value].kind = valueColumn
	return out, true
}

// olderThan reports whether the date of a column is well before all days of collection,
// so that its results are those of an earlier sample.
func (c column) olderThan(collected []string, order dateOrder) bool {
	if c.date.IsZero() || len(collected) == 0 {
		return false
	}
	for _, text := range collected {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil || exchangedIf(c, order).AddDate(0, 0, 3).After(day) || c.date.AddDate(0, 0, 3).After(day) {
			return false
		}
	}
	return true
}

func startsWithLetter(text string) bool {
	return text != "" && (text[0] >= 'A' && text[0] <= 'Z' || text[0] >= 'a' && text[0] <= 'z')
}

var (
	startHeader  = regexp.MustCompile(`(?i)\b(?:baseline|before|initial|first|pre)\b`)
	endsInNumber = regexp.MustCompile(`\d$`)
)

// place returns the column of a cell.
func place(columns []column, c cell, em float64) int {
	best, distance := -1, 0.8*em
	for i, col := range columns {
		for _, d := range []float64{math.Abs(c.x0 - col.x0), math.Abs(c.x1 - col.x1), math.Abs((c.x0+c.x1)/2 - (col.x0+col.x1)/2)} {
			if d < distance {
				best, distance = i, d
			}
		}
	}
	if best >= 0 {
		return best
	}
	overlap := 0.0
	for i, col := range columns {
		if o := min(c.x1, col.x1) - max(c.x0, col.x0); o > overlap {
			best, overlap = i, o
		}
	}
	if best >= 0 {
		return best
	}
	distance = math.Inf(1)
	for i, col := range columns {
		gap := max(col.x0-c.x1, c.x0-col.x1)
		if c.x0 > col.x1 { // text belongs to the column that began before it
			gap *= 0.5
		}
		if gap < distance {
			best, distance = i, gap
		}
	}
	return best
}

// splitByColumns cuts cells where a word starts at a column's edge.
func splitByColumns(l *line, columns []column, em float64) []cell {
	var out []cell
	for _, c := range l.cells {
		start := 0
		for i := 1; i < len(c.words); i++ {
			x := c.words[i].Box.X
			for _, col := range columns {
				if math.Abs(x-col.x0) < 0.5*em && col.x0 > c.words[start].Box.X+em && (c.words[i].Box.X-(c.words[i-1].Box.X+c.words[i-1].Box.Width) > 0.2*em) {
					out = append(out, newCell(c.words[start:i]))
					start = i
					break
				}
			}
		}
		out = append(out, newCell(c.words[start:]))
	}
	return out
}
