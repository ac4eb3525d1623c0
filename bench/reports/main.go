// Command reports measures how well lab reports are read. It generates reports
// with known content and prints them with Chromium and LibreOffice. It makes
// scans, photos and faxes of some. Then it reads all of them and compares.
//
//	go run ./bench/reports -dir /tmp/report-eval
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"hale/internal/labs/reports/extract"
	"hale/internal/labs/reports/pages"
)

type options struct {
	dir, only, classes, problems string
	goldens                      string
	poppler                      bool
	each, images                 int
	seed                         uint64
	generate, keep               bool
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", filepath.Join(os.TempDir(), "report-eval"), "folder for the corpus")
	flag.IntVar(&o.each, "each", 16, "reports of each family")
	flag.IntVar(&o.images, "images", 2, "reports of each family that are read as images of each class")
	flag.Uint64Var(&o.seed, "seed", 1, "start of the random numbers")
	flag.StringVar(&o.only, "family", "", "only this family")
	flag.StringVar(&o.classes, "classes", "text,scan,photo,fax", "classes of documents to read")
	flag.StringVar(&o.problems, "problems", "", "file for the list of mistakes")
	flag.BoolVar(&o.generate, "generate", true, "generate and print the corpus")
	flag.BoolVar(&o.keep, "keep", false, "keep the images in the folder")
	flag.StringVar(&o.goldens, "goldens", "", "write the words of some reports into this folder and stop")
	flag.BoolVar(&o.poppler, "poppler", false, "read texts with pdftotext instead of PDFium")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.generate {
		if err := makeCorpus(ctx, o); err != nil {
			return err
		}
	}
	if o.goldens != "" {
		return writeGoldens(ctx, o)
	}
	return evaluate(ctx, o, os.Stdout)
}

// makeCorpus writes ID.html, ID.json and ID.pdf. One third is printed by
// LibreOffice.
func makeCorpus(ctx context.Context, o options) error {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	var chromium, office []string
	for f, family := range families {
		if o.only != "" && family.name != o.only {
			continue
		}
		for i := range o.each {
			id := fmt.Sprintf("%s-%02d", family.name, i)
			r := newReport(id, family.name, o.seed*1_000_003+uint64(f*1000+i), family.panels)
			r.Printer = "chromium"
			if i%3 == 2 {
				r.Printer = "libreoffice"
			}
			html := family.html(r)
			if err := os.WriteFile(filepath.Join(o.dir, id+".html"), []byte(html), 0o644); err != nil {
				return err
			}
			if err := writeJSON(filepath.Join(o.dir, id+".json"), r.finish()); err != nil {
				return err
			}
			if r.Printer == "chromium" {
				chromium = append(chromium, id)
			} else {
				office = append(office, id)
			}
		}
	}
	if err := printChromium(ctx, o.dir, chromium); err != nil {
		return err
	}
	return printLibreOffice(ctx, o.dir, office)
}

func readTruth(path string) (t truth, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(data, &t)
}

// evaluate reads the corpus and prints the tables.
func evaluate(ctx context.Context, o options, out io.Writer) error {
	truths, err := filepath.Glob(filepath.Join(o.dir, "*.json"))
	if err != nil {
		return err
	}
	sort.Strings(truths)
	unseen := map[string]bool{}
	for _, f := range families {
		unseen[f.name] = f.unseen
	}
	var problems io.Writer
	if o.problems != "" {
		f, err := os.Create(o.problems)
		if err != nil {
			return err
		}
		defer f.Close()
		problems = f
	}
	reader := pages.NewReader(pages.Config{CacheDir: filepath.Join(o.dir, "cache")})
	defer reader.Close()
	classes := map[string]*tally{}
	byFamily := map[string]*tally{}
	used := map[string]int{}
	for _, path := range truths {
		want, err := readTruth(path)
		if err != nil {
			return err
		}
		if o.only != "" && want.Family != o.only {
			continue
		}
		files, err := textFile(strings.TrimSuffix(path, ".json") + ".pdf")
		if err != nil {
			return err
		}
		if err := evaluateImages(ctx, o, reader, want, files[0].Data, unseen[want.Family], used, classes, problems); err != nil {
			return err
		}
		if strings.Contains(o.classes, "text") {
			read := func() (extract.Result, error) { return reader.Read(ctx, files) }
			if o.poppler {
				read = func() (extract.Result, error) {
					doc, err := popplerDocument(ctx, strings.TrimSuffix(path, ".json")+".pdf")
					if err != nil {
						return extract.Result{}, err
					}
					return extract.Read(doc)
				}
			}
			t := measure(read, want, problems)
			kind := "text, seen"
			if unseen[want.Family] {
				kind = "text, unseen"
			}
			count(classes, kind, t)
			count(classes, kind+", "+want.Printer, t)
			count(byFamily, want.Family, t)
		}
	}
	printTable(out, classes)
	fmt.Fprintln(out)
	printTable(out, byFamily)
	own, children := peakMemory()
	fmt.Fprintf(out, "\npeak memory: %d MB, of one run of tesseract: %d MB\n", own, children)
	return nil
}

