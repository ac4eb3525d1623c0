package sandboxlab

import (
	"bytes"
	"fmt"

	"codeberg.org/go-pdf/fpdf"
)

// columns of the report, in millimetres.
var columns = []struct {
	title string
	width float64
}{{"Test", 78}, {"Result", 42}, {"Flag", 14}, {"Unit", 24}, {"Range", 28}}

// pdf prints the lab's own report. The same results are the same bytes.
func (s scene) pdf(rows []row) ([]byte, error) {
	doc := fpdf.New("P", "mm", "Letter", "")
	doc.SetCreationDate(s.Due)
	doc.SetModificationDate(s.Due)
	doc.SetCatalogSort(true)
	doc.SetTitle("Laboratory report", true)
	latin := doc.UnicodeTranslatorFromDescriptor("") // what the built-in fonts can show
	doc.AddPage()
	line := func(style string, size, height float64, text string) {
		doc.SetFont("Helvetica", style, size)
		doc.CellFormat(0, height, latin(text), "", 1, "L", false, 0, "")
	}
	p := s.whole.Patient
	if s.Step.Outcome.Stranger {
		p = stranger
	}
	title := "Laboratory report"
	if s.Step.Outcome.Corrected {
		title = "Laboratory report, corrected"
	}
	line("B", 16, 9, title)
	line("", 9, 5, "Invented by a sandbox. Not for clinical use.")
	line("", 10, 6, fmt.Sprintf("Patient: %s, %s    Born: %s    Sex: %s", p.LastName, p.FirstName, p.DOB, p.Gender))
	line("", 10, 6, fmt.Sprintf("Sample: %s    Account: %s    Reported: %s", sampleNumber(&s.order), s.whole.Account.Number, s.Due.UTC().Format("2006-01-02 15:04 MST")))
	doc.Ln(3)
	table(doc, latin, rows)
	var out bytes.Buffer
	if err := doc.Output(&out); err != nil {
		return nil, fmt.Errorf("printing the report: %w", err)
	}
	return out.Bytes(), nil
}

func table(doc *fpdf.Fpdf, latin func(string) string, rows []row) {
	doc.SetFont("Helvetica", "B", 9)
	for _, c := range columns {
		doc.CellFormat(c.width, 6, c.title, "B", 0, "L", false, 0, "")
	}
	doc.Ln(-1)
	for _, r := range rows {
		value := r.value
		if r.missing {
			value = "not performed"
		}
		doc.SetFont("Helvetica", "", 9)
		if r.flag != "" {
			doc.SetFont("Helvetica", "B", 9)
		}
		for i, text := range []string{r.expected.Name, value, r.flag, r.unit, r.bounds} {
			doc.CellFormat(columns[i].width, 5, latin(text), "", 0, "L", false, 0, "")
		}
		doc.Ln(-1)
	}
}
