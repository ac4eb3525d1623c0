package extract

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Cultures have organisms in words and drugs with a concentration (MIC) and an
// interpretation: S, I or R.

var (
	drugWords = wordSet(
		"amikacin amoxicillin amox amoxicillin-clavulanate amoxiclav co-amoxiclav augmentin ampicillin azithromycin aztreonam bactrim cefaclor cefazolin cefepime cefiderocol cefixime cefotaxime cefotetan cefoxitin",
		"cefpodoxime ceftaroline ceftazidime ceftolozane ceftriaxone cefuroxime cephalexin cephalothin cefalexin chloramphenicol ciprofloxacin clarithromycin clindamycin colistin co-trimoxazole cotrimoxazole",
		"dalbavancin daptomycin doripenem doxycycline ertapenem erythromycin flucloxacillin fosfomycin fusidic gentamicin imipenem kanamycin levofloxacin linezolid mecillinam pivmecillinam meropenem methicillin metronidazole",
		"minocycline moxifloxacin mupirocin nalidixic netilmicin nitrofurantoin norfloxacin ofloxacin oritavancin oxacillin penicillin piperacillin pip/tazo polymyxin quinupristin rifampin rifampicin streptomycin sulfamethoxazole",
		"tedizolid teicoplanin telavancin temocillin tetracycline ticarcillin tigecycline tobramycin trimethoprim tmp/smx tmp-smx sxt vancomycin fluconazole voriconazole caspofungin micafungin anidulafungin amphotericin",
		"itraconazole posaconazole flucytosine isoniazid ethambutol pyrazinamide",
	)
	genusWords = wordSet(
		"escherichia klebsiella proteus enterobacter citrobacter serratia pseudomonas acinetobacter staphylococcus staph streptococcus strep enterococcus haemophilus hemophilus moraxella neisseria salmonella shigella",
		"campylobacter candida aspergillus listeria corynebacterium bacteroides clostridium clostridioides stenotrophomonas burkholderia morganella providencia mycobacterium legionella lactobacillus gardnerella",
		"helicobacter cryptococcus vibrio yersinia raoultella hafnia aeromonas pasteurella cutibacterium e. k. p. s.",
	)
	cultureContext = regexp.MustCompile(`(?i)\b(?:cultures?|susceptibilit\w+|sensitivit(?:y|ies)|antibiogram|isolates?|antimicrobial|antibiotics?|organisms?)\b`)
	drugHeader     = regexp.MustCompile(`(?i)\b(?:antibiotics?|antimicrobials?|drugs?|agents?)\b.*(?:\bmic\b|interp|suscept|sensitiv|result|s/i/r|\bzone\b)|^\s*mic\b.*\binterp`)
	headerUnit     = regexp.MustCompile(`(?i)(?:mic|zone)\s*[(\[]?\s*(?:in )?((?:µ|μ|u|mc)g/ml|mg/l|mm)\b`)
	organismLabel  = regexp.MustCompile(`(?i)^((?:organism|isolate|pathogen|bacteri(?:a|um)|microorganism)(?:\(?s\)?)?(?: identified| isolated)?(?:\s*(?:#|no\.?)?\s*\d{1,2})?)\s*[:.\-]?\s+(.+)$`)
	cultureLabel   = regexp.MustCompile(`(?i)^((?:(?:urine|blood|wound|throat|stool|sputum|csf|fluid|genital|tissue|routine|aerobic|anaerobic|fungal|bacterial|afb)[ ,]+){0,3}cultures?(?:[ ,]+(?:urine|blood|wound|throat|stool|sputum|routine|aerobic|anaerobic))?(?: results?)?|gram stain(?: result)?)(?:\s*[:\-]\s*|\s+)(.+)$`)
	numberedItem   = regexp.MustCompile(`^(?:#?\d{1,2}[.):]\s*|#\d{1,2}\s+)`)
	quantityForm   = regexp.MustCompile(`(?i)(?:[<>]=?\s*)?(?:10\s*\^\s*\d{1,2}|\d[\d,.]*(?:\s*-\s*\d[\d,.]*)?(?:\s*[x×]\s*10\s*\^?\s*\d{1,2})?)\s*(?:cfu|colonies|organisms|col)\b(?:\s*/\s*m?l)?|\b(?:heavy|moderate|light|scant|rare|few|many|profuse) growth\b|\b[1-4]\+|\bin \d+ (?:of|out of) \d+(?: (?:bottles?|sets?))?`)
	growthWords    = regexp.MustCompile(`(?i)\b(?:growth|flora|isolated|no organisms|cfu|rods|cocci|bacilli|yeast|wbcs?|leu[ck]ocytes|epithelial|polymorphs|seen)\b`)
	// smearLabel is the label of a finding under the microscope, and siteLabel that of a
	// culture that only names its site. foundWords are words of such findings.
	smearLabel = regexp.MustCompile(`(?i)^((?:[\w/&.-]+[ ,]+){0,3}?(?:gram stain|smear|koh(?: prep(?:aration)?)?|wet (?:mount|prep)|(?:thick|thin|blood) film|india ink|ova (?:and|&) parasites|o&p)(?: results?)?)(\s*:\s*|\s+)(.+)$`)
	siteLabel  = regexp.MustCompile(`(?i)^(stool|fa?eces|sputum|urine|throat|wound|blood|csf|fluid|swab)\s*:\s*(.*\b(?:isolated|no growth|growth of|cfu)\b.*)$`)
	foundWords = regexp.MustCompile(`(?i)\b(?:rods|cocci|\w*cocci|bacilli|yeasts?|hypha\w*|fungal elements|spirochet\w*|schistocytes|spherocytes|blasts?|parasites?|trophozoites|cysts?|ova|crystals|plasmodium|organisms|polymorphs|wbcs?|clue cells|seen)\b`)
	// otherSite is a site of a culture that is neither blood nor urine.
	otherSite      = regexp.MustCompile(`(?i)\b(?:throat|wound|nasal|nares|genital|vaginal|skin|tissue|ear|eye)\b`)
	nextItem       = regexp.MustCompile(`\s[2-9][.)]\s+[A-Z]`)
	cultureFlag    = regexp.MustCompile(`^(?:A|AA|H|HH|L|LL|C|N|\*{1,3}|!{1,2}|(?i:abn|abnormal|critical|high|low))$`)
	harmlessGrowth = regexp.MustCompile(`(?i)\b(?:no growth|no organisms|not isolated|none|normal|mixed|commensal|flora|contaminant)\b`)
	unknownDrug    = regexp.MustCompile(`^[A-Z][a-z/-]{4,}`)
	micForm        = regexp.MustCompile(`^[<>]?=?\d+(?:[.,]\d+)?(?:/\d+(?:[.,]\d+)?)?$`)
)

