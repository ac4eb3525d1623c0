package extract

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// doubtWords cast doubt on a value.
	doubtWords = regexp.MustCompile(`(?i)\bha?emoly[sz]|\blip(?:a?emi[ac]|emic)|\bicteri|\bclot(?:ted|s)?\b|\bcontaminat|\bqns\b|\bquantity not|\binsufficient|\bquestionabl|\bdoubtful|\bunreliable|\binvalid|` +
		`\bsuspect|\binterfer|\berroneous|\berror|\bcompromised|\bunsuitable|\bre-?(?:collect|draw|submit)|\brepeat (?:suggested|recommended|requested|advised|on|with|sample|test)|\bplease repeat|\bwrong\b|\bmislabel|\bunlabel|` +
		`\bdrip arm|\biv (?:line|fluid)|\bdelay(?:ed)?\b|\bold (?:sample|specimen)|\baged\b|\bunconfirmed|\bpreliminary|\bdilut|\bunable|\bnot (?:valid|reliable|reportable|confirmed)|\bfalse(?:ly)?\b|\bsee (?:note|comment|below|text|footnote)|\bclumped|\bfibrin|\bpending\b|\bawait|\bconfirmatory|` +
		`\bcaution|\bunderfill|\boverfill|\bclump|\bclotting\b|\btourniquet|\bhours? (?:after|post|since) (?:collection|the collection|sampling|drawing)|\bon cells\b|\bunspun\b|\b(?:is|are|only) (?:an )?estimated?\b|\bestimated? (?:from|only|count|value)|\bshort (?:sample|draw)|\bleak(?:ed|ing)\b`)
	noDoubt = regexp.MustCompile(`(?i)\b(?:no|not|non|without|absent)[ -](?:\w+ )?(?:ha?emoly[sz]|lipa?emi|icteri|clot|contaminat|interfer|error)`)
	// plainNotes say nothing against a value.
	plainNotes = regexp.MustCompile(`(?i)^(?:(?:repeat(?:ed)?|re-?checked|checked|confirmed|verified|final|fasting|non-fasting|random|calculated|calc|estimated|est|measured|twice|x2|sample|specimen|by|on|in|of|and|duplicate|performed|method|manual|automated|serum|plasma|blood|urine|trough|peak)[ ,.]*)+$`)
	// specimenDoubt describes the whole specimen.
	specimenDoubt = regexp.MustCompile(`(?i)\b(?:specimen|sample)s?(?: (?:condition|quality|integrity|status|comments?|appearance|note))?\s*(?::|-|is|was|received|appears)?\s*(?:grossly|moderately|slightly|mildly|severely|partially|markedly|partly)?\s*` +
		`(?:ha?emoly[sz]ed|lipa?emic|icteric|clotted|contaminated|insufficient|compromised|unsuitable|leaking|diluted)`)
	commentHeader = regexp.MustCompile(`(?i)^(?:comments?|notes?|remarks?)\b`)
	wordOfNote    = regexp.MustCompile(`[A-Za-z]{3,}`)
)

var (
	criticalWord = regexp.MustCompile(`(?i)\b(?:critical|panic)\b`)
	aboutLimits  = regexp.MustCompile(`(?i)\b(?:critical|panic) (?:care|access|limits?|ranges?|thresholds?)\b|[<>≤≥=]|\d\s?[-–]\s?\d`)
	calledWord   = regexp.MustCompile(`(?i)\b(?:phoned|telephoned|called|notified|read[ -]?back)\b`)
	noteLabel    = regexp.MustCompile(`(?i)^(?:comments?|notes?|remarks?)\s*:`)
	// aboutSample begins words about the sample that are no label of it.
	aboutSample = regexp.MustCompile(`(?i)^(?:specimen|sample|performed|by)\s+[a-z]+`)
	// footLine is a line below a table that says nothing about its last row.
	footLine = regexp.MustCompile(`(?i)^(?:end of|page\b|[*+-] |\*|electronic|signed|verified by|authori[sz]ed|approved|released|reviewed|printed|www|tel\b|continued|see\b)|=|@|\b(?:director|pathologist|m\.?d\.?|ph\.?d\.?|scientist|technologist|legend)\b`)
)

// criticalIn returns the word of a note that calls its value critical.
func criticalIn(note string) string {
	if notCritical.MatchString(note) || aboutLimits.MatchString(dateInHeader.ReplaceAllString(note, "")) {
		return ""
	}
	return criticalWord.FindString(note)
}

// noteBelow adds a line directly below a row, without a value of its own, to the row as its
// note. Words that are not known ask for a review. y is the place of the row or of its
// last note. A doubt about the specimen elsewhere is one about all rows of the page.
func (r *reader) noteBelow(last, e *entry, y, em float64) bool {
	text := e.line.text()
	isBelow := last != nil && len(r.drafts) > 0 && e.line.y-y < 2*em
	if len(strings.Fields(text)) > 25 {
		return false
	}
	doubts := castsDoubt(text)
	isSaid := criticalIn(text) != "" || calledWord.MatchString(text) && !hasValue(text)
	if isBelow && (doubts || isSaid || r.isUnknownNote(last, e, em)) {
		d := &r.drafts[len(r.drafts)-1]
		d.notes = append(d.notes, tidyNote(text))
		if !doubts && !plainNotes.MatchString(tidyNote(text)) {
			d.reasons = append(slices.Clone(d.reasons), ValueDoubted)
		}
		if !doubts {
			e.line.used = true
		}
		return true
	}
	if doubts && specimenDoubt.MatchString(text) {
		r.specimenNotes[e.line.page] = append(r.specimenNotes[e.line.page], tidyNote(text))
	}
	return false
}

