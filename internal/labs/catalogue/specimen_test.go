package catalogue

import (
	"slices"
	"strings"
	"testing"

	"hale/internal/labs/loinc"
)

// Every marker of the sandbox has a specimen with a known type and a container.
// Tests that serum would spoil need the right tube.
func TestSpecimensOfTheSandbox(t *testing.T) {
	special := map[string]SpecimenType{
		"CBC with Differential": EDTABlood, "CBC without Differential": EDTABlood, "Hemoglobin A1c": EDTABlood, "Prothrombin Time": CitratePlasma,
		"INR": CitratePlasma, "BNP": EDTAPlasma, "Lipid Panel": SerumSpecimen, "HbA1c, Dried Blood Spot": DriedBloodSpots, "Lead, Blood": EDTABlood,
	}
	seen := map[string]bool{}
	for _, m := range builtinData().markers {
		s := m.Collect()
		if _, known := s.Type.Code(); !known || s.Container == "" || s.MinVolume == "" || s.Stability == "" || !slices.Contains(Temperatures, s.Temperature) {
			t.Errorf("%s: %+v", m.Name, s)
		}
		if want, ok := special[m.Name]; ok {
			seen[m.Name] = true
			if s.Type != want {
				t.Errorf("%s needs %s, want %s", m.Name, s.Type, want)
			}
		}
		for _, r := range m.Results { // a result that is measured in whole blood or plasma
			if want := map[string]SpecimenType{"718-7": EDTABlood, "5902-2": CitratePlasma}[r.LOINC]; want != "" && s.Type != want && m.Sample == Serum {
				t.Errorf("%s reports %s and needs %s", m.Name, r.Name, s.Type)
			}
		}
	}
	for name := range special {
		if !seen[name] {
			t.Errorf("the sandbox has no %s", name)
		}
	}
}

// The codes of panels are well-formed, and belong to markers of the same name.
func TestCodesOfPanels(t *testing.T) {
	words := map[string]string{"24321-2": "Basic", "24323-8": "Comprehensive", "24326-1": "Electrolyte", "24325-3": "Hepatic", "57021-8": "CBC with", "58410-2": "CBC without", "24331-1": "Lipid", "57698-3": "Direct LDL", "34528-0": "Prothrombin"}
	seen := map[string]bool{}
	for _, m := range builtinData().markers {
		if m.LOINC != "" && (!loinc.IsCode(m.LOINC) || !strings.Contains(m.Name, words[m.LOINC]) || m.Type != LabPanel) {
			t.Errorf("%s has the code %s", m.Name, m.LOINC)
		}
		seen[m.LOINC] = true
	}
	for code := range words {
		if !seen[code] {
			t.Errorf("no marker has the code %s", code)
		}
	}
}

func TestSpecimenCodes(t *testing.T) {
	for _, c := range SpecimenCodes {
		if got, known := c.Type.Code(); !known || got != c || c.Name == "" || c.SNOMED == "" || (c.HL7 == "") != (c.HL7Name == "") {
			t.Errorf("%+v", c)
		}
	}
	if _, known := UnknownSpecimen.Code(); known {
		t.Error("an unknown specimen has a code")
	}
}

// A compendium has the specimen of each test, in CSV and in JSON.
func TestImportedSpecimens(t *testing.T) {
	const columns = "provider_id,name,results,specimen_type,container,minimum_volume,temperature,stability,collection_notes\n"
	lab := Lab{ID: 1, Methods: Methods}
	c, err := ReadCSV([]byte(columns + `A1,Count,718-7,edta_whole_blood,Lavender tube,1 mL,Ambient,24 hours,Do not freeze` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	markers, problems := c.checkMarkers(lab)
	want := Specimen{EDTABlood, "Lavender tube", "1 mL", "ambient", "24 hours", "Do not freeze"}
	if len(problems) > 0 || markers[0].Collect() != want {
		t.Errorf("%v: %+v", problems, markers[0].Specimen)
	}
	c, err = ReadJSON([]byte(`{"markers":[{"provider_id":"A1","name":"Count","expected_results":[{"loinc":"718-7"}],
		"specimen":{"specimen_type":"edta_whole_blood","container":"Lavender tube"}},{"provider_id":"A2","name":"Glucose","expected_results":[{"loinc":"2345-7"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	markers, problems = c.checkMarkers(lab)
	if len(problems) > 0 || markers[0].Collect().Container != "Lavender tube" || markers[1].Collect().Type != SerumSpecimen {
		t.Errorf("%v: %+v", problems, markers[0].Specimen)
	}
	c, err = ReadCSV([]byte(columns + `A1,Count,718-7,milk,` + strings.Repeat("x", 301) + `,,lukewarm,,` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, problems = c.checkMarkers(lab); len(problems) != 3 {
		t.Errorf("problems: %v", problems)
	}
}
