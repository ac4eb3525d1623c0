package store

import (
	"context"
	"errors"
	"net"
	"time"
)

// ErrNoAnswer is the error of a silent PostgreSQL server.
var ErrNoAnswer = errNoAnswer

// DialPostgres connects as Open does.
func DialPostgres(ctx context.Context, address string) (net.Conn, error) {
	return newPostgresDialer(time.Second, 0).DialContext(ctx, "tcp", address)
}

// LimitedConn returns a connection with a limit for answers.
func LimitedConn(c net.Conn, limit time.Duration) net.Conn {
	return &limitedConn{Conn: c, limit: limit}
}

// MigrateTo migrates to an older schema, as an older binary did.
func (db *DB) MigrateTo(ctx context.Context, version int64) error {
	provider, done, err := db.provider(ctx)
	if err != nil {
		return err
	}
	defer done()
	if _, err := provider.UpTo(ctx, version); err != nil || db.engine != Postgres {
		return err
	}
	return db.enforceRowSecurity(ctx)
}

// ExecInsecurely runs a statement on a SQLite file as a version without secure_delete
// did.
func ExecInsecurely(path, query string, args ...any) error {
	c, err := openConn(path, append(pragmas(Options{}), "secure_delete(off)"))
	if err != nil {
		return err
	}
	_, err = c.exec(query, args)
	return errors.Join(err, c.close())
}
