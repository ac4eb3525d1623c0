// Command mirror keeps copies of a team's data from events, and proves that they equal
// the API.
//
//	mirror [-engines sqlite,postgres] [-programs python,typescript] [-for 5m] [-runs 1] [-seed N] [-keep DIR]
//
// Actors change the data of a team:
//
//   - users, connections and devices
//   - phones' samples, summaries and histories; records with ids, which move and are deleted
//   - imports, their undo, shifts and deletions
//   - orders of all methods, scenarios of the sandbox laboratory, appointments, and results
//     that fit no order
//   - settings of the team
//
// The server is killed again and again.
//
// Copies are kept from the feed, from webhooks, and from a backfill in the middle of the
// work, with the feed after it. The receiver of the webhooks loses, duplicates and
// reorders some of them, and is unreachable for moments. The secret of its endpoint is
// rotated from time to time. At the end it reads the lost numbers from the feed. The
// programs of docs/examples keep further copies; they are killed and started again. Then
// everything of all copies is compared with the API, field by field. The copy from the feed
// has the streams of workouts and the results of orders too: it reads them after their events.
//
// The exit status is 1 if anything differs. The guide docs/keep-a-copy.md explains how to
// keep such a copy.
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
	"syscall"
	"time"

	"hale/internal/harness/proc"
	"hale/internal/platform/store/pgtemp"
)

// settings hold the options of a run.
type settings struct {
	engines  []string
	programs []string
	length   time.Duration
	runs     int
	seed     uint64
	keep     string // folder that stays; empty for one that goes
	kills    bool
}

func main() {
	engines := flag.String("engines", "sqlite,postgres", "databases, separated by commas")
	languages := flag.String("programs", "python,typescript", "programs of docs/examples that keep copies too, separated by commas")
	length := flag.Duration("for", 5*time.Minute, "length of a run")
	runs := flag.Int("runs", 1, "number of runs on each database")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the first run; the next one adds 1")
	keep := flag.String("keep", "", "folder for data and logs, which then stay")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := settings{engines: strings.Split(*engines, ","), programs: languageNames(*languages), length: *length, runs: *runs, seed: *seed, keep: *keep, kills: true}
	if err := run(ctx, os.Stdout, s); err != nil {
		fmt.Fprintln(os.Stderr, "mirror:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context, out io.Writer, s settings) error {
	dir := s.keep
	if dir == "" {
		made, err := os.MkdirTemp("", "hale-mirror-")
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
	for n := range s.runs {
		for _, engine := range s.engines {
			err := runEngine(ctx, out, engine, s, s.seed+uint64(n), binary, filepath.Join(dir, fmt.Sprintf("%s-%d", engine, n)))
			if errors.Is(err, pgtemp.ErrMissing) {
				fmt.Fprintf(out, "%s: skipped: %v\n", engine, err)
				continue
			}
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", engine, err))
			}
		}
	}
	return failed
}

func runEngine(ctx context.Context, out io.Writer, engine string, s settings, seed uint64, binary, dir string) error {
	options := proc.Options{Binary: binary, Dir: dir, APIKey: apiKey}
	if engine == "postgres" {
		cluster, err := pgtemp.Start(ctx, pgtemp.Durable)
		if err != nil {
			return err
		}
		defer func() { _ = cluster.Stop() }() // a throwaway
		if options.Database, err = cluster.CreateDatabase(ctx, "mirror"); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s: %v, seed %d\n", engine, s.length, seed)
	t, err := newTrial(options, seed, out)
	if err != nil {
		return err
	}
	defer t.close()
	if t.programs, err = programs(ctx, s.programs, binary, dir, out); err != nil {
		return err
	}
	return t.run(ctx, s)
}
