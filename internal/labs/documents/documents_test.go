package documents

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/pdfs"
	"hale/internal/labs/results"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
)

var update = flag.Bool("update", false, "write the golden files")

// renderers returns a function for each document of an order.
func renderers(s *Subject, r *results.Revision) map[string]func() ([]byte, error) {
	return map[string]func() ([]byte, error){
		"requisition":  s.Requisition,
		"labels":       func() ([]byte, error) { return s.Labels(3, CollectionTime{collectedAt, true}) },
		"notice":       s.Notice,
		"instructions": s.Instructions,
		"report":       func() ([]byte, error) { return s.Report(r) },
	}
}

func mustRender(t testing.TB, render func() ([]byte, error)) []byte {
	t.Helper()
	body, err := render()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// Golden files hold the texts of the documents, line by line.
func TestDocumentTexts(t *testing.T) {
	for name, render := range renderers(subject(4), revision(12)) {
		t.Run(name, func(t *testing.T) {
			pages := read(t, mustRender(t, render))
			wantInside(t, pages)
			got := allText(pages)
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s says\n%s\nwant\n%s", name, got, want)
			}
		})
	}
}

func TestDocumentsAreStable(t *testing.T) {
	odd := subject(4)
	odd.Full.Patient.LastName = "Łukasiewicz Жук"
	for _, s := range []*Subject{subject(4), odd} {
		again := renderers(s, revision(12))
		for name, render := range renderers(s, revision(12)) {
			if first := mustRender(t, render); !bytes.Equal(first, mustRender(t, again[name])) {
				t.Errorf("%s is not the same twice", name)
			}
		}
	}
}

// Properties, titles and the object names of the file name no person.
func TestOnlyPagesNamePeople(t *testing.T) {
	s := subject(4)
	for name, render := range renderers(s, revision(12)) {
		outside := regexp.MustCompile(`(?s)stream\r?\n.*?endstream`).ReplaceAll(mustRender(t, render), nil)
		for _, text := range []string{"Ada", "Byron", "1984", "ada@", "M-1", "S0012345678"} {
			if bytes.Contains(outside, []byte(text)) {
				t.Errorf("%s has %q outside of its pages", name, text)
			}
		}
	}
	if pages := read(t, mustRender(t, s.Instructions)); strings.Contains(allText(pages), "Byron") {
		t.Error("the instructions, which lie in an open box, name the patient")
	}
}

func TestScanRequisition(t *testing.T) {
	pages := read(t, mustRender(t, subject(4).Requisition))
	if got := scan128(t, pages[0]); got != "S0012345678" {
		t.Errorf("the bar code reads %q", got)
	}
	for _, page := range read(t, mustRender(t, renderers(subject(4), nil)["labels"])) {
		if page.width != 162 || page.height != 90 {
			t.Errorf("a label is %v by %v points", page.width, page.height)
		}
		if got := scan128(t, page); got != "S0012345678" {
			t.Errorf("the label's bar code reads %q", got)
		}
	}
}

// Sixty markers, names of fifty letters and long notes need several pages. No text
// is lost or printed off the paper.
func TestLongOrders(t *testing.T) {
	s := subject(60)
	s.Full.Patient.FirstName = strings.Repeat("Wolfeschlegel", 4)[:50]
	s.Full.Patient.LastName = strings.Repeat("Steinhausenberg", 4)[:50]
	s.Full.Notes = strings.Repeat("A note that continues a lot. ", 35)
	s.Full.Account.Name = strings.Repeat("Unbroken", 30)
	s.Full.Practice.Name = strings.Repeat("Clinic of internal medicine ", 4)[:100]
	s.Facts.Lab.Name = strings.Repeat("Reference Laboratory of the Valley ", 6)[:200]
	for _, m := range s.Facts.Markers {
		m.Name = strings.Repeat("Immunoglobulin subclass ", 8)
	}
	for i := range s.Full.Tests {
		s.Full.Tests[i].Name += strings.Repeat(" of long name", 10)
	}
	r := revision(180)
	for i := range r.Results {
		r.Results[i].Name += strings.Repeat(" Dermatophagoides pteronyssinus", 4)
		r.Results[i].Unit, r.Results[i].Range.Text = strings.Repeat("[arb'U]/", 6)+"mL", strings.Repeat("0.00000-9.99999;", 4)
	}
	r.Results[5].Notes = []string{strings.Repeat("A comment of the laboratory. ", 120)}
	for name, render := range renderers(s, r) {
		pages := read(t, mustRender(t, render))
		wantInside(t, pages)
		said := allText(pages)
		switch name {
		case "requisition":
			wantTexts(t, pages, "70000", "70059", "Page 1 of", "LABORATORY REQUISITION, continued")
			if len(pages) < 3 || strings.Count(said, "continues") != 35 {
				t.Errorf("%d pages:\n%s", len(pages), said)
			}
		case "report":
			wantTexts(t, pages, "Analyte 180", "Marker number 18", "LABORATORY REPORT, continued")
			if len(pages) < 4 {
				t.Errorf("180 results have %d pages", len(pages))
			}
		case "labels":
			wantTexts(t, pages, "...")
		}
	}
}

