package app_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"hale/internal/app"
)

// Each operation declares types of events that exist, and the recorded requests cause
// no other events.
func TestOperationsDeclareTheirEvents(t *testing.T) {
	var document struct {
		Paths map[string]map[string]struct {
			Events []string `json:"x-events"`
		}
	}
	decodeFile(t, "../../docs/openapi.json", &document)
	var recorded map[string]struct{ Events []string }
	decodeFile(t, "../../docs/examples.json", &recorded)
	known := app.EventTypes().Types()
	declared := 0
	for address, operations := range document.Paths {
		for method, o := range operations {
			name := strings.ToUpper(method) + " " + address
			if strings.ToUpper(method) == http.MethodGet && o.Events != nil {
				t.Errorf("%s declares events, but only reads", name)
			}
			covers := func(pattern, kind string) bool { ok, _ := path.Match(pattern, kind); return ok }
			for _, pattern := range o.Events {
				declared++
				exists := false
				for _, kind := range known {
					exists = exists || covers(pattern, kind.Name)
				}
				if !exists {
					t.Errorf("%s declares %s, which no event is", name, pattern)
				}
			}
			for _, kind := range recorded[name].Events {
				if !slices.ContainsFunc(o.Events, func(pattern string) bool { return covers(pattern, kind) }) {
					t.Errorf("%s caused %s, and declares %v", name, kind, o.Events)
				}
			}
		}
	}
	if declared == 0 {
		t.Error("no operation declares events")
	}
}

func decodeFile(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
