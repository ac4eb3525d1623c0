package cli

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
)

var block = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// What the pages about bringing data in and reading it out tell a reader to
// type works, in their order, in a shell that knows nothing but the names that
// the pages use: an export, a user, an address and a key.
func TestTheCommandsOfThePagesWork(t *testing.T) {
	for _, tool := range []string{"sh", "curl", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the commands of the pages need %s, which is not here", tool)
		}
	}
	for page, least := range map[string]int{"importing.md": 3, "reading-data.md": 1} {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../../docs", page))
			if err != nil {
				t.Fatal(err)
			}
			found := block.FindAllStringSubmatch(string(text), -1)
			if len(found) < least {
				t.Fatalf("%d blocks of commands were found", len(found))
			}
			s := apptest.Start(t, storetest.NewSQLite(t))
			var user struct {
				ID string `json:"user_id"`
			}
			s.Expect(http.StatusOK, "POST", "/v2/user", `{"client_user_id":"anna"}`, &user)
			dir := t.TempDir()
			export, err := os.Create(filepath.Join(dir, "export.zip"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := applehealthtest.WriteZip(export, applehealthtest.Options{Days: 2}); err != nil {
				t.Fatal(err)
			}
			if err := export.Close(); err != nil {
				t.Fatal(err)
			}
			script := "curl() { command curl -sS --fail-with-body \"$@\"; }\n"
			for i, m := range found {
				script += fmt.Sprintf("echo '# block %d' >&2\n%s\n", i+1, m[1])
			}
			shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script)
			shell.Dir = dir
			shell.Env = append(os.Environ(), "HALE_URL="+s.URL(), "HALE_API_KEY="+apptest.Key, "USER_ID="+user.ID, "HALE_DATA="+dir)
			if out, err := shell.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if page != "importing.md" {
				return
			}
			var list struct {
				Imports []struct{ Kind string }
			}
			s.Get("/v2/user/"+user.ID+"/imports", &list)
			if len(list.Imports) == 0 || list.Imports[0].Kind != "apple_health" {
				t.Errorf("imports after the page: %+v", list)
			}
			if !strings.Contains(string(text), "UPLOAD_ID=") {
				t.Error("the page does not say where the id of an upload comes from")
			}
		})
	}
}

// The example in deploy/ makes files of secrets in the source tree: git passes
// them over, and so does the build of the image.
func TestSecretsOfTheExampleStayOutside(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "deploy", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Secrets map[string]struct{ File string }
	}
	if err := yaml.Unmarshal(text, &compose); err != nil || len(compose.Secrets) == 0 {
		t.Fatalf("%d secrets, %v", len(compose.Secrets), err)
	}
	for _, name := range []string{".gitignore", ".dockerignore"} {
		ignored, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range compose.Secrets {
			path := "deploy/" + strings.TrimPrefix(secret.File, "./")
			if !slices.ContainsFunc(strings.Split(string(ignored), "\n"), func(line string) bool { return strings.TrimPrefix(line, "/") == path }) {
				t.Errorf("%s lacks %s", name, path)
			}
		}
	}
}
