package extract

import (
	"regexp"
	"strconv"
	"strings"
)

// exponentPattern matches a power of ten behind a number.
const exponentPattern = `(?:\s*(?:[x×*]\s*10\s*\^?|[eE])\s*([-+]?\d{1,2})(?:\b|$))?`

// Value is a printed value, read.
type Value struct {
	Text       string // without flag and unit
	Type       Type
	Number     *float64
	Comparator string
	Flag       string // printed beside the value, or empty
	Rest       string // text after the value, such as its unit
	// Decimals counts the digits after the decimal point.
	Decimals int
}

var (
	valueStart     = regexp.MustCompile(`^(<=|>=|<|>)?\s*([-+]?` + numberPattern + `)` + exponentPattern)
	blankValue     = regexp.MustCompile(`^(<=|>=|<|>)?\s*([-+]?` + blankPattern + `)` + exponentPattern)
	intervalStart  = regexp.MustCompile(`^(` + numberPattern + `)\s*-\s*(` + numberPattern + `)(?:\s|$)`)
	titreStart     = regexp.MustCompile(`^((?:<=|>=|<|>)?\s*1\s*:\s*\d{1,6})(?:\s|$|\))`)
	plusStart      = regexp.MustCompile(`^([1-4]\s?\+|\+{1,4})(?:\s|$)`)
	fractionStart  = regexp.MustCompile(`^(\d{1,4}/\d{1,4})(?:\s|$)`)
	durationStart  = regexp.MustCompile(`(?i)^(\d+\s*(?:hours?|hrs?|minutes?|mins?|days?)(?:\s+\d+\s*(?:minutes?|mins?))?)$`)
	blanks         = regexp.MustCompile(`\s+`)
	orEqual        = regexp.MustCompile(`(?i)([<>])\s*or\s*=`)
	wrappedNon     = regexp.MustCompile(`(?i)\b(non)-\s+`)
	dashesReplacer = strings.NewReplacer("–", "-", "—", "-", "−", "-", "‐", "-", "‑", "-", "≤", "<=", "≥", ">=", "\u00a0", " ", "＜", "<", "＞", ">")
)

// plainSpaces returns printed text with one kind of dash, comparator and blank.
func plainSpaces(text string) string {
	text = dashesReplacer.Replace(text)
	text = orEqual.ReplaceAllString(text, "$1=")
	text = wrappedNon.ReplaceAllString(text, "$1-")
	return strings.TrimSpace(blanks.ReplaceAllString(text, " "))
}

// startsWithWord returns the result word that text begins with.
func startsWithWord(text string) (word string, boolean, ok bool) {
	lower := strings.ToLower(text)
	best := ""
	for i := range answerTable {
		w := &answerTable[i]
		if w.has(resultWord) && len(w.word) > len(best) && strings.HasPrefix(lower, w.word) && (len(lower) == len(w.word) || strings.ContainsRune(" ,;(.*[/", rune(lower[len(w.word)]))) {
			best, boolean = w.word, w.has(yesNoWord)
		}
	}
	return best, boolean, best != ""
}

// ParseValue reads a value: a number with its comparator and exponent, an
// interval, a titre, a number of plus signs, or words. With commas, the comma is
// the decimal sign. ok is false when the text starts with nothing of the kind.
func ParseValue(text string, commas bool) (v Value, ok bool) {
	text = plainSpaces(text)
	text, v.Flag = cutFlag(text)
	if text == "" {
		return v, false
	}
	take := func(length int) {
		v.Text = strings.TrimSpace(text[:length])
		v.Rest = strings.TrimSpace(text[length:])
	}
	if m := titreStart.FindStringSubmatchIndex(text); m != nil {
		take(m[3])
		v.Type = Ratio
		return v.withFlag(), true
	}
	if m := plusStart.FindStringSubmatchIndex(text); m != nil {
		take(m[3])
		v.Type = Comment
		return v.withFlag(), true
	}
	if m := intervalStart.FindStringSubmatchIndex(text); m != nil && !isCodeForm(text[:m[5]]) {
		take(m[5])
		v.Type = Ranged
		return v.withFlag(), true
	}
	if m := durationStart.FindStringSubmatchIndex(text); m != nil {
		take(m[3])
		v.Type = Duration
		return v.withFlag(), true
	}
	if m := fractionStart.FindStringSubmatchIndex(text); m != nil {
		take(m[3])
		v.Type = Ratio
		return v.withFlag(), true
	}
	if m := blankValue.FindStringSubmatchIndex(text); m != nil && endsNumber(text[m[1]:]) && !boundBehind.MatchString(text[m[1]:]) {
		return numberValue(v, text, m, commas)
	}
	if m := valueStart.FindStringSubmatchIndex(text); m != nil && endsNumber(text[m[1]:]) {
		return numberValue(v, text, m, commas)
	}
	if word, boolean, found := startsWithWord(text); found {
		take(len(word))
		v.Type = Comment
		if boolean {
			v.Type = Boolean
		}
		return v.withFlag(), true
	}
	return v, false
}

// keepDenied makes the words behind "No" a part of the value: "No antibodies detected".
func (v *Value) keepDenied() {
	isDenial := strings.EqualFold(v.Text, "no") || strings.EqualFold(v.Text, "none") || strings.EqualFold(v.Text, "nil")
	if _, isExpected := expectedWords[strings.ToLower(v.Rest)]; isDenial && !isExpected && wordOfNote.MatchString(v.Rest) {
		v.Text, v.Rest, v.Type = v.Text+" "+v.Rest, "", Comment
	}
}

