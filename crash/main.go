// Command crash kills the real server again and again while it works, and
// proves afterwards that nothing it acknowledged is gone.
//
//	crash [-engines sqlite,postgres] [-cycles 200] [-keep DIR]
//
// Callers outside the server's process create users, push samples, make portal
// links and upload exports, all at once. What the server answers with 2xx is
// written into an oracle that the server never sees; what it could not answer
// is asked again, as a good client would. Webhooks go to a receiver that
// refuses, resets or ignores some of them.
//
// After each kill, and thoroughly at the end:
//
//   - every acknowledged write is there;
//   - the event feed is numbered 1, 2, 3 … without a gap, no id twice;
//   - each change has exactly one event in it;
//   - each event reached the receiver at least once, signed, with the bytes
//     that the feed has, the same on every try;
//   - the database file is whole.
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
	"syscall"

	"hale/internal/harness/proc"
	"hale/internal/store/pgtemp"
)

func main() {
	engines := flag.String("engines", "sqlite,postgres", "which databases, separated by commas")
	cycles := flag.Int("cycles", 200, "how many kills on each")
	keep := flag.String("keep", "", "folder for data, logs and oracle, which then stay")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, strings.Split(*engines, ","), *cycles, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context, out io.Writer, engines []string, cycles int, keep string) error {
	dir := keep
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
	for _, engine := range engines {
		err := runEngine(ctx, out, engine, cycles, binary, filepath.Join(dir, engine))
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

func runEngine(ctx context.Context, out io.Writer, engine string, cycles int, binary, dir string) error {
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
	fmt.Fprintf(out, "%s: %d cycles\n", engine, cycles)
	trial, err := newTrial(options, dir, out)
	if err != nil {
		return err
	}
	defer trial.close()
	if err := trial.prepare(ctx); err != nil {
		return err
	}
	if err := trial.cycles(ctx, cycles); err != nil {
		return err
	}
	verdict, err := trial.verify(ctx)
	if err != nil {
		return err
	}
	return verdict.print(trial)
}
