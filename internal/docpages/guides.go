// Package docpages shows the documentation as pages in a browser and as text in a
// terminal. The documentation has two parts: the guides of docs/ and the reference of the
// API's operations. One search covers both. The package has no data of teams or persons.
package docpages

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"

	"hale/docs"
)

// guideGroup lists the guides of one task.
type guideGroup struct {
	Title  string
	guides []guideRow
}

type guideRow struct{ name, summary string }

// guideGroups lists the guides that the binary shows, in the order of use.
var guideGroups = []guideGroup{
	{"Start", []guideRow{
		{"start", "from an empty folder to data, an order and events"},
		{"users", "create, find, change and delete users; demographics and portal links"},
		{"errors", "codes, when to repeat a request, what to correct"},
		{"api-keys", "give each program only the rights that it needs"},
		{"client-libraries", "run programs of the reference's client libraries"},
	}},
	{"Wearable data", []guideRow{
		{"pushing-data", "batches of measurements from phones and forms"},
		{"importing", "exports of Apple Health, Health Connect, FIT, GPX, glucose meters and others"},
		{"reading-data", "summaries, time series, merged series and daily totals"},
		{"aggregation", "select, filter and group columns over time"},
		{"exporting-data", "all data of a user or a cohort as files"},
		{"deleting-data", "delete by filters, undo an import, correct values"},
		{"resources", "units, ranges and fields of every kind of data"},
	}},
	{"Laboratory", []guideRow{
		{"ordering", "order a lab test and follow it to its results"},
		{"sandbox-lab", "the built-in laboratory, its clock and its scenarios"},
		{"order-states", "every status of an order and the moves between them"},
		{"appointments", "visits of a phlebotomist and at a service center"},
		{"places", "service centers and phlebotomists near a ZIP code"},
		{"lab-catalogue", "laboratories, markers, lab tests and accounts"},
		{"insurance", "payors and diagnosis codes"},
		{"results", "results, corrections and critical values"},
		{"unmatched-results", "results whose order is not certain"},
		{"reports", "read PDF files, scans and photos of lab reports"},
		{"production", "what a production team needs before its first order"},
		{"hl7", "connect a laboratory over HL7 v2; export FHIR"},
		{"fulfilment", "kits and visits by your staff or a partner"},
	}},
	{"Events", []guideRow{
		{"events", "types of events, their order, and the feed"},
		{"webhooks", "endpoints, signatures, retries and replays"},
		{"keep-a-copy", "a copy that equals the API in every field"},
	}},
	{"Portal and messages", []guideRow{
		{"messages", "SMS and e-mails to patients, and their settings"},
	}},
	{"Operate", []guideRow{
		{"operations", "settings, databases, backups, monitoring and upgrades"},
		{"playbook", "what to do about each alert and problem"},
		{"releases", "install and verify a released binary, package or image"},
		{"security", "threat model, data flows and checks"},
		{"stored-columns", "which columns of the database are sealed"},
		{"audit", "list, export and verify the audit log"},
		{"performance", "measured rates and how to repeat them"},
	}},
	{"Reference", []guideRow{
		{"cli", "every command, its output and its exit codes"},
		{"glossary", "the words of the trade as Hale uses them"},
		{"spec-notes", "each choice with its reason"},
	}},
}

// notShown lists pages of docs/ for developers of Hale.
var notShown = []string{"sample-blocks"}

// Guide is one page of docs/.
type Guide struct {
	Name    string `json:"page"`
	Group   string `json:"group"`
	Title   string `json:"title"`
	Summary string `json:"summary"`
	source  []byte
	tree    ast.Node
}

// Path returns the address of the guide below the service's own.
func (g *Guide) Path() string { return guidesPath + g.Name }

// Source returns the guide in Markdown.
func (g *Guide) Source() string { return string(g.source) }

// Guides returns all guides in the order of use.
var Guides = sync.OnceValue(func() []*Guide {
	var all []*Guide
	for _, group := range guideGroups {
		for _, row := range group.guides {
			source, err := docs.Files.ReadFile(row.name + ".md")
			if err != nil {
				panic("docpages: " + err.Error()) // the table above and the embedded files belong to one build
			}
			g := &Guide{Name: row.name, Group: group.Title, Summary: row.summary, source: source, tree: parseMarkdown(source)}
			g.Title = headingsOf(g.tree, source)[0].Text
			all = append(all, g)
		}
	}
	return all
})

// FindGuide returns the guide with a name, which may end in .md.
func FindGuide(name string) (*Guide, bool) {
	name = strings.TrimSuffix(path.Base(name), ".md")
	for _, g := range Guides() {
		if strings.EqualFold(g.Name, name) {
			return g, true
		}
	}
	return nil, false
}

// NearestGuides returns the names of at most three guides that a reader may have meant.
func NearestGuides(name string) []string {
	name = strings.ToLower(strings.TrimSuffix(name, ".md"))
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, g := range Guides() {
		distance := editDistance(name, g.Name)
		switch {
		case len(name) >= 3 && (strings.Contains(g.Name, name) || strings.Contains(name, g.Name)):
			distance = 1
		case distance > max(len(name)/3, 1):
			continue
		}
		near = append(near, candidate{g.Name, distance})
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range near[:min(len(near), 3)] {
		names = append(names, c.name)
	}
	return names
}

// editDistance counts the letters to insert, remove or replace between two words.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// guideLink returns the address of a link between pages of docs/. shown is false for
// files that the binary does not show.
func guideLink(target string) (address string, shown bool) {
	if program, found := strings.CutPrefix(target, "examples/"); found {
		_, err := fs.Stat(docs.Files, target)
		return programsPath + program, err == nil
	}
	file, anchor, _ := strings.Cut(target, "#")
	if strings.Contains(file, "/") || !strings.HasSuffix(file, ".md") {
		return "", false
	}
	name := strings.TrimSuffix(file, ".md")
	for _, group := range guideGroups {
		for _, row := range group.guides {
			if row.name == name {
				if anchor != "" {
					anchor = "#" + anchor
				}
				return fmt.Sprintf("%s%s%s", guidesPath, name, anchor), true
			}
		}
	}
	return "", false
}
