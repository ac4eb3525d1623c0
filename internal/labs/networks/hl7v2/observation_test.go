package hl7v2

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/platform/civil"
)

func reports(t *testing.T, text string, lab Lab) []networks.Report {
	t.Helper()
	m, err := hl7.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return readReports(m, m.Header(), "northlab", lab)
}

func expect(t *testing.T, got []networks.Report, zone int, want string) {
	t.Helper()
	if diff := gocmp.Diff(strings.Trim(want, "\n"), describe(got, time.FixedZone("", zone*3600))); diff != "" {
		t.Error(diff)
	}
}

// One message has most kinds of content that labs send:
//
//   - two codings, and structured and coded values
//   - notes, and a correction within the message
//   - a test that was not performed, and a rejected specimen
//   - a PDF with broken lines
func TestAWholeReport(t *testing.T) {
	raw, err := os.ReadFile("testdata/oru-panel.hl7")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, reports(t, string(raw), modernLab), -5, `
order 01890000-0000-7000-8000-000000000001 sample F-900 of Ada Quill 2012-07-09 female at 2026-03-04T09:25:00-05:00 account 44120
corrected
specimen 798656817356 volume 3 mL fasting true information Fasting 10 hours
collected 2026-03-03T08:15:00-05:00
received 2026-03-03T19:00:00-05:00
reported 2026-03-04T09:25:00-05:00
CMP01: 25000100 Glucose (LOINC 2345-7) = 91 numeric mg/dL range 65-99 flag N status F at 2026-03-03T08:15:00-05:00 by 05D9999901
CMP01: 25000200 Potassium (LOINC 2823-3) = 6.8 numeric mmol/L range 3.5-5.3 flag HH status F at 2026-03-03T08:15:00-05:00 by 05D9999901
  note: Repeated and verified.
  note: Called to the clinic.
CMP01: 25000300 eGFR = >90 range mL/min/1.73m2 range > OR = 60 status F at 2026-03-03T08:15:00-05:00 by 05D9999901
CMP01: 25000301 ANA titer = 1:80 range <1:40 flag H status F at 2026-03-03T08:15:00-05:00 by 05D9999901
CMP01: 25000400 ABO group (LOINC 882-1) = Group A coded_value status F at 2026-03-03T08:15:00-05:00 by 05D9999901
CMP01: 25000500 Color = Yellow range Yellow status F at 2026-03-03T08:15:00-05:00 by 05D9999901
CMP01: 25000600 Comment = First line⏎Second & line⏎Third line comment status F at 2026-03-03T08:15:00-05:00 by 05D9999901
CMP01: 25000700 Lipase = 14 numeric U/L range 10-60 flag N status C at 2026-03-03T08:15:00-05:00 by 05D9999901
missing CBC: CBC Blood count because collection_process_failure note Clotted; please recollect. rest
missing CMP01: 25000800 Insulin note TNP⏎Specimen was not frozen.
laboratory 05D9999901: North Laboratory, CLIA 05D9999901, Dr. Nora Lark, MD, 8 Retort Street||Plainfield|NJ|07060
report of North Laboratory, CLIA 05D9999901
comment: Specimen slightly lipemic.
comment: Clotted; please recollect.
PDF "%PDF-1.4"… of 306 bytes
0 more documents, refused [], 1 more specimens`)
}

const (
	oruHead = "MSH|^~\\&|NLIS|NORTH|HALE|44120|202603040930||ORU^R01|N-1|P|2.3\rPID|1||x||Fern^Otto||19711201|M\r"
	orderA  = "01890000-0000-7000-8000-00000000000a"
	orderB  = "01890000-0000-7000-8000-00000000000b"
)