// susceptibilities maps the printed interpretations of drugs to those of results.
var susceptibilities = map[string]string{
	"S": "normal", "SUSCEPTIBLE": "normal", "SENSITIVE": "normal", "I": "abnormal", "INTERMEDIATE": "abnormal", "R": "abnormal", "RESISTANT": "abnormal",
	"SDD": "abnormal", "NS": "abnormal", "NON-SUSCEPTIBLE": "abnormal", "NONSUSCEPTIBLE": "abnormal",
}

func susceptibilityOf(word string) (interpretation string, ok bool) {
	word = strings.Trim(word, "()[]*,;")
	if len(word) <= 3 && word != strings.ToUpper(word) {
		return "", false
	}
	interpretation, ok = susceptibilities[strings.ToUpper(word)]
	return interpretation, ok
}

// NameWithOrganism returns the name of a drug with the organism that it was tested
// against, which is its panel. For any other row it returns the name.
func (row *Row) NameWithOrganism() string {
	if _, isDrug := susceptibilityOf(row.Flag); !isDrug || row.Panel == "" {
		return row.Name
	}
	return row.Name + " (" + row.Panel + ")"
}

// culture holds the fields of a draft that only cultures have.
type culture struct {
	interpretation string
	organism       bool
}

// readCulture reads organisms and drugs of a page and marks their lines used.
func (r *reader) readCulture(page int) {
	l := r.pages[page]
	isCulture := slices.ContainsFunc(l.lines, func(l *line) bool { return cultureContext.MatchString(l.text()) })
	unit := ""
	specimen, ofDrugs := "", "" // of the headings, and of the last organism
	var organisms []string      // those that the drugs below belong to
	drugs := false              // since the last organism
	inTable := false            // the line above is of a table of drugs
	for _, line := range l.lines {
		text := plainSpaces(line.text())
		named := specimenIn(text)
		if !(specimenLabel.MatchString(text) || cultureContext.MatchString(text) || strings.HasPrefix(strings.ToLower(text), "source")) {
			named = ""
		}
		put := func(d draft, specimen string) { r.putCulture(d, line, page, specimen) }
		if !isCulture {
			if d, ok := r.smearIn(line); ok {
				put(d, "")
			}
			continue
		}
		if drugHeader.MatchString(text) && !hasDrug(text) {
			unit = ""
			if m := headerUnit.FindStringSubmatch(text); m != nil {
				unit = m[1]
			}
			line.used, inTable = true, true
			continue
		}
		if d, ok := r.smearIn(line); ok {
			put(d, specimen)
			continue
		}
		if found := r.organismsIn(line); len(found) > 0 {
			if drugs {
				organisms, drugs = nil, false
			}
			for _, d := range found {
				if d.culture.organism {
					organisms = append(organisms, d.value)
				}
				put(d, specimen)
			}
			ofDrugs = cmp.Or(named, specimen)
			continue
		}
		if named != "" && !(len(line.cells) > 1 && growthWords.MatchString(line.cells[1].text())) { // no result of its own
			specimen, ofDrugs = named, named
		}
		all := drugsIn(text, unit, inTable)
		inTable = len(all) > 0
		for i, d := range all {
			drugs = true
			switch {
			case len(organisms) == 1:
				d.panel = organisms[0]
			case len(organisms) == len(all):
				d.panel = organisms[i]
			default:
				d.panel = strings.Join(organisms, ", ")
			}
			if len(all) > 1 || len(organisms) > 1 {
				d.reasons = append(d.reasons, ColumnUncertain)
			}
			put(d, ofDrugs)
		}
	}
}

