package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Read reads a document. The error is a *Failure.
func Read(doc Document) (Result, error) {
	if f := refuse(doc); f != nil {
		return Result{}, reasonOf(doc, f)
	}
	result := readOnce(doc)
	if second, ok := secondReading(doc); ok {
		result = agree(result, readOnce(second), doc)
	}
	for _, p := range doc.Pages {
		result.Pages = append(result.Pages, PageInfo{Width: p.Width, Height: p.Height, Source: p.Source})
	}
	switch {
	case isReport(doc, result):
	case isReportInWords(doc, result):
		doubtFindings(doc, result.Rows)
	default:
		return Result{}, reasonOf(doc, &Failure{Reason: InvalidInput, Detail: "no results of laboratory tests were found: this does not look like a lab report"})
	}
	return result, nil
}

// sureConfidence is the confidence from which a recognised word counts as read.
const sureConfidence = 0.6

// reasonOf returns LowQuality instead of a failure if fewer than half of the recognised
// words are sure. The content of such a scan is not known.
func reasonOf(doc Document, f *Failure) *Failure {
	words, sure := 0, 0
	for _, p := range doc.Pages {
		for _, w := range p.Words {
			if p.Source != FromOCR {
				return f
			}
			words++
			if w.Confidence >= sureConfidence {
				sure++
			}
		}
	}
	if words == 0 || 2*sure >= words {
		return f
	}
	return &Failure{Reason: LowQuality, Detail: "the scan is too poor to be read: scan the report again, with at least 200 dots per inch"}
}

// isReport distinguishes a report from other documents: it has known analytes, or several
// unknown ones with units and ranges. Invoices, recipes and labels of food name analytes
// too, without ranges.
func isReport(doc Document, result Result) bool {
	known, complete, cultures, answers, evidence := 0, 0, 0, 0, 0
	for _, row := range result.Rows {
		hasRange := row.Range.Kind != RangeNone && row.Range.Kind != RangeOther
		switch {
		case row.culture:
			cultures++
		case row.Number != nil && row.UCUM != "" && hasRange:
			complete++
		case row.Number == nil && hasRange:
			answers++
		}
		if row.Status != NoMatch {
			known++
		}
		if row.UCUM != "" || hasRange || row.Number == nil || row.Flag != "" {
			evidence++
		}
	}
	m := result.Metadata
	sample := m.CollectedText != "" || m.Specimen != ""
	if complete+cultures+answers < 2 && looksForeign(doc) || evidence == 0 && !sample {
		return false
	}
	head := sample || m.ReportedText != "" || m.Lab != ""
	if isPatients := m.CollectedText != "" && (m.LastName != "" || m.BirthText != ""); isPatients && complete > 0 && !looksForeign(doc) {
		return true // all of its analytes may be unknown
	}
	return known >= 2 || known == 1 && (head || complete > 0) || complete >= 3 || cultures >= 2 || cultures == 1 && head
}

// isReportInWords reports whether a document about a patient has an answer of a test for
// something that is there or not, such as "HLA-B27: Positive". Its names may be unknown.
func isReportInWords(doc Document, result Result) bool {
	m := result.Metadata
	isPatients := m.LastName != "" || m.BirthText != ""
	isLabs := m.CollectedText != "" || m.ReportedText != "" || m.Specimen != "" || m.Lab != ""
	return isPatients && isLabs && slices.ContainsFunc(result.Rows, isNamedAnswer) && !looksForeign(doc)
}

// isNamedAnswer reports whether a row is an answer of a test that usually has one.
func isNamedAnswer(row Row) bool {
	return row.Number == nil && plainAnswer.MatchString(plainSpaces(row.Value)) && (row.Status != NoMatch || answerName.MatchString(row.Name))
}

// findingWords are words of findings under the microscope, which are sentences.
var findingWords = regexp.MustCompile(`(?i)\b(?:cytolog\w+|histolog\w+|biops\w+|[lh]g?sil|nilm|asc-?us|carcinoma|dysplasia|karyotype|colposcopy|malignan\w+)\b`)

