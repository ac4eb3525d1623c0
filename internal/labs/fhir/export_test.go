package fhir

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hale/internal/platform/civil"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	placedAt   = time.Date(2026, 3, 2, 15, 4, 5, 0, time.UTC)
	exportedAt = time.Date(2026, 3, 5, 8, 0, 0, 0, time.UTC)
)

func pointer[T any](v T) *T { return &v }

func momentAt(text string) Moment {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	_, offset := t.Zone()
	return Moment{t.UTC(), &offset}
}

// fullOrder returns an order with every field. All of it is invented.
func fullOrder() Order {
	return Order{
		ID: uuid.MustParse("01890000-0000-7000-8000-000000000001"), SampleID: "798656817356", Status: "completed",
		PlacedAt: placedAt, Priority: true, Notes: "Fainted at the last draw.", ICDCodes: []string{"E55.9", "Z00.00"},
		Tests: []Test{
			{"CMP01", "Metabolic panel", "24323-8", []Answer{
				{"FSTING", "Has the patient fasted?", []AnswerValue{{Code: "Y", Text: "Yes"}}},
				{"MEDS", "Which medicines?", []AnswerValue{{Code: "MET", Text: "Metformin"}, {Code: "OTH", Text: "Another"}}},
			}, Material{"Serum", "119364003", "Serum specimen", "SER", "Serum"}},
			{"INS", "Insulin", "", []Answer{
				{"LASTDOSE", "Hours since the last dose?", []AnswerValue{{Text: "12.5", Numeric: true}}},
				{"WHY", "", []AnswerValue{{Text: "Tired\x07 for weeks "}}},
				{"EMPTY", "Left out?", []AnswerValue{{Text: " "}}},
			}, Material{Name: "Dried blood spots", SNOMED: "440500007", SNOMEDName: "Dried blood spot specimen"}},
		},
		Patient: Patient{
			ID: uuid.MustParse("01890000-0000-7000-8000-00000000aaaa"), FirstName: "Ada", LastName: "Quill",
			DOB: civil.MustParse("1990-07-09"), Gender: "female", Phone: "+19085550143", Email: "ada.quill@example.com",
			Address: Address{"12 Larch Way", "Apt 3", "Plainfield", "NJ", "07060", "US"}, Race: "asian", Ethnicity: "non_hispanic",
		},
		Physician: &Practitioner{"Iris", "Moss", "1234567893"},
		Lab:       Organization{Key: "northlab", Name: "North Laboratory", CLIA: "05D9999901", Phone: "+19085550100", Address: Address{FirstLine: "8 Retort Street", City: "Plainfield", State: "NJ", Zip: "07060", Country: "US"}},
		Coverage: &Coverage{
			PayorCode: "INV01", Payor: "Invented Mutual", MemberID: "M-55", GroupID: "G-1", Relationship: "Spouse",
			PayorAddress: Address{FirstLine: "1 Policy Plaza", City: "Trenton", State: "NJ", Zip: "08601", Country: "US"},
			Insured:      Insured{"Otto", "Quill", civil.MustParse("1985-02-03"), "male", Address{"12 Larch Way", "Apt 3", "Plainfield", "NJ", "07060", "US"}},
		},
		Report: &Report{
			Status: "corrected", Issued: time.Date(2026, 3, 4, 14, 25, 0, 0, time.UTC),
			Specimen: Specimen{Number: "798656817356", Collected: momentAt("2026-03-03T08:15:00-05:00"), Received: momentAt("2026-03-03T19:00:00-05:00"), Fasting: pointer(true), Information: "Slightly lipemic"},
			Results: []Result{
				{
					Code: "GLU", TestCode: "CMP01", Name: "Glucose", LOINC: "2345-7", Value: "91.0", Type: "numeric", Unit: "mg/dL", UCUM: "mg/dL",
					Range: "65-99", Low: pointer(65.0), High: pointer(99.0), Interpretation: "normal", Flag: "N", Status: "F",
					At: momentAt("2026-03-03T08:15:00-05:00"),
				},
				{
					Code: "K", TestCode: "CMP01", Name: "Potassium", LOINC: "2823-3", Value: "6.8", Type: "numeric", Unit: "mmol/L", UCUM: "mmol/L",
					Range: "3.5-5.3", Low: pointer(3.5), High: pointer(5.3), Interpretation: "critical", Flag: "HH", Status: "C",
					Notes: []string{"Repeated and verified."}, Laboratory: "south",
				},
				{Code: "EGFR", TestCode: "CMP01", Name: "eGFR", Value: ">90", Type: "range", Unit: "mL/min/1.73m2", UCUM: "mL/min/{1.73_m2}", Range: "> OR = 60", Low: pointer(60.0), Interpretation: "normal"},
				{Code: "RBC", TestCode: "CMP01", Name: "Red cells, urine", Value: "0-2", Type: "range", Unit: "/HPF", Interpretation: "unknown"},
				{Code: "ABO", Name: "ABO group", LOINC: "882-1", Value: "Group A", Type: "coded_value"},
				{Code: "TXT", Name: "Comment", Value: "First line\nSecond line", Type: "comment", Interpretation: "abnormal", Flag: "see note"},
			},
			Missing: []MissingResult{
				{Code: "INS", TestCode: "INS", Name: "Insulin", LOINC: "20448-7", Reason: "quantity_not_sufficient_failure", Note: "Too little serum."},
				{Code: "CA", TestCode: "CMP01", Name: "Calcium", Reason: "internal_lab_failure"},
			},
			Laboratories: []Organization{{Key: "northlab", Name: "North Laboratory"}, {Key: "south", Name: "South Laboratory", CLIA: "05D9999902"}},
			Comments:     []string{"Specimen slightly lipemic."},
			PDF:          []byte("%PDF-1.7 invented"),
		},
	}
}