func TestUnusualLetters(t *testing.T) {
	s := subject(2)
	s.Full.Patient.FirstName, s.Full.Patient.LastName = "Nguyễn Thị", "Łukasiewicz-Ólafsdóttir"
	s.Full.Physician.LastName = "Жукова"
	s.Full.Notes = "山 stands for a name; tab\there; (brackets) and \\ backslash; e\u0301 is one letter; \u202eright to left."
	pages := read(t, mustRender(t, s.Requisition))
	wantInside(t, pages)
	wantTexts(t, pages, "Łukasiewicz-Ólafsdóttir, Nguyễn Thị", "Жукова, Jane", "[U+5C71] stands for a name; tab here; (brackets) and \\ backslash; é is one letter; right to left.",
		"[U+...] is the Unicode code of a letter that this document cannot print")
	wantTexts(t, read(t, mustRender(t, renderers(s, nil)["labels"])), "Łukasiewicz")
}

func TestMissingDocuments(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *Subject)
		render func(s *Subject) ([]byte, error)
	}{
		"a requisition before the lab has the order": {func(s *Subject) { s.Facts.Events = s.Facts.Events[:1] }, (*Subject).Requisition},
		"a requisition of an imported order":         {func(s *Subject) { s.Facts.Events[1].Status = orders.RequisitionBypassed }, (*Subject).Requisition},
		"a requisition without a patient":            {func(s *Subject) { s.Order.Body.Patient = nil }, (*Subject).Requisition},
		"a notice that is not needed":                {func(s *Subject) { s.Order.HasABN = false }, (*Subject).Notice},
		"labels without a number":                    {func(s *Subject) { s.Order.SampleID = "" }, func(s *Subject) ([]byte, error) { return s.Labels(1, CollectionTime{placedAt, true}) }},
	} {
		s := subject(1)
		if _, err := test.render(s); err != nil {
			t.Errorf("%s: %v before the change", name, err)
		}
		test.change(s)
		if body, err := test.render(s); !fault.Is(err, fault.NotFound) || body != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLabelsOfTheSandboxHaveItsAccount(t *testing.T) {
	s := subject(1)
	wantTexts(t, read(t, mustRender(t, renderers(s, nil)["labels"])), "Acct A-77001", "Collected 03/06/2026 07:15 MST", "DOB 12/10/1984", "3/3")
	s.Full.Sandbox = true
	pages := read(t, mustRender(t, func() ([]byte, error) { return s.Labels(100, CollectionTime{collectedAt, true}) }))
	wantTexts(t, pages, "Acct 1234567890", "100/100")
	if len(pages) != 100 {
		t.Errorf("%d labels", len(pages))
	}
	s.Order.Network = orders.HL7TestNetwork
	wantTexts(t, read(t, mustRender(t, renderers(s, nil)["labels"])), "Acct A-77001")
}

// Every page of the documents of a cancelled order says so. Documents that leave the
// team are refused.
func TestCancelledOrders(t *testing.T) {
	for _, status := range []orders.Status{orders.Cancelled, orders.DoNotProcess} {
		s := subject(60)
		s.Order.Status, s.Order.StatusAt = status, placedAt.Add(20*time.Hour)
		for name, render := range renderers(s, revision(1)) {
			body, err := render()
			switch name {
			case "labels":
				if !errors.Is(err, ErrCancelled) || !fault.Is(err, fault.Refused) || body != nil {
					t.Errorf("labels: %v", err)
				}
				continue
			case "report":
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			pages := read(t, body)
			wantInside(t, pages)
			for n, page := range pages {
				if !strings.HasPrefix(page.text(), "CANCELLED on 03/05/2026 - do not collect") { // the 6th in London
					t.Errorf("page %d of %s says\n%s", n+1, name, page.text())
				}
			}
		}
		if body, err := s.PublicRequisition(); !errors.Is(err, ErrCancelled) || body != nil {
			t.Errorf("the public requisition: %v", err)
		}
	}
	if _, err := subject(1).PublicRequisition(); err != nil {
		t.Error(err)
	}
}

// Times are in the zone of the place, which is named. A time of day that was not
// given is not printed.
func TestTimesUseTheZoneOfThePlace(t *testing.T) {
	day := time.Date(2026, 3, 6, 0, 0, 0, 0, time.UTC)
	at := day.Add(14*time.Hour + 15*time.Minute)
	honolulu, err := civil.Zone("Pacific/Honolulu")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		zone *time.Location
		at   CollectionTime
		want string
	}{
		{phoenix, CollectionTime{at, true}, "03/06/2026 07:15 MST"},
		{honolulu, CollectionTime{at, true}, "03/06/2026 04:15 HST"},
		{phoenix, CollectionTime{at, false}, "03/06/2026 14:15 MST"},
		{phoenix, CollectionTime{day, false}, "03/06/2026  ____:____"},
		{phoenix, CollectionTime{day, true}, "03/06/2026  ____:____"},
		{nil, CollectionTime{at, true}, "03/06/2026 14:15 +00:00"},
		{nil, CollectionTime{at, false}, "03/06/2026 14:15"},
	} {
		if got := (&Subject{Zone: c.zone}).collection(c.at); got != c.want {
			t.Errorf("%v in %v: %q, want %q", c.at, c.zone, got, c.want)
		}
	}
	east, utc := -5*3600, 0
	for _, c := range []struct {
		at   networks.Moment
		want string
	}{
		{networks.Moment{}, ""},
		{networks.Moment{Time: at, Offset: &east}, "03/06/2026 07:15 MST"},
		{networks.Moment{Time: at}, "03/06/2026 14:15"},
		{networks.Moment{Time: day.Add(5 * time.Hour), Offset: &east}, "03/06/2026"},
		{networks.Moment{Time: day, Offset: &utc}, "03/06/2026"},
		{networks.Moment{Time: day}, "03/06/2026"},
	} {
		if got := (&Subject{Zone: phoenix}).moment(c.at); got != c.want {
			t.Errorf("%v: %q, want %q", c.at, got, c.want)
		}
	}
}

// The requisition prints the end of a visit in the zone of the place. The laboratory's
// date without a time stays a date.
func TestCollectedOnTheRequisition(t *testing.T) {
	midnight, east := time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC), -5*3600
	for _, c := range []struct {
		at     time.Time
		stated networks.Moment
		want   string
	}{
		{midnight, networks.Moment{}, "03/06/2026 17:00 MST"},
		{midnight, networks.Moment{Time: midnight}, "03/07/2026"},
		{midnight.Add(5 * time.Hour), networks.Moment{Time: midnight.Add(5 * time.Hour), Offset: &east}, "03/07/2026"},
		{midnight.Add(6 * time.Hour), networks.Moment{Time: midnight.Add(5 * time.Hour), Offset: &east}, "03/06/2026 23:00 MST"},
		{midnight.Add(6 * time.Hour), networks.Moment{Time: midnight.Add(6 * time.Hour), Offset: &east}, "03/06/2026 23:00 MST"},
	} {
		s := &Subject{Zone: phoenix, Order: orders.Order{CollectedAt: &c.at}, Stated: c.stated}
		if got := s.collected(); got != c.want {
			t.Errorf("%v, stated %v: %q, want %q", c.at, c.stated, got, c.want)
		}
	}
}

