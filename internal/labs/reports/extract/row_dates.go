package extract

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	// rowDateHeader is the header of a column with a date in each row.
	rowDateHeader = regexp.MustCompile(`(?i)^(?:(?:date|time|day)s?\b|(?:test|result|sample|specimen|collection|collected|draw|drawn|visit|report|reported|lab)[ -](?:date|time)|collected|collection|drawn|sampled|taken|verified|reported|resulted|performed|completed|received)`)
	// laterDate is a word of the date of another step than the collection.
	laterDate = regexp.MustCompile(`(?i)\b(?:verif\w*|valid\w*|report\w*|result\w*|perform\w*|complet\w*|receiv\w*|print\w*|approv\w*|releas\w*|analy[sz]\w*)\b`)
	// collectionDate is a word of the date of collection.
	collectionDate = regexp.MustCompile(`(?i)\b(?:collect\w*|draw\w*|sampl\w*|specimen|taken)\b`)
)

// rowDate is the date that a row has in a column of its own.
type rowDate struct {
	text   string // as printed; empty if the row has none
	header string // of the column
	day    date
	clock  time.Duration
}

// takeDate keeps the date of a cell that is only a date. The date of the collection comes
// before others.
func (e *entry) takeDate(c cell, header column) {
	text := plainSpaces(c.text())
	if onlyClock.MatchString(text) && rowDateHeader.MatchString(header.text) {
		e.clock = text
	}
	if !isOnlyDate(text) || header.kind != otherColumn && header.kind != nameColumn && header.kind != flagColumn {
		return
	}
	if e.date == "" || !collectionDate.MatchString(e.dateHeader) && collectionDate.MatchString(header.text) {
		e.date, e.dateHeader = text, header.text
	}
}

// isOnlyDate reports whether a text is a date, with or without a time.
func isOnlyDate(text string) bool {
	words, _, ok := cutDate(text)
	return ok && words == ""
}

// datedRow reads a line without columns that begins with a date.
func (r *reader) datedRow(l *line) *entry {
	if len(l.cells) < 3 || !isOnlyDate(plainSpaces(l.cells[0].text())) {
		return nil
	}
	rest := *l
	rest.cells = l.cells[1:]
	e := r.positional(&rest)
	if e != nil {
		e.line, e.date = l, plainSpaces(l.cells[0].text())
	}
	return e
}

// takeDateOfName moves a date from the name of a row to its own date.
func (d *draft) takeDateOfName() {
	at := dateInHeader.FindStringIndex(d.name)
	if at == nil || d.own.text != "" {
		return
	}
	name := strings.Trim(d.name[:at[0]]+" "+d.name[at[1]:], " ,:;()-")
	if day, ok := parseDate(d.name[at[0]:at[1]]); ok && looksNamed(name) {
		d.own = rowDate{text: d.name[at[0]:at[1]], day: day}
		d.name = strings.Join(strings.Fields(name), " ")
	}
}

// ownDate returns the date of a row.
func (r *reader) ownDate(e *entry) rowDate {
	day, ok := parseDate(dateInHeader.FindString(e.date))
	if !ok {
		return rowDate{}
	}
	header := e.dateHeader
	if at := slices.IndexFunc(r.columns, func(c column) bool { return rowDateHeader.MatchString(c.text) }); header == "" && at >= 0 { // a cell above had the date
		header = r.columns[at].text
	}
	return rowDate{text: e.date, header: header, day: day, clock: clockIn(e.date + " " + e.clock)}
}

// times returns the moments that a date can mean: two if the order of day and month is not
// known.
func (d rowDate) times(order dateOrder) [2]time.Time {
	first := d.day.day.Add(d.clock)
	switch {
	case d.day.ambiguous && order == dayFirst:
		first = exchangeDayAndMonth(d.day.day).Add(d.clock)
	case d.day.ambiguous && order == orderUnknown:
		return [2]time.Time{first, exchangeDayAndMonth(d.day.day).Add(d.clock)}
	}
	return [2]time.Time{first, first}
}