// hasValue reports whether a text has a number with a unit or a bound, as explanations of
// ranges do.
func hasValue(text string) bool {
	text = dateInHeader.ReplaceAllString(text, "")
	if aboutLimits.MatchString(text) {
		return true
	}
	words := strings.Fields(text)
	for i, word := range words[:max(0, len(words)-1)] {
		if _, err := strconv.ParseFloat(word, 64); err == nil && words[i+1] != "hours" && isUnit(strings.Trim(words[i+1], ".,;")) {
			return true
		}
	}
	return false
}

// isUnknownNote reports whether a line below a row is words about the row: no heading, no
// method, no explanation, and no name.
func (r *reader) isUnknownNote(last, e *entry, em float64) bool {
	text := e.line.text()
	words := strings.Fields(text)
	switch {
	case r.doc.Pages[e.line.page].Source != FromText || len(e.line.cells) != 1 || len(words) > 14 || !wordOfNote.MatchString(text):
		return false
	case noteLabel.MatchString(text):
	case notARow.MatchString(text) && !aboutSample.MatchString(text), methodLine.MatchString(text) && !aboutSample.MatchString(text):
		return false
	case strings.Contains(text, ":"):
		return false
	}
	if commentLine.MatchString(text) || footLine.MatchString(text) || hasValue(text) || panelWords.MatchString(text) && !aboutSample.MatchString(text) || sectionOfTime.MatchString(text) || historyHeading.MatchString(text) || labWords.MatchString(text) || r.knows(strings.Trim(text, " .")) >= 0.9 {
		return false
	}
	if _, isFlag := flagOf(text); isFlag || looksLikeUnit(text) || specimenIn(text) != "" && len(words) <= 4 && !strings.HasSuffix(text, ".") {
		return false
	}
	if ParseRange(text, r.commas, Patient{Age: -1}).Kind != RangeOther {
		return false
	}
	names := last.parts[nameColumn]
	if isAside := len(names) > 0 && math.Abs(e.line.cells[0].x0-names[0].x0) > 0.5*em; isAside {
		return !e.line.cells[0].bold
	}
	isLower := slices.ContainsFunc(words[1:], func(w string) bool { return len(w) > 3 && startsLower(w) })
	return !e.line.cells[0].bold && (isLower || strings.HasSuffix(text, "."))
}

func castsDoubt(text string) bool { return doubtWords.MatchString(text) && !noDoubt.MatchString(text) }

// noteIn returns the words behind a value that are no unit, flag or range.
func noteIn(rest string, commas bool) string {
	if unit, after := takeUnit(rest); unit != "" {
		rest = after
	} else if word := firstWord(rest); looksLikeUnit(word) {
		rest = strings.TrimSpace(strings.TrimPrefix(rest, word))
	}
	for {
		word := firstWord(rest)
		if _, isFlag := flagOf(word); !isFlag || word == "" {
			break
		}
		rest = strings.TrimSpace(strings.TrimPrefix(rest, word))
	}
	if kind := ParseRange(rest, commas, Patient{Age: -1}).Kind; kind != RangeOther && !doubtWords.MatchString(rest) {
		return ""
	}
	return tidyNote(rest)
}

// tidyNote removes the marks around a note. A footnote mark is no note.
func tidyNote(text string) string {
	text = strings.Trim(text, " ,;:.*-–|")
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") && strings.Count(text, "(") == 1 {
		text = strings.Trim(text, "()")
	}
	if !wordOfNote.MatchString(text) {
		return ""
	}
	return text
}

// annotate gives a row the words beside its value, and asks for a review if they may cast
// doubt on it.
func (r *reader) annotate(row *Row, d draft, value Value, source Source, review func(Reason)) {
	doubted := value.Type == Comment && castsDoubt(value.Text)
	var notes []string
	for _, beside := range []string{value.Rest, d.unit} {
		if note := noteIn(beside, r.commas); note != "" && (beside != d.unit || isUnitWithWords(beside)) {
			notes = append(notes, note)
			doubted = doubted || row.Number != nil && source == FromText && !plainNotes.MatchString(note)
		}
	}
	if note := row.behindAnswer(value); note != "" && len(notes) == 0 {
		notes = append(notes, note)
	}
	notes = append(notes, d.notes...)
	row.Note = strings.Join(notes, "; ")
	if at := slices.IndexFunc(notes, func(n string) bool { return criticalIn(n) != "" }); at >= 0 && !row.HasCriticalFlag() && !slices.Contains(d.reasons, OlderResult) {
		row.Flag = criticalIn(notes[at]) // the words are the report's, as those of a flag are
	}
	if doubted || slices.ContainsFunc(notes, castsDoubt) {
		review(ValueDoubted)
	}
}

// behindAnswer returns the text behind an answer in words that is neither its unit nor its
// range: "34 %" of "Detected, 34 %".
func (row *Row) behindAnswer(value Value) string {
	rest := value.Rest
	if row.Number != nil || value.Type != Boolean && value.Type != Comment || rest == "" || sameText(rest, row.Range.Text) {
		return ""
	}
	if unit, after := takeUnit(rest); unit != "" && unit == row.Unit {
		rest = after
	}
	rest = strings.Trim(rest, " ,;:.*-–|")
	if strings.HasPrefix(rest, "(") && strings.HasSuffix(rest, ")") && strings.Count(rest, "(") == 1 {
		rest = strings.Trim(rest, "() ")
	}
	if sameText(rest, row.Range.Text) || footnote.MatchString(rest) && !strings.ContainsAny(rest, "0123456789") {
		return ""
	}
	return rest
}

// isUnitWithWords reports whether words follow a unit, in its column.
func isUnitWithWords(text string) bool {
	unit, after := takeUnit(text)
	return unit != "" && after != "" && !isUnit(text) && !strings.HasPrefix(after, "of ")
}
