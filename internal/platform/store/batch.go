package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Batch is a list of statements of which none needs the answer of another.
// PostgreSQL gets them all in one round trip, the beginning of the transaction
// with them; SQLite, which has no round trips, runs them one by one. Rows that
// go into one table go there with few statements on both.
type Batch struct {
	parts   []part
	inserts []int // which parts are of Insert: as many as there are tables
}

type part struct {
	text    string
	args    []any
	each    func(row Scanner) error // of queries
	changed *int64                  // of others, when somebody wants to know
	rows    [][]any                 // of Insert: text is what goes before VALUES
	tail    string                  // and this what comes after
}

// Scanner is one row of an answer.
type Scanner interface{ Scan(dest ...any) error }

// Exec adds a statement. The number of rows that it changes is added to changed,
// unless that is nil.
func (b *Batch) Exec(changed *int64, text string, args ...any) {
	b.parts = append(b.parts, part{text: text, args: args, changed: changed})
}

// Insert adds a row to what goes into a table: into is everything before
// VALUES, tail what follows it, such as ON CONFLICT. Rows with the same two texts
// are written together; none of them may meet another one's conflict. The number
// of rows that were changed is added to changed, unless that is nil; it must be
// the same for all of them.
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

// Copy is a batch that can be run, and added to, while b stays as it is.
func (b *Batch) Copy() Batch {
	all := Batch{parts: slices.Clone(b.parts), inserts: slices.Clone(b.inserts)}
	for i := range all.parts {
		all.parts[i].rows = slices.Clip(all.parts[i].rows)
	}
	return all
}

// widest is how many rows one statement writes at most; fewer are written as
// powers of two, so that there are few texts to prepare.
const widest = 32

// statements are the parts as they are run.
func (db *DB) statements(parts []part) []part {
	all := make([]part, 0, len(parts))
	for _, p := range parts {
		if p.rows == nil {
			all = append(all, p)
			continue
		}
		for rows := p.rows; len(rows) > 0; {
			n := widest
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

// insertText builds an INSERT, or returns one that was built before: there are few.
func (db *DB) insertText(into, tail string, rows, columns int) string {
	key := insertKey{into, tail, rows, columns}
	if text, ok := db.insertTexts.Load(key); ok {
		return text.(string) //nolint:forcetypeassert // only texts are stored
	}
	var b strings.Builder
	b.WriteString(into + " VALUES ")
	for i := range rows {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(List(1+i*columns, columns))
	}
	b.WriteString(" " + tail)
	text := b.String()
	db.insertTexts.Store(key, text)
	return text
}

// Query adds a query; each is called for every row.
func (b *Batch) Query(each func(row Scanner) error, text string, args ...any) {
	b.parts = append(b.parts, part{text: text, args: args, each: each})
}

// Run runs the statements in their order and forgets them. After an error none
// of those that follow had any effect.
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

// pipeline sends everything at once and then reads the answers.
func (tx *Tx) pipeline(ctx context.Context, parts []part) error {
	var failed error
	err := tx.sql.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("store: a batch on a %T", driver)
		}
		var sent pgx.Batch
		if tx.begin != "" {
			sent.Queue(tx.begin)
			sent.Queue(`SELECT set_config('hale.team', $1, TRUE)`, tx.scope)
		}
		for i := range parts {
			sent.Queue(parts[i].text, bind(parts[i].args)...)
		}
		answers := c.Conn().SendBatch(ctx, &sent)
		failed = tx.answers(answers, parts)
		// The caller's error is about the transaction; an error returned here
		// would be about the connection.
		if err := answers.Close(); failed == nil {
			failed = err
		}
		return nil
	})
	return errors.Join(err, failed)
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
