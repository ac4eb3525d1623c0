package extract

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// columnKind says what a column of a table holds.
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
}

var (
	inOutHeader    = regexp.MustCompile(`(?i)^(?:in[ -]range|out[ -]of[ -]range|within range|outside range)$`)
	previousHeader = regexp.MustCompile(`(?i)\b(?:previous|prior|last|historic\w*|earlier|past)\b`)
	rangeHeader    = regexp.MustCompile(`(?i)\b(?:ref|reference|range|ranges|interval|intervals|normal|normals|expected|limits?|optimal|desirable)\b`)
	flagHeader     = regexp.MustCompile(`(?i)^(?:flags?|abn\.?|abnormal|h/l|ind\.?|indicator|alert|l/h|hi/lo|a/n|remark|abn flag)$`)
	unitHeader     = regexp.MustCompile(`(?i)\b(?:units?|uom)\b`)
	otherHeader    = regexp.MustCompile(`(?i)^(?:lab|labs|site|status|method|methods?|methodology|code|loinc|specimen|specimen type|sample|comments?|notes?|remarks?|date|time|trend|graph|history|performed|verified|date/time|tech|accred|instrument)\b`)
	valueHeader    = regexp.MustCompile(`(?i)\b(?:results?|values?|observed|findings?|concentration|current|now|today|measured|your level|outcome)\b`)
	nameHeader     = regexp.MustCompile(`(?i)\b(?:tests?|investigations?|analytes?|analysis|analyses|components?|parameters?|examinations?|descriptions?|determinations?|biomarkers?|markers?|assays?|procedures?|study|studies|measures?|items?|test name|tests? performed|tests? ordered)\b`)
	headerPhrase   = regexp.MustCompile(`(?i)^(test name|test|tests|investigation|analyte|component|parameter|examination|results?|values?|flags?|units?|reference ranges?|reference intervals?|reference values?|ref\.? ranges?|ref\.? intervals?|ref\.? values?|normal ranges?|biological ref\.? intervals?|in range|out of range|lab|status|method)(?:\s|$)`)
	headerWordsRe  = regexp.MustCompile(`(?i)^(?:and|or|flag|date|interval|intervals|range|ranges|units?|result|results|value|values|level|name|limits|reference|ref\.?|&|\(?cont\.?\)?|current|previous|prior|test|in|out|of|status)$`)
)

// headerKind classifies a header's text.
func headerKind(text string) (columnKind, time.Time, bool) {
	text = strings.Trim(plain(text), " :.*")
	if text == "" || len(strings.Fields(text)) > 6 {
		return 0, time.Time{}, false
	}
	if d, ok := parseDate(text); ok {
		return dateColumn, d.day.Add(clockIn(text)), true
	}
	switch {
	case onlyClock.MatchString(text):
		return dateColumn, someDay.Add(clockIn(text)), true
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

var (
	onlyClock = regexp.MustCompile(`(?i)^\d{1,2}:\d{2}(?:\s?[ap]m|\s?h(?:rs)?)?$`)
	clockForm = regexp.MustCompile(`(?i)\b(\d{1,2}):(\d{2})(?:\s?([ap])m)?\b`)
	// someDay is the day of columns that have times only.
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
			m := headerPhrase.FindStringSubmatch(plain(newCell(words).text()) + " ")
			n := len(words)
			if m != nil {
				n = min(n, len(strings.Fields(m[1])))
			}
			if k := datedWords(words); k > 0 && k < n { // "27 Nov 2022 25 Apr 2023"
				out = append(out, newCell(words[:k]))
				words = words[k:]
				continue
			}
			if n < len(words) {
				rest := plain(newCell(words[n:]).text())
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

// datedWords returns how many words at the start are a date.
func datedWords(words []Word) int {
	for n := min(3, len(words)); n >= 1; n-- {
		text := plain(newCell(words[:n]).text())
		if d, ok := parseDate(text); ok && len(text) <= 13 && d.day.Year() > 1990 {
			if n > 1 {
				if _, shorter := parseDate(plain(newCell(words[:n-1]).text())); shorter {
					continue
				}
			}
			return n
		}
	}
	return 0
}

// detectHeader reads a table's header at line i. It returns the columns and the
// number of lines that the header takes.
func detectHeader(lines []*line, i int, em float64) ([]column, int) {
	cells := headerCells(lines[i])
	if len(cells) < 2 {
		return nil, 0
	}
	used := 1
	columns := headerColumns(cells)
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
	if !isHeader(columns) {
		return nil, 0
	}
	return columns, used
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
	for _, c := range cells {
		kind, date, ok := headerKind(c.text())
		if !ok {
			kind = otherColumn
		}
		columns = append(columns, column{kind: kind, x0: c.x0, x1: c.x1, date: date, text: plain(c.text())})
	}
	slices.SortFunc(columns, func(a, b column) int { return int(math.Copysign(1, a.x0-b.x0)) })
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
	if has[valueColumn]+has[dateColumn] == 0 {
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
			if !headerWordsRe.MatchString(strings.Trim(w.Text, ".,:")) {
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
		out[at].text = strings.TrimSpace(plain(c.text()) + " " + out[at].text)
		out[at].x0, out[at].x1 = min(out[at].x0, c.x0), max(out[at].x1, c.x1)
		if kind, day, ok := headerKind(out[at].text); ok {
			out[at].kind, out[at].date = kind, day
		}
	}
	slices.SortFunc(out, func(a, b column) int { return int(math.Copysign(1, a.x0-b.x0)) })
	return out, true
}

// chooseDates marks the column of the newest date as the value and other dates as
// previous ones.
func chooseDates(columns []column) []column {
	hasValue := slices.ContainsFunc(columns, func(c column) bool { return c.kind == valueColumn })
	newest := time.Time{}
	for _, c := range columns {
		if c.kind == dateColumn && c.date.After(newest) {
			newest = c.date
		}
	}
	out := slices.Clone(columns)
	for i, c := range out {
		if c.kind == dateColumn {
			out[i].kind = previousColumn
			if !hasValue && c.date.Equal(newest) {
				out[i].kind = valueColumn
			}
		}
	}
	return out
}

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