func TestGoldenBundle(t *testing.T) {
	bundle := Export(fullOrder(), exportedAt)
	for _, problem := range problems(t, bundle) {
		t.Error(problem)
	}
	got, err := json.MarshalIndent(bundle, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const file = "testdata/order.json"
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

// The material of the first specimen is the one that the lab reports. Without a report
// it is the one that was ordered.
func TestMaterialOfTheFirstSpecimen(t *testing.T) {
	for _, c := range []struct {
		reported, want string
		specimens      int
	}{
		{"", "Serum", 2}, {"SERUM", "Serum", 2}, {"Plasma", "Plasma", 2}, {"dried blood spots", "Serum", 2},
	} {
		order := fullOrder()
		order.Report.Specimen.Type = c.reported
		order.Report.Results = order.Report.Results[:1]
		order.Report.Results[0].Specimen = order.Report.Specimen.Number
		bundle := Export(order, exportedAt)
		for _, problem := range problems(t, bundle) {
			t.Errorf("%q: %s", c.reported, problem)
		}
		var types []string
		var observed *Reference
		at := map[string]string{}
		for _, entry := range bundle.Entry {
			switch r := entry.Resource.(type) {
			case SpecimenResource:
				types = append(types, r.Type.Text)
				at[entry.FullURL] = r.Type.Text
			case Observation:
				if r.Status == "final" {
					observed = r.Specimen
				}
			}
		}
		if len(types) != c.specimens || types[0] != c.want || at[observed.Reference] != c.want {
			t.Errorf("%q: specimens %v, the result is of %s", c.reported, types, at[observed.Reference])
		}
	}
}

// A value that the lab withdrew is entered in error.
func TestWithdrawnValue(t *testing.T) {
	order := fullOrder()
	order.Report.Missing = order.Report.Missing[1:]
	order.Report.Missing[0].Withdrawn = &Result{Value: "7.9", Unit: "mmol/L", UCUM: "mmol/L", Interpretation: "critical", Flag: "HH", Notes: []string{"Withdrawn."}}
	bundle := Export(order, exportedAt)
	for _, problem := range problems(t, bundle) {
		t.Error(problem)
	}
	found := false
	for _, entry := range bundle.Entry {
		if o, is := entry.Resource.(Observation); is && o.Status == "entered-in-error" {
			found = o.ValueQuantity != nil && o.ValueQuantity.Value == "7.9" && o.Interpretation != nil && len(o.Note) == 1 && o.DataAbsentReason == nil
		}
	}
	if !found {
		t.Error("no observation has the value")
	}
}

// Results that name a specimen have that specimen. Other results belong to the first one.
func TestFurtherSpecimens(t *testing.T) {
	order := fullOrder()
	order.Report.Specimens = []Specimen{{Key: "U1", Number: "U1", Type: "Urine", Collected: momentAt("2026-03-04T06:00:00-05:00")}}
	first, urine := order.Report.Results[0], order.Report.Results[0]
	first.Specimen, first.At = order.Report.Specimen.Number, Moment{}
	urine.Key, urine.Specimen, urine.At, urine.TestCode = "urine", "U1", Moment{}, "CMP01"
	order.Report.Results = []Result{first, urine}
	bundle := Export(order, exportedAt)
	for _, problem := range problems(t, bundle) {
		t.Error(problem)
	}
	types := map[string]string{}
	var observations []Observation
	var report DiagnosticReport
	for _, entry := range bundle.Entry {
		switch r := entry.Resource.(type) {
		case SpecimenResource:
			types[entry.FullURL] = r.Type.Text
		case Observation:
			observations = append(observations, r)
		case DiagnosticReport:
			report = r
		}
	}
	if len(report.Specimen) != 3 || len(types) != 3 {
		t.Errorf("%d specimens of %d in the report", len(report.Specimen), len(types))
	}
	for i, want := range []string{"Serum 2026-03-03T08:15:00-05:00", "Urine 2026-03-04T06:00:00-05:00"} {
		o := observations[i]
		if got := types[o.Specimen.Reference] + " " + o.EffectiveDateTime; got != want {
			t.Errorf("result %d: %s, want %s", i, got, want)
		}
	}
}

// A test whose material is a further specimen of the report has that specimen, and no
// copy of the first.
func TestTestsOfFurtherSpecimens(t *testing.T) {
	order := fullOrder()
	order.Tests[1].Specimen = Material{Name: "Urine", SNOMED: "122575003", SNOMEDName: "Urine specimen"}
	order.Report.Specimens = []Specimen{{Key: "U1", Number: "U1", Type: "urine", Collected: momentAt("2026-03-04T06:00:00-05:00")}}
	bundle := Export(order, exportedAt)
	for _, problem := range problems(t, bundle) {
		t.Error(problem)
	}
	numbers := map[string]string{}
	var requests, report []string
	for _, entry := range bundle.Entry {
		if r, ok := entry.Resource.(SpecimenResource); ok {
			numbers[entry.FullURL] = r.Identifier[0].Value
		}
	}
	for _, entry := range bundle.Entry {
		switch r := entry.Resource.(type) {
		case ServiceRequest:
			requests = append(requests, numbers[r.Specimen[0].Reference])
		case DiagnosticReport:
			for _, s := range r.Specimen {
				report = append(report, numbers[s.Reference])
			}
		}
	}
	if got := strings.Join(requests, " "); got != "798656817356 U1" {
		t.Errorf("the requests have %s", got)
	}
	if got := strings.Join(report, " "); got != "798656817356 U1" || len(numbers) != 2 {
		t.Errorf("the report has %s, the bundle %v", got, numbers)
	}
}

func TestOrderBeforeItsResults(t *testing.T) {
	order := Order{ID: fullOrder().ID, Status: "received", Tests: []Test{{Code: "TSH", Name: "Thyrotropin"}}}
	bundle := Export(order, exportedAt)
	for _, problem := range problems(t, bundle) {
		t.Error(problem)
	}
	var kinds []string
	for _, entry := range bundle.Entry {
		switch r := entry.Resource.(type) {
		case PatientResource:
			kinds = append(kinds, r.ResourceType)
		case OrganizationResource:
			kinds = append(kinds, r.ResourceType)
		case ServiceRequest:
			kinds = append(kinds, r.ResourceType+" "+r.Status)
		default:
			t.Errorf("a %T has nothing to say", r)
		}
	}
	if diff := cmp.Diff([]string{"Patient", "Organization", "ServiceRequest active"}, kinds); diff != "" {
		t.Error(diff)
	}
}

// Observations have the expected JSON for the values that labs write.
func TestValues(t *testing.T) {
	for name, c := range map[string]struct {
		result Result
		want   string
	}{
		"a number":             {Result{Value: "91", Unit: "mg/dl", UCUM: "mg/dL"}, `{"value":91,"unit":"mg/dl","system":"http://unitsofmeasure.org","code":"mg/dL"}`},
		"digits are kept":      {Result{Value: "4.50", Type: "numeric"}, `{"value":4.50}`},
		"no JSON number":       {Result{Value: "+.5", Type: "numeric"}, `{"value":0.5}`},
		"zeros in front":       {Result{Value: "-007.", Type: "numeric"}, `{"value":-7}`},
		"less than":            {Result{Value: "<5", Unit: "U/L"}, `{"value":5,"comparator":"<","unit":"U/L"}`},
		"at least, as a sign":  {Result{Value: "≥ 60", Type: "range"}, `{"value":60,"comparator":">="}`},
		"a range":              {Result{Value: "10 - 20", Type: "range", Unit: "/HPF"}, `{"low":{"value":10,"unit":"/HPF"},"high":{"value":20,"unit":"/HPF"}}`},
		"a titer":              {Result{Value: "1:80"}, `"1:80"`},
		"half a range":         {Result{Value: "<10-20", Type: "range"}, `"<10-20"`},
		"a dash":               {Result{Value: "-"}, `"-"`},
		"more than a number":   {Result{Value: "123456789012345678901"}, `"123456789012345678901"`},
		"a word":               {Result{Value: "Not detected"}, `"Not detected"`},
		"a number in a remark": {Result{Value: "91", Type: "comment"}, `"91"`},
		"a code":               {Result{Value: "Group A", Type: "coded_value"}, `{"text":"Group A"}`},
		"control characters":   {Result{Value: " a\x0bb\n\x00", Type: "comment"}, `"ab"`},
		"nothing":              {Result{Value: " "}, `{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/data-absent-reason","code":"unknown","display":"Unknown"}]}`},
	} {
		var o Observation
		o.setValue(c.result)
		raw, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatal(err)
		}
		got := ""
		for name, value := range fields {
			if strings.HasPrefix(name, "value") || name == "dataAbsentReason" {
				got += strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(value))
			}
		}
		if got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestInterpretations(t *testing.T) {
	for _, c := range []struct {
		word, flag, code, text string
		above, below           bool
	}{
		{"abnormal", "H", "H", "H", false, false},
		{"critical", "ll", "LL", "ll", false, false},
		{"critical", "Panic", "AA", "Panic", false, false},
		{"normal", "", "N", "", false, false},
		{"abnormal", "*", "A", "*", false, false},
		{"unknown", "?", "", "?", false, false},
		{"abnormal", "N", "A", "N", false, false},
		{"critical", "N", "AA", "N", false, false},
		{"critical", "H", "HH", "H", false, false},
		{"critical", "N", "HH", "N", true, false},
		{"abnormal", "N", "L", "N", false, true},
		{"unknown", "N", "", "N", false, false},
		{"unknown", "CH", "", "CH", false, false},
	} {
		got := interpretationOf(Result{Interpretation: c.word, Flag: c.flag, Above: c.above, Below: c.below})
		if len(got) != 1 || got[0].Text != c.text || (c.code == "") != (got[0].Coding == nil) || c.code != "" && got[0].Coding[0].Code != c.code {
			t.Errorf("%s %s: %+v", c.word, c.flag, got)
		}
	}
	if got := interpretationOf(Result{Interpretation: "unknown"}); got != nil {
		t.Errorf("nothing known: %+v", got)
	}
}

func TestTimes(t *testing.T) {
	m := momentAt("2026-03-03T23:15:00-05:00")
	if got := dateTime(m); got != "2026-03-03T23:15:00-05:00" {
		t.Error(got)
	}
	if got := dateTime(momentAt("2026-03-03T00:00:00-05:00")); got != "2026-03-03" {
		t.Errorf("a date in a known zone is %q", got)
	}
	if got := dateTime(Moment{Time: time.Date(2026, 3, 3, 23, 15, 0, 0, time.UTC)}); got != "2026-03-03" {
		t.Errorf("without an offset: %s", got)
	}
	if got := dateTime(Moment{}) + instant(time.Time{}); got != "" {
		t.Errorf("no time: %s", got)
	}
	if got := instant(time.Date(2026, 3, 3, 23, 15, 0, 250_000, time.UTC)); got != "2026-03-03T23:15:00.000250Z" {
		t.Errorf("microseconds: %s", got)
	}
}

func TestExportIsStable(t *testing.T) {
	one, err := json.Marshal(Export(fullOrder(), exportedAt))
	if err != nil {
		t.Fatal(err)
	}
	two, err := json.Marshal(Export(fullOrder(), exportedAt))
	if err != nil || string(one) != string(two) {
		t.Error("it differs")
	}
}

// The checker of these tests finds mistakes.
func TestCheckerFindsMistakes(t *testing.T) {
	for name, spoil := range map[string]func(*Bundle){
		"obs-6":             func(b *Bundle) { edit(b, func(o *Observation) { o.DataAbsentReason = &CodeableConcept{Text: "x"} }) },
		"refers to nothing": func(b *Bundle) { edit(b, func(o *Observation) { o.Subject = &Reference{Reference: "urn:uuid:x"} }) },
		"refers to a":       func(b *Bundle) { edit(b, func(o *Observation) { o.Subject = &o.Performer[0] }) },
		"no word":           func(b *Bundle) { edit(b, func(o *Observation) { o.Status = "done" }) },
		"ele-1":             func(b *Bundle) { edit(b, func(o *Observation) { o.Code = CodeableConcept{} }) },
		"is empty":          func(b *Bundle) { edit(b, func(c *CoverageResource) { c.Status = "" }) },
		"bdl-7":             func(b *Bundle) { b.Entry = append(b.Entry, b.Entry[0]) },
		"qty-3":             func(b *Bundle) { edit(b, func(o *Observation) { o.ValueQuantity = &Quantity{Value: "1", Code: "g"} }) },
		"no decimal":        func(b *Bundle) { edit(b, func(o *Observation) { o.ValueQuantity = &Quantity{Value: "1e3"} }) },
		"must have one text": func(b *Bundle) {
			edit(b, func(p *PatientResource) { p.Extension[0].Extension = p.Extension[0].Extension[:1] })
		},
		"ext-1":        func(b *Bundle) { edit(b, func(p *PatientResource) { p.Extension[0].ValueString = "both" }) },
		"one value[x]": func(b *Bundle) { edit(b, func(q *QuestionnaireResponse) { q.Item[0].Answer[0].ValueString = "both" }) },
		"lacks status": func(b *Bundle) {
			b.Entry[0].Resource = map[string]any{"resourceType": "QuestionnaireResponse", "id": "x"}
		},
		"not the right form": func(b *Bundle) { edit(b, func(o *Observation) { o.EffectiveDateTime = "2026-03-03T08:15:00" }) },
	} {
		bundle := Export(fullOrder(), exportedAt)
		spoil(&bundle)
		if found := strings.Join(problems(t, bundle), "; "); !strings.Contains(found, name) {
			t.Errorf("%s: found %q", name, found)
		}
	}
}

// edit changes the first resource of a type.
func edit[T any](b *Bundle, change func(*T)) {
	for i, entry := range b.Entry {
		if r, ok := entry.Resource.(T); ok {
			change(&r)
			b.Entry[i].Resource = r
			return
		}
	}
}

func TestAnyOrderIsValid(t *testing.T) {
	text := rapid.String()
	some := func(words ...string) *rapid.Generator[string] { return rapid.SampledFrom(append(words, "")) }
	moment := rapid.Custom(func(t *rapid.T) Moment {
		m := Moment{Time: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "unix"), 0).UTC()}
		if rapid.Bool().Draw(t, "zoned") {
			m.Offset = pointer(900 * rapid.IntRange(-48, 56).Draw(t, "quarters"))
		}
		return m
	})
	bounds := rapid.Ptr(rapid.Float64Range(-1e9, 1e9), true)
	result := rapid.Custom(func(t *rapid.T) Result {
		return Result{
			Code: some("GLU", "K").Draw(t, "code"), TestCode: some("CMP01", "X").Draw(t, "test"), Name: text.Draw(t, "name"), LOINC: some("2345-7").Draw(t, "loinc"),
			Value: rapid.OneOf(text, rapid.StringMatching(`[<>≤=+-]{0,2} ?[0-9.,]{0,8}(-[0-9.]{0,4})?`)).Draw(t, "value"),
			Type:  some("numeric", "range", "comment", "coded_value").Draw(t, "type"), Unit: text.Draw(t, "unit"), UCUM: some("mg/dL").Draw(t, "ucum"),
			Range: text.Draw(t, "range"), Low: bounds.Draw(t, "low"), High: bounds.Draw(t, "high"),
			Interpretation: some("normal", "critical", "unknown").Draw(t, "word"), Flag: text.Draw(t, "flag"), Status: some("F", "P", "C", "Q").Draw(t, "status"),
			At: moment.Draw(t, "at"), Notes: rapid.SliceOfN(text, 0, 2).Draw(t, "notes"), Laboratory: some("south").Draw(t, "laboratory"),
			Specimen: some("U1", "none").Draw(t, "of specimen"),
		}
	})
	rapid.Check(t, func(r *rapid.T) {
		order := fullOrder()
		order.Status, order.Notes, order.SampleID = some("received", "failed", "odd").Draw(r, "order"), text.Draw(r, "notes"), text.Draw(r, "sample")
		order.Patient.FirstName, order.Patient.Phone, order.Patient.Gender = text.Draw(r, "first"), text.Draw(r, "phone"), text.Draw(r, "gender")
		order.Patient.Race, order.Patient.Ethnicity = some("asian", "other", "odd").Draw(r, "race"), some("hispanic", "ashkenazi_jewish").Draw(r, "ethnicity")
		order.Tests[0].Answers = append(order.Tests[0].Answers, Answer{text.Draw(r, "asked"), text.Draw(r, "question"), []AnswerValue{
			{Code: text.Draw(r, "chosen"), Text: text.Draw(r, "words")}, {Text: rapid.StringMatching(`[-+]?[0-9.]{0,8}`).Draw(r, "amount"), Numeric: true},
		}})
		order.Patient.Address.City, order.Lab.Name, order.Coverage.Payor = text.Draw(r, "city"), text.Draw(r, "lab"), text.Draw(r, "payor")
		order.Report.Status, order.Report.Comments = some("partial", "final").Draw(r, "report"), rapid.SliceOfN(text, 0, 3).Draw(r, "comments")
		order.Report.Specimen.Number, order.Report.Specimen.Information = text.Draw(r, "number"), text.Draw(r, "information")
		order.Report.Specimens = []Specimen{{Key: "U1", Number: text.Draw(r, "further number"), Type: text.Draw(r, "material"), Collected: moment.Draw(r, "collected")}}
		order.Report.Results = rapid.SliceOfN(result, 0, 4).Draw(r, "results")
		order.Report.Missing = append(order.Report.Missing, MissingResult{Note: text.Draw(r, "why"), Reason: some("unknown_failure").Draw(r, "reason")})
		if found := problems(t, Export(order, exportedAt)); len(found) > 0 {
			r.Fatal(strings.Join(found, "\n"))
		}
	})
}
