package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// printChromium prints pages with one browser.
func printChromium(ctx context.Context, dir string, ids []string) error {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, cancel := chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	for _, id := range ids {
		path, err := filepath.Abs(filepath.Join(dir, id+".html"))
		if err != nil {
			return err
		}
		if err := chromedp.Do(ctx, chromedp.Navigate((&url.URL{Scheme: "file", Path: path}).String())); err != nil {
			return fmt.Errorf("open %s: %w", id, err)
		}
		yes := true
		printed, err := chromedp.Call(ctx, cdppage.PrintToPDF, cdppage.PrintToPDFParams{PreferCSSPageSize: &yes, PrintBackground: &yes})
		if err != nil {
			return fmt.Errorf("print %s: %w", id, err)
		}
		if err := os.WriteFile(filepath.Join(dir, id+".pdf"), printed.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// printLibreOffice prints pages with one call of the program.
func printLibreOffice(ctx context.Context, dir string, ids []string) error {
	program, err := exec.LookPath("soffice")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	profile, err := os.MkdirTemp("", "report-eval-office-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(profile)
	for start := 0; start < len(ids); start += 20 {
		args := []string{"-env:UserInstallation=file://" + profile, "--headless", "--infilter=HTML (StarWriter)", "--convert-to", "pdf:writer_pdf_Export", "--outdir", dir}
		for _, id := range ids[start:min(start+20, len(ids))] {
			args = append(args, filepath.Join(dir, id+".html"))
		}
		if out, err := exec.CommandContext(ctx, program, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("soffice: %w: %s", err, out)
		}
	}
	return nil
}
