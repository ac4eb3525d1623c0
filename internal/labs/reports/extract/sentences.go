package extract

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	leadingFiller  = regexp.MustCompile(`(?i)^(?:and|the|with|a|an|her|his|their|your|while|whereas|but|then|also|including|serum|showed|shows?|results?|of|there was|which)\s+`)
	trailingFiller = regexp.MustCompile(`(?i)\s*(?:\b(?:was|is|were|of|at|measured|level|came back|remains|remained|result|equals)\b|[=:])\s*$`)
)

// readSentences finds results in running text: a name, a value with a known unit
// or a range in brackets.
func (r *reader) readSentences(page int) {
	l := r.pages[page]
	var paragraph []*line
	last := math.Inf(-1)
	panel := r.panel
	inHistory := false
	flush := func() {
		before := len(r.drafts)
		r.readParagraph(paragraph, page)
		for i := before; i < len(r.drafts) && inHistory; i++ {
			r.drafts[i].reasons = append(r.drafts[i].reasons, SentenceUnclear)
		}
		paragraph = nil
	}
	for _, line := range l.lines {
		if line.used || len(line.cells) > 4 {
			flush()
			inHistory = false
			continue
		}
		if historyHeading.MatchString(line.text()) {
			flush()
			inHistory = true
		}
		if line.y-last > 1.9*l.em {
			flush()
		}
		last = line.y
		paragraph = append(paragraph, line)
	}
	flush()
	r.panel = panel
}

// readParagraph reads the sentences of lines that follow each other.
func (r *reader) readParagraph(lines []*line, page int) {
	right := math.Inf(-1)
	for _, l := range lines {
		right = max(right, l.cells[len(l.cells)-1].x1)
	}
	var words []Word
	label := "" // "Previous results:" is valid for the sentences behind it
	flush := func() {
		if len(words) > 1 {
			if at := slices.IndexFunc(words, func(w Word) bool { return strings.HasSuffix(w.Text, ":") }); at >= 0 {
				label = newCell(words[:at+1]).text()
			}
			r.scan(words, label, page)
		}
		words = nil
	}
	for i, l := range lines {
		all := lineWords(l)
		for j, w := range all {
			words = append(words, w)
			next := ""
			if j+1 < len(all) {
				next = all[j+1].Text
			} else if i+1 < len(lines) {
				next = lines[i+1].cells[0].words[0].Text
			}
			isShort := j+1 == len(all) && l.cells[len(l.cells)-1].x1 < 0.85*right // a line of a list
			if endsSentence(w.Text, next) || isShort && next != "" && !startsLower(next) {
				flush()
			}
		}
	}
	flush()
}

var abbreviation = regexp.MustCompile(`(?i)^\(?(?:alk|phos|abs|tot|conc|calc|chol|trig|no|vs|approx|ref|min|max|incl|dr|mr|mrs|ms)\.$`)

func endsSentence(word, next string) bool {
	bare := strings.TrimRight(word, ")]")
	switch {
	case bare == "":
		return false
	case strings.ContainsRune(";!?", rune(bare[len(bare)-1])):
		return true
	}
	return bare[len(bare)-1] == '.' && !abbreviation.MatchString(bare) && (next == "" || next[0] < '0' || next[0] > '9' || len(bare) > 5)
}

func startsLower(word string) bool { return word[0] >= 'a' && word[0] <= 'z' }

// historyHeading is a heading of earlier findings, which are no results of the report.
var historyHeading = regexp.MustCompile(`(?i)^[\s*#-]*(?:(?:` + earlierWords(inHistory) + `|medical|clinical|relevant|patient|personal|family|social|surgical|drug|treatment)\s+)*` +
	`(?:history|problems?(?: list)?|anamnesis|background|medications?(?: list)?|current medications?|clinical (?:information|details|notes?|data|indications?)|(?:working |admission )?diagnos[ei]s|allergies)\s*:?$`)

