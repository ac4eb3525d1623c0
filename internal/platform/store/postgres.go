package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// mostTries bounds how often a transaction that lost a race starts again.
const mostTries = 20

func (db *DB) openPostgres(ctx context.Context, o Options) error {
	db.engine = Postgres
	cfg, err := pgx.ParseConfig(o.URL)
	if err != nil {
		return errors.New("store: the PostgreSQL address does not parse") // the error would print the password
	}
	for name, value := range map[string]string{"application_name": "hale", "jit": "off", "synchronous_commit": "on"} {
		if _, given := cfg.RuntimeParams[name]; !given {
			cfg.RuntimeParams[name] = value
		}
	}
	conns := o.Conns
	if conns == 0 {
		conns = max(16, 4*runtime.NumCPU())
	}
	db.pool = stdlib.OpenDB(*cfg)
	db.pool.SetMaxOpenConns(conns)
	db.pool.SetMaxIdleConns(conns)
	if err := db.pool.PingContext(ctx); err != nil {
		return fmt.Errorf("store: connecting to PostgreSQL: %w", err)
	}
	return nil
}

// Every transaction says how it is isolated, whatever is the default of the role
// or of the database.
const (
	// beginReading gives all statements one snapshot.
	beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	// beginWriting lets each statement see what was committed before it: what
	// follows a lock sees what was done under it, and a compare-and-set the winner.
	beginWriting = "BEGIN ISOLATION LEVEL READ COMMITTED"
)

func (db *DB) postgresRead(ctx context.Context, fn func(tx *Tx) error) error {
	return db.postgresTx(ctx, beginReading, true, fn)
}

func (db *DB) postgresWrite(ctx context.Context, fn func(tx *Tx) error) error {
	for try := 1; ; try++ {
		start := time.Now()
		err := db.postgresTx(ctx, beginWriting, false, fn)
		if err == nil {
			db.observe(time.Since(start), 1)
			return nil
		}
		if try == mostTries || !mayTryAgain(err) {
			return err
		}
		select {
		case <-time.After(time.Duration(rand.Int64N(int64(try) * int64(2*time.Millisecond)))):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// postgresTx runs fn in one transaction, which begins with fn's first
// statement and tells row-level security then whose rows it may see.
func (db *DB) postgresTx(ctx context.Context, begin string, readOnly bool, fn func(tx *Tx) error) (err error) {
	raw, err := db.pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("store: taking a connection: %w", err)
	}
	defer raw.Close()
	tx := &Tx{db: db, sql: raw, now: db.Now(), readOnly: readOnly, begin: begin, scope: scope(ctx), drops: db.keys.drops.Load()}
	open := true
	defer func() {
		if open { // fn failed or panicked
			rollback(ctx, raw)
		}
	}()
	if err := fn(tx); err != nil {
		return orLost(ctx, raw, err)
	}
	if tx.begin == "" {
		if err := commit(ctx, raw); err != nil {
			if readOnly {
				return orLost(ctx, raw, fmt.Errorf("store: ending a read: %w", err))
			}
			return fmt.Errorf("%w: %w", errCommitting, err)
		}
	}
	open = false
	tx.committed()
	return nil
}

// commit ends the transaction and makes sure that it was committed: PostgreSQL
// answers COMMIT of one in which a statement had failed with ROLLBACK, and with
// no error.
func commit(ctx context.Context, raw *sql.Conn) error {
	return raw.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("store: committing on a %T", driver)
		}
		tag, err := c.Conn().Exec(ctx, "COMMIT")
		if err == nil && tag.String() != "COMMIT" {
			err = errSwallowed
		}
		return err
	})
}

// errCommitting tells of a write that may be committed or not: the answer to
// COMMIT was trouble, or there was none.
var errCommitting = errors.New("store: committing")

// errSwallowed tells of a transaction that went on after a failed statement.
var errSwallowed = errors.New("store: a statement of the transaction had failed, so nothing was committed")

// rollback ends the transaction even when the request is gone; a connection
// that cannot is thrown away by the pool.
func rollback(ctx context.Context, raw *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := raw.ExecContext(ctx, "ROLLBACK"); err != nil {
		_ = raw.Raw(func(any) error { return errBadConn })
	}
}

// ErrLostRace is returned by a transaction whose compare-and-set found that
// another one was faster; Write starts it again.
var ErrLostRace = errors.New("store: another transaction was faster")

func mayTryAgain(err error) bool {
	if errors.Is(err, ErrLostRace) {
		return true
	}
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}
