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

// Options configure a database. URL or Dir is required.
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
	// NoMmap reads SQLite pages with pread. It is slower, but a disk error is an
	// error value instead of a crash of the process.
	NoMmap bool
	// Readers is the number of SQLite read connections; 0 means the number of cores.
	Readers int
	// Conns is the size of the PostgreSQL pool; 0 means 4 per core, at least 16.
	Conns int
	// AnswerLimit limits the wait for each answer of PostgreSQL, in transactions whose
	// context has no deadline; 0 means no limit. Migrations, Scan and backups have none.
	AnswerLimit time.Duration
	// Observe, when set, is called after every commit, with its duration and its
	// number of transactions.
	Observe func(took time.Duration, transactions int)
	// LockWait limits the wait for a SQLite lock that another process holds; 0 means
	// ten seconds.
	LockWait time.Duration
	// LockHeld, when set, is called when a commit waited more than a second for
	// SQLite's write lock, which another process held. It is called at most
	// once a minute.
	LockHeld func(waited time.Duration)
	// Statement, when set, is called with each statement of a transaction before it
	// runs. It is for tests, such as the test of all query plans.
	Statement func(text string, args []any)
}

// DB is an open database, safe for concurrent use.
type DB struct {
	engine   Engine
	now      func() time.Time
	observe  func(time.Duration, int)
	root     *secrets.Root
	derived  sync.Map // of root, by purpose
	keys     keyCache
	notifier notifier
	pool     *sql.DB // PostgreSQL
	url      string

	installation    atomic.Pointer[string] // PostgreSQL; see Expect
	openMaintenance func() *sql.DB         // PostgreSQL: a pool without AnswerLimit
	answerLimit     time.Duration          // PostgreSQL

	path string // SQLite file

	lockHeld  func(time.Duration) // may be nil
	statement func(string, []any) // may be nil

	insertTexts sync.Map // insertKey: string

	group   *groupWriter // SQLite
	readers *readerPool  // SQLite
	scanner *readerPool  // SQLite; one connection
	closed  atomic.Bool

	slots sync.Map // *Slot to its value
}

// ErrClosed is returned after Close.
var ErrClosed = errors.New("store: the database is closed")

// Open connects to the database. On SQLite it creates the file. It does not
// migrate: see Migrate.
func Open(ctx context.Context, o Options) (_ *DB, err error) {
	defer markUnavailable(&err)
	db := &DB{now: o.Now, observe: o.Observe, lockHeld: o.LockHeld, statement: o.Statement, root: o.Root, url: o.URL}
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
			return nil, errors.New("store: neither a root key nor a data folder for one is set")
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

// Engine returns the kind of database.
func (db *DB) Engine() Engine { return db.engine }

// Path returns the SQLite file, or "" for PostgreSQL.
func (db *DB) Path() string { return db.path }

// Now returns the time of the app's clock, in UTC and whole microseconds.
func (db *DB) Now() time.Time { return db.now().UTC().Truncate(time.Microsecond) }

// Read runs fn on one snapshot. fn must not write.
func (db *DB) Read(ctx context.Context, fn func(tx *Tx) error) (err error) {
	return db.read(ctx, db.readers, fn)
}

// Scan runs fn on one snapshot like Read, for background work that reads much data. On
// SQLite it uses a separate connection, which occupies no reader of requests and maps no
// pages. On SQLite one Scan runs at a time, and fn must not start another. On
// PostgreSQL, Options.AnswerLimit does not apply.
func (db *DB) Scan(ctx context.Context, fn func(tx *Tx) error) (err error) {
	return db.read(withoutAnswerLimit(ctx), db.scanner, fn)
}

func (db *DB) read(ctx context.Context, from *readerPool, fn func(tx *Tx) error) (err error) {
	defer markUnavailable(&err)
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

// Peek runs fn for reads without a snapshot: each query of fn sees the newest state. It
// is for lookups whose parts need not agree. It saves BEGIN and COMMIT, which add half
// the cost of a point lookup.
func (db *DB) Peek(ctx context.Context, fn func(tx *Tx) error) (err error) {
	defer markUnavailable(&err)
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

// Write runs fn in a transaction and returns nil only after it is durable. An
// error of fn rolls back its changes. Write returns that error unchanged, or as the
// Cause of an Unavailable if the database failed. If COMMIT was not answered, the error
// is an OutcomeUnknown.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) (err error) {
	defer markUnavailable(&err)
	if db.closed.Load() {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	fn = withBeforeCommit(ctx, addExtraWrites(ctx, fn))
	if db.engine == SQLite {
		return db.group.write(ctx, fn)
	}
	return db.postgresWrite(ctx, fn)
}

// Close waits for running transactions and closes the database.
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

// Ping writes to the database. The readiness check uses it.
func (db *DB) Ping(ctx context.Context) error {
	return db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `UPDATE instance SET pinged_at = $1 WHERE id = 1`, Micros(tx.Now()))
		return err
	})
}

