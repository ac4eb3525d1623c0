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

// mostInGroup bounds how many transactions one commit carries, and so how
// long the first of them waits for the last.
const mostInGroup = 256

// groupWriter is SQLite's one writer. It never waits to fill a group: it takes
// what is already there, so a lone transaction commits at once and a crowd
// shares one fsync.
type groupWriter struct {
	db    *DB
	lite  *lite
	queue chan *write
	done  chan struct{}

	told time.Time // when lockHeld was last called

	mu     sync.RWMutex // held for reading while sending on queue
	closed bool
}

type write struct {
	ctx    context.Context
	fn     func(tx *Tx) error
	tx     *Tx
	err    error
	caught *panicked
	done   chan struct{}
}

// panicked carries a panic of fn to the goroutine that called Write.
type panicked struct {
	value any
	stack []byte
}

func newGroupWriter(db *DB, l *lite) *groupWriter {
	g := &groupWriter{db: db, lite: l, queue: make(chan *write, 4*mostInGroup), done: make(chan struct{})}
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
	if w.caught != nil {
		panic(fmt.Sprintf("store: in a transaction: %v\n%s", w.caught.value, w.caught.stack))
	}
	return w.err
}

func (g *groupWriter) run() {
	defer close(g.done)
	group := make([]*write, 0, mostInGroup)
	for w := range g.queue {
		group = append(group[:0], w)
		for len(group) < mostInGroup {
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

// commit runs the group in one transaction and answers every member. When the
// transaction itself fails, so does each of them.
func (g *groupWriter) commit(group []*write) {
	start := time.Now()
	err := g.transact(group)
	if err != nil {
		_ = g.exec("ROLLBACK") // may have happened already
	}
	g.db.observe(time.Since(start), len(group))
	for _, w := range group {
		switch {
		case err != nil && w.caught == nil:
			w.err = err
		case w.err == nil && w.caught == nil:
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
		return g.lone(group[0])
	}
	for _, w := range group {
		if w.err = w.ctx.Err(); w.err != nil {
			continue
		}
		if err := g.exec("SAVEPOINT one"); err != nil {
			return fmt.Errorf("store: in a group of transactions: %w", err)
		}
		if !g.call(w) {
			if err := g.exec("ROLLBACK TO one"); err != nil { // a full disk ends the whole transaction
				return fmt.Errorf("store: in a group of transactions: %w", errors.Join(w.err, err))
			}
		}
		if err := g.exec("RELEASE one"); err != nil {
			return fmt.Errorf("store: in a group of transactions: %w", err)
		}
	}
	return committing(g.exec("COMMIT"))
}

// lone is a group of one, without a savepoint, for which SQLite copies each page
// before it changes: there is nobody whose part would have to stay.
func (g *groupWriter) lone(w *write) error {
	if w.err = w.ctx.Err(); w.err == nil && g.call(w) {
		return committing(g.exec("COMMIT"))
	}
	if err := g.exec("ROLLBACK"); err != nil {
		return fmt.Errorf("store: in a transaction: %w", errors.Join(w.err, err))
	}
	return nil
}

// A wait for the write lock is told of when it is longer than longWait, and not
// twice within tellEvery.
const (
	longWait  = time.Second
	tellEvery = time.Minute
)

// begin takes the write lock. Within the process nobody else wants it: a wait is
// for another process.
func (g *groupWriter) begin() error {
	began := time.Now()
	err := g.exec("BEGIN IMMEDIATE")
	ended := time.Now()
	if waited := ended.Sub(began); waited > longWait && g.db.lockHeld != nil && ended.Sub(g.told) >= tellEvery {
		g.told = ended
		g.db.lockHeld(waited)
	}
	return err
}

// committing is the error of a COMMIT. One for which there is no room wrote no
// whole frame that ends the transaction, so that nothing was done. After any other
// trouble, such as that of syncing, that frame may be in the log: nobody reads it
// now, and the next transaction is written in its place, but a crash before that
// brings the transaction back.
func committing(err error) error {
	if err == nil {
		return nil
	}
	if code := sqlite.ErrCode(err).ToPrimary(); code == sqlite.ResultFull || code == sqlite.ResultBusy {
		return fmt.Errorf("store: committing, which did nothing: %w", err)
	}
	return fmt.Errorf("%w: %w", errCommitting, err)
}

// call runs one member, and tells whether it is to be kept; its panic fails that
// member alone.
func (g *groupWriter) call(w *write) bool {
	w.tx = &Tx{db: g.db, lite: g.lite, now: g.db.Now(), drops: g.db.keys.drops.Load()}
	func() {
		defer func() {
			if v := recover(); v != nil {
				w.caught = &panicked{v, debug.Stack()}
			}
		}()
		w.err = w.fn(w.tx)
	}()
	g.lite.settle()
	return w.err == nil && w.caught == nil
}

func (g *groupWriter) exec(text string) error {
	_, err := g.lite.exec(text, nil)
	return err
}

// close lets what is queued commit and ends the writer.
func (g *groupWriter) close() error {
	g.mu.Lock()
	g.closed = true
	close(g.queue)
	g.mu.Unlock()
	<-g.done
	return g.lite.close()
}
