package orders_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"hale/internal/labs/orders"
)

var update = flag.Bool("update", false, "rewrite docs/order-states.md")

const statesPage = "../../../docs/order-states.md"

// The page is generated from the tables, so that a review shows the effect of a
// changed move.
func TestOrderStatesPage(t *testing.T) {
	page := printStates()
	if *update {
		if err := os.WriteFile(statesPage, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(statesPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != page {
		t.Error("docs/order-states.md is not what the tables say: go test ./internal/labs/orders -run TestOrderStatesPage -update")
	}
}

func printStates() string {
	var b strings.Builder
	b.WriteString("# The states of an order\n\n" +
		"This page is generated from the tables in `internal/labs/orders/table.go`. To change it, edit the tables and run `go generate ./internal/labs/orders`.\n\n" +
		"An event string is `<stage>.<method>.<status>`.\n\n" +
		"| Source | Meaning |\n|---|---|\n" +
		"| requisition | Hale's job that places the order |\n" +
		"| carrier | a report of the carrier |\n" +
		"| lab | a report of the lab |\n" +
		"| appointment | a visit or its booking |\n" +
		"| call | the API |\n" +
		"| operator | the people who run the service |\n\n" +
		"A move marked *skips steps* skips statuses that were not reported: a missed scan does not block later reports. " +
		"Moves that are not in a table do not happen: late and repeated reports are recorded and change nothing.\n")
	for _, c := range orders.Courses {
		printCourse(&b, c)
	}
	return b.String()
}

func printCourse(b *strings.Builder, c orders.Course) {
	fmt.Fprintf(b, "\n## %s\n\n```mermaid\nstateDiagram-v2\n    [*] --> %s\n", c, orders.Ordered)
	for _, a := range orders.Arrows(c) {
		if !a.Skips {
			fmt.Fprintf(b, "    %s --> %s\n", a.From, a.To)
		}
	}
	b.WriteString("```\n\n| Old status | New status | Source | Remark |\n|---|---|---|---|\n")
	for _, a := range orders.Arrows(c) {
		remark := ""
		if a.Skips {
			remark = "skips steps"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", a.From, a.To, a.By, remark)
	}
	b.WriteString("\n| Status | Event string | Message to the patient | Portal text | Remark |\n|---|---|---|---|---|\n")
	for _, s := range orders.Statuses {
		if !c.Includes(s) {
			continue
		}
		remark := ""
		if s.Terminal() {
			remark = "end"
		}
		fmt.Fprintf(b, "| %s | `%s` | %s | %s | %s |\n", s, s.Full(c.Method()), s.Message(c.Method()), s.PatientText(), remark)
	}
}

// Only corrections leave a terminal status, and every status can be reached.
func TestTables(t *testing.T) {
	for _, c := range orders.Courses {
		seen := map[orders.Status]bool{orders.Ordered: true}
		for range orders.Statuses {
			for _, a := range orders.Arrows(c) {
				if seen[a.From] {
					seen[a.To] = true
				}
			}
		}
		pairs := map[[2]orders.Status]bool{}
		for _, a := range orders.Arrows(c) {
			if a.From.Terminal() && (a.To != orders.Corrected || a.By != orders.Lab) {
				t.Errorf("%s: %s continues to %s", c, a.From, a.To)
			}
			if !seen[a.From] {
				t.Errorf("%s: nothing leads to %s", c, a.From)
			}
			if pairs[[2]orders.Status{a.From, a.To}] {
				t.Logf("%s: %s to %s is there twice", c, a.From, a.To)
			}
			pairs[[2]orders.Status{a.From, a.To}] = true
			if a.By == 0 || !slices.Contains(orders.Statuses, a.To) {
				t.Errorf("%s: %s to %s by no cause", c, a.From, a.To)
			}
		}
		for s := range seen {
			if s.Terminal() {
				continue
			}
			if c.Path(s, orders.Completed) == nil {
				t.Errorf("%s: no way from %s to completed", c, s)
			}
		}
	}
}

// The event strings are the 54 of the reference.
func TestEventStrings(t *testing.T) {
	all := map[string]bool{}
	for _, c := range orders.Courses {
		for _, s := range orders.Statuses {
			if c.Includes(s) {
				all[s.Full(c.Method())] = true
			}
		}
	}
	if len(all) != 54 {
		t.Errorf("%d event strings, want 54", len(all))
	}
	for _, s := range []string{
		"sample_with_lab.on_site_collection.draw_completed", "collecting_sample.at_home_phlebotomy.draw_completed",
		"collecting_sample.walk_in_test.redraw_available", "cancelled.testkit.do_not_process", "failed.testkit.lost", "received.testkit.registered",
	} {
		if !all[s] {
			t.Errorf("%s is missing", s)
		}
	}
}