func TestReportFinality(t *testing.T) {
	for _, test := range []struct {
		status    results.Status
		corrected bool
		want      string
	}{
		{results.Final, false, "FINAL"},
		{results.Partial, false, "PARTIAL - more results will follow"},
		{results.Final, true, "CORRECTED - replaces earlier reports"},
		{results.Partial, true, "CORRECTED, PARTIAL"},
	} {
		r := revision(3)
		r.Status, r.Corrected = test.status, test.corrected
		wantTexts(t, read(t, mustRender(t, renderers(subject(1), r)["report"])), test.want)
	}
	r := revision(0)
	r.Missing, r.Samples, r.Comments = nil, nil, nil
	wantTexts(t, read(t, mustRender(t, renderers(subject(1), r)["report"])), "There are no results yet.")
}

// Every page of a version that is not the newest says so, also in a document of
// the laboratory.
func TestReplacedReports(t *testing.T) {
	r := revision(180)
	own := mustRender(t, renderers(subject(60), r)["report"])
	r.Number, r.ReplacedBy = 1, 3
	const banner = "REPLACED by version 3 of these results - do not use version 1"
	for _, page := range read(t, mustRender(t, renderers(subject(60), r)["report"])) {
		if !strings.Contains(page.text(), banner) {
			t.Errorf("a page does not say that it is replaced:\n%s", page.text())
		}
	}
	wantTexts(t, read(t, mustRender(t, renderers(subject(1), r)["report"])), "REPLACED BY VERSION 3")
	marked, err := pdfs.Stamp(own, banner)
	if err != nil {
		t.Fatal(err)
	}
	if stamped, err := api.HasWatermarks(bytes.NewReader(marked), model.NewDefaultConfiguration()); err != nil || !stamped {
		t.Errorf("stamped: %v, %v", stamped, err)
	}
	if _, err := pdfs.Stamp([]byte("%PDF-1.7 one"), banner); err == nil {
		t.Error("a damaged document is stamped")
	}
}

