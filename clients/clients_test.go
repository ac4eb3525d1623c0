// Package clients runs the reference's own client libraries against the whole service.
// A team that moves to Hale already uses them, and they decode strictly: a missing
// member, or one of another type, throws.
//
// The walks, one file per area, are in walks/; walk.mjs runs them with each library.
// They need Node and the packages of package.json, which `make test` installs where it
// can; without them the test skips.
package clients

import (
	"bytes"
	"embed"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hale/internal/app/apptest"
	"hale/internal/labs/catalogue"
	"hale/internal/platform/config"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// keyHeader is the header in which the libraries send keys. A service accepts it if it is
// named in --api-key-header.
const keyHeader = "x-vital-api-key"

// sources are embedded so that go test runs again what was changed.
//
//go:embed *.mjs walks/*.mjs package-lock.json
var _ embed.FS

// line holds the output of walk.mjs for a walk, and for the library when its walks are
// done.
type line struct {
	Walk     string
	Error    string
	Uncalled []string
}

func TestLibrariesOfTheReference(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the client libraries need Node, which is not here")
	}
	if _, err := os.Stat("node_modules"); err != nil {
		t.Skip("the client libraries are not here: npm ci in clients/ brings them")
	}
	for _, run := range []struct {
		library string
		compat  bool // the team's setting reference_compat
	}{
		{"junction", false},
		{"junction", true},
		{"vital", false},
		{"vital", true},
	} {
		name, setting := run.library, "off"
		if run.compat {
			name, setting = name+" with reference_compat", "on"
		}
		t.Run(name, func(t *testing.T) {
			s := apptest.Start(t, storetest.NewSQLite(t), func(c *config.Config) {
				c.APIKeyHeaders = append(c.APIKeyHeaders, keyHeader)
			})
			changeTeam(t, s, run.compat)
			walk := exec.CommandContext(t.Context(), node, "walk.mjs", run.library)
			walk.Env = append(os.Environ(), "HALE_URL="+s.URL(), "HALE_API_KEY="+s.Key, "HALE_REFERENCE_COMPAT="+setting)
			report(t, walk)
		})
	}
}

// report runs the walks, each as a subtest. It then compares the methods that no walk
// called with those that docs/client-libraries.md lists as absent.
func report(t *testing.T, walk *exec.Cmd) {
	var said bytes.Buffer
	walk.Stderr = &said
	out, err := walk.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &said)
	}
	for text := range bytes.Lines(out) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if l.Walk == "" {
			t.Run("methods", func(t *testing.T) { compare(t, l.Uncalled, missingPrograms(t)) })
			continue
		}
		t.Run(l.Walk, func(t *testing.T) {
			if l.Error != "" {
				t.Error(l.Error)
			}
		})
	}
}

// missingPrograms returns the names of the methods that docs/client-libraries.md lists as not
// served by Hale.
func missingPrograms(t *testing.T) []string {
	page, err := os.ReadFile("../docs/client-libraries.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Absent operations\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var all []string
	for row := range strings.Lines(section) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range method.FindAllStringSubmatch(cells[1], -1) {
			all = append(all, m[1])
		}
	}
	return all
}

var method = regexp.MustCompile("`(\\w+\\.\\w+)`")

// compare fails for each method that no walk has called with success, except absent ones.
// An older library may lack the absent methods.
func compare(t *testing.T, uncalled, absent []string) {
	if len(absent) == 0 {
		t.Error("the page names no absent method")
	}
	for _, name := range uncalled {
		if !slices.Contains(absent, name) {
			t.Errorf("%s: no walk has called it with success", name)
		}
	}
}

// changeTeam adds a physician and turns reference_compat. No request can do either.
func changeTeam(t *testing.T, s *apptest.Service, compat bool) {
	var of struct {
		TeamID teams.ID `json:"team_id"`
	}
	s.Expect(http.StatusOK, "GET", "/v2/user/metrics", "", &of)
	ctx := store.AsSystem(t.Context())
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := catalogue.AddPhysician(ctx, tx, of.TeamID, catalogue.Physician{FirstName: "Jane", LastName: "Example", NPI: "1234567893", States: []string{"AZ"}})
		if err != nil {
			return err
		}
		team, err := teams.Get(ctx, tx, of.TeamID)
		if err != nil {
			return err
		}
		team.Settings.ReferenceCompat = compat
		return teams.Update(ctx, tx, team)
	})
	if err != nil {
		t.Fatal(err)
	}
}
