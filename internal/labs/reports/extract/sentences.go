package extract

import (
	"math"
	"regexp"
	"strings"
)

var (
	leadingFiller  = regexp.MustCompile(`(?i)^(?:and|the|with|a|an|her|his|their|your|while|whereas|but|then|also|including|serum|showed|shows?|results?|of|there was|which)\s+`)
	trailingFiller = regexp.MustCompile(`(?i)\s*(?:\b(?:was|is|were|of|at|measured|level|came back|remains|remained|result|equals)\b|[=:])\s*$`)
	sentenceEnd    = regexp.MustCompile(`[.;:]\s+|^[\s,;.:)\]]+`)
)

// readSentences finds results in running text: a name, a value with a known unit
// or a range in brackets.
func (r *reader) readSentences(page int) {
	l := r.pages[page]
	var words []Word
	last := math.Inf(-1)
	panel := r.panel
	flush := func() {
		if len(words) > 3 {
			r.scan(words, page)
		}
		words = nil
	}
	for _, line := range l.lines {
		if line.used || len(line.cells) > 4 {
			flush()
			continue
		}
		if line.y-last > 1.9*l.em {
			flush()
		}
		last = line.y
		for _, c := range line.cells {
			words = append(words, c.words...)
		}
	}
	flush()
	r.panel = panel
}

// scan reads the results of one paragraph.
func (r *reader) scan(words []Word, page int) {
	nameStart := 0
	for i := 1; i < len(words); i++ {
		first := words[i].Text[0]
		if (first < '0' || first > '9') && first != '<' && first != '>' && first != '.' {
			continue
		}
		d, end, ok := r.resultAt(words, i)
		if !ok {
			continue
		}
		name, from, known := r.nameBefore(words, nameStart, i)
		if name == "" || !known && (d.unit == "" || d.rng == "") {
			continue
		}
		d.name, d.page, d.panel, d.specimen = name, page, r.panel, r.specimen
		d.words = words[from:end]
		d.y = center(words[i])
		if r.acceptable(&d) {
			r.drafts = append(r.drafts, d)
			nameStart = end
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
	trimmed := strings.HasSuffix(words[i].Text, ",")
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
				if kind := ParseRange(text, r.commas, Patient{Age: -1}).Kind; kind != RangeOther {
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

// nameBefore returns the name that ends before a value.
func (r *reader) nameBefore(words []Word, from, to int) (name string, start int, known bool) {
	if to-from > 14 {
		from = to - 14
	}
	best, bestStart := "", to
	for s := from; s < to; s++ {
		text := newCell(words[s:to]).text()
		cleaned := strings.TrimSpace(text)
		for {
			next := trailingFiller.ReplaceAllString(cleaned, "")
			if next == cleaned {
				break
			}
			cleaned = strings.TrimSpace(next)
		}
		if s > from && strings.HasPrefix(cleaned, "(") {
			continue
		}
		if r.knows(strings.Trim(cleaned, " ,;:.")) >= 0.9 {
			return strings.Trim(cleaned, " ,;:."), s, true
		}
		best, bestStart = cleaned, s
	}
	_ = best
	// An unknown name: all since the last result or the last end of a sentence.
	text := newCell(words[from:to]).text()
	for {
		m := sentenceEnd.FindStringIndex(text)
		if m == nil {
			break
		}
		text = text[m[1]:]
	}
	for {
		next := trailingFiller.ReplaceAllString(leadingFiller.ReplaceAllString(text, ""), "")
		if next == text {
			break
		}
		text = next
	}
	text = strings.Trim(text, " ,;:.")
	if !looksNamed(text) || len(strings.Fields(text)) > 6 {
		return "", 0, false
	}
	return text, min(bestStart, from), false
}
