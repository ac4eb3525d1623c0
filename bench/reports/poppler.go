package main

import (
	"context"
	"os/exec"
	"strconv"
	"strings"

	"hale/internal/labs/reports/extract"
)

// popplerDocument reads a PDF's words with the program pdftotext, to compare it
// with PDFium.
func popplerDocument(ctx context.Context, path string) (doc extract.Document, err error) {
	out, err := exec.CommandContext(ctx, "pdftotext", "-tsv", path, "-").Output()
	if err != nil {
		return doc, err
	}
	for row := range strings.SplitSeq(string(out), "\n") {
		f := strings.Split(row, "\t")
		if len(f) != 12 || f[0] == "level" {
			continue
		}
		number := func(i int) float64 { v, _ := strconv.ParseFloat(f[i], 64); return v }
		switch f[0] {
		case "1":
			doc.Pages = append(doc.Pages, extract.Page{Number: len(doc.Pages) + 1, Width: number(8), Height: number(9), Source: extract.FromText})
		case "5":
			if len(doc.Pages) > 0 {
				p := &doc.Pages[len(doc.Pages)-1]
				p.Words = append(p.Words, extract.Word{Text: f[11], Box: extract.Box{X: number(6), Y: number(7), Width: number(8), Height: number(9)}, Confidence: 1})
			}
		}
	}
	return doc, nil
}
