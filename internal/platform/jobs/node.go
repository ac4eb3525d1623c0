package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// DefaultLease is the length of a node's lease. When it ends without a renewal, the
// other nodes take over the node's jobs, within [TakeOver] of a kill.
const DefaultLease = TakeOver - 2*time.Second

// TakeOver is the longest delay that a killed node causes, if the remaining nodes have
// capacity for its work.
const TakeOver = 15 * time.Second

// renewalsPerLease is the number of renewals in the time of a lease. A node that stalls
// for four fifths of its lease keeps it.
const renewalsPerLease = 5

// Node is the membership of this process. Its id marks the rows that it has claimed,
// for as long as its row is in the table nodes. Each node renews its own row and removes
// the rows of other nodes whose lease has ended. Only the clock of the database is used
// for leases, because the clocks of the nodes may differ.
//
// On SQLite there is one process. Joining frees the claims of an earlier process, and
// there are no renewals.
type Node struct {
	db    *store.DB
	log   *slog.Logger
	lease time.Duration
	stop  context.CancelFunc
	done  chan struct{}

	skewed bool // the clocks differed at the last check; only renewLoop uses it
	skew   atomic.Int64

	mu     sync.Mutex
	id     uuid.UUID
	peers  peerLeases
	lost   chan struct{} // closed when the id has expired
	lapsed chan struct{} // closed when another node has left or expired
}

// peerLeases contains the other living nodes, with the ends of their leases by this
// node's clock.
type peerLeases map[uuid.UUID]time.Time

// Join registers this process as a node and renews its lease until Leave. A lease of 0
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
	go n.renewLoop(ctx)
	return n, nil
}

// ID returns the id for claimed rows.
func (n *Node) ID() uuid.UUID {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.id
}

// Peers returns the number of living nodes, including this one.
func (n *Node) Peers() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return 1 + len(n.peers)
}

// Lost returns a channel that is closed when the current id expires. Other nodes may
// then claim its jobs. The node continues with a new id.
func (n *Node) Lost() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lost
}

// lostFor returns a channel that is closed when an id of this node has expired.
func (n *Node) lostFor(id uuid.UUID) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.id == id {
		return n.lost
	}
	return closedChannel
}

var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Lapsed returns a channel that is closed when another node leaves or its lease ends,
// which frees its claims. Call it again before looking for free rows, because the next
// such node closes a new channel.
func (n *Node) Lapsed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lapsed
}

// Leave removes the node, which frees its claims at once.
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
	var alive peerLeases
	err := n.db.Write(ctx, func(tx *store.Tx) (err error) {
		id = tx.NewUUID()
		lease := n.lease
		if tx.Engine() == store.SQLite {
			lease = noExpiry
			if _, err := tx.Exec(ctx, `DELETE FROM nodes`); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `INSERT INTO nodes (id, until, started_at, root_keys) VALUES ($1, `+tx.Clock()+` + $2, $3, $4)`,
			id, lease.Microseconds(), store.Micros(tx.Now()), n.db.RootKeys())
		if err != nil {
			return err
		}
		alive, err = n.removeExpired(ctx, tx, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("jobs: joining: %w", err)
	}
	n.setPeers(alive)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost != nil {
		close(n.lost)
	}
	n.id, n.lost = id, make(chan struct{})
	return nil
}

// noExpiry is the lease on SQLite, where there is one process.
const noExpiry = 200 * 365 * 24 * time.Hour

func (n *Node) renewLoop(ctx context.Context) {
	defer close(n.done)
	if n.db.Engine() == store.SQLite {
		<-ctx.Done()
		return
	}
	clocks := time.NewTicker(clockCheckEvery)
	defer clocks.Stop()
	for wait := n.untilRenewal(); ; {
		select {
		case <-ctx.Done():
			return
		case <-clocks.C:
			n.compareClocks(ctx)
		case <-time.After(wait):
		}
		err := n.renew(ctx)
		if wait = n.untilRenewal(); err == nil || ctx.Err() != nil {
			continue
		}
		n.log.ErrorContext(ctx, "the node's lease cannot be renewed", "error", err)
		wait = n.lease / renewalsPerLease
	}
}

// untilRenewal returns the time until the next renewal, or until the lease of another
// node ends, whichever is first.
func (n *Node) untilRenewal() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	wait := n.lease / renewalsPerLease
	for _, until := range n.peers {
		wait = min(wait, until.Sub(n.db.Now()))
	}
	return max(wait, time.Millisecond)
}

