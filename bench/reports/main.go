// Command reports measures how well lab reports are read: it generates reports
// whose content is known, prints them with Chromium and LibreOffice, makes scans,
// photos and faxes of some, reads all of them and compares.
//
//	go run ./bench/reports -dir /tmp/report-eval
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", filepath.Join(os.TempDir(), "report-eval"), "folder for the corpus")
	each := flag.Int("each", 16, "reports of each family")
	seed := flag.Uint64("seed", 1, "start of the random numbers")
	only := flag.String("family", "", "only this family")
	generate := flag.Bool("generate", true, "generate and print the corpus, unless the folder has it")
	flag.Parse()
	if err := run(context.Background(), *dir, *only, *each, *seed, *generate); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir, only string, each int, seed uint64, generate bool) error {
	if generate {
		if err := makeCorpus(ctx, dir, only, each, seed); err != nil {
			return err
		}
	}
	return nil
}

// makeCorpus writes ID.html, ID.json and ID.pdf. One third is printed by
// LibreOffice.
func makeCorpus(ctx context.Context, dir, only string, each int, seed uint64) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var chromium, office []string
	for f, family := range families {
		if only != "" && family.name != only {
			continue
		}
		for i := range each {
			id := fmt.Sprintf("%s-%02d", family.name, i)
			r := newReport(id, family.name, seed*1_000_003+uint64(f*1000+i), family.panels)
			r.Printer = "chromium"
			if i%3 == 2 {
				r.Printer = "libreoffice"
			}
			html := family.html(r)
			if err := os.WriteFile(filepath.Join(dir, id+".html"), []byte(html), 0o644); err != nil {
				return err
			}
			if err := writeJSON(filepath.Join(dir, id+".json"), r.finish()); err != nil {
				return err
			}
			if r.Printer == "chromium" {
				chromium = append(chromium, id)
			} else {
				office = append(office, id)
			}
		}
	}
	if err := printChromium(ctx, dir, chromium); err != nil {
		return err
	}
	return printLibreOffice(ctx, dir, office)
}
