package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hale/internal/app"
	"hale/internal/platform/config"
	"hale/internal/platform/ops"
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
			staging := filepath.Join(data, app.StagingFolder)
			for _, one := range []string{store.FileName, "imports/old", app.StagingFolder + "/a", app.StagingFolder + "/imports/new", app.StagingFolder + "/" + store.FileName} {
				write(t, filepath.Join(data, one), []byte(one))
			}
			before := namesIn(t, data)
			if err := newTerminal().swap(data, staging, c.before); err == nil {
				t.Fatal("no error")
			}
			if after := namesIn(t, data); !slices.Equal(before, after) {
				t.Errorf("%v became %v", before, after)
			}
			if entries, _ := filepath.Glob(filepath.Join(data, app.SetAsidePrefix+"*")); len(entries) > 0 {
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
	entries, err := filepath.Glob(filepath.Join(data, app.SetAsidePrefix+"*"))
	if err != nil || len(entries) != 3 {
		t.Errorf("set aside: %v, %v", entries, err)
	}
}

// killPanic is the panic of a restore that a test stops.
type killPanic struct{}

// restoreUntil runs a restore and stops it without any cleanup after a number of steps, as
// a kill does. It reports whether the restore came to its end before.
func restoreUntil(t *testing.T, steps int, args ...string) (ended bool) {
	t.Helper()
	defer func() {
		if e := recover(); e != nil && e != any(killPanic{}) {
			panic(e)
		}
	}()
	term := newTerminal()
	term.afterStep = func() {
		if steps--; steps < 0 {
			panic(killPanic{})
		}
	}
	if code := term.run(t.Context(), append([]string{"restore"}, args...)); code != exitOK {
		t.Fatalf("%d %s", code, term.err.String())
	}
	return true
}

