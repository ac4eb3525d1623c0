package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
)

// maxGroup is the largest number of transactions in one commit. It limits how
// long the first transaction waits for the last.
const maxGroup = 256

// groupWriter is SQLite's only writer. It commits all waiting transactions
// together, with one fsync, and never waits for a group to fill: a single
// transaction commits at once.
type groupWriter struct {
	db    *DB
	conn  *conn
	queue chan *write
	done  chan struct{}

	lockWarnedAt time.Time // last call of lockHeld

	mu     sync.RWMutex // held for reading while sending on queue
	closed bool
}

type write struct {
	ctx      context.Context
	fn       func(tx *Tx) error
	tx       *Tx
	err      error
	panicked *panicValue
	done     chan struct{}
}

// panicValue carries a panic of fn to the goroutine that called Write.
type panicValue struct {
	value any
	stack []byte
}

func newGroupWriter(db *DB, l *conn) *groupWriter {
	g := &groupWriter{db: db, conn: l, queue: make(chan *write, 4*maxGroup), done: make(chan struct{})}
	go g.run()
	return g
}

func (g *groupWriter) write(ctx context.Context, fn func(tx *Tx) error) error {
	w := &write{ctx: ctx, fn: fn, done: make(chan struct{})}
	g.mu.RLock()
	if g.closed {
		g.mu.RUnlock()
		return ErrClosed
	}
	g.queue <- w
	g.mu.RUnlock()
	<-w.done
	if w.panicked != nil {
		panic(fmt.Sprintf("store: in a transaction: %v\n%s", w.panicked.value, w.panicked.stack))
	}
	return w.err
}

func (g *groupWriter) run() {
	defer close(g.done)
	group := make([]*write, 0, maxGroup)
	for w := range g.queue {
		group = append(group[:0], w)
		for len(group) < maxGroup {
			select {
			case next, ok := <-g.queue:
				if !ok {
					g.commit(group)
					return
				}
				group = append(group, next)
				continue
			default:
			}
			break
		}
		g.commit(group)
	}
}

// commit runs the group in one transaction and reports the result to every
// member. If the transaction fails, all members fail.
func (g *groupWriter) commit(group []*write) {
	start := time.Now()
	err := g.transact(group)
	if err != nil {
		_ = g.exec("ROLLBACK") // SQLite may have rolled back already
	}
	g.db.observe(time.Since(start), len(group))
	for _, w := range group {
		switch {
		case err != nil && w.panicked == nil:
			w.err = err
		case w.err == nil && w.panicked == nil:
			w.tx.committed()
		}
		close(w.done)
	}
}

func (g *groupWriter) transact(group []*write) error {
	if err := g.begin(); err != nil {
		return fmt.Errorf("store: beginning: %w", err)
	}
	if len(group) == 1 {
		return g.transactOne(group[0])
	}
	for _, w := range group {
		if w.err = w.ctx.Err(); w.err != nil {
			continue
		}
		if err := g.exec("SAVEPOINT one"); err != nil {
			return fmt.Errorf("store: in a group of transactions: %w", err)
		}
		if !g.call(w) {
			if err := g.exec("ROLLBACK TO one"); err != nil { // a full disk rolls back the whole transaction
				return fmt.Errorf("store: in a group of transactions: %w", errors.Join(w.err, err))
			}
		}
		if err := g.exec("RELEASE one"); err != nil {
			return fmt.Errorf("store: in a group of transactions: %w", err)
		}
	}
	return commitError(g.exec("COMMIT"))
}

// transactOne runs a group of one without a savepoint, because SQLite copies each
// page that changes under a savepoint.
func (g *groupWriter) transactOne(w *write) error {
	if w.err = w.ctx.Err(); w.err == nil && g.call(w) {
		return commitError(g.exec("COMMIT"))
	}
	if err := g.exec("ROLLBACK"); err != nil {
		return fmt.Errorf("store: in a transaction: %w", errors.Join(w.err, err))
	}
	return nil
}

// A wait for the write lock longer than longLockWait is reported, at most once per
// lockWarnEvery.
const (
	longLockWait  = time.Second
	lockWarnEvery = time.Minute
)

// begin acquires the write lock. This goroutine is the only writer of the process, so
// only another process can hold the lock.
func (g *groupWriter) begin() error {
	began := time.Now()
	err := g.exec("BEGIN IMMEDIATE")
	ended := time.Now()
	if waited := ended.Sub(began); waited > longLockWait && g.db.lockHeld != nil && ended.Sub(g.lockWarnedAt) >= lockWarnEvery {
		g.lockWarnedAt = ended
		g.db.lockHeld(waited)
	}
	return err
}

// commitError describes the error of a COMMIT.
//
// With a full disk or a busy lock, SQLite wrote no complete commit frame, so the
// transaction was not done. After any other error, such as a failed sync, the
// commit frame may be in the log. Readers ignore it and the next transaction
// overwrites it, but a crash before that brings the transaction back.
func commitError(err error) error {
	if err == nil {
		return nil
	}
	if code := sqlite.ErrCode(err).ToPrimary(); code == sqlite.ResultFull || code == sqlite.ResultBusy {
		return fmt.Errorf("store: committing changed nothing: %w", err)
	}
	return &OutcomeUnknown{fmt.Errorf("%w: %w", errCommitUnknown, err)}
}

// call runs one member and reports whether it succeeded. A panic fails only that
// member.
func (g *groupWriter) call(w *write) bool {
	w.tx = &Tx{db: g.db, conn: g.conn, now: g.db.Now(), drops: g.db.keys.drops.Load()}
	func() {
		defer func() {
			if v := recover(); v != nil {
				w.panicked = &panicValue{v, debug.Stack()}
			}
		}()
		w.err = w.fn(w.tx)
	}()
	g.conn.endStatements()
	return w.err == nil && w.panicked == nil
}

func (g *groupWriter) exec(text string) error {
	_, err := g.conn.exec(text, nil)
	return err
}

// close commits the queued transactions and stops the writer.
func (g *groupWriter) close() error {
	g.mu.Lock()
	g.closed = true
	close(g.queue)
	g.mu.Unlock()
	<-g.done
	return g.conn.close()
}
