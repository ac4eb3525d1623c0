package catalogue

import (
	"errors"
	"strings"
	"testing"

	"hale/internal/platform/store"
)

// acmeLab returns an invented lab that is not built in.
func acmeLab() *Lab {
	return &Lab{
		Slug: "acme_lab", Name: "Acme Invented Laboratory", Address: "1 Example Way", City: "Nowhere", Zip: "85004",
		Methods: []Method{WalkIn, OnSite}, SampleTypes: []SampleType{Serum, Urine}, States: []string{"AZ"}, Billings: []Billing{ClientBill},
	}
}

func acmeList() *Compendium {
	c, err := ReadCSV([]byte(acmeCSV))
	if err != nil {
		panic(err)
	}
	return c
}

const acmeCSV = `provider_id,name,price,results,questions,fasting,common_tat_days,worst_case_tat_days
A1,Glucose,7.50,2345-7,FSTING,yes,1,2
A2,Small Panel,,2345-7 2160-0?,,,,
A3,Reserve,contract,4548-4,,no,,
`

func (r *fixture) importList(c *Compendium, full bool) (done ImportCounts) {
	r.Helper()
	r.write(func(tx *store.Tx) (err error) {
		done, err = Import(r.ctx, tx, "", acmeLab(), c, full)
		return err
	})
	return done
}

func TestImport(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		if got := r.importList(acmeList(), true); got != (ImportCounts{Lab: "acme_lab", Lacks: "clia, phone, state", Added: 3}) {
			r.Errorf("first: %+v", got)
		}
		before := r.catalogue()
		if got := r.importList(acmeList(), true); got != (ImportCounts{Lab: "acme_lab", Lacks: "clia, phone, state", Unchanged: 3}) {
			r.Errorf("again: %+v", got)
		}
		if r.catalogue() != before {
			r.Error("an import that changed nothing made nodes read the catalogue again")
		}
		l, ok := before.LabBySlug("acme_lab")
		a1, found := before.MarkerByCode(l.ID, "A1")
		if !ok || !found || l.ID < 1000000 || a1.ID < 1000000 || !a1.Active || a1.Type != Biomarker || a1.Unit != "mg/dL" || !a1.Fasting ||
			len(a1.Questions) != 1 || a1.Questions[0].ID < 1000000 || a1.Questions[0].Answers[0].ID < 1000000 || a1.Results[0].ID < 1000000 {
			r.Fatalf("imported %+v of %+v", a1, l)
		}
		if a2, _ := before.MarkerByCode(l.ID, "A2"); a2.Type != LabPanel || !a2.Results[0].Required || a2.Results[1].Required {
			r.Errorf("panel %+v", a2)
		}
		changed, err := ReadCSV([]byte(strings.Replace(acmeCSV[:strings.Index(acmeCSV, "A3")], "7.50", "8.50", 1)))
		if err != nil {
			r.Fatal(err)
		}
		if got := r.importList(changed, false); got != (ImportCounts{Lab: "acme_lab", Lacks: "clia, phone, state", Changed: 1, Unchanged: 1}) {
			r.Errorf("part: %+v", got)
		}
		if got := r.importList(changed, true); got != (ImportCounts{Lab: "acme_lab", Lacks: "clia, phone, state", Unchanged: 2, Deactivated: 1}) {
			r.Errorf("whole: %+v", got)
		}
		after := r.catalogue()
		now, _ := after.MarkerByCode(l.ID, "A1")
		if now.ID != a1.ID || now.Results[0].ID != a1.Results[0].ID || now.Questions[0].ID != a1.Questions[0].ID || now.Price != "8.50" {
			r.Errorf("the marker became %+v", now)
		}
		if a3, ok := after.MarkerByCode(l.ID, "A3"); !ok || a3.Active || len(after.Markers(MarkerFilter{Labs: []LabID{l.ID}})) != 2 {
			r.Error("a marker that left the list is still offered")
		}
		if got := r.importList(acmeList(), true); got != (ImportCounts{Lab: "acme_lab", Lacks: "clia, phone, state", Changed: 2, Unchanged: 1}) {
			r.Errorf("back: %+v", got)
		}
	})
}

func TestImportOfUndescribedLab(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		for _, slug := range []string{"quest", "unheard_of", ""} {
			err := r.db.Write(r.ctx, func(tx *store.Tx) error {
				_, err := Import(r.ctx, tx, slug, nil, acmeList(), true)
				return err
			})
			if err == nil || !strings.Contains(err.Error(), "must be described") {
				r.Errorf("%q: %v", slug, err)
			}
		}
		real := acmeLab()
		real.Slug = "quest"
		r.write(func(tx *store.Tx) error { _, err := Import(r.ctx, tx, "quest", real, acmeList(), true); return err })
		if l, _ := r.catalogue().LabBySlug("quest"); l.ID != quest || l.Name == real.Name {
			r.Errorf("the sandbox's lab is %+v", l)
		}
		if _, ok := r.catalogue().MarkerByCode(quest, "A1"); !ok {
			r.Error("the sandbox does not see the import")
		}
	})
}

