package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// DefaultLease is how long a node's claims hold after it was last heard of. The
// others look for what it left at the moment the lease ends, and take it over
// within [TakeOver] of a kill.
const DefaultLease = TakeOver - 2*time.Second

// TakeOver is the longest delay that a killed node causes, while the nodes that
// are left have room for its work.
const TakeOver = 15 * time.Second

// renewals is how often in a lease it is renewed: a node may be deaf for four
// fifths of its lease and keeps it.
const renewals = 5

// Node is this process's membership. Its id marks the rows that it works on, and
// holds them for as long as the table of nodes has its row. Each node renews its
// own row, and removes those of others whose lease has ended. Leases are written
// and judged by the clock of the database alone: those of the nodes may differ.
//
// On SQLite there is one process, so joining frees what an earlier one had
// claimed, and nothing needs renewing.
type Node struct {
	db    *store.DB
	log   *slog.Logger
	lease time.Duration
	stop  context.CancelFunc
	done  chan struct{}

	skewed bool // the clocks differed when they were last compared; of keep alone

	mu     sync.Mutex
	id     uuid.UUID
	others others
	lost   chan struct{} // closed when the id is no longer ours
	lapsed chan struct{} // closed when another node is gone
}

// others are the nodes that are alive beside this one, with the ends of their
// leases by this node's clock.
type others map[uuid.UUID]time.Time

// Join makes this process a node and keeps its lease until Leave. A lease of 0
// means DefaultLease.
func Join(ctx context.Context, db *store.DB, lease time.Duration, log *slog.Logger) (*Node, error) {
	if lease == 0 {
		lease = DefaultLease
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	ctx = store.AsSystem(context.WithoutCancel(ctx))
	n := &Node{db: db, log: log, lease: lease, done: make(chan struct{}), lapsed: make(chan struct{})}
	if err := n.register(ctx); err != nil {
		return nil, err
	}
	n.compareClocks(ctx)
	ctx, n.stop = context.WithCancel(ctx)
	go n.keep(ctx)
	return n, nil
}

// ID is what to write into claimed rows.
func (n *Node) ID() uuid.UUID {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.id
}

// Peers is the number of nodes that are alive, this one included.
func (n *Node) Peers() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return 1 + len(n.others)
}

// Lost is closed when the present id has lapsed: others may take what it had
// claimed. The node goes on under a new id.
func (n *Node) Lost() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lost
}

// over is closed when an id that this node has or had is no longer ours.
func (n *Node) over(id uuid.UUID) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.id == id {
		return n.lost
	}
	return closed
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Lapsed is closed once another node has left, or its lease has ended: what it
// had claimed is free. The next to go closes the channel of a later call, so
// call again before looking for what is free.
func (n *Node) Lapsed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lapsed
}

