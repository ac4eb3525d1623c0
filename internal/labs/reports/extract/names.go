package extract

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"hale/internal/labs/loinc"
)

// dictionary finds the codes of printed names.
type dictionary struct {
	byName   map[string][]namedCode // by normalised name
	bySorted map[string][]namedCode // by its words in alphabetical order
	names    []string               // all normalised names, for similar ones
	digits   []string               // the digits of each of names
	byBase   map[string][]*loinc.Code
	byPart   map[string][]*loinc.Code // by component
}

type namedCode struct {
	code  *loinc.Code
	score float64
}

var theDictionary = sync.OnceValue(buildDictionary)

func buildDictionary() *dictionary {
	d := &dictionary{byName: map[string][]namedCode{}, bySorted: map[string][]namedCode{}, byBase: map[string][]*loinc.Code{}, byPart: map[string][]*loinc.Code{}}
	add := func(name string, code *loinc.Code, score float64) {
		key := normalName(name)
		if key == "" {
			return
		}
		for i, n := range d.byName[key] {
			if n.code == code {
				d.byName[key][i].score = max(n.score, score)
				return
			}
		}
		if d.byName[key] == nil {
			d.names = append(d.names, key)
		}
		d.byName[key] = append(d.byName[key], namedCode{code, score})
		d.bySorted[sortedWords(key)] = append(d.bySorted[sortedWords(key)], namedCode{code, score})
	}
	for _, c := range loinc.AllCodes() {
		add(c.Display, c, 1)
		add(withoutParentheses(c.Display), c, 0.94)
		for _, alias := range c.Aliases {
			add(alias, c, 1)
		}
		for _, alias := range moreNames[c.Code] {
			add(alias, c, 1)
		}
		add(c.Name, c, 1)
		if c.Short != "" {
			add(c.Short, c, 0.95)
		}
		if part := strings.ToLower(c.Component); part != "" {
			part, _, _ = strings.Cut(part, "/100")
			d.byPart[part] = append(d.byPart[part], c)
		}
		base := normalName(withoutParentheses(c.Display))
		d.byBase[base] = append(d.byBase[base], c)
	}
	for _, s := range sharedNames {
		if c, ok := loinc.Find(s.code); ok {
			add(s.name, c, s.score)
		}
	}
	slices.Sort(d.names)
	for _, name := range d.names {
		d.digits = append(d.digits, digitsOf(name))
	}
	return d
}

