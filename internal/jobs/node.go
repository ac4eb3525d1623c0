package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/store"
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

// Node is this process's membership. Its id marks the rows that it works on.
//
// On SQLite there is one process, so joining frees what an earlier one had
// claimed, and nothing needs renewing.
type Node struct {
	db    *store.DB
	log   *slog.Logger
	lease time.Duration
	stop  context.CancelFunc
	done  chan struct{}

	mu     sync.Mutex
	id     uuid.UUID
	others others
	lost   chan struct{} // closed when the id is no longer ours
	lapsed chan struct{} // closed when another node is gone
}

// others are the nodes that are alive beside this one, with the ends of their
// leases.
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
		if tx.Engine() == store.SQLite {
			if _, err := tx.Exec(ctx, `DELETE FROM nodes`); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, `INSERT INTO nodes (id, until, started_at) VALUES ($1, $2, $3)`, id, n.until(tx), store.Micros(tx.Now())); err != nil {
			return err
		}
		alive, err = readOthers(ctx, tx, id)
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

// until is when the lease ends if nothing more is heard.
func (n *Node) until(tx *store.Tx) int64 {
	if tx.Engine() == store.SQLite {
		return store.Micros(tx.Now().AddDate(1000, 0, 0))
	}
	return store.Micros(tx.Now().Add(n.lease))
}

func (n *Node) keep(ctx context.Context) {
	defer close(n.done)
	if n.db.Engine() == store.SQLite {
		<-ctx.Done()
		return
	}
	for wait := n.wait(); ; {
		select {
		case <-ctx.Done():
			return
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

// renew extends the lease, looks who else is alive and removes those that are
// long gone. A lease that has lapsed is not revived: others may have acted on it.
func (n *Node) renew(ctx context.Context) error {
	var kept int64
	var alive others
	err := n.db.Write(ctx, func(tx *store.Tx) (err error) {
		kept, err = tx.Exec(ctx, `UPDATE nodes SET until = $1 WHERE id = $2 AND until > $3`, n.until(tx), n.ID(), store.Micros(tx.Now()))
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM nodes WHERE until < $1`, store.Micros(tx.Now().Add(-time.Hour))); err != nil {
			return err
		}
		alive, err = readOthers(ctx, tx, n.ID())
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

func readOthers(ctx context.Context, tx *store.Tx, own uuid.UUID) (others, error) {
	rows, err := tx.Query(ctx, `SELECT id, until FROM nodes WHERE until > $1 AND id <> $2`, store.Micros(tx.Now()), own)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	alive := others{}
	for rows.Next() {
		var id uuid.UUID
		var until time.Time
		if err := rows.Scan(&id, store.ScanTime(&until)); err != nil {
			return nil, err
		}
		alive[id] = until
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
// claim: nobody holds the row, or who holds it is no longer alive. now is the
// parameter that holds the present moment.
func Free(column, now string) string {
	return `(` + column + ` IS NULL OR NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = ` + column + ` AND nodes.until > ` + now + `))`
}

// Start is here so that a Node can stand in a list of workers; Join has
// started it.
func (n *Node) Start(context.Context) {}

// Stop is Leave.
func (n *Node) Stop(ctx context.Context) error { return n.Leave(ctx) }
