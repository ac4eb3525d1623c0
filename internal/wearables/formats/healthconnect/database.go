package healthconnect

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"

	"hale/internal/platform/fault"
)

// telling is the table that only Health Connect's database has.
const telling = "steps_record_table"

// database is an opened export, read through one connection.
type database struct {
	pool *sql.DB
	conn *sql.Conn
	// plain holds the readable schema: plain columns by plain tables. Virtual tables
	// and views run code, and a generated column is an expression.
	plain map[string]map[string]bool
}

// longestValue bounds what one value or row may take in memory, in bytes.
// SQLite's number of that limit is 0.
const (
	limitLength  = 0
	longestValue = 16 << 20
)

// defences of a connection to a database that a stranger made:
//
//   - mode=ro and immutable: no lock, no journal, nothing is ever written
//   - _defensive, query_only: no statement can change it either
//   - trusted_schema off: its views, triggers and defaults call no function
//     with a side effect
//   - cell_size_check: damaged pages are found before they are used
//   - mmap_size 0: a file that is cut meanwhile is an error and no crash
//
// The schema, which SQLite reads whole, is measured before (schema.go).
// Loading extensions is off unless asked for.
const defences = "?mode=ro&immutable=1&_defensive=1&_pragma=query_only(1)&_pragma=trusted_schema(0)" +
	"&_pragma=cell_size_check(1)&_pragma=mmap_size(0)&_pragma=cache_size(-8192)"

// escaped are the characters of a path that mean something in an address.
var escaped = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23")

// open opens a database and looks at its schema.
func open(ctx context.Context, path string) (*database, error) {
	if err := boundSchema(path); err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite", "file:"+escaped.Replace(path)+defences)
	if err != nil {
		return nil, fmt.Errorf("healthconnect: opening: %w", err)
	}
	db := &database{pool: pool, plain: map[string]map[string]bool{}}
	if err := db.begin(ctx); err != nil {
		_ = db.Close() // the first error says more
		return nil, err
	}
	return db, nil
}

func (db *database) begin(ctx context.Context) (err error) {
	if db.conn, err = db.pool.Conn(ctx); err != nil {
		return readError(err)
	}
	if _, err := sqlite.Limit(db.conn, limitLength, longestValue); err != nil {
		return fmt.Errorf("healthconnect: bounding values: %w", err)
	}
	if err := db.readSchema(ctx); err != nil {
		return err
	}
	if !db.has(telling, "start_time", "end_time", "count") {
		return errUnlike
	}
	return nil
}

// Close closes the connection.
func (db *database) Close() error {
	if db.conn != nil {
		_ = db.conn.Close() // nothing was written
	}
	return db.pool.Close()
}

// maxTables bounds the schema; the platform has about seventy.
const maxTables = 500

func (db *database) readSchema(ctx context.Context) error {
	names, err := db.tableNames(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if db.plain[name], err = db.columns(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (db *database) tableNames(ctx context.Context) (names []string, err error) {
	rows, err := db.conn.QueryContext(ctx, `SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL LIMIT $1`, maxTables)
	if err != nil {
		return nil, readError(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, readError(err)
		}
		// Only names as the platform gives them go into statements.
		if isName(name) && strings.HasPrefix(strings.ToUpper(strings.TrimSpace(text)), "CREATE TABLE") {
			names = append(names, name)
		}
	}
	return names, readError(rows.Err())
}

// columns are a table's columns that are no expressions.
func (db *database) columns(ctx context.Context, table string) (map[string]bool, error) {
	rows, err := db.conn.QueryContext(ctx, `PRAGMA table_xinfo("`+table+`")`)
	if err != nil {
		return nil, readError(err)
	}
	defer rows.Close()
	plain := map[string]bool{}
	for rows.Next() {
		var id, required, primary, hidden int
		var name, kind string
		var value sql.NullString
		if err := rows.Scan(&id, &name, &kind, &required, &value, &primary, &hidden); err != nil {
			return nil, readError(err)
		}
		if hidden == 0 && isName(name) {
			plain[name] = true
		}
	}
	return plain, readError(rows.Err())
}

func isName(s string) bool {
	for _, c := range []byte(s) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return s != "" && len(s) < 100
}

// has reports whether a table may be read and has the columns.
func (db *database) has(table string, columns ...string) bool {
	for _, c := range columns {
		if !db.plain[table][c] {
			return false
		}
	}
	return db.plain[table] != nil
}

// column is a column to select, or NULL where this version of the platform
// does not have it.
func (db *database) column(table, prefix, name string) string {
	if db.plain[table][name] {
		return prefix + name
	}
	return "NULL"
}

// SQLite's primary result codes that speak of this machine, not of the file.
const (
	noMemory  = 7
	interrupt = 9
	ioError   = 10
	full      = 13

	shortRead = ioError | 2<<8 // the file ends in the middle of a page
)

// readError interprets an error of SQLite: a damaged file, or an internal failure.
func readError(err error) error {
	var of *sqlite.Error
	if err == nil || !errors.As(err, &of) {
		return err
	}
	if of.Code() == shortRead {
		return errDamaged
	}
	switch of.Code() & 0xff {
	case noMemory, interrupt, ioError, full:
		return fmt.Errorf("healthconnect: reading: %w", err)
	}
	return errDamaged
}

var errDamaged = fault.New(fault.Unprocessable, "the database is damaged or incomplete")
