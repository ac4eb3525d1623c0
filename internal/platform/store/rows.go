package store

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/google/uuid"
	"zombiezen.com/go/sqlite"
)

// Rows is the result of a query. Read it to the end or close it.
type Rows struct {
	pg *sql.Rows // PostgreSQL

	conn     *conn // SQLite
	stmt     *preparedStatement
	buffered bool // the statement is at a row that Next has not returned yet
	err      error
}

// Next advances to the next row and reports whether there is one.
func (r *Rows) Next() bool {
	if r.pg != nil {
		return r.pg.Next()
	}
	if r.stmt == nil {
		return false
	}
	if r.buffered {
		r.buffered = false
		return true
	}
	row, err := r.stmt.stmt.Step()
	if err != nil || !row {
		r.err = err
		_ = r.Close()
	}
	return row
}

// Scan copies the columns of the row. It converts values like database/sql.
func (r *Rows) Scan(dest ...any) error {
	if r.pg != nil {
		return r.pg.Scan(dest...)
	}
	if r.stmt == nil {
		return errors.New("store: scanning without a row")
	}
	if len(dest) != r.stmt.columns {
		return fmt.Errorf("store: %d columns are scanned into %d variables", r.stmt.columns, len(dest))
	}
	for i, d := range dest {
		if err := scanSQLite(r.stmt.stmt, i, d); err != nil {
			return fmt.Errorf("store: column %d: %w", i, err)
		}
	}
	return nil
}

// Err returns the error that stopped Next, or nil at the end.
func (r *Rows) Err() error {
	if r.pg != nil {
		return r.pg.Err()
	}
	return r.err
}

// Close ends the query. It may be called more than once.
func (r *Rows) Close() error {
	if r.pg != nil {
		return r.pg.Close()
	}
	if r.stmt != nil {
		r.conn.reset(r.stmt)
		r.stmt = nil
	}
	return nil
}

// Row is the result of QueryRow.
type Row struct {
	rows *Rows
	err  error
}

// Scan copies the columns of the row, or returns ErrNoRows.
func (r Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	return r.rows.Close()
}

// scanSQLite copies a column of the current row.
func scanSQLite(stmt *sqlite.Stmt, i int, dest any) error {
	kind := stmt.ColumnType(i)
	switch d := dest.(type) {
	case *int64:
		if kind == sqlite.TypeInteger {
			*d = stmt.ColumnInt64(i)
			return nil
		}
	case *int:
		if kind == sqlite.TypeInteger {
			*d = stmt.ColumnInt(i)
			return nil
		}
	case *bool:
		if kind == sqlite.TypeInteger {
			*d = stmt.ColumnInt64(i) != 0
			return nil
		}
	case *string:
		if kind == sqlite.TypeText {
			*d = stmt.ColumnText(i)
			return nil
		}
	case *[]byte:
		*d = nil
		if kind != sqlite.TypeNull {
			*d = columnBytes(stmt, i)
		}
		return nil
	case *uuid.UUID:
		if kind == sqlite.TypeBlob && stmt.ColumnLen(i) == len(d) {
			stmt.ColumnBytes(i, d[:])
			return nil
		}
	case **int64:
		if kind == sqlite.TypeInteger {
			v := stmt.ColumnInt64(i)
			*d = &v
			return nil
		}
	case *any:
		*d = columnValue(stmt, i, kind)
		return nil
	}
	if d, ok := dest.(sql.Scanner); ok {
		return d.Scan(columnValue(stmt, i, kind))
	}
	return scanReflect(stmt, i, kind, dest)
}

func columnBytes(stmt *sqlite.Stmt, i int) []byte {
	b := make([]byte, stmt.ColumnLen(i))
	stmt.ColumnBytes(i, b)
	return b
}

// columnValue returns a column as int64, float64, string, []byte or nil.
func columnValue(stmt *sqlite.Stmt, i int, kind sqlite.ColumnType) any {
	switch kind {
	case sqlite.TypeInteger:
		return stmt.ColumnInt64(i)
	case sqlite.TypeFloat:
		return stmt.ColumnFloat(i)
	case sqlite.TypeText:
		return stmt.ColumnText(i)
	case sqlite.TypeBlob:
		return columnBytes(stmt, i)
	case sqlite.TypeNull:
	}
	return nil
}

// scanReflect copies a column into a pointer to any other type.
func scanReflect(stmt *sqlite.Stmt, i int, kind sqlite.ColumnType, dest any) error {
	pointer := reflect.ValueOf(dest)
	if pointer.Kind() != reflect.Pointer || pointer.IsNil() {
		return fmt.Errorf("scanned into a %T, which is not a pointer", dest)
	}
	to := pointer.Elem()
	if to.Kind() == reflect.Pointer {
		if kind == sqlite.TypeNull {
			to.SetZero()
			return nil
		}
		to.Set(reflect.New(to.Type().Elem()))
		return scanSQLite(stmt, i, to.Interface())
	}
	from := columnValue(stmt, i, kind)
	if !assign(to, from) {
		return fmt.Errorf("a %T does not fit into a %s", from, to.Type())
	}
	return nil
}

// assign sets a variable to a value of columnValue and reports whether it fits.
func assign(to reflect.Value, from any) bool {
	switch v := from.(type) {
	case int64:
		switch {
		case to.CanInt() && !to.OverflowInt(v):
			to.SetInt(v)
		case to.CanUint() && v >= 0 && !to.OverflowUint(uint64(v)):
			to.SetUint(uint64(v))
		case to.CanFloat():
			to.SetFloat(float64(v))
		case to.Kind() == reflect.Bool && (v == 0 || v == 1):
			to.SetBool(v == 1)
		case to.Kind() == reflect.String:
			to.SetString(strconv.FormatInt(v, 10))
		default:
			return false
		}
		return true
	case float64:
		switch {
		case to.CanFloat():
			to.SetFloat(v)
		case v == math.Trunc(v) && math.Abs(v) < 1<<53:
			return assign(to, int64(v))
		default:
			return false
		}
		return true
	case string:
		return assignText(to, v)
	case []byte:
		if to.Kind() == reflect.Slice && to.Type().Elem().Kind() == reflect.Uint8 {
			to.SetBytes(v)
			return true
		}
		return assignText(to, string(v))
	}
	return false // NULL
}

func assignText(to reflect.Value, v string) bool {
	switch {
	case to.Kind() == reflect.String:
		to.SetString(v)
	case to.CanInt():
		n, err := strconv.ParseInt(v, 10, to.Type().Bits())
		if err != nil {
			return false
		}
		to.SetInt(n)
	case to.CanFloat():
		f, err := strconv.ParseFloat(v, to.Type().Bits())
		if err != nil {
			return false
		}
		to.SetFloat(f)
	default:
		return false
	}
	return true
}