// putCulture adds a row of a culture. Its name decides the specimen if it names one.
func (r *reader) putCulture(d draft, l *line, page int, specimen string) {
	d.page, d.y, d.specimen = page, l.y, specimen
	if s := specimenIn(d.name); s != "" {
		d.specimen = s
	} else if otherSite.MatchString(d.name) {
		d.specimen = "other"
	}
	d.words = lineWords(l)
	d.valueWords = d.words
	l.used = true
	r.drafts = append(r.drafts, d)
}

func hasDrug(text string) bool {
	for _, word := range strings.Fields(text) {
		if isDrug(word) {
			return true
		}
	}
	return false
}

func isDrug(word string) bool {
	word = strings.ToLower(strings.Trim(word, " ,;:()*"))
	first, _, _ := strings.Cut(word, "/")
	return drugWords[word] || drugWords[first] || drugWords[strings.SplitN(first, "-", 2)[0]] && len(first) > 5
}

// cultureCells returns the text of a line of a culture without its flag and the expected
// result, which have cells of their own.
func cultureCells(l *line) (text, flag, expected string) {
	text = l.cells[0].text()
	for k, c := range l.cells[1:] {
		t := plainSpaces(c.text())
		_, _, isWord := startsWithWord(t)
		isLast, hasValue := k+2 == len(l.cells), k > 0 || strings.Contains(strings.TrimRight(text, ": "), ":")
		switch {
		case isLast && hasValue && cultureFlag.MatchString(t):
			flag = t
		case hasValue && (isWord || harmlessGrowth.MatchString(t)) && quantityForm.FindString(t) == "":
			expected = t
		default:
			text += " " + t
		}
	}
	return plainSpaces(text), flag, expected
}

