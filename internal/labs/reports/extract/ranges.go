package extract

import (
	"regexp"
	"strings"
)

// Patient holds the facts of a report that choose between ranges.
type Patient struct {
	Gender string  // male, female or empty
	Age    float64 // in years at collection; negative when unknown
}

const (
	signedNumber = `[-+]?` + numberPattern
	wideNumber   = `[-+]?(?:` + blankPattern + `|` + numberPattern + `)`
)

var (
	intervalForm = regexp.MustCompile(`(?i)^(` + wideNumber + `)\s*(?:-|to|\.\.|~)\s*(` + wideNumber + `)$`)
	upperForm    = regexp.MustCompile(`(?i)^(<=|<|up\s?to|less than or equal to|less than|below|under|not more than|max\.?)\s*(` + wideNumber + `)$`)
	lowerForm    = regexp.MustCompile(`(?i)^(>=|>|at least|greater than or equal to|greater than|more than|above|over|min\.?)\s*(` + wideNumber + `)$`)
	orLessForm   = regexp.MustCompile(`(?i)^(` + wideNumber + `)\s*(or less|or lower|or below|or more|or higher|or greater|or above)$`)
	titreForm    = regexp.MustCompile(`^(?:<=|>=|<|>)?\s*1\s*:\s*\d{1,6}$`)
	rangeLabel   = regexp.MustCompile(`(?i)^(?:ref(?:erence)?\.?|normal|expected|biological ref\.?)?\s*(?:range|interval|values?|limits?|ref)\s*[:=]?\s*|^ref\.?\s*[:=]?\s+|^(?:rr|nr)\s*[:=]?\s+`)
	noRange      = regexp.MustCompile(`(?i)^(?:not estab(?:lished|\.)?|see note|see comments?|see below|n/?a|none|none established|not applicable|not defined|-+|\.)$`)
	choiceForm   = regexp.MustCompile(`(?i)^([a-z][a-z0-9 /().+&'-]*?|(?:[<>]=?\s*)?\d+(?:\s*-\s*\d+)?\s*(?:years?|yrs?|y|months?|mo|days?|weeks?)\b[a-z ]*?)\s*[:=]?\s*((?:(?:<=|>=|<|>|up\s?to|less than|greater than|at least|above|below|over|under)\s*` + signedNumber + `)|(?:` + signedNumber + `\s*(?:-|to)\s*` + signedNumber + `)|(?:` + signedNumber + `\s*or (?:less|lower|more|higher|greater)))`)
)

// expectedWords maps a normal answer in lower case to its form.
var expectedWords = map[string]string{
	"negative": "Negative", "neg": "Negative", "positive": "Positive", "non reactive": "Non Reactive", "nonreactive": "Non Reactive", "non-reactive": "Non Reactive",
	"reactive": "Reactive", "not detected": "Not Detected", "none detected": "Not Detected", "detected": "Detected", "none seen": "None seen", "not seen": "None seen",
	"yellow": "Yellow", "clear": "Clear", "absent": "Absent", "nil": "Absent", "present": "Present", "negative/trace": "Negative/Trace", "none/few": "None/Few",
	"immune": "Immune", "no growth": "No growth", "normal": "Normal", "pale yellow": "Pale yellow", "straw": "Straw", "yellow/straw": "Yellow/Straw",
	"none": "None", "trace": "Trace", "few": "Few", "straw to yellow": "Straw to yellow", "straw-yellow": "Straw-yellow", "neg/trace": "Negative/Trace", "adequate": "Adequate", "susceptible": "Susceptible",
}

// ParseRange reads a reference range and, where several are printed, chooses the
// patient's.
func ParseRange(text string, commas bool, who Patient) Range {
	r := Range{Text: strings.TrimSpace(text), Kind: RangeNone}
	s := plainSpaces(text)
	if s == "" {
		return r
	}
	s = strings.TrimSpace(rangeLabel.ReplaceAllString(s, ""))
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
			word := strings.ToLower(m[1])
			return Range{Kind: RangeUpper, Max: &high, MaxExclusive: word == "<" || word == "less than" || word == "below" || word == "under"}, true
		}
	}
	if m := lowerForm.FindStringSubmatch(s); m != nil {
		if low, _, ok := parseNumber(m[2], commas); ok {
			word := strings.ToLower(m[1])
			return Range{Kind: RangeLower, Min: &low, MinExclusive: word == ">" || word == "greater than" || word == "more than" || word == "above" || word == "over"}, true
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
		m := choiceForm.FindStringSubmatchIndex(s)
		if m == nil {
			// A unit or a closing mark may follow a range.
			word, rest, _ := strings.Cut(s, " ")
			_, unit := knownUnit(strings.Trim(word, ",;()"))
			if len(choices) > 0 && (unit || strings.Trim(word, ",;()|/.") == "") {
				s = strings.TrimSpace(rest)
				continue
			}
			return nil, false
		}
		one, ok := numericRange(strings.TrimSpace(s[m[4]:m[5]]), commas)
		if !ok {
			return nil, false
		}
		choices = append(choices, Choice{
			Label: strings.Trim(s[m[2]:m[3]], " :=-("), Text: strings.TrimSpace(s[m[4]:m[5]]),
			Min: one.Min, Max: one.Max, MinExclusive: one.MinExclusive, MaxExclusive: one.MaxExclusive,
		})
		s = strings.TrimLeft(s[m[1]:], " ,;|/)")
	}
	if len(choices) == 1 { // "Ol2-122" is no label and a range
		label := choices[0].Label
		if len(label) < 4 && !maleLabel.MatchString(label) && !femaleLabel.MatchString(label) {
			return nil, false
		}
	}
	return choices, len(choices) > 0
}

