package documents

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hale/internal/labs/pdfs"
)

// Other programs check the documents: poppler reads the text, zbar scans the bar
// codes from an image of the page. Both are skipped where they are not installed.

func tool(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
}

func save(t *testing.T, body []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "document.pdf")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, complaints.String())
	}
	return out.String()
}

func TestOtherProgramsReadTheText(t *testing.T) {
	tool(t, "pdftotext", "pdfinfo")
	s := subject(12)
	s.Full.Patient.LastName = "Łukasiewicz Жук"
	for name, render := range renderers(s, revision(12)) {
		file := save(t, mustRender(t, render))
		said := run(t, "pdftotext", "-layout", file, "-")
		for _, text := range map[string][]string{
			"requisition": {"Łukasiewicz Жук, Ada", "12/10/1984", "1234567893", "M-1", "E11.9", "70011", "Yes, fasted (Y)", "Known carrier (trait) \\ see letter"},
			"labels":      {"Łukasiewicz Жук, Ada", "A-77001", "S0012345678"},
			"notice":      {"Łukasiewicz Жук, Ada", "$12.50", "CMS-R-131"},
			"report":      {"≥60", "µg/L", "Analyte 12", "Max Muster, MD"},
		}[name] {
			if !strings.Contains(said, text) {
				t.Errorf("%s: pdftotext does not find %q in\n%s", name, text, said)
			}
		}
		if about := run(t, "pdfinfo", file); strings.Contains(about, "Ada") || !strings.Contains(about, "Encrypted:       no") {
			t.Errorf("%s: pdfinfo says\n%s", name, about)
		}
	}
}

func TestOtherProgramsReadTheStamp(t *testing.T) {
	tool(t, "pdftotext")
	marked, err := pdfs.Stamp(mustRender(t, renderers(subject(60), revision(180))["report"]), "REPLACED by version 3")
	if err != nil {
		t.Fatal(err)
	}
	pages := strings.Split(strings.TrimSuffix(run(t, "pdftotext", save(t, marked), "-"), "\f"), "\f")
	for n, page := range pages {
		if len(pages) < 2 || !strings.Contains(page, "REPLACED by version 3") {
			t.Errorf("page %d of %d has no stamp", n+1, len(pages))
		}
	}
}

func TestScannersReadTheBars(t *testing.T) {
	tool(t, "pdftoppm", "zbarimg")
	for name, render := range renderers(subject(60), revision(1)) {
		if name != "requisition" && name != "labels" {
			continue
		}
		file := save(t, mustRender(t, render))
		for _, resolution := range []string{"200", "300"} {
			picture := strings.TrimSuffix(file, ".pdf") + resolution
			run(t, "pdftoppm", "-r", resolution, "-gray", "-f", "1", "-l", "1", "-singlefile", file, picture)
			if got := run(t, "zbarimg", "-q", picture+".pgm"); !strings.Contains(got, "CODE-128:S0012345678\n") {
				t.Errorf("%s at %s dpi: zbarimg reads %q", name, resolution, got)
			}
		}
	}
}