// organismsIn reads the organisms of a line: "1) Klebsiella pneumoniae 2) Proteus mirabilis".
func (r *reader) organismsIn(l *line) []draft {
	text, flag, expected := cultureCells(l)
	var all []draft
	items := nextItem.FindAllStringIndex(text, -1)
	first := text
	if len(items) > 0 {
		first = text[:items[0][0]]
	}
	d, ok := r.organismIn(first)
	if !ok {
		return nil
	}
	all = append(all, d)
	for i, at := range items {
		end := len(text)
		if i+1 < len(items) {
			end = items[i+1][0]
		}
		item := strings.TrimSpace(text[at[0]:end])
		next, ok := r.organismIn(d.name + ": " + item)
		if !ok { // keep its words
			next = draft{name: d.name, value: numberedItem.ReplaceAllString(item, ""), culture: &culture{interpretation: "unknown"}, reasons: []Reason{NameUncertain}}
		}
		all = append(all, next)
	}
	for i := range all {
		all[i].flag, all[i].rng = flag, expected
	}
	return all
}

// smearIn reads a line with a finding under the microscope: "AFB smear: 3+ acid fast bacilli
// seen". Without a colon, the label has a cell of its own.
func (r *reader) smearIn(l *line) (d draft, ok bool) {
	if r.doc.Pages[l.page].Source != FromText {
		return d, false
	}
	text, flag, expected := cultureCells(l)
	m := smearLabel.FindStringSubmatch(text)
	if m == nil || hasDrug(text) {
		return d, false
	}
	name, value := m[1], m[3]
	hasColon := strings.Contains(m[2], ":")
	words := strings.Fields(value)
	switch {
	case len(words) > 14, notARow.MatchString(name), commentLine.MatchString(value), plainAnswer.MatchString(value), quantityForm.FindString(value) == value:
		return d, false
	case !hasColon && (!foundWords.MatchString(value) || plainSpaces(l.cells[0].text()) != name):
		return d, false
	case hasColon && !foundWords.MatchString(value) && verbForm.MatchString(value):
		return d, false
	}
	d = draft{name: name, value: value, flag: flag, rng: expected, culture: &culture{interpretation: "unknown"}}
	if quantity := quantityForm.FindString(value); quantity != "" {
		d.value = strings.Trim(strings.Join(strings.Fields(strings.Replace(value, quantity, " ", 1)), " "), " ,;:.-")
		d.notes = []string{strings.Trim(quantity, " ,;")}
	}
	return d, true
}

