package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Batch is a list of statements that do not need each other's results. PostgreSQL
// gets them in one round trip, together with BEGIN. SQLite has no round trips and
// runs them one by one. On both, rows of one table are inserted with few statements.
type Batch struct {
	parts   []part
	inserts []int // the parts of Insert, one per table
}

type part struct {
	text    string
	args    []any
	each    func(row Scanner) error // for a query
	changed *int64                  // for other statements; may be nil
	rows    [][]any                 // for Insert: text ends before VALUES
	tail    string                  // for Insert: the text after the rows
}

// Scanner is one row of a result.
type Scanner interface{ Scan(dest ...any) error }

// Exec adds a statement. Run adds the number of changed rows to changed, unless it
// is nil.
func (b *Batch) Exec(changed *int64, text string, args ...any) {
	b.parts = append(b.parts, part{text: text, args: args, changed: changed})
}

// Insert adds a row for a table. into is the statement before VALUES, and tail the
// part after the rows, such as ON CONFLICT. Rows with the same into and tail are
// inserted together, so they must not conflict with each other. Run adds the number
// of changed rows to changed, unless it is nil. These rows must have the same changed.
func (b *Batch) Insert(changed *int64, into string, row []any, tail string) {
	for _, at := range b.inserts {
		if p := &b.parts[at]; p.text == into && p.tail == tail {
			p.rows = append(p.rows, row)
			return
		}
	}
	b.inserts = append(b.inserts, len(b.parts))
	b.parts = append(b.parts, part{text: into, tail: tail, changed: changed, rows: [][]any{row}})
}

// Copy returns a copy of b. Changes to the copy leave b as it is.
func (b *Batch) Copy() Batch {
	all := Batch{parts: slices.Clone(b.parts), inserts: slices.Clone(b.inserts)}
	for i := range all.parts {
		all.parts[i].rows = slices.Clip(all.parts[i].rows)
	}
	return all
}

// maxRowsPerInsert is the largest number of rows in one statement. Fewer rows are
// split into powers of two, so that there are few texts to prepare.
const maxRowsPerInsert = 32

// statements returns the statements to run.
func (db *DB) statements(parts []part) []part {
	all := make([]part, 0, len(parts))
	for _, p := range parts {
		if p.rows == nil {
			all = append(all, p)
			continue
		}
		for rows := p.rows; len(rows) > 0; {
			n := maxRowsPerInsert
			for n > len(rows) {
				n /= 2
			}
			all = append(all, part{text: db.insertText(p.text, p.tail, n, len(rows[0])), args: slices.Concat(rows[:n]...), changed: p.changed})
			rows = rows[n:]
		}
	}
	return all
}

type insertKey struct {
	into, tail    string
	rows, columns int
}

// insertText returns the text of an INSERT. It caches the texts, of which there are
// few.
func (db *DB) insertText(into, tail string, rows, columns int) string {
	key := insertKey{into, tail, rows, columns}
	if text, ok := db.insertTexts.Load(key); ok {
		return text.(string) //nolint:forcetypeassert // the cache has strings only
	}
	var b strings.Builder
	b.WriteString(into + " VALUES ")
	for i := range rows {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Placeholders(1+i*columns, columns))
	}
	b.WriteString(" " + tail)
	text := b.String()
	db.insertTexts.Store(key, text)
	return text
}

// Query adds a query. Run calls each for every row.
func (b *Batch) Query(each func(row Scanner) error, text string, args ...any) {
	b.parts = append(b.parts, part{text: text, args: args, each: each})
}

// Run runs the statements in order and empties b. After an error, the later
// statements have no effect.
func (tx *Tx) Run(ctx context.Context, b *Batch) error {
	parts := tx.db.statements(b.parts)
	*b = Batch{}
	if len(parts) == 0 {
		return nil
	}
	if tx.db.engine == SQLite {
		for i := range parts {
			if err := tx.one(ctx, &parts[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return tx.pipeline(ctx, parts)
}

// Finish runs b as the last statements of a transaction. On PostgreSQL the commit
// belongs to the same round trip, so fn must return Finish's error and do nothing with
// tx after it.
func (tx *Tx) Finish(ctx context.Context, b *Batch) error {
	tx.finish = tx.db.engine == Postgres && len(b.parts) > 0
	return tx.Run(ctx, b)
}

func (tx *Tx) one(ctx context.Context, p *part) error {
	if p.each == nil {
		n, err := tx.Exec(ctx, p.text, p.args...)
		if p.changed != nil {
			*p.changed += n
		}
		return err
	}
	rows, err := tx.Query(ctx, p.text, p.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := p.each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// pipeline sends all statements and then reads the results.
func (tx *Tx) pipeline(ctx context.Context, parts []part) error {
	if tx.ended {
		return errEnded
	}
	var failed error
	err := tx.pg.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("store: a batch on a %T", driver)
		}
		if c.Conn().IsClosed() {
			failed = errNotSent
			return nil
		}
		var sent pgx.Batch
		if tx.begin != "" {
			sent.Queue(tx.begin)
			sent.Queue(`SELECT set_config('hale.team', $1, TRUE)`, tx.scope)
		}
		for i := range parts {
			if tx.db.statement != nil {
				tx.db.statement(parts[i].text, parts[i].args)
			}
			sent.Queue(parts[i].text, bind(parts[i].args)...)
		}
		if tx.finish {
			sent.Queue("COMMIT")
		}
		answers := c.Conn().SendBatch(ctx, &sent)
		if failed = tx.answers(answers, parts); tx.finish {
			failed = tx.finished(answers, failed)
		}
		// An error of the transaction goes to the caller. An error returned here
		// would close the connection.
		if err := answers.Close(); failed == nil {
			failed = err
		}
		return nil
	})
	return errors.Join(err, failed)
}

// finished reads the answer to the COMMIT of Finish. failed is the error of the
// statements before it. PostgreSQL skips the COMMIT after an error of its own only.
func (tx *Tx) finished(answers pgx.BatchResults, failed error) error {
	var refused *pgconn.PgError
	if errors.As(failed, &refused) {
		return failed
	}
	if failed == nil {
		failed = checkCommit(answers.Exec())
	}
	if failed != nil {
		return commitFailed(failed)
	}
	tx.ended = true
	return nil
}

func (tx *Tx) answers(from pgx.BatchResults, parts []part) error {
	if tx.begin != "" {
		for range 2 {
			if _, err := from.Exec(); err != nil {
				return fmt.Errorf("store: beginning: %w", err)
			}
			tx.begin = ""
		}
	}
	for i := range parts {
		p := &parts[i]
		if p.each == nil {
			tag, err := from.Exec()
			if err != nil {
				return err
			}
			if p.changed != nil {
				*p.changed += tag.RowsAffected()
			}
			continue
		}
		rows, err := from.Query()
		if err != nil {
			return err
		}
		for rows.Next() {
			if err := p.each(rows); err != nil {
				rows.Close()
				return err
			}
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}
