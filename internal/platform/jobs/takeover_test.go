package jobs_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// shortLease stands for DefaultLease, and noticing for what DefaultLease leaves
// of TakeOver.
const (
	shortLease = 2 * time.Second
	noticing   = time.Second
)

// stuck is a kind whose first attempt never ends by itself. began is closed when
// it is under way.
func stuck(name string) (k jobs.Kind[nothing], began chan struct{}) {
	began = make(chan struct{})
	var runs atomic.Int32
	return kind(name, func(ctx context.Context, _ *jobs.Run) error {
		if runs.Add(1) == 1 {
			close(began)
			<-ctx.Done()
		}
		return context.Cause(ctx)
	}), began
}

// The jobs of a node that is not heard of any more run elsewhere as soon as its
// lease is over, and not before. On SQLite the next process takes them at once.
func TestAKilledNodeDelaysNoLongerThanItsLease(t *testing.T) {
	if jobs.TakeOver != 15*time.Second || jobs.DefaultLease+noticing > jobs.TakeOver {
		t.Errorf("a lease of %v and a promise of %v", jobs.DefaultLease, jobs.TakeOver)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		k, began := stuck("test.killed")
		id := enqueue(t, db, k, jobs.Options{})
		first := startLeased(t, db, shortLease, k)
		becomes(t, db, uuid.Nil, id, jobs.Running)
		<-began // a job is marked as running a moment before
		least, most := time.Duration(0), noticing
		if db.Engine() == store.Postgres {
			startLeased(t, db, shortLease, k) // is there before, and sees it die
			time.Sleep(shortLease / 2)        // a renewal or two
			least, most = shortLease/2, shortLease+noticing
		}
		first.membership.Freeze()
		killed := time.Now()
		startLeased(t, db, shortLease, k) // comes after, and finds it dying
		j := becomes(t, db, uuid.Nil, id, jobs.Succeeded)
		if took := time.Since(killed); took < least || took > most || j.Attempts != 2 {
			t.Errorf("took %v and %d attempts, want between %v and %v", took, j.Attempts, least, most)
		}
	})
}

// A node that leaves without giving its jobs back is noticed when the others
// next renew their leases.
func TestANodeThatLeavesIsNoticed(t *testing.T) {
	db := storetest.Postgres(t)
	other, err := jobs.Join(system, db, shortLease, nil)
	if err != nil {
		t.Fatal(err)
	}
	stays, err := jobs.Join(system, db, shortLease, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stays.Leave(system); err != nil {
			t.Error(err)
		}
	}()
	if n := stays.Peers(); n != 2 {
		t.Errorf("%d nodes", n)
	}
	lapsed := stays.Lapsed()
	if err := other.Leave(system); err != nil {
		t.Fatal(err)
	}
	select {
	case <-lapsed:
	case <-time.After(shortLease/2 + noticing):
		t.Error("not noticed")
	}
	if n := stays.Peers(); n != 1 {
		t.Errorf("%d nodes", n)
	}
}

// A node that cannot renew its lease for most of it, because it stands still or
// the database does, keeps it, and its jobs run once.
func TestABusyNodeKeepsItsLease(t *testing.T) {
	const lease = 4 * time.Second
	db := storetest.Postgres(t)
	busy, err := jobs.Join(system, db, lease, nil)
	if err != nil {
		t.Fatal(err)
	}
	looks, err := jobs.Join(system, db, lease, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, n := range []*jobs.Node{busy, looks} {
			if err := n.Leave(system); err != nil {
				t.Error(err)
			}
		}
	}()
	lost, lapsed := busy.Lost(), looks.Lapsed()
	err = db.Write(system, func(tx *store.Tx) error { // what renews waits for this
		if _, err := tx.Exec(system, `UPDATE nodes SET started_at = started_at WHERE id = $1`, busy.ID()); err != nil {
			return err
		}
		time.Sleep(lease * 6 / 10)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(lease * 6 / 10)
	select {
	case <-lost:
		t.Error("the node lost its lease")
	case <-lapsed:
		t.Error("another took the node for dead")
	default:
	}
}
