package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing/fstest"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	_ "modernc.org/sqlite" // the driver named sqlite

	"hale/internal/platform/fault"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migration is one step of the schema.
type Migration struct {
	Version int64
	Name    string
	Applied bool
}

// Migrate brings the schema to the version of this binary. Several nodes may call it
// at once: on PostgreSQL, one migrates under a lock. It returns an error if a newer
// binary has migrated the database, or ErrUnfinished.
func (db *DB) Migrate(ctx context.Context) error {
	if err := db.RefuseUnfinished(ctx); err != nil {
		return err
	}
	provider, done, err := db.provider(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := refuseNewer(ctx, provider); err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("store: migrating: %w", err)
	}
	if db.engine == Postgres {
		return db.enforceRowSecurity(withoutAnswerLimit(ctx))
	}
	return nil
}

// Migrations returns the migrations that this binary knows, oldest first.
func (db *DB) Migrations(ctx context.Context) ([]Migration, error) {
	provider, done, err := db.provider(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var all []Migration
	if begun, err := db.hasMigrations(ctx); err != nil || !begun {
		for _, s := range provider.ListSources() {
			all = append(all, Migration{s.Version, path.Base(s.Path), false})
		}
		return all, err
	}
	status, err := provider.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("store: reading migrations: %w", err)
	}
	for _, s := range status {
		all = append(all, Migration{s.Source.Version, path.Base(s.Source.Path), s.State == goose.StateApplied})
	}
	return all, nil
}

// RefuseNewer returns an error if a newer binary has migrated the database, because
// this one could damage it, or ErrUnfinished.
func (db *DB) RefuseNewer(ctx context.Context) error {
	if err := db.RefuseUnfinished(ctx); err != nil {
		return err
	}
	if begun, err := db.hasMigrations(ctx); err != nil || !begun {
		return err
	}
	provider, done, err := db.provider(ctx)
	if err != nil {
		return err
	}
	defer done()
	return refuseNewer(ctx, provider)
}

