package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"hale/internal/harness/proc"
	"hale/internal/harness/sink"
	"hale/internal/providers/applehealth/applehealthtest"
)

// trial is one engine's run: an installation, its callers, its receiver, and
// what was promised to them.
type trial struct {
	options  proc.Options
	out      io.Writer
	server   *proc.Server
	sink     *sink.Sink
	oracle   *oracle
	call     *caller
	feed     *feed
	export   []byte            // the file that importers upload
	finished map[string]bool   // imports that were seen to be done
	intact   map[int64]float64 // the heart rates that the export leaves on a server that nobody kills
	stopping chan struct{}     // closed when writers are to end after what they are at

	kills      int
	recoveries []time.Duration // from exec to ready, after each kill
}

func newTrial(o proc.Options, dir string, out io.Writer) (*trial, error) {
	server, err := proc.New(o) // makes the folder
	if err != nil {
		return nil, err
	}
	receiver, err := sink.Listen(sink.Faults{Unavailable: .10, Reset: .01, Hang: .002, HangFor: 20 * time.Second})
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	oracle, err := newOracle(filepath.Join(dir, "oracle.jsonl"))
	if err != nil {
		return nil, errors.Join(err, server.Close(), receiver.Close())
	}
	var export bytes.Buffer
	if _, err := applehealthtest.WriteZip(&export, applehealthtest.Options{Days: 2}); err != nil {
		return nil, errors.Join(err, server.Close(), receiver.Close())
	}
	return &trial{
		options: o, out: out, server: server, sink: receiver, oracle: oracle, call: newCaller(server.Address(), oracle),
		feed: newFeed(), export: export.Bytes(), finished: map[string]bool{}, stopping: make(chan struct{}),
	}, nil
}

func (t *trial) close() {
	_ = t.server.Close() // the run is over; its verdict stands
	_ = t.sink.Close()
	_ = t.oracle.file.Close()
}

// prepare starts the server for the first time and lets webhooks come to us.
func (t *trial) prepare(ctx context.Context) error {
	if _, err := t.server.Start(ctx); err != nil {
		return err
	}
	secret, err := t.addEndpoint(ctx)
	if err != nil {
		return err
	}
	if err := t.sink.SetSecret(secret); err != nil {
		return err
	}
	t.intact, err = t.undisturbed(ctx)
	return err
}

// cycles lets the writers work while the server is killed n times.
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

// killOnce lets the server work for a moment, kills it, starts it again and
// looks at what it kept.
func (t *trial) killOnce(ctx context.Context, failed <-chan error) error {
	select {
	case <-time.After(time.Duration(50+rand.IntN(700)) * time.Millisecond): //nolint:gosec // any moment
	case err := <-failed:
		return errors.Join(errors.New("a writer gave up"), err)
	case <-ctx.Done():
		return ctx.Err()
	}
	before := t.oracle.snapshot()
	t.server.Kill()
	t.kills++
	took, err := t.server.Start(ctx)
	if err != nil {
		return err
	}
	t.recoveries = append(t.recoveries, took)
	if err := t.feed.read(ctx, t.call); err != nil {
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
