package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"
)

// Domains do not use HTTP, because the API, jobs, the command line and the sandbox call
// the same functions. Only these packages may use it.
var mayUseHTTP = map[string]string{
	"api":                    "the JSON API",
	"portal":                 "the HTML pages",
	"docpages":               "the pages of the documentation",
	"platform/ops":           "health, metrics and traces use HTTP",
	"app":                    "starts the servers",
	"cli":                    "calls the API",
	"platform/webhooks":      "posts to endpoints",
	"people/messages":        "posts to the SMS gateway",
	"labs/networks/partners": "calls phlebotomy companies and kit warehouses",
	"harness":                "calls the server as a client",
}

func TestDomainsDoNotUseHTTP(t *testing.T) {
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
				t.Errorf("%s: %s may not import %s: domains do not use HTTP", file.position(spec.Pos()), file.dir, imported)
			}
		}
	}
}

// app gives one clock to store. All other code calls tx.Now() or db.Now(), so that a test
// can change the time. Only these packages may read the real clock.
var mayReadTheClock = map[string]string{
	"app":            "owns the clock",
	"api":            "measures the duration of a request",
	"platform/store": "the default clock, and the duration of a commit",
	"cli":            "displays progress",
	"platform/ops":   "measures the duration of a request",
	"harness":        "measures as a client",
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

// Domains use store.ErrNoRows for a missing row. Only these packages may use the error of
// the driver.
var mayUseTheDriver = map[string]string{
	"platform/store":                  "defines store.ErrNoRows",
	"wearables/formats/healthconnect": "reads the SQLite file that a phone exported",
}

func TestMissingRowsHaveOneError(t *testing.T) {
	for file := range sources(t) {
		if _, may := mayUseTheDriver[file.dir]; may {
			continue
		}
		for _, at := range uses(file, "sql", "ErrNoRows") {
			t.Errorf("%s: use store.ErrNoRows", at)
		}
	}
}

// No file imports unsafe, tests and programs included. This also excludes go:linkname,
// which requires it.
func TestNoUnsafe(t *testing.T) {
	for name := range tree(t, ".go") {
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range syntax.Imports {
			if spec.Path.Value == `"unsafe"` {
				t.Errorf("%s: it may not import unsafe", set.Position(spec.Pos()))
			}
		}
	}
}

// uses returns the positions at which a file uses a name of a package.
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

// holds reports whether a table contains the package or one of its parents.
func holds(table map[string]string, dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := table[dir]; ok {
			return true
		}
	}
	return false
}

// No package has an init function, tests included. The app registers everything, so the
// order of packages decides nothing.
func TestNoPackageHasInit(t *testing.T) {
	for file := range goFiles(t) {
		for _, decl := range file.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: register it in app, or call a function from TestMain", file.position(fn.Pos()))
			}
		}
	}
}
