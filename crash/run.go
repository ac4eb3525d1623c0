package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hale/internal/harness/proc"
	"hale/internal/harness/sink"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
)

// trial is the run on one engine: an installation, its callers, its receiver, and the
// acknowledged writes.
type trial struct {
	options  proc.Options
	out      io.Writer
	servers  []*proc.Server // nodes; several on PostgreSQL
	sink     *sink.Sink
	endpoint string // the sink's id as a webhook endpoint
	oracle   *oracle
	call     *caller
	feed     *feed
	lab      *lab
	clinic   *clinic
	dir      string
	export   []byte            // the file that importers upload
	finished map[string]bool   // imports that have ended
	intact   map[int64]float64 // the heart rates that the export stores on a server without kills
	stopping chan struct{}     // closed when writers must end after their current request

	kills      int
	recoveries []time.Duration // from exec to ready, after each kill
}

func newTrial(o proc.Options, s settings, dir string, out io.Writer) (_ *trial, err error) {
	t := &trial{
		options: o, out: out, feed: newFeed(), dir: dir,
		finished: map[string]bool{}, stopping: make(chan struct{}),
	}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	var addresses []string
	if t.lab, err = openLab(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for range s.nodesOf(o) {
		node := o
		if err := t.lab.join(&node, dir); err != nil {
			return nil, err
		}
		server, err := proc.New(node) // makes the folder
		if err != nil {
			return nil, err
		}
		t.servers = append(t.servers, server)
		addresses = append(addresses, server.Address())
	}
	if t.sink, err = sink.Listen(s.faults); err != nil {
		return nil, err
	}
	if t.oracle, err = newOracle(filepath.Join(dir, "oracle.jsonl")); err != nil {
		return nil, err
	}
	t.call = newCaller(addresses, t.oracle)
	t.clinic = newClinic(t.call, t.feed)
	var export bytes.Buffer
	_, err = applehealthtest.WriteZip(&export, applehealthtest.Options{Days: 2})
	t.export = export.Bytes()
	return t, err
}

// close stops everything that still runs. The run is over and its verdict is final, so
// failures here do not matter.
func (t *trial) close() {
	for _, server := range t.servers {
		_ = server.Close()
	}
	if t.sink != nil {
		_ = t.sink.Close()
	}
	if t.oracle != nil {
		_ = t.oracle.file.Close()
	}
}

// prepare starts the nodes for the first time and sets up the webhook endpoint, the lab
// and the clinic.
func (t *trial) prepare(ctx context.Context) error {
	for _, server := range t.servers {
		if _, err := server.Start(ctx); err != nil {
			return err
		}
	}
	secret, err := t.addEndpoint(ctx)
	if err != nil {
		return err
	}
	if err := t.sink.SetSecret(secret); err != nil {
		return err
	}
	if err := t.lab.administer(ctx, t, t.dir); err != nil {
		return err
	}
	if err := t.clinic.prepare(ctx); err != nil {
		return err
	}
	t.intact, err = t.undisturbed(ctx)
	return err
}

// run runs the whole trial: it prepares the nodes, kills them in cycles and verifies the
// result. It calls prepared when the nodes are ready.
func (t *trial) run(ctx context.Context, cycles int, prepared func()) (*verdict, error) {
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	prepared()
	if err := t.cycles(ctx, cycles); err != nil {
		return nil, err
	}
	return t.verify(ctx)
}

// cycles lets the writers work while nodes are killed n times.
func (t *trial) cycles(ctx context.Context, n int) error {
	failed := make(chan error, 1)
	go func() { failed <- t.writers(ctx) }()
	for cycle := range n {
		if err := t.killOnce(ctx, failed); err != nil {
			return fmt.Errorf("cycle %d: %w", cycle+1, err)
		}
		if (cycle+1)%20 == 0 {
			fmt.Fprintf(t.out, "  %4d kills, %7d acknowledged, %7d events\n", cycle+1, t.oracle.snapshot().acks, t.feed.last)
		}
	}
	close(t.stopping)
	return <-failed
}

// killOnce lets the nodes work for a moment, kills one of them, starts it again and
// checks some of the acknowledged data.
func (t *trial) killOnce(ctx context.Context, failed <-chan error) error {
	select {
	case <-time.After(time.Duration(50+rand.IntN(700)) * time.Millisecond):
	case err := <-failed:
		return errors.Join(errors.New("a writer gave up"), err)
	case <-ctx.Done():
		return ctx.Err()
	}
	before := t.oracle.snapshot()
	victim := t.servers[rand.IntN(len(t.servers))]
	victim.Kill()
	t.kills++
	took, err := victim.Start(ctx)
	if err != nil {
		return err
	}
	t.recoveries = append(t.recoveries, took)
	if err := errors.Join(t.feed.read(ctx, t.call), t.lab.feed.read(ctx, t.lab.call)); err != nil {
		return err
	}
	if err := t.clinic.repeatSome(ctx); err != nil {
		return err
	}
	return t.spotCheck(ctx, before)
}

// spotCheck looks for a few of the users that were acknowledged before a kill.
// All of them are looked for at the end.
func (t *trial) spotCheck(ctx context.Context, known *oracle) error {
	looked := 0
	for id, clientID := range known.users {
		if err := t.checkUser(ctx, id, clientID); err != nil {
			return err
		}
		if looked++; looked == 5 {
			break
		}
	}
	return nil
}

func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