type extraWritesKey struct{}

// WithExtraWrite returns a context in which every Write first calls fn, in the same
// transaction, and then the functions of earlier calls of WithExtraWrite. The rows that fn
// writes commit with the change or not at all. Like the function of Write, fn may run
// more than once.
func WithExtraWrite(ctx context.Context, fn func(tx *Tx) error) context.Context {
	if earlier, ok := ctx.Value(extraWritesKey{}).(func(tx *Tx) error); ok {
		latest := fn
		fn = func(tx *Tx) error {
			if err := latest(tx); err != nil {
				return err
			}
			return earlier(tx)
		}
	}
	return context.WithValue(ctx, extraWritesKey{}, fn)
}

// WithoutExtraWrites returns a context in which no Write calls the functions of WithExtraWrite.
func WithoutExtraWrites(ctx context.Context) context.Context {
	return context.WithValue(ctx, extraWritesKey{}, nil)
}

// HasExtraWrites reports whether ctx comes from WithExtraWrite. Its writes must not be
// merged with others into one transaction.
func HasExtraWrites(ctx context.Context) bool { return ctx.Value(extraWritesKey{}) != nil }

// addExtraWrites returns fn preceded by the function of WithExtraWrite, if any.
func addExtraWrites(ctx context.Context, fn func(tx *Tx) error) func(tx *Tx) error {
	first, ok := ctx.Value(extraWritesKey{}).(func(tx *Tx) error)
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

type beforeCommitKey struct{}

// BeforeCommit returns a context in which every Write calls fn last, in the same
// transaction. Like the function of Write, fn may run more than once.
func BeforeCommit(ctx context.Context, fn func(tx *Tx) error) context.Context {
	return context.WithValue(ctx, beforeCommitKey{}, fn)
}

// withBeforeCommit returns fn followed by the function of BeforeCommit, if any.
func withBeforeCommit(ctx context.Context, fn func(tx *Tx) error) func(tx *Tx) error {
	last, ok := ctx.Value(beforeCommitKey{}).(func(tx *Tx) error)
	if !ok {
		return fn
	}
	return func(tx *Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return last(tx)
	}
}

type scopeKey struct{}

// system marks a context that sees every team.
var system = uuid.Max

// WithTeam limits a context to one team. PostgreSQL then refuses rows of other
// teams (row-level security), whatever the query. SQLite has no such second check.
func WithTeam(ctx context.Context, team uuid.UUID) context.Context {
	return context.WithValue(ctx, scopeKey{}, team)
}

// AsSystem lets a context see every team. It is for workers, migrations and commands.
func AsSystem(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, system)
}

// scope returns the value of the session setting hale.team, which row-level
// security reads.
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

// Slot keeps one value per DB. A package declares a slot at package level, and
// the code that runs in a transaction reads the value of its own database:
//
//   - The app sets a slot to register something: the followers of orders, the
//     types of events.
//   - A package that caches rows keeps the cache in a slot, so that two
//     databases in one process never share it.
type Slot[T any] struct{ initial func() T }

// NewSlot returns a slot. initial makes the value of a DB for which Set was not
// called; nil means the zero value.
func NewSlot[T any](initial func() T) *Slot[T] { return &Slot[T]{initial} }

// Set replaces the value for db. The app calls it before any other part uses db.
func (s *Slot[T]) Set(db *DB, value T) { db.slots.Store(s, &value) }

// Owner is a DB or a Tx.
type Owner interface{ slotValues() *sync.Map }

// Of returns the value of a database.
func (s *Slot[T]) Of(owner Owner) T {
	values := owner.slotValues()
	value, ok := values.Load(s)
	if !ok {
		var first T
		if s.initial != nil {
			first = s.initial()
		}
		value, _ = values.LoadOrStore(s, &first)
	}
	return *value.(*T)
}

func (db *DB) slotValues() *sync.Map { return &db.slots }
func (tx *Tx) slotValues() *sync.Map { return &tx.db.slots }
