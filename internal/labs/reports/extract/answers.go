package extract

import (
	"regexp"
	"strings"
)

// Results in words are outside of tables too, and words follow them: "SARS-CoV-2 PCR:
// DETECTED Ct 24.3". The name, the colon and the answer show that the line is a result.

var (
	// plainAnswer is an answer of a test for something that is there or not.
	plainAnswer = regexp.MustCompile(`(?i)^(?:(?:not|none|no|non|weakly?|strongly|repeatedly|presumptive(?:ly)?|low|faintly)[ -])?(?:` + answerPattern(plainForm) + `)$`)
	// answerName has a word of tests that have such answers.
	answerName = regexp.MustCompile(`(?i)\b(?:pcr|rna|dna|naa?t|tma|antigens?|antibod(?:y|ies)|abs?|ags?|ig[agme]|toxins?|screen|tests?|cultures?|smear|virus|viral|sars\S*|covid\S*|hiv\S*|hcv|hbv|hav|hepatitis|hbsag|mrsa|mssa|vre|esbl|` +
		`influenza|flu|rsv|cmv|ebv|hsv|hpv|vzv|chlamydia|gonorrh\w*|syphilis|trichomonas|rpr|vdrl|tppa|malaria|strep\w*|legionella|pylori|quantiferon|mutation|gene|genotype|variant|leiden|jak2|hla\S*|ana|anca|pregnancy|hcg|` +
		`opiates?|cannabinoids?|cocaine|benzodiazepines?|amphetamines?|coombs|difficile)\b|^anti-`)
	clottingFactor = regexp.MustCompile(`(?i)^factor (?:[ivx]+|\d+)\b`)
	// negatedName is a name that a denial has cut: "No HIV antibody" of "No HIV antibody detected".
	negatedName = regexp.MustCompile(`(?i)\b(?:no|not|none|non|without|neither|nor|never)\b`)
	// afterAnswer begins words that make an answer part of an explanation: "Negative results
	// do not exclude an infection."
	afterAnswer = regexp.MustCompile(`(?i)^(?:(?:test )?(?:results?|specimens?|samples?|patients?|tests?|values?|findings?|controls?|cases?)|if|when|for|to|or|and|means?|indicates?|suggests?|is|are|does|do|=|[<>≤≥:\d])(?:\W|$)|^[=<>≤≥:-]`)
)

// answerAt returns how many words form an answer at the start of words, and whether they
// do.
func answerAt(words []Word) (n int, ok bool) {
	for n := min(3, len(words)); n >= 1; n-- {
		if plainAnswer.MatchString(strings.Trim(plainSpaces(newCell(words[:n]).text()), ",.;* ")) {
			return n, true
		}
	}
	return 0, false
}

// isAnswer reports whether all of a cell is an answer.
func isAnswer(c cell) bool {
	n, ok := answerAt(c.words)
	return ok && n == len(c.words)
}

// splitAnswers makes a line of each answer of a line that has several: "HIV Ab: Negative,
// HCV Ab: Positive".
func splitAnswers(l *layout) {
	var lines []*line
	for _, old := range l.lines {
		words := lineWords(old)
		isEdge := map[int]bool{} // where a cell begins
		at := 0
		for _, c := range old.cells {
			isEdge[at] = true
			at += len(c.words)
		}
		var starts []int
		end, answers := 0, 0 // of the last answer
		for i := 1; i < len(words); i++ {
			if !strings.HasSuffix(words[i-1].Text, ":") {
				continue
			}
			n, ok := answerAt(words[i:])
			if !ok {
				continue
			}
			if answers++; answers > 1 {
				start := end
				for k := end; k < i; k++ { // a flag or words in brackets belong to the answer before
					if isEdge[k] && !isFlagMark(words[k].Text) && words[k].Text[0] != '(' || strings.HasSuffix(words[k-1].Text, ")") {
						start = k
						break
					}
				}
				starts = append(starts, start)
			}
			end = i + n
		}
		if len(starts) == 0 {
			lines = append(lines, old)
			continue
		}
		begin := 0
		for _, next := range append(starts, len(words)) {
			piece := *old
			piece.cells = []cell{newCell(words[begin:next])}
			lines = append(lines, &piece)
			begin = next
		}
	}
	l.lines = lines
}

