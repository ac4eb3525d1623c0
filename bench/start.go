package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hale/internal/harness/load"
)

// measureStart measures the time from exec to a 200 of /readyz on an existing
// database. It also measures the memory of an idle process.
func measureStart(ctx context.Context, b *bench) error {
	var starts []time.Duration
	for range 7 {
		if err := b.server.Stop(); err != nil {
			return err
		}
		took, err := b.server.Start(ctx)
		if err != nil {
			return err
		}
		starts = append(starts, took)
	}
	slices.Sort(starts)
	b.report.line("start to ready", millis(load.Quantile(starts, 0.5)), fmt.Sprintf("slowest of %d: %s", len(starts), millis(starts[len(starts)-1])), "< 1 s")
	select {
	case <-time.After(min(5*time.Second, b.period)): // the garbage of the start is collected
	case <-ctx.Done():
		return ctx.Err()
	}
	memory, err := b.server.Memory()
	if err != nil {
		return err
	}
	b.report.line("memory at rest", mib(memory.Now), "peak "+mib(memory.Peak), "≤ 100 MB")
	return nil
}
