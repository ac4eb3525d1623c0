package storetest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/pgtemp"
)

// NewPostgres creates a migrated PostgreSQL database and drops it when the test ends.
// Without server binaries the test skips.
func NewPostgres(tb testing.TB) Database {
	tb.Helper()
	admin, err := cluster()
	if errors.Is(err, pgtemp.ErrMissing) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatalf("storetest: starting PostgreSQL: %v", err)
	}
	template, err := migratedTemplate()
	if err != nil {
		tb.Fatalf("storetest: migrating PostgreSQL: %v", err)
	}
	return createPostgres(tb, admin, template)
}

// NewEmptyPostgres makes a PostgreSQL database without tables, for the duration of a test.
func NewEmptyPostgres(tb testing.TB) Database {
	tb.Helper()
	NewPostgres(tb) // skips or starts the cluster
	admin, err := cluster()
	if err != nil {
		tb.Fatalf("storetest: starting PostgreSQL: %v", err)
	}
	return createPostgres(tb, admin, "")
}

func createPostgres(tb testing.TB, admin, template string) Database {
	tb.Helper()
	name := "hale_test_" + strings.ToLower(rand.Text())
	url, err := pgtemp.CreateDatabase(context.Background(), admin, name, template)
	if err != nil {
		tb.Fatalf("storetest: %v", err)
	}
	tb.Cleanup(func() {
		if err := pgtemp.Exec(context.Background(), admin, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			tb.Errorf("storetest: %v", err)
		}
	})
	return Database{Engine: store.Postgres, URL: url, Dir: tb.TempDir()}
}

// cluster returns the superuser's address of the cluster that this process uses. A
// cluster that it starts ends with the process.
var cluster = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("HALE_TEST_POSTGRES"); given != "" {
		return given, nil
	}
	var err error
	if startedCluster, err = pgtemp.Start(context.Background(), pgtemp.Fast); err != nil {
		return "", err
	}
	return startedCluster.URL(), nil
})

// startedCluster keeps the cluster reachable. The garbage collector would close its
// pipe, which ends the server.
var startedCluster *pgtemp.Cluster

// templateLock is the advisory lock under which one process creates the template,
// while other processes with the same cluster wait.
const templateLock = 4870213

// migratedTemplate returns the name of a database with the schema of this source
// tree. It is created under another name first, so a template is always complete.
var migratedTemplate = sync.OnceValues(func() (name string, err error) {
	ctx := context.Background()
	admin, err := cluster()
	if err != nil {
		return "", err
	}
	version, err := schemaVersion()
	if err != nil {
		return "", err
	}
	name = "hale_template_" + version

	db, err := sql.Open("pgx", admin)
	if err != nil {
		return "", err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // one session, which holds the lock until it closes
	if _, err := db.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, templateLock); err != nil {
		return "", err
	}
	var ready bool
	if err := db.QueryRowContext(ctx, `SELECT COUNT(*) = 1 FROM pg_database WHERE datname = $1`, name).Scan(&ready); err != nil {
		return "", err
	}
	if ready {
		return name, nil
	}
	return name, makeTemplate(ctx, db, admin, name)
})

func makeTemplate(ctx context.Context, db *sql.DB, admin, name string) error {
	unfinished := name + "_unfinished" // may be left from a process that died here
	if _, err := db.ExecContext(ctx, "DROP DATABASE IF EXISTS "+unfinished); err != nil {
		return err
	}
	url, err := pgtemp.CreateDatabase(ctx, admin, unfinished, "")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hale-storetest-") // for a root key that is not used
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := migrate(ctx, store.Options{URL: url, Dir: dir}); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "ALTER DATABASE "+unfinished+" RENAME TO "+name)
	return err
}

// schemaVersion returns a digest of the files that define the schema. `go test` runs
// in the folder of the tested package, below the root of the module.
func schemaVersion() (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			return "", errors.New("storetest: the working directory is not in a module")
		}
		root = filepath.Dir(root)
	}
	digest := sha256.New()
	for _, pattern := range []string{"migrations/*.sql", "migrate.go"} {
		files, err := filepath.Glob(filepath.Join(root, "internal", "platform", "store", pattern))
		if err != nil {
			return "", err
		}
		if len(files) == 0 {
			return "", fmt.Errorf("storetest: no %s in internal/platform/store", pattern)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(digest, "%s %d\n", filepath.Base(file), len(content))
			digest.Write(content)
		}
	}
	return hex.EncodeToString(digest.Sum(nil))[:16], nil
}
