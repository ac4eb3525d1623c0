package hl7v2

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/networks"
)

// The time of collection is also known from a message without results.
func TestCollectionTimeWithoutResults(t *testing.T) {
	head := func(kind string) string { return "MSH|^~\\&|NLIS|NORTH|HALE||202603040930||" + kind + "|N-1|P|2.5.1\r" }
	orc := func(control string) string { return "ORC|" + control + "|" + orderA + "|F1\r" }
	obr := "OBR|1|" + orderA + "|F1|K|||20260302081500-0500"
	spm := "SPM|1" + strings.Repeat("|", 16) + "20260302080000-0500"
	at := func(clock string) string { return "drawn 2026-03-02T" + clock + "-05:00" }
	for name, c := range map[string]struct{ message, want string }{
		"a sample that arrived":       {head("ORU^R01") + obr + strings.Repeat("|", 18) + "I\r", "status delivered_to_lab\n" + at("08:15:00")},
		"a sample in progress":        {head("ORU^R01") + obr + strings.Repeat("|", 18) + "O\r", at("08:15:00")},
		"what is on the tube":         {head("ORU^R01") + obr + "\r" + spm + "\r", at("08:00:00")},
		"a sample that is rejected":   {head("ORU^R01") + obr + "\r" + spm + "||||RH\r", "status sample_error detail sample_hemolyzed tests K\n" + at("08:00:00")},
		"a status that changed":       {head("ORM^O01") + orc("SC") + obr, at("08:15:00")},
		"an order with its sample":    {head("OML^O21") + orc("SC") + "OBR|1|" + orderA + "|F1|K\r" + spm, at("08:00:00")},
		"a new order":                 {head("OML^O21") + orc("NW") + obr + "\r" + spm, ""},
		"a planned time":              {head("ORL^O22") + "MSA|AA|1\r" + orc("OK") + obr, "status requisition_created tests K"},
		"an answer with a sample":     {head("ORL^O22") + "MSA|AA|1\r" + orc("OK") + obr + "\r" + spm, "status requisition_created tests K\n" + at("08:00:00")},
		"no time and nothing to say":  {head("ORM^O01") + orc("SC") + "OBR|1|" + orderA + "|F1|K|||soon", ""},
		"two tests, the first counts": {head("ORM^O01") + orc("SC") + obr + "\r" + orc("SC") + "OBR|2|" + orderA + "|F1|NA|||20260303", at("08:15:00")},
	} {
		want := ""
		if c.want != "" {
			want = "order " + orderA + " sample F1 of   0000-00-00 at 2026-03-04T09:30:00Z\n" + c.want
		}
		t.Run(name, func(t *testing.T) { expect(t, reports(t, c.message, modernNoZone()), 0, want) })
	}
}

// A report has all numbers of its orders and samples. An ORC above several OBR
// has the number of the first one.
func TestFurtherNumbers(t *testing.T) {
	head := "MSH|^~\\&|NLIS|NORTH|HALE||202603040930||ORU^R01|N-1|P|2.5.1\r"
	obx := "\rOBX|1|NM|K||4||||||F\r"
	for name, c := range map[string]struct {
		message          string
		placers, samples []string
	}{
		"one number each":    {"ORC|RE|A|F1\rOBR|1|A|F1|K" + obx, nil, nil},
		"another order":      {"ORC|RE|B|F1\rOBR|1|A|F1|K" + obx, []string{"B"}, nil},
		"another sample":     {"ORC|RE|A|F2\rOBR|1|A|F1|K" + obx + "SPM|1|S1^S2||SER\rSPM|2|F1||SER\r", nil, []string{"F2", "S1", "S2"}},
		"two OBR of one ORC": {"ORC|RE|A|F1\rOBR|1|A|F1|K" + obx + "OBR|2|A|F3|NA" + obx, nil, []string{"F3"}},
	} {
		all := reports(t, head+c.message, modernNoZone())
		if len(all) != 1 || !slices.Equal(all[0].OtherPlacers, c.placers) || !slices.Equal(all[0].OtherSamples, c.samples) {
			t.Errorf("%s: %+v", name, all)
		}
	}
	if two := reports(t, head+"ORC|RE|A|F1\rOBR|1|A|F1|K"+obx+"OBR|2|B|F2|NA"+obx, modernNoZone()); len(two) != 2 || two[1].Placer != "B" || two[1].OtherPlacers != nil {
		t.Errorf("two orders of one ORC: %+v", two)
	}
}

