package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Tx is a running transaction. It belongs to the function it was given to and
// to one goroutine.
type Tx struct {
	db       *DB
	conn     *conn
	now      time.Time
	ctx      context.Context // SQLite: never cancelled, so that one request cannot interrupt its group
	readOnly bool
	begin    string // PostgreSQL: sent with the first statement, empty once it was
	scope    string // PostgreSQL: whose rows the transaction may see
	after    []func()
	fresh    map[subject]*subjectKeys // keys made or found in this transaction, not yet known to be committed
}

// Now is the moment the transaction began, in UTC microseconds: the same for
// every row of the operation.
func (tx *Tx) Now() time.Time { return tx.now }

// NewUUID makes a version 7 identifier, so that new rows lie near each other.
func (tx *Tx) NewUUID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// Engine tells which database this is.
func (tx *Tx) Engine() Engine { return tx.db.engine }

// Serial reports that no other transaction can commit between this one's
// statements and its commit, so that a counter row read here is in commit order.
func (tx *Tx) Serial() bool { return tx.db.engine == SQLite && !tx.readOnly }

// Exec runs a statement and returns the number of rows it changed.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	stmt, err := tx.prepare(ctx, query)
	if err != nil {
		return 0, err
	}
	res, err := stmt.exec(tx.context(ctx), bind(args))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// QueryRow runs a query for one row; Scan returns sql.ErrNoRows for none.
func (tx *Tx) QueryRow(ctx context.Context, query string, args ...any) Row {
	stmt, err := tx.prepare(ctx, query)
	if err != nil {
		return Row{err: err}
	}
	return Row{row: stmt.queryRow(tx.context(ctx), bind(args))}
}

// Query runs a query. Read the rows to the end and close them before the next
// statement: PostgreSQL allows one open result.
func (tx *Tx) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := tx.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.query(tx.context(ctx), bind(args))
}

// prepare begins the transaction with its first statement.
func (tx *Tx) prepare(ctx context.Context, query string) (statement, error) {
	if tx.begin != "" {
		// scope is "*", a UUID or empty: nothing that needs quoting.
		if _, err := tx.conn.sql.ExecContext(ctx, tx.begin+"; SET LOCAL hale.team = '"+tx.scope+"'"); err != nil {
			return statement{}, fmt.Errorf("store: beginning: %w", err)
		}
		tx.begin = ""
	}
	return tx.conn.prepare(tx.context(ctx), query)
}

// AfterCommit calls fn once the transaction is durable, and never otherwise.
func (tx *Tx) AfterCommit(fn func()) { tx.after = append(tx.after, fn) }

func (tx *Tx) committed() {
	for subject, keys := range tx.fresh {
		tx.db.keys.put(subject, keys)
	}
	for _, fn := range tx.after {
		fn()
	}
}

func (tx *Tx) context(ctx context.Context) context.Context {
	if tx.ctx != nil {
		return tx.ctx
	}
	return ctx
}

// bind puts arguments into the forms that both engines take: UUIDs as 16
// bytes, moments as microseconds.
func bind(args []any) []any {
	for i, arg := range args {
		switch v := arg.(type) {
		case uuid.UUID:
			args[i] = v[:]
		case *uuid.UUID:
			if v == nil {
				args[i] = nil
			} else {
				args[i] = v[:]
			}
		case interface{ UUID() uuid.UUID }:
			id := v.UUID()
			args[i] = id[:]
		case time.Time:
			args[i] = Micros(v)
		case *time.Time:
			args[i] = MicrosOrNil(v)
		}
	}
	return args
}

// Row is the result of QueryRow.
type Row struct {
	row *sql.Row
	err error
}

// Scan copies the columns, or returns sql.ErrNoRows.
func (r Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	return r.row.Scan(dest...)
}

// ForUpdateSkipLocked ends a SELECT that claims rows: PostgreSQL passes over
// rows that another node is claiming; SQLite has one writer and needs nothing.
func (tx *Tx) ForUpdateSkipLocked() string {
	if tx.db.engine == Postgres {
		return " FOR UPDATE SKIP LOCKED"
	}
	return ""
}

// TryLock takes a named lock until the transaction ends and reports whether
// it was free. SQLite's one writer always has it.
func (tx *Tx) TryLock(ctx context.Context, name string) (bool, error) {
	if tx.db.engine == SQLite {
		return true, nil
	}
	var got bool
	err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))`, name).Scan(&got)
	return got, err
}

// Lock waits for a named lock and holds it until the transaction ends.
func (tx *Tx) Lock(ctx context.Context, name string) error {
	if tx.db.engine == SQLite {
		return nil
	}
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, name)
	return err
}
