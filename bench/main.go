// Command bench measures the real service from the side of its callers. Beside
// each figure it prints a baseline from the same minute on the same machine. A
// ratio can be compared between machines, a rate cannot.
//
//	bench [-engines sqlite,postgres] [-only NAME,…] [-for 10s] [-apple-mb 256]
//		[-orders 1000000] [-orders-in DIR [-orders-database URL]]
//	bench -growth [-people 1000,64000] [-days 1] [-orders-at 10000,1000000]
//
// The method of every figure is in docs/performance.md. No test asserts any of
// them, because a busy machine lowers them.
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
	"slices"
	"strings"
	"syscall"
	"time"

	"hale/internal/harness/proc"
	"hale/internal/platform/store/pgtemp"
)

// measure is one group of figures, taken on a fresh installation.
type measure struct {
	name string
	run  func(ctx context.Context, b *bench) error
}

var measures = []measure{
	{"start", measureStart},
	{"users", measureUsers},
	{"apple", measureApple},
	{"series", measureSeries},
	{"ingest", measureIngest},
	{"events", measureEvents},
	{"orders", measureOrders},
}

// shrink divides the amounts that measures work on. Figures are taken with 1; a
// test that only checks whether the measures work uses more.
var shrink = 1

func scaledCount(n int) int { return max(1, n/shrink) }

// bench holds the installation that a measure uses.
type bench struct {
	engine   string
	database string       // PostgreSQL's address; empty for SQLite
	server   *proc.Server // started, with an empty database
	key      string       // an API key of its team
	dir      string       // of the installation
	period   time.Duration
	appleMB  int
	report   *report
}

func main() {
	engines := flag.String("engines", "sqlite,postgres", "which databases, separated by commas")
	only := flag.String("only", "", "which measures, separated by commas: start, users, apple, series, ingest, events, orders")
	period := flag.Duration("for", 10*time.Second, "how long each rate is measured")
	appleMB := flag.Int("apple-mb", 256, "size of the generated Apple Health export, in MB of XML")
	bareServerMode := flag.Bool("bare-server", false, "be the baseline server (used by the program itself)")
	barePostsURL := flag.String("bare-posts", "", "be the baseline sender (used by the program itself)")
	barePostsCount := flag.Int("bare-count", 60_000, "posts of the baseline sender")
	barePostsSize := flag.Int("bare-size", 1024, "bytes of each post of the baseline sender")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case *bareServerMode:
		err = bareServer()
	case *barePostsURL != "":
		err = barePosts(*barePostsURL, eventConns, *barePostsCount, *barePostsSize)
	case *growth:
		err = runGrowth(ctx, os.Stdout, strings.Split(*engines, ","), *period/4)
	default:
		err = run(ctx, os.Stdout, strings.Split(*engines, ","), *only, *period, *appleMB)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context, out io.Writer, engines []string, only string, period time.Duration, appleMB int) error {
	dir, err := os.MkdirTemp("", "hale-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(os.Stderr, "building")
	binary, err := proc.Build(ctx, dir)
	if err != nil {
		return err
	}
	report := newReport(out)
	for _, engine := range engines {
		if err := runEngine(ctx, engine, only, binary, dir, period, appleMB, report); err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
	}
	return nil
}

func runEngine(ctx context.Context, engine, only, binary, dir string, period time.Duration, appleMB int, report *report) error {
	var cluster *pgtemp.Cluster
	switch engine {
	case "sqlite":
	case "postgres":
		var err error
		cluster, err = pgtemp.Start(ctx, pgtemp.Durable)
		if errors.Is(err, pgtemp.ErrMissing) {
			report.skip(engine, err)
			return nil
		}
		if err != nil {
			return err
		}
		defer func() { _ = cluster.Stop() }() // a throwaway
	default:
		return errors.New("there is no such engine")
	}
	for _, m := range measures {
		if only != "" && !slices.Contains(strings.Split(only, ","), m.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", engine, m.name)
		b := &bench{
			engine: engine, period: period, appleMB: appleMB, report: report,
			key: "sk_bench0000000000000000000000000000", dir: filepath.Join(dir, engine+"-"+m.name),
		}
		if err := b.measure(ctx, m, binary, cluster); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// measure runs m on an installation of its own.
func (b *bench) measure(ctx context.Context, m measure, binary string, cluster *pgtemp.Cluster) (err error) {
	if err := b.open(ctx, m.name, binary, cluster); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.server.Close()) }()
	return m.run(ctx, b)
}

// open starts the server of an installation. The caller closes it.
func (b *bench) open(ctx context.Context, name, binary string, cluster *pgtemp.Cluster) (err error) {
	options := proc.Options{Binary: binary, Dir: b.dir, APIKey: b.key}
	if cluster != nil {
		if options.Database, err = cluster.CreateDatabase(ctx, "bench_"+name); err != nil {
			return err
		}
		b.database = options.Database
	}
	if b.server, err = proc.New(options); err != nil {
		return err
	}
	if _, err := b.server.Start(ctx); err != nil {
		return errors.Join(err, b.server.Close())
	}
	busy, err := othersBusy(min(time.Second, b.period))
	if err != nil {
		return errors.Join(err, b.server.Close())
	}
	b.report.begin(b.engine, name, busy)
	return nil
}
