package internal_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"testing"
)

var fileName = regexp.MustCompile(`[\w/*.-]*[\w*]\.go\b`)

// The comment of a package is a guide through its files. A file that it names,
// alone or as a pattern, is there: in the package, below internal or below the
// root.
func TestFilesThatPackageCommentsNameAreThere(t *testing.T) {
	names := 0
	for file := range sources(t) {
		path := file.position(file.syntax.Package).Filename
		syntax, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range fileName.FindAllString(syntax.Doc.Text(), -1) {
			names++
			if !anywhere(t, name, file.dir, ".", "..") {
				t.Errorf("%s names %s, which is not there", filepath.ToSlash(path), name)
			}
		}
	}
	if names == 0 {
		t.Error("no comment of a package names a file: the search is broken")
	}
}

// anywhere reports whether a pattern finds a file in one of the folders.
func anywhere(t *testing.T, pattern string, folders ...string) bool {
	t.Helper()
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			return true
		}
	}
	return false
}
