package documents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/pdfs"
	"hale/internal/labs/results"
	"hale/internal/platform/store"
)

// Reports returns the report of an order's results.
//
// Reference 1.14, GET /v3/order/{order_id}/result/pdf.
type Reports struct{}

// ResultPDF returns the report of a revision: the lab's own document, or a
// rendered one. A revision that is not the newest says so on every page.
func (Reports) ResultPDF(ctx context.Context, tx *store.Tx, o *orders.Order, r *results.Revision) ([]byte, error) {
	if r.HasPDF {
		own, err := results.PDF(ctx, tx, o, r.Number)
		if err != nil || r.ReplacedBy == 0 {
			return own, err
		}
		if marked, err := pdfs.Stamp(own, replacedBanner(r)); err == nil {
			return marked, nil
		}
	}
	s, err := NewSubject(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	return s.Report(r)
}

// Report renders the results: the value, unit, range, flag and notes of each,
// then the missing results and the laboratories.
func (s *Subject) Report(r *results.Revision) ([]byte, error) {
	sites := laboratories(r)
	frame := s.frame("LABORATORY REPORT, continued   "+finality(r), s.sampleLines(r)...)
	frame.banner, frame.laboratory = replacedBanner(r), laboratoryLine(s.reportingLaboratory(r, sites))
	p := newLetterDocument("Laboratory report", frame, r.CreatedAt)
	s.reportHead(p, r, sites)
	s.writeResults(p, r, sites)
	s.writeMissing(p, r)
	if len(r.Comments) > 0 {
		p.heading("Comments")
		for _, c := range r.Comments {
			p.paragraph(c, normalSize, "")
		}
	}
	writeLaboratories(p, sites)
	p.paragraph("Flags: H above the range, L below the range, HH and LL critical, A abnormal, AA critical.", smallSize, "")
	return p.output()
}

// replacedBanner returns the text at the top of every page of a revision that
// is not the newest; empty for the newest.
func replacedBanner(r *results.Revision) string {
	if r.ReplacedBy == 0 {
		return ""
	}
	return fmt.Sprintf("REPLACED by version %d of these results - do not use version %d", r.ReplacedBy, r.Number)
}

// finality says in words how final the results are.
func finality(r *results.Revision) string {
	switch {
	case r.ReplacedBy > 0:
		return fmt.Sprintf("REPLACED BY VERSION %d", r.ReplacedBy)
	case r.Corrected && r.Status == results.Partial:
		return "CORRECTED, PARTIAL - more results will follow"
	case r.Corrected:
		return "CORRECTED - replaces earlier reports"
	case r.Status == results.Partial:
		return "PARTIAL - more results will follow"
	}
	return "FINAL"
}

// reportingLaboratory returns the laboratory that sent the report. The data that
// the report lacks are those of the sites and of the catalogue.
func (s *Subject) reportingLaboratory(r *results.Revision, sites []site) networks.Laboratory {
	lab := networks.Laboratory{Name: r.Laboratory, CLIA: r.CLIA}
	known := s.laboratory()
	if lab.Name == "" || lab.Name == known.Name || len(sites) == 0 {
		lab.Name = cmp.Or(lab.Name, known.Name)
		lab.CLIA, lab.Phone, lab.Address = cmp.Or(lab.CLIA, known.CLIA), known.Phone, known.Address
	}
	for _, other := range sites {
		if other.Name == lab.Name || lab.CLIA != "" && other.CLIA == lab.CLIA {
			lab.CLIA, lab.Phone = cmp.Or(lab.CLIA, other.CLIA), cmp.Or(other.Phone, lab.Phone)
			if other.Address != nil {
				lab.Address = other.Address
			}
		}
	}
	if lab.Address == nil {
		lab.Address = known.Address
	}
	return lab
}

// sampleLines describes the samples for the top of later pages.
func (s *Subject) sampleLines(r *results.Revision) (lines []string) {
	for _, sample := range r.UsedSamplesFirst()[:min(len(r.Samples), 3)] {
		sp := sample.Specimen
		lines = append(lines, joinNonEmpty(" · ", labelledValue("Sample", sampleNumber(sample)), labelledValue("Specimen", cmp.Or(sp.Type, s.specimenNames())),
			labelledValue("Collected", s.moment(sp.Collected)), labelledValue("Received", s.moment(sp.Received)), labelledValue("Reported", s.reported(r, sp))))
	}
	if lines == nil {
		lines = []string{joinNonEmpty(" · ", labelledValue("Specimen", s.specimenNames()), labelledValue("Reported", s.minute(r.CreatedAt)))}
	}
	return lines
}

// reported returns the time of the report: that of the laboratory or, without
// one, that of this version.
func (s *Subject) reported(r *results.Revision, sp networks.Specimen) string {
	return cmp.Or(s.moment(sp.Reported), s.minute(r.CreatedAt))
}

func (s *Subject) reportHead(p *pdfDocument, r *results.Revision, sites []site) {
	o := &s.Full
	p.writeLine(margin, p.y+14, 15, "B", printableText("LABORATORY REPORT"))
	state := printableText(finality(r))
	p.writeLine(pageWidth-margin-p.textWidth(11, "B", state), p.y+14, 11, "B", state)
	p.y += 20
	p.paragraph(laboratoryLine(s.reportingLaboratory(r, sites)), normalSize, "")
	p.y += 2
	p.fields(3,
		field{"Patient", lastFirst(o.Patient)}, field{"Date of birth", formatBirth(o.Patient)}, field{"Sex", label(o.Patient.Gender)}, field{"Patient ID", o.Patient.ID.String()},
		field{"Control number", s.Order.SampleID}, field{"Ordered", s.minute(o.PlacedAt)}, field{"Physician", joinNonEmpty(", ", o.Physician.LastName, o.Physician.FirstName)}, field{"Account", account(s, r)},
		field{"Panel", s.Facts.Test.Name}, field{"Report version", fmt.Sprint(r.Number)}, field{"Version made", s.minute(r.CreatedAt)}, field{"Overall", label(r.Interpretation)},
	)
	p.practice(o.Practice)
	if reported := r.Patient; reported != (networks.ReportedPatient{}) {
		born := ""
		if !reported.DOB.IsZero() {
			born = formatDay(reported.DOB.In(time.UTC))
		}
		p.fields(3,
			field{"Patient as reported", joinNonEmpty(", ", reported.LastName, reported.FirstName)}, field{"Date of birth as reported", born}, field{"Sex as reported", label(reported.Gender)},
		)
	}
	for _, review := range r.Reviews {
		p.paragraph(joinNonEmpty(" ", fmt.Sprintf("A person assigned a report to this order: %s, %s.", review.By, s.minute(review.At)), confirmedDifferences(review), review.Note), smallSize+1, "")
	}
	for _, warning := range r.Warnings {
		p.paragraph("Attention: "+warning.Message(), smallSize+1, "")
	}
	for _, sample := range r.UsedSamplesFirst() {
		sp := sample.Specimen
		fasting := ""
		if sp.Fasting != nil {
			fasting = yesNo(*sp.Fasting)
		}
		p.fields(3, field{"Sample", sampleNumber(sample)}, field{"Specimen", cmp.Or(sp.Type, s.specimenNames())}, field{"Fasting", fasting},
			field{"Collected", s.moment(sp.Collected)}, field{"Received", s.moment(sp.Received)}, field{"Reported", s.reported(r, sp)})
		if about := joinNonEmpty("; ", sp.Volume, sp.Information); about != "" {
			p.paragraph(about, smallSize+1, "")
		}
	}
}

func account(s *Subject, r *results.Revision) string {
	if r.Account != "" {
		return r.Account
	}
	return s.Full.Account.Number
}

// site is a laboratory that performed tests, with its key in the results.
type site struct {
	key string
	networks.Laboratory
}

// laboratories lists the laboratories that performed tests, sorted by key.
func laboratories(r *results.Revision) []site {
	var all []site
	for _, sample := range r.Samples {
		for key, lab := range sample.Laboratories {
			if !slices.ContainsFunc(all, func(s site) bool { return s.key == key }) {
				all = append(all, site{key, lab})
			}
		}
	}
	slices.SortFunc(all, func(a, b site) int { return strings.Compare(a.key, b.key) })
	return all
}

// writeResults writes the table of results, under the marker that each belongs
// to.
func (s *Subject) writeResults(p *pdfDocument, r *results.Revision, sites []site) {
	p.heading("Results")
	if len(r.Results) == 0 {
		p.paragraph("There are no results yet.", normalSize, "")
		return
	}
	var rows []row
	group, several := "", severalReadings(r)
	for i := range r.Results {
		one := &r.Results[i]
		if owner := markerName(one); owner != group {
			group = owner
			rows = append(rows, row{title: owner})
		}
		abnormal := one.Interpretation == orders.Abnormal || one.Interpretation == orders.Critical
		name := one.Name
		if mark := statusMark(one); mark != "" {
			name += " (" + mark + ")"
		}
		rows = append(rows, row{cells: []cell{
			{words: name},
			{words: one.Text, bold: abnormal},
			{words: flagOf(one), bold: true},
			{words: printedUnit(one.Unit)},
			{words: one.Range.Text},
			{words: siteNumber(sites, one.Laboratory)},
		}})
		if note := s.sampleNote(r, one.Sample); note != "" {
			rows = append(rows, row{note: note})
		}
		if several[readingOf(one)] && !one.At.Time.IsZero() {
			rows = append(rows, row{note: labelledValue("Observed", s.moment(one.At))})
		}
		if p := one.Previous; p != nil {
			rows = append(rows, row{note: joinNonEmpty("; ", s.previousNote(p), otherContext(p, one))})
		}
		if note := one.ConflictNote(); note != "" {
			rows = append(rows, row{note: note})
		}
		for _, note := range one.Notes {
			if note != one.Text {
				rows = append(rows, row{note: note})
			}
		}
	}
	p.table([]column{{"Test", 3.6}, {"Result", 2}, {"Flag", 0.7}, {"Units", 1.9}, {"Reference", 2}, {"Lab", 0.5}}, rows)
}

// sampleNumber returns the number of a sample. A sample without one may have its
// material or time as its key.
func sampleNumber(sample results.Sample) string {
	if sp := sample.Specimen; sp.Number == "" && sample.Key == sp.Key() {
		return ""
	}
	return cmp.Or(sample.Specimen.Number, sample.Key)
}

// sampleNote names the sample of a value, if the report has several.
func (s *Subject) sampleNote(r *results.Revision, key string) string {
	i := slices.IndexFunc(r.Samples, func(sample results.Sample) bool { return sample.Key == key })
	if len(r.Samples) < 2 || i < 0 {
		return ""
	}
	sample := r.Samples[i]
	return joinNonEmpty(" · ", labelledValue("Specimen", sample.Specimen.Type), labelledValue("Sample", sampleNumber(sample)), labelledValue("Collected", s.moment(sample.Specimen.Collected)))
}

// reading is a code in one sample.
type reading struct{ name, code, sample string }

func readingOf(r *results.Result) reading { return reading{r.Name, r.ProviderID, r.Sample} }

// severalReadings finds the codes with values of different times in one sample.
func severalReadings(r *results.Revision) map[reading]bool {
	first, several := map[reading]time.Time{}, map[reading]bool{}
	for i := range r.Results {
		key, at := readingOf(&r.Results[i]), r.Results[i].At.Time
		if before, known := first[key]; known && !before.Equal(at) {
			several[key] = true
		}
		first[key] = at
	}
	return several
}

// markerName returns the title over a result: the ordered marker.
func markerName(r *results.Result) string {
	if len(r.Markers) == 0 {
		return "Reflex and other results, not ordered"
	}
	return r.Markers[0].Name
}

// flagOf returns the lab's flag, or ours where the lab gave none. A normal value
// has none.
func flagOf(r *results.Result) string {
	yes := func(b *bool) bool { return b != nil && *b }
	sent, _ := hl7.FindFlag(r.Flag)
	overruled := slices.Contains([]results.Conflict{results.NormalOutsideRange, results.NormalBeyondLimit, results.CriticalInNote}, r.Conflict)
	if r.Flag != "" && sent.Code != hl7.FlagNormal && !overruled {
		return r.Flag
	}
	if flag := hl7.FlagFor(string(r.Interpretation), yes(r.Above), yes(r.Below)); flag != hl7.FlagNormal {
		return flag
	}
	return ""
}

// statusMark marks a value that is preliminary or corrected. Revisions of
// earlier versions have only the letter of HL7 table 0085.
func statusMark(r *results.Result) string {
	switch {
	case r.Finality == results.PreliminaryValue, r.Finality == "" && r.Status == "P":
		return "preliminary"
	case r.Finality == results.CorrectedValue, r.Finality == "" && r.Status == "C":
		return "corrected"
	}
	return ""
}

// previousNote shows the value that another one replaces.
func (s *Subject) previousNote(p *results.Previous) string {
	text := joinNonEmpty(" ", "Previously reported:", p.Text, printedUnit(p.Unit))
	if p.Interpretation == orders.Abnormal || p.Interpretation == orders.Critical {
		text += ", " + label(p.Interpretation)
	}
	return fmt.Sprintf("%s (%s, %s)", text, p.Finality, s.minute(p.ReportedAt))
}

// otherContext shows the flag, the range and the notes of an earlier value that the
// current one changes.
func otherContext(p *results.Previous, now *results.Result) string {
	flag, reference, notes := p.Flag, p.Range, strings.Join(p.Notes, "; ")
	if flag == now.Flag {
		flag = ""
	} else if flag == "" && p.Text == now.Text {
		flag = "none"
	}
	if reference == now.Range.Text {
		reference = ""
	}
	if p.Text != now.Text || notes == strings.Join(now.Notes, "; ") {
		notes = ""
	}
	return joinNonEmpty("; ", labelledValue("flag then", flag), labelledValue("reference then", reference), labelledValue("note then", notes))
}

func siteNumber(sites []site, key string) string {
	if i := slices.IndexFunc(sites, func(s site) bool { return s.key == key }); i >= 0 {
		return fmt.Sprint(i + 1)
	}
	return ""
}

// writeMissing lists the missing results with the reasons.
func (s *Subject) writeMissing(p *pdfDocument, r *results.Revision) {
	if len(r.Missing) == 0 {
		return
	}
	title := "Not reported"
	if r.Status == results.Partial {
		title = "Not reported so far"
	}
	p.heading(title)
	var rows []row
	for _, m := range r.Missing {
		rows = append(rows, row{cells: []cell{{words: m.Name}, {words: label(m.Failure)}, {words: m.Note}}})
		if p := m.Previous; p != nil {
			rows = append(rows, row{note: joinNonEmpty("; ", "Withdrawn by the laboratory "+s.minute(m.WithdrawnAt), s.previousNote(p), labelledValue("flag then", p.Flag))})
		}
		if note := s.sampleNote(r, m.Sample); note != "" {
			rows = append(rows, row{note: note})
		}
	}
	p.table([]column{{"Test", 3}, {"Reason", 2.5}, {"Laboratory's note", 3.5}}, rows)
}

// writeLaboratories lists the laboratories that performed tests, with the data
// that the law requires on a report: name, address, CLIA number and director.
func writeLaboratories(p *pdfDocument, sites []site) {
	if len(sites) == 0 {
		return
	}
	p.heading("Testing performed at")
	for i, lab := range sites {
		director := lab.Director
		if director != "" {
			director = "Director: " + director
		}
		p.point(fmt.Sprintf("%d", i+1), joinNonEmpty(" · ", laboratoryLine(lab.Laboratory), director))
	}
}

func clia(number string) string {
	if number == "" {
		return ""
	}
	return "CLIA " + number
}

// confirmedDifferences says how the person on a report differs from the
// patient, and that the reviewer confirmed the identity.
func confirmedDifferences(r results.Review) string {
	if len(r.Confirmed) == 0 {
		return ""
	}
	words := make([]string, len(r.Confirmed))
	for i, d := range r.Confirmed {
		words[i] = strings.ReplaceAll(string(d), "_", " ")
	}
	return "Identity confirmed despite: " + strings.Join(words, ", ") + "."
}