var (
	// earlierAside accepts the words in parentheses behind an earlier value.
	earlierAside = regexp.MustCompile(`(?i)^(?:` + earlierWords(inAside) + `)$`)
	// earlierBeside is an earlier value beside the current one: "(previously 6.1 mmol/L)".
	earlierBeside = regexp.MustCompile(`(?i)^(?:` + earlierWords(inBeside) + `)\b\W*(?:was |value |result )?[<>]?\s*\d`)
	// monthAndYear is a month without a day: "03/2025", "Jan 2024".
	monthAndYear = regexp.MustCompile(`(?i)(?:^|\s)(\d{1,2}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[-/. ]+((?:19|20)\d\d)$`)
	yearInText   = regexp.MustCompile(`\b(?:19|20)\d\d\b`)
)

// asideAfter returns the text in parentheses directly behind a result.
func asideAfter(words []Word, end int) (text string, after int) {
	if end >= len(words) || strings.HasSuffix(words[end-1].Text, ",") || !strings.HasPrefix(words[end].Text, "(") && !strings.HasPrefix(words[end].Text, "[") {
		return "", end
	}
	for n := end + 1; n <= len(words) && n <= end+8; n++ {
		last := strings.TrimRight(words[n-1].Text, ".,;")
		if strings.HasSuffix(last, ")") || strings.HasSuffix(last, "]") {
			return strings.Trim(strings.TrimRight(newCell(words[end:n]).text(), ".,;"), "()[] "), n
		}
	}
	return "", end
}

// dayOfAside returns the last day that a text can mean.
func dayOfAside(text string) (time.Time, bool) {
	if d, ok := parseDate(dateInHeader.FindString(text)); ok {
		if d.ambiguous {
			if other := exchangeDayAndMonth(d.day); other.After(d.day) {
				return other, true
			}
		}
		return d.day, true
	}
	if m := monthAndYear.FindStringSubmatch(text); m != nil {
		year, _ := strconv.Atoi(m[2])
		month, err := strconv.Atoi(m[1])
		if err != nil {
			month = int(monthsByName[strings.ToLower(m[1])])
		}
		if month >= 1 && month <= 12 {
			return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC), true
		}
	}
	if m := yearInText.FindString(text); m != "" {
		year, _ := strconv.Atoi(m)
		return time.Date(year, time.December, 31, 0, 0, 0, 0, time.UTC), true
	}
	return time.Time{}, false
}

// addAside gives a result the words in parentheses behind it. They can say that it is an
// earlier one: "(2019)", "(old)", "(before treatment)".
func (d *draft) addAside(text string) {
	if text == "" || earlierBeside.MatchString(text) && !yearInText.MatchString(text) {
		return
	}
	d.notes = append(d.notes, text)
	if plainNotes.MatchString(text) {
		return
	}
	d.reasons = append(d.reasons, SentenceUnclear)
	if day, ok := dayOfAside(text); ok {
		d.column = column{date: day} // compared with the day of collection
	} else if earlierAside.MatchString(text) {
		d.reasons = append(d.reasons, OlderResult)
	}
}

// scan reads the results of one sentence.
func (r *reader) scan(words []Word, label string, page int) {
	from := 0 // the end of the last result
	for i := 1; i < len(words); i++ {
		first := words[i].Text[0]
		if (first < '0' || first > '9') && first != '<' && first != '>' && first != '.' {
			continue
		}
		d, end, ok := r.resultAt(words, i)
		if !ok {
			continue
		}
		n := r.nameBefore(words, from, i)
		if n.text == "" || !n.known && (d.unit == "" || d.rng == "") {
			continue
		}
		if !n.claim(words, from, end, label, &d) {
			continue
		}
		d.name, d.page, d.panel, d.specimen, d.sentence = n.text, page, r.panel, r.specimen, true
		aside, after := asideAfter(words, end)
		if kind := ParseRange(aside, r.commas, Patient{Age: -1}).Kind; d.rng == "" && (kind == RangeInterval || kind == RangeUpper || kind == RangeLower) {
			d.rng = aside
		} else {
			d.addAside(aside)
		}
		end = after
		d.words = words[n.start:end]
		d.y = center(words[i])
		if r.acceptable(&d) {
			r.drafts = append(r.drafts, d)
			from = end
			i = end - 1
		}
	}
}

