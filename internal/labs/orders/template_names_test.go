package orders_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
)

// TestTemplatesNameStatuses checks the names of the texts for patients: the event is a status
// of the table, and the method is a collection method.
func TestTemplatesNameStatuses(t *testing.T) {
	file, err := os.ReadFile("../../people/messages/templates.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\{\{define "([^"]+)"`).FindAllStringSubmatch(string(file), -1)
	if len(names) < 20 {
		t.Fatalf("the file has %d texts", len(names))
	}
	for _, name := range names {
		event, rest, isText := strings.Cut(name[1], ".")
		if !isText || strings.HasPrefix(event, "reminder_") || event == "portal_code" { // a part of texts, or no status
			continue
		}
		if !slices.Contains(orders.Statuses, orders.Status(event)) {
			t.Errorf("the text %s: no status of an order is named %q", name[1], event)
		}
		method, _, hasMethod := strings.Cut(strings.TrimSuffix(rest, ".subject"), ".")
		if hasMethod && !slices.Contains(catalogue.Methods, catalogue.Method(method)) {
			t.Errorf("the text %s: no collection method is named %q", name[1], method)
		}
	}
}
