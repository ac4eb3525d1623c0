package diagnoses_test

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"os"
	"strings"
	"testing"

	"hale/internal/labs/diagnoses"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
)

// officialList returns the whole list of January 2021.
func officialList(t testing.TB) string {
	t.Helper()
	file, err := os.Open(testdata.Shared(t, "labs/icd10cm_2021jan.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// since2021 lists codes that ship and that are newer than the official list of the
// test, or have a new title.
var since2021 = map[string]bool{
	"D75.839": true, "E66.811": true, "E66.812": true, "E66.813": true, "E88.810": true, "E88.819": true, "F32.A": true,
	"G20.A1": true, "G93.32": true, "I1A.0": true, "I20.89": true, "I47.10": true, "M35.00": true, "M35.01": true,
	"M54.50": true, "M54.51": true, "M54.59": true, "R05.1": true, "R05.2": true, "R05.3": true, "R05.8": true, "R05.9": true,
	"U09.9": true, "B37.31": true,
}

// Shipped titles are the official ones.
func TestShippedTitlesAreOfficial(t *testing.T) {
	titles := map[string]string{}
	for _, r := range records(t, officialList(t)) {
		if r[1] == "1" {
			titles[r[0]] = r[2]
		}
	}
	text, err := os.ReadFile("common.csv")
	if err != nil {
		t.Fatal(err)
	}
	shipped := records(t, string(text))
	if len(shipped) < 300 {
		t.Errorf("%d codes ship", len(shipped))
	}
	for i, r := range shipped {
		if titles[r[0]] != r[1] && !since2021[r[0]] {
			t.Errorf("%s is %q, officially %q", r[0], r[1], titles[r[0]])
		}
		if i > 0 && shipped[i-1][0] >= r[0] {
			t.Errorf("%s is in the wrong place", r[0])
		}
	}
}

func TestImportOfTheOfficialList(t *testing.T) {
	db := storetest.SQLite(t)
	text := officialList(t)
	file, err := diagnoses.ParseCodes(strings.NewReader(text))
	if err != nil || file.Len() != 72_621 {
		t.Errorf("%d codes can be billed, %v", file.Len(), err)
	}
	importCodes(t, db, text)
	for code, want := range map[string]string{
		"A00": "A00: is not complete", "S93.401": "S93.401: is not complete", "S93.401A": "", "Z99.89": "", "X99.ZZ": "X99.ZZ: is not in the list",
	} {
		v := validate(t, db, code)
		if got := strings.Join(v.Errors, ""); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", code, got)
		}
	}
	if codes, _ := search(t, db, "ankle sprain unsp ligament right init"); codes != "" && !strings.HasPrefix(codes, "S93.401A") {
		t.Errorf("found %q", codes)
	}
	if codes, _ := search(t, db, "sprain unspecified ligament right ankle initial"); !strings.HasPrefix(codes, "S93.401A") {
		t.Errorf("found %q", codes)
	}
}

func records(t *testing.T, text string) [][]string {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}