// resultAt reads the value, flag, unit and range that start at a word.
func (r *reader) resultAt(words []Word, i int) (d draft, end int, ok bool) {
	end = i + 1
	d.value = strings.TrimRight(words[i].Text, ",;")
	if (d.value == "<" || d.value == ">" || d.value == "≤" || d.value == "≥") && end < len(words) {
		d.value += words[end].Text
		end++
	}
	for end < len(words) && !strings.ContainsAny(words[end-1].Text, ",;") && blankGroups.MatchString(strings.TrimLeft(d.value, "<>≤≥")+" "+strings.TrimRight(words[end].Text, ",;")) { // 150 000
		d.value += " " + strings.TrimRight(words[end].Text, ",;")
		end++
	}
	trimmed := strings.HasSuffix(words[end-1].Text, ",")
	v, ok := ParseValue(d.value, r.commas)
	if !ok || v.Number == nil || v.Rest != "" && v.Rest != "%" {
		return d, end, false
	}
	d.valueWords = words[i:end]
	if v.Rest == "%" {
		d.value, d.unit = v.Text, "%"
	}
	if trimmed {
		return d, end, false
	}
	if end < len(words) {
		if _, isFlag := flagOf(words[end].Text); isFlag && len(words[end].Text) <= 4 {
			d.flag = strings.Trim(words[end].Text, ",")
			end++
		}
	}
	for n := 3; n >= 1 && d.unit == ""; n-- {
		if end+n > len(words) {
			continue
		}
		candidate := newCell(words[end : end+n]).text()
		if strings.HasPrefix(candidate, "(") {
			continue
		}
		candidate = strings.TrimRight(candidate, ",;.")
		if _, known := knownUnit(candidate); known {
			d.unit = candidate
			end += n
		}
	}
	hasRange := false
	if end < len(words) && (strings.HasPrefix(words[end].Text, "(") || strings.HasPrefix(words[end].Text, "[")) {
		for n := 1; n <= 8 && end+n <= len(words); n++ {
			last := strings.TrimRight(words[end+n-1].Text, ".,;")
			if strings.HasSuffix(last, ")") || strings.HasSuffix(last, "]") {
				text := strings.Trim(strings.TrimRight(newCell(words[end:end+n]).text(), ".,;"), "()[]")
				if kind := ParseRange(text, r.commas, Patient{Age: -1}).Kind; kind != RangeOther && otherValueCue.MatchString(text) {
					d.reasons = append(d.reasons, SentenceUnclear) // a goal is no reference range
					hasRange = true
					end += n
				} else if kind != RangeOther {
					d.rng, hasRange = text, true
					end += n
				}
				break
			}
		}
	}
	if end < len(words) && d.flag == "" {
		word := strings.Trim(words[end].Text, ",.;")
		if _, isFlag := flagOf(word); isFlag && (strings.HasPrefix(word, "(") || strings.EqualFold(word, "high") || strings.EqualFold(word, "low")) {
			d.flag = word
			end++
		}
	}
	return d, end, d.unit != "" || hasRange
}

// namedBefore is the name of a value in a sentence.
type namedBefore struct {
	text       string
	start, end int // its words; those from end to value are between the name and the value
	value      int
	known      bool
}

// maxGap bounds the words between a name and its value: "potassium was found to be".
const maxGap = 7

// nameBefore returns the name before a value.
func (r *reader) nameBefore(words []Word, from, to int) namedBefore {
	if to-from > 14 {
		from = to - 14
	}
	clean := func(text string) string { return strings.Trim(text, " ,;:.=(") }
	for end := to; end > max(from, to-maxGap); end-- {
		least := 0.97
		if end == to {
			least = 0.9
		}
		for s := from; s < end; s++ {
			text := newCell(words[s:end]).text()
			if end == to {
				text = trimFiller(text, trailingFiller)
			}
			text = clean(text)
			if s > from && strings.HasPrefix(text, "(") || end < to && len(text) <= 2 && (text == "" || startsLower(text)) || r.knows(text) < least {
				continue
			}
			if shorter := trimFiller(text, leadingFiller); r.knows(shorter) >= least {
				text = shorter
			}
			e := end
			for e > s+1 && linkWords[strings.ToLower(clean(words[e-1].Text))] && r.knows(clean(newCell(words[s:e-1]).text())) >= least {
				e--
			}
			return namedBefore{text: text, start: s, end: e, value: to, known: true}
		}
	}
	// An unknown name: all since the last result or the last label.
	start := from
	for i := from; i+1 < to; i++ {
		if strings.HasSuffix(words[i].Text, ":") {
			start = i + 1
		}
	}
	text := newCell(words[start:to]).text()
	if m := sentenceStart.FindString(text); m != "" {
		text = text[len(m):]
	}
	text = clean(trimFiller(trimFiller(text, leadingFiller), trailingFiller))
	if !looksNamed(text) || len(strings.Fields(text)) > 6 {
		return namedBefore{}
	}
	return namedBefore{text: text, start: start, end: to, value: to}
}

