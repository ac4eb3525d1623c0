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

// DefaultLease is how long a node's claims hold after it was last heard of,
// and so the longest delay that a killed node causes.
const DefaultLease = 15 * time.Second

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

	mu    sync.Mutex
	id    uuid.UUID
	peers int
	lost  chan struct{} // closed when the id is no longer ours
}

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
	n := &Node{db: db, log: log, lease: lease, done: make(chan struct{}), peers: 1}
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
	return n.peers
}

// Lost is closed when the present id has lapsed: others may take what it had
// claimed. The node goes on under a new id.
func (n *Node) Lost() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lost
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
	err := n.db.Write(ctx, func(tx *store.Tx) error {
		id = tx.NewUUID()
		if tx.Engine() == store.SQLite {
			if _, err := tx.Exec(ctx, `DELETE FROM nodes`); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `INSERT INTO nodes (id, until, started_at) VALUES ($1, $2, $3)`, id, n.until(tx), store.Micros(tx.Now()))
		return err
	})
	if err != nil {
		return fmt.Errorf("jobs: joining: %w", err)
	}
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
	tick := time.NewTicker(n.lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := n.renew(ctx); err != nil && ctx.Err() == nil {
			n.log.ErrorContext(ctx, "renewing the node's lease", "error", err)
		}
	}
}

// renew extends the lease, counts the others and removes those that are long
// gone. A lease that has lapsed is not revived: others may have acted on it.
func (n *Node) renew(ctx context.Context) error {
	var kept int64
	var peers int
	err := n.db.Write(ctx, func(tx *store.Tx) (err error) {
		now := store.Micros(tx.Now())
		kept, err = tx.Exec(ctx, `UPDATE nodes SET until = $1 WHERE id = $2 AND until > $3`, n.until(tx), n.ID(), now)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM nodes WHERE until < $1`, store.Micros(tx.Now().Add(-time.Hour))); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT COUNT(*) FROM nodes WHERE until > $1`, now).Scan(&peers)
	})
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.peers = max(peers, 1)
	n.mu.Unlock()
	if kept == 0 {
		n.log.WarnContext(ctx, "the node's lease had lapsed; joining again")
		return n.register(ctx)
	}
	return nil
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
