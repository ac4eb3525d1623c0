// Command crash kills the real server again and again while it works, and
// proves afterwards that nothing it acknowledged is gone.
//
//	crash [-engines sqlite,postgres] [-cycles 200] [-nodes 2] [-keep DIR]
//
// Callers outside the server's process work concurrently. They create users, push
// samples, make portal links, upload exports and order tests. They also book,
// move and cancel appointments. A laboratory in the run's own process receives the
// orders of a production team over HL7 and sends results. Appointments are booked
// for a sandbox team with the network that is built in, as HL7 has none. An
// oracle that the server never sees records every 2xx answer; requests without an
// answer are repeated, as a good client would. Webhooks go to a receiver that
// refuses, resets or ignores some of them.
//
// After each kill, and thoroughly at the end:
//
//   - every acknowledged write is stored;
//   - the event feed is numbered 1, 2, 3 … without a gap, no id twice;
//   - each change has exactly one event in it;
//   - each event reached the receiver at least once, signed, with the bytes
//     that the feed has, the same on every try;
//   - the acknowledged orders, the stored orders and the lab's orders are the
//     same. None was created or placed twice. An order that the lab receives
//     again has the same bytes;
//   - a kill may take away the answer to a new order or appointment. Repeating
//     the request with its key creates no second one. If there was an answer, the
//     repetition returns the same answer;
//   - each appointment has the acknowledged status, or the one that a request
//     without an answer asked for. The status of its order agrees. Events report
//     each change of both, in order;
//   - the network has exactly one booking for each of these appointments, and no
//     slot is overbooked;
//   - all results of the lab are stored and read as it sent them;
//   - the database file is intact.
//
// On PostgreSQL two nodes share one database. One is killed while the other
// continues and takes over the claims of the dead one.
//
// The exit status is 1 when any of this is not so.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"hale/internal/harness/proc"
	"hale/internal/harness/sink"
	"hale/internal/platform/store/pgtemp"
)

// settings hold the options of a run.
type settings struct {
	engines []string
	cycles  int
	nodes   int    // on PostgreSQL; SQLite has one
	keep    string // folder that is kept; empty for a temporary one
	faults  sink.Faults
}

func (s settings) nodesOf(o proc.Options) int {
	if o.Database == "" {
		return 1
	}
	return s.nodes
}

func main() {
	engines := flag.String("engines", "sqlite,postgres", "which databases, separated by commas")
	cycles := flag.Int("cycles", 200, "how many kills on each")
	nodes := flag.Int("nodes", 2, "how many nodes share the PostgreSQL database")
	keep := flag.String("keep", "", "folder for data, logs and oracle, which then stay")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := settings{
		engines: strings.Split(*engines, ","), cycles: *cycles, nodes: *nodes, keep: *keep,
		faults: sink.Faults{Unavailable: .10, Reset: .01, Hang: .002, HangFor: 20 * time.Second},
	}
	if err := run(ctx, os.Stdout, s); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context, out io.Writer, s settings) error {
	dir := s.keep
	if dir == "" {
		made, err := os.MkdirTemp("", "hale-crash-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		dir = made
	}
	binary, err := proc.Build(ctx, dir)
	if err != nil {
		return err
	}
	var failed error
	for _, engine := range s.engines {
		err := runEngine(ctx, out, engine, s, binary, filepath.Join(dir, engine))
		if errors.Is(err, pgtemp.ErrMissing) {
			fmt.Fprintf(out, "%s: skipped: %v\n", engine, err)
			continue
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", engine, err))
		}
	}
	return failed
}

func runEngine(ctx context.Context, out io.Writer, engine string, s settings, binary, dir string) error {
	options := proc.Options{Binary: binary, Dir: filepath.Join(dir, "data"), APIKey: apiKey}
	switch engine {
	case "sqlite":
	case "postgres":
		cluster, err := pgtemp.Start(ctx, pgtemp.Durable)
		if err != nil {
			return err
		}
		defer func() { _ = cluster.Stop() }() // a throwaway
		if options.Database, err = cluster.CreateDatabase(ctx, "crash"); err != nil {
			return err
		}
	default:
		return errors.New("there is no such engine")
	}
	fmt.Fprintf(out, "%s: %d cycles\n", engine, s.cycles)
	trial, err := newTrial(options, s, dir, out)
	if err != nil {
		return err
	}
	defer trial.close()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	open, shut := context.WithCancel(ctx)
	defer shut()
	var work sync.WaitGroup
	keepUp := func(run func(context.Context) error) {
		work.Go(func() {
			if err := run(open); err != nil { // the run cannot continue without its lab
				end(fmt.Errorf("the lab: %w", err))
			}
		})
	}
	keepUp(trial.lab.Run)
	verdict, err := trial.run(ctx, s.cycles, func() { keepUp(trial.lab.sendResults) })
	shut()
	work.Wait()
	if err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return verdict.print(trial)
}