func trimFiller(text string, filler *regexp.Regexp) string {
	for {
		next := strings.TrimSpace(filler.ReplaceAllString(text, ""))
		if next == text {
			return text
		}
		text = next
	}
}

// The words around a value decide whether it is the patient's current result.
var (
	// otherValueCue marks thresholds, aims, ranges, doses and earlier values.
	otherValueCue = regexp.MustCompile(`(?i)\b(?:if|unless|should|until|target\w*|goals?|aim\w*|thresholds?|cut-?offs?|transfus\w*|` + earlierWords(inSentence) + `|` +
		`(?:normal|reference|therapeutic|expected|desired|target) (?:range|value|interval|limit)s?|expected|recommended|desirable|ideal|optimal|keep|maintain|` +
		`doses?|dosage|daily|tablets?|supplement\w*|give|given|start|started|prescri\w*|infus\w*|indicates?|indication|suggests?|suggestive|requires?|warrants?|defin\w+|diagnostic|considered|guidelines?|or (?:more|less|above|below|higher|lower|greater|over|under)|criteri\w+|ranges? from|detection|example|e\.g)\b`)
	// limitsLabel begins a list of limits, and conversionRule is a rule for two units.
	limitsLabel    = regexp.MustCompile(`(?i)^\W*(?:critical|panic|alert|action) (?:limits?|ranges?)\b[^:]*:`)
	conversionRule = regexp.MustCompile(`^\W*1 \S*/\S+ .*=`)
	conditionCue   = regexp.MustCompile(`(?i)\b(?:if|unless|when|whenever|once|should|in case)\b`)
	currentCue     = regexp.MustCompile(`(?i)\b(?:today|now|current|currently|latest|most recent|presently|at present|this (?:visit|morning|week|sample))\b`)
	// otherCircumstance marks another day, another person or a denial.
	otherCircumstance = regexp.MustCompile(`(?i)\b(?:(?:in|on|since|of|from|by) (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|` +
		`(?:19|20)\d\d\b|yesterday|mother|father|brother|sister|sibling|donor|partner|husband|wife|family|not|never|no longer|without|repeat|recheck\w*|estimated|approximately|about)\b`)
	criticalCue   = regexp.MustCompile(`(?i)\b(?:critical(?:ly)?|panic)\b`)
	notCritical   = regexp.MustCompile(`(?i)\b(?:not|no|non|never)[ -]+(?:\w+ )?(?:critical(?:ly)?|panic)\b`)
	boundInWords  = regexp.MustCompile(`(?i)\b(?:above|below|over|under|exceed\w*|(?:greater|less|more|lower|higher|fewer) than|at least|at most|up to|from|by)$`)
	generalRule   = regexp.MustCompile(`(?i)^\W*(?:is|are|means?) (?:an?|the|critical|not|regarded|defined)\b`)
	sentenceStart = regexp.MustCompile(`^[\s,;.:)\]]+`)
)

var (
	// linkWords may be between a name and its current value.
	linkWords = wordSet("is was are were of at = : measured level levels result results value came back remains remained equals today now currently current found to be elevated high low critical critically " +
		"raised reduced normal very markedly severely slightly mildly only a an the and fell dropped rose increased decreased has risen fallen dangerously")
	// introWords may precede the name of a current value.
	introWords = wordSet("and the with a an her his their your patient's while whereas but then also including serum plasma blood venous fasting random showed show shows result results of there was which " +
		"critical critically high low elevated raised reduced normal abnormal current today today's now latest total is are were measured reported as follows on")
)