// moreNames are printed names that the table of package loinc does not have.
var moreNames = map[string][]string{
	"6690-2":  {"White Cell Count", "White Blood Count", "Leucocytes", "WCC", "White Cells", "Total WBC", "WBC Total", "Leucocyte Count"},
	"789-8":   {"Red Cell Count", "Red Cells", "RCC", "Erythrocyte Count"},
	"777-3":   {"Thrombocytes", "Platelet Count (PLT)", "Thrombocyte Count"},
	"718-7":   {"Haemoglobin (Hb)", "Haemoglobin Concentration", "Hemoglobin (Hb)", "Hemoglobin (HGB)"},
	"4544-3":  {"Hematocrit (PCV)", "PCV (Packed Cell Volume)", "PCV/Hematocrit", "Packed Cell Volume (PCV)"},
	"770-8":   {"Segmented Neutrophils", "Polymorphs", "Granulocytes %"},
	"22664-7": {"Urea"},
	"3094-0":  {"Urea Nitrogen", "BUN (Urea Nitrogen)"},
	"1742-6":  {"ALT (GPT)", "GPT", "SGPT (ALT)", "SGPT/ALT", "Alanine Aminotransferase (SGPT)"},
	"1920-8":  {"AST (GOT)", "GOT", "SGOT (AST)", "SGOT/AST", "Aspartate Aminotransferase (SGOT)"},
	"6768-6":  {"Alkaline Phosphatase (ALP)", "Alk. Phosphatase", "ALP Total"},
	"2324-2":  {"GGT (Gamma GT)", "Gamma-GT", "Gamma-glutamyltransferase"},
	"1988-5":  {"C-Reactive Protein (CRP)", "CRP (C-Reactive Protein)"},
	"4548-4":  {"Glycated Haemoglobin", "HbA1c (Glycated Hemoglobin)", "Haemoglobin A1c", "Glycosylated Hemoglobin (HbA1c)"},
	"62292-8": {"25-OH Vitamin D", "Vitamin D (25-OH)", "25 Hydroxy Vitamin D", "Vitamin D 25 Hydroxy", "Vitamin D", "25-Hydroxy Vitamin D", "Vitamin D, 25-OH", "Vitamin D Total"},
	"3016-3":  {"TSH (Thyroid Stimulating Hormone)", "Thyroid Stimulating Hormone (TSH)", "Thyrotropin (TSH)"},
	"33914-3": {},
	"21198-7": {"bHCG", "Total bHCG", "Total Beta-hCG", "Beta hCG"},
	"98979-8": {"eGFR (CKD-EPI)", "GFR", "Glomerular Filtration Rate"},
	"13457-7": {"LDL Chol", "LDL Cholesterol (Calc)", "Cholesterol LDL"},
	"2085-9":  {"Cholesterol HDL", "HDL Chol."},
	"5811-5":  {"Specific Gravity, Urine"},
	"5767-9":  {"Clarity, Urine", "Character"},
	"5778-6":  {"Colour", "Urine Colour"},
	"14959-1": {"Urine Albumin/Creatinine Ratio", "Albumin Creatinine Ratio"},
	"17856-6": {},
	"2472-9":  {"Immunoglobulin M (IgM)"},
	"14749-6": {"Glucose Random mmol/L", "Blood Glucose mmol/L"},
	"5794-3":  {"Blood, Occult"},
	"788-0":   {"Red Cell Distribution Width (RDW)"},
	"2132-9":  {"B-12", "Vitamin B-12"},
	"56888-1": {"HIV Ag/Ab", "HIV 1/2 Antigen/Antibody"},
}

// sharedNames are short names that belong to another code first. Bilirubin in words is
// that of a urine strip; as a number it is that of serum.
var sharedNames = []struct {
	code, name string
	score      float64
}{
	{"1975-2", "Bilirubin", 0.97},
	{"11558-4", "pH", 0.9}, // only with a specimen of blood
}

var foldReplacer = strings.NewReplacer(
	"haemo", "hemo", "haema", "hema", "oestr", "estr", "leuco", "leuko", "ionised", "ionized", "colour", "color", "faecal", "fecal", "foetal", "fetal", "anaem", "anem", "haptoglob", "haptoglob",
	"α", "alpha ", "β", "beta ", "γ", "gamma ", "é", "e", "è", "e", "ä", "a", "ö", "o", "ü", "u", "&", " and ", "₂", "2", "₃", "3", "₄", "4",
)

