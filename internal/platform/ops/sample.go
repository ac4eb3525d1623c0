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
	all map[string]*sampleCount
}

type sampleCount struct {
	written int
	left    int         // lines that were left out
	last    slog.Record // the latest of them
	handler slog.Handler
}

func sample(h slog.Handler) slog.Handler {
	return &sampler{Handler: h, counts: &sampleCounts{all: map[string]*sampleCount{}}}
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
	if !s.counts.count(key.String(), r, s.Handler) {
		return nil
	}
	return s.Handler.Handle(ctx, r)
}

// count counts a line, and reports whether to write it.
func (c *sampleCounts) count(key string, r slog.Record, h slog.Handler) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.all[key]
	if n == nil {
		if len(c.all) >= maxSampled {
			return true
		}
		n = &sampleCount{}
		c.all[key] = n
		time.AfterFunc(sampleWindow, func() { c.end(key, n) })
	}
	if n.written < samplesPerWindow {
		n.written++
		return true
	}
	n.left++
	n.last, n.handler = r.Clone(), h
	return false
}

// end logs the number of suppressed lines when their window ends.
func (c *sampleCounts) end(key string, n *sampleCount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, key)
	if n.left > 0 {
		n.last.AddAttrs(slog.Int("left_out", n.left))
		_ = n.handler.Handle(context.Background(), n.last) // the log is the only place for an error
	}
}
