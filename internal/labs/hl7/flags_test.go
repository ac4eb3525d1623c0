package hl7_test

import (
	"slices"
	"testing"

	"hale/internal/labs/hl7"
)

// The table is sorted by severity, so the worst flag of a repeated OBX-8 is
// the first in the table.
func TestFlagsAreSortedBySeverity(t *testing.T) {
	gravity := []string{"critical", "abnormal", "", "unknown", "normal"}
	at, seen := 0, map[string]bool{}
	for _, f := range hl7.Flags {
		i := slices.Index(gravity, f.Interpretation)
		if i < at {
			t.Errorf("%s (%q) is out of place", f.Code, f.Interpretation)
		}
		at = max(at, i)
		if seen[f.Code] || f.High && f.Low {
			t.Errorf("%s is listed twice or has two sides", f.Code)
		}
		seen[f.Code] = true
		if found, ok := hl7.FindFlag("[" + f.Code + "] "); !ok || found.Code != f.Code {
			t.Errorf("%s is not found in brackets", f.Code)
		}
	}
}

func TestWorstFlag(t *testing.T) {
	for _, c := range []struct {
		printed []string
		want    string
	}{
		{nil, ""},
		{[]string{"N", "hh", "H"}, "hh"},
		{[]string{"N", "↑"}, "↑"},
		{[]string{"(L)", "IND"}, "(L)"},
		{[]string{"odd", "N"}, "odd"},
		{[]string{"N", "Critical High", "H"}, "Critical High"},
		{[]string{"", "N"}, "N"},
		{[]string{"odd", "word"}, "odd"},
	} {
		if got := hl7.WorstFlag(c.printed); got != c.want {
			t.Errorf("of %q the worst is %q, want %q", c.printed, got, c.want)
		}
	}
}

// A flag that the service writes reads back as the interpretation that it was
// written for.
func TestWrittenFlagsAreReadBack(t *testing.T) {
	for _, word := range []string{"critical", "abnormal", "normal"} {
		f, ok := hl7.FindFlag(hl7.FlagFor(word, false, false))
		if !ok || f.Interpretation != word {
			t.Errorf("%s became %+v", word, f)
		}
	}
	for _, word := range []string{"critical", "abnormal"} {
		high, _ := hl7.FindFlag(hl7.FlagFor(word, true, false))
		low, _ := hl7.FindFlag(hl7.FlagFor(word, false, true))
		if high.Interpretation != word || !high.High || low.Interpretation != word || !low.Low {
			t.Errorf("%s became %+v above and %+v below", word, high, low)
		}
	}
	if got := hl7.FlagFor("unknown", false, false); got != "" {
		t.Errorf("an unknown value has the flag %q", got)
	}
}

// Words with critical or panic, and panic codes beside other flags, are
// critical. Every other unlisted flag is unknown, so it cannot count as normal.
func TestFlagsInWords(t *testing.T) {
	for printed, want := range map[string]string{
		"Critical High": "HH", "PANIC HIGH": "HH", "LOW CRITICAL": "LL", "critical-low": "LL", "CRIT H": "HH", "*CRITICAL*": "AA", "CriticalHigh": "HH",
		"not critical": "", "Non-critical": "", "H>": "", "U": "", "W": "", "": "",
		"HH!": "HH", "LL*": "LL", "H*": "H*", "H!": "H", "HP": "HP", "lp": "LP", "PH": "PH", "CH": "CH", "CL": "CL", "CR": "CR", "**": "**", "***": "***", "C": "C", "C?": "C", "P": "P",
		"H C": "HH", "H,C": "HH", "L~C": "LL", "P HI": "HH", "P LO": "LL", "Hi": "HI", "A H": "A", "HH called": "HH", "see note C": "", "not C": "", "H U": "",
	} {
		if f, ok := hl7.FindFlag(printed); f.Code != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", printed, f.Code, want)
		}
	}
}
