// Package progress shows the progress of a long operation. On a terminal it is a bar.
// Anywhere else it is a plain line every ten seconds, so that logs of unattended runs
// stay readable.
//
//	meter := progress.Start(os.Stderr, progress.Options{Label: "upload", Unit: progress.Bytes, Total: size})
//	_, err = io.Copy(dst, meter.Reader(src))
//	meter.Finish(err == nil)
package progress

import (
	"io"
	"sync"
	"time"
)

// Unit names what a meter counts.
type Unit int

const (
	// Items are records, users, messages.
	Items Unit = iota
	// Bytes print in binary units.
	Bytes
)

// Options say what is measured and how to show it.
type Options struct {
	Label string
	Unit  Unit
	// Total is the amount of work; 0 or less means unknown, and then neither a share
	// nor the time left is shown.
	Total int64
	// Terminal draws a bar instead of printing lines.
	Terminal bool
	// Every is the time between plain lines; 0 means ten seconds.
	Every time.Duration
}

// Meter shows one piece of work. Its methods may be called from any goroutine.
type Meter struct {
	mu    sync.Mutex
	state state
	show  display
}

// state holds the progress at one moment.
type state struct {
	label       string
	unit        Unit
	done, total int64
	note        string // free text behind the figures, such as a record count
	began       time.Time
	ended       time.Time // zero while it runs
	ok          bool
}

// display draws states. stop draws the last one.
type display interface {
	stop(state)
}

// Start begins to show.
func Start(out io.Writer, o Options) *Meter {
	m := &Meter{state: state{label: o.Label, unit: o.Unit, total: o.Total, began: time.Now()}}
	if o.Every <= 0 {
		o.Every = 10 * time.Second
	}
	if o.Terminal {
		m.show = startBar(out, m.snapshot)
	} else {
		m.show = startLines(out, o.Every, m.snapshot)
	}
	return m
}

// Add counts n more.
func (m *Meter) Add(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.done += n
}

// Set replaces the counts and the note, for work that another process counts. Counts
// never run backwards: an answer that arrives late changes nothing.
func (m *Meter) Set(done, total int64, note string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.done = max(m.state.done, done)
	m.state.total, m.state.note = total, note
}

// Reader counts what is read through it.
func (m *Meter) Reader(r io.Reader) io.Reader { return &countingReader{r, m} }

type countingReader struct {
	from io.Reader
	to   *Meter
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.to.Add(int64(n))
	return n, err
}

// Finish ends the display. The bar is full, or stays as it is if the work failed or was
// stopped. Finish returns when the last line is written. A second call does nothing.
func (m *Meter) Finish(ok bool) {
	m.mu.Lock()
	if !m.state.ended.IsZero() {
		m.mu.Unlock()
		return
	}
	m.state.ended, m.state.ok = time.Now(), ok
	m.mu.Unlock()
	m.show.stop(m.snapshot())
}

func (m *Meter) snapshot() state {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}
