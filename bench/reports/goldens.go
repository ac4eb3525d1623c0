package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hale/internal/labs/reports/extract"
	"hale/internal/labs/reports/pages"
)

// writeGoldens stores the words of the first page of one report of each family
// and printer, for the extractor's own tests. They need no browser.
func writeGoldens(ctx context.Context, o options) error {
	if err := os.MkdirAll(o.goldens, 0o755); err != nil {
		return err
	}
	reader := pages.NewReader(pages.Config{CacheDir: filepath.Join(o.dir, "cache")})
	defer reader.Close()
	for _, family := range families {
		for _, n := range []int{0, 2} { // Chromium, LibreOffice
			base := filepath.Join(o.dir, fmt.Sprintf("%s-%02d", family.name, n))
			want, err := readTruth(base + ".json")
			if err != nil {
				return err
			}
			files, err := textFile(base + ".pdf")
			if err != nil {
				return err
			}
			doc, err := reader.Document(ctx, files)
			if err != nil {
				return err
			}
			text, err := extract.Read(doc)
			if err != nil {
				return err
			}
			want.Rows = firstPage(want, text)
			name := filepath.Join(o.goldens, family.name+"-"+want.Printer)
			if err := os.WriteFile(name+".words", formatWords(doc.Pages[0]), 0o644); err != nil {
				return err
			}
			compact, err := json.Marshal(want)
			if err != nil {
				return err
			}
			if err := os.WriteFile(name+".json", append(compact, '\n'), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func formatWords(page extract.Page) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%.0f %.0f\n", page.Width, page.Height)
	for _, w := range page.Words {
		bold := ""
		if w.Bold {
			bold = "*"
		}
		fmt.Fprintf(&b, "%.1f %.1f %.1f %.1f%s %s\n", w.Box.X, w.Box.Y, w.Box.Width, w.Box.Height, bold, w.Text)
	}
	return []byte(b.String())
}
