package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	_ "modernc.org/sqlite" // driver "sqlite"; binds $1, $2 by number, as PostgreSQL does
)

// FileName is the SQLite database in the data folder.
const FileName = "hale.db"

func (db *DB) openSQLite(ctx context.Context, o Options) error {
	db.engine = SQLite
	db.path = o.URL
	if db.path == "" {
		db.path = filepath.Join(o.Dir, FileName)
	}
	writerPool, err := sql.Open("sqlite", sqliteDSN(db.path, o, "_txlock=immediate"))
	if err != nil {
		return fmt.Errorf("store: opening SQLite: %w", err)
	}
	writerPool.SetMaxOpenConns(1)
	raw, err := writerPool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("store: opening %s: %w", filepath.Base(db.path), err)
	}
	readers := o.Readers
	if readers == 0 {
		readers = max(2, runtime.NumCPU())
	}
	db.pool, err = sql.Open("sqlite", sqliteDSN(db.path, o, "_pragma=query_only(1)"))
	if err != nil {
		return fmt.Errorf("store: opening SQLite: %w", err)
	}
	db.pool.SetMaxOpenConns(readers)
	db.readers, err = newReaderPool(ctx, db.pool, readers)
	if err != nil {
		return fmt.Errorf("store: opening SQLite readers: %w", err)
	}
	db.group = newGroupWriter(db, writerPool, &conn{sql: raw, cache: map[string]*sql.Stmt{}})
	return nil
}

// sqliteDSN sets what a connection needs. ANALYZE is never run: with it the
// planner turns point lookups into plans made anew at each execution.
func sqliteDSN(path string, o Options, more string) string {
	synchronous, mmap := "full", 1<<30
	if strings.EqualFold(o.Synchronous, "normal") {
		synchronous = "normal"
	}
	if o.NoMmap {
		mmap = 0
	}
	return "file:" + strings.NewReplacer("?", "%3f", "#", "%23").Replace(path) + fmt.Sprintf(
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(%s)&_pragma=foreign_keys(on)"+
			"&_pragma=temp_store(memory)&_pragma=mmap_size(%d)&_pragma=cache_size(-16384)&%s", synchronous, mmap, more)
}

// readerPool hands out the read connections, one transaction at a time each.
type readerPool struct{ idle chan *conn }

func newReaderPool(ctx context.Context, pool *sql.DB, n int) (*readerPool, error) {
	p := &readerPool{idle: make(chan *conn, n)}
	for range n {
		raw, err := pool.Conn(ctx)
		if err != nil {
			return nil, err
		}
		p.idle <- &conn{sql: raw, cache: map[string]*sql.Stmt{}}
	}
	return p, nil
}

func (p *readerPool) read(ctx context.Context, db *DB, fn func(tx *Tx) error) (err error) {
	var c *conn
	select {
	case c = <-p.idle:
	case <-ctx.Done():
		return ctx.Err()
	}
	tx := &Tx{db: db, conn: c, now: db.Now(), ctx: context.Background(), readOnly: true}
	if _, err := tx.Exec(ctx, "BEGIN"); err != nil {
		p.idle <- c
		return fmt.Errorf("store: beginning to read: %w", err)
	}
	defer func() {
		if _, end := tx.Exec(ctx, "COMMIT"); end != nil && err == nil {
			err = fmt.Errorf("store: ending a read: %w", end)
		}
		p.idle <- c
	}()
	return fn(tx)
}

func (p *readerPool) peek(ctx context.Context, db *DB, fn func(tx *Tx) error) error {
	var c *conn
	select {
	case c = <-p.idle:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { p.idle <- c }()
	return fn(&Tx{db: db, conn: c, now: db.Now(), ctx: context.Background(), readOnly: true})
}

func (p *readerPool) close() {
	for range cap(p.idle) {
		_ = (<-p.idle).close()
	}
}
