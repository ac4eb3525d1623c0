package healthconnect

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"

	"modernc.org/sqlite"

	"hale/internal/platform/fault"
)

// distinctTable is a table that only Health Connect's database has.
const distinctTable = "steps_record_table"

// database is an opened export, read through one connection.
type database struct {
	pool *sql.DB
	conn *sql.Conn
	// plain holds the readable schema: plain columns by plain tables. Virtual tables
	// and views run code, and a generated column is an expression.
	plain map[string]map[string]bool
}

// longestValue bounds the memory of one value or row, in bytes. In SQLite this limit has
// the number 0.
const (
	limitLength  = 0
	longestValue = 16 << 20
)

// openOptions are the settings of a connection to a database from an unknown person:
//
//   - mode=ro and immutable: SQLite takes no lock, and writes neither journal nor data
//   - _defensive, query_only: no statement can change the database either
//   - trusted_schema off: its views, triggers and defaults call no function
//     with a side effect
//   - cell_size_check: SQLite finds damaged pages before it uses them
//   - mmap_size 0: a file that is truncated meanwhile causes an error and no crash.
//
// SQLite reads the whole schema, so its size is checked before (schema.go). Loading of
// extensions is off by default.
const openOptions = "?mode=ro&immutable=1&_defensive=1&_pragma=query_only(1)&_pragma=trusted_schema(0)" +
	"&_pragma=cell_size_check(1)&_pragma=mmap_size(0)&_pragma=cache_size(-8192)"

// escapePath replaces the characters of a path that have a meaning in a URI.
var escapePath = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23")

// open opens a database and looks at its schema.
func open(ctx context.Context, path string) (*database, error) {
	if err := boundSchema(path); err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite", "file:"+escapePath.Replace(path)+openOptions)
	if err != nil {
		return nil, fmt.Errorf("healthconnect: opening: %w", err)
	}
	db := &database{pool: pool, plain: map[string]map[string]bool{}}
	if err := db.begin(ctx); err != nil {
		_ = db.Close() // the first error is more useful
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
	if !db.has(distinctTable, "start_time", "end_time", "count") {
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
		// Statements contain only names in the form that the platform uses.
		if isName(name) && strings.HasPrefix(strings.ToUpper(strings.TrimSpace(text)), "CREATE TABLE") {
			names = append(names, name)
		}
	}
	return names, readError(rows.Err())
}

// columns returns the names of a table's columns, without generated and hidden columns.
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

// column returns the expression to select a column, or NULL if this version of the
// platform does not have the column.
func (db *database) column(table, prefix, name string) string {
	if db.plain[table][name] {
		return prefix + name
	}
	return "NULL"
}

// These are SQLite's primary result codes for failures of this machine, not of the file.
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

// query runs a statement and gives each row to take. Values have SQLite's types, whatever
// the schema declares: int64, float64, string, []byte or nil.
func (db *database) query(ctx context.Context, text string, columns int, take func(row []any) error) error {
	rows, err := db.conn.QueryContext(ctx, text)
	if err != nil {
		return readError(err)
	}
	defer rows.Close()
	row := make([]any, columns)
	into := make([]any, columns)
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return readError(err)
		}
		if err := take(row); err != nil {
			return err
		}
	}
	return readError(rows.Err())
}

// integer returns a value as a whole number, or false if it is not one.
func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	}
	return 0, false
}

// number returns a value as a finite number, or false if it is not one.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return 0, false
}

// text returns a value that is a text, or an empty text.
func text(v any) string {
	s, _ := v.(string)
	return s
}

// Times outside these bounds come from a wrong clock, and would overflow in microseconds:
// 1970 to 2100, in milliseconds.
const (
	earliestMillis = 0
	latestMillis   = 4_102_444_800_000
)

// moment converts a value in milliseconds to UTC microseconds. It returns false if the
// time is out of bounds.
func moment(v any) (int64, bool) {
	ms, ok := integer(v)
	return ms * 1000, ok && ms >= earliestMillis && ms <= latestMillis
}
