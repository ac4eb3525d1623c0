package tokens_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

var shell = regexp.MustCompile("(?s)```sh\n(.*?)```")

// The commands of docs/pushing-data.md run in their order.
func TestCommandsOfTheGuide(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "jq", "gzip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	page, err := os.ReadFile("../../../docs/pushing-data.md")
	if err != nil {
		t.Fatal(err)
	}
	script := []string{"set -euo pipefail"}
	for _, block := range shell.FindAllStringSubmatch(string(page), -1) {
		script = append(script, block[1], "echo")
	}
	if len(script) < 15 {
		t.Fatalf("found %d blocks: the search is broken", len(script)/2)
	}
	s := apptest.Start(t, storetest.NewSQLite(t))
	cmd := exec.CommandContext(t.Context(), "bash", "-c", strings.Join(script, "\n"))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HALE_URL="+s.URL(), "HALE_API_KEY="+s.Key)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		`{"success":true,"created":2,"updated":0,"unchanged":0,"rejected":[]}`, // two heart rates
		`{"success":true,"created":1,"updated":0,"unchanged":0,"rejected":[]}`, // a night
		`{"success":true,"created":3,"updated":0,"unchanged":0,"rejected":[]}`, // three entries
		`"timezone_offset":7200`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}
