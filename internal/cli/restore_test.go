package cli

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hale/internal/platform/store"
)

// hale runs a command and returns its exit code and its output.
func hale(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	term := newTerminal()
	code = term.run(context.Background(), args)
	return code, term.out.String() + term.err.String()
}

// aBackup creates a data folder and a backup of it.
func aBackup(t *testing.T) (data, backup string) {
	t.Helper()
	data, backup = filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "copy")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"migrate", "up", "--data", data}, {"backup", backup, "--data", data}} {
		if code, said := hale(t, args...); code != 0 {
			t.Fatalf("%v: %d %s", args, code, said)
		}
	}
	return data, backup
}

// say changes the manifest of a backup.
func say(t *testing.T, backup string, change func(m *manifest)) {
	t.Helper()
	path := filepath.Join(backup, manifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	change(&m)
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	write(t, path, text)
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// namesIn returns the relative paths of all files below a folder.
func namesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(folder, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A dry run reads every page, as a restore does. A page that was damaged before the
// backup was made has the right digest.
func TestADryRunReadsEveryPage(t *testing.T) {
	data, backup := aBackup(t)
	before := namesIn(t, data)
	if code, said := hale(t, "restore", backup, "--data", data, "--dry-run"); code != 0 {
		t.Fatalf("%d %s", code, said)
	}
	path := filepath.Join(backup, store.FileName)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for at := len(content) / 2 / page * page; at < len(content); at += page {
		copy(content[at:], strings.Repeat("damage", 20))
	}
	write(t, path, content)
	sum, size, err := digest(path)
	if err != nil {
		t.Fatal(err)
	}
	say(t, backup, func(m *manifest) { m.SHA256, m.Bytes = sum, size })
	if code, said := hale(t, "restore", backup, "--data", data, "--dry-run"); code == 0 {
		t.Errorf("a damaged database is whole: %s", said)
	}
	if after := namesIn(t, data); !slices.Equal(before, after) {
		t.Errorf("the dry run left %v", after)
	}
}

// The service runs as the owner of its data folder. Files that root restores must belong
// to this owner.
func TestFilesRestoredByRootBelongToTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	data, backup := aBackup(t)
	const service = 4242
	if err := filepath.WalkDir(data, func(path string, _ fs.DirEntry, _ error) error { return os.Lchown(path, service, service) }); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		args []string
	}{{exitConflict, nil}, {exitOK, []string{"--force"}}} { // the lock is made in either case
		if code, said := hale(t, append([]string{"restore", backup, "--data", data}, c.args...)...); code != c.code {
			t.Fatalf("%d %s", code, said)
		}
	}
	if seen := allBelongTo(t, data, service); seen < 5 { // the folder, the lock, the database, what was set aside
		t.Errorf("%d seen", seen)
	}
}

// A database that root creates must belong to the owner of the folder, too.
func TestFilesMigratedByRootBelongToTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	data := t.TempDir()
	const service = 4242
	if err := os.Chown(data, service, service); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if code, said := hale(t, "migrate", "up", "--data", data); code != exitOK {
			t.Fatalf("%d %s", code, said)
		}
		if seen := allBelongTo(t, data, service); seen < 2 {
			t.Errorf("%d seen", seen)
		}
	}
}

// allBelongTo checks the owner of every entry in a folder, and counts them.
func allBelongTo(t *testing.T, folder string, who uint32) (seen int) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != who || owner.Gid != who {
			t.Errorf("%s belongs to %d:%d", path, owner.Uid, owner.Gid)
		}
		seen++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// If any file cannot be moved, everything stays where it was.
func TestASwapThatFailsChangesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		before []string
	}{
		"what was there cannot be set aside": {[]string{store.FileName, "gone"}},
		"the new cannot take its place":      {[]string{store.FileName}}, // imports, which no restore sets aside, occupies the place
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			staging := filepath.Join(data, stagingFolder)
			for _, one := range []string{store.FileName, "imports/old", stagingFolder + "/a", stagingFolder + "/imports/new", stagingFolder + "/" + store.FileName} {
				write(t, filepath.Join(data, one), []byte(one))
			}
			before := namesIn(t, data)
			if err := newTerminal().swap(data, staging, c.before); err == nil {
				t.Fatal("no error")
			}
			if after := namesIn(t, data); !slices.Equal(before, after) {
				t.Errorf("%v became %v", before, after)
			}
			if entries, _ := filepath.Glob(filepath.Join(data, setAsidePrefix+"*")); len(entries) > 0 {
				t.Errorf("left %v", entries)
			}
			if text, _ := os.ReadFile(filepath.Join(data, store.FileName)); string(text) != store.FileName {
				t.Errorf("the database is %q", text)
			}
		})
	}
}

// Two restores within a second set aside in two folders.
func TestRestoringTwiceAtOnce(t *testing.T) {
	data, backup := aBackup(t)
	for range 3 {
		if code, said := hale(t, "restore", backup, "--force", "--data", data); code != 0 {
			t.Fatalf("%d %s", code, said)
		}
	}
	entries, err := filepath.Glob(filepath.Join(data, setAsidePrefix+"*"))
	if err != nil || len(entries) != 3 {
		t.Errorf("set aside: %v, %v", entries, err)
	}
}