// normalName returns a name as lower-case words: letters, digits, % and #.
func normalName(name string) string {
	var b strings.Builder
	for _, r := range foldReplacer.Replace(strings.ToLower(name)) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case r == '%' || r == '#':
			b.WriteRune(' ')
			b.WriteRune(r)
			b.WriteRune(' ')
		case r == '.' || r == '\'': // initials: W.B.C.
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func sortedWords(key string) string {
	words := strings.Fields(key)
	slices.Sort(words)
	return strings.Join(words, " ")
}

func withoutParentheses(name string) string {
	for {
		open := strings.IndexByte(name, '(')
		if open < 0 {
			return strings.TrimSpace(name)
		}
		end := strings.IndexByte(name[open:], ')')
		if end < 0 {
			return strings.TrimSpace(name[:open])
		}
		name = name[:open] + " " + name[open+end+1:]
	}
}

// qualifiers are words of a name that do not change the analyte.
var qualifiers = map[string]bool{
	"serum": true, "plasma": true, "blood": true, "level": true, "levels": true, "s": true, "calculated": true, "calc": true, "automated": true, "auto": true, "quantitative": true,
	"quant": true, "qn": true, "ifa": true, "lcms": true, "ms": true, "test": true, "random": true, "whole": true, "venous": true, "edta": true, "concentration": true, "estimated": false, "by": true,
	"eclia": true, "clia": true, "elisa": true, "measured": true, "value": true, "result": true, "conc": true, "assay": true, "screen": true, "qualitative": true,
}

// find returns the codes that a name may mean, before unit and specimen.
func (d *dictionary) find(name string) []namedCode {
	key := normalName(name)
	if key == "" {
		return nil
	}
	if n := d.byName[key]; n != nil {
		return n
	}
	var out []namedCode
	keep := func(list []namedCode, factor float64) {
		for _, n := range list {
			out = append(out, namedCode{n.code, n.score * factor})
		}
	}
	keep(d.bySorted[sortedWords(key)], 0.98)
	if len(out) > 0 {
		return out
	}
	if open := strings.IndexByte(name, '('); open > 0 {
		keep(d.byName[normalName(name[:open])], 0.97)
		inside, _, _ := strings.Cut(name[open+1:], ")")
		if len(out) == 0 {
			keep(d.byName[normalName(withoutParentheses(name))], 0.97)
		}
		if len(out) == 0 {
			keep(d.byName[normalName(inside)], 0.95)
		}
		if len(out) > 0 {
			return out
		}
	}
	for _, cut := range []string{" - ", "/", ","} { // "PCV/Hematocrit", "ESR - Westergren"
		if a, b, ok := strings.Cut(name, cut); ok && cut != "," {
			keep(d.byName[normalName(a)], 0.93)
			if cut == "/" && len(out) > 0 {
				if both := d.byName[normalName(b)]; len(both) == 0 || both[0].code != out[0].code {
					out = nil // two analytes: a ratio
				}
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	var words []string
	for _, w := range strings.Fields(key) {
		if !qualifiers[w] {
			words = append(words, w)
		}
	}
	if short := strings.Join(words, " "); short != key && short != "" {
		keep(d.byName[short], 0.95)
		if len(out) == 0 {
			keep(d.bySorted[sortedWords(short)], 0.94)
		}
	}
	if len(out) == 0 && strings.HasPrefix(key, "l") {
		keep(d.byName["i"+key[1:]], 0.9) // l is read for I
	}
	if len(out) == 0 {
		if similar, ratio := d.similar(key); ratio > 0 {
			keep(d.byName[similar], ratio)
		}
	}
	return out
}

// similar returns the known name nearest to key and how near it is. Digits must
// agree: B6 is not B12.
func (d *dictionary) similar(key string) (name string, ratio float64) {
	if len(key) < 5 || len(key) > 60 {
		return "", 0
	}
	digits := digitsOf(key)
	best := 0.0
	for i, n := range d.names {
		longest := max(len(n), len(key))
		allowed := longest / 6
		if allowed == 0 || abs(len(n)-len(key)) > allowed || len(n) < 5 || d.digits[i] != digits {
			continue
		}
		if distance := editDistance(n, key, allowed); distance <= allowed {
			if r := 1 - float64(distance)/float64(longest); r > best {
				best, name = r, n
			}
		}
	}
	return name, best * 0.99
}

func abs(n int) int { return max(n, -n) }

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// editDistance returns the Levenshtein distance of two texts. If the distance exceeds
// limit, it stops early and returns a number above limit.
func editDistance(a, b string, limit int) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal, least := row[0], i
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next := min(row[j]+1, row[j-1]+1, diagonal+cost)
			diagonal, row[j] = row[j], next
			least = min(least, next)
		}
		if least > limit {
			return least
		}
	}
	return row[len(b)]
}

// context holds the surroundings of a name.
type context struct {
	panel    string
	specimen string // of the API; empty when the report does not say
	unit     string // as printed
	ucum     string
	numeric  bool
	coarse   bool // letters can be mistaken for others
	// isShare says that value and range without a unit are percentages of the cells.
	isShare bool
}

// knows returns how well the dictionary knows a name. 1 means an exact match.
func (d *dictionary) knows(name string) float64 {
	best := 0.0
	for _, n := range d.find(name) {
		best = max(best, n.score)
	}
	return best
}

// match ranks the codes of a name in its context.
func (d *dictionary) match(name string, c context) (matches []Match, status MatchStatus) {
	scores := map[*loinc.Code]float64{}
	put := func(code *loinc.Code, score float64) { scores[code] = max(scores[code], score) }
	found := d.find(name)
	if len(found) == 0 && c.coarse {
		found = d.lookalike(normalName(name))
	}
	if c.unit != "" {
		found = append(slices.Clone(found), d.byName[normalName(name+" "+c.unit)]...)
	}
	urine := c.specimen == "urine"
	if urine {
		for _, n := range slices.Concat(d.byName[normalName(name+", Urine")], d.byName[normalName("Urine "+name)], d.byName[normalName(name+", UA")]) {
			found = append(slices.Clone(found), namedCode{n.code, 1})
		}
	}
	for _, n := range found {
		put(n.code, n.score)
		if c.isBareCount(n.code) || !unitFits(c.ucum, n.code.Unit) && c.ucum != "" || c.numeric && n.code.Scale == "Ord" || !c.numeric && n.code.Scale == "Qn" && c.unit == "" {
			for _, sibling := range d.siblings(n.code) {
				put(sibling.code, n.score*sibling.score)
			}
		}
	}
	type ranked struct {
		code  *loinc.Code
		score float64
	}
	list := make([]ranked, 0, len(scores))
	for code, score := range scores {
		list = append(list, ranked{code, score * contextFactor(code, c)})
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(rankOf(a.code), rankOf(b.code)), cmp.Compare(a.code.Code, b.code.Code))
	})
	for _, r := range list[:min(5, len(list))] {
		if r.score < 0.4 {
			break
		}
		matches = append(matches, Match{Code: r.code.Code, Name: r.code.Name, Display: r.code.Display, Aliases: r.code.Aliases, Confidence: float64(int(r.score*1000)) / 1000})
	}
	switch {
	case len(matches) == 0 || list[0].score < 0.6:
		return matches, NoMatch
	case list[0].score < 0.9, len(list) > 1 && list[1].score > list[0].score-0.05 && list[1].score > 0.9:
		return matches, ReviewMatch
	}
	return matches, AutoMatch
}

