package hl7v2

import (
	"strings"
	"testing"
)

// Values of one code with different times, parents or specimens are different
// values, and so are missing results.
func TestSeveralValuesOfOneCode(t *testing.T) {
	obr := func(code, parent, status string) string {
		return "OBR|1|" + orderA + "|F1|" + code + "|||20260304070000||||||||||||||||||" + status + "|" + parent + "\r"
	}
	obx := func(code, sub, value, flag, status, at string) string {
		return "OBX|1|NM|" + code + "|" + sub + "|" + value + "|||" + flag + "|||" + status + "|||" + at + "\r"
	}
	for name, c := range map[string]struct {
		body string
		want string
	}{
		"a final value and a correction":        {obr("G", "", "C") + obx("G", "", "88", "N", "F", "2026030408") + obx("G", "", "560", "HH", "C", "2026030410"), "88 F@08, 560 C@10"},
		"of one time":                           {obr("G", "", "C") + obx("G", "", "88", "N", "F", "2026030408") + obx("G", "", "560", "HH", "C", "2026030408"), "560 C@08"},
		"without times":                         {"OBR|1|" + orderA + "|F1|G\r" + obx("G", "", "88", "N", "F", "") + obx("G", "", "560", "HH", "C", ""), "560 C"},
		"one value twice":                       {obr("G", "", "F") + obx("G", "", "88", "N", "F", "2026030408") + obx("G", "", "88", "N", "F", "2026030410"), "88 F@08, 88 F@10"},
		"preliminary before final":              {obr("G", "", "F") + obx("G", "", "88", "N", "P", "2026030408") + obx("G", "", "90", "N", "F", "2026030410"), "90 F@10"},
		"preliminary after final":               {obr("G", "", "F") + obx("G", "", "88", "N", "F", "2026030408") + obx("G", "", "90", "N", "P", "2026030410"), "88 F@08, 90 P@10"},
		"preliminary and critical before final": {obr("G", "", "F") + obx("G", "", "543", "HH", "P", "2026030408") + obx("G", "", "90", "N", "F", "2026030410"), "543 P@08, 90 F@10"},
		"one that will not come":                {obr("G", "", "F") + obx("G", "", "88", "N", "F", "2026030408") + obx("G", "", "", "", "X", "2026030410"), "88 F@08, missing G@10"},
		"two organisms": {
			obr("S", "600-7&BC1^2", "F") + obx("V", "1", "1", "R", "F", "") + obr("S", "600-7&BC1^1", "F") + obx("V", "1", "1", "S", "F", ""), "1 F@07 of 600-7^2, 1 F@07 of 600-7^1",
		},
		"a broken bottle": {
			obr("C", "", "F") + obx("C", "", "5", "", "F", "") + "SPM|1|A||BLD\r" + obr("C", "", "F") + obx("C", "", "", "", "X", "") + "NTE|1||Bottle broken in transit\rSPM|1|B||BLD\r", "5 F@07, missing C@07 in B",
		},
		"a hemolyzed tube": {
			obr("C", "", "F") + obx("C", "", "5", "", "F", "") + "SPM|1|A||BLD\r" + obr("C", "", "X") + "SPM|1|B||BLD|||||||||||||||||RH\r", "5 F@07, missing C in B because collection_process_failure",
		},
	} {
		all := reports(t, oruHead+c.body, modernLab)
		var got []string
		for _, r := range all[0].Results.Results {
			text := r.Value + " " + r.Status
			if !r.At.Time.IsZero() {
				text += "@" + r.At.Text()[11:13]
			}
			if r.Parent.Code != "" {
				text += " of " + r.Parent.Code + "^" + r.Parent.SubID
			}
			got = append(got, text)
		}
		for _, no := range all[0].Results.Missing {
			text := "missing " + no.ProviderID
			if !no.At.Time.IsZero() {
				text += "@" + no.At.Text()[11:13]
			}
			if no.Specimen != "" {
				text += " in " + no.Specimen
			}
			if no.Reason != "" {
				text += " because " + no.Reason
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}
