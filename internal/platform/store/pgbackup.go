package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"hale/internal/platform/secrets"
)

// A copy of a PostgreSQL database has one file for each table, in the text format of
// COPY, from one snapshot. pg_dump would need a role that row-level security does not
// bind; Hale's own role sees all rows because it sets hale.team.

// PostgresCopy describes a copy.
type PostgresCopy struct {
	Schema    int64            `json:"schema"`
	Tables    []TableCopy      `json:"tables"` // those without foreign keys first
	Sequences map[string]int64 `json:"sequences"`
}

// TableCopy describes the file of one table.
type TableCopy struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
	SHA256  string   `json:"sha256"` // of the file, set by the caller
}

// Rows returns the number of rows of a table, 0 if there is no such table.
func (c *PostgresCopy) Rows(table string) int64 {
	for _, t := range c.Tables {
		if t.Name == table {
			return t.Rows
		}
	}
	return 0
}

func (t *TableCopy) statement(direction string) string {
	columns := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		columns[i] = pgx.Identifier{name}.Sanitize()
	}
	return "COPY " + pgx.Identifier{t.Name}.Sanitize() + " (" + strings.Join(columns, ", ") + ") " + direction
}

// postgresTransaction runs fn in a transaction that sees all teams.
func (db *DB) postgresTransaction(ctx context.Context, begin string, fn func(conn *pgx.Conn) error) error {
	if db.engine != Postgres {
		return errors.New("store: this is no PostgreSQL database")
	}
	raw, err := db.pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("store: taking a connection: %w", err)
	}
	defer raw.Close()
	return raw.Raw(func(driver any) error {
		std, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("store: copying on a %T", driver)
		}
		conn := std.Conn()
		setAnswerLimit(conn, 0) // a copy takes long
		_, err := conn.Exec(ctx, begin)
		if err == nil {
			_, err = conn.Exec(ctx, "SET LOCAL hale.team = '*'")
		}
		if err == nil {
			_, err = conn.Exec(ctx, "SET LOCAL statement_timeout = 0") // the role may have one
		}
		if err == nil {
			err = fn(conn)
		}
		if err != nil {
			_, ended := conn.Exec(context.WithoutCancel(ctx), "ROLLBACK")
			return errors.Join(err, ended)
		}
		return checkCommit(conn.Exec(ctx, "COMMIT"))
	})
}

// hiddenTables selects the tables of which the role may not see all rows, whatever it
// sets.
const hiddenTables = `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = current_schema() AND c.relkind = 'r' AND row_security_active(c.oid)
	AND (EXISTS (SELECT 1 FROM pg_policies p WHERE p.schemaname = n.nspname AND p.tablename = c.relname AND p.permissive = 'RESTRICTIVE')
		OR NOT EXISTS (SELECT 1 FROM pg_policies p WHERE p.schemaname = n.nspname AND p.tablename = c.relname AND p.policyname = 'one_team'))
	ORDER BY c.relname`

const copiedTables = `SELECT c.relname::text, ARRAY(SELECT a.attname::text FROM pg_attribute a
		WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum)
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname <> $1
	ORDER BY EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f'), c.relname`

// CopyOut streams all tables of one snapshot. create opens the file of a table. It
// refuses a role that cannot see every row.
func (db *DB) CopyOut(ctx context.Context, create func(table string) (io.WriteCloser, error)) (c PostgresCopy, err error) {
	if err := db.RefuseUnfinished(ctx); err != nil {
		return c, err
	}
	err = db.postgresTransaction(ctx, beginReading, func(conn *pgx.Conn) error {
		hidden, err := collectNames(ctx, conn, hiddenTables)
		if err != nil {
			return err
		}
		if len(hidden) > 0 {
			return fmt.Errorf("store: the role cannot see every row of %s: use the role that owns the tables", strings.Join(hidden, ", "))
		}
		if err := conn.QueryRow(ctx, `SELECT MAX(version_id) FROM `+goose.DefaultTablename+` WHERE is_applied`).Scan(&c.Schema); err != nil {
			return err
		}
		if c.Tables, err = listTables(ctx, conn); err != nil {
			return err
		}
		if c.Sequences, err = listSequences(ctx, conn); err != nil {
			return err
		}
		for i := range c.Tables {
			t := &c.Tables[i]
			w, err := create(t.Name)
			if err != nil {
				return err
			}
			tag, err := conn.PgConn().CopyTo(ctx, w, t.statement("TO STDOUT"))
			if err = errors.Join(err, w.Close()); err != nil {
				return fmt.Errorf("store: copying %s: %w", t.Name, err)
			}
			t.Rows = tag.RowsAffected()
		}
		return nil
	})
	return c, err
}