// labelledAnswer reads a line with a name, a colon and an answer in one cell.
func (r *reader) labelledAnswer(l *line, em float64) *entry {
	if r.doc.Pages[l.page].Source != FromText || len(l.cells) == 0 {
		return nil
	}
	words := l.cells[0].words
	for k := 1; k < min(9, len(words)); k++ {
		if !strings.HasSuffix(words[k-1].Text, ":") {
			continue
		}
		if n, ok := answerAt(words[k:]); ok {
			return r.answerEntry(l, words, k, n, em)
		}
		return nil
	}
	return nil
}

// answerWithoutColon reads a line of one cell that is the name of a test and its answer:
// "RSV RNA Not Detected". Columns of a table above could cut it before its last word.
func (r *reader) answerWithoutColon(l *line, em float64) *entry {
	if r.doc.Pages[l.page].Source != FromText || len(l.cells) != 1 {
		return nil
	}
	words := l.cells[0].words
	for k := 1; k < min(9, len(words)); k++ {
		n, ok := answerAt(words[k:])
		if !ok {
			continue
		}
		if name := newCell(words[:k]).text(); len(words)-k-n > 4 || !answerName.MatchString(name) || k+n < len(words) && isAnswer(newCell(words[k+n:])) {
			return nil
		}
		return r.answerEntry(l, words, k, n, em)
	}
	return nil
}

// answerInCells reads a line of a name and an answer in two cells that have no columns of
// their own.
func (r *reader) answerInCells(l *line, em float64) *entry {
	if r.doc.Pages[l.page].Source != FromText || len(l.cells) < 2 || !answerName.MatchString(l.cells[0].text()) {
		return nil
	}
	n, ok := answerAt(l.cells[1].words)
	if !ok {
		return nil
	}
	if r.columns != nil {
		if kind := r.columns[place(r.columns, l.cells[1], em)].kind; kind == rangeColumn || kind == unitColumn || kind == previousColumn {
			return nil
		}
	}
	name := l.cells[0].words
	joined := *l
	joined.cells = append([]cell{newCell(append(name[:len(name):len(name)], l.cells[1].words...))}, l.cells[2:]...)
	e := r.answerEntry(&joined, joined.cells[0].words, len(name), n, em)
	if e != nil {
		e.line = l
	}
	return e
}

// answerEntry makes the entry of a line whose answer has n words from word k of its first
// cell on. It returns nil if the words before the answer are no name of a test.
func (r *reader) answerEntry(l *line, words []Word, k, n int, em float64) *entry {
	name := strings.TrimRight(newCell(words[:k]).text(), " :")
	known := r.knows(name) >= 0.9
	behind := words[k+n:]
	rest := newCell(behind).text()
	if _, _, isWord := startsWithWord(name); isWord || !known && (!looksLikeAnalyte(name) || notARow.MatchString(name) || bandName.MatchString(name) && !clottingFactor.MatchString(name)) || negatedName.MatchString(name) || otherPerson.MatchString(name) || !known && otherCircumstance.MatchString(name) && !dateInHeader.MatchString(name) || afterAnswer.MatchString(rest) {
		return nil
	}
	e := &entry{line: l, parts: map[columnKind][]cell{nameColumn: {newCell(words[:k])}, valueColumn: {newCell(words[k : k+n])}}, anchor: true, isClosed: true}
	if len(behind) > 0 {
		e.addAside(newCell(behind))
	}
	for _, c := range l.cells[1:] {
		switch {
		case isFlagMark(c.text()):
			e.parts[flagColumn] = append(e.parts[flagColumn], c)
		case isAnswer(c), r.columns != nil && r.columns[place(r.columns, c, em)].kind == rangeColumn && ParseRange(c.text(), r.commas, Patient{Age: -1}).Kind != RangeOther:
			e.parts[rangeColumn] = append(e.parts[rangeColumn], c)
		default:
			e.addAside(c)
		}
	}
	isLabelled := strings.HasSuffix(words[k-1].Text, ":")
	if !known && !(isLabelled && answerName.MatchString(name)) || dateInHeader.MatchString(name) || verbForm.MatchString(rest) && !strings.HasPrefix(rest, "(") {
		e.doubt(NameUncertain)
	}
	return e
}

// addAside adds the words behind an answer: its flag, or a note such as "Ct 24.3".
func (e *entry) addAside(c cell) {
	text := strings.Trim(c.text(), " ,;.")
	if isFlagMark(text) {
		e.parts[flagColumn] = append(e.parts[flagColumn], c)
		return
	}
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") && strings.Count(text, "(") == 1 {
		text = strings.Trim(text, "()")
	}
	if text != "" {
		e.notes = append(e.notes, text)
	}
}
