package internal_test

import (
	"go/ast"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"
)

// Domains know no HTTP: a door, a job, the command line and a simulator move
// the same things. These packages are where HTTP belongs.
var mayUseHTTP = map[string]string{
	"api":               "the JSON door",
	"portal":            "the HTML door",
	"platform/ops":      "health, metrics and traces are HTTP",
	"app":               "starts the servers",
	"cli":               "calls the API",
	"platform/webhooks": "posts to endpoints",
	"people/messages":   "posts to the SMS gateway",
	"harness":           "calls the server from the outside",
}

func TestOnlyDoorsKnowHTTP(t *testing.T) {
	for file := range sources(t) {
		if may := holds(mayUseHTTP, file.dir); may {
			continue
		}
		for _, spec := range file.syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if imported == "net/http" || imported == "html/template" ||
				strings.HasPrefix(imported, "github.com/go-chi/") || strings.HasPrefix(imported, "github.com/danielgtaylor/huma/") {
				t.Errorf("%s: %s may not import %s: doors know HTTP, domains do not", file.position(spec.Pos()), file.dir, imported)
			}
		}
	}
}

// There is one clock, which app hands to store; all else asks tx.Now() or
// db.Now(), so that a test can move time. These packages may read the real one.
var mayReadTheClock = map[string]string{
	"app":            "owns the clock",
	"api":            "measures how long a request took",
	"platform/store": "its default, and how long a commit took",
	"cli":            "draws progress for a person",
	"platform/ops":   "measures how long a request took",
	"harness":        "measures from the outside",
}

func TestOnlyTheAppReadsTheClock(t *testing.T) {
	for file := range sources(t) {
		if may := holds(mayReadTheClock, file.dir); may {
			continue
		}
		for _, at := range uses(file, "time", "Now") {
			t.Errorf("%s: %s may not read the clock: use tx.Now() or db.Now()", at, file.dir)
		}
	}
}

// store names the error of a row that is not there, so that a domain needs to
// know no other package for it. These read a database of their own.
var mayAskTheDriver = map[string]string{
	"platform/store":                  "names it",
	"wearables/formats/healthconnect": "reads the database that a phone exported",
}

func TestRowsThatAreNotThereHaveOneName(t *testing.T) {
	for file := range sources(t) {
		if _, may := mayAskTheDriver[file.dir]; may {
			continue
		}
		for _, at := range uses(file, "sql", "ErrNoRows") {
			t.Errorf("%s: use store.ErrNoRows", at)
		}
	}
}

// Code over health data stays within the type system: no package unsafe, and so
// no go:linkname, which needs it.
func TestNoUnsafe(t *testing.T) {
	for file := range sources(t) {
		for _, spec := range file.syntax.Imports {
			if spec.Path.Value == `"unsafe"` {
				t.Errorf("%s: %s may not import unsafe", file.position(spec.Pos()), file.dir)
			}
		}
	}
}

// uses lists where a file names something of a package.
func uses(file source, pkg, name string) (at []token.Position) {
	ast.Inspect(file.syntax, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && selector.Sel.Name == name {
			if of, ok := selector.X.(*ast.Ident); ok && of.Name == pkg {
				at = append(at, file.position(n.Pos()))
			}
		}
		return true
	})
	return at
}

// holds reports whether a table names the package or one above it.
func holds(table map[string]string, dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := table[dir]; ok {
			return true
		}
	}
	return false
}