// aService starts a service in a folder, which gets a root key and a team, and stops it.
func aService(t *testing.T, data string) {
	t.Helper()
	a := startIn(t, data)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func startIn(t *testing.T, data string) *app.App {
	t.Helper()
	a, err := newIn(t, data)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// countTeams opens the service of a folder, and counts its teams.
func countTeams(t *testing.T, data string) (teams int) {
	t.Helper()
	a := startIn(t, data)
	err := a.DB.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM teams`).Scan(&teams)
	})
	if err = errors.Join(err, a.Stop(context.WithoutCancel(t.Context()))); err != nil {
		t.Fatal(err)
	}
	return teams
}

// newIn opens a service as hale serve does.
func newIn(t *testing.T, data string) (*app.App, error) {
	t.Helper()
	cfg, err := config.Load(config.Input{Flags: map[string][]string{"data": {data}, "listen": {"127.0.0.1:0"}, "metrics-listen": {"off"}}})
	if err != nil {
		t.Fatal(err)
	}
	return app.New(t.Context(), app.Options{Config: cfg, Log: ops.Discard(), AnyClock: true})
}

// After a restore that was stopped at any step, a service starts with the previous data or
// the restored data, or refuses and creates nothing. The repeated restore succeeds.
func TestAnInterruptedRestoreIsNoNewService(t *testing.T) {
	original, backup := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "copy")
	aService(t, original)
	if code, said := hale(t, "backup", backup, "--data", original); code != exitOK {
		t.Fatalf("%d %s", code, said)
	}
	refused := 0
	for steps, ended := 0, false; !ended; steps++ {
		data := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(data, os.DirFS(original)); err != nil {
			t.Fatal(err)
		}
		ended = restoreUntil(t, steps, backup, "--force", "--data", data)
		before := namesIn(t, data)
		if a, err := newIn(t, data); err == nil {
			_ = a.Stop(context.WithoutCancel(t.Context()))
			if n := countTeams(t, data); n != 1 {
				t.Errorf("after %d steps: a service with %d teams", steps, n)
			}
		} else {
			refused++
			requireUnfinished(t, data, err)
			if after := namesIn(t, data); !slices.Equal(before, after) {
				t.Errorf("after %d steps: the refused start changed %v to %v", steps, before, after)
			}
		}
		if code, said := hale(t, "restore", backup, "--force", "--data", data); code != exitOK {
			t.Fatalf("after %d steps: the repeated restore: %d %s", steps, code, said)
		}
		if n := countTeams(t, data); n != 1 {
			t.Errorf("after %d steps and a repeated restore: %d teams", steps, n)
		}
		requireRestoredFolder(t, data)
	}
	if refused < 5 {
		t.Errorf("%d starts were refused", refused)
	}
}

// requireUnfinished checks the error of a start, and that the doctor has the same finding.
func requireUnfinished(t *testing.T, data string, err error) {
	t.Helper()
	if !errors.Is(err, app.ErrUnfinished) || !strings.Contains(err.Error(), "run hale restore") {
		t.Fatalf("the refused start: %v", err)
	}
	if code, said := hale(t, "doctor", "--data", data, "--listen", "127.0.0.1:0", "--metrics-listen", "off"); code != exitFailure || !strings.Contains(said, "a restore into this data folder was interrupted") {
		t.Errorf("the doctor: %d %s", code, said)
	}
	if code, said := hale(t, "teams", "list", "--data", data); code == exitOK || !strings.Contains(said, "was interrupted") {
		t.Errorf("another command: %d %s", code, said)
	}
}

// requireRestoredFolder checks that a restore left nothing of interrupted ones, and that
// every folder of previous data is whole.
func requireRestoredFolder(t *testing.T, data string) {
	t.Helper()
	for _, name := range []string{app.UnfinishedFile, app.StagingFolder} {
		if _, err := os.Stat(filepath.Join(data, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	all, err := filepath.Glob(filepath.Join(data, app.SetAsidePrefix+"*"))
	if err != nil || len(all) == 0 {
		t.Errorf("the previous data: %v, %v", all, err)
	}
	for _, aside := range all {
		for _, name := range []string{store.FileName, "root.key"} {
			if _, err := os.Stat(filepath.Join(aside, name)); err != nil {
				t.Errorf("the previous data is not whole: %v", err)
			}
		}
	}
}

// The undoing of an interrupted restore can be interrupted, too.
func TestAnInterruptedUndoIsRepeated(t *testing.T) {
	data, backup := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "copy")
	aService(t, data)
	if code, said := hale(t, "backup", backup, "--data", data); code != exitOK {
		t.Fatalf("%d %s", code, said)
	}
	const half = 3 // the marker, and some of the previous files
	for range 3 {
		restoreUntil(t, half, backup, "--force", "--data", data)
		restoreUntil(t, 1, backup, "--force", "--data", data)
	}
	if code, said := hale(t, "restore", backup, "--data", data); code != exitConflict {
		t.Errorf("without --force: %d %s", code, said)
	}
	if code, said := hale(t, "restore", backup, "--force", "--data", data); code != exitOK {
		t.Fatalf("%d %s", code, said)
	}
	if n := countTeams(t, data); n != 1 {
		t.Errorf("%d teams", n)
	}
	requireRestoredFolder(t, data)
}

// A restore into an empty folder that was stopped before its last move leaves no service.
func TestAnInterruptedRestoreOnANewMachine(t *testing.T) {
	original, backup := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "copy")
	aService(t, original)
	if code, said := hale(t, "backup", backup, "--data", original, "--with-root-key"); code != exitOK {
		t.Fatalf("%d %s", code, said)
	}
	for steps, ended := 0, false; !ended; steps++ {
		data := filepath.Join(t.TempDir(), "data")
		ended = restoreUntil(t, steps, backup, "--data", data)
		if a, err := newIn(t, data); err == nil {
			_ = a.Stop(context.WithoutCancel(t.Context()))
		} else {
			requireUnfinished(t, data, err)
			if code, said := hale(t, "restore", backup, "--data", data, "--force"); code != exitOK {
				t.Fatalf("after %d steps: %d %s", steps, code, said)
			}
		}
		if n := countTeams(t, data); n != 1 {
			t.Errorf("after %d steps: %d teams", steps, n)
		}
	}
	staged := t.TempDir()
	write(t, filepath.Join(staged, app.StagingFolder, store.FileName), []byte("a part"))
	_, err := newIn(t, staged)
	requireUnfinished(t, staged, err)
}

// A new folder with the root key and the list of erasures, put there for a restore, counts
// as empty.
func TestARestoreIntoAFolderWithTheRootKey(t *testing.T) {
	original, backup := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "copy")
	aService(t, original)
	if code, said := hale(t, "backup", backup, "--data", original); code != exitOK {
		t.Fatalf("%d %s", code, said)
	}
	key, err := os.ReadFile(filepath.Join(original, "root.key"))
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	write(t, filepath.Join(data, "root.key"), key)
	write(t, filepath.Join(data, "erasures"), nil)
	if code, said := hale(t, "restore", backup, "--data", data); code != exitOK {
		t.Fatalf("%d %s", code, said)
	}
	if n := countTeams(t, data); n != 1 {
		t.Errorf("%d teams", n)
	}
}
