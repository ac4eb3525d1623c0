package wearables_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"hale/internal/wearables"
	"hale/internal/wearables/push"
	"hale/internal/wearables/resources"
)

var updatePage = flag.Bool("update", false, "rewrite docs/resources.md")

const resourcesPage = "../../docs/resources.md"

// The page is generated from the tables that check samples and summaries.
func TestResourcesPage(t *testing.T) {
	page := printResources()
	if *updatePage {
		if err := os.WriteFile(resourcesPage, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(resourcesPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(stored) != page {
		t.Error("docs/resources.md differs from the tables: go test ./internal/wearables -run TestResourcesPage -update")
	}
}

func printResources() string {
	var b strings.Builder
	b.WriteString("# Look up resources\n\n" +
		"This page is generated from the tables that check all data: `internal/wearables/resources/table.go` for time series, " +
		"`internal/wearables/documents.go` and `shapes.go` for summaries. To change it, change the tables and run `go generate ./internal/wearables`.\n\n" +
		"## Time series\n\n" +
		"A sample outside its range, or an interval above the largest rate, is left out and counted as `implausible_value`. " +
		"Reads return samples in the unit of the table. Pushes may use the other accepted units, in upper or lower case; only `Cal` is not `cal`. " +
		"A field that was not stated is `null`.\n\n" +
		"| Resource | Unit | Other accepted units | Samples | Range | `type` | Further fields |\n|---|---|---|---|---|---|---|\n")
	for _, r := range wearables.Resources() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", r.Name, r.Unit, strings.Join(push.Units(&r), ", "), r.Shape(), r.Range(), r.TypeWords(), r.FieldWords())
	}
	b.WriteString("\n" + remarks())
	b.WriteString("\n## Summaries\n\nEvery field is in every summary. A number outside its range is left out of its summary: see [reading data](reading-data.md).\n")
	for _, d := range wearables.Documents() {
		fmt.Fprintf(&b, "\n### %s\n\n| Field | Kind | Values | Meaning |\n|---|---|---|---|\n", d.Name)
		for _, f := range d.Fields {
			if _, ok := d.Settable(f.Name); ok {
				values, remark := valuesOf(f.Shape()), f.Doc
				if strings.ReplaceAll(values, "`", "") == remark {
					remark = ""
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Kind, values, remark)
			}
		}
	}
	return b.String()
}

// remarks returns the facts that no column has.
func remarks() string {
	var renamed, closed []string
	for _, r := range wearables.Resources() {
		if r.Event != r.Name {
			renamed = append(renamed, "`"+r.Name+"` is `"+r.Event+"` in event types")
		}
		if !r.Push && !r.Text {
			closed = append(closed, r.Name)
		}
	}
	return "The range of `blood_pressure` is that of the systolic, then that of the diastolic pressure. " + strings.Join(renamed, "; ") + ". " +
		"Pushes may contain samples of all resources except " + resources.QuoteWords(closed) + ". Notes are texts with their own path and format, below.\n"
}

// valuesOf describes the values of a field.
func valuesOf(s *wearables.Shape) string {
	switch {
	case len(s.Words) > 0:
		return resources.QuoteWords(s.Words)
	case s.Least != 0 || s.Most != 0:
		return resources.RangeText(s.Least, s.Most)
	case s.Kind == wearables.List && s.Each != nil:
		if of := valuesOf(s.Each); of != "" {
			return "each " + of
		}
	case len(s.Numbers) > 0:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Numbers), " ", ", "), "[]")
	case len(s.Members) > 0:
		return membersOf(s)
	}
	return ""
}

func membersOf(s *wearables.Shape) string {
	all := make([]string, len(s.Members))
	for i, m := range s.Members {
		all[i] = "`" + m.Name + "`"
		if of := valuesOf(m.Shape); of != "" && len(m.Members) == 0 {
			all[i] += " (" + of + ")"
		}
	}
	return strings.Join(all, ", ")
}
