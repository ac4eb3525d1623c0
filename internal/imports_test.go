package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Each row lists packages, including the packages below them, and the rows that they may
// import. Packages of one row may import each other. The longest matching name decides
// the row of a package. Labs and wearables do not import each other, so a reader can read
// either half alone.
var rows = []struct{ name, packages, mayImport string }{
	{"vocabulary", "platform/fault platform/ids platform/civil platform/patch platform/paging platform/secrets", ""},
	{"columns", "platform/blocks platform/rows", ""},
	{"store", "platform/store platform/lists", "vocabulary"},
	{"config", "platform/config", "vocabulary platform"},
	{"outbox", "platform/jobs platform/events", "vocabulary store columns"},
	{"platform", "platform", "vocabulary store outbox"},

	{"people", "people", "vocabulary store outbox platform order-words"},
	{"wearables", "wearables", "vocabulary store outbox platform people columns"},
	{"labs", "labs", "vocabulary store outbox platform people hl7 order-words"},
	{"hl7", "labs/hl7", ""},
	{"order-words", "labs/orderwords", ""},

	{"api", "api", "vocabulary store outbox platform people wearables"},
	{"api-people", "api/people", "vocabulary store platform people wearables labs api"},
	{"api-wearables", "api/wearables", "vocabulary store platform people wearables api api-people"},
	{"api-labs", "api/labs", "vocabulary store platform people labs api api-people"},
	{"routes", "api/routes api/platform", "vocabulary store outbox platform people wearables labs api api-people api-wearables api-labs"},
	{"portal", "portal", "vocabulary store platform people wearables labs"},
	{"docs", "docpages", "vocabulary"},
	{"app", "app", "vocabulary store config outbox platform people wearables labs api api-wearables routes portal docs"},
	{"client", "cli/client cli/progress", "vocabulary"},
	{"cli", "cli", "vocabulary store config outbox platform people wearables labs order-words client docs app"},

	// For tests and measurements only. No product code may import them.
	{"testing", "testdata harness apitest platform/store/storetest platform/store/pgtemp", "store"},
	{"domain testing", "platform/jobs/jobstest app/apptest api/calltest api/codetest wearables/formats/replies/repliestest", "vocabulary store config outbox platform people wearables labs api app testing"},
}

const module = "hale/internal/"

func TestImportsFollowTheTable(t *testing.T) {
	seen, used := map[string]bool{}, map[[2]string]bool{}
	for file := range sources(t) {
		from, ok := rowOf(file.dir)
		if !ok {
			t.Errorf("%s is in no row of the table: add it to a row", file.dir)
			continue
		}
		seen[from] = true
		for _, spec := range file.syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			path, ours := strings.CutPrefix(imported, module)
			to, _ := rowOf(path)
			if !ours || to == from {
				continue
			}
			if !slices.Contains(imports(from), to) {
				t.Errorf("%s: %s (row %q) may not import %s (row %q)", file.position(spec.Pos()), file.dir, from, path, to)
			}
			used[[2]string{from, to}] = true
		}
	}
	for _, r := range rows {
		if !seen[r.name] {
			t.Errorf("the row %q has no source: remove it", r.name)
		}
		for _, to := range imports(r.name) {
			if !used[[2]string{r.name, to}] {
				t.Errorf("no package in the row %q imports the row %q: remove it from mayImport", r.name, to)
			}
		}
	}
}

// rowOf returns the name of the row with the longest package name that holds dir.
func rowOf(dir string) (name string, ok bool) {
	longest := -1
	for _, r := range rows {
		for _, p := range strings.Fields(r.packages) {
			if (dir == p || strings.HasPrefix(dir, p+"/")) && len(p) > longest {
				name, longest = r.name, len(p)
			}
		}
	}
	return name, longest >= 0
}

// imports returns the names of the rows that a row may import.
func imports(name string) []string {
	for _, r := range rows {
		if r.name == name {
			return strings.Fields(r.mayImport)
		}
	}
	return nil
}

// source is one Go file that is not a test.
type source struct {
	dir    string // below internal, with slashes
	set    *token.FileSet
	syntax *ast.File
}

func (s source) position(p token.Pos) token.Position { return s.set.Position(p) }

// sources yields every Go file below internal, except tests and testdata folders.
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
