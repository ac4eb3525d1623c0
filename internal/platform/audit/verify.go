package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// Report is the result of Verify for one team.
type Report struct {
	Team    uuid.UUID
	Blocks  int64
	Entries int64
	// First and Last are the times of the first and the last block.
	First, Last time.Time
	// FirstBlock is 1 until the retention has removed blocks.
	FirstBlock, LastBlock int64
	// LastCode identifies the last block. A later report whose block of this number has
	// another code, or that ends before it, proves that an older copy was put back.
	LastCode []byte
	// Problems name what was changed, removed or added.
	Problems []string
}

// KnownBlock is a block that an earlier report named last.
type KnownBlock struct {
	Block int64
	Code  []byte
}

// Verify checks the chain of a team: each block and its rows. known is checked if it is
// set. progress is called with the number of each block.
func (l *Log) Verify(ctx context.Context, team uuid.UUID, known *KnownBlock, progress func(block int64)) (Report, error) {
	ctx = store.AsSystem(ctx)
	report := Report{Team: team}
	var before *link // of the block after the last
	var listed *chain
	seen := known == nil
	for {
		from := report.LastBlock
		var blocks []block
		err := l.db.Read(ctx, func(tx *store.Tx) (err error) {
			if from == 0 { // before the blocks, because the log grows
				if listed, err = readChain(ctx, tx, l.root, team); err != nil {
					return err
				}
			}
			blocks, err = readBlocks(ctx, tx, team, from)
			return err
		})
		if err != nil {
			return report, err
		}
		if len(blocks) == 0 {
			break
		}
		for i := range blocks {
			b := &blocks[i]
			if report.Blocks == 0 {
				report.FirstBlock, report.First = b.number, b.made
				report.Problems = append(report.Problems, checkFirst(b, listed)...)
			}
			report.Problems = append(report.Problems, l.check(b, team, before)...)
			if known != nil && known.Block == b.number {
				seen = true
				if !bytes.Equal(known.Code, b.code) {
					report.Problems = append(report.Problems, fmt.Sprintf("block %d is not the one that is known", b.number))
				}
			}
			before = &link{b.number + 1, b.code}
			report.Blocks, report.Entries = report.Blocks+1, report.Entries+int64(len(b.all))
			report.LastBlock, report.Last, report.LastCode = b.number, b.made, b.code
			progress(b.number)
		}
	}
	if !seen {
		report.Problems = append(report.Problems, fmt.Sprintf("block %d, which is known, is missing", known.Block))
	}
	report.Problems = append(report.Problems, checkLast(&report, listed)...)
	refused, err := l.refused(ctx, team)
	if err != nil {
		return report, err
	}
	if refused > 0 {
		report.Problems = append(report.Problems, fmt.Sprintf("%d waiting rows have no valid code and were refused", refused))
	}
	outside, err := l.hasRowsOutsideBlocks(ctx, team)
	if outside {
		report.Problems = append(report.Problems, "rows before the first or after the last block belong to no block")
	}
	return report, err
}

// checkFirst compares the first block of a chain with the list.
func checkFirst(b *block, listed *chain) (problems []string) {
	if b.number == 1 && len(b.previous) > 0 {
		problems = append(problems, "block 1 follows another block")
	}
	if listed == nil || !listed.valid {
		return problems
	}
	switch {
	case b.number > listed.first:
		problems = append(problems, fmt.Sprintf("the oldest blocks, %d to %d, are missing", listed.first, b.number-1))
	case b.number < listed.first:
		problems = append(problems, fmt.Sprintf("the log begins with block %d, not %d", listed.first, b.number))
	case !bytes.Equal(b.previous, listed.previous):
		problems = append(problems, fmt.Sprintf("block %d does not follow the block before it", b.number))
	}
	return problems
}

// checkLast compares the last block of a chain with the list. Nodes of an older version
// do not update the list, so there may be more blocks.
func checkLast(r *Report, listed *chain) []string {
	switch {
	case listed == nil:
		return nil
	case !listed.valid:
		return []string{"the entry of the team in the list of chains was changed"}
	case r.Blocks == 0 && listed.first <= listed.last:
		return []string{fmt.Sprintf("all blocks, %d to %d, are missing", listed.first, listed.last)}
	case r.Blocks > 0 && r.LastBlock < listed.last:
		return []string{fmt.Sprintf("the newest blocks, %d to %d, are missing", r.LastBlock+1, listed.last)}
	}
	return nil
}

