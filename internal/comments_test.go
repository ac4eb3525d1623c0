package internal_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"testing"
)

var fileName = regexp.MustCompile(`[\w/*.-]*[\w*]\.go\b`)

// Comments of packages describe their files. A file or a pattern in them must exist: in the
// package, below internal or below the root.
func TestPackageCommentsNameExistingFiles(t *testing.T) {
	names := 0
	for file := range sources(t) {
		path := file.position(file.syntax.Package).Filename
		syntax, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range fileName.FindAllString(syntax.Doc.Text(), -1) {
			names++
			if !existsIn(t, name, file.dir, ".", "..") {
				t.Errorf("%s names %s, which does not exist", filepath.ToSlash(path), name)
			}
		}
	}
	if names == 0 {
		t.Error("found no file name in a package comment: the search is broken")
	}
}

// existsIn reports whether a pattern matches a file in one of the folders.
func existsIn(t *testing.T, pattern string, folders ...string) bool {
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
