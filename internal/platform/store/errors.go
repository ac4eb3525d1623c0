package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	modernc "modernc.org/sqlite"
	"zombiezen.com/go/sqlite"

	"hale/internal/platform/fault"
)

// errBadConn makes database/sql remove a connection from its pool.
var errBadConn = driver.ErrBadConn

// ErrNoRows is returned by Scan for a query without rows.
var ErrNoRows = sql.ErrNoRows

// IsUnique reports whether err is the violation of a unique constraint. In a
// PostgreSQL transaction all later statements fail, so prefer ON CONFLICT.
func IsUnique(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23505"
	}
	code := sqlite.ErrCode(err)
	return code == sqlite.ResultConstraintUnique || code == sqlite.ResultConstraintPrimaryKey
}

// IsFull reports whether the disk was full.
func IsFull(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "53100"
	}
	return primaryCode(err) == sqlite.ResultFull
}

// IsIOError reports whether SQLite could not open, read or write a file.
func IsIOError(err error) bool {
	code := primaryCode(err)
	return code == sqlite.ResultIOErr || code == sqlite.ResultCantOpen
}

// primaryCode returns the code of a SQLite error. Migrations use another driver.
func primaryCode(err error) sqlite.ResultCode {
	var migrating *modernc.Error
	if errors.As(err, &migrating) {
		return sqlite.ResultCode(migrating.Code()).ToPrimary()
	}
	return sqlite.ErrCode(err).ToPrimary()
}

// IsDamaged reports whether the embedded database's file is damaged or no database.
func IsDamaged(err error) bool {
	code := primaryCode(err)
	return code == sqlite.ResultCorrupt || code == sqlite.ResultNotADB
}

// damagedError is a statement of SQLite that met a damaged page. Its text has the remedy
// for the log.
type damagedError struct{ cause error }

func (e *damagedError) Error() string {
	return "the database is damaged; run hale doctor, and see Repair a damaged database in hale docs playbook: " + e.cause.Error()
}

func (e *damagedError) Unwrap() error { return e.cause }

// Is makes the error an ErrDamaged.
func (e *damagedError) Is(target error) bool { return target == ErrDamaged }

// markDamaged adds the remedy to the error of a statement that met a damaged page.
func markDamaged(err *error) {
	var marked *damagedError
	if *err != nil && IsDamaged(*err) && !errors.As(*err, &marked) {
		*err = &damagedError{*err}
	}
}

// IsLocked reports whether another process held a SQLite lock for longer than
// Options.LockWait.
func IsLocked(err error) bool { return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy }

// isLockTimeout reports whether PostgreSQL gave up waiting for a lock.
func isLockTimeout(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55P03"
}

// Unavailable is a failure of the database: it cannot be reached, is read-only, is
// shutting down, or its disk is full. Nothing was changed, and the caller may retry.
type Unavailable struct{ Cause error }

func (e *Unavailable) Error() string { return e.Cause.Error() }

func (e *Unavailable) Unwrap() error { return e.Cause }

// Kind returns fault.Unavailable.
func (*Unavailable) Kind() fault.Kind { return fault.Unavailable }

// Message returns the text for callers. The cause is for the log only, except a full
// disk, because a retry fails until an operator makes room.
func (e *Unavailable) Message() string {
	if IsFull(e.Cause) {
		return "The server's disk is full and nothing was stored: try again when there is room"
	}
	return "The database is not available now: try again"
}

// RetryAfter returns the seconds to wait before a retry.
func (*Unavailable) RetryAfter() int { return 2 }

// Reason returns why the database is not available. It contains no addresses and no
// values.
func (e *Unavailable) Reason() string { return reasonOf(e.Cause) }

// OutcomeUnknown is a write whose COMMIT was not answered. The change may be stored.
// Write never runs its function again. A caller may repeat a request with an idempotency
// key, because the answer was stored with the change or not at all.
type OutcomeUnknown struct{ Cause error }

func (e *OutcomeUnknown) Error() string { return e.Cause.Error() }

func (e *OutcomeUnknown) Unwrap() error { return e.Cause }

// Kind returns fault.Unavailable.
func (*OutcomeUnknown) Kind() fault.Kind { return fault.Unavailable }