// A result message with only notes is a report: a laboratory may write a finding
// in them. Notes of tests that wait are none.
func TestNotesWithoutValues(t *testing.T) {
	head := "MSH|^~\\&|NLIS|NORTH|HALE||202603040930||ORU^R01|N-1|P|2.5.1\r"
	for status, want := range map[string]string{"F": "comment: CRITICAL K 7.9 called", "": "comment: CRITICAL K 7.9 called", "P": "partial\ncomment: CRITICAL K 7.9 called", "O": "", "S": ""} {
		message := head + "ORC|RE|" + orderA + "|F1\rOBR|1|" + orderA + "|F1|K" + strings.Repeat("|", 21) + status + "\rNTE|1||CRITICAL K 7.9 called\r"
		if want != "" {
			want = "order " + orderA + " sample F1 of   0000-00-00 at 2026-03-04T09:30:00Z\ntests K\n" + want
		}
		expect(t, reports(t, message, modernNoZone()), 0, want)
	}
	if all := reports(t, head+"PID|1||7||Quill^Ada||20120709|F\rNTE|1||CRITICAL K 7.9 called\r", modernNoZone()); len(all) != 1 || all[0].Results == nil || all[0].Patient.LastName != "Quill" {
		t.Errorf("notes without a test: %+v", all)
	}
}

// OBX-11 O is a detail of the order, and N a test that was not asked for. Neither
// is a value.
func TestObservationsWithoutResults(t *testing.T) {
	obx := func(status string) string {
		return "OBX|1|NM|" + status + "1^Test " + status + "||4||||||" + status + "\r"
	}
	got := reports(t, oruHead+"OBR|1|"+orderA+"|F1|K\r"+obx("O")+obx("N")+obx("F"), modernNoZone())[0].Results
	if len(got.Results) != 1 || got.Results[0].ProviderID != "F1" || len(got.Missing) != 1 || got.Missing[0].ProviderID != "N1" || !got.Missing[0].Refused ||
		!slices.Equal(got.Comments, []string{"Test O: 4"}) {
		t.Errorf("%+v", got)
	}
}

