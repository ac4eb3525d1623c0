package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"zombiezen.com/go/sqlite"
)

// FileName is the SQLite database in the data folder.
const FileName = "hale.db"

func (db *DB) openSQLite(ctx context.Context, o Options) error {
	db.engine = SQLite
	db.path = o.URL
	if db.path == "" {
		db.path = filepath.Join(o.Dir, FileName)
	}
	if err := requireLogOwner(db.path); err != nil {
		return err
	}
	err := createPrivate(db.path)
	if errors.Is(err, fs.ErrExist) { // perhaps from an older version, or a copy tool
		err = makePrivate(db.path, db.path+"-wal", db.path+"-shm")
	}
	if err != nil {
		return fmt.Errorf("store: opening %s: %w", filepath.Base(db.path), err)
	}
	unmapped := o
	unmapped.NoMmap = true // pages that the writer reads would stay mapped and count as memory
	writer, err := openConn(db.path, append(pragmas(unmapped), autoCheckpoint))
	if err != nil {
		return fmt.Errorf("store: opening %s: %w", filepath.Base(db.path), err)
	}
	readers := o.Readers
	if readers == 0 {
		readers = max(2, runtime.NumCPU())
	}
	db.readers, err = newReaderPool(db.path, o, readers)
	if err != nil {
		_ = writer.close()
		return fmt.Errorf("store: opening SQLite readers: %w", err)
	}
	if db.scanner, err = newReaderPool(db.path, unmapped, 1); err != nil {
		db.readers.close()
		_ = writer.close()
		return fmt.Errorf("store: opening SQLite readers: %w", err)
	}
	db.group = newGroupWriter(db, writer)
	return nil
}

// autoCheckpoint copies the log into the database every 4,000 pages, four times
// SQLite's default. Pushes write the same pages repeatedly, so that a checkpoint
// copies half as many pages in total.
const autoCheckpoint = "wal_autocheckpoint(4000)"

// pragmas returns the settings of a connection. ANALYZE never runs: with its
// statistics, SQLite plans a point lookup again at each execution. secure_delete
// overwrites deleted rows, so that the key of an erased person is not in free pages.
func pragmas(o Options) []string {
	synchronous, mmap, wait := "full", 1<<30, o.LockWait
	if wait == 0 {
		wait = defaultLockWait
	}
	if strings.EqualFold(o.Synchronous, "normal") {
		synchronous = "normal"
	}
	if o.NoMmap {
		mmap = 0
	}
	return []string{
		fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds()), "journal_mode(wal)", "synchronous(" + synchronous + ")",
		"foreign_keys(on)", "secure_delete(on)", "temp_store(memory)", fmt.Sprintf("mmap_size(%d)", mmap), "cache_size(-16384)",
	}
}

// readerPool holds the idle read connections. Each runs one transaction at a time.
type readerPool struct{ idle chan *conn }

func newReaderPool(path string, o Options, n int) (*readerPool, error) {
	p := &readerPool{idle: make(chan *conn, n)}
	for range n {
		// Most pages that they read are mapped and bypass the cache.
		l, err := openConn(path, append(pragmas(o), "query_only(1)", "cache_size(-4096)"))
		if err != nil {
			for len(p.idle) > 0 {
				_ = (<-p.idle).close()
			}
			return nil, err
		}
		l.interruptible()
		p.idle <- l
	}
	return p, nil
}

// take waits for an idle connection.
func (p *readerPool) take(ctx context.Context) (*conn, error) {
	select {
	case l := <-p.idle:
		return l, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *readerPool) give(l *conn) {
	l.endStatements()
	p.idle <- l
}

func (p *readerPool) read(ctx context.Context, db *DB, fn func(tx *Tx) error) (err error) {
	l, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer p.give(l)
	if _, err := l.exec("BEGIN", nil); err != nil {
		return fmt.Errorf("store: beginning to read: %w", err)
	}
	defer func() {
		if _, end := l.exec("COMMIT", nil); end != nil && err == nil {
			err = fmt.Errorf("store: ending a read: %w", end)
		}
	}()
	defer l.interruptWith(ctx)() // ends before the COMMIT above runs
	err = fn(&Tx{db: db, conn: l, now: db.Now(), readOnly: true, drops: db.keys.drops.Load()})
	if sqlite.ErrCode(err) == sqlite.ResultInterrupt && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (p *readerPool) peek(ctx context.Context, db *DB, fn func(tx *Tx) error) error {
	l, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer p.give(l)
	return fn(&Tx{db: db, conn: l, now: db.Now(), readOnly: true, drops: db.keys.drops.Load()})
}

func (p *readerPool) close() {
	for range cap(p.idle) {
		_ = (<-p.idle).close()
	}
}

// Backup writes a consistent copy of the SQLite database to a new file while the
// service continues. The copy holds sealed values, so the root key must be backed up
// too, in another place.
func (db *DB) Backup(ctx context.Context, path string) error {
	if db.engine != SQLite {
		return errors.New("store: back up PostgreSQL with its own tools (pg_dump, or base backups)")
	}
	if err := createPrivate(path); err != nil { // VACUUM INTO accepts an empty file
		return fmt.Errorf("store: backup: %w", err)
	}
	l, err := openConn(db.path, pragmas(Options{}))
	if err != nil {
		return fmt.Errorf("store: backup: %w", err)
	}
	l.raw.SetInterrupt(ctx.Done())
	if _, err := l.exec(`VACUUM INTO $1`, []any{path}); err != nil {
		return errors.Join(fmt.Errorf("store: backup: %w", err), l.close())
	}
	if err := l.close(); err != nil {
		return fmt.Errorf("store: backup: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("store: backup: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// Check reads the whole SQLite database and returns an error if it is damaged.
func (db *DB) Check(ctx context.Context) error {
	if db.engine != SQLite {
		return nil
	}
	var verdict string
	err := db.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow(ctx, `PRAGMA integrity_check(10)`).Scan(&verdict)
	})
	if err != nil {
		return fmt.Errorf("store: checking: %w", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("store: the database is damaged: %s", verdict)
	}
	return nil
}
