package audit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// The list of chains has an entry for each team: the first and the last block of its
// chain. The retention moves the first one. The entries are numbered, and the instance
// has their number. Codes cover all of this, so a chain, its oldest or its newest blocks
// do not disappear unnoticed. A person who puts an older copy of everything back is
// noticed only with a known block.

// chain is the entry of a team.
type chain struct {
	n        int64
	first    int64  // the oldest block that the retention has left
	previous []byte // code of the block before it
	last     int64
	valid    bool // its code is right
}

// listing is the list as a whole.
type listing struct {
	begun  time.Time // zero before the list exists
	chains int64
	valid  bool
}

// uncodedTime is the time after the list began for which PostgreSQL accepts waiting rows
// without a code. So nodes of older versions can serve during an update.
const uncodedTime = 24 * time.Hour

// parts returns a text of parts. Each part has its length before it, so that two
// different sequences of parts have different texts. The first part names the kind of
// the text. The text of a block begins with 16 bytes, and no kind has as many.
func parts(all ...[]byte) []byte {
	var text bytes.Buffer
	for _, b := range all {
		_ = binary.Write(&text, binary.BigEndian, uint32(len(b))) // to memory
		text.Write(b)
	}
	return text.Bytes()
}

func number(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// waitingText returns the text that the code of a waiting row covers.
func waitingText(team, id uuid.UUID, body string) []byte {
	return parts([]byte("waiting"), team[:], id[:], []byte(body))
}

func (c *chain) text(team uuid.UUID) []byte {
	return parts([]byte("chain"), team[:], number(c.n), number(c.first), c.previous, number(c.last))
}

func (l *listing) text() []byte {
	return parts([]byte("list"), number(store.Micros(l.begun)), number(l.chains))
}

// readChain reads the entry of a team. It returns nil if there is none.
func readChain(ctx context.Context, tx *store.Tx, root *secrets.Root, team uuid.UUID) (*chain, error) {
	var c chain
	var code []byte
	err := tx.QueryRow(ctx, `SELECT n, first, previous, last, code FROM audit_chains WHERE team_id = $1`, team).
		Scan(&c.n, &c.first, &c.previous, &c.last, &code)
	if errors.Is(err, store.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("audit: reading where a chain begins: %w", err)
	}
	c.valid = root.CheckCode(c.text(team), code)
	return &c, nil
}

func readListing(ctx context.Context, tx *store.Tx, root *secrets.Root) (l listing, err error) {
	var begun int64
	var code []byte
	err = tx.QueryRow(ctx, `SELECT audit_listed_at, audit_chains, audit_code FROM instance WHERE id = 1`).Scan(&begun, &l.chains, &code)
	if err != nil {
		return l, fmt.Errorf("audit: reading the list of chains: %w", err)
	}
	if begun != 0 {
		l.begun = time.UnixMicro(begun)
		l.valid = root.CheckCode(l.text(), code)
	}
	return l, nil
}

// write stores the entry of a team with its code.
func (c *chain) write(ctx context.Context, tx *store.Tx, root *secrets.Root, team uuid.UUID) error {
	code, err := root.Code(c.text(team))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO audit_chains (team_id, n, first, previous, last, code) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (team_id) DO UPDATE SET first = excluded.first, previous = excluded.previous, last = excluded.last, code = excluded.code`,
		team, c.n, c.first, c.previous, c.last, code)
	if err != nil {
		return fmt.Errorf("audit: writing where a chain begins: %w", err)
	}
	return nil
}

func (l *listing) write(ctx context.Context, tx *store.Tx, root *secrets.Root) error {
	code, err := root.Code(l.text())
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE instance SET audit_listed_at = $1, audit_chains = $2, audit_code = $3 WHERE id = 1`,
		store.Micros(l.begun), l.chains, code)
	if err != nil {
		return fmt.Errorf("audit: writing the list of chains: %w", err)
	}
	return nil
}

// list adds a team's chain to the list. It does nothing without a valid list.
func list(ctx context.Context, tx *store.Tx, root *secrets.Root, team uuid.UUID, c chain) error {
	if err := tx.Lock(ctx, "audit chains"); err != nil {
		return err
	}
	all, err := readListing(ctx, tx, root)
	if err != nil || !all.valid {
		return err
	}
	all.chains++
	c.n = all.chains
	return errors.Join(c.write(ctx, tx, root, team), all.write(ctx, tx, root))
}

// Prepare begins the list of chains in a database that has none. It lists the chains
// that exist, and gives waiting rows of an older version their codes. Several nodes may
// call it at once.
//
// known says that the caller has seen the list of this database before. Then a database
// without a list was changed by hand, and Prepare leaves it so.
func (l *Log) Prepare(ctx context.Context, known bool) error {
	ctx = store.AsSystem(ctx)
	err := l.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Lock(ctx, "audit chains"); err != nil {
			return err
		}
		all, err := readListing(ctx, tx, l.root)
		if err != nil || known || !all.begun.IsZero() {
			return err
		}
		all.begun = tx.Now()
		if err := l.codeWaiting(ctx, tx); err != nil {
			return err
		}
		return all.write(ctx, tx, l.root)
	})
	if err != nil {
		return err
	}
	teams, err := l.unlisted(ctx)
	for _, team := range teams {
		err = errors.Join(err, l.db.Write(ctx, func(tx *store.Tx) error { return l.listExisting(ctx, tx, team) }))
	}
	return err
}

