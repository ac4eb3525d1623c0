package jobs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"hale/internal/platform/jobs"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/store"
)

var system = store.AsSystem(context.Background())

type noArguments struct{}

// kind defines a kind without arguments.
func kind(name string, fn func(ctx context.Context, run *jobs.Run) error) jobs.Kind[noArguments] {
	return jobs.Define(name, func(ctx context.Context, run *jobs.Run, _ noArguments) error { return fn(ctx, run) })
}

// node is a runner with its own membership.
type node struct {
	*jobs.Runner
	membership *jobs.Node
	loop       *jobstest.Loop
}

func start(t testing.TB, db *store.DB, kinds ...jobs.Handler) *node {
	t.Helper()
	return startLeased(t, db, 0, kinds...)
}

func startLeased(t testing.TB, db *store.DB, lease time.Duration, kinds ...jobs.Handler) *node {
	t.Helper()
	membership, err := jobs.Join(system, db, lease, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{Runner: jobs.NewRunner(db, jobs.Config{Node: membership, Kinds: kinds}), membership: membership}
	n.loop = jobstest.NewLoop(n.Run)
	n.loop.Start(system)
	t.Cleanup(func() { n.stop(t) })
	return n
}

func (n *node) stop(t testing.TB) {
	if err := errors.Join(n.loop.Stop(system), n.membership.Stop(system)); err != nil {
		t.Error(err)
	}
}

func enqueue(t testing.TB, db *store.DB, k jobs.Kind[noArguments], o jobs.Options) (id jobs.ID) {
	t.Helper()
	err := db.Write(system, func(tx *store.Tx) (err error) {
		id, err = k.Enqueue(system, tx, noArguments{}, o)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func get(t testing.TB, db *store.DB, team uuid.UUID, id jobs.ID) (j jobs.Job) {
	t.Helper()
	err := db.Read(system, func(tx *store.Tx) (err error) {
		j, err = jobs.Get(system, tx, team, id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// waitForStatus waits until a job has a status.
func waitForStatus(t testing.TB, db *store.DB, team uuid.UUID, id jobs.ID, want jobs.Status) jobs.Job {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		j := get(t, db, team, id)
		if j.Status == want {
			return j
		}
		if time.Now().After(deadline) {
			t.Fatalf("the job is %s (%s), want %s", j.Status, j.Error, want)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