// organismIn reads a line that names an organism or the growth of a culture.
func (r *reader) organismIn(text string) (d draft, ok bool) {
	name, value := "Organism", numberedItem.ReplaceAllString(text, "")
	labelled := false
	if m := organismLabel.FindStringSubmatch(text); m != nil && (strings.Contains(text, ":") || genusWords[strings.ToLower(firstWord(m[2]))]) {
		name, value, labelled = m[1], m[2], true
	} else if m := cultureLabel.FindStringSubmatch(text); m != nil && (strings.Contains(text, ":") && growthWords.MatchString(m[2]) || genusWords[strings.ToLower(firstWord(m[2]))]) {
		name, value, labelled = m[1], m[2], true
	} else if m := siteLabel.FindStringSubmatch(text); m != nil {
		name, value, labelled = m[1], m[2], true
	}
	value = numberedItem.ReplaceAllString(value, "")
	quantity := quantityForm.FindString(value)
	rest := value
	if quantity != "" {
		rest = strings.Join(strings.Fields(strings.Replace(value, quantity, " ", 1)), " ")
	}
	rest = strings.Trim(rest, " ,;:.-")
	isGenus := genusWords[strings.ToLower(firstWord(rest))] && len(strings.Fields(rest)) >= 2
	switch {
	case rest == "" || hasDrug(rest) || drugHeader.MatchString(text):
		return d, false
	case labelled && (isGenus || growthWords.MatchString(value)):
	case !isGenus || len(strings.Fields(rest)) > 4 || strings.Contains(text, ":") || !strings.ContainsAny(rest[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ"):
		return d, false
	case len(firstWord(rest)) < 4: // "E. coli" without a label
		return d, false
	case quantity == "" && len(strings.Fields(rest)) > 2:
		return d, false
	}
	d = draft{name: name, value: rest, culture: &culture{interpretation: "unknown"}}
	if isGenus {
		d.culture.organism, d.culture.interpretation = true, "abnormal"
	}
	if harmlessGrowth.MatchString(value) {
		d.culture.interpretation = "unknown"
	}
	if quantity != "" {
		d.notes = []string{strings.Trim(quantity, " ,;")}
	}
	return d, true
}

// drugsIn reads a line with a drug. It returns a draft for each interpretation. In a table
// of drugs, any name can be one.
func drugsIn(text, unit string, inTable bool) (all []draft) {
	words := strings.Fields(text)
	if len(words) < 2 || !isDrug(words[0]) && !(inTable && unknownDrug.MatchString(words[0])) {
		return nil
	}
	n := 1
	for n < len(words) {
		_, isAnswer := susceptibilityOf(words[n])
		if isAnswer || strings.ContainsAny(words[n][:1], "<>=0123456789") {
			break
		}
		n++
	}
	name := strings.Join(words[:n], " ")
	var mics, answers, other []string
	for i := n; i < len(words); i++ {
		word := strings.Trim(words[i], "()")
		if (word == "<" || word == ">" || word == "<=" || word == ">=") && i+1 < len(words) {
			i++
			word += words[i]
		}
		_, isAnswer := susceptibilityOf(words[i])
		_, isUnit := knownUnit(word)
		switch {
		case isAnswer:
			answers = append(answers, strings.Trim(words[i], "()[]"))
		case micForm.MatchString(word):
			mics = append(mics, word)
		case isUnit:
			unit = word
		default:
			other = append(other, word)
		}
	}
	if len(answers) == 0 || len(mics) > 0 && len(mics) != len(answers) {
		return nil
	}
	for i, answer := range answers {
		d := draft{name: name, value: answer, flag: answer, culture: &culture{}}
		d.culture.interpretation, _ = susceptibilityOf(answer)
		if len(mics) > 0 {
			d.value, d.unit = mics[i], unit
		}
		if note := tidyNote(strings.Join(other, " ")); note != "" {
			d.notes = []string{note}
			d.reasons = append(d.reasons, ValueDoubted)
		}
		all = append(all, d)
	}
	return all
}

// finishCulture sets the fields of a row of a culture. Its analytes have no codes.
func (row *Row) finishCulture(d draft) {
	row.culture = true
	row.Matches, row.Status = nil, NoMatch
	row.Flag, row.Interpretation = d.flag, d.culture.interpretation
	row.AboveMax, row.BelowMin = false, false
	_, isDrug := susceptibilityOf(d.flag)
	switch class, _ := flagOf(d.flag); {
	case isDrug:
	case class == "C":
		row.Interpretation = "critical"
	case class == "A" || class == "H" || class == "L":
		row.Interpretation = "abnormal"
	}
	if row.Interpretation == "unknown" && row.Range.Kind == RangeWords && slices.Contains(negativeWords, foldAnswer(row.Range.Expected)) && !harmlessGrowth.MatchString(d.value) && !negatedName.MatchString(d.value) {
		row.Interpretation = "abnormal" // a finding where none is expected
	}
	if !isDrug || d.value == d.flag {
		row.Value, row.Type, row.Number, row.Comparator, row.Unit, row.UCUM = d.value, Comment, nil, "", "", ""
	}
	if row.SampleType == "serum_plasma_blood" && d.specimen == "" {
		row.SampleType = "unknown"
	}
	row.Note = strings.Join(d.notes, "; ")
}