// Code returns the code for programs.
func (*OutcomeUnknown) Code() string { return "outcome_unknown" }

// Message returns the text for callers.
func (*OutcomeUnknown) Message() string {
	return "The database did not confirm the change, which may be stored: repeat it with the same Idempotency-Key, or read before you repeat it"
}

// RetryAfter returns the seconds to wait before a retry.
func (*OutcomeUnknown) RetryAfter() int { return 2 }

// Reason returns why the outcome is unknown.
func (*OutcomeUnknown) Reason() string { return "the database did not answer a COMMIT" }

// markUnavailable wraps a failure of the database in Unavailable, and names the remedy of
// a damaged one. It leaves other errors unchanged.
func markUnavailable(err *error) {
	markDamaged(err)
	if *err != nil && fault.KindOf(*err) == fault.Internal && isUnavailable(*err) {
		*err = &Unavailable{*err}
	}
}

func isUnavailable(err error) bool {
	var unreached *pgconn.ConnectError
	var pg *pgconn.PgError
	switch {
	case errors.Is(err, context.Canceled): // the caller left
		return false
	case errors.Is(err, errCommitUnknown): // it may be committed
		return false
	case errors.Is(err, ErrClosed), errors.Is(err, errForeign), errors.As(err, &unreached):
		return true
	case errors.As(err, &pg): // a standby or a read-only server; canceled; connection; resources; server shutting down or starting
		return isReadOnly(err) || pg.Code == statementCanceled || strings.HasPrefix(pg.Code, "08") || strings.HasPrefix(pg.Code, "53") || strings.HasPrefix(pg.Code, "57P")
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull, sqlite.ResultIOErr, sqlite.ResultBusy:
		return true
	default:
		return false
	}
}

// statementCanceled is the code of a statement that took longer than statement_timeout of
// the role, or that an administrator canceled.
const statementCanceled = "57014"

// isReadOnly reports whether PostgreSQL refused a write because it is a standby or
// read-only.
func isReadOnly(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "25006"
}

// reasonOf describes a failure of the database in fixed words.
func reasonOf(err error) string {
	var unreached *pgconn.ConnectError
	var pg *pgconn.PgError
	code := ""
	if errors.As(err, &pg) {
		code = pg.Code
	}
	switch {
	case errors.Is(err, ErrClosed):
		return "the database is closed"
	case IsOutdated(err):
		return "a newer version has migrated the database"
	case IsFull(err):
		return "the disk of the database is full"
	case code == "25006":
		return "the database is read-only"
	case errors.Is(err, errForeign):
		return "the database belongs to another installation"
	case code == statementCanceled:
		return "the database canceled a statement: see statement_timeout of its role"
	case code == "57P03":
		return "the database is starting or recovering"
	case strings.HasPrefix(code, "57P"):
		return "the database is stopping"
	case code == "53300":
		return "the database has too many connections"
	case strings.HasPrefix(code, "53"):
		return "the database lacks memory or another resource"
	case strings.HasPrefix(code, "28"), code == "3D000":
		return "the database refuses the connection"
	case errors.As(err, &unreached):
		return "the database is not reachable"
	case errors.Is(err, errNoAnswer):
		return "the database does not answer"
	case IsLocked(err):
		return "another process holds the lock of the database"
	case IsIOError(err):
		return "the disk of the database fails"
	default:
		return "the connection to the database broke"
	}
}

// markLost wraps the error of a transaction whose connection broke in Unavailable, or
// in OutcomeUnknown if it broke during COMMIT.
func markLost(ctx context.Context, raw *sql.Conn, err error) error {
	unknown := errors.Is(err, errCommitUnknown)
	switch {
	case errors.Is(ctx.Err(), context.Canceled), fault.KindOf(err) != fault.Internal:
		return err
	case ctx.Err() != nil && !unknown: // the time limit of the caller closed the connection
		return err
	case !isLost(raw):
		return err
	case unknown:
		return &OutcomeUnknown{err}
	default:
		return &Unavailable{err}
	}
}

// isLost reports whether a connection is closed.
func isLost(raw *sql.Conn) bool {
	lost := false
	err := raw.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		lost = ok && c.Conn().IsClosed()
		return nil
	})
	return lost || err != nil
}
