package extract

import (
	"regexp"
	"slices"
	"strings"
)

// Patient holds the facts of a report that choose between ranges.
type Patient struct {
	Gender string  // male, female or empty
	Age    float64 // in years at collection; negative when unknown
}

const (
	signedNumber = `[-+]?` + numberPattern
	choiceValue  = `((?:(?:<=|>=|<|>|up\s?to|less than|greater than|at least|above|below|over|under)\s*` + signedNumber + `)|(?:` + signedNumber + `\s*(?:-|to)\s*` + signedNumber + `)|(?:` + signedNumber + `\s*or (?:less|lower|more|higher|greater)))`
	ageWords     = `(?:(?:<=|>=|<|>|over|above|under|below|up to|from)\s*)?\d+(?:\s*(?:-|to)\s*\d+)?\s*\+?\s*(?:years?|yrs?|y|months?|mo|days?|weeks?)`
	wideNumber   = `[-+]?(?:` + blankPattern + `|` + numberPattern + `)`
)

var (
	intervalForm = regexp.MustCompile(`(?i)^(` + wideNumber + `)\s*(?:-|to|\.\.|~|à|bis)\s*(` + wideNumber + `)$`)
	upperForm    = regexp.MustCompile(`(?i)^(<=|<|up\s?to|less than or equal to|less than|below|under|not more than|max\.?|inf(?:[ée]rieure?|\.) ?à|kleiner als)\s*(` + wideNumber + `)$`)
	lowerForm    = regexp.MustCompile(`(?i)^(>=|>|at least|greater than or equal to|greater than|more than|above|over|min\.?|sup(?:[ée]rieure?|\.) ?à|gr(?:ö|oe)(?:ß|ss)er als)\s*(` + wideNumber + `)$`)
	orLessForm   = regexp.MustCompile(`(?i)^(` + wideNumber + `)\s*(or less|or lower|or below|or more|or higher|or greater|or above)$`)
	titreForm    = regexp.MustCompile(`^(?:<=|>=|<|>)?\s*1\s*:\s*\d{1,6}$`)
	rangeLabel   = regexp.MustCompile(`(?i)^(?:ref(?:erence)?\.?|normal|expected|biological ref\.?)?\s*(?:range|interval|values?|limits?|ref)\s*[:=]?\s*|^ref\.?\s*[:=]?\s+|^(?:rr|nr)\s*[:=]?\s+`)
	noRange      = regexp.MustCompile(`(?i)^(?:not estab(?:lished|\.)?|see note|see comments?|see below|n/?a|none|none established|not applicable|not defined|-+|\.)$`)
	choiceForm   = regexp.MustCompile(`(?i)^([a-z][a-z0-9 /().+&'-]*?)\s*[:=]?\s*` + choiceValue)
	// agedChoice has an age in its label: "Male 0-12 years: 11-13".
	agedChoice = regexp.MustCompile(`(?i)^((?:[a-z][a-z /.,&'()-]*?)?\s*\(?` + ageWords + `(?:\s*old)?\b[a-z &/]*?\)?)\s*[:=]?\s*` + choiceValue)
	// labelBehind has its label behind the range: "13.5-17.5 (M)".
	labelBehind = regexp.MustCompile(`(?i)^` + choiceValue + `\s*\(([a-z<>][a-z0-9 /.,<>=+&'-]*)\)`)
	ageBehind   = regexp.MustCompile(`(?i)^\s*\+?\s*(?:years?|yrs?|y|months?|mo|days?|weeks?)\b`)
)

// wordAndSign is a bound with a word and a sign of the same meaning: "above >59".
var wordAndSign = regexp.MustCompile(`(?i)^(?:(?:above|over|greater than|more than)\s*(>=?)|(?:below|under|less than)\s*(<=?))`)

