package internal_test

import (
	"os/exec"
	"strings"
	"testing"
)

// ownEmbeds lists packages whose embedded files need no line in NOTICE, with the reason.
var ownEmbeds = map[string]string{
	"hale/docs":                         "written for Hale",
	"hale/internal/app":                 "written for Hale",
	"hale/internal/docpages":            "written for Hale",
	"hale/internal/labs/catalogue":      "written for Hale: the lab tests of the sandbox, with LOINC codes",
	"hale/internal/people/insurance":    "names of payors, which are facts",
	"hale/internal/people/messages":     "written for Hale",
	"hale/internal/platform/store":      "written for Hale: migrations",
	"hale/internal/portal":              "written for Hale",
	"hale/internal/wearables/providers": "written for Hale",
}

// NOTICE names the module or folder of each package that embeds files, except those that
// were written for Hale.
func TestTheNoticeNamesEmbeddedFiles(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		"{{if and .EmbedFiles (not .Standard)}}{{.ImportPath}} {{.Module.Path}}{{end}}", "hale/cmd/hale")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	notice, seen := readText(t, "../NOTICE"), map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		if ownEmbeds[path] != "" {
			seen[path] = true
			continue
		}
		name := module
		if module == "hale" {
			name = strings.TrimPrefix(path, "hale/")
		}
		if !strings.Contains(notice, name) {
			t.Errorf("NOTICE does not name %s, which embeds files", name)
		}
	}
	for path := range ownEmbeds {
		if !seen[path] {
			t.Errorf("%s embeds no files: remove it from ownEmbeds", path)
		}
	}
}
