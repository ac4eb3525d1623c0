package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"zombiezen.com/go/sqlite"

	"hale/internal/platform/fault"
)

// errBadConn makes database/sql drop a connection from its pool.
var errBadConn = driver.ErrBadConn

// ErrNoRows is what Scan returns when a query found nothing.
var ErrNoRows = sql.ErrNoRows

// IsUnique reports that a row broke a unique constraint. Inside a PostgreSQL
// transaction nothing works after it: prefer ON CONFLICT.
func IsUnique(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23505"
	}
	code := sqlite.ErrCode(err)
	return code == sqlite.ResultConstraintUnique || code == sqlite.ResultConstraintPrimaryKey
}

// IsFull reports that there was no room on the disk for a write.
func IsFull(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "53100"
	}
	return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultFull
}

// IsLocked reports that another process held a lock of SQLite for longer than is
// waited.
func IsLocked(err error) bool { return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy }

// Unavailable is trouble of the database itself: it cannot be reached, is
// shutting down, has no room. Nothing was done, and the same may be asked again.
type Unavailable struct{ Cause error }

func (e *Unavailable) Error() string { return e.Cause.Error() }

func (e *Unavailable) Unwrap() error { return e.Cause }

// Kind asks the caller to come again.
func (*Unavailable) Kind() fault.Kind { return fault.Unavailable }

// Message is what callers are told. The cause is for the log, but for a full
// disk: nothing is gained by trying again before somebody makes room.
func (e *Unavailable) Message() string {
	if IsFull(e.Cause) {
		return "The server's disk is full and nothing was stored: try again when there is room"
	}
	return "The database is not available now: try again"
}

// RetryAfter is how many seconds to wait.
func (*Unavailable) RetryAfter() int { return 2 }

// mark makes trouble of the database Unavailable, and leaves what else a
// transaction returned.
func mark(err *error) {
	if *err != nil && fault.KindOf(*err) == fault.Internal && isTrouble(*err) {
		*err = &Unavailable{*err}
	}
}

func isTrouble(err error) bool {
	var unreached *pgconn.ConnectError
	var pg *pgconn.PgError
	switch {
	case errors.Is(err, context.Canceled): // whoever asked has gone
		return false
	case errors.Is(err, errCommitting): // it may have been done
		return false
	case errors.Is(err, ErrClosed), errors.As(err, &unreached):
		return true
	case errors.As(err, &pg): // connections; resources; the server goes down or is not up yet
		return strings.HasPrefix(pg.Code, "08") || strings.HasPrefix(pg.Code, "53") || strings.HasPrefix(pg.Code, "57P")
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull, sqlite.ResultIOErr, sqlite.ResultBusy:
		return true
	default:
		return false
	}
}

// orLost is the error of a transaction, Unavailable when its connection broke.
func orLost(ctx context.Context, raw *sql.Conn, err error) error {
	if ctx.Err() != nil || fault.KindOf(err) != fault.Internal {
		return err
	}
	gone := false
	asking := raw.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		gone = ok && c.Conn().IsClosed()
		return nil
	})
	if gone || asking != nil {
		return &Unavailable{err}
	}
	return err
}
