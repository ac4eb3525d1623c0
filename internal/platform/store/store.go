package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
)

// Engine is the kind of database behind a DB.
type Engine string

// The two engines.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// Options say where the database is and how to treat it. URL or Dir is needed.
type Options struct {
	// URL is postgres://… or the path of a SQLite file. Empty means hale.db in Dir.
	URL string
	// Dir is the data folder: the SQLite file and, when Root is nil, the root key file.
	Dir string
	// Root wraps the teams' keys. Nil means the root key file of Dir.
	Root *secrets.Root
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
	// Synchronous is SQLite's FULL (default) or NORMAL, which may lose the last
	// commits when the power fails.
	Synchronous string
	// NoMmap reads SQLite pages with pread: slower, but a disk error is an error
	// value and not a fault of the process.
	NoMmap bool
	// Readers is the number of SQLite read connections; 0 means the number of cores.
	Readers int
	// Conns is the size of the PostgreSQL pool; 0 means 4 per core, at least 16.
	Conns int
	// Observe, when set, is told of every commit: how long it took and how many
	// transactions it carried.
	Observe func(took time.Duration, transactions int)
	// LockWait is how long locks of SQLite that another process holds are waited
	// for; 0 means ten seconds.
	LockWait time.Duration
	// LockHeld, when set, is told how long a commit waited for SQLite's write lock
	// because another process held it: of more than a second, once a minute.
	LockHeld func(waited time.Duration)
}

// DB is an open database, safe for concurrent use.
type DB struct {
	engine   Engine
	now      func() time.Time
	observe  func(time.Duration, int)
	root     *secrets.Root
	keys     keyCache
	notifier notifier
	pool     *sql.DB // PostgreSQL
	url      string
	path     string // SQLite file

	lockHeld func(time.Duration) // nil for nobody

	insertTexts sync.Map // insertKey: string

	group   *groupWriter // SQLite
	readers *readerPool  // SQLite
	scanner *readerPool  // SQLite; of one
	closed  atomic.Bool

	slots sync.Map // *Slot to its value
}

// ErrClosed is returned after Close.
var ErrClosed = errors.New("store: the database is closed")

// Open connects, and on SQLite creates the file. It does not migrate: see
// Migrate.
func Open(ctx context.Context, o Options) (_ *DB, err error) {
	defer mark(&err)
	db := &DB{now: o.Now, observe: o.Observe, lockHeld: o.LockHeld, root: o.Root, url: o.URL}
	if db.now == nil {
		db.now = time.Now
	}
	if db.observe == nil {
		db.observe = func(time.Duration, int) {}
	}
	if o.Dir != "" {
		if err := os.MkdirAll(o.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("store: making the data folder: %w", err)
		}
	}
	if db.root == nil {
		if o.Dir == "" {
			return nil, errors.New("store: neither a root key nor a data folder to keep one in")
		}
		root, _, err := secrets.RootFile(o.Dir)
		if err != nil {
			return nil, err
		}
		db.root = root
	}
	if IsPostgresURL(o.URL) {
		return db, db.openPostgres(ctx, o)
	}
	return db, db.openSQLite(ctx, o)
}

