package walfile_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"hale/internal/platform/store/walfile"
)

// openWAL opens a database whose log goes through the package. A small cache
// makes SQLite write pages of a transaction before it ends.
func openWAL(t require, path string, pragmas ...string) *sqlite.Conn {
	t.Helper()
	if !walfile.Register() {
		t.Fatalf("SQLite did not take the file system")
	}
	c, err := sqlite.OpenConn("file:"+path+"?vfs="+walfile.Name, sqlite.OpenReadWrite|sqlite.OpenCreate|sqlite.OpenURI)
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	for _, text := range append([]string{"PRAGMA journal_mode(wal)", "PRAGMA cache_size(10)"}, pragmas...) {
		exec(t, c, text)
	}
	exec(t, c, "CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)")
	return c
}

type require interface {
	Helper()
	Fatalf(format string, args ...any)
}

func exec(t require, c *sqlite.Conn, text string, args ...any) {
	t.Helper()
	if err := sqlitex.Execute(c, text, &sqlitex.ExecOptions{Args: args}); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// rows reads the whole table of a connection.
func rows(t require, c *sqlite.Conn) map[int64]int64 {
	t.Helper()
	all := map[int64]int64{}
	err := sqlitex.Execute(c, "SELECT id, length(body) FROM t", &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
		all[s.ColumnInt64(0)] = s.ColumnInt64(1)
		return nil
	}})
	if err != nil {
		t.Fatalf("reading: %v", err)
	}
	return all
}

// rowsAfterACrash reads what a database has whose process ends now: the files
// as they lie there.
func rowsAfterACrash(t require, path string) map[int64]int64 {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(path), "crashed")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer os.RemoveAll(dir)
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + end)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "t.db"+end), text, 0o600)
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	c, err := sqlite.OpenConn(filepath.Join(dir, "t.db"), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer c.Close()
	err = sqlitex.Execute(c, "PRAGMA integrity_check", &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
		if s.ColumnText(0) != "ok" {
			t.Fatalf("the database is damaged: %s", s.ColumnText(0))
		}
		return nil
	}})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return rows(t, c)
}

// Whatever is written, rolled back in part or whole, and put back into the
// database: after each commit it is in the files, for other connections and for
// whoever opens them after a crash; before it, nothing is.
func TestWhatIsCommittedIsInTheFiles(t *testing.T) {
	for _, synchronous := range []string{"full", "normal"} {
		t.Run(synchronous, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				dir, err := os.MkdirTemp("", "walfile")
				if err != nil {
					t.Fatalf("%v", err)
				}
				defer os.RemoveAll(dir)
				path := filepath.Join(dir, "t.db")
				writer := openWAL(t, path, "PRAGMA synchronous("+synchronous+")", "PRAGMA wal_autocheckpoint(60)")
				defer writer.Close()
				reader, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
				if err != nil {
					t.Fatalf("%v", err)
				}
				defer reader.Close()
				kept := map[int64]int64{}
				for range rapid.IntRange(1, 12).Draw(t, "transactions") {
					exec(t, writer, "BEGIN IMMEDIATE")
					now := maps.Clone(kept)
					for range rapid.IntRange(0, 40).Draw(t, "writes") {
						before := maps.Clone(now)
						exec(t, writer, "SAVEPOINT one")
						id, size := rapid.Int64Range(1, 60).Draw(t, "id"), rapid.Int64Range(1, 9000).Draw(t, "size")
						if rapid.Bool().Draw(t, "delete") {
							exec(t, writer, "DELETE FROM t WHERE id = ?", id)
							delete(now, id)
						} else {
							exec(t, writer, "INSERT INTO t VALUES (?1, randomblob(?2)) ON CONFLICT DO UPDATE SET body = excluded.body", id, size)
							now[id] = size
						}
						if rapid.IntRange(0, 4).Draw(t, "undo") == 0 {
							exec(t, writer, "ROLLBACK TO one")
							now = before
						}
						exec(t, writer, "RELEASE one")
					}
					if got := rows(t, writer); !maps.Equal(got, now) {
						t.Fatalf("the writer reads %v, not %v", got, now)
					}
					if got := rows(t, reader); !maps.Equal(got, kept) {
						t.Fatalf("before the commit others read %v, not %v", got, kept)
					}
					if rapid.IntRange(0, 4).Draw(t, "commit") == 0 {
						exec(t, writer, "ROLLBACK")
					} else {
						exec(t, writer, "COMMIT")
						kept = now
					}
					if got := rows(t, reader); !maps.Equal(got, kept) {
						t.Fatalf("others read %v, not %v", got, kept)
					}
					if got := rowsAfterACrash(t, path); !maps.Equal(got, kept) {
						t.Fatalf("after a crash there is %v, not %v", got, kept)
					}
				}
			})
		})
	}
}

// A commit of many pages takes few calls of the system.
func TestACommitIsFewCalls(t *testing.T) {
	c := openWAL(t, filepath.Join(t.TempDir(), "t.db"), "PRAGMA cache_size(1000)", "PRAGMA wal_autocheckpoint(0)")
	defer c.Close()
	exec(t, c, "BEGIN")
	for i := range 100 {
		exec(t, c, "INSERT INTO t VALUES (?, randomblob(3000))", i)
	}
	before := calls(t)
	exec(t, c, "COMMIT")
	if n := calls(t) - before; n > 10 {
		t.Errorf("a commit of some 100 pages took %d calls to write", n)
	}
}

