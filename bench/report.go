package main

import (
	"fmt"
	"io"
	"time"

	"hale/internal/harness/load"
	"hale/internal/harness/proc"
)

// report prints figures as they come, one line each: what, how much, compared
// with what, and what we want it to be.
type report struct {
	out io.Writer
}

func newReport(out io.Writer) *report { return &report{out} }

// begin prints the heading of a measure. busy is the share of the machine that
// is used while nothing is measured yet: at 0.4, expect figures of 0.6.
func (r *report) begin(engine, name string, busy float64) {
	fmt.Fprintf(r.out, "\n%s · %s (others use %.0f %% of the machine)\n", engine, name, 100*busy)
}

// othersBusy looks at the machine for a while in which we do nothing.
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

// waits prints how long callers waited and what a request cost the server.
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

// usage watches what the server and the rest of the machine burn while
// something is measured.
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

// perRequest is the server's processor time since watch, divided by n.
func (u usage) perRequest(n int) (time.Duration, error) {
	cpu, err := u.server.CPU()
	if err != nil || n == 0 {
		return 0, err
	}
	return (cpu - u.cpu) / time.Duration(n), nil
}
