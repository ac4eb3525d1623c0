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
	"civil":   "fault",
	"paging":  "fault",
	"secrets": "",
	"store":   "fault secrets",
	"rows":    "wearables/blocks", // text that is kept by its columns

	"wearables/blocks": "",        // columns of instants and numbers: it knows nothing of what they are
	"config":           "secrets", // settings from flag, environment and file; a connection address is a secret

	// Written inside the caller's transaction.
	"jobs":   foundations,
	"events": foundations + " rows",

	// Domains: types, rules, SQL. All know teams, whose ID is an argument of
	// everything that belongs to one.
	"teams":                 foundations + " events jobs",
	"users":                 domain,
	"lists":                 "store", // public lists that an operator imports for all teams
	"insurance":             domain + " users lists",
	"labs":                  domain,
	"diagnoses":             domain + " lists",
	"messages":              domain + " users",
	"messages/senders":      "messages webhooks",                                 // SMTP and the SMS gateway, whose posts are signed like webhooks
	"networks":              "civil",                                             // what a lab network can do, in words that no network owns
	"orders":                domain + " users insurance labs diagnoses networks", // billed to an insurance, of a lab test, placed with a network
	"networks/sandboxlab":   domain + " users labs orders",                       // walks orders through time, so it looks where they are
	"networks/networktest":  "networks",
	"documents":             domain + " users insurance labs networks orders results", // papers of an order and its results
	"orders/orderstest":     domain + " users users/userstest labs orders",
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
	"connections/demo":      domain + " users providers providers/files connections wearables", // invents data and stores it as an import does
	"providers/files":       domain + " users wearables",                                       // an import says whose data it is
	"providers/xmlscan":     "",
	"providers/applehealth": domain + " users wearables",
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
	"cli": domains + " api portal ops config app client progress",

	// For tests and measurements only; no product code may import them.
	"testdata":                      "",
	"harness":                       "",
	"apitest":                       "",
	"store/storetest":               "store store/pgtemp",
	"jobs/jobstest":                 "store",
	"app/apptest":                   domains + " ops config store/storetest",
	"providers/files/filestest":     domain + " users wearables connections",                          // imports a file and looks at what became of it
	"providers/sheet/sheettest":     domain + " users wearables connections",                          // imports a file as the job does
	"providers/replies/repliestest": domain + " users wearables connections store/storetest testdata", // reads public samples on both engines
	"store/pgtemp":                  "",
}

const (
	foundations = "fault ids patch civil paging secrets store"
	domain      = foundations + " events jobs teams"
	domains     = domain + " users insurance wearables aggregate providers connections connections/demo tokens imports webhooks ledger ledger/replay labs diagnoses messages places networks networks/sandboxlab orders inbox fhir results documents appointments matching"
)

const module = "hale/internal/"

func TestImportsPointDown(t *testing.T) {
	used := map[string]bool{}
	for file := range sources(t) {
		from := row(file.dir)
		if from == "" {
			t.Errorf("%s is in no row of the table: add one, with the arrows it needs", file.dir)
			continue
		}
		used[from] = true
		for _, spec := range file.syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			to, ours := strings.CutPrefix(imported, module)
			if !ours || top(to) == top(file.dir) || slices.Contains(strings.Fields(mayImport[from]), row(to)) {
				continue
			}
			t.Errorf("%s: %s may not import %s", file.position(spec.Pos()), file.dir, to)
		}
	}
	for name := range mayImport {
		if !used[name] {
			t.Logf("no source yet for the row %q", name)
		}
	}
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
