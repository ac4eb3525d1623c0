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
	if err := createPrivate(db.path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("store: opening %s: %w", filepath.Base(db.path), err)
	}
	unmapped := o
	unmapped.NoMmap = true
	// What the writer reads to remove it would stay mapped, and count as memory.
	writer, err := openLite(db.path, append(pragmas(unmapped), checkpointAt))
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

// createPrivate creates an empty file that only its owner may read, or returns
// fs.ErrExist. SQLite would create it with mode 0644. It gives the -wal and -shm
// files the mode of the database.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// checkpointAt is how many pages of log are put back into the database together.
// Crowds of pushes write the same pages again and again: four times SQLite's own
// figure puts half as many back.
const checkpointAt = "wal_autocheckpoint(4000)"

// pragmas are what a connection needs. ANALYZE is never run: with it the
// planner turns point lookups into plans made anew at each execution.
func pragmas(o Options) []string {
	synchronous, mmap, wait := "full", 1<<30, o.LockWait
	if wait == 0 {
		wait = busyFor
	}
	if strings.EqualFold(o.Synchronous, "normal") {
		synchronous = "normal"
	}
	if o.NoMmap {
		mmap = 0
	}
	return []string{
		fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds()), "journal_mode(wal)", "synchronous(" + synchronous + ")",
		"foreign_keys(on)", "temp_store(memory)", fmt.Sprintf("mmap_size(%d)", mmap), "cache_size(-16384)",
	}
}

// readerPool hands out the read connections, one transaction at a time each.
type readerPool struct{ idle chan *lite }

func newReaderPool(path string, o Options, n int) (*readerPool, error) {
	p := &readerPool{idle: make(chan *lite, n)}
	for range n {
		// Most of what they read is mapped, and not in their cache.
		l, err := openLite(path, append(pragmas(o), "query_only(1)", "cache_size(-4096)"))
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

// take waits for a connection.
func (p *readerPool) take(ctx context.Context) (*lite, error) {
	select {
	case l := <-p.idle:
		return l, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *readerPool) give(l *lite) {
	l.settle()
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
	defer l.until(ctx)() // before the transaction ends
	err = fn(&Tx{db: db, lite: l, now: db.Now(), readOnly: true, drops: db.keys.drops.Load()})
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
	return fn(&Tx{db: db, lite: l, now: db.Now(), readOnly: true, drops: db.keys.drops.Load()})
}

func (p *readerPool) close() {
	for range cap(p.idle) {
		_ = (<-p.idle).close()
	}
}