// ParseRange reads a reference range and, where several are printed, chooses the
// patient's.
func ParseRange(text string, commas bool, who Patient) Range {
	r := Range{Text: strings.TrimSpace(text), Kind: RangeNone}
	s := plainSpaces(text)
	if s == "" {
		return r
	}
	s = strings.TrimSpace(rangeLabel.ReplaceAllString(s, ""))
	s = wordAndSign.ReplaceAllString(s, "$1$2")
	if noRange.MatchString(s) {
		return r
	}
	if simple, ok := simpleRange(s, commas); ok {
		simple.Text = r.Text
		return simple
	}
	if choices, ok := splitChoices(s, commas); ok {
		r.Choices = choices
		chooseRange(&r, who)
		return r
	}
	r.Kind = RangeOther
	return r
}

// simpleRange reads one interval, bound, titre or word.
func simpleRange(s string, commas bool) (r Range, ok bool) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "("), ")")
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	s = strings.TrimSpace(s)
	if word, known := expectedWords[strings.ToLower(strings.TrimRight(s, "."))]; known {
		return Range{Kind: RangeWords, Expected: word}, true
	}
	if titreForm.MatchString(s) {
		return Range{Kind: RangeTitre, Expected: s}, true
	}
	if r, ok = numericRange(s, commas); ok {
		return r, true
	}
	// The unit may follow: "70 - 99 mg/dL", "<5.7 % of total Hgb".
	for at, c := range s {
		if c != ' ' && c != '%' && c != '/' {
			continue
		}
		if r, ok = numericRange(strings.TrimSpace(s[:at]), commas); ok {
			if _, known := knownUnit(strings.TrimSpace(s[at:])); known || strings.HasPrefix(strings.TrimSpace(s[at:]), "%") {
				return r, true
			}
		}
	}
	return Range{}, false
}

// exclusiveWord is a word of a bound that is itself outside of the range.
var exclusiveWord = regexp.MustCompile(`(?i)^(?:[<>]|(?:less|more|greater) than|below|under|above|over|(?:inf|sup).*|.* als)$`)

func numericRange(s string, commas bool) (Range, bool) {
	if m := intervalForm.FindStringSubmatch(s); m != nil {
		low, _, ok1 := parseNumber(m[1], commas)
		high, _, ok2 := parseNumber(m[2], commas)
		if ok1 && ok2 && low <= high {
			return Range{Kind: RangeInterval, Min: &low, Max: &high}, true
		}
		return Range{}, false
	}
	if m := upperForm.FindStringSubmatch(s); m != nil {
		if high, _, ok := parseNumber(m[2], commas); ok {
			return Range{Kind: RangeUpper, Max: &high, MaxExclusive: exclusiveWord.MatchString(m[1])}, true
		}
	}
	if m := lowerForm.FindStringSubmatch(s); m != nil {
		if low, _, ok := parseNumber(m[2], commas); ok {
			return Range{Kind: RangeLower, Min: &low, MinExclusive: exclusiveWord.MatchString(m[1])}, true
		}
	}
	if m := orLessForm.FindStringSubmatch(s); m != nil {
		if bound, _, ok := parseNumber(m[1], commas); ok {
			switch word := strings.ToLower(m[2]); word {
			case "or less", "or lower", "or below":
				return Range{Kind: RangeUpper, Max: &bound}, true
			default:
				return Range{Kind: RangeLower, Min: &bound}, true
			}
		}
	}
	return Range{}, false
}

