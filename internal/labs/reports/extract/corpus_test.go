package extract

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// expectedReport is the content of a generated report.
type expectedReport struct {
	Family   string `json:"family"`
	Metadata struct {
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		BirthDate string `json:"birth_date"`
		Gender    string `json:"gender"`
		Collected string `json:"collected"`
	} `json:"metadata"`
	Rows []struct {
		Name     string   `json:"name"`
		Value    string   `json:"value"`
		Unit     string   `json:"unit"`
		Min      *float64 `json:"min"`
		Max      *float64 `json:"max"`
		Expected string   `json:"expected"`
		Flag     string   `json:"flag"`
		LOINC    string   `json:"loinc"`
		Panel    string   `json:"panel"`
	} `json:"rows"`
}

func readWords(t testing.TB, path string) Page {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	p := Page{Number: 1, Source: FromText}
	lines := bufio.NewScanner(f)
	lines.Scan()
	if _, err := fmt.Sscan(lines.Text(), &p.Width, &p.Height); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		f := strings.SplitN(lines.Text(), " ", 5)
		w := Word{Text: f[4], Confidence: 1, Bold: strings.HasSuffix(f[3], "*")}
		if _, err := fmt.Sscan(f[0], &w.Box.X); err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Sscan(f[1], &w.Box.Y)
		_, _ = fmt.Sscan(f[2], &w.Box.Width)
		_, _ = fmt.Sscan(strings.TrimSuffix(f[3], "*"), &w.Box.Height)
		p.Words = append(p.Words, w)
	}
	return p
}

// TestCorpus reads the first pages of generated reports of all families. make
// report-eval measures many more, and images of them.
func TestCorpus(t *testing.T) {
	paths, err := filepath.Glob("testdata/corpus/*.json")
	if err != nil || len(paths) < 20 {
		t.Fatal(len(paths), err)
	}
	rows, right := 0, 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var want expectedReport
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		got, err := Read(Document{Pages: []Page{readWords(t, strings.TrimSuffix(path, ".json")+".words")}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(got.Rows) < len(want.Rows) {
			t.Errorf("%s: %d rows of %d", name, len(got.Rows), len(want.Rows))
		}
		for i, w := range want.Rows {
			rows++
			ok := false
			for _, g := range got.Rows {
				if normalName(g.Name) != normalName(w.Name) || !sameText(g.Value, w.Value) || w.Panel == "Urinalysis, Complete" && g.SampleType != "urine" {
					continue
				}
				class, _ := flagOf(g.Flag)
				class = strings.TrimPrefix(class, "N")
				ok = ok || sameBounds(g.Range, Range{Min: w.Min, Max: w.Max, Expected: g.Range.Expected}) && class == w.Flag &&
					(w.Expected == "" || strings.EqualFold(strings.ReplaceAll(w.Expected, "-", " "), strings.ReplaceAll(g.Range.Expected, "-", " "))) &&
					(w.LOINC == "" && g.Status == NoMatch || len(g.Matches) > 0 && g.Matches[0].Code == w.LOINC) && g.Page == 1 && g.Box.Width > 0
			}
			if ok {
				right++
			} else {
				t.Logf("%s: row %d: %+v", name, i, w)
			}
		}
		m := got.Metadata
		if want.Family != "leaders" && (m.Gender != want.Metadata.Gender || m.CollectedDate != "" && m.CollectedDate != want.Metadata.Collected || m.BirthDate != "" && m.BirthDate != want.Metadata.BirthDate) {
			t.Errorf("%s: metadata is %+v", name, m)
		}
	}
	if right*1000 < rows*995 {
		t.Errorf("%d of %d rows are right", right, rows)
	}
	t.Logf("%d of %d rows are right", right, rows)
}

func FuzzRead(f *testing.F) {
	paths, _ := filepath.Glob("testdata/corpus/*-chromium.words")
	for _, path := range paths[:min(6, len(paths))] {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data[:min(len(data), 1500)]))
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc := Document{}
		for i, source := range []Source{FromText, FromOCR} {
			p := Page{Number: i + 1, Width: 600, Height: 800, Source: source}
			for _, line := range strings.Split(text, "\n") {
				f := strings.SplitN(line, " ", 5)
				if len(f) < 5 || len(p.Words) > 400 {
					continue
				}
				w := Word{Text: f[4], Confidence: 0.9}
				_, _ = fmt.Sscan(f[0], &w.Box.X)
				_, _ = fmt.Sscan(f[1], &w.Box.Y)
				_, _ = fmt.Sscan(f[2], &w.Box.Width)
				_, _ = fmt.Sscan(f[3], &w.Box.Height)
				p.Words = append(p.Words, w)
			}
			if source == FromOCR {
				p.Second = p.Words
			}
			doc.Pages = append(doc.Pages, p)
		}
		result, err := Read(doc)
		if err != nil {
			return
		}
		for _, row := range result.Rows {
			if row.Name == "" || row.Page < 1 || len(row.Matches) > 5 || row.Confidence < 0 || row.Confidence > 1 || row.Box.X < 0 || row.Box.X > 1 || row.Box.Y < 0 || row.Box.Y > 1 {
				t.Errorf("%+v", row)
			}
		}
	})
}