// firstPage returns the rows of a report's first page.
func firstPage(want truth, text extract.Result) []truthRow {
	if len(text.Pages) == 1 {
		return want.Rows
	}
	onFirst := 0
	for _, row := range text.Rows {
		if row.Page == 1 {
			onFirst++
		}
	}
	return want.Rows[:min(onFirst, len(want.Rows))]
}

func count(classes map[string]*tally, name string, t tally) {
	if classes[name] == nil {
		classes[name] = &tally{}
	}
	classes[name].add(t)
}

func textFile(path string) ([]pages.File, error) {
	data, err := os.ReadFile(path)
	return []pages.File{{Type: "application/pdf", Data: data}}, err
}

// imageClasses are the kinds of images, with the word of -classes.
var imageClasses = []struct{ name, word string }{
	{"scan 300 dpi", "scan"}, {"scan 200 dpi", "scan"}, {"photo", "photo"}, {"fax", "fax"},
}

// evaluateImages reads the first pages of reports of a family as images. The truth
// of a first page is what the reader of text finds on it, which is checked with
// the truth of the report elsewhere.
func evaluateImages(ctx context.Context, o options, reader *pages.Reader, want truth, pdf []byte, unseen bool, used map[string]int, classes map[string]*tally, problems io.Writer) error {
	for i, class := range imageClasses {
		if !strings.Contains(o.classes, class.word) || used[want.Family+class.name] >= o.images {
			continue
		}
		text, err := reader.Read(ctx, []pages.File{{Type: "application/pdf", Data: pdf}})
		if err != nil {
			return err
		}
		want := want
		want.Rows = firstPage(want, text)
		used[want.Family+class.name]++
		files, err := degrade(ctx, reader, class.name, pdf, rand.New(rand.NewPCG(uint64(i), uint64(len(pdf)))))
		if err != nil {
			return err
		}
		if o.keep {
			for n, f := range files {
				name := fmt.Sprintf("%s.%s.%d.%s", want.ID, strings.ReplaceAll(class.name, " ", "-"), n+1, strings.TrimPrefix(f.Type, "image/"))
				if err := os.WriteFile(filepath.Join(o.dir, name), f.Data, 0o644); err != nil {
					return err
				}
			}
		}
		kind := class.name + ", seen"
		if unseen {
			kind = class.name + ", unseen"
		}
		named := want
		named.ID = want.ID + " " + class.name
		count(classes, kind, measure(func() (extract.Result, error) { return reader.Read(ctx, files) }, named, problems))
	}
	return nil
}

// measure reads one document and scores it.
func measure(read func() (extract.Result, error), want truth, problems io.Writer) tally {
	start := cpuSeconds()
	got, err := read()
	seconds := cpuSeconds() - start
	if err != nil {
		if problems != nil {
			fmt.Fprintf(problems, "%s: FAILED: %v\n", want.ID, err)
		}
		t := tally{reports: 1, failed: 1, rows: len(want.Rows), seconds: seconds}
		for _, row := range want.Rows {
			if row.LOINC != "" {
				t.codes++
			}
		}
		return t
	}
	t := score(want, got, problems)
	t.pages, t.seconds = len(got.Pages), seconds
	return t
}

// cpuSeconds returns the processor time of this process and of the programs that
// it ran.
func cpuSeconds() float64 {
	seconds := 0.0
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			seconds += float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
		}
	}
	return seconds
}

// peakMemory returns the largest resident sizes of this process and of one
// program that it ran, in MB.
func peakMemory() (own, children int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		own = u.Maxrss / 1024
	}
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) == nil {
		children = u.Maxrss / 1024
	}
	return own, children
}
