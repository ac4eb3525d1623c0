package diagnoses_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hale/internal/labs/diagnoses"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

var system = store.AsSystem(context.Background())

func search(t testing.TB, db *store.DB, query string) (codes string, found []diagnoses.Diagnosis) {
	t.Helper()
	err := db.Read(system, func(tx *store.Tx) (err error) {
		found, err = diagnoses.Search(system, tx, query)
		return err
	})
	if err != nil {
		t.Fatalf("%q: %v", query, err)
	}
	all := make([]string, len(found))
	for i, d := range found {
		all[i] = d.Code
	}
	return strings.Join(all, " "), found
}

func validate(t *testing.T, db *store.DB, codes ...string) (v diagnoses.Verdict) {
	t.Helper()
	err := db.Read(system, func(tx *store.Tx) (err error) {
		v, err = diagnoses.Validate(system, tx, codes)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSearch(t *testing.T) {
	db := storetest.SQLite(t)
	for _, c := range []struct{ query, first string }{
		{"HTN", "I10"},
		{"T2DM", "E11.9"},
		{"high cholesterol", "E78.00 E78.5"},
		{"annual exam", "Z00.00 Z00.01"},
		{"Annual phys", "Z00.00"},
		{"E11.65", "E11.65"},
		{"e1165", "E11.65"},
		{"E78.", "E78.2 E78.5"},
		{"vitamin d", "E55.9"},
		{"diab hypergly type 2", "E11.65"},
		{"hypothyroidism", "E03.9"},
		{"sjogren", "M35.00 M35.01"},
		{"B12 deficiency", "E53.8"},
		{"hashimoto's", "E06.3"},
	} {
		codes, _ := search(t, db, c.query)
		for _, want := range strings.Fields(c.first) {
			if got := strings.Join(strings.Fields(codes)[:min(8, len(strings.Fields(codes)))], " "); !strings.Contains(got+" ", want+" ") {
				t.Errorf("%q finds %q first, and %s not among them", c.query, got, want)
			}
		}
		if len(strings.Fields(c.first)) == 1 && !strings.HasPrefix(codes, c.first) {
			t.Errorf("%q finds %.40q, want %s first", c.query, codes, c.first)
		}
	}
	if codes, _ := search(t, db, "purple elephants"); codes != "" {
		t.Errorf("nonsense finds %q", codes)
	}
	if codes, _ := search(t, db, "u"); len(strings.Fields(codes)) != 50 {
		t.Errorf("an answer has %d codes", len(strings.Fields(codes)))
	}
	_, found := search(t, db, "B95.61")
	want := []diagnoses.Diagnosis{{
		Code: "B95.61", Secondary: true,
		Title: "Methicillin susceptible Staphylococcus aureus infection as the cause of diseases classified elsewhere",
	}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

func TestSearchWithoutWords(t *testing.T) {
	db := storetest.SQLite(t)
	for _, query := range []string{"", " . ", strings.Repeat("a ", 13), strings.Repeat("a", 201)} {
		err := db.Read(system, func(tx *store.Tx) error {
			_, err := diagnoses.Search(system, tx, query)
			return err
		})
		if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "query.diagnosis_query:") {
			t.Errorf("%.20q: %v", query, err)
		}
	}
}

func TestValidate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, c := range []struct {
			codes                string
			errors               string // beginnings, separated by |
			violations, warnings string // pairs
		}{
			{"Z00.00 E78.5 I10", "", "", ""},
			{"z0000", "", "", ""},
			{"E11.9 E10.9", "", "E11.9+E10.9", ""},
			{"R73.03 E11.65", "", "R73.03+E11.65", ""},
			{"E11.65 R73.03", "", "E11.65+R73.03", ""},
			{"N40.1 C61", "", "", "N40.1+C61"},
			{"Z00.00 Z02.1", "", "Z00.00+Z02.1", ""},
			{"Z00.00 Z13.220", "", "", "Z00.00+Z13.220"},
			{"E11", "E11: is not complete", "", ""},
			{"Q99.9", "Q99.9: is not in the list", "", ""},
			{"hello I10 I10", "hello: is no code|I10: is listed twice", "", ""},
			{"", "", "", ""},
			{"F32.A F33.9 G47.00 F51.01", "", "F32.A+F33.9", "G47.00+F51.01"},
		} {
			v := validate(t, db, strings.Fields(c.codes)...)
			if v.Valid() != (c.errors == "" && c.violations == "") {
				t.Errorf("%s: valid is %v", c.codes, v.Valid())
			}
			var want []string
			if c.errors != "" {
				want = strings.Split(c.errors, "|")
			}
			if len(v.Errors) != len(want) {
				t.Errorf("%s: errors %q", c.codes, v.Errors)
				continue
			}
			for i := range want {
				if !strings.HasPrefix(v.Errors[i], want[i]) {
					t.Errorf("%s: error %q, want %q", c.codes, v.Errors[i], want[i])
				}
			}
			if got := pairs(v.Violations, diagnoses.Excludes1); got != c.violations {
				t.Errorf("%s: violations %q", c.codes, got)
			}
			if got := pairs(v.Warnings, diagnoses.Excludes2); got != c.warnings {
				t.Errorf("%s: warnings %q", c.codes, got)
			}
		}
	})
}

func pairs(all []diagnoses.Clash, kind diagnoses.Kind) string {
	var out []string
	for _, c := range all {
		if c.Kind != kind {
			return "a clash of the wrong kind"
		}
		out = append(out, c.Code+"+"+c.Other)
	}
	return strings.Join(out, " ")
}

func TestValidNamesThePlace(t *testing.T) {
	db := storetest.SQLite(t)
	valid := func(codes ...string) error {
		return db.Read(system, func(tx *store.Tx) error { return diagnoses.CheckCodes(system, tx, codes, "icd_codes") })
	}
	if err := valid("E11.9", "e10.9"); err != nil {
		t.Errorf("good codes: %v", err)
	}
	err := valid("E11.9", "E11", "secret words")
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "body.icd_codes.1:") || !strings.Contains(err.Error(), "body.icd_codes.2:") {
		t.Errorf("bad codes: %v", err)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error repeats a value: %v", err)
	}
	if err := valid(make([]string, 101)...); !fault.Is(err, fault.Invalid) {
		t.Errorf("too many codes: %v", err)
	}
}