func TestCompendiumProblems(t *testing.T) {
	for name, x := range map[string]struct{ row, field string }{
		"no code":         {",Glucose,1,2345-7,,,,", "provider_id"},
		"code twice":      {"A1,Glucose,1,2345-7,,,,\nA1,Glucose,1,2345-7,,,,", "provider_id"},
		"no name":         {"A1,,1,2345-7,,,,", "name"},
		"mistyped LOINC":  {"A1,Glucose,1,2345-6,,,,", "results 1"},
		"LOINC no name":   {"A1,Glucose,1,99999-9,,,,", "results 1"},
		"result twice":    {"A1,Glucose,1,2345-7 2345-7,,,,", "results 2"},
		"no results":      {"A1,Glucose,1,,,,,", "results"},
		"question":        {"A1,Glucose,1,2345-7,NOSUCH,,,", "questions"},
		"fasting":         {"A1,Glucose,1,2345-7,,perhaps,,", "fasting"},
		"days":            {"A1,Glucose,1,2345-7,,,two,", "common_tat_days"},
		"worst too early": {"A1,Glucose,1,2345-7,,,3,2", "worst_case_tat_days"},
		"too few fields":  {"A1,Glucose", "columns"},
		"control":         {"A1,Glu\x00cose,1,2345-7,,,,", "name"},
	} {
		header, _, _ := strings.Cut(acmeCSV, "\n")
		c, err := ReadCSV([]byte(header + "\n" + x.row + "\n"))
		if err == nil {
			_, found := c.checkMarkers(*acmeLab())
			err = found.asError()
		}
		var problems Problems
		if !errors.As(err, &problems) || problems[0].Field != x.field || problems[0].Line < 2 {
			t.Errorf("%s: %v, want a problem with %s", name, err, x.field)
		}
	}
	for name, x := range map[string]struct{ result, field string }{
		"limits exchanged":           {`"critical_low":500,"critical_high":40`, "results 1.critical_low"},
		"equal limits":               {`"critical_low":40,"critical_high":40`, "results 1.critical_low"},
		"low inside the range":       {`"ranges":"70..99","critical_low":80`, "results 1.critical_low"},
		"low above the range":        {`"ranges":"70..99","critical_low":300`, "results 1.critical_low"},
		"low above an upper end":     {`"ranges":"..99","critical_low":300`, "results 1.critical_low"},
		"high inside the range":      {`"ranges":"70..99","critical_high":90`, "results 1.critical_high"},
		"high inside one range":      {`"ranges":"F=70..99;M=70..120","critical_high":110`, "results 1.critical_high"},
		"high below a lower end":     {`"ranges":"70..","critical_high":50`, "results 1.critical_high"},
		"limits at the range's ends": {`"ranges":"70..99","critical_low":70,"critical_high":99`, ""},
		"usual limits":               {`"ranges":"70..99","critical_low":40,"critical_high":500`, ""},
	} {
		c, err := ReadJSON([]byte(`{"markers":[{"provider_id":"A1","name":"Glucose","price":"1","expected_results":[{"loinc":"2345-7",` + x.result + `}]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		_, found := c.checkMarkers(*acmeLab())
		var problems Problems
		if errors.As(found.asError(), &problems) != (x.field != "") || x.field != "" && problems[0].Field != x.field {
			t.Errorf("%s: %v, want a problem with %q", name, problems, x.field)
		}
	}
	for name, text := range map[string]string{
		"unknown column": "provider_id,name,results,colour\n", "missing column": "provider_id,name\n", "column twice": "provider_id,name,results,name\n", "empty": "", "open quote": "provider_id,name,results\n\"",
	} {
		if _, err := ReadCSV([]byte(text)); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	for name, text := range map[string]string{
		"unknown field": `{"markers":[{"colour":1}]}`, "not an object": `[]`, "more": `{} {}`, "unknown top": `{"marker":[]}`,
	} {
		if _, err := ReadJSON([]byte(text)); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}

const acmeJSON = `{"lab":{"slug":"acme_lab","name":"Acme","methods":["walk_in_test"],"sample_types":["serum"],"states":["AZ"],"billings":["client_bill"]},
"markers":[{"provider_id":"J1","name":"Glucose","expected_results":[{"loinc":"2345-7","ranges":"70..99","decimals":0,"critical_low":40}],
"questions":[{"code":"WHY","value":"Why?","type":"choice","required":true,"answers":[{"code":"A","value":"Because"}]}]}]}`

func TestJSONCompendium(t *testing.T) {
	c, err := ReadJSON([]byte(acmeJSON))
	if err != nil || c.Lab == nil || len(c.Markers) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := checkLab(c.Lab); err != nil {
		t.Error(err)
	}
	markers, problems := c.checkMarkers(*c.Lab)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	m := markers[0]
	if r, ok := m.Results[0].Assay.RangeFor("female", 40); !ok || *r.Low != 70 || *r.High != 99 || *m.Results[0].Assay.CriticalLow != 40 {
		t.Errorf("%+v", m.Results[0].Assay)
	}
	if q := m.Questions[0]; q.Sequence != 1 || q.Type != Choice || !q.Required {
		t.Errorf("%+v", q)
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add([]byte(acmeCSV))
	f.Add([]byte("\xef\xbb\xbfname,results,provider_id\n\"a\nb\",2345-7?,X\n"))
	f.Fuzz(func(t *testing.T, text []byte) { checkReader(t, ReadCSV, text) })
}

func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(acmeJSON))
	f.Add([]byte(`{"markers":[null,{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) { checkReader(t, ReadJSON, text) })
}

// checkReader checks that a reader returns an error, problems, or markers that can
// be stored.
func checkReader(t *testing.T, read func([]byte) (*Compendium, error), text []byte) {
	c, err := read(text)
	if err != nil {
		return
	}
	markers, problems := c.checkMarkers(*acmeLab())
	if len(problems) > 0 {
		return
	}
	for _, m := range markers {
		if m.ProviderID == "" || m.Name == "" || len(m.Results) == 0 || len(m.Methods) == 0 || m.Type == "" {
			t.Errorf("accepted %+v", m)
		}
	}
}