var (
	maleLabel    = regexp.MustCompile(`(?i)^(?:adult )?(?:m|male|males|men|man|boys?)\b`)
	femaleLabel  = regexp.MustCompile(`(?i)^(?:adult )?(?:f|female|females|women|woman|girls?)\b`)
	phaseLabel   = regexp.MustCompile(`(?i)follic|luteal|mid.?cycle|ovulat|menopaus|pregnan|trimester|phase`)
	ageLabel     = regexp.MustCompile(`(?i)newborn|neonat|infant|child|adult|elderly|\d+\s*-?\s*\d*\s*(?:years?|yrs?|y\b|months?|mo\b|days?|weeks?)`)
	normalBand   = regexp.MustCompile(`(?i)^(?:normal|desirable|optimal|sufficien|negative|non-?\s?diabetic|acceptable|adequate|ideal|low risk|no diabetes|goal|recommended|target|healthy|optimum)`)
	ageInterval  = regexp.MustCompile(`(?i)(\d+)\s*-\s*(\d+)\s*(years?|yrs?|y|months?|mo|days?|weeks?)\b`)
	ageBound     = regexp.MustCompile(`(?i)(<=|>=|<|>)\s*(\d+)\s*(years?|yrs?|y|months?|mo|days?|weeks?)\b`)
	yearsOfWords = []struct {
		form     *regexp.Regexp
		from, to float64
	}{
		{regexp.MustCompile(`(?i)newborn|neonat`), 0, 0.08},
		{regexp.MustCompile(`(?i)infant`), 0.08, 1},
		{regexp.MustCompile(`(?i)child`), 1, 18},
		{regexp.MustCompile(`(?i)adult`), 18, 200},
	}
)

// chooseRange sets the kind of labelled ranges and the bounds that apply.
func chooseRange(r *Range, who Patient) {
	sexes, phases, ages := 0, 0, 0
	for _, c := range r.Choices {
		switch {
		case phaseLabel.MatchString(c.Label):
			phases++
		case maleLabel.MatchString(c.Label) || femaleLabel.MatchString(c.Label):
			sexes++
		case ageLabel.MatchString(c.Label):
			ages++
		}
	}
	apply := func(c Choice) {
		r.Min, r.Max, r.MinExclusive, r.MaxExclusive = c.Min, c.Max, c.MinExclusive, c.MaxExclusive
	}
	switch {
	case phases > 0:
		r.Kind = RangePhases // the report does not say the phase
		for _, c := range r.Choices {
			if who.Gender == "male" && maleLabel.MatchString(c.Label) {
				apply(c)
			}
		}
	case sexes > 0:
		r.Kind = RangeSexed
		for _, c := range r.Choices {
			if who.Gender == "male" && maleLabel.MatchString(c.Label) || who.Gender == "female" && femaleLabel.MatchString(c.Label) {
				apply(c)
				break
			}
		}
	case ages > 0:
		r.Kind = RangeAges
		for _, c := range r.Choices {
			if from, to, ok := yearsOf(c.Label); ok && who.Age >= from && who.Age < to {
				apply(c)
				break
			}
		}
	default:
		r.Kind = RangeBands
		for _, c := range r.Choices {
			if normalBand.MatchString(c.Label) {
				apply(c)
				break
			}
		}
	}
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
	if m := ageBound.FindStringSubmatch(label); m != nil {
		at, _, _ := parseNumber(m[2], false)
		at *= unit(m[3])
		if m[1][0] == '<' {
			return 0, at, true
		}
		return at, 200, true
	}
	for _, w := range yearsOfWords {
		if w.form.MatchString(label) {
			return w.from, w.to, true
		}
	}
	return 0, 0, false
}