func collectNames(ctx context.Context, conn *pgx.Conn, query string, args ...any) ([]string, error) {
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func listTables(ctx context.Context, conn *pgx.Conn) ([]TableCopy, error) {
	rows, err := conn.Query(ctx, copiedTables, goose.DefaultTablename)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t TableCopy, err error) {
		err = row.Scan(&t.Name, &t.Columns)
		return t, err
	})
}

func listSequences(ctx context.Context, conn *pgx.Conn) (map[string]int64, error) {
	rows, err := conn.Query(ctx, `SELECT sequencename::text, last_value FROM pg_sequences
		WHERE schemaname = current_schema() AND last_value IS NOT NULL AND sequencename NOT LIKE $1`, goose.DefaultTablename+"%")
	if err != nil {
		return nil, err
	}
	all := map[string]int64{}
	var name string
	var last int64
	_, err = pgx.ForEachRow(rows, []any{&name, &last}, func() error {
		all[name] = last
		return nil
	})
	return all, err
}

// ErrNotEmpty is returned for a restore into a database that has tables or
// functions.
var ErrNotEmpty = errors.New("store: the PostgreSQL database has tables or functions already: restore into an empty one")

// ErrUnfinished is returned for a PostgreSQL database that a restore has not filled
// completely. A restore may empty it.
var ErrUnfinished = errors.New("store: a restore into this PostgreSQL database did not finish: run hale restore again; it empties this database first")

// ErrRestoreRuns is returned for a restore into a database that another one fills.
var ErrRestoreRuns = errors.New("store: another hale restore fills this PostgreSQL database")

// unfinishedTable is the marker of an unfinished restore. Its creation is the first change
// of a restore, and its removal is part of the last one.
const unfinishedTable = "restore_unfinished"

// restoreLock is the number of the advisory lock of a restore that runs.
const restoreLock = 7305808869229539

