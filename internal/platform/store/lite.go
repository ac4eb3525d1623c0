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

// conn is one connection to SQLite, used by one goroutine at a time. It does not
// use database/sql, which costs more than SQLite's own point lookup
// (docs/decisions/0009).
type conn struct {
	raw      *sqlite.Conn
	prepared map[string]*preparedStatement
	running  []*preparedStatement // started and not reset
	stop     chan struct{}        // closing it interrupts the running statements; nil for the writer
}

// preparedStatement is a prepared statement. Preparing costs as much as running, so each
// connection prepares a text once.
type preparedStatement struct {
	stmt      *sqlite.Stmt
	columns   int
	busy      bool
	transient bool // not kept
}

// maxStatements is the number of prepared statements that a connection caches.
// Every statement of the program fits. Texts with lists of varying length could
// exceed it.
const maxStatements = 1000

// defaultLockWait is the default of Options.LockWait.
const defaultLockWait = 10 * time.Second

// openConn opens a database file, or creates it.
func openConn(path string, pragmas []string) (*conn, error) {
	db, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, err
	}
	db.SetBusyTimeout(defaultLockWait)
	c := &conn{raw: db, prepared: map[string]*preparedStatement{}}
	for _, pragma := range pragmas {
		if _, err := c.exec("PRAGMA "+pragma, nil); err != nil {
			_ = c.close()
			return nil, err
		}
	}
	return c, nil
}

// fileURI returns the path of a file as a URI for SQLite.
func fileURI(path string) string {
	return "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

// interruptible gives the connection a new stop channel for interruptWith.
func (c *conn) interruptible() {
	c.stop = make(chan struct{})
	c.raw.SetInterrupt(c.stop)
}

// interruptWith interrupts the statements of the connection once ctx ends, until
// the caller calls free. The connection keeps one stop channel until an interrupt
// closes it: SetInterrupt starts a goroutine, so a call per transaction is costly.
func (c *conn) interruptWith(ctx context.Context) (free func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	stop := c.stop
	cancel := context.AfterFunc(ctx, func() { close(stop) })
	return func() {
		if !cancel() {
			<-stop
			c.interruptible()
		}
	}
}

// exec runs a statement to its end and returns the number of rows it changed.
func (c *conn) exec(text string, args []any) (int64, error) {
	p, err := c.start(text, args)
	if err != nil {
		return 0, err
	}
	defer c.reset(p)
	for {
		more, err := p.stmt.Step()
		if err != nil {
			return 0, err
		}
		if !more {
			return int64(c.raw.Changes()), nil
		}
	}
}

// query starts a statement and runs it to its first row.
func (c *conn) query(text string, args []any) (*Rows, error) {
	p, err := c.start(text, args)
	if err != nil {
		return nil, err
	}
	row, err := p.stmt.Step()
	if err != nil {
		c.reset(p)
		return nil, err
	}
	if !row { // another step would run the statement again
		c.reset(p)
		return &Rows{}, nil
	}
	return &Rows{conn: c, stmt: p, buffered: true}, nil
}

// start returns the prepared statement of a text with its parameters bound.
func (c *conn) start(text string, args []any) (*preparedStatement, error) {
	p := c.prepared[text]
	if p == nil || p.busy {
		var err error
		if p, err = c.prepare(text, p != nil); err != nil {
			return nil, err
		}
	}
	p.busy = true
	c.running = append(c.running, p)
	if want := p.stmt.BindParamCount(); want != len(args) {
		c.reset(p)
		return nil, fmt.Errorf("store: %d arguments for %d parameters", len(args), want)
	}
	for i, arg := range args {
		if err := bindSQLite(p.stmt, i+1, arg); err != nil {
			c.reset(p)
			return nil, err
		}
	}
	return p, nil
}

// reset ends a statement and releases its locks and parameters.
func (c *conn) reset(p *preparedStatement) {
	_ = p.stmt.Reset() // returns the error of the last step again
	_ = p.stmt.ClearBindings()
	p.busy = false
	if at := slices.Index(c.running, p); at >= 0 {
		c.running = slices.Delete(c.running, at, at+1)
	}
	if p.transient {
		_ = p.stmt.Finalize()
	}
}

func (c *conn) prepare(text string, once bool) (*preparedStatement, error) {
	stmt, rest, err := c.raw.PrepareTransient(sqliteText(text))
	if err != nil {
		return nil, err
	}
	if rest > 0 {
		_ = stmt.Finalize()
		return nil, fmt.Errorf("store: more than one statement in a text: %.40q", text)
	}
	p := &preparedStatement{stmt: stmt, columns: stmt.ColumnCount(), transient: once}
	if once {
		return p, nil
	}
	if len(c.prepared) >= maxStatements {
		c.finalizeIdle()
	}
	c.prepared[text] = p
	return p, nil
}

// finalizeIdle removes the statements that are not running from the cache.
func (c *conn) finalizeIdle() {
	for text, p := range c.prepared {
		if !p.busy {
			_ = p.stmt.Finalize()
			delete(c.prepared, text)
		}
	}
}

// endStatements ends the statements that a transaction left running, because its
// function panicked or did not read all rows.
func (c *conn) endStatements() {
	for len(c.running) > 0 {
		c.reset(c.running[0])
	}
}

func (c *conn) close() error {
	c.endStatements()
	c.finalizeIdle()
	return c.raw.Close()
}

// sqliteText replaces the placeholders $1, $2 … outside of quotes by ?1, ?2 ….
// SQLite reads $1 as a name and numbers names by their first use.
func sqliteText(text string) string {
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

// bindSQLite binds one parameter: a UUID as 16 bytes, a time as microseconds.
func bindSQLite(stmt *sqlite.Stmt, i int, arg any) error {
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
		return bindSQLite(stmt, i, MicrosOrNil(v))
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
		return bindSQLite(stmt, i, plain)
	}
	return nil
}