// hasMigrations reports whether a migration was ever applied. goose would create its
// table, but the caller may only be reading. An existing SQLite database always has
// migrations.
func (db *DB) hasMigrations(ctx context.Context) (begun bool, err error) {
	if db.engine != Postgres {
		return true, nil
	}
	err = db.pool.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1)`,
		goose.DefaultTablename).Scan(&begun)
	if err != nil {
		return false, fmt.Errorf("store: looking for migrations: %w", err)
	}
	return begun, nil
}

// CheckSchema returns an error if a newer binary has migrated the PostgreSQL database
// while this one runs. SQLite has one process.
func (db *DB) CheckSchema(ctx context.Context) error {
	if db.engine != Postgres {
		return nil
	}
	var current int64
	if err := db.pool.QueryRowContext(ctx, `SELECT MAX(version_id) FROM `+goose.DefaultTablename+` WHERE is_applied`).Scan(&current); err != nil {
		return fmt.Errorf("store: reading the schema version: %w", err)
	}
	if known := newestMigration(); current > known {
		return &newerSchemaError{current, known}
	}
	return nil
}

// newestMigration returns the version of the last migration that this binary knows.
func newestMigration() (newest int64) {
	files, _ := fs.Glob(migrations, "migrations/*.sql") // the pattern is valid
	for _, name := range files {
		if v, err := goose.NumericComponent(name); err == nil {
			newest = max(newest, v)
		}
	}
	return newest
}

// newerSchemaError is the error of a binary that is older than the schema.
type newerSchemaError struct{ current, known int64 }

func (e *newerSchemaError) Error() string {
	return fmt.Sprintf("store: the database has schema %d and this binary knows only %d: start a newer one", e.current, e.known)
}

// IsOutdated reports whether a statement failed on a database that a newer binary has
// migrated.
func IsOutdated(err error) bool {
	var newer *newerSchemaError
	return errors.As(err, &newer)
}

// markOutdated wraps an error of PostgreSQL in Unavailable if a newer binary has migrated
// the database. Statements of this binary may not fit the new schema.
func (db *DB) markOutdated(ctx context.Context, err *error) {
	var pg *pgconn.PgError
	if *err == nil || fault.KindOf(*err) != fault.Internal || !errors.As(*err, &pg) {
		return
	}
	if newer := db.CheckSchema(ctx); IsOutdated(newer) {
		*err = &Unavailable{errors.Join(newer, *err)}
	}
}

func refuseNewer(ctx context.Context, provider *goose.Provider) error {
	current, target, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("store: reading the schema version: %w", err)
	}
	if current > target {
		return &newerSchemaError{current, target}
	}
	return nil
}

// readVersions returns an error if the table of migrations is damaged. goose takes a table
// that it cannot read for a missing one.
func (db *DB) readVersions(ctx context.Context) error {
	err := db.Read(ctx, func(tx *Tx) error {
		var n int64
		return tx.QueryRow(ctx, `SELECT version_id FROM `+goose.DefaultTablename+` LIMIT 1`).Scan(&n)
	})
	if IsDamaged(err) {
		return fmt.Errorf("store: reading the schema version: %w", err)
	}
	return nil
}

func (db *DB) provider(ctx context.Context) (*goose.Provider, func(), error) {
	steps, err := translatedMigrations(db.engine)
	if err != nil {
		return nil, nil, err
	}
	if db.engine == Postgres {
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return nil, nil, fmt.Errorf("store: making the migration lock: %w", err)
		}
		pool := db.openMaintenance()
		provider, err := goose.NewProvider(goose.DialectPostgres, pool, steps, goose.WithSessionLocker(locker))
		return provider, func() { _ = pool.Close() }, err
	}
	if err := db.readVersions(ctx); err != nil {
		return nil, nil, err
	}
	pool, err := sql.Open("sqlite", sqliteDSN(db.path))
	if err != nil {
		return nil, nil, fmt.Errorf("store: opening SQLite to migrate: %w", err)
	}
	pool.SetMaxOpenConns(1)
	provider, err := goose.NewProvider(goose.DialectSQLite3, pool, steps)
	return provider, func() { _ = pool.Close() }, err
}

// sqliteDSN returns the address of a database file for database/sql, which goose
// needs.
func sqliteDSN(path string) string {
	return fileURI(path) + "?_txlock=immediate&_pragma=" + strings.Join(pragmas(Options{}), "&_pragma=")
}

// translatedMigrations returns the migrations in the SQL of an engine.
func translatedMigrations(engine Engine) (fs.FS, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	out := fstest.MapFS{}
	for _, name := range files {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out[path.Base(name)] = &fstest.MapFile{Data: []byte(Translate(engine, string(text)))}
	}
	return out, nil
}

// gooseUp is the first line of every migration. A migration is one transaction.
const gooseUp = "-- +goose Up\n"

var (
	endOfTable  = regexp.MustCompile(`(?m)^\);`)
	engineBlock = regexp.MustCompile(`(?ms)^-- (sqlite|postgres): begin\n(.*?)^-- (sqlite|postgres): end\n`)
	typeWords   = strings.NewReplacer(
		" UUID", " BLOB", " BYTEA", " BLOB",
		" BIGINT", " INTEGER", " BOOLEAN", " INTEGER",
		" DOUBLE PRECISION", " REAL",
	)
)

// Translate converts a migration, written in PostgreSQL's SQL, for an engine. A part
// between `-- sqlite: begin` and `-- sqlite: end` is for that engine only.
//
// SQLite has fewer types, and its tables are STRICT. On PostgreSQL a migration must
// see the rows of every team, which row-level security hides even from the owner of
// the tables. It runs at READ COMMITTED, whatever the default of the database.
func Translate(engine Engine, text string) string {
	text = engineBlock.ReplaceAllStringFunc(text, func(part string) string {
		m := engineBlock.FindStringSubmatch(part)
		if m[1] != string(engine) {
			return ""
		}
		return m[2]
	})
	if engine == SQLite {
		return endOfTable.ReplaceAllString(typeWords.Replace(text), ") STRICT;")
	}
	return strings.Replace(text, gooseUp, gooseUp+"SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\nSET LOCAL hale.team = '*';\n", 1)
}

// BypassesRowSecurity reports whether row-level security does not apply to the
// PostgreSQL role in use, such as a superuser.
func (db *DB) BypassesRowSecurity(ctx context.Context) (bypasses bool, err error) {
	if db.engine != Postgres {
		return false, nil
	}
	err = db.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow(ctx, `SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user`).Scan(&bypasses)
	})
	return bypasses, err
}

// enforceRowSecurity creates the row-level security policies: each table with a
// team_id shows a session only the rows of its team. The policies also apply to the
// owner of the table.
func (db *DB) enforceRowSecurity(ctx context.Context) error {
	err := db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, createPolicies)
		return err
	})
	if err != nil {
		return fmt.Errorf("store: setting row security: %w", err)
	}
	return nil
}

// createPolicies creates the missing policies, one node at a time, and replaces those
// that read the setting for each row. In a subquery PostgreSQL reads it once for each
// statement.
const createPolicies = `DO $wall$
DECLARE t text;
BEGIN
	PERFORM pg_advisory_xact_lock(7305808869229538);
	FOR t IN
		SELECT c.table_name FROM information_schema.columns c
		JOIN information_schema.tables b USING (table_schema, table_name)
		WHERE c.table_schema = current_schema() AND c.column_name = 'team_id' AND b.table_type = 'BASE TABLE'
		AND NOT EXISTS (SELECT 1 FROM pg_policies p WHERE p.schemaname = c.table_schema AND p.tablename = c.table_name AND p.policyname = 'one_team' AND p.qual LIKE '%SELECT%')
	LOOP
		EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
		EXECUTE format('DROP POLICY IF EXISTS one_team ON %I', t);
		EXECUTE format('CREATE POLICY one_team ON %I USING ((SELECT current_setting(''hale.team'', true)) = ''*'''
			' OR team_id = (SELECT NULLIF(NULLIF(current_setting(''hale.team'', true), ''*''), '''')::uuid))', t);
	END LOOP;
END $wall$`