// splitChoices reads labelled ranges that follow each other.
func splitChoices(s string, commas bool) ([]Choice, bool) {
	var choices []Choice
	for s != "" {
		label, value, rest, ok := cutChoice(s)
		if !ok {
			// A unit or a closing mark may follow a range.
			word, after, _ := strings.Cut(s, " ")
			_, unit := knownUnit(strings.Trim(word, ",;()"))
			if len(choices) > 0 && (unit || strings.Trim(word, ",;()|/.") == "") {
				s = strings.TrimSpace(after)
				continue
			}
			return nil, false
		}
		one, ok := numericRange(value, commas)
		if !ok || ageBehind.MatchString(rest) { // the value is an age
			return nil, false
		}
		choices = append(choices, Choice{
			Label: strings.Trim(label, " :=-("), Text: value,
			Min: one.Min, Max: one.Max, MinExclusive: one.MinExclusive, MaxExclusive: one.MaxExclusive,
		})
		s = strings.TrimLeft(rest, " ,;|/)")
		if unit, after := takeUnit(s); strings.ContainsAny(unit, "/%") { // "<40 U/L Female: <32 U/L"
			s = strings.TrimLeft(after, " ,;|/)")
		}
	}
	if len(choices) == 1 { // "Ol2-122" is no label and a range
		label := choices[0].Label
		if len(label) < 4 && !maleLabel.MatchString(label) && !femaleLabel.MatchString(label) {
			return nil, false
		}
	}
	return choices, len(choices) > 0
}

// cutChoice cuts a label and its range from the start of a text.
func cutChoice(s string) (label, value, rest string, ok bool) {
	for _, form := range []*regexp.Regexp{agedChoice, choiceForm} {
		if m := form.FindStringSubmatchIndex(s); m != nil {
			return s[m[2]:m[3]], strings.TrimSpace(s[m[4]:m[5]]), s[m[1]:], true
		}
	}
	if m := labelBehind.FindStringSubmatchIndex(s); m != nil {
		if label = s[m[4]:m[5]]; namesMale.MatchString(label) || namesFemale.MatchString(label) || ageLabel.MatchString(label) {
			return label, strings.TrimSpace(s[m[2]:m[3]]), s[m[1]:], true
		}
	}
	return "", "", "", false
}

var (
	namesMale    = regexp.MustCompile(`(?i)\b(?:m|males?|men|man|boys?)\b`)
	namesFemale  = regexp.MustCompile(`(?i)\b(?:f|females?|women|woman|girls?)\b`)
	maleLabel    = regexp.MustCompile(`(?i)^(?:adult )?(?:m|male|males|men|man|boys?)\b`)
	femaleLabel  = regexp.MustCompile(`(?i)^(?:adult )?(?:f|female|females|women|woman|girls?)\b`)
	phaseLabel   = regexp.MustCompile(`(?i)follic|luteal|mid.?cycle|ovulat|menopaus|pregnan|trimester|phase`)
	ageLabel     = regexp.MustCompile(`(?i)newborn|neonat|infant|child|adult|elderly|senior|pa?ediatric|adolescen|\d+\s*-?\s*\d*\s*(?:years?|yrs?|y\b|months?|mo\b|days?|weeks?)`)
	normalBand   = regexp.MustCompile(`(?i)^(?:normal|desirable|optimal|sufficien|negative|non-?\s?diabetic|acceptable|adequate|ideal|low risk|no diabetes|goal|recommended|target|healthy|optimum)`)
	ageInterval  = regexp.MustCompile(`(?i)(\d+)\s*(?:-|to)\s*(\d+)\s*(years?|yrs?|y|months?|mo|days?|weeks?)\b`)
	agePlus      = regexp.MustCompile(`(?i)(\d+)\s*\+\s*(years?|yrs?|y|months?|mo|days?|weeks?)\b`)
	ageBound     = regexp.MustCompile(`(?i)(<=|>=|<|>|over|above|under|below|up to|from)\s*(\d+)\s*(years?|yrs?|y|months?|mo|days?|weeks?)\b`)
	yearsOfWords = []struct {
		form     *regexp.Regexp
		from, to float64
	}{
		{regexp.MustCompile(`(?i)newborn|neonat`), 0, 0.08},
		{regexp.MustCompile(`(?i)infant`), 0.08, 1},
		{regexp.MustCompile(`(?i)child`), 1, 18},
		{regexp.MustCompile(`(?i)pa?ediatric|\b(?:boys?|girls?)\b`), 0, 18},
		{regexp.MustCompile(`(?i)adolescen`), 10, 20},
		{regexp.MustCompile(`(?i)elderly|senior`), 60, 200},
		{regexp.MustCompile(`(?i)adult`), 18, 200},
	}
)

