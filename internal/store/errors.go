package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"zombiezen.com/go/sqlite"
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
