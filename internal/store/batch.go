package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Batch is a list of statements of which none needs the answer of another.
// PostgreSQL gets them all in one round trip, the beginning of the transaction
// with them; SQLite, which has no round trips, runs them one by one.
type Batch struct{ parts []part }

type part struct {
	text    string
	args    []any
	each    func(row Scanner) error // of queries
	changed *int64                  // of others, when somebody wants to know
}

// Scanner is one row of an answer.
type Scanner interface{ Scan(dest ...any) error }

// Exec adds a statement. The number of rows that it changed is put into
// changed, unless that is nil.
func (b *Batch) Exec(changed *int64, text string, args ...any) {
	b.parts = append(b.parts, part{text: text, args: args, changed: changed})
}

// Query adds a query; each is called for every row.
func (b *Batch) Query(each func(row Scanner) error, text string, args ...any) {
	b.parts = append(b.parts, part{text: text, args: args, each: each})
}

// Run runs the statements in their order and forgets them. After an error none
// of those that follow had any effect.
func (tx *Tx) Run(ctx context.Context, b *Batch) error {
	parts := b.parts
	b.parts = nil
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
			*p.changed = n
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
	err := tx.conn.sql.Raw(func(driver any) error {
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
				*p.changed = tag.RowsAffected()
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
