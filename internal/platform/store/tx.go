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
	lite     *lite     // SQLite
	sql      *sql.Conn // PostgreSQL
	now      time.Time
	readOnly bool
	begin    string // PostgreSQL: sent with the first statement, empty once it was
	scope    string // PostgreSQL: whose rows the transaction may see
	after    []func()
	notices  map[notice]struct{}
	fresh    map[subject]*subjectKeys // keys made or found in this transaction, not yet known to be committed
	drops    uint64                   // from the cache of keys, before there was a snapshot
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

// Exec runs a statement and returns the number of rows it changed. On SQLite
// it is not interrupted when ctx ends: its group would suffer.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if tx.lite != nil {
		return tx.lite.exec(query, args)
	}
	if err := tx.start(ctx); err != nil {
		return 0, err
	}
	res, err := tx.sql.ExecContext(ctx, query, bind(args)...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// QueryRow runs a query for one row; Scan returns ErrNoRows for none.
func (tx *Tx) QueryRow(ctx context.Context, query string, args ...any) Row {
	rows, err := tx.Query(ctx, query, args...)
	return Row{rows, err}
}

// Query runs a query. Read the rows to the end and close them before the next
// statement: PostgreSQL allows one open result.
func (tx *Tx) Query(ctx context.Context, query string, args ...any) (*Rows, error) {
	if tx.lite != nil {
		return tx.lite.query(query, args)
	}
	if err := tx.start(ctx); err != nil {
		return nil, err
	}
	rows, err := tx.sql.QueryContext(ctx, query, bind(args)...) //nolint:rowserrcheck // whoever reads the Rows asks
	if err != nil {
		return nil, err
	}
	return &Rows{sql: rows}, nil
}

// start begins a transaction of PostgreSQL's with its first statement.
func (tx *Tx) start(ctx context.Context) error {
	if tx.begin == "" {
		return nil
	}
	// scope is "*", a UUID or empty: nothing that needs quoting.
	if _, err := tx.sql.ExecContext(ctx, tx.begin+"; SET LOCAL hale.team = '"+tx.scope+"'"); err != nil {
		return fmt.Errorf("store: beginning: %w", err)
	}
	tx.begin = ""
	return nil
}

// ReadOnly says that nothing can be written.
func (tx *Tx) ReadOnly() bool { return tx.readOnly }

// AfterCommit calls fn once the transaction is durable, and never otherwise. What
// a reader sees is durable.
func (tx *Tx) AfterCommit(fn func()) {
	if tx.readOnly {
		fn()
		return
	}
	tx.after = append(tx.after, fn)
}

func (tx *Tx) committed() {
	for subject, keys := range tx.fresh {
		tx.db.keys.put(subject, keys, tx.drops)
	}
	for _, fn := range tx.after {
		fn()
	}
	tx.db.notifier.publish(tx.notices)
}

// bind puts arguments into the forms that PostgreSQL's driver takes: UUIDs as
// 16 bytes, moments as microseconds.
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

// ForUpdateSkipLocked ends a SELECT that claims rows: PostgreSQL passes over
// rows that another node is claiming; SQLite has one writer and needs nothing.
func (tx *Tx) ForUpdateSkipLocked() string {
	if tx.db.engine == Postgres {
		return " FOR UPDATE SKIP LOCKED"
	}
	return ""
}

// ForUpdate ends a SELECT of rows that nobody else may change until the
// transaction ends: it waits for who is changing them and reads what they are
// then. On SQLite, which has one writer, it is empty.
func (tx *Tx) ForUpdate() string {
	if tx.db.engine == Postgres {
		return " FOR UPDATE"
	}
	return ""
}

// Lock waits for a named lock and holds it until the transaction ends.
func (tx *Tx) Lock(ctx context.Context, name string) error {
	if tx.db.engine == SQLite {
		return nil
	}
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, name)
	return err
}