// doubtFindings marks all rows of a report that may have findings in sentences: no row has
// them.
func doubtFindings(doc Document, rows []Row) {
	for _, p := range doc.Pages {
		if !slices.ContainsFunc(p.Words, func(w Word) bool { return findingWords.MatchString(w.Text) }) {
			continue
		}
		for i := range rows {
			rows[i] = doubt(rows[i], SentenceUnclear)
		}
		return
	}
}

func readOnce(doc Document) Result {
	r := &reader{dict: theDictionary(), known: map[string]float64{}, doc: doc, specimenNotes: map[int][]string{}, above: map[Reason]string{}}
	r.notation = notationOf(doc)
	r.commas = r.notation.decimalCommas
	for i, p := range doc.Pages {
		r.pages = append(r.pages, arrange(p.Words, p.Source, i))
		if p.Source == FromText {
			splitAnswers(&r.pages[i])
		}
	}
	for i := range doc.Pages {
		start := len(r.drafts)
		panel, specimen := r.panel, r.specimen
		r.readPage(i)
		inTables := len(r.drafts) - start
		after, afterSpecimen := r.panel, r.specimen
		if inTables == 0 {
			r.panel, r.specimen = panel, specimen
		}
		r.readSentences(i)
		if inTables > 0 {
			r.panel, r.specimen = after, afterSpecimen
		}
	}
	var result Result
	var who Patient
	result.Metadata, who = r.readMetadata()
	r.markOlderRows()
	r.useRowDates(&result.Metadata)
	r.flags = slices.ContainsFunc(r.drafts, func(d draft) bool {
		v, _ := ParseValue(d.value, r.commas)
		class, _ := flagOf(flagText(d.flag, v.Flag))
		return class == "H" || class == "L" || class == "A"
	})
	seen := map[string]bool{}
	var sentences []int
	for _, d := range r.drafts {
		if r.isMentioned(d.name) { // "Anna Keller   88213" below "Patient   MRN"
			continue
		}
		d.notes = append(slices.Clone(d.notes), r.specimenNotes[d.page]...)
		if d.column.olderThan(r.collected, r.order) && !slices.Contains(d.reasons, OlderResult) {
			d.reasons = append(slices.Clone(d.reasons), OlderResult)
		}
		row := r.judge(d, who)
		key := strings.ToLower(row.Name) + "|" + row.Value + "|" + row.Unit + "|" + row.Panel + "|" + d.own.dayKey()
		if seen[key] && row.Value != "" && !result.Metadata.SeveralCollections { // the same row again, such as in a summary
			continue
		}
		seen[key] = true
		if d.sentence {
			sentences = append(sentences, len(result.Rows))
		}
		result.Rows = append(result.Rows, row)
	}
	result.Rows = compareSentences(result.Rows, sentences)
	return result
}

// compareSentences removes the rows of sentences that repeat a row of a table, and marks
// those that contradict another row. sentences has their places.
func compareSentences(rows []Row, sentences []int) []Row {
	var repeated []int
	for _, i := range sentences {
		row := &rows[i]
		for j := range rows {
			other := &rows[j]
			same := normalName(row.Name) == normalName(other.Name) || len(row.Matches) > 0 && len(other.Matches) > 0 && row.Matches[0].Code == other.Matches[0].Code
			switch {
			case i == j || !same:
			case !sameText(row.Value, other.Value):
				*row = doubt(*row, SentenceUnclear)
			case !slices.Contains(sentences, j) && sameText(row.Unit, other.Unit):
				repeated = append(repeated, i)
			}
		}
	}
	kept := rows[:0:0]
	for i := range rows {
		if !slices.Contains(repeated, i) {
			kept = append(kept, rows[i])
		}
	}
	return kept
}

