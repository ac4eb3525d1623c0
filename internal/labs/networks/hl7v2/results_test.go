package hl7v2

import (
	"slices"
	"strings"
	"testing"
	"time"
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
			want = "order " + orderA + " sample F1 of   0000-00-00 at 2026-03-04T09:30:00Z\n" + want
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

// A specimen that is rejected beside values of other tests is the reason why
// its tests are missing, whatever their own status is.
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

// A note of a test that speaks of a critical value belongs to the flagged values, or to
// all.
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