// calls is how often this process has called the system to write.
func calls(t *testing.T) (n int) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip("no /proc/self/io: ", err)
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "syscw: %d", &n); err == nil {
			return n
		}
	}
	t.Skip("no syscw")
	return 0
}

// Pages that went to the log early, and cannot be written when they are read
// again, take the whole transaction with them: not the statement that read them
// alone, as a full disk does otherwise.
func TestAFullDiskWhileReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	c := openWAL(t, path)
	defer c.Close()
	exec(t, c, "BEGIN")
	for i := range 20 {
		exec(t, c, "INSERT INTO t VALUES (?, randomblob(3000))", i)
	}
	exec(t, c, "COMMIT")
	exec(t, c, "BEGIN")
	exec(t, c, "UPDATE t SET body = randomblob(3001) WHERE id < 15") // more than the cache holds, less than is gathered
	room := walfile.FillDisk(path + "-wal")
	err := sqlitex.Execute(c, "UPDATE t SET body = randomblob(3002)", nil)
	room()
	if err == nil {
		t.Fatal("pages were read that are nowhere")
	}
	if !c.AutocommitEnabled() {
		t.Errorf("after %v the transaction goes on", err)
	}
	if got := rows(t, c); got[1] != 3000 || len(got) != 20 {
		t.Errorf("there is %v", got)
	}
}

// What was gathered of a transaction that was rolled back never reaches the log,
// where another connection may have written since.
func TestWhatWasRolledBackIsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	c := openWAL(t, path, "PRAGMA wal_autocheckpoint(0)")
	defer c.Close()
	other, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	exec(t, c, "BEGIN")
	for i := range 20 {
		exec(t, c, "INSERT INTO t VALUES (?, randomblob(3000))", i)
	}
	exec(t, c, "ROLLBACK")
	walfile.Drop(path)
	exec(t, other, "INSERT INTO t VALUES (100, randomblob(50))")
	exec(t, c, "INSERT INTO t VALUES (101, randomblob(60))")
	want := map[int64]int64{100: 50, 101: 60}
	if got := rowsAfterACrash(t, path); !maps.Equal(got, want) {
		t.Errorf("there is %v, not %v", got, want)
	}
}

// What a commit wrote that could not be synced is gone for every connection, and
// there again after a crash: nothing but the next transaction, which is written
// in its place, makes it go. So whoever was told of the failure does not know.
func TestWhatWasNotSyncedComesBackAfterACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	c := openWAL(t, path)
	defer c.Close()
	exec(t, c, "INSERT INTO t VALUES (1, randomblob(100))")
	works := walfile.FailSync(path + "-wal")
	err := sqlitex.Execute(c, "INSERT INTO t VALUES (2, randomblob(200))", nil)
	works()
	if sqlite.ErrCode(err) != sqlite.ResultIOErrFsync {
		t.Fatalf("not synced, and %v", err)
	}
	walfile.Drop(path)
	if got, want := rows(t, c), (map[int64]int64{1: 100}); !maps.Equal(got, want) {
		t.Errorf("there is %v, not %v", got, want)
	}
	if got, want := rowsAfterACrash(t, path), (map[int64]int64{1: 100, 2: 200}); !maps.Equal(got, want) {
		t.Errorf("after a crash there is %v, not %v", got, want)
	}
	exec(t, c, "INSERT INTO t VALUES (3, randomblob(300))")
	if got, want := rowsAfterACrash(t, path), (map[int64]int64{1: 100, 3: 300}); !maps.Equal(got, want) {
		t.Errorf("after a crash there is %v, not %v", got, want)
	}
}

// A log that cannot be written fails the commit, and the next one is good.
func TestAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	c := openWAL(t, path)
	defer c.Close()
	exec(t, c, "INSERT INTO t VALUES (1, randomblob(100))")
	limit := limitFileSize(t, 200_000)
	exec(t, c, "BEGIN")
	var err error
	for i := 2; i < 200 && err == nil; i++ {
		err = sqlitex.Execute(c, "INSERT INTO t VALUES (?, randomblob(4000))", &sqlitex.ExecOptions{Args: []any{i}})
	}
	if err == nil {
		err = sqlitex.Execute(c, "COMMIT", nil)
	}
	limit()
	if err == nil {
		t.Fatal("what does not fit was committed")
	}
	if !c.AutocommitEnabled() {
		exec(t, c, "ROLLBACK")
	}
	if got := rowsAfterACrash(t, path); !maps.Equal(got, map[int64]int64{1: 100}) {
		t.Errorf("after a crash there is %v", got)
	}
	exec(t, c, "INSERT INTO t VALUES (2, randomblob(200))")
	want := map[int64]int64{1: 100, 2: 200}
	if got := rows(t, c); !maps.Equal(got, want) {
		t.Errorf("there is %v, not %v", got, want)
	}
	if got := rowsAfterACrash(t, path); !maps.Equal(got, want) {
		t.Errorf("after a crash there is %v, not %v", got, want)
	}
}