// markOlderRows marks rows whose own date is older than that of a newer result. It returns
// the days of the other rows.
func (r *reader) markOlderRows() {
	var newest time.Time
	for _, d := range r.drafts {
		if all := d.own.times(r.order); d.own.text != "" && all[0].After(newest) {
			newest = all[0]
		}
	}
	if newest.IsZero() {
		return
	}
	for i := range r.drafts {
		d := &r.drafts[i]
		if d.own.text == "" {
			continue
		}
		isOlder, isUnclear := r.hasNewer(d)
		own := column{date: d.own.day.day, text: d.own.text}
		isOlder = isOlder || own.olderThan(r.currentDays(d.own, newest), r.order)
		reason := OlderResult
		if !isOlder {
			reason = ColumnUncertain
		}
		if (isOlder || isUnclear) && !slices.Contains(d.reasons, reason) {
			d.reasons = append(slices.Clone(d.reasons), reason)
		}
	}
}

// currentDays returns the days with which the date of a row is compared: those of the
// collection, or the newest date of the rows. Steps after the collection take time.
func (r *reader) currentDays(d rowDate, newest time.Time) []string {
	switch {
	case len(r.collected) > 0:
		return r.collected
	case d.isLaterStep():
		newest = newest.AddDate(0, 0, -30)
	}
	return []string{newest.Format(time.DateOnly)}
}

// isLaterStep reports whether the date is one of a step after the collection.
func (d rowDate) isLaterStep() bool {
	return laterDate.MatchString(d.header) && !collectionDate.MatchString(d.header)
}

// hasNewer reports whether another row has a newer result of the analyte. isUnclear reports
// that the dates do not decide it, or that they have two times of one day.
func (r *reader) hasNewer(d *draft) (isOlder, isUnclear bool) {
	mine := d.own.times(r.order)
	for i := range r.drafts {
		other := &r.drafts[i]
		if other == d || other.own.text == "" || normalName(other.name) != normalName(d.name) || other.specimen != d.specimen {
			continue
		}
		theirs := other.own.times(r.order)
		sameDay := mine[0].Truncate(24 * time.Hour).Equal(theirs[0].Truncate(24 * time.Hour))
		first, second := mine[0].Before(theirs[0]), mine[1].Before(theirs[1])
		switch {
		case sameDay:
			isUnclear = isUnclear || !mine[0].Equal(theirs[0])
		case first && second:
			isOlder = true
		case first != second:
			isUnclear = true
		}
	}
	return isOlder, isUnclear
}

// useRowDates takes the day of collection from the rows if the report states none, and
// finds several days of collection.
func (r *reader) useRowDates(m *Metadata) {
	var days []string
	text := ""
	for _, d := range r.drafts {
		if d.own.text == "" || slices.Contains(d.reasons, OlderResult) || d.own.isLaterStep() {
			continue
		}
		day := dayOf(d.own.text, r.order)
		if day == "" {
			day = d.own.text
		}
		if text = d.own.text; !slices.Contains(days, day) {
			days = append(days, day)
		}
		isCollection := collectionDate.MatchString(d.own.header)
		if isCollection && m.CollectedDate != "" && dayOf(d.own.text, r.order) != "" && day != m.CollectedDate {
			m.SeveralCollections = true
		}
	}
	switch {
	case len(days) > 1:
		m.SeveralCollections = true
	case len(days) == 1 && m.CollectedText == "":
		m.CollectedText, m.CollectedDate = text, dayOf(text, r.order)
	}
	if m.CollectedText == "" && len(days) > 1 {
		slices.Sort(days)
		if _, ok := parseDate(days[0]); ok {
			m.CollectedText, m.CollectedDate = days[0], dayOf(days[0], r.order)
		}
	}
}

// dayKey tells rows of different days apart.
func (d rowDate) dayKey() string { return strings.ToLower(d.text) }
