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

// NewPostgres makes a PostgreSQL database with the whole schema, to be dropped
// when the test ends. The test skips where there are no server binaries.
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

// cluster is the superuser's address of the cluster that this process uses.
// One that is started here ends with the process.
var cluster = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("HALE_TEST_POSTGRES"); given != "" {
		return given, nil
	}
	var err error
	if started, err = pgtemp.Start(context.Background(), pgtemp.Fast); err != nil {
		return "", err
	}
	return started.URL(), nil
})

// started holds on to the cluster: the server ends when its pipe is closed,
// which the garbage collector would do to one that nobody refers to.
var started *pgtemp.Cluster

// templateLock is the advisory lock under which one process makes the template
// while others that share the cluster wait.
const templateLock = 4870213

// migratedTemplate is the name of a database with this source tree's schema.
// It is made under another name first, so whoever finds it finds it complete.
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
	unfinished := name + "_unfinished" // left behind when a process died here
	if _, err := db.ExecContext(ctx, "DROP DATABASE IF EXISTS "+unfinished); err != nil {
		return err
	}
	url, err := pgtemp.CreateDatabase(ctx, admin, unfinished, "")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hale-storetest-") // for a root key that nothing is sealed with
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

// schemaVersion is a digest of the files that make the schema. `go test` runs
// in the tested package's folder, from where the module's root is upwards.
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
			return "", errors.New("storetest: the working directory is in no module")
		}
		root = filepath.Dir(root)
	}
	digest := sha256.New()
	for _, pattern := range []string{"migrations/*.sql", "migrate.go"} {
		files, err := filepath.Glob(filepath.Join(root, "internal", "store", pattern))
		if err != nil {
			return "", err
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
