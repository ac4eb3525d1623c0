// Package testdata finds the public sample files that tests read in place.
//
// Real exports and messages are never part of this repository. A checkout may
// have them in a sibling folder named shared/data, or HALE_SHARED_DATA may
// name that folder; a test that needs one skips, visibly, where it is absent.
package testdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Shared returns the path of a public sample file such as
// "wearables/apple-health/export.xml", or skips the test.
func Shared(tb testing.TB, name string) string {
	tb.Helper()
	if root := os.Getenv("HALE_SHARED_DATA"); root != "" {
		return need(tb, filepath.Join(root, name))
	}
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		if path := filepath.Join(parent, "shared", "data", name); exists(path) {
			return path
		}
	}
	tb.Skipf("public sample %s is not here (set HALE_SHARED_DATA to the folder that holds it)", name)
	return ""
}

func need(tb testing.TB, path string) string {
	tb.Helper()
	if !exists(path) {
		tb.Skipf("public sample %s is not here", path)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