// Values of one code in one sample have their times, and a missing result of one of
// several samples has its sample.
func TestReportSeparatesValuesOfOneCode(t *testing.T) {
	r := revision(2)
	for i := range r.Results {
		one := &r.Results[i]
		one.Name, one.ProviderID, one.Sample = "Glucose", "GLU", r.Samples[0].Key
		one.At = networks.Moment{Time: collectedAt.Add(time.Duration(i) * 2 * time.Hour)}
	}
	second := r.Samples[0]
	second.Key, second.Specimen.Number = "T-2", "T-2"
	r.Samples = append(r.Samples, second)
	r.Missing[0].Sample = "T-2"
	s := subject(1)
	wantTexts(t, read(t, mustRender(t, renderers(s, r)["report"])), "Observed: "+s.moment(r.Results[0].At), "Observed: "+s.moment(r.Results[1].At), "Sample: T-2")
	r.Results[1].At = r.Results[0].At
	for _, page := range read(t, mustRender(t, renderers(s, r)["report"])) {
		if strings.Contains(page.text(), "Observed") {
			t.Error("equal times are printed")
		}
	}
}

// The report shows the identity as the laboratory reported it, beside the order's.
func TestReportShowsTheReportedPatient(t *testing.T) {
	r := revision(3)
	r.Patient = networks.ReportedPatient{FirstName: "ADA M", LastName: "BYRON-KING WITH-A-VERY-LONG-NAME", DOB: civil.MustParse("1984-12-10"), Gender: "female"}
	pages := read(t, mustRender(t, renderers(subject(1), r)["report"]))
	wantInside(t, pages)
	wantTexts(t, pages, "Patient as reported | Date of birth as reported | Sex as reported", "BYRON-KING | 12/10/1984 | Female", "WITH-A-VERY-LONG-NAME, ADA M")
}