// renew extends the lease and reads the other nodes. A lease whose row still exists can
// be extended even after its end, because no node has acted on it. After its row was
// removed, the node registers with a new id.
func (n *Node) renew(ctx context.Context) error {
	var kept int64
	var alive peerLeases
	err := n.db.Write(ctx, func(tx *store.Tx) (err error) {
		// Other nodes skip a row that is being renewed. If this process hangs here,
		// PostgreSQL releases the row long before the lease ends.
		if _, err := tx.Exec(ctx, fmt.Sprintf(`SET LOCAL idle_in_transaction_session_timeout = %d`, (n.lease/2).Milliseconds())); err != nil {
			return err
		}
		kept, err = tx.Exec(ctx, `UPDATE nodes SET until = `+tx.Clock()+` + $1 WHERE id = $2`, n.lease.Microseconds(), n.ID())
		if err != nil {
			return err
		}
		alive, err = n.removeExpired(ctx, tx, n.ID())
		return err
	})
	if err != nil {
		return err
	}
	n.setPeers(alive)
	if kept == 0 {
		n.log.WarnContext(ctx, "the node's lease had lapsed; joining again")
		return n.register(ctx)
	}
	return nil
}

// removeExpired removes the nodes whose lease has ended, except nodes that are renewing
// it. It returns the remaining nodes without the own one.
func (n *Node) removeExpired(ctx context.Context, tx *store.Tx, own uuid.UUID) (peerLeases, error) {
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
	alive := peerLeases{}
	for rows.Next() {
		var id uuid.UUID
		var left int64 // microseconds
		if err := rows.Scan(&id, &left); err != nil {
			return nil, err
		}
		remains := time.Duration(left) * time.Microsecond
		if remains <= 0 { // the node is renewing it
			remains = n.lease / renewalsPerLease
		}
		alive[id] = n.db.Now().Add(remains)
	}
	return alive, rows.Err()
}

// setPeers stores the other living nodes, and closes lapsed if one of the earlier ones
// is missing.
func (n *Node) setPeers(alive peerLeases) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.peers {
		if _, still := alive[id]; !still {
			close(n.lapsed)
			n.lapsed = make(chan struct{})
			break
		}
	}
	n.peers = alive
}

// FreeCondition returns the SQL condition for a row that can be claimed. The node column
// of such a row is empty, or names a node that does not exist any more.
func FreeCondition(column string) string {
	return `(` + column + ` IS NULL OR NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = ` + column + `))`
}

// Stop removes the node like Leave.
func (n *Node) Stop(ctx context.Context) error { return n.Leave(ctx) }

// A node compares its clock with the clock of the database every clockCheckEvery.
const clockCheckEvery = time.Minute

// Skew returns how far the clock of the database was ahead of this node's at the last
// check.
func (n *Node) Skew() time.Duration { return time.Duration(n.skew.Load()) }

// compareClocks logs when the clocks of this node and the database start to differ, and
// when they agree again. Due times and displayed times depend on the node's clock.
// Leases do not.
func (n *Node) compareClocks(ctx context.Context) {
	skew, err := n.db.Skew(ctx)
	if err != nil {
		n.log.WarnContext(ctx, "the clocks of this machine and the database cannot be compared", "error", err)
		return
	}
	n.skew.Store(int64(skew))
	switch skewed := skew.Abs() > store.MaxSkew; {
	case skewed == n.skewed:
		return
	case skewed:
		n.log.WarnContext(ctx, "the clock of this machine differs from the database's: synchronize both with the same time server",
			"database_ahead_by", skew.Round(time.Millisecond).String())
	default:
		n.log.InfoContext(ctx, "the clocks of this machine and the database agree again")
	}
	n.skewed = !n.skewed
}

// RootKeys returns the identifiers of the root keys of each living node. The key that
// seals comes first. On SQLite the only node is the serving process, or the last one if
// it was killed.
func RootKeys(ctx context.Context, tx *store.Tx) (all [][]string, err error) {
	rows, err := tx.Query(ctx, `SELECT root_keys FROM nodes WHERE until > `+tx.Clock())
	if err != nil {
		return nil, fmt.Errorf("jobs: reading nodes: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var ids string
		if err := rows.Scan(&ids); err != nil {
			return nil, err
		}
		all = append(all, strings.Fields(ids))
	}
	return all, rows.Err()
}
