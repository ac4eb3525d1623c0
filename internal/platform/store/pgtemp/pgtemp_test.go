package pgtemp_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"hale/internal/platform/store/pgtemp"
)

// One cluster serves all checks, because a start takes a second.
func TestCluster(t *testing.T) {
	ctx := context.Background()
	t.Setenv("TMPDIR", shortTempDir(t))
	cluster, err := pgtemp.Start(ctx, pgtemp.Fast)
	if errors.Is(err, pgtemp.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			_ = cluster.Stop()
		}
	}()

	url, err := cluster.CreateDatabase(ctx, "first")
	if err != nil {
		t.Fatal(err)
	}
	if err := pgtemp.Exec(ctx, url, "CREATE TABLE kept (n BIGINT); INSERT INTO kept VALUES (7)"); err != nil {
		t.Fatal(err)
	}
	copied, err := pgtemp.CreateDatabase(ctx, cluster.URL(), "second", "first")
	if err != nil {
		t.Fatal(err)
	}
	if got := queryInt(t, copied, "SELECT n FROM kept"); got != 7 {
		t.Errorf("copy of the template holds %d, want 7", got)
	}
	privileged := queryInt(t, url, "SELECT COUNT(*) FROM pg_roles WHERE rolname = CURRENT_USER AND (rolsuper OR rolbypassrls)")
	if privileged != 0 {
		t.Error("the role of the service bypasses row-level security")
	}

	if err := cluster.Stop(); err != nil {
		t.Fatal(err)
	}
	stopped = true
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "hale-pg-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("after Stop there is still %v (%v)", left, err)
	}
}

// The garbage collector must not end the server of a process that keeps only the
// address.
func TestUnreferencedClusterKeepsRunning(t *testing.T) {
	address := func() string {
		cluster, err := pgtemp.Start(context.Background(), pgtemp.Fast)
		if errors.Is(err, pgtemp.ErrMissing) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		return cluster.URL()
	}()
	runtime.GC()
	runtime.GC()
	time.Sleep(300 * time.Millisecond) // a finalizer and the end of the server take a moment
	if got := queryInt(t, address, "SELECT 7"); got != 7 {
		t.Errorf("the server answers %d", got)
	}
}

func TestFindHonoursTheEnvironment(t *testing.T) {
	t.Setenv("HALE_POSTGRES_BIN", t.TempDir())
	if dir, err := pgtemp.Find(); !errors.Is(err, pgtemp.ErrMissing) {
		t.Errorf("Find in an empty folder = %q, %v, want ErrMissing", dir, err)
	}
}

// shortTempDir returns a temporary folder like t.TempDir, with a short path that every
// user may enter. The path of a unix socket has at most 107 bytes, and the server of root
// runs as another user.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pgt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

func queryInt(t *testing.T, url, query string) (n int) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(context.Background(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
