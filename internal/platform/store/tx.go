package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Tx is a running transaction. Only the function that received it may use it, on
// one goroutine.
type Tx struct {
	db       *DB
	conn     *conn     // SQLite
	pg       *sql.Conn // PostgreSQL
	now      time.Time
	readOnly bool
	begin    string // PostgreSQL: sent with the first statement, then empty
	finish   bool   // PostgreSQL: the present batch ends with COMMIT
	ended    bool   // PostgreSQL: Finish has committed
	scope    string // PostgreSQL: the team whose rows are visible, "*" for all
	after    []func()
	notices  map[notice]struct{}
	fresh    map[subject]*subjectKeys // keys created or read in this transaction, which may not be committed yet
	drops    uint64                   // of the key cache, read before the snapshot was taken
}

// Now returns the start time of the transaction, in UTC and whole microseconds. It
// is the same for every row of the operation.
func (tx *Tx) Now() time.Time { return tx.now }

// NewUUID returns a UUID of version 7, so that new rows are close to each other.
func (tx *Tx) NewUUID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// Engine returns the kind of database.
func (tx *Tx) Engine() Engine { return tx.db.engine }

// Serial reports whether no other transaction can commit before this one does. A
// counter that it reads is then in commit order.
func (tx *Tx) Serial() bool { return tx.db.engine == SQLite && !tx.readOnly }

// Exec runs a statement and returns the number of changed rows. On SQLite the end
// of ctx does not interrupt it, because that would fail its whole group.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if tx.db.statement != nil {
		tx.db.statement(query, args)
	}
	if tx.conn != nil {
		return tx.conn.exec(query, args)
	}
	if err := tx.start(ctx); err != nil {
		return 0, err
	}
	res, err := tx.pg.ExecContext(ctx, query, bind(args)...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// QueryRow runs a query for one row. Scan returns ErrNoRows if there is none.
func (tx *Tx) QueryRow(ctx context.Context, query string, args ...any) Row {
	rows, err := tx.Query(ctx, query, args...)
	return Row{rows, err}
}

// Query runs a query. Close the rows before the next statement: PostgreSQL allows
// one open result.
func (tx *Tx) Query(ctx context.Context, query string, args ...any) (*Rows, error) {
	if tx.db.statement != nil {
		tx.db.statement(query, args)
	}
	if tx.conn != nil {
		return tx.conn.query(query, args)
	}
	if err := tx.start(ctx); err != nil {
		return nil, err
	}
	rows, err := tx.pg.QueryContext(ctx, query, bind(args)...) //nolint:rowserrcheck // Rows.Err does
	if err != nil {
		return nil, err
	}
	return &Rows{pg: rows}, nil
}

// start begins the PostgreSQL transaction before its first statement.
func (tx *Tx) start(ctx context.Context) error {
	if tx.ended {
		return errEnded
	}
	if tx.begin == "" {
		return nil
	}
	// scope is "*", a UUID or empty, and needs no quoting.
	if _, err := tx.pg.ExecContext(ctx, tx.begin+"; SET LOCAL hale.team = '"+tx.scope+"'"); err != nil {
		return fmt.Errorf("store: beginning: %w", err)
	}
	tx.begin = ""
	return nil
}

// ReadOnly reports whether the transaction cannot write.
func (tx *Tx) ReadOnly() bool { return tx.readOnly }

// AfterCommit calls fn after the commit, and not after a rollback. In a read-only
// transaction it calls fn at once, because everything that it sees is durable.
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

// bind converts arguments for the PostgreSQL driver: a UUID to 16 bytes, a time to
// microseconds.
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

// ForUpdateSkipLocked returns the end of a SELECT that claims rows. On PostgreSQL it
// skips rows that another node is claiming. On SQLite, which has one writer, it is
// empty.
func (tx *Tx) ForUpdateSkipLocked() string {
	if tx.db.engine == Postgres {
		return " FOR UPDATE SKIP LOCKED"
	}
	return ""
}

// ForUpdate returns the end of a SELECT that locks its rows until the transaction
// ends. It waits for other transactions that change the rows, and reads their
// result. On SQLite, which has one writer, it is empty.
func (tx *Tx) ForUpdate() string {
	if tx.db.engine == Postgres {
		return " FOR UPDATE"
	}
	return ""
}

// Lock waits for a named lock and holds it until the transaction ends. On SQLite it
// does nothing, because writes are serial.
func (tx *Tx) Lock(ctx context.Context, name string) error {
	if tx.db.engine == SQLite {
		return nil
	}
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, name)
	return err
}