// Every page names patient, laboratory with address, certificate and telephone
// number, its number and the number of pages, the specimen and the times.
//
// 42 CFR 493.1291(c), 493.1241(c).
func TestEveryPageIsComplete(t *testing.T) {
	s := subject(60)
	at := placedAt.Add(30 * time.Hour)
	s.Order.CollectedAt = &at
	laboratory := []string{"Example Laboratories", "5 Tube Street, Phoenix, AZ 85004", "CLIA 03D0000001", "(602) 555-0100"}
	for name, wanted := range map[string][]string{
		"requisition":  {"Byron, Ada", "12/10/1984", "Serum; Whole blood, EDTA", "03/06/2026 07:30 MST"},
		"report":       {"Byron, Ada", "12/10/1984", "Serum; Whole blood, EDTA", "03/06/2026 07:15 MST", "03/07/2026 01:30 MST"},
		"notice":       {"Byron, Ada"},
		"instructions": nil, // they are in a box that others may open
	} {
		pages := read(t, mustRender(t, renderers(s, revision(180))[name]))
		wantInside(t, pages)
		for n, page := range pages {
			said := strings.Join(strings.Fields(page.text()), " ")
			for _, text := range append(append(wanted, laboratory...), fmt.Sprintf("Page %d of %d", n+1, len(pages))) {
				if !strings.Contains(said, text) {
					t.Errorf("page %d of %s does not say %q:\n%s", n+1, name, text, page.text())
				}
			}
		}
	}
}

func TestPrintedUnits(t *testing.T) {
	for unit, want := range map[string]string{
		"m[IU]/L": "mIU/L", "u[IU]/mL": "µIU/mL", "10*3/uL": "10³/µL", "10*6/uL": "10⁶/µL", "x10E3/uL": "10³/µL", "10*12/L": "10¹²/L", "ug/dL": "µg/dL",
		"mL/min/{1.73_m2}": "mL/min/1.73 m²", "mg/dL": "mg/dL", "%": "%", "": "", "umol/L": "µmol/L", "fL": "fL", "U/L": "U/L", "/[HPF]": "/hpf",
	} {
		if got := printedUnit(unit); got != want {
			t.Errorf("%q is %q, want %q", unit, got, want)
		}
	}
}

// The requisition has the physician's signature where the order has one.
func TestSignatureOnTheRequisition(t *testing.T) {
	s := subject(3)
	if body := mustRender(t, s.Requisition); bytes.Contains(body, []byte("/Subtype /Image")) {
		t.Error("a requisition without a signature has an image")
	}
	drawn := image.NewGray(image.Rect(0, 0, 300, 80))
	var out bytes.Buffer
	if err := png.Encode(&out, drawn); err != nil {
		t.Fatal(err)
	}
	s.Signature = out.Bytes()
	body := mustRender(t, s.Requisition)
	pages := read(t, body)
	wantInside(t, pages)
	wantTexts(t, pages, "Authorized by Jane Example")
	if !bytes.Contains(body, []byte("/Subtype /Image")) {
		t.Error("the requisition has no image")
	}
}

// A label has the whole name, on two lines if it is long.
func TestLabelsHaveLongNames(t *testing.T) {
	s := subject(1)
	s.Full.Priority = true
	s.Full.Patient.LastName, s.Full.Patient.FirstName = "Featherstonehaugh-Cholmondeley", "Maximiliana-Bartholomea Anastasia"
	pages := read(t, mustRender(t, renderers(s, revision(1))["labels"]))
	wantInside(t, pages)
	wantTexts(t, pages, "Featherstonehaugh-Cholmondeley,", "Maximiliana-Bartholomea Anastasia")
}

// The labels of an order with several specimens name them in turn.
func TestLabelsNameTheSpecimen(t *testing.T) {
	s := subject(3)
	pages := read(t, mustRender(t, renderers(s, nil)["labels"]))
	for n, want := range []string{"Serum - Gel separator tube (SST)", "Whole blood, EDTA - Lavender-top tube (EDTA)", "Serum - Gel separator tube (SST)"} {
		if said := pages[n].text(); !strings.Contains(said, want) || !strings.Contains(said, "STAT") {
			t.Errorf("label %d says\n%s", n+1, said)
		}
	}
	s.Full.Priority = false
	if said := allText(read(t, mustRender(t, renderers(s, nil)["labels"]))); strings.Contains(said, "STAT") {
		t.Errorf("a routine label says\n%s", said)
	}
}

