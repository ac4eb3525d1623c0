package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errForeign is the error of a PostgreSQL connection that leads to the database of another
// installation, or to an empty one. A wrong failover target or name server can cause it.
var errForeign = errors.New("store: the database belongs to another installation")

// Expect makes each new PostgreSQL connection check that the database still has the id of
// an installation. Others are refused, so a running node reads and writes none of them.
func (db *DB) Expect(installation string) { db.installation.Store(&installation) }

// checkInstallation refuses a connection to the database of another installation.
func (db *DB) checkInstallation(ctx context.Context, c *pgx.Conn) error {
	expected := db.installation.Load()
	if expected == nil {
		return nil
	}
	var own string
	err := c.QueryRow(ctx, `SELECT installation FROM instance WHERE id = 1`).Scan(&own)
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg) && pg.Code == "42P01", errors.Is(err, pgx.ErrNoRows):
		return errForeign // an empty database
	case err != nil:
		return err
	case own != *expected:
		return errForeign
	}
	return nil
}
