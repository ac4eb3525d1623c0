package hl7v2

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/platform/civil"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	text := strings.ReplaceAll(string(got), "\r", "\n") // a file that a review can show
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), text); diff != "" {
		t.Error(diff)
	}
}

var placedAt = time.Date(2026, 3, 2, 15, 4, 5, 0, time.UTC)

// bigOrder returns an order with every field. All of it is invented.
func bigOrder() networks.Order {
	home := networks.Address{FirstLine: "12 Larch & Elm Way", SecondLine: "Apt 3", City: "Plainfield", State: "NJ", Zip: "07060", Country: "US"}
	patient := networks.Patient{
		ID: uuid.MustParse("01890000-0000-7000-8000-00000000aaaa"), FirstName: "Ada", LastName: "Quill",
		DOB: civil.MustParse("2012-07-09"), Gender: "female", Phone: "+19085550143", Email: "ada.quill@example.com",
		Address: home, Race: "asian", Ethnicity: "non_hispanic",
	}
	father := networks.Patient{FirstName: "Bram", LastName: "Quill", DOB: civil.MustParse("1980-01-31"), Gender: "male", Phone: "+442079460000", Address: home}
	return networks.Order{
		ID: uuid.MustParse("01890000-0000-7000-8000-000000000001"), Lab: "northlab",
		Account: networks.Account{Number: "44120", Name: "Plain Care"}, Method: "walk_in_test", Priority: true,
		Patient: patient, Physician: networks.Physician{FirstName: "Iris", LastName: "Moss", NPI: "1234567893"},
		Practice: networks.Practice{
			Name: "Plain Care", Phone: "+19085550100", Fax: "+19085550101", AfterHours: "+19085550102",
			Address: networks.Address{FirstLine: "9 Clinic Way", City: "Plainfield", State: "NJ", Zip: "07060", Country: "US"},
		},
		Tests: []networks.Test{
			{MarkerID: 7, ProviderID: "CMP01", Name: "Metabolic panel, comprehensive", Specimen: networks.SpecimenNeeded{
				Name: "Serum", SNOMED: "119364003", SNOMEDName: "Serum specimen", HL7: "SER", HL7Name: "Serum",
			}},
			{MarkerID: 8, ProviderID: "LEAD", Name: "Lead | venous", Specimen: networks.SpecimenNeeded{
				Name: "Dried blood spots", SNOMED: "440500007", SNOMEDName: "Dried blood spot specimen",
			}},
		},
		Answers: []networks.Answer{
			{MarkerID: 8, ProviderID: "LEAD", QuestionCode: "SRC", Question: "Source of the sample", Answer: "venous"},
			{MarkerID: 8, ProviderID: "LEAD", QuestionCode: "EXP", Question: "Known exposure?", Answer: "Y"},
		},
		Billing: "commercial_insurance", ICDCodes: []string{"Z77.011", "E55.9"},
		Insurance: &networks.Insurance{
			PayorCode: "INV01", Company: "Invented Mutual",
			CompanyAddress: networks.Address{FirstLine: "1 Policy Plaza", City: "Trenton", State: "NJ", Zip: "08601", Country: "US"}, MemberID: "M-55", GroupID: "G-1", Relationship: "Other",
			Insured: father, Guarantor: &father,
		},
		Notes: "Fainted at the last draw.\n\nPlease lie the patient down.", Fasting: true, PlacedAt: placedAt,
	}
}

func smallOrder() networks.Order {
	return networks.Order{
		ID: uuid.MustParse("01890000-0000-7000-8000-000000000002"), Lab: "northlab", SampleID: "KIT-77",
		Account: networks.Account{Number: "44120", Name: "Plain Care"},
		Patient: networks.Patient{
			ID: uuid.MustParse("01890000-0000-7000-8000-00000000bbbb"), FirstName: "Otto", LastName: "Fern",
			DOB: civil.MustParse("1971-12-01"), Gender: "male", Phone: "(908) 555-0199",
			Address: networks.Address{FirstLine: "1 Pine Rd", City: "Plainfield", State: "NJ", Zip: "07060"},
		},
		Physician: networks.Physician{FirstName: "Iris", LastName: "Moss", NPI: "1234567893"},
		Tests:     []networks.Test{{MarkerID: 9, ProviderID: "TSH", Name: "Thyrotropin"}},
		Billing:   "client_bill", PlacedAt: placedAt,
	}
}

