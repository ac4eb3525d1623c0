package providers_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hale/internal/testdata"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
)

// otherStores are the resources that are no wearable data that is stored, and
// where they live.
var otherStores = map[string]string{
	"hypnogram":     "read from sleep_cycle, which replaced it",
	"sleep_stream":  "read from the series of the night",
	"device":        "connections",
	"device_legacy": "connections",
	"connection":    "connections",
	"order":         "orders",
	"result":        "results",
	"match_review":  "matching",
	"appointment":   "appointments",
}

var supported = regexp.MustCompile(`(?m)^\| supported_resources \|.*Values: ([^|]+) \|$`)

// Every value of the specification's list is in ours and has a store: a series, a
// summary, a stream, or a domain of its own. The list is one table and has no further
// values.
func TestEveryResourceHasAStore(t *testing.T) {
	text, err := os.ReadFile(testdata.Shared(t, "../spec/interface-specification.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := supported.FindStringSubmatch(string(text))
	if m == nil {
		t.Fatal("the specification has no list of supported resources where it is looked for")
	}
	listed := strings.Split(strings.TrimSpace(m[1]), ", ")
	if len(listed) < 60 {
		t.Fatalf("only %d resources were understood", len(listed))
	}
	for _, name := range listed {
		if !providers.IsResource(name) {
			t.Errorf("%s is not in our table", name)
		}
		if _, other := otherStores[name]; wearables.KeepsData(name) == other {
			t.Errorf("%s has no table, or two", name)
		}
	}
	for _, name := range providers.Resources {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is not in the specification", name)
		}
	}
	for _, r := range wearables.Resources() {
		if !slices.Contains(listed, r.Event) {
			t.Errorf("the series %s is stored and not in the specification", r.Event)
		}
	}
	for _, d := range wearables.Documents() {
		if !slices.Contains(listed, d.Name) {
			t.Errorf("the summary %s is stored and not in the specification", d.Name)
		}
	}
}

// The contract's own enumeration has what the specification lists, and the
// result tables of continuous queries (reference 7.1).
func TestContractListsTheSameResources(t *testing.T) {
	text, err := os.ReadFile(testdata.Shared(t, "../reference/contract.json"))
	if err != nil {
		t.Fatal(err)
	}
	var contract struct {
		Schemas map[string]struct {
			Enum []any `json:"enum"`
		} `json:"schemas"`
	}
	if err := json.Unmarshal(text, &contract); err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, value := range contract.Schemas["Resource"].Enum {
		name, _ := value.(string)
		named[name] = true
		if name != "result_table" && !providers.IsResource(name) {
			t.Errorf("%s is not in our table", name)
		}
	}
	for _, name := range providers.Resources {
		if !named[name] {
			t.Errorf("%s is not in the contract", name)
		}
	}
}