// IsPostgresURL reports whether a --database value means PostgreSQL.
func IsPostgresURL(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// Engine tells which database this is.
func (db *DB) Engine() Engine { return db.engine }

// Path is the SQLite file, or empty.
func (db *DB) Path() string { return db.path }

// Now is the moment by the app's clock, in UTC, cut to microseconds.
func (db *DB) Now() time.Time { return db.now().UTC().Truncate(time.Microsecond) }

// Read runs fn on one snapshot. fn must not write.
func (db *DB) Read(ctx context.Context, fn func(tx *Tx) error) (err error) {
	return db.read(ctx, db.readers, fn)
}

// Scan is Read for work in the background that goes over much of somebody's data:
// on SQLite it takes no reader from those who are waited for, and keeps no pages.
// One runs at a time; fn must not begin another.
func (db *DB) Scan(ctx context.Context, fn func(tx *Tx) error) (err error) {
	return db.read(ctx, db.scanner, fn)
}

func (db *DB) read(ctx context.Context, from *readerPool, fn func(tx *Tx) error) (err error) {
	defer mark(&err)
	if db.closed.Load() {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if db.engine == SQLite {
		return from.read(ctx, db, fn)
	}
	return db.postgresRead(ctx, fn)
}

// Peek is Read without the snapshot: each query of fn sees the newest state by
// itself. It is for lookups whose parts need not agree, and spares beginning
// and ending a transaction, which costs a point lookup half as much again.
func (db *DB) Peek(ctx context.Context, fn func(tx *Tx) error) (err error) {
	defer mark(&err)
	if db.closed.Load() {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if db.engine == SQLite {
		return db.readers.peek(ctx, db, fn)
	}
	return db.postgresRead(ctx, fn) // the scope of row-level security needs a transaction
}

// Write runs fn in a transaction and returns nil only when it is durable. An
// error from fn rolls back everything fn did and is returned as it is, or, when
// the database itself is in trouble, as the Cause of an Unavailable.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) (err error) {
	defer mark(&err)
	if db.closed.Load() {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	fn = together(ctx, fn)
	if db.engine == SQLite {
		return db.group.write(ctx, fn)
	}
	return db.postgresWrite(ctx, fn)
}

// Close lets running transactions end and closes the database.
func (db *DB) Close() error {
	if !db.closed.CompareAndSwap(false, true) {
		return nil
	}
	var errs []error
	if db.group != nil {
		errs = append(errs, db.group.close())
	}
	for _, p := range []*readerPool{db.readers, db.scanner} {
		if p != nil {
			p.close()
		}
	}
	if db.pool != nil {
		errs = append(errs, db.pool.Close())
	}
	return errors.Join(errs...)
}

// Ping proves that the database can be written, which is what readiness means.
func (db *DB) Ping(ctx context.Context) error {
	return db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `UPDATE instance SET pinged_at = $1 WHERE id = 1`, Micros(tx.Now()))
		return err
	})
}

type alongsideKey struct{}

// Alongside returns a context whose every Write first calls fn in the same
// transaction: what fn records commits with the change, or not at all. fn may
// run more than once, as the change may.
func Alongside(ctx context.Context, fn func(tx *Tx) error) context.Context {
	return context.WithValue(ctx, alongsideKey{}, fn)
}

// CarriesMore reports that writes with the context record something more, so
// that they must be transactions of their own.
func CarriesMore(ctx context.Context) bool { return ctx.Value(alongsideKey{}) != nil }

// together is fn preceded by what the context wants recorded with it.
func together(ctx context.Context, fn func(tx *Tx) error) func(tx *Tx) error {
	first, ok := ctx.Value(alongsideKey{}).(func(tx *Tx) error)
	if !ok {
		return fn
	}
	return func(tx *Tx) error {
		if err := first(tx); err != nil {
			return err
		}
		return fn(tx)
	}
}

type scopeKey struct{}

// system marks a context of our own workers, which see every team.
var system = uuid.Max

// WithTeam scopes everything done with the context to one team. PostgreSQL
// then refuses rows of any other team (row-level security), whatever a query
// says; SQLite has no such second wall.
func WithTeam(ctx context.Context, team uuid.UUID) context.Context {
	return context.WithValue(ctx, scopeKey{}, team)
}

// AsSystem lifts the scope for workers, migrations and commands.
func AsSystem(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, system)
}

// scope is the value of the session setting that row-level security reads.
func scope(ctx context.Context) string {
	team, ok := ctx.Value(scopeKey{}).(uuid.UUID)
	switch {
	case !ok:
		return ""
	case team == system:
		return "*"
	}
	return team.String()
}