// Tests of one specimen share its label only at one temperature. Each specimen has a
// label, with volume and temperature. The requisition has the stability and notes of
// every test.
func TestTestsOfOneSpecimen(t *testing.T) {
	s := subject(3)
	serum := networks.SpecimenNeeded{Name: "Serum", Container: "Gel separator tube (SST)", MinVolume: "1 mL", Temperature: "refrigerated", Stability: "7 days", Notes: "Spin within 2 hours."}
	change := func(i int, code string, with func(n *networks.SpecimenNeeded)) {
		n := serum
		with(&n)
		s.Full.Tests[i].ProviderID, s.Full.Tests[i].Specimen = code, n
	}
	change(0, "100", func(*networks.SpecimenNeeded) {})
	change(1, "200", func(n *networks.SpecimenNeeded) { n.MinVolume, n.Notes = "0.5 mL", "Protect from light." })
	change(2, "300", func(n *networks.SpecimenNeeded) { n.Temperature, n.Stability = "frozen", "Freeze at once" })
	pages := read(t, mustRender(t, func() ([]byte, error) { return s.Labels(1, CollectionTime{collectedAt, true}) }))
	wantInside(t, pages)
	for n, want := range []string{"Volume: 1 mL + 0.5 mL, refrigerated", "Volume: 1 mL, frozen"} {
		if said := pages[n].text(); !strings.Contains(said, want) || !strings.Contains(said, fmt.Sprintf("%d/2", n+1)) {
			t.Errorf("label %d says\n%s", n+1, said)
		}
	}
	if len(pages) != 2 {
		t.Errorf("%d labels", len(pages))
	}
	pages = read(t, mustRender(t, s.Requisition))
	wantInside(t, pages)
	wantTexts(t, pages, "Spin within 2 hours.", "Protect from light.", "Freeze at once", "Serum for 100", "Serum for 200", "Serum for 300")
}

// Without the clinic's data the laboratory is the notifier, and the other documents
// show what is known.
func TestDocumentsWithoutAPractice(t *testing.T) {
	s := subject(3)
	s.Full.Practice = networks.Practice{}
	for name, render := range renderers(s, revision(2)) {
		pages := read(t, mustRender(t, render))
		wantInside(t, pages)
		switch name {
		case "notice":
			wantTexts(t, pages, "A. Notifier: Example Laboratories · 5 Tube Street, Phoenix, AZ 85004 · (602) 555-0100")
		case "requisition":
			wantTexts(t, pages, "Example Clinic") // the name of the account
		}
	}
}

