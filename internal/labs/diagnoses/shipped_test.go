package diagnoses

import (
	"strings"
	"testing"

	"hale/internal/platform/fault"
)

func TestShippedSynonyms(t *testing.T) {
	titles := commonTitles()
	seen := map[string]bool{}
	records := shippedCSV(synonymsFile, "synonyms.csv")
	for _, r := range records {
		if text := fold(r[0]); text == "" || seen[text] {
			t.Errorf("%q says nothing, or is listed twice", r[0])
		} else {
			seen[text] = true
		}
		for code := range strings.FieldsSeq(r[1]) {
			if plain, ok := compactCode(code); !ok || titles[plain] == "" {
				t.Errorf("%q means %s, which does not ship", r[0], code)
			}
		}
	}
	if len(records) < 200 {
		t.Errorf("%d synonyms", len(records))
	}
}

// A note that matches no shipped code would never be used.
func TestShippedNotes(t *testing.T) {
	all, err := parseNotes(shippedCSV(excludesFile, "excludes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range all {
		fits := false
		for plain := range commonTitles() {
			fits = fits || n.where.contains(plain)
		}
		if !fits || n.what.contains(n.where.from) {
			t.Errorf("%s excludes %s: no code for it, or itself", n.where, n.what)
		}
	}
	if len(all) < 200 {
		t.Errorf("%d notes", len(all))
	}
}

func TestTidy(t *testing.T) {
	for text, want := range map[string]string{
		"e11.65": "E11.65", " E1165 ": "E11.65", "I10": "I10", "S93.401A": "S93.401A", "s93401a": "S93.401A", "C7A.00": "C7A.00",
		"": "", "E1": "", "E11.": "", "11.9": "", "E1165123": "", "E1.165": "", "E11.6-5": "", "É10": "", "E11.65 x": "",
	} {
		if got, ok := Tidy(text); ok != (want != "") || ok && got != want {
			t.Errorf("%q became %q, %v", text, got, ok)
		}
	}
}

func TestSpans(t *testing.T) {
	for _, c := range []struct{ text, holds, not string }{
		{"E11.-", "E11 E119 E1165", "E10 E12"},
		{"E08-E13", "E089 E11 E139", "E07 E149"},
		{"N39.3-N39.4-", "N393 N3941", "N392 N395"},
		{"R73.9", "R739", "R73 R738"},
		{"O00-O9A", "O0090 O99019 O9A111", "P00"},
		{"I10-I1A", "I10 I160 I1A0", "I20"},
	} {
		all := spansIn(c.text)
		if len(all) != 1 {
			t.Errorf("%q is %v", c.text, all)
			continue
		}
		for code := range strings.FieldsSeq(c.holds) {
			if !all[0].contains(code) {
				t.Errorf("%q does not hold %s", c.text, code)
			}
		}
		for code := range strings.FieldsSeq(c.not) {
			if all[0].contains(code) {
				t.Errorf("%q holds %s", c.text, code)
			}
		}
	}
	if got := spansIn("see (E10.-, E11.-) and words"); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

func FuzzParseCodes(f *testing.F) {
	f.Add("code,billable,description\nA00.0,1,Cholera\n")
	f.Add("code,billable,description\n\"A00.0\"x,1,Cholera\n")
	f.Add("00002 A000    1 Cholera                                                      Cholera due to Vibrio\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ParseCodes(strings.NewReader(text))
		if err != nil {
			wantRefusal(t, err)
			return
		}
		again, err := unpackRows(packRows(file.rows))
		if err != nil || len(again) != len(file.rows) {
			t.Fatalf("%d rows became %d, %v", len(file.rows), len(again), err)
		}
		for i, r := range file.rows {
			if again[i] != r {
				t.Errorf("%+v became %+v", r, again[i])
			}
		}
		newList(file.rows).search("a", []string{"a"})
	})
}

func FuzzParseTabular(f *testing.F) {
	f.Add(`<section id="A00-A09"><excludes1><note>x (R19.7)</note></excludes1></section>`)
	f.Add(`<chapter><desc>x (A00-B99)</desc><excludes2><note>(Z22.-, E08-E13)</note></excludes2></chapter>`)
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ParseTabular(strings.NewReader(text))
		if err != nil {
			wantRefusal(t, err)
			return
		}
		newNotes(file.notes).conflictOf("A000", "R197")
	})
}

func wantRefusal(t *testing.T, err error) {
	if kind := fault.KindOf(err); kind != fault.Invalid && kind != fault.TooLarge {
		t.Errorf("not for the caller: %v", err)
	}
}
