package catalogue

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hale/internal/labs/loinc"
)

// sandboxView returns the catalogue of a sandbox team before any import.
func sandboxView() *Catalogue {
	b := builtinData()
	return newCatalogue(b.labs, b.markers, b.accounts, &b.physician)
}

// slugs are the identifiers of labs that clients of the reference know.
//
// Reference 1.16, Labs.
var slugs = []string{
	"ayumetrix", "spiriplex", "ussl", "quest", "sonora_quest", "labcorp", "bioreference", "us_biotek",
	"manual", "sanocardio", "ihd", "nexus", "my_uti", "crl", "mtl",
}

func TestBuiltinCatalogueIsSound(t *testing.T) {
	c := sandboxView()
	if len(c.Labs()) != len(slugs) {
		t.Errorf("%d labs, %d slugs", len(c.Labs()), len(slugs))
	}
	numbers := map[string]bool{}
	for _, m := range builtinData().markers {
		l, _ := c.Lab(m.Lab)
		if c.markers[m.ID] != m {
			t.Errorf("%s: id %d is given twice", m.Name, m.ID)
		}
		if c.byCode[labCode{m.Lab, m.ProviderID}] != m {
			t.Errorf("%s: code %s is given twice", m.Name, m.ProviderID)
		}
		numbers[m.Name] = true
		if m.Name == "" || len(m.Results) == 0 || len(m.Methods) == 0 || !containsWord(m.Sample, l.SampleTypes) || m.ID < perLab || m.ID >= 1000000 {
			t.Errorf("%s of %s: %+v", m.Name, l.Slug, m)
		}
		if m.CommonTAT == nil || *m.CommonTAT > *m.WorstTAT {
			t.Errorf("%s: turnaround times", m.Name)
		}
		if of, ok := c.MarkerByCode(m.Lab, m.ReflexOf); m.Reflex && (!ok || of.Reflex) {
			t.Errorf("%s follows nothing", m.Name)
		}
		for _, r := range m.Results {
			checkAssay(t, r)
		}
	}
	if len(numbers) < 150 {
		t.Errorf("%d markers", len(numbers))
	}
	for _, l := range c.Labs() {
		if !strings.Contains(l.Name, "(sandbox)") || !slices.Contains(slugs, l.Slug) || len(c.Markers(MarkerFilter{Labs: []LabID{l.ID}})) == 0 {
			t.Errorf("%+v", l)
		}
	}
}

// checkAssay checks that an assay has enough data to generate a value: words, or
// a range for every person that it applies to.
func checkAssay(t *testing.T, r Result) {
	t.Helper()
	a := r.Assay
	code, ok := loinc.Find(r.LOINC)
	switch {
	case !ok || r.Name == "":
		t.Errorf("%s has no code", r.Name)
	case a.Scale != Quantity:
		if len(a.Normal) == 0 || code.Scale == "Qn" {
			t.Errorf("%s: %+v", r.Name, a)
		}
	default:
		_, women := a.RangeFor("female", 40)
		_, men := a.RangeFor("male", 40)
		if !women && !men || len(a.Normal) > 0 {
			t.Errorf("%s: %+v", r.Name, a)
		}
		if a.CriticalHigh != nil && a.Ranges[0].High != nil && *a.CriticalHigh <= *a.Ranges[0].High {
			t.Errorf("%s: what is critical is normal", r.Name)
		}
	}
}

// Orders and results refer to numbers of the catalogue, so these must not
// change.
func TestNumbersStay(t *testing.T) {
	c := sandboxView()
	for id, want := range map[MarkerID]string{
		10001: "Basic Metabolic Panel", 20010: "Lipid Panel", 30013: "TSH with Reflex to Free T4", 50050: "Metabolic Health, Dried Blood Spot",
		140002: "Comprehensive Metabolic Panel", 20263: "H. pylori IgG",
	} {
		m, ok := c.Marker(id)
		if !ok || m.Name != want {
			t.Errorf("marker %d is %+v, was %s", id, m, want)
		}
	}
	m, _ := c.Marker(10001)
	if r := m.Results[0]; r.ID != 10001 || r.LOINC != "2345-7" || r.ProviderID != "800501" {
		t.Errorf("first result %+v", r)
	}
	q, _ := builtinQuestion(FastingCode)
	if q.ID != 1 || q.Answers[1].ID != 2 {
		t.Errorf("fasting question %+v", q)
	}
	if a := c.accounts[0].ID.String(); a != "a9f71ee6-e8a3-53a2-99c1-787d1a904456" {
		t.Errorf("first account is %s", a)
	}
}