var (
	modernLab = Lab{Application: "HALE", LabApplication: "NLIS", LabFacility: "NORTH", Zone: "America/New_York", CodeSystem: "99NL"}
	olderLab  = Lab{Application: "HALE", Facility: "PLAIN", LabApplication: "NLIS", LabFacility: "NORTH", Order: "ORM", Version: "2.3", Charset: "ASCII", Sandbox: true}
)

func TestOrderMessages(t *testing.T) {
	for name, m := range map[string]*hl7.Message{
		"order-oml.hl7":       orderMessage(modernLab, bigOrder(), "C1"),
		"order-orm.hl7":       orderMessage(olderLab, bigOrder(), "C2"),
		"order-small-oml.hl7": orderMessage(modernLab, smallOrder(), "C3"),
		"cancel-oml.hl7":      cancelMessage(modernLab, smallOrder(), "C4", placedAt.Add(time.Hour)),
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := m.Emit()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, raw)
		})
	}
}

// Every field of the order can be read back from the place where labs expect it.
func TestOrderMessagesAreParsedBack(t *testing.T) {
	text := rapid.StringN(1, 30, -1).Filter(func(s string) bool {
		return s == strings.TrimSpace(s) && !strings.ContainsAny(s, "\r\x00") && s != `""`
	})
	rapid.Check(t, func(t *rapid.T) {
		order := bigOrder()
		order.Patient.FirstName, order.Patient.LastName = text.Draw(t, "first"), text.Draw(t, "last")
		order.Patient.Address.FirstLine = text.Draw(t, "street")
		order.Tests[1].Name = text.Draw(t, "test")
		order.Answers[0].Answer = text.Draw(t, "answer")
		order.Insurance.MemberID = text.Draw(t, "member")
		lab := modernLab
		if rapid.Bool().Draw(t, "orm") {
			lab.Order, lab.Version = "ORM", "2.3.1"
		}
		raw, err := orderMessage(lab, order, "C1").Emit()
		if err != nil {
			t.Fatal(err)
		}
		m, err := hl7.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		pid, tests := m.First("PID"), requests(m)
		for place, pair := range map[string][2]string{
			"last":   {pid.Get(5), order.Patient.LastName},
			"first":  {pid.Get(5, 2), order.Patient.FirstName},
			"born":   {pid.Get(7), "20120709"},
			"street": {pid.Get(11), order.Patient.Address.FirstLine},
			"member": {m.First("IN1").Get(36), order.Insurance.MemberID},
			"placer": {placerOf(tests[1]), order.ID.String()},
			"code":   {tests[1].obr.Get(4), "LEAD"},
			"test":   {tests[1].obr.Get(4, 2), order.Tests[1].Name},
			"answer": {tests[1].observations[0].obx.Get(5), order.Answers[0].Answer},
			"asked":  {tests[1].observations[1].obx.Get(3), "EXP"},
			"note":   {strings.Join(tests[0].notes, "/"), "Fainted at the last draw./Please lie the patient down."},
		} {
			if pair[0] != pair[1] {
				t.Fatalf("%s came back as %q, not %q", place, pair[0], pair[1])
			}
		}
		if len(tests) != 2 || len(tests[0].observations) != 0 || len(tests[1].observations) != 2 {
			t.Fatal("the answers are not with their test")
		}
	})
}

func TestTheSameOrderIsTheSameBytes(t *testing.T) {
	order := bigOrder()
	control := controlID("NW", order)
	if len(control) != 20 || control != controlID("NW", bigOrder()) || control == controlID("CA", order) || control == controlID("NW", smallOrder()) {
		t.Errorf("control ids: %s %s %s", control, controlID("CA", order), controlID("NW", smallOrder()))
	}
	if n := sampleNumber(order); len(n) != 12 || n != sampleNumber(bigOrder()) || sampleNumber(smallOrder()) != "KIT-77" {
		t.Errorf("sample numbers: %s %s", n, sampleNumber(smallOrder()))
	}
}