func TestReports(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"two orders in one message": {
			"OBR|1|" + orderA + "|F1|TSH^Thyrotropin|||||||||||||||||||||F\rOBX|1|NM|TSH||2.1||||||F\r" +
				"OBR|1|" + orderB + "|F2|TSH^Thyrotropin|||||||||||||||||||||P\rOBX|1|NM|TSH||2.2||||||P\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
TSH: TSH = 2.1 numeric status F
order ` + orderB + ` sample F2 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
partial
TSH: TSH = 2.2 numeric status P`,
		},
		"two patients": {
			"OBR|1||F1|TSH\rOBX|1|NM|TSH||2.1||||||F\rPID|2||y||Moss^Iris||19800101|F\rOBR|1||F1|TSH\rOBX|1|NM|TSH||2.2||||||F\r", `
order  sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
TSH: TSH = 2.1 numeric status F
order  sample F1 of Iris Moss 1980-01-01 female at 2026-03-04T09:30:00Z account 44120
TSH: TSH = 2.2 numeric status F`,
		},
		"no OBR at all": {
			"OBX|1|NM|K^Potassium||4.1|mmol/L|||||F\rNTE|1||late\r", `
order  of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
: K Potassium = 4.1 numeric mmol/L status F
  note: late`,
		},
		"a reflex test names its parent": {
			"OBR|1|" + orderA + "|F1|TSH\rOBX|1|NM|TSH||9||||||F\rOBR|2||F2|FT4" + strings.Repeat("|", 25) + orderA + "&HALE^F1\rOBX|1|NM|FT4||1.1||||||F\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
TSH: TSH = 9 numeric status F
FT4: FT4 = 1.1 numeric status F`,
		},
		"the numbers are in ORC": {
			"ORC|RE|" + orderA + "|F1|||||||||||||||||||\rNTE|1||about the order\rOBR|1|||TSH\rOBX|1|NM|TSH||9||||||F\rOBR|2|||FT4\rOBX|1|NM|FT4||1||||||F\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
TSH: TSH = 9 numeric status F
FT4: FT4 = 1 numeric status F
comment: about the order`,
		},
		"a late preliminary does not undo a final": {
			"OBR|1|" + orderA + "|F1|K\rOBX|1|NM|K||4.1||||||F\rOBX|2|NM|K||4.0||||||P\rOBX|3|NM|K||4.1||||||F\rOBX|4|NM|K||5.0||||||F\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
K: K = 4.1 numeric status F
K: K = 5.0 numeric status F`,
		},
		"sub-ids tell organisms apart": {
			"OBR|1|" + orderA + "|F1|CULT\rOBX|1|CE|ORG|1|^E. coli||||||F\rOBX|2|CE|ORG|2|^K. oxytoca||||||F\rOBX|3|CE|ORG|1|^E. coli O157||||||C\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
corrected
CULT: ORG = E. coli O157 coded_value status C sub 1
CULT: ORG = K. oxytoca coded_value status F sub 2`,
		},
		"times and identifiers are words": {
			"OBR|1|" + orderA + "|F1|PRE\rOBX|1|DT|LMP||20261101||||||F\rOBX|2|TM|LAST||1030||||||F\rOBX|3|TS|SEEN||202611011030+0100||||||F\rOBX|4|CX|BAG||12345^^^BB||||||F\rOBX|5|DT|BORN||2026||||||F\rOBX|6|DT|ODD||soon||||||F\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
PRE: LMP = 2026-11-01 comment status F
PRE: LAST = 10:30 comment status F
PRE: SEEN = 2026-11-01 10:30 +01:00 comment status F
PRE: BAG = 12345 comment status F
PRE: BORN = 2026 comment status F
PRE: ODD = soon comment status F`,
		},
		"an image is refused, and no value": {
			"OBR|1|" + orderA + "|F1|IMG\rOBX|1|ED|IMG||^image^png^Base64^iVBORw0KGgo=||||||F\rOBX|2|ED|IMG||^image^png^Base64^iVBORw0KGgo=||||||W\rOBX|3|NM|K||4||||||F\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
IMG: K = 4 numeric status F
0 more documents, refused [not_pdf], 0 more specimens`,
		},
		"a text continues in the next OBX": {
			"OBR|1|" + orderA + "|F1|PATH\rOBX|1|TX|DX^Diagnosis||Benign||||||F\rOBX|2|TX|DX^Diagnosis||nevus.||||||F\rOBX|3|TX|GR^Gross||Brown.||||||F\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
PATH: DX Diagnosis = Benign⏎nevus. comment status F
PATH: GR Gross = Brown. comment status F`,
		},
		"a corrected text takes the place of the first": {
			"OBR|1|" + orderA + "|F1|PATH\rOBX|1|TX|DX||Benign||||||F\rOBX|2|TX|DX||nevus.||||||F\rOBX|3|NM|N||1||||||F\r" +
				"OBX|4|TX|DX||Atypical||||||C\rOBX|5|TX|DX||nevus.||||||C\rOBX|6|TX|DX||Early||||||P\rOBX|7|TX|DX||words.||||||P\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
corrected
PATH: DX = Atypical⏎nevus. comment status C
PATH: N = 1 numeric status F`,
		},
		"withdrawn": {
			"OBR|1|" + orderA + "|F1|K|||||||||||||||||||||C\rOBX|1|NM|K||4.1||||||W\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
corrected
missing K: K note the laboratory withdrew this result`,
		},
		"the specimen was too small": {
			"OBR|1|" + orderA + "|F1|K|||||||||||||||||||||X\rOBX|1|ST|K||QNS||||||X\rSPM|1|S1|||||||||||||||||||QS^Quantity not sufficient^HL70490\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
status sample_error detail sample_quantity_not_sufficient tests K
specimen S1
missing K: K because quantity_not_sufficient_failure note QNS`,
		},
		"the specimen has no collection date": {
			"OBR|1|" + orderA + "|F1|K|||||||||||||||||||||I\rSPM|1|S1|||||||||||||||||||RD\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
status lab_processing_blocked detail date_of_collection_unspecified tests K`,
		},
		"the specimen arrived": {
			"OBR|1|" + orderA + "|F1|K|||||||||||||||||||||I\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
status delivered_to_lab`,
		},
		"the lab cancelled beside the results": {
			"ORC|OC|" + orderA + "|F1\rOBR|1|" + orderA + "|F1|K\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
status cancelled tests K`,
		},
		"the lab cancelled one test beside the values of another": {
			"ORC|RE|" + orderA + "|F1\rOBR|1|" + orderA + "|F1|K\rOBX|1|NM|K||4||||||F\r" +
				"ORC|OC|" + orderA + "|F1" + strings.Repeat("|", 13) + "X9^Not offered\rOBR|2|" + orderA + "|F1|NA|||||||||||||||||||||X\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
refused NA because Not offered
K: K = 4 numeric status F
missing NA: NA rest`,
		},
		"the lab cancelled two tests and rejected the specimen of one": {
			"ORC|OC|" + orderA + "|F1" + strings.Repeat("|", 13) + "X9^Not offered\rOBR|1|" + orderA + "|F1|NA\r" +
				"ORC|OC|" + orderA + "|F1\rOBR|2|" + orderA + "|F1|K^Potassium^99NL^2823-3^Potassium^LN\rSPM|1" + strings.Repeat("|", 20) + "QS\r", `
order ` + orderA + ` sample F1 of Otto Fern 1971-12-01 male at 2026-03-04T09:30:00Z account 44120
status sample_error detail sample_quantity_not_sufficient tests K,2823-3 refused NA because Not offered`,
		},
		"nothing": {"", ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, reports(t, oruHead+c.body, modernNoZone()), 0, c.want) })
	}
}

// modernNoZone returns a lab without a zone in its messages and settings.
func modernNoZone() Lab {
	lab := modernLab
	lab.Zone = ""
	return lab
}

// If a field repeats a flag, the worst flag counts, in any spelling.
func TestRepeatedFlags(t *testing.T) {
	for field, want := range map[string]string{"H~HH": "HH", "HIGH~Critical": "Critical", "A~!!": "!!", "N~POS": "POS", "N": "N", "S~N": "S", "": ""} {
		got := reports(t, oruHead+"OBR|1|"+orderA+"|F1|K\rOBX|1|NM|K||4||"+"|"+field+"|||F\r", modernNoZone())
		if flag := got[0].Results.Results[0].Flag; flag != want {
			t.Errorf("%s: %q, want %q", field, flag, want)
		}
	}
}

// A message with very many values of one test, and very many reasons to reject
// its specimen, is read completely. Comparing each with each would take
// minutes, so the test needs no clock.
func TestManyValuesOfOneTest(t *testing.T) {
	const many = 50_000
	var text strings.Builder
	text.WriteString(oruHead + "OBR|1|" + orderA + "|F1|K\rSPM|1" + strings.Repeat("|", 20) + strings.Repeat("ZZ~QS~", many) + "\r")
	for n := range many {
		fmt.Fprintf(&text, "OBX|1|NM|K||%d||||||F\rOBX|1|ST|G%d||QNS||||||X\r", n, n)
	}
	got := reports(t, text.String(), modernNoZone())
	if set := got[0].Results; len(set.Results) != many || len(set.Missing) != many {
		t.Errorf("%d values, %d missing", len(set.Results), len(set.Missing))
	}
}

func TestStatusMessages(t *testing.T) {
	head := func(kind string) string { return "MSH|^~\\&|NLIS|NORTH|HALE||202603040930||" + kind + "|N-1|P|2.5.1\r" }
	order := "|" + orderA + "|F1\r"
	for name, c := range map[string]struct{ message, want string }{
		"accepted":             {head("ORL^O22") + "MSA|AA|1\rORC|OK" + order + "OBR|1|" + orderA + "|F1|K", "status requisition_created tests K"},
		"refused":              {head("ORR^O02") + "MSA|AA|1\rORC|UA" + order, "status do_not_process"},
		"refused for a reason": {head("ORR^O02") + "MSA|AA|1\rORC|UA|" + orderA + "|F1" + strings.Repeat("|", 13) + "X9^Account on hold\rNTE|1||Call us", "status do_not_process because Account on hold; Call us"},
		"one test refused":     {head("ORL^O22") + "MSA|AA|1\rORC|UA" + order + "OBR|1|" + orderA + "|F1|K\rORC|UA" + order + "OBR|2|" + orderA + "|F1|NA", "status do_not_process tests K,NA"},
		"one test taken":       {head("ORL^O22") + "MSA|AA|1\rORC|UA" + order + "OBR|1|" + orderA + "|F1|K\rORC|OK" + order + "OBR|2|" + orderA + "|F1|NA", "status requisition_created tests NA refused K"},
		"one test taken, with why": {head("ORL^O22") + "MSA|AA|1\rORC|OK" + order + "OBR|1|" + orderA + "|F1|K\rNTE|1||thanks\r" +
			"ORC|CR|" + orderA + "|F1" + strings.Repeat("|", 13) + "X9^Not offered\rOBR|2|" + orderA + "|F1|NA", "status requisition_created tests K refused NA because Not offered"},
		"one test refused, one cancelled": {head("ORL^O22") + "MSA|AA|1\rORC|UA" + order + "OBR|1|" + orderA + "|F1|K\rNTE|1||No tube\r" +
			"ORC|CR" + order + "OBR|2|" + orderA + "|F1|NA\rNTE|1||Closed", "status do_not_process tests K,NA because No tube; Closed"},
		"tests in two codings": {head("OML^O21") + "ORC|OC" + order + "OBR|1|" + orderA + "|F1|K^Potassium^99NL^2823-3^Potassium^LN\r" +
			"ORC|OC" + order + "OBR|2|" + orderA + "|F1|2951-2^Sodium^LN", "status cancelled tests K,2823-3,2951-2"},
		"cancelled as asked":    {head("ORL^O22") + "MSA|AA|1\rORC|CR" + order, "status cancelled"},
		"our wish repeated":     {head("ORL^O22") + "MSA|AA|1\rORC|CA" + order, ""},
		"cancelled by the lab":  {head("ORM^O01") + "ORC|CA" + order, "status cancelled"},
		"one test cancelled":    {head("OML^O21") + "ORC|OC" + order + "OBR|1|" + orderA + "|F1|K^Potassium", "status cancelled tests K"},
		"status changed":        {head("ORM^O01") + "ORC|SC|" + orderA + "|F1||CA\r", "status cancelled"},
		"status is in progress": {head("ORM^O01") + "ORC|SC|" + orderA + "|F1||IP\r", ""},
		"an order":              {head("ORM^O01") + "ORC|NW" + order, ""},
	} {
		want := ""
		if c.want != "" {
			want = "order " + orderA + " sample F1 of   0000-00-00 at 2026-03-04T09:30:00Z\n" + c.want
		}
		t.Run(name, func(t *testing.T) { expect(t, reports(t, c.message, modernNoZone()), 0, want) })
	}
}

func TestRejections(t *testing.T) {
	for code, want := range map[string]string{
		"QS": "status sample_error detail sample_quantity_not_sufficient tests K",
		"RH": "status sample_error detail sample_hemolyzed tests K",
		"RN": "status sample_error detail sample_contaminated tests K",
		"EX": "status sample_error detail sample_stability_exceeded tests K",
		"RC": "status sample_error detail sample_improper_collection tests K",
		"RM": "status sample_error tests K",
		"ZZ": "status sample_error tests K",
		"RE": "status lab_processing_blocked detail demographic_information_unspecified tests K",
		"RI": "status lab_processing_blocked detail demographic_information_mismatch tests K",
	} {
		got := describe(reports(t, oruHead+"OBR|1|"+orderA+"|F1|K\rSPM|1||||||||||||||||||||"+code+"\r", modernNoZone()), time.UTC)
		if _, status, _ := strings.Cut(got, "\n"); status != want {
			t.Errorf("%s: %q", code, status)
		}
	}
	// The lab's words are the reason, whether or not it ends the test (OBR-25 X).
	for _, control := range []string{"", "RE", "SC"} {
		for _, status := range []string{"", "X"} {
			message := oruHead + "ORC|" + control + "|" + orderA + "|F1\rOBR|1|" + orderA + "|F1|K" + strings.Repeat("|", 21) + status +
				"\rNTE|1||hemolyzed, draw again\rSPM|1" + strings.Repeat("|", 20) + "RH\r"
			all := reports(t, message, modernNoZone())
			if len(all) != 1 || all[0].Status != "sample_error" || all[0].Reason != "hemolyzed, draw again" || all[0].Placer != orderA || !slices.Equal(all[0].Tests, []string{"K"}) {
				t.Errorf("%s %s: %+v", control, status, all)
			}
		}
	}
	// A lab that has values reports missing tests, and the order continues.
	got := describe(reports(t, oruHead+"OBR|1|"+orderA+"|F1|K\rOBX|1|NM|K||4||||||F\rOBR|2|"+orderA+"|F1|CBC|||||||||||||||||||||X\rSPM|1||||||||||||||||||||RH\r", modernNoZone()), time.UTC)
	if strings.Contains(got, "status sample_error") || !strings.Contains(got, "missing CBC: CBC because collection_process_failure") {
		t.Errorf("a specimen of two: %s", got)
	}
}

func TestZones(t *testing.T) {
	body := "PID|1\rOBR|1|A||K|||20260701120000\rOBX|1|NM|K||4||||||F\r"
	for name, c := range map[string]struct{ sent, zone, want string }{
		"no zone":            {"20260701130000", "", "2026-07-01T12:00:00 without zone"},
		"the settings do":    {"20260701130000", "America/New_York", "2026-07-01T12:00:00-04:00"},
		"the message does":   {"20260701130000-0700", "America/New_York", "2026-07-01T12:00:00-07:00"},
		"it is no time":      {"yesterday", "America/New_York", "2026-07-01T12:00:00-04:00"},
		"nothing is a time ": {"", "", "2026-07-01T12:00:00 without zone"},
	} {
		got := reports(t, "MSH|^~\\&|NLIS|NORTH|HALE||"+c.sent+"||ORU^R01|1|P|2.5.1\r"+body, Lab{Zone: c.zone})
		if at := moment(got[0].Results.Results[0].At); at != c.want {
			t.Errorf("%s: %s", name, at)
		}
	}
}

func FuzzRead(f *testing.F) {
	raw, err := os.ReadFile("testdata/oru-panel.hl7")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(oruHead + "OBX|1|ED|||^^PDF^Hex^2525\rSPM|1\rNTE|1||x\rORC|OC\rPID|2\rORC|UA\rORC|OK\rOBR|1\rOBR|2\r"))
	f.Add([]byte("MSH|^~\\&|A|B|C|D|2026||ORL^O22|1|P|2.8\rORC|UA\rNTE|1||x"))
	f.Add([]byte("MSH|!#\nORC|RE \nSPM|||||||||||||||||2026")) // a time of collection alone
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := hl7.Parse(data)
		if err != nil {
			return
		}
		for _, r := range readReports(m, m.Header(), "northlab", modernLab) {
			if r.Status == "" && r.Results == nil && r.Collected.Time.IsZero() {
				t.Fatal("a report that says nothing")
			}
			if r.Results == nil {
				continue
			}
			for _, result := range r.Results.Results {
				if result.Value == "" {
					t.Fatal("a result without a value")
				}
			}
		}
	})
}

// A report carries its lab's setting of the identity, and the person of PID.
func TestReportedIdentity(t *testing.T) {
	lines := []string{
		`MSH|^~\&|NLIS|NORTH|HALE||20260304||ORU^R01|1|P|2.5.1`, `PID|1||7||BYRON^ADA^M^JR||19841210|F`,
		`OBR|1|0195d3c0-0000-7000-8000-000000000001||1^T^L`, `OBX|1|NM|1^T^L||5|||N|||F`,
	}
	for _, c := range []struct {
		pid      string
		identity string
		want     networks.ReportedPatient
	}{
		{lines[1], "", networks.ReportedPatient{FirstName: "ADA M", LastName: "BYRON", DOB: civil.MustParse("1984-12-10"), Gender: "female"}},
		{`PID|1||7||BYRON^ADA^""^JR`, "", networks.ReportedPatient{FirstName: "ADA", LastName: "BYRON"}},
		{`PID|1||7||||1984`, "patient", networks.ReportedPatient{}},
		{`PID|1||7|||||Male`, "", networks.ReportedPatient{Gender: "male"}},
		{`PID|1||7|||||^FEMALE`, "", networks.ReportedPatient{Gender: "female"}},
		{`PID|1||7|||||U`, "", networks.ReportedPatient{Gender: "unknown"}},
		{`PID|1||7||^^^^^^L`, identityByNumber, networks.ReportedPatient{}},
	} {
		m, err := hl7.Parse([]byte(strings.Join([]string{lines[0], c.pid, lines[2], lines[3]}, "\r")))
		if err != nil {
			t.Fatal(err)
		}
		reports := readReports(m, m.Header(), "northlab", Lab{Identity: c.identity})
		if len(reports) != 1 || reports[0].Patient != c.want || reports[0].IdentityByNumber != (c.identity == identityByNumber) {
			t.Errorf("%s: %d reports of %v", c.pid, len(reports), reports)
		}
	}
}

// A final status is that of its test, unless the lab says otherwise. A message that
// continues in another one is partial. A time without a day is no time.
func TestFinalMessages(t *testing.T) {
	text := `MSH|^~\&|NLIS|NORTH|HALE||20260304||ORU^R01|1|P|2.5.1` + "\rPID|1||7||BYRON^ADA||19841210|F\r" +
		`OBR|1|0195d3c0-0000-7000-8000-000000000001||1^T^L|||202603` + "\r" + `OBX|1|NM|1^T^L||5|||N|||F` + "\r"
	for _, c := range []struct {
		rest, finals       string
		testsOnly, partial bool
	}{{"", "", true, false}, {"", finalTest, true, false}, {"", finalOrder, false, false}, {"DSC||F", "", true, false}, {"DSC|CONT1|F", "", true, true}} {
		m, err := hl7.Parse([]byte(text + c.rest))
		if err != nil {
			t.Fatal(err)
		}
		reports := readReports(m, m.Header(), "northlab", Lab{FinalResults: c.finals})
		if len(reports) != 1 || reports[0].Results == nil {
			t.Fatalf("%s: reports %+v", c.rest, reports)
		}
		if set := reports[0].Results; set.TestsOnly != c.testsOnly || set.Partial != c.partial || !set.Specimen.Collected.Time.IsZero() {
			t.Errorf("%q, %q: %+v", c.rest, c.finals, set)
		}
	}
}