// A specimen that is rejected beside values of other tests is the reason why its tests
// are missing. The status of the tests makes no difference.
func TestRejectionsBesideValues(t *testing.T) {
	for name, c := range map[string]struct{ status, code, missing string }{
		"rejected":                 {"F", "RH", "missing CBC: CBC because collection_process_failure rest"},
		"without a status":         {"", "RH", "missing CBC: CBC because collection_process_failure rest"},
		"held up":                  {"", "RI", "partial missing CBC: CBC because order_entry_failure rest"},
		"held up and rejected":     {"", "RI~QS", "missing CBC: CBC because order_entry_failure rest"},
		"held up, and it gives up": {"X", "RI", "missing CBC: CBC because order_entry_failure rest"},
		"an unknown reason":        {"", "ZZ", "missing CBC: CBC rest"},
	} {
		got := describe(reports(t, oruHead+"OBR|1|"+orderA+"|F1|K\rOBX|1|NM|K||4||||||F\rOBR|2|"+orderA+"|F1|CBC"+strings.Repeat("|", 21)+c.status+
			"\rSPM|1"+strings.Repeat("|", 20)+c.code+"\r", modernNoZone()), time.UTC)
		var kept []string
		for line := range strings.Lines(got) {
			if line = strings.TrimSpace(line); line == "partial" || strings.HasPrefix(line, "missing") || strings.HasPrefix(line, "status") {
				kept = append(kept, line)
			}
		}
		if said := strings.Join(kept, " "); said != c.missing {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// OBX-11 U without a value says that the value before is final, even if both are
// in one message.
func TestFinalWithoutAValue(t *testing.T) {
	obx := func(value, flag, status string) string {
		return "OBX|1|NM|K^Potassium|2|" + value + "|mmol/L||" + flag + "|||" + status + "\r"
	}
	for name, c := range map[string]struct {
		segments          string
		values, confirmed int
	}{
		"alone":              {obx("", "", "U"), 0, 1},
		"behind a value":     {obx("5.1", "", "P") + obx("", "", "U"), 1, 1},
		"with its value":     {obx("5.1", "", "U"), 1, 0},
		"with critical flag": {obx("", "HH", "U"), 0, 1},
	} {
		got := reports(t, oruHead+"OBR|1|"+orderA+"|F1|T\r"+c.segments, modernNoZone())[0].Results
		if len(got.Results) != c.values || len(got.Missing) != c.confirmed {
			t.Errorf("%s: %+v", name, got)
		}
		for _, m := range got.Missing {
			if !m.Confirms || m.ProviderID != "K" || m.SubID != "2" {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
}

// A note of a test that mentions a critical value belongs to the flagged values, or to
// all if none has a flag.
func TestCriticalNotesOfATest(t *testing.T) {
	obx := func(code, flag string) string { return "OBX|1|NM|" + code + "||6.1|||" + flag + "|||F\r" }
	for name, c := range map[string]struct{ segments, want string }{
		"one value":       {obx("K", ""), "K"},
		"a flagged value": {obx("K", "H") + obx("NA", "N") + obx("CL", ""), "K"},
		"no flags":        {obx("K", "") + obx("NA", "N"), "K NA"},
	} {
		got := reports(t, oruHead+"OBR|1|"+orderA+"|F1|T\rNTE|1|L|CRITICAL VALUE CALLED TO DR LEE\r"+c.segments+"OBR|2|"+orderA+"|F1|U\r"+obx("X", "H"), modernNoZone())[0].Results
		var with []string
		for _, r := range got.Results {
			if slices.Contains(r.Notes, "CRITICAL VALUE CALLED TO DR LEE") {
				with = append(with, r.ProviderID)
			}
		}
		if strings.Join(with, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, with, c.want)
		}
	}
}

// A critical flag beside an empty value stays: the note or the flag is the
// value. Other empty values are missing.
func TestCriticalFlagWithoutAValue(t *testing.T) {
	obx := func(flag, status string) string {
		return "OBX|1|NM|K^Potassium||||3.5-5.1|" + flag + "|||" + status + "\r"
	}
	for name, c := range map[string]struct{ segments, want string }{
		"with a note":    {obx("HH", "F") + "NTE|1||>10 mmol/L, called\r", "T: K Potassium = >10 mmol/L, called comment range 3.5-5.1 flag HH status F"},
		"without a note": {obx("LL", "F"), "T: K Potassium = LL comment range 3.5-5.1 flag LL status F"},
		"preliminary":    {obx("PANIC HIGH", "P"), "T: K Potassium = PANIC HIGH comment range 3.5-5.1 flag PANIC HIGH status P"},
		"abnormal":       {obx("H", "F"), "missing T: K Potassium"},
		"not done":       {obx("HH", "X"), "missing T: K Potassium"},
	} {
		got := describe(reports(t, oruHead+"OBR|1|"+orderA+"|F1|T\r"+c.segments, modernNoZone()), time.UTC)
		if !strings.Contains(got, c.want) || strings.Contains(c.want, "missing") == strings.Contains(got, "flag") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A report keeps the time of its message beside the lab's time, and whether
// that is only a date.
func TestTimesOfAReport(t *testing.T) {
	for text, want := range map[string]bool{"20260304": true, "202603040910": false, "20260304091000-0500": false, "": false} {
		obr := "OBR|1|" + orderA + "|F1|T" + strings.Repeat("|", 18) + text + "\rOBX|1|NM|K||4||||||F\r"
		got := reports(t, "MSH|^~\\&|NLIS|NORTH|HALE||202603040930||ORU^R01|N-1|P|2.5.1\r"+obr, modernNoZone())
		if len(got) != 1 || got[0].DateOnly != want || !got[0].Sent.Equal(time.Date(2026, 3, 4, 9, 30, 0, 0, time.UTC)) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// Each value belongs to its specimen: a test may have several, and each test its own
// with its own time of collection.
func TestSpecimensOfValues(t *testing.T) {
	const head = "MSH|^~\\&|NLIS|NORTH|HALE||20260304093000-0500||ORU^R01|N-1|P|2.5.1\r"
	obr := func(test, collected string) string {
		return "OBR|1|" + orderA + "|F1|" + test + "|||" + collected + strings.Repeat("|", 18) + "F\r"
	}
	obx := func(code, value string) string { return "OBX|1|NM|" + code + "||" + value + "||||||F\r" }
	spm := func(number, kind, collected string) string {
		return "SPM|1|" + number + "||" + kind + strings.Repeat("|", 13) + collected + "\r"
	}
	serum, csf := spm("A1", "SER", "20260302080000-0500"), spm("A2", "CSF", "20260302093000-0500")
	obr15 := func(test, source string) string {
		return "OBR|1|" + orderA + "|F1|" + test + strings.Repeat("|", 11) + source + strings.Repeat("|", 10) + "F\r"
	}
	for name, c := range map[string]struct{ message, want string }{
		"both specimens behind the values":         {obr("G", "") + obx("g", "91") + serum + csf, "A1 Serum 08:00, A2 Cerebrospinal fluid 09:30: g 91 of A1"},
		"each behind its values":                   {obr("G", "") + obx("g", "91") + serum + obx("g", "55") + csf, "A1 Serum 08:00, A2 Cerebrospinal fluid 09:30: g 91 of A1, g 55 of A2"},
		"each before its values":                   {obr("G", "") + serum + obx("g", "91") + csf + obx("g", "55"), "A1 Serum 08:00, A2 Cerebrospinal fluid 09:30: g 91 of A1, g 55 of A2"},
		"values of a specimen, as in the standard": {obr("G", "") + obx("g", "91") + serum + csf + obx("v", "2"), "A1 Serum 08:00, A2 Cerebrospinal fluid 09:30: g 91 of A1, v 2 of A2"},
		"one specimen, values on both sides":       {obr("G", "") + obx("g", "91") + serum + obx("v", "2"), "A1 Serum 08:00: g 91 of A1, v 2 of A1"},
		"equal values of two specimens":            {obr("G", "") + serum + obx("g", "91") + csf + obx("g", "91"), "A1 Serum 08:00, A2 Cerebrospinal fluid 09:30: g 91 of A1, g 91 of A2"},
		"a test without SPM has another time": {
			obr("G", "") + obx("g", "91") + serum + obr("H", "20260302101500-0500") + obx("h", "13"),
			"A1 Serum 08:00,   10:15: g 91 of A1, h 13 of 2026-03-02T10:15:00-05:00",
		},
		"only the second test has an SPM": {
			obr("G", "20260302101500-0500") + obx("g", "91") + obr("H", "") + obx("h", "13") + serum,
			"  10:15, A1 Serum 08:00: g 91 of , h 13 of A1",
		},
		"a test without a time has the one specimen": {obr("G", "") + obx("g", "91") + obr("H", "") + obx("h", "13") + serum, "A1 Serum 08:00: g 91 of A1, h 13 of A1"},
		"a date is no other time":                    {obr("G", "20260302") + obx("g", "91") + obr("H", "20260302101500-0500") + obx("h", "13"), "  00:00: g 91 of , h 13 of "},
		"sources of older versions":                  {obr15("G", "SER") + obx("g", "91") + obr15("U", "UR&Urine&HL70070") + obx("u", "5"), " Serum ,  Urine : g 91 of , u 5 of Urine"},
	} {
		all := reports(t, head+"PID|1||7||Quill^Ada||20120709|F\r"+c.message, modernNoZone())
		set := all[0].Results
		var specimens, values []string
		for i, s := range append([]networks.Specimen{set.Specimen}, set.Specimens...) {
			clock := ""
			if !s.Collected.Time.IsZero() {
				clock = s.Collected.Text()[len("2026-03-02T"):len("2026-03-02T08:00")]
			}
			if text := s.Number + " " + s.Type + " " + clock; i == 0 || strings.TrimSpace(text) != "" {
				specimens = append(specimens, text)
			}
		}
		for _, r := range set.Results {
			values = append(values, r.ProviderID+" "+r.Value+" of "+cmp.Or(r.Specimen, set.Specimen.Number))
		}
		if got := strings.Join(specimens, ", ") + ": " + strings.Join(values, ", "); got != c.want {
			t.Errorf("%s:\n%q, want\n%q", name, got, c.want)
		}
	}
	// Texts of two cultures are two results.
	text := "OBX|1|TX|BC||No growth||||||F\r"
	if set := reports(t, head+obr("BC", "")+text+serum+obr("BC", "")+strings.ReplaceAll(text, "No growth", "Growth")+csf, modernNoZone())[0].Results; len(set.Results) != 2 || set.Results[1].Value != "Growth" || set.Results[1].Specimen != "A2" {
		t.Errorf("two cultures: %+v", set.Results)
	}
	many := obr("G", "") + obx("g", "91")
	for n := range maxSpecimens + 2 {
		many += spm("S"+strconv.Itoa(n), "SER", "")
	}
	if all := reports(t, head+many, modernNoZone()); !isTooLong(all[0]) {
		t.Errorf("%d specimens are not too many", len(all[0].Results.Specimens))
	}
}

// Critical words about the patient, or in a test without values, reach the values.
func TestCriticalNotesElsewhere(t *testing.T) {
	const head = "MSH|^~\\&|NLIS|NORTH|HALE||202603040930||ORU^R01|N-1|P|2.5.1\rPID|1||7||Quill^Ada||20120709|F\r"
	obr := func(test string) string { return "OBR|1|" + orderA + "|F1|" + test + strings.Repeat("|", 21) + "F\r" }
	obx := func(code, flag string) string { return "OBX|1|NM|" + code + "||9|||" + flag + "|||F\r" }
	const note = "NTE|1||Critical potassium called to RN Smith\r"
	for name, c := range map[string]struct{ message, want string }{
		"below PID":                      {note + obr("K") + obx("k", "H") + obx("na", "N"), "k"},
		"below PID, without flags":       {note + obr("K") + obx("k", "") + obx("na", ""), "k na"},
		"a test of comments":             {obr("K") + obx("k", "H") + obr("NOTE") + note, "k"},
		"a note of another test":         {obr("K") + obx("k", "H") + obr("NA") + note + obx("na", ""), "na"},
		"a note without a critical word": {strings.Replace(note, "Critical", "High", 1) + obr("K") + obx("k", "H"), ""},
	} {
		var with []string
		for _, r := range reports(t, head+c.message, modernNoZone())[0].Results.Results {
			if len(r.Notes) > 0 {
				with = append(with, r.ProviderID)
			}
		}
		if got := strings.Join(with, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Codes have names, flags and units are read as labs write them.
func TestWordsOfCodes(t *testing.T) {
	const head = "MSH|^~\\&|NLIS|NORTH|HALE||202603040930||ORU^R01|N-1|P|2.5.1\r"
	for obx, want := range map[string]string{
		"CWE|C||260373001^^SCT|||":        "Detected coded_value",
		"CWE|C||260415000||||":            "Not detected coded_value",
		"CWE|C||LA6576-8^^LN||||":         "Positive coded_value",
		"CWE|C||99^^L^260385009^^SCT|||":  "Negative coded_value",
		"CWE|C||260373001^Found^SCT|||":   "Found coded_value",
		"NM|C||5|10^3/uL||":               "5 numeric 10^3/uL",
		"NM|C||5|x10^9/L||":               "5 numeric x10^9/L",
		"NM|C||5|10\\S\\3/uL||":           "5 numeric 10^3/uL",
		"NM|C||5|mmol/L^millimole^UCUM||": "5 numeric mmol/L",
		"NM|C||5|^mg/dL||":                "5 numeric mg/dL",
		"NM|C||5|||XX^Critical high^L":    "5 numeric flag Critical high",
		"NM|C||5|||H^High^HL70078":        "5 numeric flag H",
		"NM|C||5|||H^High^HL70078^HH^^L":  "5 numeric flag HH",
		"NM|C||5|||^^^LL":                 "5 numeric flag LL",
		"NM|C||5|||7^Above range^L":       "5 numeric flag 7",
		"NA|C||5^6|||":                    "5, 6 comment",
	} {
		all := reports(t, head+"OBR|1|"+orderA+"|F1|K"+strings.Repeat("|", 21)+"F\rOBX|1|"+obx+"|||F\r", modernNoZone())
		if len(all) != 1 || len(all[0].Results.Results) != 1 {
			t.Errorf("%s: %+v", obx, all)
			continue
		}
		r := all[0].Results.Results[0]
		if got := r.Value + word("", r.Type) + word("", r.Unit) + word("flag", r.Flag); got != want {
			t.Errorf("%s: %q, want %q", obx, got, want)
		}
	}
}