const orderFile = `00001 A00     0 Cholera                                                      Cholera
00002 A000    1 Cholera due to Vibrio cholerae 01, biovar cholerae           Cholera due to Vibrio cholerae 01, biovar cholerae
00003 E119    1 Type 2 diabetes mellitus without complications               Type 2 diabetes mellitus without complications
`

const tabularFile = `<?xml version="1.0" encoding="utf-8"?>
<ICD10CM.tabular>
 <version>2026</version>
 <chapter>
  <name>1</name>
  <desc>Certain infectious and parasitic diseases (A00-B99)</desc>
  <excludes2><note>carrier of infectious disease (Z22.-)</note></excludes2>
  <section id="A00-A09">
   <desc>Intestinal infectious diseases (A00-A09)</desc>
   <diag><name>A00</name><desc>Cholera</desc>
    <excludes1><note>diarrhea NOS (R19.7), dehydration (E86.0-E86.9)</note><note>see the index</note></excludes1>
    <diag><name>A00.0</name><desc>Cholera, classical</desc></diag>
   </diag>
  </section>
 </chapter>
</ICD10CM.tabular>`

func importCodes(t testing.TB, db *store.DB, text string) {
	t.Helper()
	file, err := diagnoses.ParseCodes(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(system, func(tx *store.Tx) error { return diagnoses.ImportCodes(system, tx, "test", file) })
	if err != nil {
		t.Fatal(err)
	}
}

func TestImports(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		importCodes(t, db, orderFile)
		if codes, _ := search(t, db, "cholera"); codes != "A00.0" {
			t.Errorf("after the import: %q", codes)
		}
		if codes, _ := search(t, db, "t2dm"); codes != "E11.9" {
			t.Errorf("synonyms with an imported list: %q", codes)
		}
		if v := validate(t, db, "I10", "A00", "A00.0"); len(v.Errors) != 2 {
			t.Errorf("codes that are not in the imported list: %q", v.Errors)
		}
		importCodes(t, db, "code,billable,description\nA00.0,1,Cholera\nR19.7,1,\"Diarrhea, unspecified\"\nE86.0,1,Dehydration\nZ22.1,1,Carrier\nI10,1,Hypertension\n")
		notes, err := diagnoses.ParseTabular(strings.NewReader(tabularFile))
		if err != nil || notes.Len() != 3 {
			t.Fatalf("%d notes, %v", notes.Len(), err)
		}
		err = db.Write(system, func(tx *store.Tx) error { return diagnoses.ImportNotes(system, tx, "2026", notes) })
		if err != nil {
			t.Fatal(err)
		}
		v := validate(t, db, "A00.0", "R19.7", "E86.0", "Z22.1", "I10")
		if got := pairs(v.Violations, diagnoses.Excludes1); got != "A00.0+R19.7 A00.0+E86.0" {
			t.Errorf("violations by imported notes: %q", got)
		}
		if got := pairs(v.Warnings, diagnoses.Excludes2); got != "A00.0+Z22.1" {
			t.Errorf("warnings by imported notes: %q", got)
		}
	})
}

func TestRefusedFiles(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", "empty"},
		{"code,billable\n", "line 1"},
		{"code,billable,description\n", "no code"},
		{"code,billable,description\nA00.0,2,Cholera\n", "line 2: has neither 0 nor 1"},
		{"code,billable,description\nhello,1,Cholera\n", "line 2: holds no code"},
		{"code,billable,description\nA00.0,1,\n", "line 2: holds no title"},
		{"code,billable,description\nA00.0,1,x\nA000,1,y\n", "line 3: is listed twice"},
		{"code,billable,description\nA00.0,1\n", "line 2"},
		{"code,billable,description\nA00.0,1,x\n\"A00.1\"x,1,y\n", "line 3: is not a CSV line"},
		{"00001 A00     1 Cholera\n", "line 1: is too short"},
		{strings.Replace(orderFile, "A000    1", "A000    x", 1), "line 2: has neither"},
	} {
		_, err := diagnoses.ParseCodes(strings.NewReader(c.file))
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.file, err, c.want)
		}
	}
	for _, file := range []string{"", "<a>", "<ICD10CM.tabular></ICD10CM.tabular>", "</note>"} {
		if _, err := diagnoses.ParseTabular(strings.NewReader(file)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// BenchmarkSearch searches all codes, by words with one hit and with thousands.
func BenchmarkSearch(b *testing.B) {
	db := storetest.SQLite(b)
	importCodes(b, db, officialList(b))
	for _, query := range []string{"diabetes", "a", "s", "initial encounter fracture", "E11", "HTN"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				if codes, _ := search(b, db, query); codes == "" {
					b.Fatalf("%q finds nothing", query)
				}
			}
		})
	}
}