func rankOf(c *loinc.Code) int {
	if c.Rank == 0 {
		return 100_000
	}
	return c.Rank
}

// siblings returns codes of the same analyte with another property, such as moles instead
// of mass, each with its score.
func (d *dictionary) siblings(code *loinc.Code) []namedCode {
	var out []namedCode
	for _, c := range d.byBase[normalName(withoutParentheses(code.Display))] {
		out = append(out, namedCode{c, 0.98})
	}
	base := strings.ReplaceAll(normalName(withoutParentheses(code.Display)), " %", "")
	for _, c := range d.byBase[base] {
		out = append(out, namedCode{c, 0.98})
	}
	part, _, _ := strings.Cut(strings.ToLower(code.Component), "/100")
	if part != "cholesterol" {
		for _, c := range d.byPart[part] {
			out = append(out, namedCode{c, 0.92})
		}
	}
	return out
}

// isBareCount reports whether a number without a known unit is a count of cells, although
// the code is one of their percentages.
func (c *context) isBareCount(code *loinc.Code) bool {
	_, isCell := lowestShares[code.Component]
	isBare := c.unit == "" && !c.isShare || c.ucum == "" && strings.Contains(c.unit, "/")
	return isCell && c.numeric && isBare
}

// lowestShares are the smallest upper bounds of ranges in percent of the white cells.
// Ranges of counts, such as 2.0-7.5 or 2000-7500, are below them or above 100.
var lowestShares = map[string]float64{
	"Neutrophils/100 leukocytes": 40, "Lymphocytes/100 leukocytes": 20, "Monocytes/100 leukocytes": 5, "Eosinophils/100 leukocytes": 3, "Basophils/100 leukocytes": 0.9,
}

