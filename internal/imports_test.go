package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Arrows point down: doors import domains, domains import events, jobs and
// foundations, foundations import each other at most. Sideways there is only
// what this table says, so a new edge is one visible line in a review.
//
// A name stands for the package and those below it; the longest one counts.
// A package and its own subpackages may always import each other.
var mayImport = map[string]string{
	// Foundations know no domain.
	"fault":   "",
	"ids":     "",
	"patch":   "",
	"civil":   "",
	"paging":  "fault",
	"secrets": "",
	"store":   "fault secrets",
	"rows":    "wearables/blocks", // text that is kept by its columns

	"wearables/blocks":    "",        // columns of instants and numbers: it knows nothing of what they are
	"wearables/resources": "",        // the table of time series: units, ranges, words
	"config":              "secrets", // settings from flag, environment and file; a connection address is a secret

	// Written inside the caller's transaction.
	"jobs":   foundations,
	"events": foundations + " rows wearables/resources", // the catalogue's units and words are the table's

	// Domains: types, rules, SQL. All know teams, whose ID is an argument of
	// everything that belongs to one.
	"teams":                 foundations,
	"users":                 domain,
	"lists":                 "store", // public lists that an operator imports for all teams
	"insurance":             domain + " users lists",
	"labs":                  domain,
	"diagnoses":             domain + " lists",
	"messages":              domain + " users",
	"messages/senders":      "webhooks",                                          // SMTP and the SMS gateway, whose posts are signed like webhooks
	"networks":              "civil",                                             // what a lab network can do, in words that no network owns
	"orders":                domain + " users insurance labs diagnoses networks", // billed to an insurance, of a lab test, placed with a network
	"networks/sandboxlab":   domain + " users labs orders",                       // walks orders through time, so it looks where they are
	"networks/networktest":  "",
	"documents":             domain + " labs networks orders results", // papers of an order and its results
	"orders/orderstest":     domain + " users labs",
	"inbox":                 domain + " users labs orders networks",                       // what networks report, on its way to who it concerns
	"appointments":          domain + " users labs orders networks places messages inbox", // visits: they take their order along
	"matching":              domain + " users labs orders networks inbox results",         // results that fit no order wait here; an accepted one is recorded
	"results":               domain + " users labs orders networks",                       // what labs found, in one form for all of them
	"networks/hl7":          "",                                                           // a message format and how it travels: nothing of ours
	"fhir":                  "civil",                                                      // an export from plain structs: the door fills them
	"places":                domain + " users",                                            // the states of an address
	"wearables":             domain + " users rows",
	"aggregate":             domain + " users wearables", // questions about what wearables has stored
	"providers":             domain + " wearables",
	"connections":           domain + " users providers wearables",
	"connections/demo":      domain + " users providers providers/files wearables", // invents data and stores it as an import does
	"providers/files":       domain + " users wearables",                           // an import says whose data it is
	"providers/xmlscan":     "",
	"providers/applehealth": domain + " wearables",
	"ledger":                domain + " users rows",                                                                         // payloads as they came
	"ledger/replay":         domain + " users wearables connections providers/files imports",                                // reads payloads again as the doors did the first time
	"tokens":                domain + " users",                                                                              // what a person's phone is let in with
	"imports":               domain + " users wearables connections providers providers/files providers/applehealth ledger", // uploaded files: one reader for each kind
	"webhooks":              domain,

	// Doors: decode, one transaction, encode.
	"api":    domains + " ops", // the request id that a log line and an answer share
	"portal": domains,
	"ops":    foundations, // logs, metrics, traces, health: they see requests, never what is in them

	// The command line and what only it uses.
	"progress": "",      // bars on a terminal, lines elsewhere
	"client":   "fault", // our own API, called from the outside

	// Wiring knows every part and holds no rules.
	"app": domains + " api portal ops config messages/senders",
	"cli": domains + " ops config app client progress",

	// For tests and measurements only; no product code may import them.
	"testdata":                      "",
	"harness":                       "",
	"apitest":                       "",
	"store/storetest":               "",
	"jobs/jobstest":                 "store",
	"app/apptest":                   domains + " ops config store/storetest",
	"providers/files/filestest":     domain + " users wearables connections",        // imports a file and looks at what became of it
	"providers/sheet/sheettest":     domain + " users wearables connections",        // imports a file as the job does
	"providers/replies/repliestest": domain + " wearables store/storetest testdata", // reads public samples on both engines
	"store/pgtemp":                  "",
}

