package extract

import (
	"regexp"
	"slices"
	"strings"
)

// blockKey finds the fields of a result that is printed as a block of lines.
// Portals for patients print it like this: the name, then
// "Normal range: 3.5 - 5.1 mmol/L" and "Value: 4.2 mmol/L".
var blockKey = regexp.MustCompile(`(?i)(?:^|\s)(` +
	`(?:your |current |test |observed |measured )?(?:value|result)s?|` +
	`(?:normal|reference|ref\.?|standard|expected|desired|healthy|optimal|target)\s+(?:range|value|values|interval)s?|reference|ref|` +
	`units?|flag|status|interpretation)\s*:\s*`)

// blockFields are the fields of one line.
type blockFields struct {
	value, rng, unit, flag string
	hasValue, hasAny       bool
}

func readBlockLine(text string) (f blockFields) {
	marks := blockKey.FindAllStringSubmatchIndex(text, -1)
	if len(marks) == 0 || strings.TrimSpace(text[:marks[0][2]]) != "" {
		return f
	}
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		key, content := strings.ToLower(text[m[2]:m[3]]), strings.Trim(text[m[1]:end], " |,;")
		f.hasAny = true
		switch {
		case strings.HasPrefix(key, "unit"):
			f.unit = content
		case key == "flag" || key == "status" || key == "interpretation":
			f.flag = content
		case rangeHeader.MatchString(key) && !strings.HasPrefix(key, "your"):
			f.rng = content
		default:
			f.value, f.hasValue = content, true
		}
	}
	return f
}

// bareValue is a value without a colon below a range: "Value 8".
var bareValue = regexp.MustCompile(`(?i)^(?:your |current )?(?:value|result)\s+([<>]?=?\s?[\d.,].*)$`)

func readBareValue(text string) (f blockFields) {
	if m := bareValue.FindStringSubmatch(text); m != nil {
		f.value, f.hasValue, f.hasAny = m[1], true, true
	}
	return f
}

// rangesBelow gives rows without a range that of the line directly below: "Normal value: 135 -
// 145 mmol/L".
func (r *reader) rangesBelow(entries []*entry, em float64) {
	for i, e := range entries {
		if i == 0 || e.anchor || e.used {
			continue
		}
		row := entries[i-1]
		f := readBlockLine(plainSpaces(e.line.text()))
		words := lineWords(e.line)
		colon := slices.IndexFunc(words, func(w Word) bool { return strings.HasSuffix(w.Text, ":") })
		if f.rng == "" || f.hasValue || colon < 0 || colon+1 >= len(words) || !row.anchor || len(row.parts[rangeColumn]) > 0 || e.line.y-row.line.y > 1.9*em {
			continue
		}
		if v, _ := ParseValue(row.text(valueColumn), r.commas); strings.ContainsAny(rangeBehind(v.Rest), "0123456789") {
			continue
		}
		isLabelled := labelOfRange.MatchString(e.line.text())
		if rng := newCell(words[colon+1:]); isLabelled || ParseRange(rng.text(), r.commas, Patient{Age: -1}).Kind != RangeOther {
			row.parts[rangeColumn] = []cell{rng}
			e.used, e.line.used = true, true
		}
	}
}

// labelOfRange begins a line that can only be a range.
var labelOfRange = regexp.MustCompile(`(?i)^(?:normal|reference|ref\.?)\s+(?:range|value|values|interval)s?\s*:`)

// readBlocks reads results that are blocks of lines and marks their lines used.
func (r *reader) readBlocks(page int) []block {
	l := r.pages[page]
	var blocks []block
	for i := 0; i < len(l.lines); i++ {
		if l.lines[i].used || !readBlockLine(plainSpaces(l.lines[i].text())).hasAny {
			continue
		}
		// A run of lines with fields.
		end := i
		var all blockFields
		var words []Word
		for ; end < len(l.lines) && end-i < 5 && (end == i || l.lines[end].y-l.lines[end-1].y < 2.2*l.em); end++ {
			f := readBlockLine(plainSpaces(l.lines[end].text()))
			if !f.hasAny && all.rng != "" {
				f = readBareValue(plainSpaces(l.lines[end].text()))
			}
			if !f.hasAny || f.hasValue && all.hasValue {
				break
			}
			all.hasValue = all.hasValue || f.hasValue
			for _, pair := range []struct{ to, from *string }{{&all.value, &f.value}, {&all.rng, &f.rng}, {&all.unit, &f.unit}, {&all.flag, &f.flag}} {
				if *pair.to == "" {
					*pair.to = *pair.from
				}
			}
			words = append(words, lineWords(l.lines[end])...)
		}
		if all.hasValue && i > 0 && !l.lines[i-1].used && l.lines[i].y-l.lines[i-1].y < 2.4*l.em && len(l.lines[i-1].cells) <= 2 {
			name := l.lines[i-1]
			text := strings.Trim(name.cells[0].text(), " :")
			if _, ok := ParseValue(all.value, r.commas); ok && looksNamed(text) && !notARow.MatchString(text) && !commentLine.MatchString(text) {
				b := block{at: name, draft: draft{
					name: text, value: all.value, rng: all.rng, unit: all.unit, flag: all.flag, page: page, y: name.y,
					words: append(lineWords(name), words...), valueWords: words,
				}}
				blocks = append(blocks, b)
				name.used = true
				for _, used := range l.lines[i:end] {
					used.used = true
				}
			}
		}
		i = max(i, end-1)
	}
	return blocks
}

// block is a result of several lines. Its place among the headings is its first
// line.
type block struct {
	at    *line
	draft draft
}

func lineWords(l *line) []Word {
	var words []Word
	for _, c := range l.cells {
		words = append(words, c.words...)
	}
	return words
}