// englishWords and otherWords are words that reports of a language have. They
// decide together with the script of the letters.
var (
	englishWords = wordSet(
		"the of and for to in is with by test tests result results reference range ranges units unit",
		"patient name date birth sex collected reported specimen",
		"sample laboratory lab report blood serum urine total count normal high low flag page value values negative positive",
		"detected female male age received physician interval method",
		"status final doctor medical hospital white red cell cells glucose sodium potassium chloride calcium protein bilirubin acid iron",
		"free cholesterol phosphate",
	)
	otherWords = wordSet(
		"le la les des du de et pour résultat résultats valeurs référence unités nom prénom naissance prélèvement laboratoire",
		"analyse analyses sang hématies leucocytes glycémie créatinine sexe médecin",
		"el los las del y para resultado resultados valores referencia unidades nombre nacimiento fecha muestra laboratorio análisis sangre",
		"hematíes leucocitos glucosa creatinina sexo médico paciente edad",
		"der die das und für ergebnis ergebnisse befund einheit einheiten referenzbereich normbereich geburtsdatum probe labor blut leukozyten erythrozyten",
		"kreatinin geschlecht arzt datum entnahme untersuchung",
		"il gli dei e per risultato risultati valori riferimento unità cognome nascita campione esame esami sangue globuli emoglobina",
		"sesso medico",
		"o os as dos das exame exames unidade resultado valores referência nascimento coleta laboratório sangue hemácias leucócitos médico",
		"het een en voor uitslag uitslagen eenheid referentiewaarden geboortedatum monster bloed geslacht aanvrager",
		"wynik wyniki badania badanie jednostka zakres krew pacjent data urodzenia płeć",
	)
)

func wordSet(lists ...string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for _, w := range strings.Fields(list) {
			set[w] = true
		}
	}
	return set
}

// refuse returns why a document cannot be read at all.
func refuse(doc Document) *Failure {
	words, english, other, letters, foreign := 0, 0, 0, 0, 0
	for _, p := range doc.Pages {
		for _, w := range p.Words {
			words++
			text := strings.ToLower(strings.Trim(w.Text, ".,:;()[]"))
			if englishWords[text] {
				english++
			} else if otherWords[text] && (p.Source == FromText || w.Confidence >= sureConfidence && len(text) >= 3) {
				other++ // recognition reads the lines of a poor scan as "o" and "de"
			}
			for _, c := range w.Text {
				if unicode.IsLetter(c) {
					letters++
					if !unicode.Is(unicode.Latin, c) && c != 'µ' && c != 'μ' {
						foreign++
					}
				}
			}
		}
	}
	switch {
	case words < 5:
		return &Failure{Reason: InvalidInput, Detail: "the document has no text"}
	case letters > 20 && foreign*10 > letters*3:
		return &Failure{Reason: NotEnglish, Detail: "the document is written in another script than English"}
	case other >= 6 && other > english, other >= 4 && english < 2 && words >= 20:
		return &Failure{Reason: NotEnglish, Detail: "the document is written in another language than English"}
	}
	return nil
}

// Words of documents that name analytes and are no lab reports.
var otherDocuments = []*regexp.Regexp{
	regexp.MustCompile(`\b(?:invoices?|receipts?|amount due|total due|sub-?total|unit price|prices?|price list|qty|quantity|vat|sales tax|bill to|balance due|payments?|payable|discounts?|fees?|charges?|cpt|due date|per test)\b|[$£€₹]\s?\d|\b(?:usd|eur|gbp|rs\.?)\s?\d|\d\s?(?:usd|eur|gbp)\b`),
	regexp.MustCompile(`\b(?:nutrition facts|nutritional? information|nutrition|serving size|servings?|calories|daily value|saturated|saturates|trans fat|dietary fib(?:er|re)|(?:added )?sugars|total fat|carbohydrates?|kcal|kj|per 100 ?(?:g|ml)|ingredients)\b`),
	regexp.MustCompile(`\b(?:ingredients|preheat\w*|tablespoons?|tbsp|teaspoons?|tsp|cups?|oven|bake\w*|stir|simmer|recipe|serves|servings|garnish|chopped|pinch|whisk|boil)\b`),
}

// looksForeign reports whether a document has at least three words of another kind of
// document.
func looksForeign(doc Document) bool {
	var all strings.Builder
	for _, p := range doc.Pages {
		for _, w := range p.Words {
			all.WriteString(strings.ToLower(w.Text))
			all.WriteByte(' ')
		}
	}
	for _, words := range otherDocuments {
		found := map[string]bool{}
		for _, word := range words.FindAllString(all.String(), -1) {
			found[strings.TrimRight(word, "0123456789 s")] = true
		}
		if len(found) >= 3 {
			return true
		}
	}
	return false
}
