package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"zombiezen.com/go/sqlite"
)

// lite is one connection to SQLite, used by one goroutine at a time. It is
// reached without database/sql: that would cost a point lookup more than SQLite
// itself (docs/decisions/0009).
type lite struct {
	conn     *sqlite.Conn
	prepared map[string]*prepared
	running  []*prepared   // begun, and not ended
	stop     chan struct{} // closing it interrupts what runs; nil for the writer
}

// prepared is a statement. Preparing costs as much as running, so each text is
// prepared once for each connection.
type prepared struct {
	stmt    *sqlite.Stmt
	columns int
	busy    bool
	once    bool // not kept
}

// mostStatements bounds what is kept. Every statement of the program fits; only
// texts built with lists of varying length could fill it.
const mostStatements = 1000

// busyFor is how long a lock that another process holds is waited for, unless
// Options.LockWait says otherwise.
const busyFor = 10 * time.Second

// openLite opens a database file, and makes it when there is none.
func openLite(path string, pragmas []string) (*lite, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, err
	}
	conn.SetBusyTimeout(busyFor)
	l := &lite{conn: conn, prepared: map[string]*prepared{}}
	for _, pragma := range pragmas {
		if _, err := l.exec("PRAGMA "+pragma, nil); err != nil {
			_ = l.close()
			return nil, err
		}
	}
	return l, nil
}

// fileURI is a path as SQLite's addresses have it.
func fileURI(path string) string {
	return "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

// interruptible lets until stop what the connection runs.
func (l *lite) interruptible() {
	l.stop = make(chan struct{})
	l.conn.SetInterrupt(l.stop)
}

// until interrupts statements once ctx ends, as far as they come before the
// call of what it returns. The connection listens to one channel for as long as
// nobody is interrupted: setting another for each transaction would start a
// goroutine each time.
func (l *lite) until(ctx context.Context) (free func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	stop := l.stop
	spared := context.AfterFunc(ctx, func() { close(stop) })
	return func() {
		if !spared() {
			<-stop
			l.interruptible()
		}
	}
}

// exec runs a statement to its end and returns the number of rows it changed.
func (l *lite) exec(text string, args []any) (int64, error) {
	p, err := l.begin(text, args)
	if err != nil {
		return 0, err
	}
	defer l.end(p)
	for {
		more, err := p.stmt.Step()
		if err != nil {
			return 0, err
		}
		if !more {
			return int64(l.conn.Changes()), nil
		}
	}
}

// query begins a statement and runs it to its first row.
func (l *lite) query(text string, args []any) (*Rows, error) {
	p, err := l.begin(text, args)
	if err != nil {
		return nil, err
	}
	row, err := p.stmt.Step()
	if err != nil {
		l.end(p)
		return nil, err
	}
	if !row { // another step would begin anew
		l.end(p)
		return &Rows{}, nil
	}
	return &Rows{lite: l, stmt: p, ahead: true}, nil
}

// begin takes the statement of a text and binds its parameters.
func (l *lite) begin(text string, args []any) (*prepared, error) {
	p := l.prepared[text]
	if p == nil || p.busy {
		var err error
		if p, err = l.prepare(text, p != nil); err != nil {
			return nil, err
		}
	}
	p.busy = true
	l.running = append(l.running, p)
	if want := p.stmt.BindParamCount(); want != len(args) {
		l.end(p)
		return nil, fmt.Errorf("store: %d arguments for %d parameters", len(args), want)
	}
	for i, arg := range args {
		if err := bindLite(p.stmt, i+1, arg); err != nil {
			l.end(p)
			return nil, err
		}
	}
	return p, nil
}

// end lets go of what the statement holds: its locks and its parameters.
func (l *lite) end(p *prepared) {
	_ = p.stmt.Reset() // repeats the error of the last step
	_ = p.stmt.ClearBindings()
	p.busy = false
	if at := slices.Index(l.running, p); at >= 0 {
		l.running = slices.Delete(l.running, at, at+1)
	}
	if p.once {
		_ = p.stmt.Finalize()
	}
}

func (l *lite) prepare(text string, once bool) (*prepared, error) {
	stmt, rest, err := l.conn.PrepareTransient(numbered(text))
	if err != nil {
		return nil, err
	}
	if rest > 0 {
		_ = stmt.Finalize()
		return nil, fmt.Errorf("store: more than one statement in a text: %.40q", text)
	}
	p := &prepared{stmt: stmt, columns: stmt.ColumnCount(), once: once}
	if once {
		return p, nil
	}
	if len(l.prepared) >= mostStatements {
		l.forget()
	}
	l.prepared[text] = p
	return p, nil
}

// forget drops the statements that nobody is running.
func (l *lite) forget() {
	for text, p := range l.prepared {
		if !p.busy {
			_ = p.stmt.Finalize()
			delete(l.prepared, text)
		}
	}
}

// settle ends what a transaction left running: one whose function panicked, or
// stopped reading in the middle.
func (l *lite) settle() {
	for len(l.running) > 0 {
		l.end(l.running[0])
	}
}

func (l *lite) close() error {
	l.settle()
	l.forget()
	return l.conn.Close()
}

// numbered writes ?1, ?2 … for $1, $2 …, outside of quotes: SQLite takes the
// former for numbers and the latter for names, in the order of their coming.
func numbered(text string) string {
	out, quoted := []byte(text), false
	for i, c := range out {
		switch {
		case c == '\'':
			quoted = !quoted
		case c == '$' && !quoted && i+1 < len(out) && '0' <= out[i+1] && out[i+1] <= '9':
			out[i] = '?'
		}
	}
	return string(out)
}

// bindLite binds one parameter: UUIDs as 16 bytes, moments as microseconds.
func bindLite(stmt *sqlite.Stmt, i int, arg any) error {
	switch v := arg.(type) {
	case nil:
		stmt.BindNull(i)
	case int64:
		stmt.BindInt64(i, v)
	case string:
		stmt.BindText(i, v)
	case []byte:
		if v == nil {
			stmt.BindNull(i)
		} else {
			stmt.BindBytes(i, v)
		}
	case uuid.UUID:
		stmt.BindBytes(i, v[:])
	case *uuid.UUID:
		if v == nil {
			stmt.BindNull(i)
		} else {
			stmt.BindBytes(i, v[:])
		}
	case interface{ UUID() uuid.UUID }:
		id := v.UUID()
		stmt.BindBytes(i, id[:])
	case int:
		stmt.BindInt64(i, int64(v))
	case bool:
		stmt.BindBool(i, v)
	case float64:
		stmt.BindFloat(i, v)
	case time.Time:
		stmt.BindInt64(i, Micros(v))
	case *time.Time:
		return bindLite(stmt, i, MicrosOrNil(v))
	case *int64:
		if v == nil {
			stmt.BindNull(i)
		} else {
			stmt.BindInt64(i, *v)
		}
	default:
		plain, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return fmt.Errorf("store: parameter %d: %w", i, err)
		}
		return bindLite(stmt, i, plain)
	}
	return nil
}