// refused counts the rows of a team that have no valid code.
func (l *Log) refused(ctx context.Context, team uuid.UUID) (n int, err error) {
	err = l.db.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT COUNT(*) FROM audit_pending WHERE team_id = $1 AND refused = 1`, team).Scan(&n)
	})
	if err != nil {
		return 0, fmt.Errorf("audit: counting refused rows: %w", err)
	}
	return n, nil
}

// check returns the problems of a block. expected is its place after the block before,
// nil for the first one.
func (l *Log) check(b *block, team uuid.UUID, expected *link) (problems []string) {
	if expected != nil && b.number != expected.number {
		problems = append(problems, fmt.Sprintf("blocks %d to %d are missing", expected.number, b.number-1))
	}
	if expected != nil && b.number == expected.number && !bytes.Equal(b.previous, expected.previous) {
		problems = append(problems, fmt.Sprintf("block %d does not follow block %d", b.number, b.number-1))
	}
	if len(b.all) != b.entries {
		problems = append(problems, fmt.Sprintf("block %d has %d rows instead of %d", b.number, len(b.all), b.entries))
	}
	text, err := blockText(team, b.link, b.made, b.all)
	if err != nil || !l.root.CheckCode(text, b.code) {
		problems = append(problems, fmt.Sprintf("block %d or its rows were changed", b.number))
	}
	return problems
}

// block is a stored block with its rows.
type block struct {
	link
	made    time.Time
	entries int
	code    []byte
	all     []Entry
}

const blocksPerRead = 100

// readBlocks reads the blocks after a number, with their rows.
func readBlocks(ctx context.Context, tx *store.Tx, team uuid.UUID, after int64) (blocks []block, err error) {
	rows, err := tx.Query(ctx, `SELECT number, made_at, entries, previous, code FROM audit_blocks
		WHERE team_id = $1 AND number > $2 ORDER BY number LIMIT $3`, team, after, blocksPerRead)
	if err != nil {
		return nil, fmt.Errorf("audit: reading blocks: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var b block
		if err := rows.Scan(&b.number, store.ScanTime(&b.made), &b.entries, &b.previous, &b.code); err != nil {
			return nil, fmt.Errorf("audit: reading blocks: %w", err)
		}
		blocks = append(blocks, b)
	}
	if err := rows.Err(); err != nil || len(blocks) == 0 {
		return blocks, err
	}
	rows.Close()
	first, last := blocks[0].number, blocks[len(blocks)-1].number
	found, err := readRows(ctx, tx, `WHERE team_id = $1 AND block >= $2 AND block <= $3 ORDER BY block, n`, team, first, last)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, row := range found {
		for blocks[at].number < row.Block && at < len(blocks)-1 {
			at++
		}
		if blocks[at].number == row.Block {
			blocks[at].all = append(blocks[at].all, row.Entry)
		}
	}
	return blocks, nil
}

// hasRowsOutsideBlocks reports whether there are rows before the first or after the last block.
func (l *Log) hasRowsOutsideBlocks(ctx context.Context, team uuid.UUID) (found bool, err error) {
	err = l.db.Read(ctx, func(tx *store.Tx) error {
		var numbers [4]int64 // 0 without rows
		var b store.Batch
		for i, query := range []string{
			`SELECT number FROM audit_blocks WHERE team_id = $1 ORDER BY number LIMIT 1`,
			`SELECT number FROM audit_blocks WHERE team_id = $1 ORDER BY number DESC LIMIT 1`,
			`SELECT block FROM audit_log WHERE team_id = $1 ORDER BY block, n LIMIT 1`,
			`SELECT block FROM audit_log WHERE team_id = $1 ORDER BY block DESC, n DESC LIMIT 1`,
		} {
			b.Query(func(row store.Scanner) error { return row.Scan(&numbers[i]) }, query, team)
		}
		err := tx.Run(ctx, &b)
		found = numbers[2] != 0 && numbers[2] < numbers[0] || numbers[3] > numbers[1]
		return err
	})
	if err != nil {
		return false, fmt.Errorf("audit: looking for rows without a block: %w", err)
	}
	return found, nil
}

// Teams returns the teams that have a chain, or that the list of chains names, or that
// have a refused row.
func (l *Log) Teams(ctx context.Context) (all []uuid.UUID, err error) {
	ctx = store.AsSystem(ctx)
	err = l.db.Read(ctx, func(tx *store.Tx) error {
		found := map[uuid.UUID]bool{}
		// One key lookup for each team: DISTINCT would read all blocks.
		var last uuid.UUID
		for first := true; ; first = false {
			query, args := `SELECT team_id FROM audit_blocks WHERE team_id > $1 ORDER BY team_id, number LIMIT 1`, []any{last}
			if first {
				query, args = `SELECT team_id FROM audit_blocks ORDER BY team_id, number LIMIT 1`, nil
			}
			err := tx.QueryRow(ctx, query, args...).Scan(&last)
			if errors.Is(err, store.ErrNoRows) {
				break
			}
			if err != nil {
				return err
			}
			found[last] = true
		}
		var b store.Batch
		for _, query := range []string{`SELECT team_id FROM audit_chains`, `SELECT DISTINCT team_id FROM audit_pending WHERE refused = 1`} {
			b.Query(func(row store.Scanner) error {
				var team uuid.UUID
				err := row.Scan(&team)
				found[team] = true
				return err
			}, query)
		}
		err := tx.Run(ctx, &b)
		all = slices.SortedFunc(maps.Keys(found), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("audit: listing teams: %w", err)
	}
	return all, nil
}