const (
	foundations = "fault ids patch civil paging secrets store"
	domain      = foundations + " events jobs teams"
	domains     = domain + " users insurance diagnoses messages tokens webhooks places documents" +
		" wearables aggregate providers connections connections/demo imports ledger ledger/replay" +
		" labs networks networks/sandboxlab orders inbox fhir results appointments matching"
)

const module = "hale/internal/"

// arrow is an import from one row of the table to another.
type arrow struct{ from, to string }

func TestImportsPointDown(t *testing.T) {
	seen, used := map[string]bool{}, map[arrow]bool{}
	for file := range sources(t) {
		from := row(file.dir)
		if from == "" {
			t.Errorf("%s is in no row of the table: add one, with the arrows it needs", file.dir)
			continue
		}
		seen[from] = true
		for _, spec := range file.syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			to, ours := strings.CutPrefix(imported, module)
			if !ours || top(to) == top(file.dir) {
				continue
			}
			if !slices.Contains(strings.Fields(mayImport[from]), row(to)) {
				t.Errorf("%s: %s may not import %s", file.position(spec.Pos()), file.dir, to)
			}
			used[arrow{from, row(to)}] = true
		}
	}
	for from := range mayImport {
		if !seen[from] {
			t.Errorf("no source for the row %q: remove it", from)
		}
	}
	for _, a := range needless(used) {
		t.Errorf("nothing in %q imports %q: remove the word", a.from, a.to)
	}
}

// shared are the words that many rows begin with, the longest first.
var shared = []string{domains, domain, foundations}

// needless are the words of the table that allow what nobody does. A shared word
// is there for all its rows, so one of them is enough.
func needless(used map[arrow]bool) (found []arrow) {
	usedByOne := map[string]bool{}
	for from, words := range mayImport {
		for _, group := range shared {
			if own, begins := strings.CutPrefix(words, group); begins {
				for _, to := range strings.Fields(group) {
					usedByOne[to] = usedByOne[to] || used[arrow{from, to}]
				}
				words = own
				break
			}
		}
		for _, to := range strings.Fields(words) {
			if !used[arrow{from, to}] {
				found = append(found, arrow{from, to})
			}
		}
	}
	for _, to := range strings.Fields(domains) { // which has the words of the others
		if !usedByOne[to] {
			found = append(found, arrow{"domains", to})
		}
	}
	return found
}

// row finds the longest name of the table that holds the package.
func row(dir string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := mayImport[dir]; ok {
			return dir
		}
	}
	return ""
}

func top(dir string) string {
	name, _, _ := strings.Cut(dir, "/")
	return name
}

// source is one Go file that is not a test.
type source struct {
	dir    string // below internal, with slashes
	set    *token.FileSet
	syntax *ast.File
}

func (s source) position(p token.Pos) token.Position { return s.set.Position(p) }

// sources yields every Go file below internal but tests and testdata folders.
func sources(t *testing.T) func(yield func(source) bool) {
	t.Helper()
	return func(yield func(source) bool) {
		err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
				strings.Contains(filepath.ToSlash(name), "/testdata/") || !strings.Contains(filepath.ToSlash(name), "/") {
				return nil
			}
			set := token.NewFileSet()
			syntax, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			if !yield(source{filepath.ToSlash(filepath.Dir(name)), set, syntax}) {
				return filepath.SkipAll
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