// codeWaiting gives the rows that an older version left their codes.
func (l *Log) codeWaiting(ctx context.Context, tx *store.Tx) error {
	var b, write store.Batch
	b.Query(func(row store.Scanner) error {
		var team, id uuid.UUID
		var body string
		if err := row.Scan(&team, &id, &body); err != nil {
			return err
		}
		code, err := l.root.Code(waitingText(team, id, body))
		write.Exec(nil, `UPDATE audit_pending SET code = $1 WHERE team_id = $2 AND id = $3`, code, team, id)
		return err
	}, `SELECT team_id, id, body FROM audit_pending WHERE code IS NULL AND refused = 0`)
	if err := tx.Run(ctx, &b); err != nil {
		return fmt.Errorf("audit: reading rows of an older version: %w", err)
	}
	return tx.Run(ctx, &write)
}

// listExisting lists the chain that an older version wrote for a team.
func (l *Log) listExisting(ctx context.Context, tx *store.Tx, team uuid.UUID) error {
	if err := tx.Lock(ctx, "audit:"+team.String()); err != nil {
		return err
	}
	if c, err := readChain(ctx, tx, l.root, team); err != nil || c != nil {
		return err
	}
	ends, err := readEnds(ctx, tx, team)
	if err != nil || ends.last == 0 {
		return err
	}
	return list(ctx, tx, l.root, team, ends)
}

// readEnds returns the first and the last block of a stored chain, zero without blocks.
func readEnds(ctx context.Context, tx *store.Tx, team uuid.UUID) (c chain, err error) {
	var b store.Batch
	b.Query(func(row store.Scanner) error { return row.Scan(&c.first, &c.previous) },
		`SELECT number, previous FROM audit_blocks WHERE team_id = $1 ORDER BY number LIMIT 1`, team)
	b.Query(func(row store.Scanner) error { return row.Scan(&c.last) },
		`SELECT number FROM audit_blocks WHERE team_id = $1 ORDER BY number DESC LIMIT 1`, team)
	if err := tx.Run(ctx, &b); err != nil {
		return c, fmt.Errorf("audit: reading the ends of a chain: %w", err)
	}
	return c, nil
}

// unlisted returns the teams whose chain is not in the list.
func (l *Log) unlisted(ctx context.Context) (teams []uuid.UUID, err error) {
	all, err := l.Teams(ctx)
	if err != nil {
		return nil, err
	}
	err = l.db.Read(ctx, func(tx *store.Tx) error {
		for _, team := range all {
			c, err := readChain(ctx, tx, l.root, team)
			if err != nil {
				return err
			}
			if c == nil {
				teams = append(teams, team)
			}
		}
		return nil
	})
	return teams, err
}

// Examine checks the list of chains as a whole, and counts the rows that were refused.
// known is as in Prepare. It reads no blocks.
func (l *Log) Examine(ctx context.Context, known bool) (problems []string, refused int, err error) {
	ctx = store.AsSystem(ctx)
	err = l.db.Read(ctx, func(tx *store.Tx) error {
		all, err := readListing(ctx, tx, l.root)
		if err != nil {
			return err
		}
		var next, changed int64 = 1, 0
		rows, err := tx.Query(ctx, `SELECT team_id, n, first, previous, last, code FROM audit_chains ORDER BY n`)
		if err != nil {
			return fmt.Errorf("audit: reading the list of chains: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var team uuid.UUID
			var c chain
			var code []byte
			if err := rows.Scan(&team, &c.n, &c.first, &c.previous, &c.last, &code); err != nil {
				return fmt.Errorf("audit: reading the list of chains: %w", err)
			}
			if !l.root.CheckCode(c.text(team), code) {
				changed++ // Verify names it
			}
			if c.n > next {
				problems = append(problems, removedChains(next, c.n-1))
			}
			next = c.n + 1
		}
		if err := rows.Err(); err != nil {
			return err
		}
		rows.Close()
		switch {
		case all.begun.IsZero() && (known || next > 1):
			problems = append(problems, "the list of chains is missing")
		case !all.begun.IsZero() && (!all.valid || all.chains < next-1):
			problems = append(problems, "the length of the list of chains was changed")
		case all.chains >= next:
			problems = append(problems, removedChains(next, all.chains))
		}
		if changed > 0 {
			problems = append(problems, fmt.Sprintf("%d entries of the list of chains were changed", changed))
		}
		return tx.QueryRow(ctx, `SELECT COUNT(*) FROM audit_pending WHERE refused = 1`).Scan(&refused)
	})
	return problems, refused, err
}

func removedChains(from, to int64) string {
	return fmt.Sprintf("the chains %d to %d of the list are missing", from, to)
}
