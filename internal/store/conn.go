package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
)

// conn is one database connection with its prepared statements. On SQLite
// preparing costs as much as running, so each text is prepared once for each
// connection; pgx keeps its own cache and statements go straight through.
type conn struct {
	sql   *sql.Conn
	cache map[string]*sql.Stmt // nil: the driver caches
}

// mostStatements bounds the cache. Every statement of the program fits; only
// texts built with lists of varying length could fill it.
const mostStatements = 1000

type statement struct {
	conn *conn
	text string
	stmt *sql.Stmt
}

func (c *conn) prepare(ctx context.Context, text string) (statement, error) {
	if c.cache == nil {
		return statement{conn: c, text: text}, nil
	}
	if stmt, ok := c.cache[text]; ok {
		return statement{stmt: stmt}, nil
	}
	stmt, err := c.sql.PrepareContext(ctx, unnamed(text))
	if err != nil {
		return statement{}, err
	}
	if len(c.cache) >= mostStatements {
		c.forget()
	}
	c.cache[text] = stmt
	return statement{stmt: stmt}, nil
}

// unnamed writes ? for $1, $2 … when they stand in this order, each once. SQLite
// takes $1 for a name and looks each one up among all others whenever it binds,
// which makes statements with many rows dear.
func unnamed(text string) string {
	var b strings.Builder
	next := 1
	for i := 0; i < len(text); {
		switch text[i] {
		case '\'':
			end := strings.IndexByte(text[i+1:], '\'')
			if end < 0 {
				return text
			}
			b.WriteString(text[i : i+end+2])
			i += end + 2
		case '$':
			number := strconv.Itoa(next)
			rest := text[i+1:]
			if !strings.HasPrefix(rest, number) || len(rest) > len(number) && rest[len(number)] >= '0' && rest[len(number)] <= '9' {
				return text
			}
			b.WriteByte('?')
			i += 1 + len(number)
			next++
		default:
			b.WriteByte(text[i])
			i++
		}
	}
	return b.String()
}

func (c *conn) forget() {
	for text, stmt := range c.cache {
		_ = stmt.Close()
		delete(c.cache, text)
	}
}

func (c *conn) close() error {
	c.forget()
	return c.sql.Close()
}

func (s statement) exec(ctx context.Context, args []any) (sql.Result, error) {
	if s.stmt != nil {
		return s.stmt.ExecContext(ctx, args...)
	}
	return s.conn.sql.ExecContext(ctx, s.text, args...)
}

func (s statement) query(ctx context.Context, args []any) (*sql.Rows, error) {
	if s.stmt != nil {
		return s.stmt.QueryContext(ctx, args...)
	}
	return s.conn.sql.QueryContext(ctx, s.text, args...)
}

func (s statement) queryRow(ctx context.Context, args []any) *sql.Row {
	if s.stmt != nil {
		return s.stmt.QueryRowContext(ctx, args...)
	}
	return s.conn.sql.QueryRowContext(ctx, s.text, args...)
}
