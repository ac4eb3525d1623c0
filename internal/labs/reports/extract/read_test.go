package extract

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// printedPage places lines of text in a monospaced font: a column is 6 points wide, a
// line 12 points high.
func printedPage(source Source, lines ...string) Page {
	p := Page{Number: 1, Width: 600, Height: 800, Source: source}
	for y, line := range lines {
		x := 0
		for _, part := range strings.SplitAfter(line, " ") {
			if word := strings.TrimSpace(part); word != "" {
				p.Words = append(p.Words, Word{Text: word, Confidence: 0.95, Box: Box{X: 20 + float64(x)*5, Y: 20 + float64(y)*12, Width: float64(len([]rune(word))) * 5, Height: 10}})
			}
			x += len([]rune(part))
		}
	}
	return p
}

var head = []string{
	"NORTHWIND LABORATORY                                                       ",
	"Patient: Mara Quillfeather      DOB: 1980-03-04     Sex: F                  ",
	"Collected: 2024-05-06           Reported: 2024-05-07                        ",
	"",
	"Test                       Result      Flag   Reference range     Units     ",
}

func read(t *testing.T, source Source, lines ...string) Result {
	t.Helper()
	result, err := Read(Document{Pages: []Page{printedPage(source, append(slices.Clone(head), lines...)...)}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func find(t *testing.T, result Result, name string) Row {
	t.Helper()
	for _, row := range result.Rows {
		if row.Name == name {
			return row
		}
	}
	t.Fatalf("%s is not among %+v", name, result.Rows)
	return Row{}
}

func TestReadRows(t *testing.T) {
	result := read(t, FromText,
		"Sodium                     141                135-145             mmol/L    ",
		"Potassium                  5.9         H      3.5-5.1             mmol/L    ",
		"C-Reactive Protein         <3.0               <5.0                mg/L      ",
		"Hemoglobin                 12.1               M: 13.2-17.1        g/dL      ",
		"                                              F: 11.7-15.5                  ",
		"Zonulin Family Peptide     38.0               <45.0               ng/mL     ",
		"HIV Ag/Ab, 4th Gen         Non-Reactive       Non-Reactive                  ",
	)
	m := result.Metadata
	if m.FirstName != "Mara" || m.LastName != "Quillfeather" || m.BirthDate != "1980-03-04" || m.Gender != "female" || m.CollectedDate != "2024-05-06" || m.ReportedDate != "2024-05-07" || m.Lab != "NORTHWIND LABORATORY" {
		t.Errorf("metadata is %+v", m)
	}
	if row := find(t, result, "Sodium"); *row.Number != 141 || row.UCUM != "mmol/L" || row.Interpretation != "normal" || row.NeedsReview || row.Matches[0].Code != "2951-2" || row.Status != AutoMatch {
		t.Errorf("%+v", row)
	}
	if row := find(t, result, "Potassium"); row.Flag != "H" || row.Interpretation != "abnormal" || !row.AboveMax || row.NeedsReview {
		t.Errorf("%+v", row)
	}
	if row := find(t, result, "C-Reactive Protein"); row.Type != Ranged || row.Comparator != "<" || row.Interpretation != "normal" {
		t.Errorf("%+v", row)
	}
	if row := find(t, result, "Hemoglobin"); row.Range.Kind != RangeSexed || *row.Range.Min != 11.7 || *row.Range.Max != 15.5 || row.Interpretation != "normal" || len(row.Range.Choices) != 2 {
		t.Errorf("%+v", row)
	}
	if row := find(t, result, "Zonulin Family Peptide"); row.Status != NoMatch || *row.Number != 38 || row.Unit != "ng/mL" {
		t.Errorf("an unknown analyte is %+v", row)
	}
	if row := find(t, result, "HIV Ag/Ab, 4th Gen"); row.Type != Boolean || row.Interpretation != "normal" || row.Range.Kind != RangeWords {
		t.Errorf("%+v", row)
	}
}

func TestReasonsForReview(t *testing.T) {
	result := read(t, FromText,
		"Sodium                     1410               135-145             mmol/L    ",
		"Potassium                  4.1         H      3.5-5.1             mmol/L    ",
		"Calcium                    9.4                8.6-10.3                      ",
		"Glucose                    95                 65-99               mm/h      ",
		"Chloride                   101         L      98-110              mmol/L    ",
		"Magnesium                  2.0                1.5_2.5             mg/dL     ",
	)
	for name, reason := range map[string]Reason{
		"Sodium": Implausible, "Potassium": FlagDisagrees, "Calcium": UnitMissing, "Glucose": UnitConflict, "Chloride": FlagDisagrees, "Magnesium": RangeUnreadable,
	} {
		if row := find(t, result, name); !row.NeedsReview || !slices.Contains(row.Reasons, reason) {
			t.Errorf("%s has the reasons %v, want %s", name, row.Reasons, reason)
		}
	}
}

func TestTwoReadings(t *testing.T) {
	first := printedPage(FromOCR, append(slices.Clone(head),
		"Sodium                     141                135-145             mmol/L    ",
		"Potassium                  4.9                3.5-5.1             mmol/L    ",
		"Calcium                    9.4                8.6-10.3            mg/dL     ")...)
	second := printedPage(FromOCR, append(slices.Clone(head),
		"Sodium                     141                135-145             mmol/L    ",
		"Potassium                  49                 3.5-5.1             mmol/L    ")...)
	first.Second = second.Words
	result, err := Read(Document{Pages: []Page{first}})
	if err != nil {
		t.Fatal(err)
	}
	if row := find(t, result, "Sodium"); row.NeedsReview {
		t.Errorf("two equal readings: %+v", row)
	}
	if row := find(t, result, "Potassium"); row.Value != "4.9" || !slices.Contains(row.Reasons, ReadingsDisagree) {
		t.Errorf("two different readings: %+v", row)
	}
	if row := find(t, result, "Calcium"); !slices.Contains(row.Reasons, ReadOnce) {
		t.Errorf("one reading: %+v", row)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		reason FailureReason
		lines  []string
	}{
		{"nothing", InvalidInput, nil},
		{"a letter", InvalidInput, []string{"Dear Ms Quillfeather,", "thank you for your order of 12 chairs and 3 tables.", "They will arrive on 4 May 2025.", "Yours sincerely"}},
		{"an invoice", InvalidInput, []string{"Invoice            Number 2024", "Item               Price     Amount", "Chair              12.00     3", "Table              90.00     1", "Total              126.00"}},
		{"an invoice of tests", InvalidInput, []string{"NORTHWIND LABORATORY     INVOICE 2024-11", "Bill to: Mara Quillfeather     Date: 2024-05-06", "Test                 Qty      Unit price    Amount", "Glucose              1        12.00         $12.00", "Sodium               1        14.00         $14.00", "Potassium            2        9.50          $19.00", "Total due                                   $45.00"}},
		{"a list of prices", InvalidInput, []string{"Northwind Laboratory", "Price list 2024", "Glucose          12.00", "Sodium           14.00", "Potassium         9.50", "Ferritin         22.00"}},
		{"bare numbers", InvalidInput, []string{"Stock on hand", "Glucose          12", "Sodium           14", "Potassium         9", "Ferritin         22"}},
		{"a label of food", InvalidInput, []string{"Nutrition Facts", "Serving size 1 cup (30 g)", "Calories 120", "Total Fat         2 g         3%", "Cholesterol       10 mg       3%", "Sodium            160 mg      7%", "Protein           3 g", "Calcium           260 mg      20%", "Iron              8 mg        45%", "Potassium         240 mg      6%"}},
		{"a recipe", InvalidInput, []string{"Recipe: bread with seeds", "Ingredients: 2 cups flour, 1 tsp salt, 1 tablespoon oil", "Preheat the oven and bake for 40 minutes.", "Per slice: Sodium 340 mg, Potassium 120 mg, Protein 8 g, Iron 2 mg.", "Glucose 5 g, Cholesterol 12 mg."}},
		{"French", NotEnglish, []string{"Laboratoire de biologie médicale", "Nom: Dupont   Prénom: Marie   Date de naissance: 04/05/1970", "Analyse      Résultat    Unités     Valeurs de référence", "Hématies     4,5  T/L  4,0 - 5,4", "Leucocytes   6,1  G/L  4,0 - 10,0", "Créatinine   70   µmol/L  50 - 90"}},
		{"German", NotEnglish, []string{"Labor Dr. Beispiel     Befund", "Patient: Muster   Geburtsdatum: 04.05.1970   Geschlecht: w", "Untersuchung   Ergebnis   Einheit   Referenzbereich", "Leukozyten   6,1  /nl  4,0 - 10,0", "Kreatinin   0,9   mg/dl   und der Normbereich ist 0,5 - 0,9"}},
		{"Russian", NotEnglish, []string{"Лаборатория Пример", "Пациент Иванов Дата рождения 04.05.1970", "Исследование Результат Единицы Норма", "Гемоглобин 140 г/л 120 - 160"}},
	} {
		_, err := Read(Document{Pages: []Page{printedPage(FromText, c.lines...)}})
		var failure *Failure
		if !errors.As(err, &failure) || failure.Reason != c.reason || failure.Detail == "" {
			t.Errorf("%s: %v, want %s", c.name, err, c.reason)
		}
	}
}

func TestNewestOfSeveralDates(t *testing.T) {
	page := printedPage(FromText,
		"Name: Mara Quillfeather        Collected: 2024-05-06                          ",
		"Test              06 Jan 2024    06 May 2024    06 Mar 2024    Units    Range    ",
		"Sodium            139            141            140            mmol/L   135-145  ",
		"Potassium         4.0            -              4.4            mmol/L   3.5-5.1  ")
	result, err := Read(Document{Pages: []Page{page}})
	if err != nil {
		t.Fatal(err)
	}
	if row := find(t, result, "Sodium"); row.Value != "141" || row.NeedsReview {
		t.Errorf("%+v", row)
	}
	for _, row := range result.Rows {
		if row.Name == "Potassium" && !row.NeedsReview {
			t.Errorf("an older result replaces the newest: %+v", row)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	page := readWords(b, "testdata/corpus/methods-chromium.words")
	for b.Loop() {
		if _, err := Read(Document{Pages: []Page{page}}); err != nil {
			b.Fatal(err)
		}
	}
}

// A scan whose words are not sure is refused as such, in any language. The lines of a
// poor scan do not make it foreign.
func TestPoorScans(t *testing.T) {
	scan := func(confidence float64, lines ...string) Document {
		p := Page{Number: 1, Width: 600, Height: 800, Source: FromOCR}
		for i, line := range lines {
			for j, text := range strings.Fields(line) {
				p.Words = append(p.Words, Word{Text: text, Confidence: confidence, Box: Box{X: float64(40 + 80*j), Y: float64(40 + 20*i), Width: 60, Height: 10}})
			}
		}
		return Document{Pages: []Page{p}}
	}
	noise := []string{"o e os de la", "ee de os o y", "Hxm oa de e 1"}
	for _, c := range []struct {
		name   string
		doc    Document
		reason FailureReason
	}{
		{"noise", scan(0.3, noise...), LowQuality},
		{"a letter", scan(0.9, "thank you for your order", "of chairs and tables", "yours sincerely"), InvalidInput},
		{"French", scan(0.9, "résultat résultats valeurs référence", "unités nom prénom naissance"), NotEnglish},
		{"lines of tables", scan(0.9, noise...), InvalidInput},
	} {
		_, err := Read(c.doc)
		var failure *Failure
		if !errors.As(err, &failure) || failure.Reason != c.reason {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Words that contradict an expected word are abnormal, a second number in a cell needs
// review, and results of fluids get no code of blood.
func TestAnswersAndSecondNumbers(t *testing.T) {
	result := read(t, FromText,
		"Hepatitis C Antibody       Reactive           Non-reactive                  ",
		"Chlamydia DNA              DETECTED           Not detected                  ",
		"HIV 1/2 Antigen/Antibody   Non-reactive       Negative                      ",
		"Pregnancy Test             POS                Neg                           ",
		"Sodium                     139 / 141          135-145             mmol/L    ",
		"Potassium                  4.1                3.5-5.1             mmol/L    ",
		"Chloride                   101 (99)           98-107              mmol/L    ",
		"eGFR                       91                 >59                 mL/min/1.73",
		"Cerebrospinal fluid                                                         ",
		"Glucose                    32                 40-70               mg/dL     ",
	)
	for name, want := range map[string]string{
		"Hepatitis C Antibody": "abnormal", "Chlamydia DNA": "abnormal", "HIV 1/2 Antigen/Antibody": "normal", "Pregnancy Test": "abnormal",
	} {
		if row := find(t, result, name); row.Interpretation != want {
			t.Errorf("%s %s is %s, want %s", name, row.Value, row.Interpretation, want)
		}
	}
	for name, want := range map[string]bool{"Sodium": true, "Potassium": false, "Chloride": true, "eGFR": false} {
		if row := find(t, result, name); slices.Contains(row.Reasons, ColumnUncertain) != want {
			t.Errorf("%s %s: %v", name, row.Value, row.Reasons)
		}
	}
	if row := find(t, result, "Glucose"); row.Status == AutoMatch || row.SampleType != "other" {
		t.Errorf("glucose of a fluid is %s of %s", row.Status, row.SampleType)
	}
}

// "Last" and "Now" are the previous and the current result.
func TestLastAndNow(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Analyte                    Last        Now         Units      Reference     ",
		"Potassium                  7.4         4.1         mmol/L     3.5-5.1       ",
		"Sodium                     139         127         mmol/L     135-145       ",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Potassium": "4.1", "Sodium": "127"} {
		if row := find(t, result, name); row.Value != want {
			t.Errorf("%s is %s, want %s", name, row.Value, want)
		}
	}
}

// Of times as columns the latest counts, and the row needs review for the others.
func TestTimesAsColumns(t *testing.T) {
	for _, header := range []string{
		"Test                       06:00       14:00       22:00      Units     Reference     ",
		"Test                       2:00 am     2:00 pm     10:00 pm   Units     Reference     ",
	} {
		result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]), header,
			"Potassium                  4.0         5.2 H       7.2 HH     mmol/L    3.5-5.1       ",
			"Sodium                                             139        mmol/L    135-145       ",
		)...)}})
		if err != nil {
			t.Fatal(err)
		}
		potassium, sodium := find(t, result, "Potassium"), find(t, result, "Sodium")
		if potassium.Value != "7.2" || potassium.Interpretation != "critical" || !slices.Contains(potassium.Reasons, ColumnUncertain) {
			t.Errorf("%s: %s %s %v", header, potassium.Value, potassium.Interpretation, potassium.Reasons)
		}
		if sodium.Value != "139" || sodium.NeedsReview {
			t.Errorf("%s: %s %v", header, sodium.Value, sodium.Reasons)
		}
	}
}