// RefuseUnfinished returns ErrUnfinished if a restore into the database did not finish.
func (db *DB) RefuseUnfinished(ctx context.Context) error {
	if db.engine != Postgres {
		return nil
	}
	var found bool
	err := db.pool.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1)`, unfinishedTable).Scan(&found)
	if err != nil {
		return fmt.Errorf("store: looking for an unfinished restore: %w", err)
	}
	if found {
		return ErrUnfinished
	}
	return nil
}

// CopySource is a copy to restore.
type CopySource struct {
	PostgresCopy
	Held string // the reason for HoldOutgoing
	// Open opens the file of a table.
	Open func(table string) (io.ReadCloser, error)
	// Prepare runs before the commit of the rows.
	Prepare func() error
}

// CopyIn creates the tables of a copy in an empty database, and fills them. The rows
// commit together with the mark of HoldOutgoing, so that an interrupted restore sends
// nothing. After an error the database is empty again. After an interruption the
// database has a marker, so that nothing serves it and CopyIn can be repeated.
func (db *DB) CopyIn(ctx context.Context, c CopySource) error {
	provider, done, err := db.provider(ctx)
	if err != nil {
		return err
	}
	defer done()
	if last := slices.MaxFunc(provider.ListSources(), func(a, b *goose.Source) int { return int(a.Version - b.Version) }); last.Version < c.Schema {
		return fmt.Errorf("store: the backup has schema %d and this binary knows only %d: use a newer one", c.Schema, last.Version)
	}
	unlock, err := db.lockRestore(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := db.markUnfinished(ctx); err != nil {
		return err
	}
	if _, err = provider.UpTo(ctx, c.Schema); err == nil {
		err = db.postgresTransaction(ctx, beginWriting, func(conn *pgx.Conn) error { return c.fill(ctx, conn, db) })
	}
	if err != nil {
		_, dropped := db.pool.ExecContext(context.WithoutCancel(ctx), dropTables)
		return errors.Join(fmt.Errorf("store: restoring: %w", err), dropped)
	}
	if _, err := db.pool.ExecContext(ctx, "ANALYZE"); err != nil {
		return fmt.Errorf("store: restoring: %w", err)
	}
	return db.Migrate(ctx)
}

// fill makes the changes of the last transaction of a restore.
func (c *CopySource) fill(ctx context.Context, conn *pgx.Conn, db *DB) error {
	if err := fillTables(ctx, conn, c.PostgresCopy, c.Open); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, holdOutgoing, Micros(db.Now()), c.Held); err != nil {
		return err
	}
	if c.Prepare != nil {
		if err := c.Prepare(); err != nil {
			return err
		}
	}
	_, err := conn.Exec(ctx, "DROP TABLE "+unfinishedTable)
	return err
}

// lockRestore locks the database for one restore, until unlock or the end of the process.
// It uses a connection of its own, because the pool may have only one.
func (db *DB) lockRestore(ctx context.Context) (unlock func(), err error) {
	pool := db.openMaintenance()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: taking a connection: %w", err), pool.Close())
	}
	unlock = func() { _ = errors.Join(conn.Close(), pool.Close()) } // the server unlocks
	var locked bool
	err = conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, int64(restoreLock)).Scan(&locked)
	if err == nil && !locked {
		err = ErrRestoreRuns
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// markUnfinished writes the marker into an empty database, or empties a database that has
// it.
func (db *DB) markUnfinished(ctx context.Context) error {
	err := db.RefuseUnfinished(ctx)
	repeated := errors.Is(err, ErrUnfinished)
	if err != nil && !repeated {
		return err
	}
	var tables int
	err = db.pool.QueryRowContext(ctx, `SELECT COUNT(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
			OR EXISTS (SELECT 1 FROM (`+ownFunctions+`) AS f)`).Scan(&tables)
	if err != nil {
		return fmt.Errorf("store: looking for tables: %w", err)
	}
	if tables > 0 && !repeated {
		return ErrNotEmpty
	}
	return db.postgresTransaction(ctx, beginWriting, func(conn *pgx.Conn) error {
		if repeated {
			if _, err := conn.Exec(ctx, dropTables); err != nil {
				return fmt.Errorf("store: emptying the database of an unfinished restore: %w", err)
			}
		}
		_, err := conn.Exec(ctx, "CREATE TABLE "+unfinishedTable+" ()")
		return err
	})
}

// ownFunctions selects the functions of the schema that belong to no extension.
const ownFunctions = `SELECT p.oid::regprocedure AS name FROM pg_proc p JOIN pg_namespace s ON s.oid = p.pronamespace
	WHERE s.nspname = current_schema() AND NOT EXISTS (SELECT 1 FROM pg_depend e WHERE e.objid = p.oid AND e.deptype = 'e')`

// dropTables empties a schema that had no tables before.
const dropTables = `DO $drop$
DECLARE t text;
BEGIN
	FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
		EXECUTE format('DROP TABLE %I CASCADE', t);
	END LOOP;
	FOR t IN SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema() LOOP
		EXECUTE format('DROP SEQUENCE %I', t);
	END LOOP;
	FOR t IN ` + ownFunctions + ` LOOP
		EXECUTE 'DROP FUNCTION ' || t;
	END LOOP;
END $drop$`

func fillTables(ctx context.Context, conn *pgx.Conn, c PostgresCopy, open func(table string) (io.ReadCloser, error)) error {
	made, err := listTables(ctx, conn)
	if err != nil {
		return err
	}
	names := make([]string, len(made))
	for i, t := range made {
		names[i] = pgx.Identifier{t.Name}.Sanitize()
	}
	if _, err := conn.Exec(ctx, "TRUNCATE "+strings.Join(names, ", ")); err != nil { // migrations add rows
		return err
	}
	for i := range c.Tables {
		t := &c.Tables[i]
		r, err := open(t.Name)
		if err != nil {
			return err
		}
		tag, err := conn.PgConn().CopyFrom(ctx, r, t.statement("FROM STDIN"))
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("filling %s: %w", t.Name, err)
		}
		if n := tag.RowsAffected(); n != t.Rows {
			return fmt.Errorf("%s has %d rows, and the backup says %d", t.Name, n, t.Rows)
		}
	}
	for name, last := range c.Sequences {
		if _, err := conn.Exec(ctx, `SELECT setval($1::text::regclass, $2)`, pgx.Identifier{name}.Sanitize(), last); err != nil {
			return fmt.Errorf("setting %s: %w", name, err)
		}
	}
	return nil
}

// SealingKeysTable is the table that ProveCopy reads.
const SealingKeysTable = "sealing_keys"

// ProveCopy opens the key of every team in the file of the table sealing_keys. It
// returns secrets.ErrSealed if the root key does not open all of them, and the number of
// keys.
func ProveCopy(root *secrets.Root, t TableCopy, r io.Reader) (n int, err error) {
	at := map[string]int{}
	for i, name := range t.Columns {
		at[name] = i
	}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("store: reading a copy: %w", err)
		}
		fields := bytes.Split(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"))
		if len(fields) != len(t.Columns) {
			return n, errors.New("store: the copy of the keys is damaged")
		}
		team, wrongTeam := uuid.ParseBytes(fields[at["team_id"]])
		owner, wrongOwner := uuid.ParseBytes(fields[at["subject_id"]])
		number, wrongNumber := strconv.ParseUint(string(fields[at["number"]]), 10, 8)
		wrapped, wrongKey := hex.DecodeString(strings.TrimPrefix(string(fields[at["wrapped"]]), `\\x`))
		if err := errors.Join(wrongTeam, wrongOwner, wrongNumber, wrongKey); err != nil {
			return n, errors.New("store: the copy of the keys is damaged")
		}
		if owner != uuid.Nil {
			continue
		}
		n++
		if _, err := root.Open(keyLocation(subject{team, uuid.Nil}, byte(number)), wrapped); err != nil {
			return n, err
		}
	}
}
