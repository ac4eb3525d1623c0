package main

import (
	"fmt"
	"io"
	"time"

	"hale/internal/harness/load"
	"hale/internal/harness/proc"
)

// report prints figures as they come, one line each: the name, the figure, the baseline
// and the target.
type report struct {
	out io.Writer
}

func newReport(out io.Writer) *report { return &report{out} }

// begin prints the heading of a measure. busy is the share of the machine that is in use
// before the measure starts: at 0.4, expect figures of 0.6.
func (r *report) begin(engine, name string, busy float64) {
	fmt.Fprintf(r.out, "\n%s · %s (others use %.0f %% of the machine)\n", engine, name, 100*busy)
}

// othersBusy watches the machine for a while in which the benchmark does nothing.
func othersBusy(while time.Duration) (float64, error) {
	before, err := proc.ReadMachine()
	if err != nil {
		return 0, err
	}
	time.Sleep(while)
	after, err := proc.ReadMachine()
	return before.Others(after, 0), err
}

// line prints one figure. baseline and target may be empty.
func (r *report) line(what, figure, baseline, target string) {
	if target != "" {
		target = "target " + target
	}
	fmt.Fprintf(r.out, "  %-38s %16s   %-34s %s\n", what, figure, baseline, target)
}

// waits prints the waiting times of callers and the server's processor time for each
// request.
func (r *report) waits(result load.Result, cpu time.Duration) {
	r.line(fmt.Sprintf("  p50 / p99, %d callers", userConns), millis(result.Quantile(.5))+" / "+millis(result.Quantile(.99)),
		fmt.Sprintf("%d µs of the server's processor", cpu.Microseconds()), "")
}

func (r *report) skip(engine string, why error) {
	fmt.Fprintf(r.out, "\n%s: skipped: %v\n", engine, why)
}

func perSecond(n float64) string { return fmt.Sprintf("%s/s", thousands(int64(n+0.5))) }

func ratio(figure, baseline float64, of string) string {
	if baseline <= 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %% of %s (%s)", 100*figure/baseline, of, perSecond(baseline))
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

// thousands writes n with a comma after every third digit.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// usage watches the processor time of the server and of the rest of the machine during a
// measure.
type usage struct {
	server  *proc.Server
	cpu     time.Duration
	machine proc.Machine
	start   time.Time
}

func watch(server *proc.Server) (usage, error) {
	cpu, err := server.CPU()
	if err != nil {
		return usage{}, err
	}
	machine, err := proc.ReadMachine()
	return usage{server, cpu, machine, time.Now()}, err
}

// perRequest returns the server's processor time since watch, divided by n. It returns 0
// if n is 0.
func (u usage) perRequest(n int) (time.Duration, error) {
	cpu, err := u.server.CPU()
	if err != nil || n == 0 {
		return 0, err
	}
	return (cpu - u.cpu) / time.Duration(n), nil
}
