package ops

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// sampleWindow is the time in which equal warnings and errors are counted.
	sampleWindow = time.Minute
	// samplesPerWindow is the number of equal lines that are written in this time.
	samplesPerWindow = 20
	// maxSampled bounds the different lines that are counted at once.
	maxSampled = 1000
)

// sampler writes the first lines of a repeated warning or error, and one line with the
// number of those that it left out. A database that is away would otherwise fill the disk
// with one sentence. Lines are equal if level, message and the attributes of sampledBy
// are.
type sampler struct {
	slog.Handler
	counts *sampleCounts
	with   string // values of sampledBy that With added
}

// sampledBy are the attributes that make lines different.
var sampledBy = map[string]bool{"error": true, "route": true, "status": true, "kind": true, "lab": true, "provider": true, "check": true}

type sampleCounts struct {
	mu  sync.Mutex
	now func() time.Time
	all map[string]*sampleCount
}

type sampleCount struct {
	began   time.Time
	written int
	left    int         // lines that were left out
	last    slog.Record // the latest of them
	handler slog.Handler
}

func sample(h slog.Handler, now func() time.Time) slog.Handler {
	return &sampler{Handler: h, counts: &sampleCounts{now: now, all: map[string]*sampleCount{}}}
}

// WithAttrs implements slog.Handler.
func (s *sampler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := s.with
	for _, a := range attrs {
		with += sampledValue(a)
	}
	return &sampler{s.Handler.WithAttrs(attrs), s.counts, with}
}

// WithGroup implements slog.Handler.
func (s *sampler) WithGroup(name string) slog.Handler {
	return &sampler{s.Handler.WithGroup(name), s.counts, s.with}
}

func sampledValue(a slog.Attr) string {
	if !sampledBy[a.Key] {
		return ""
	}
	return "\x00" + a.Key + "=" + a.Value.String()
}

// Handle implements slog.Handler.
func (s *sampler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return s.Handler.Handle(ctx, r)
	}
	var key strings.Builder
	key.WriteString(r.Level.String() + "\x00" + r.Message + s.with)
	r.Attrs(func(a slog.Attr) bool {
		key.WriteString(sampledValue(a))
		return true
	})
	write, ended := s.counts.count(key.String(), r, s.Handler)
	for _, e := range ended {
		if err := e.handler.Handle(ctx, e.last); err != nil {
			return err
		}
	}
	if !write {
		return nil
	}
	return s.Handler.Handle(ctx, r)
}

// count counts a line. It reports whether to write it, and returns the counts with lines
// that were left out whose time is over.
func (c *sampleCounts) count(key string, r slog.Record, h slog.Handler) (write bool, ended []*sampleCount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for other, n := range c.all {
		if now.Sub(n.began) < sampleWindow {
			continue
		}
		delete(c.all, other)
		if n.left > 0 {
			n.last = n.last.Clone()
			n.last.AddAttrs(slog.Int("left_out", n.left))
			ended = append(ended, n)
		}
	}
	n := c.all[key]
	if n == nil {
		if len(c.all) >= maxSampled {
			return true, ended
		}
		n = &sampleCount{began: now}
		c.all[key] = n
	}
	if n.written < samplesPerWindow {
		n.written++
		return true, ended
	}
	n.left++
	n.last, n.handler = r, h
	return false, ended
}
