package documents

import (
	"time"

	"hale/internal/labs/networks"
)

// LabReport is a report as the sandbox laboratory prints it. Everything in it
// is invented, which every page says.
type LabReport struct {
	// Laboratory performed all tests.
	Laboratory networks.Laboratory
	// Patient is the person of the sample according to the laboratory.
	Patient networks.Patient
	// Number is the number on the sample.
	Number                        string
	Collected, Received, Reported time.Time
	Corrected                     bool
	Lines                         []LabReportLine
}

// LabReportLine is one result.
type LabReportLine struct {
	Test, Name, Value, Flag, Unit, Range, Note string
}

// LabReport renders the sandbox laboratory's own report of the order.
//
// 42 CFR 493.1291(c).
func (s *Subject) LabReport(r LabReport) ([]byte, error) {
	state := "FINAL"
	if r.Corrected {
		state = "CORRECTED - replaces earlier reports"
	}
	whole := *s
	whole.Full.Patient, whole.Order.SampleID = r.Patient, r.Number
	frame := whole.frame("LABORATORY REPORT, continued   "+state,
		joinNonEmpty(" · ", labelledValue("Specimen", s.specimenNames()), labelledValue("Collected", s.minute(r.Collected)),
			labelledValue("Received", s.minute(r.Received)), labelledValue("Reported", s.minute(r.Reported))))
	frame.banner = "SANDBOX - invented by the sandbox laboratory, not for clinical use"
	frame.laboratory = laboratoryLine(r.Laboratory)
	p := newLetterDocument("Laboratory report", frame, r.Reported)
	whole.labReportHead(p, r, state)
	writeLines(p, r.Lines)
	p.heading("Testing performed at")
	p.point("1", joinNonEmpty(" · ", laboratoryLine(r.Laboratory), labelledValue("Director", r.Laboratory.Director)))
	p.paragraph("Flags: H above the range, L below the range, HH and LL critical, A abnormal, AA critical.", smallSize, "")
	return p.output()
}

func (s *Subject) labReportHead(p *pdfDocument, r LabReport, state string) {
	o := &s.Full
	p.writeLine(margin, p.y+14, 15, "B", printableText("LABORATORY REPORT"))
	t := printableText(state)
	p.writeLine(pageWidth-margin-p.textWidth(11, "B", t), p.y+14, 11, "B", t)
	p.y += 20
	p.paragraph(laboratoryLine(r.Laboratory), normalSize, "")
	p.y += 2
	p.fields(3,
		field{"Patient", lastFirst(o.Patient)}, field{"Date of birth", formatBirth(o.Patient)}, field{"Sex", label(o.Patient.Gender)},
		field{"Patient ID", o.Patient.ID.String()}, field{"Control number", r.Number}, field{"Ordered", s.minute(s.Order.CreatedAt)},
		field{"Physician", joinNonEmpty(", ", o.Physician.LastName, o.Physician.FirstName)}, field{"Account", joinNonEmpty(", ", o.Account.Number, o.Account.Name)}, field{"Fasting", yesNo(o.Fasting)},
		field{"Specimen", s.specimenNames()}, field{"Collected", s.minute(r.Collected)}, field{"Received", s.minute(r.Received)},
		field{"Reported", s.minute(r.Reported)},
	)
	p.practice(o.Practice)
}

// writeLines writes the table of results, under the test that each belongs to.
func writeLines(p *pdfDocument, lines []LabReportLine) {
	p.heading("Results")
	var rows []row
	group := ""
	for _, l := range lines {
		if l.Test != group {
			group = l.Test
			rows = append(rows, row{title: l.Test})
		}
		rows = append(rows, row{cells: []cell{
			{words: l.Name}, {words: l.Value, bold: l.Flag != ""}, {words: l.Flag, bold: true}, {words: printedUnit(l.Unit)}, {words: l.Range},
		}})
		if l.Note != "" {
			rows = append(rows, row{note: l.Note})
		}
	}
	p.table([]column{{"Test", 3.6}, {"Result", 2.2}, {"Flag", 0.7}, {"Units", 2}, {"Reference", 2}}, rows)
}
