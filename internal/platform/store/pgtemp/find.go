package pgtemp

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrMissing is returned if this machine has no PostgreSQL server binaries.
var ErrMissing = errors.New("no PostgreSQL server binaries here " +
	"(apt-get install postgresql, or name their folder in HALE_POSTGRES_BIN)")

// Find returns the folder of initdb and postgres. If HALE_POSTGRES_BIN is set, Find
// looks only there. Otherwise it uses the newest version in the folders of packages,
// or the one on the PATH. It returns ErrMissing if there is none.
func Find() (string, error) {
	if dir := os.Getenv("HALE_POSTGRES_BIN"); dir != "" {
		if hasServer(dir) {
			return dir, nil
		}
		return "", ErrMissing
	}
	var found []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",         // Debian, Ubuntu
		"/usr/pgsql-*/bin",                  // Red Hat
		"/usr/local/opt/postgresql*/bin",    // Homebrew on Intel
		"/opt/homebrew/opt/postgresql*/bin", // Homebrew on Apple silicon
	} {
		dirs, _ := filepath.Glob(pattern) // the only error is a bad pattern
		found = append(found, dirs...)
	}
	slices.SortStableFunc(found, func(a, b string) int { return version(b) - version(a) })
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, filepath.Dir(path))
	}
	for _, dir := range found {
		if hasServer(dir) {
			return dir, nil
		}
	}
	return "", ErrMissing
}

// version returns the major version in a folder such as /usr/lib/postgresql/15/bin,
// or 0.
func version(dir string) int {
	digits := strings.Trim(filepath.Base(filepath.Dir(dir)), "abcdefghijklmnopqrstuvwxyz-@")
	n, _ := strconv.Atoi(digits)
	return n
}

func hasServer(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}