func TestMarkersFound(t *testing.T) {
	c := sandboxView()
	yes := true
	for _, x := range []struct {
		f     MarkerFilter
		least int
		first string
	}{
		{MarkerFilter{Name: "tsh", Labs: []LabID{quest}}, 2, "TSH"},
		{MarkerFilter{Name: "70013"}, 1, "TSH with Reflex to Free T4"},
		{MarkerFilter{Labs: []LabID{13}}, 2, "Urinary Tract Infection Panel"},
		{MarkerFilter{Labs: []LabID{9}, ALaCarte: &yes, Name: "panel"}, 2, "Basic Metabolic Panel"},
	} {
		got := c.Markers(x.f)
		if len(got) < x.least || !slices.ContainsFunc(got, func(m *Marker) bool { return m.Name == x.first }) {
			t.Errorf("%+v: %d markers", x.f, len(got))
		}
	}
	for _, m := range c.Markers(MarkerFilter{}) {
		if m.Reflex || !m.Orderable {
			t.Errorf("%s is listed", m.Name)
		}
	}
	if n := len(c.Markers(MarkerFilter{Labs: []LabID{}})); n != 0 {
		t.Errorf("%d markers of no lab", n)
	}
	tsh, _ := c.MarkerByCode(quest, "70013")
	if with := c.AddReflex([]*Marker{tsh}); len(with) != 2 || with[1].Name != "Thyroxine, Free (reflex)" {
		t.Errorf("with reflex: %v", with)
	}
}

func TestRanges(t *testing.T) {
	ranges, err := ParseRanges("F18+=11.1..15.9; M18-65=13..17.7;0-18=..15;-2..")
	if err != nil || len(ranges) != 4 {
		t.Fatal(ranges, err)
	}
	a := Assay{Ranges: ranges}
	for _, x := range []struct {
		sex       string
		age       int
		low, high float64
	}{
		{"female", 18, 11.1, 15.9}, {"male", 18, 13, 17.7}, {"male", 65, -2, math.Inf(1)}, {"male", 17, math.Inf(-1), 15}, {"unknown", 30, -2, math.Inf(1)},
	} {
		r, ok := a.RangeFor(x.sex, x.age)
		if low, high := orInf(r.Low, -1), orInf(r.High, 1); !ok || low != x.low || high != x.high {
			t.Errorf("%s of %d: %v to %v", x.sex, x.age, low, high)
		}
	}
	if _, ok := (Assay{Ranges: ranges[:3]}).RangeFor("unknown", 30); ok {
		t.Error("a range of one sex fits a person whose sex is unknown")
	}
	for _, bad := range []string{"..", "5..1", "x", "1-2", "F=", "18-10=1..2", "1...2", "M=1.2.3..4", "-..5"} {
		if got, err := ParseRanges(bad); err == nil {
			t.Errorf("%q was read as %v", bad, got)
		}
	}
}

func orInf(v *float64, sign int) float64 {
	if v == nil {
		return math.Inf(sign)
	}
	return *v
}

func TestPrices(t *testing.T) {
	for text, want := range map[string]Pricing{
		"16.50": {Minor: 1650}, "$7": {Minor: 700}, "0.00": {}, "N/A": {Unspecified: PriceUnavailable}, "": {Unspecified: PriceUnavailable},
		"Refer to contract": {Unspecified: ReferToContract}, "-3": {Unspecified: PriceUnavailable}, "NaN": {Unspecified: PriceUnavailable},
	} {
		if got := PriceOf(&Marker{Price: text}); got != want {
			t.Errorf("%q costs %+v", text, got)
		}
	}
	c := sandboxView()
	tsh, _ := c.MarkerByCode(quest, "70013")
	contract, _ := c.MarkerByCode(birch, "B0070")
	if p := c.PanelPricing([]*Marker{tsh}); p.Minor != 2100 || p.Reflex != 1500 {
		t.Errorf("%+v", p)
	}
	if p := c.PanelPricing([]*Marker{contract}); p.Unspecified != ReferToContract {
		t.Errorf("%+v", p)
	}
}
