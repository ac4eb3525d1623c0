package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A claim that was committed without an answer is released, and the attempt does not
// count.
func TestClaimWithUnansweredCommit(t *testing.T) {
	d := storetest.NewPostgres(t)
	cut := newCutter(t, &d)
	db := d.Open(t, nil)
	k := kind("test.unanswered", func(context.Context, *jobs.Run) error { return nil })
	start(t, db, k)
	id := enqueue(t, db, k, jobs.Options{At: time.Now().Add(time.Second)})
	cut.armed.Store(true)
	if j := waitForStatus(t, db, uuid.Nil, id, jobs.Succeeded); j.Attempts != 1 {
		t.Errorf("%d attempts", j.Attempts)
	}
	if n := cut.made.Load(); n != 1 {
		t.Errorf("%d commits were cut off", n)
	}
}

// The sweep finds a job that is marked as running on this node but does not run, even
// if the claim became visible late. Jobs that do run are unaffected.
func TestSweepFindsUnstartedJobs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int32
		stay := make(chan struct{})
		stays := kind("test.stays", func(context.Context, *jobs.Run) error {
			runs.Add(1)
			<-stay
			return nil
		})
		k := kind("test.unstarted", func(context.Context, *jobs.Run) error { return nil })
		n := start(t, db, k, stays)
		running := enqueue(t, db, stays, jobs.Options{})
		waitForStatus(t, db, uuid.Nil, running, jobs.Running)
		id := enqueue(t, db, k, jobs.Options{At: time.Now().Add(time.Hour)})
		err := db.Write(system, func(tx *store.Tx) error {
			_, err := tx.Exec(system, `UPDATE jobs SET status = 'running', node = $1, attempts = attempts + 1, started_at = $2 WHERE id = $3`,
				n.membership.ID(), tx.Now(), id)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if j := waitForStatus(t, db, uuid.Nil, id, jobs.Succeeded); j.Attempts != 1 {
			t.Errorf("%d attempts", j.Attempts)
		}
		close(stay)
		if j := waitForStatus(t, db, uuid.Nil, running, jobs.Succeeded); j.Attempts != 1 || runs.Load() != 1 {
			t.Errorf("the running job: %d attempts, %d runs", j.Attempts, runs.Load())
		}
	})
}

// cutter is a proxy for PostgreSQL. When armed, it lets the next claim of a job commit,
// but closes the connection instead of forwarding the answer.
type cutter struct {
	armed atomic.Bool
	made  atomic.Int32
}

// newCutter replaces the address of a database by a cutter's.
func newCutter(t *testing.T, d *storetest.Database) *cutter {
	t.Helper()
	address, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	const name = ".s.PGSQL.5432"
	query := address.Query()
	server := query.Get("host")
	if server == "" {
		t.Skip("PostgreSQL is not reached by a socket")
	}
	dir, err := os.MkdirTemp("", "cut") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	query.Set("host", dir)
	address.RawQuery = query.Encode()
	d.URL = address.String()
	listener, err := net.Listen("unix", filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	c := &cutter{}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("unix", filepath.Join(server, name))
			if err != nil {
				_ = from.Close()
				continue
			}
			go c.pass(from, to)
		}
	}()
	return c
}

// pass forwards both directions until one side closes, or until an answer must be
// dropped.
func (c *cutter) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	var deaf atomic.Bool
	go func() {
		defer from.Close()
		answer := make([]byte, 1<<16)
		for {
			n, err := to.Read(answer)
			if err != nil || deaf.Load() {
				return
			}
			if _, err := from.Write(answer[:n]); err != nil {
				return
			}
		}
	}()
	writes, claims := false, false
	text := make([]byte, 1<<16)
	for {
		n, err := from.Read(text)
		if err != nil {
			return
		}
		if bytes.Contains(text[:n], []byte("BEGIN")) {
			writes, claims = !bytes.Contains(text[:n], []byte("READ ONLY")), false
		}
		claims = claims || writes && bytes.Contains(text[:n], []byte("test.unanswered"))
		commit := bytes.Contains(text[:n], []byte("COMMIT"))
		if commit && claims && c.armed.CompareAndSwap(true, false) {
			c.made.Add(1)
			deaf.Store(true)
		}
		if _, err := to.Write(text[:n]); err != nil {
			return
		}
	}
}

// A runner that begins while the database is away waits for it.
func TestRunnerBeginsWithoutItsDatabase(t *testing.T) {
	proxy, d := storetest.NewProxy(t, storetest.NewPostgres(t))
	db := d.Open(t, nil)
	done := make(chan struct{})
	var once sync.Once
	k := kind("test.begins", func(context.Context, *jobs.Run) error {
		once.Do(func() { close(done) })
		return nil
	})
	membership, err := jobs.Join(system, db, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	proxy.RefuseWith("57P03", "the database system is starting up")
	n := &node{Runner: jobs.NewRunner(db, jobs.Config{Node: membership, Kinds: []jobs.Handler{k.Every(time.Hour)}}), membership: membership}
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(system)
	go func() { ended <- n.Run(ctx) }()
	select {
	case err := <-ended:
		t.Fatalf("the runner ended: %v", err)
	case <-time.After(1500 * time.Millisecond):
	}
	proxy.Accept()
	select {
	case <-done:
	case err := <-ended:
		t.Fatalf("the runner ended: %v", err)
	case <-time.After(90 * time.Second):
		t.Error("the regular job did not run")
	}
	stop()
	if err := errors.Join(<-ended, membership.Stop(system)); err != nil {
		t.Error(err)
	}
}