func numberValue(v Value, text string, m []int, commas bool) (Value, bool) {
	if m[2] >= 0 {
		v.Comparator = text[m[2]:m[3]]
	}
	number, decimals, ok := parseNumber(text[m[4]:m[5]], commas)
	if !ok {
		return v, false
	}
	end := m[1]
	if m[6] >= 0 { // an exponent, unless it is the start of a unit such as x10^9/L
		if rest := strings.TrimSpace(text[m[1]:]); strings.HasPrefix(rest, "/") {
			end = m[5]
		} else if exponent, err := strconv.Atoi(text[m[6]:m[7]]); err == nil {
			number, _ = strconv.ParseFloat(strconv.FormatFloat(number, 'g', -1, 64)+"e"+strconv.Itoa(exponent), 64)
			decimals = 0
		}
	}
	v.Number, v.Decimals = &number, decimals
	v.Text, v.Rest = strings.TrimSpace(text[:end]), strings.TrimSpace(text[end:])
	v.Type = Numeric
	switch {
	case v.Comparator != "":
		v.Type = Ranged
	case strings.HasPrefix(v.Rest, "%"):
		v.Type = Percentage
	}
	return v.withFlag(), true
}

// endsNumber reports whether a number can end before rest. Letters may follow
// only as a unit: "12mg" is a value, "1,25-Dihydroxy" is a name.
func endsNumber(rest string) bool {
	if rest == "" {
		return true
	}
	switch rest[0] {
	case ' ', '%', '*', '(', '[', '/', '!', '^', ';':
		return true
	case ',', '.':
		return len(rest) == 1 || rest[1] == ' '
	}
	if _, known := knownUnit(rest); known {
		return true
	}
	flag, ok := flagOf(rest)
	return ok && flag != ""
}

// withFlag cuts a flag from the start of the rest, such as "8.7 H mg/dL".
func (v Value) withFlag() Value {
	word, after, _ := strings.Cut(v.Rest, " ")
	if _, ok := flagOf(word); ok && word != "" && v.Flag == "" && word != "-" && word != "+" {
		v.Flag, v.Rest = word, strings.TrimSpace(after)
	}
	return v
}

var flagWords = map[string]string{
	"h": "H", "l": "L", "hh": "C", "ll": "C", "a": "A", "aa": "C", "n": "N", "c": "C", "*": "A", "**": "A", "***": "A", "!": "A", "!!": "C",
	"high": "H", "low": "L", "abnormal": "A", "abn": "A", "critical": "C", "crit": "C", "panic": "C", "normal": "N",
	"h*": "H", "l*": "L", "*h": "H", "*l": "L", "h!": "H", "l!": "L", "hi": "H", "lo": "L", "h**": "H", "l**": "L",
	"↑": "H", "↓": "L", "▲": "H", "▼": "L", "↑↑": "C", "↓↓": "C", "⬆": "H", "⬇": "L", "+": "H", "-": "L", "++": "H", "+++": "H", "--": "L",
	"above": "H", "below": "L", "elevated": "H", "out": "A", "ch": "C", "cl": "C", "high*": "H", "low*": "L",
	"critical high": "C", "critical low": "C", "very high": "C", "very low": "C", "in range": "N", "out of range": "A",
	"above high reference limit": "H", "above reference range": "H", "below low reference limit": "L", "below reference range": "L",
	"outside reference range": "A", "within reference range": "N",
}

// flagOf returns the class of a printed flag: H, L, A (abnormal), C (critical)
// or N.
func flagOf(text string) (string, bool) {
	text = strings.ToLower(strings.Trim(strings.TrimSpace(text), "()[]"))
	class, ok := flagWords[text]
	return class, ok
}

var (
	flagBefore = regexp.MustCompile(`^(\((?:HH|LL|H|L|A|C)\)|\[(?:HH|LL|H|L|A|C)\]|(?:HH|LL|H|L|\*{1,3}|!{1,2}|↑{1,2}|↓{1,2}|▲|▼))\s+\S`)
	flagAfter  = regexp.MustCompile(`(?i)(?:^|\s|\d)(\((?:HH|LL|H|L|A|C|N|high|low|abnormal|critical)\)|\[(?:HH|LL|H|L|A|C|N)\]|(?:high|low|abnormal|critical|panic|HH|LL|H|L|A|N|\*{1,3}|[HL]\*|\*[HL]|[HL]!|!{1,2}|↑{1,2}|↓{1,2}|▲|▼))$`)
)

// limitFlag is a flag in words behind a value and its range.
var limitFlag = regexp.MustCompile(`(?i)[;,]\s*((?:above high|below low) reference limit|(?:above|below|outside|within) reference range)\.?$`)

// plusBefore finds plus signs that are a flag: "+ 6.4". A minus sign may be the number's.
var plusBefore = regexp.MustCompile(`^(\+{1,3})\s+[<>]?\s?\d`)

// cutFlag cuts a flag from the start or the end of a value.
func cutFlag(text string) (rest, flag string) {
	if m := plusBefore.FindStringSubmatchIndex(text); m != nil {
		return strings.TrimSpace(text[m[3]:]), text[m[2]:m[3]]
	}
	if m := limitFlag.FindStringSubmatchIndex(text); m != nil && m[0] > 0 {
		return strings.TrimSpace(text[:m[0]]), text[m[2]:m[3]]
	}
	if m := flagBefore.FindStringSubmatchIndex(text); m != nil {
		return strings.TrimSpace(text[m[3]:]), text[m[2]:m[3]]
	}
	if m := flagAfter.FindStringSubmatchIndex(text); m != nil && m[2] > 0 {
		before := strings.TrimSpace(text[:m[2]])
		if before != "" && !strings.EqualFold(before, "non") {
			return before, text[m[2]:m[3]]
		}
	}
	return text, ""
}