// chooseRange sets the kind of labelled ranges and the bounds that apply. It chooses only if
// the facts about the patient leave one pair of bounds.
func chooseRange(r *Range, who Patient) {
	r.Kind = RangeBands
	for _, c := range r.Choices {
		switch {
		case phaseLabel.MatchString(c.Label):
			r.Kind = RangePhases
		case r.Kind != RangePhases && namesSex(c.Label):
			r.Kind = RangeSexed
		case r.Kind == RangeBands && ageLabel.MatchString(c.Label):
			r.Kind = RangeAges
		}
	}
	var chosen []Choice
	for _, c := range r.Choices {
		fits := normalBand.MatchString(c.Label) && len(chosen) == 0
		if r.Kind != RangeBands {
			var known bool
			if fits, known = c.appliesTo(who); !known {
				return
			}
		}
		if fits && !slices.ContainsFunc(chosen, c.hasBoundsOf) {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 1 {
		c := chosen[0]
		r.Min, r.Max, r.MinExclusive, r.MaxExclusive = c.Min, c.Max, c.MinExclusive, c.MaxExclusive
	}
}

func namesSex(label string) bool {
	return namesMale.MatchString(label) || namesFemale.MatchString(label)
}

// appliesTo reports whether a range is one of the patient. known is false if the facts do
// not decide it: the sex, the age or the phase is not known.
func (c Choice) appliesTo(who Patient) (fits, known bool) {
	male, female := namesMale.MatchString(c.Label), namesFemale.MatchString(c.Label)
	isPhase := phaseLabel.MatchString(c.Label)
	from, to, aged := yearsOf(c.Label)
	switch {
	case isPhase && who.Gender == "male", male && !female && who.Gender == "female", female && !male && who.Gender == "male":
		return false, true
	case aged && who.Age >= 0 && (who.Age < from || who.Age >= to):
		return false, true
	case isPhase, male != female && who.Gender != "male" && who.Gender != "female", aged && who.Age < 0:
		return false, false
	}
	return male || female || aged, true
}

// hasBoundsOf reports whether two ranges are equal.
func (c Choice) hasBoundsOf(o Choice) bool {
	same := func(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
	return same(c.Min, o.Min) && same(c.Max, o.Max) && c.MinExclusive == o.MinExclusive && c.MaxExclusive == o.MaxExclusive
}

// yearsOf reads the ages of a label.
func yearsOf(label string) (from, to float64, ok bool) {
	unit := func(name string) float64 {
		switch strings.ToLower(name)[0] {
		case 'm':
			return 1.0 / 12
		case 'd':
			return 1.0 / 365
		case 'w':
			return 7.0 / 365
		}
		return 1
	}
	if m := ageInterval.FindStringSubmatch(label); m != nil {
		low, _, _ := parseNumber(m[1], false)
		high, _, _ := parseNumber(m[2], false)
		return low * unit(m[3]), (high + 1) * unit(m[3]), true
	}
	if m := agePlus.FindStringSubmatch(label); m != nil {
		at, _, _ := parseNumber(m[1], false)
		return at * unit(m[2]), 200, true
	}
	if m := ageBound.FindStringSubmatch(label); m != nil {
		at, _, _ := parseNumber(m[2], false)
		switch strings.ToLower(m[1]) {
		case "<", "under", "below":
			return 0, at * unit(m[3]), true
		case "<=", "up to":
			return 0, (at + 1) * unit(m[3]), true
		}
		return at * unit(m[3]), 200, true
	}
	for _, w := range yearsOfWords {
		if w.form.MatchString(label) {
			return w.from, w.to, true
		}
	}
	return 0, 0, false
}