// isShare reports whether a value and its range are percentages of the white cells.
func (d *dictionary) isShare(name string, row *Row) bool {
	if strings.Contains(name, "%") {
		return true
	}
	if row.Number == nil || row.Range.Max == nil || *row.Number > 100 || *row.Range.Max > 100 {
		return false
	}
	for _, n := range d.find(name) {
		if lowest, isCell := lowestShares[n.code.Component]; isCell && *row.Range.Max < lowest {
			return false
		}
	}
	return true
}

// contextFactor lowers a score for a unit, a scale or a specimen that does not
// fit.
func contextFactor(code *loinc.Code, c context) float64 {
	factor := 1.0
	switch {
	case c.ucum != "" && !unitFits(c.ucum, code.Unit):
		factor *= 0.7
	case c.isBareCount(code):
		factor *= 0.7
	case c.ucum == "" && c.unit == "" && c.numeric && unitClass(code.Unit) != "":
		factor *= 0.97
	}
	if c.numeric && (code.Scale == "Ord" || code.Scale == "Nom") {
		factor *= 0.8
	}
	if !c.numeric && code.Scale == "Qn" && c.unit == "" {
		factor *= 0.93
	}
	if c.specimen != "" {
		if sample := sampleType(code.Specimen); sample != "unknown" && sample != c.specimen {
			factor *= 0.7
		}
	} else if strings.HasPrefix(code.Specimen, "Urine") {
		factor *= 0.97
	}
	for _, p := range code.Panels {
		if p == "HL7 input variants" {
			factor *= 0.9
		}
		if p == "GTT" || p == "POC" || p == "SPEP" {
			factor *= 0.97
		}
	}
	return factor
}

// sampleType maps a LOINC specimen to the API's word.
func sampleType(specimen string) string {
	switch specimen {
	case "Ser", "Ser/Plas", "Ser/Plas/Bld", "Plas", "PPP", "Bld", "BldA", "RBC":
		return "serum_plasma_blood"
	case "Urine", "Urine sed", "Urine 24h":
		return "urine"
	case "Stool":
		return "stool"
	case "Saliva":
		return "saliva"
	case "Genital", "Respiratory", "Breath":
		return "other"
	}
	return "unknown"
}

var (
	codeForm   = regexp.MustCompile(`^[(\[]?\d{3,5}-\d[)\]]?,?$`)
	codeInName = regexp.MustCompile(`(?i)\s*[(\[]?(?:loinc\s*:?\s*)?\d{3,5}-\d[)\]]?$`)
)

// isCodeForm reports whether text looks like a LOINC code. The range 120-9 does not exist.
func isCodeForm(text string) bool {
	return codeForm.MatchString(strings.TrimSpace(text))
}

// printedCode returns the LOINC code in the words of a line.
func printedCode(words []Word) string {
	for _, w := range words {
		if !codeForm.MatchString(w.Text) {
			continue
		}
		if code := strings.Trim(w.Text, "()[],"); loinc.IsCode(code) {
			return code
		}
	}
	return ""
}

// useCode puts the printed code first among the candidates. A code that is none of them
// contradicts the name.
func (r *Row) useCode(code string, review func(Reason)) {
	at := slices.IndexFunc(r.Matches, func(m Match) bool { return m.Code == code })
	switch {
	case code == "" || at == 0 || len(r.Matches) == 0:
	case at > 0:
		chosen := r.Matches[at]
		r.Matches = slices.Insert(slices.Delete(slices.Clone(r.Matches), at, at+1), 0, chosen)
	default:
		review(CodeDiffers)
	}
}