// The report shows a corrected value with the previous one, a flag that
// contradicts its value, and who assigned the report to the order.
func TestReportShowsCorrectionsAndReviews(t *testing.T) {
	r := revision(3)
	one := &r.Results[0]
	one.Finality, one.Text, one.Flag, one.Interpretation, one.Conflict = results.CorrectedValue, "182", "N", orders.Critical, results.NormalBeyondLimit
	one.Previous = &results.Previous{Text: "91", Unit: one.Unit, Interpretation: orders.Abnormal, Finality: results.FinalValue, ReportedAt: placedAt}
	r.Missing[0].Previous, r.Missing[0].WithdrawnAt = &results.Previous{Text: "7.9", Flag: "HH", Interpretation: orders.Critical, Finality: results.FinalValue, ReportedAt: placedAt}, placedAt.Add(time.Hour)
	r.Results[1].Finality = results.PreliminaryValue
	two := &r.Results[2]
	two.Flag = "N"
	two.Previous = &results.Previous{Text: two.Text, Unit: two.Unit, Flag: "HH", Range: "1-2", Notes: []string{"Lipemic"}, Interpretation: orders.Critical, Finality: results.FinalValue, ReportedAt: placedAt}
	r.Reviews = []results.Review{{By: "Jane Reviewer", At: placedAt, Note: "The lab mistyped the name."}}
	pages := read(t, mustRender(t, renderers(subject(1), r)["report"]))
	wantInside(t, pages)
	wantTexts(t, pages, one.Name+" (corrected)", "182 | LL", "Previously reported: 91", "Abnormal (final,", "flagged this value N (normal). It is beyond the critical limit",
		"flag then: HH; reference then: 1-2; note then: Lipemic", "(preliminary)", "Withdrawn by the laboratory 03/0", "Previously reported: 7.9, Critical (final,", "A person assigned a report to this order: Jane Reviewer", "The lab mistyped the name.")
	if strings.Contains(allText(pages), "UTC") {
		t.Error("a time is not in the zone of the place")
	}
	if out := os.Getenv("HALE_TEST_REPORT"); out != "" {
		if err := os.WriteFile(out, mustRender(t, renderers(subject(1), r)["report"]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A report on several specimens names that of each value. A specimen without a number
// is named by its material.
func TestReportNamesTheSpecimenOfAValue(t *testing.T) {
	r, offset := revision(2), -7*3600
	one := read(t, mustRender(t, func() ([]byte, error) { return subject(1).Report(r) }))
	if strings.Contains(allText(one), "Sample: T-1 · Collected") {
		t.Error("the values of one specimen name it")
	}
	r.Samples = append(r.Samples, results.Sample{Key: "Cerebrospinal fluid", Specimen: networks.Specimen{
		Type: "Cerebrospinal fluid", Collected: networks.Moment{Time: collectedAt.Add(time.Hour), Offset: &offset},
	}})
	r.Results[0].Sample, r.Results[1].Sample = r.Samples[0].Key, r.Samples[1].Key
	pages := read(t, mustRender(t, func() ([]byte, error) { return subject(1).Report(r) }))
	wantInside(t, pages)
	wantTexts(t, pages, "Sample: T-1 · Collected: 03/06/2026 07:15 MST", "Specimen: Cerebrospinal fluid · Collected: 03/06/2026 08:15 MST")
	if strings.Contains(allText(pages), "Sample: Cerebrospinal fluid") {
		t.Error("a material is printed as the number of a sample")
	}
}

// Every method and sample has instructions, and no list is empty.
func TestInstructionsOfEveryKind(t *testing.T) {
	for _, method := range catalogue.Methods {
		for _, sample := range catalogue.SampleTypes {
			s := &InstructionSheet{Test: catalogue.Test{Name: "Panel", Method: method, SampleType: sample, Fasting: true, UpdatedAt: placedAt}, Samples: []catalogue.SampleType{sample}}
			pages := read(t, mustRender(t, s.Render))
			wantInside(t, pages)
			kind := label(sample)
			if sample == catalogue.Serum { // also tubes of whole blood and plasma
				kind = "Blood"
			}
			wantTexts(t, pages, "Do not eat for 8 to 12 hours", kind, "After")
			if len(stepsBefore[method]) == 0 || len(stepsAfter[method]) == 0 || len(collectionSteps[stepsKey{isSelfCollected(method), sample}]) == 0 {
				t.Errorf("no advice for %s by %s", sample, method)
			}
		}
	}
}

// The font has the letters of the table.
func TestLettersAreInTheFont(t *testing.T) {
	glyphs := fontGlyphs(t)
	for _, r := range wideLetters.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c++ {
			if !glyphs[c] {
				t.Errorf("the font has no %U", c)
			}
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("Ada")
	f.Add("\xff\x00é\u0301山")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 2000 {
			return
		}
		text := printableText(s)
		if strings.ContainsAny(text.letters, "\x00\r\t\x7f") {
			t.Errorf("%q keeps control characters", text.letters)
		}
		body := drawing(func(p *pdfDocument) { p.paragraph(s, normalSize, "") })
		if len(body) == 0 {
			t.Error("nothing was written")
		}
	})
}

func BenchmarkDocuments(b *testing.B) {
	odd := subject(30)
	odd.Full.Patient.LastName = "Жукова"
	for _, of := range []struct {
		name string
		s    *Subject
	}{{"western", subject(30)}, {"cyrillic", odd}} {
		for name, render := range renderers(of.s, revision(60)) {
			b.Run(name+"/"+of.name, func(b *testing.B) {
				for b.Loop() {
					if _, err := render(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
