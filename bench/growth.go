package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"hale/internal/harness/load"
	"hale/internal/harness/proc"
	"hale/internal/harness/rawhttp"
	"hale/internal/platform/store/pgtemp"
)

var (
	growth       = flag.Bool("growth", false, "only compare each call at two sizes of a team")
	growthPeople = flag.String("people", "1000,64000", "growth: the two numbers of people; empty skips them")
	growthOrders = flag.String("orders-at", "10000,1000000", "growth: the two numbers of orders; empty skips them")
	growthDays   = flag.Float64("days", 30, "growth: days of heart rate of each person, a sample every five minutes")
)

// growthLimit is the largest factor by which a p50 may grow.
const growthLimit = 1.5

// mostCalls is the largest number of requests that measure one call.
const mostCalls = 200

// waits are the p50 and the p99 of a call.
type waits struct{ p50, p99 time.Duration }

// installation is a team of one size, on a server of its own.
type installation struct {
	*bench
	// values returns the values of the names of the nth request of a call.
	values func(call growthCall, n int) map[string]string
	kept   map[string][]string // values of answers by name
	conn   *rawhttp.Conn
	took   map[string][]time.Duration
}

// comparison compares the calls at two sizes.
type comparison struct {
	kind, sizes string
	calls       []growthCall
	// seed fills an installation and sets its values.
	seed func(ctx context.Context, in *installation, size int) error
}

// runGrowth measures each call at two sizes of a team on an installation of its own,
// and prints both and their ratio.
func runGrowth(ctx context.Context, out io.Writer, engines []string, period time.Duration) error {
	dir, err := os.MkdirTemp("", "hale-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := proc.Build(ctx, dir)
	if err != nil {
		return err
	}
	for _, engine := range engines {
		var cluster *pgtemp.Cluster
		if engine == "postgres" {
			if cluster, err = pgtemp.Start(ctx, pgtemp.Durable); err != nil {
				return err
			}
			defer func() { _ = cluster.Stop() }() // a throwaway
		}
		for _, c := range []comparison{
			{"people", *growthPeople, peopleCalls, seedPeople},
			{"orders", *growthOrders, orderCalls, seedOrders},
		} {
			if c.sizes == "" {
				continue
			}
			b := bench{engine: engine, period: period, report: newReport(out), key: "sk_bench0000000000000000000000000000"}
			took, err := c.run(ctx, b, filepath.Join(dir, engine), binary, cluster)
			if err != nil {
				return fmt.Errorf("%s %s: %w", engine, c.kind, err)
			}
			printGrowth(out, engine, c, took)
		}
	}
	return nil
}

// run seeds both installations, and then sends each call to both in turn, so that other
// work of the machine slows both down.
func (c comparison) run(ctx context.Context, b bench, dir, binary string, cluster *pgtemp.Cluster) (_ []map[string]waits, err error) {
	var all []*installation
	defer func() {
		for _, in := range all {
			err = errors.Join(err, in.server.Close())
		}
	}()
	for _, text := range strings.Split(c.sizes, ",") {
		size, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		name := c.kind + "_" + text
		one := b
		one.dir = dir + "-" + name
		if err := one.open(ctx, name, binary, cluster); err != nil {
			return nil, err
		}
		in := &installation{bench: &one, kept: map[string][]string{}, took: map[string][]time.Duration{}}
		all = append(all, in)
		if err := c.seed(ctx, in, size); err != nil {
			return nil, err
		}
		if err := one.server.Stop(); err != nil {
			return nil, err
		}
	}
	for _, in := range all { // a new process has no keys or pages in memory
		if _, err := in.server.Start(ctx); err != nil {
			return nil, err
		}
		if c.kind == "orders" {
			if err := firstList(ctx, in.bench); err != nil {
				return nil, err
			}
		}
		if err := in.settle(ctx); err != nil {
			return nil, err
		}
	}
	for _, in := range all { // only now: a server closes an idle connection
		if in.conn, err = rawhttp.Dial(ctx, in.server.Address(), time.Minute); err != nil {
			return nil, err
		}
		defer in.conn.Close()
	}
	if err := c.measure(all, b.period); err != nil {
		return nil, err
	}
	results := make([]map[string]waits, len(all))
	for i, in := range all {
		results[i] = map[string]waits{}
		for name, took := range in.took {
			slices.Sort(took)
			results[i][name] = waits{load.Quantile(took, .5), load.Quantile(took, .99)}
		}
	}
	return results, nil
}

// measure sends each call to all installations in turn. A call that is refused does not
// end the comparison: the error has all of them.
func (c comparison) measure(all []*installation, period time.Duration) (err error) {
	written := mostCalls // the smallest number of users that a write has changed
	for _, call := range c.calls {
		n, failed := call.measure(all, period, written)
		if failed != nil && !errors.Is(failed, errRefused) {
			return errors.Join(err, failed)
		}
		err = errors.Join(err, failed)
		if call.method != http.MethodGet && !call.hidden && call.most == 0 && strings.Contains(call.path, "{id}") {
			written = min(written, max(n, 1))
		}
	}
	return err
}

// measure sends a call to all installations and returns the number of requests to each.
func (call growthCall) measure(all []*installation, period time.Duration, written int) (n int, err error) {
	const warm = 10
	most := mostCalls
	for _, in := range all {
		most = min(most, in.limit(call))
	}
	if most <= warm && !call.hidden {
		return 0, fmt.Errorf("%s: there are values for %d requests only: %w", call.name, most, errRefused)
	}
	for _, in := range all {
		written = in.alternatives(call, written)
	}
	for end := time.Now().Add(2 * period); n < most && (n < 2*warm || time.Now().Before(end)); n++ {
		number := n
		if call.method == http.MethodGet && !call.hidden { // of a person whose values were written
			number = n % written
		}
		for _, in := range all {
			for _, before := range call.before {
				if _, err := in.send(before, number); err != nil {
					return n, err
				}
			}
			took, err := in.send(call, number)
			if err != nil {
				return n, err
			}
			if n >= warm && !call.hidden {
				in.took[call.name] = append(in.took[call.name], took)
			}
		}
	}
	for _, in := range all {
		in.drop(call, n)
	}
	return n, nil
}

// settle waits until the server has nothing more to do, at most half an hour. The jobs
// of 64,000 pushes take minutes.
func (in *installation) settle(ctx context.Context) error {
	for range 900 {
		before, err := in.server.CPU()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
		after, err := in.server.CPU()
		if err != nil || after-before < 100*time.Millisecond {
			return err
		}
	}
	return nil
}

func printGrowth(out io.Writer, engine string, c comparison, took []map[string]waits) {
	fmt.Fprintf(out, "\n%s, p50 / p99 at %s %s\n\n", engine, strings.ReplaceAll(c.sizes, ",", " and "), c.kind)
	for _, call := range c.calls {
		if call.hidden {
			continue
		}
		first, last := took[0][call.name], took[len(took)-1][call.name]
		factor := float64(last.p50) / float64(first.p50)
		mark := ""
		if factor > growthLimit {
			mark = "grows"
		}
		fmt.Fprintf(out, "  %-40s %20s %20s  × %.2f %s\n", call.name, first, last, factor, mark)
	}
}

func (w waits) String() string {
	return fmt.Sprintf("%.2f / %.2f ms", float64(w.p50)/1e6, float64(w.p99)/1e6)
}
