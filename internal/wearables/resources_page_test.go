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

var update = flag.Bool("update", false, "rewrite docs/resources.md")

const resourcesPage = "../../docs/resources.md"

// The page is printed from the tables that samples and summaries are checked
// by.
func TestResourcesPage(t *testing.T) {
	page := printResources()
	if *update {
		if err := os.WriteFile(resourcesPage, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(resourcesPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != page {
		t.Error("docs/resources.md is not what the tables say: go test ./internal/wearables -run TestResourcesPage -update")
	}
}

func printResources() string {
	var b strings.Builder
	b.WriteString("# Resources\n\n" +
		"Printed from the tables that everything is checked by: `internal/wearables/resources/table.go` of time series, " +
		"`internal/wearables/documents.go` and `shapes.go` of summaries. Change those and run `go generate ./internal/wearables`.\n\n" +
		"## Time series\n\n" +
		"A sample outside its range is left out and counted as `implausible_value`; an interval that is steeper than the rate, too. " +
		"Samples come back in the unit of the table, whichever they were sent in; the case of a unit does not matter. " +
		"A field that nobody said is `null`.\n\n" +
		"| Resource | Unit | Also taken | Samples | Range | `type` | Further fields |\n|---|---|---|---|---|---|---|\n")
	for _, r := range wearables.Resources() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", r.Name, r.Unit, strings.Join(push.Units(&r), ", "), r.Shape(), r.Range(), r.TypeWords(), r.FieldWords())
	}
	b.WriteString("\n" + remarks())
	b.WriteString("\n## Summaries\n\nEvery field is in every summary. A number outside its range is left out of its summary: see [reading data](reading-data.md).\n")
	for _, d := range wearables.Documents() {
		fmt.Fprintf(&b, "\n### %s\n\n| Field | Kind | Values | |\n|---|---|---|---|\n", d.Name)
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

// remarks are on what the columns have no room for.
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
	return "The range of `blood_pressure` is of the systolic over the diastolic pressure. " + strings.Join(renamed, "; ") + ". " +
		"Samples are taken of all but " + resources.Quoted(closed) + ". Notes are texts: they have a path and a shape of their own, below.\n"
}

// valuesOf describes the values of a field.
func valuesOf(s *wearables.Shape) string {
	switch {
	case len(s.Words) > 0:
		return resources.Quoted(s.Words)
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