func allIn(words []Word, known map[string]bool) bool {
	for _, w := range words {
		if text := strings.ToLower(strings.Trim(w.Text, " ,;.()-•*")); text != "" && !known[text] {
			return false
		}
	}
	return true
}

// claim reports whether a sentence may state the value as the current result, and marks
// the draft if that is not clear. from is the end of the last result.
func (n *namedBefore) claim(words []Word, from, end int, label string, d *draft) bool {
	clause := from
	for i := from; i < n.start; i++ {
		if strings.HasSuffix(words[i].Text, ",") || strings.HasSuffix(words[i].Text, ":") {
			clause = i + 1
		}
	}
	text := func(words []Word) string {
		if len(words) == 0 {
			return ""
		}
		return plainSpaces(newCell(words).text())
	}
	before, gap, after := words[clause:n.start], words[n.end:n.value], wordsAfter(words, end)
	earlier := text(words[:clause])
	if strings.HasSuffix(label, ":") && !strings.Contains(earlier, label) {
		earlier = label + " " + earlier
	}
	own := text(before) + " " + text(gap) + " " + text(after)
	if !n.known { // the words of the name are the gap
		own = n.text + " " + own
	}
	current := currentCue.MatchString(own)
	excluded := otherValueCue.MatchString(own) || conditionCue.MatchString(text(before))
	isOther := conditionCue.MatchString(earlier) || otherValueCue.MatchString(label)
	clear := !excluded && !generalRule.MatchString(text(after)) && !isOther && !otherValueCue.MatchString(earlier) && !otherCircumstance.MatchString(own) && allIn(before, introWords) && allIn(gap, linkWords)
	if !n.known && strings.IndexFunc(n.text, func(c rune) bool { return c >= '0' && c <= '9' }) < 0 {
		clear = clear && !slices.ContainsFunc(strings.Fields(strings.ToLower(n.text)), func(w string) bool { return linkWords[w] })
	}
	switch {
	case (excluded || isOther) && !current, limitsLabel.MatchString(label), conversionRule.MatchString(text(words)):
		return false
	case boundInWords.MatchString(text(gap)):
		d.value, clear = boundInWords.FindString(text(gap))+" "+d.value, false
	case d.value[0] == '<' || d.value[0] == '>':
		clear = clear && len(gap) == 0 || clear && allIn(gap, wordSet("is was : = of"))
	}
	if word := criticalCue.FindString(own); word != "" && !notCritical.MatchString(own) {
		if d.flag == "" {
			d.flag = "critical"
		}
	} else if criticalCue.MatchString(text(words)) && !notCritical.MatchString(text(words)) && d.flag == "" {
		clear = false
	}
	if d.flag == "" {
		for _, w := range gap {
			if class, ok := flagOf(strings.Trim(w.Text, ",")); ok && (class == "H" || class == "L") && len(w.Text) > 2 {
				d.flag = strings.Trim(w.Text, ",")
			}
		}
	}
	if !clear {
		d.reasons = append(d.reasons, SentenceUnclear)
	}
	return true
}

// wordsAfter returns the words behind a result that belong to its clause.
func wordsAfter(words []Word, end int) []Word {
	if strings.HasSuffix(words[end-1].Text, ",") && (end == len(words) || !strings.EqualFold(words[end].Text, "which")) {
		return nil
	}
	for i := end; i < len(words); i++ {
		text := strings.ToLower(words[i].Text)
		switch {
		case text == "and" || text == "but" || text == "while" || text == "whereas" || text == "with":
			return words[end:i]
		case strings.HasPrefix(text, "("):
			for j := i; j < len(words) && j < i+6; j++ {
				if strings.ContainsAny(words[j].Text, "0123456789") { // another value
					return words[end:i]
				}
				if strings.Contains(words[j].Text, ")") {
					break
				}
			}
		}
		if strings.HasSuffix(text, ",") {
			return words[end : i+1]
		}
	}
	return words[end:]
}