// Leave gives every claim back at once.
func (n *Node) Leave(ctx context.Context) error {
	n.stop()
	<-n.done
	ctx = store.AsSystem(ctx)
	err := n.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM nodes WHERE id = $1`, n.ID())
		return err
	})
	if err != nil {
		return fmt.Errorf("jobs: leaving: %w", err)
	}
	return nil
}

func (n *Node) register(ctx context.Context) error {
	var id uuid.UUID
	var alive others
	err := n.db.Write(ctx, func(tx *store.Tx) (err error) {
		id = tx.NewUUID()
		lease := n.lease
		if tx.Engine() == store.SQLite {
			lease = forever
			if _, err := tx.Exec(ctx, `DELETE FROM nodes`); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `INSERT INTO nodes (id, until, started_at) VALUES ($1, `+tx.Clock()+` + $2, $3)`,
			id, lease.Microseconds(), store.Micros(tx.Now()))
		if err != nil {
			return err
		}
		alive, err = n.bury(ctx, tx, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("jobs: joining: %w", err)
	}
	n.noteOthers(alive)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost != nil {
		close(n.lost)
	}
	n.id, n.lost = id, make(chan struct{})
	return nil
}

// forever is the lease of a process that is alone.
const forever = 200 * 365 * 24 * time.Hour

func (n *Node) keep(ctx context.Context) {
	defer close(n.done)
	if n.db.Engine() == store.SQLite {
		<-ctx.Done()
		return
	}
	clocks := time.NewTicker(compareEvery)
	defer clocks.Stop()
	for wait := n.wait(); ; {
		select {
		case <-ctx.Done():
			return
		case <-clocks.C:
			n.compareClocks(ctx)
		case <-time.After(wait):
		}
		err := n.renew(ctx)
		if wait = n.wait(); err == nil || ctx.Err() != nil {
			continue
		}
		n.log.ErrorContext(ctx, "renewing the node's lease", "error", err)
		wait = n.lease / renewals
	}
}

// wait is the time until the lease is to be renewed, or until that of a node
// that has not been heard of ends, whichever is first.
func (n *Node) wait() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	wait := n.lease / renewals
	for _, until := range n.others {
		wait = min(wait, until.Sub(n.db.Now()))
	}
	return max(wait, time.Millisecond)
}

// renew extends the lease, and looks who else is alive. Nobody has acted on a
// lease whose row is there, even when it had ended; what is gone is not revived.
func (n *Node) renew(ctx context.Context) error {
	var kept int64
	var alive others
	err := n.db.Write(ctx, func(tx *store.Tx) (err error) {
		// Others pass over a row that is being renewed. Should this process stop dead
		// here, PostgreSQL lets go of the row long before its lease ends.
		if _, err := tx.Exec(ctx, fmt.Sprintf(`SET LOCAL idle_in_transaction_session_timeout = %d`, (n.lease/2).Milliseconds())); err != nil {
			return err
		}
		kept, err = tx.Exec(ctx, `UPDATE nodes SET until = `+tx.Clock()+` + $1 WHERE id = $2`, n.lease.Microseconds(), n.ID())
		if err != nil {
			return err
		}
		alive, err = n.bury(ctx, tx, n.ID())
		return err
	})
	if err != nil {
		return err
	}
	n.noteOthers(alive)
	if kept == 0 {
		n.log.WarnContext(ctx, "the node's lease had lapsed; joining again")
		return n.register(ctx)
	}
	return nil
}

// bury removes the nodes whose lease has ended, but for one that is being
// renewed, and returns those that are left beside the own one.
func (n *Node) bury(ctx context.Context, tx *store.Tx, own uuid.UUID) (others, error) {
	_, err := tx.Exec(ctx, `DELETE FROM nodes WHERE id IN (
		SELECT id FROM nodes WHERE until <= `+tx.Clock()+` AND id <> $1`+tx.ForUpdateSkipLocked()+`)`, own)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `SELECT id, until - `+tx.Clock()+` FROM nodes WHERE id <> $1`, own)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	alive := others{}
	for rows.Next() {
		var id uuid.UUID
		var left int64 // microseconds
		if err := rows.Scan(&id, &left); err != nil {
			return nil, err
		}
		remains := time.Duration(left) * time.Microsecond
		if remains <= 0 { // it is being renewed
			remains = n.lease / renewals
		}
		alive[id] = n.db.Now().Add(remains)
	}
	return alive, rows.Err()
}

// noteOthers keeps who is alive, and says so if somebody no longer is.
func (n *Node) noteOthers(alive others) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.others {
		if _, still := alive[id]; !still {
			close(n.lapsed)
			n.lapsed = make(chan struct{})
			break
		}
	}
	n.others = alive
}

// Free is the SQL condition under which the node column of a row allows a
// claim: nobody holds the row, or who held it is a node no more.
func Free(column string) string {
	return `(` + column + ` IS NULL OR NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = ` + column + `))`
}

// Start is here so that a Node can stand in a list of workers; Join has
// started it.
func (n *Node) Start(context.Context) {}

// Stop is Leave.
func (n *Node) Stop(ctx context.Context) error { return n.Leave(ctx) }
