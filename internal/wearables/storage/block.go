package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Block is a stored block of a series. Its samples are still sealed.
type Block struct {
	Bucket  int64 // start of the time that it covers, UTC microseconds
	Rev     int64
	n       int
	changed int64 // when the block changed last, UTC microseconds; 0 if before that was stored
	sealed  []byte
	deleted []byte // fingerprints of its deleted samples, sealed; see deleted.go
}

// Open appends the samples of the block, each with its time of storage in UTC
// milliseconds. The time is 1 for samples from before these times were recorded.
//
// A block contains these times only if they differ. Its greatest time is not the real one:
// Open replaces it with the time of the last change from the row of the block. The block
// itself cannot contain that time, because a plan that packs a block does not know when
// its transaction commits.
func (b *Block) Open(ctx context.Context, tx *store.Tx, s *Series, dst *blocks.Columns) error {
	packed, err := tx.Unseal(ctx, s.Team, s.User, placeOfBlock(s.ID, b.Bucket), b.sealed)
	if err != nil {
		return err
	}
	begin := dst.Len()
	if err := blocks.Decode(dst, packed); err != nil {
		return fmt.Errorf("storage: series %d of user %s: %w", s.ID, s.User, err)
	}
	changed := max(b.changed/1000, 1)
	dst.Written = append(dst.Written, make([]int64, dst.Len()-len(dst.Written))...)
	written := dst.Written[begin:]
	if len(written) == 0 {
		return nil
	}
	last := slices.Max(written)
	for i, at := range written {
		if at == last {
			written[i] = changed
		}
	}
	return nil
}

// MarkWritten sets the times of storage of the samples of a merged block. A time of 0
// marks a new sample. A time of −n marks a new sample that n later samples of the same
// key in the batch replace. It counts as stored n ms before planned, a time in UTC
// milliseconds. If planned is 0, that is n ms before the transaction.
//
// The result says when the newest sample of the block was stored: lag ms before the
// transaction. If changed is not 0, it is that time, in UTC microseconds.
func MarkWritten(merged *blocks.Columns, planned int64) (lag, changed int64) {
	last, first, best, marked := int64(0), int64(0), int64(math.MinInt64), false
	for i, at := range merged.Written {
		if at <= 0 {
			first, best = min(first, at), max(best, at)
		}
		if at < 0 && planned != 0 {
			at = max(planned+at, 1)
			merged.Written[i] = at
		}
		last, marked = max(last, at), marked || at != 0
	}
	if !marked {
		merged.Written = merged.Written[:0]
		return 0, 0
	}
	if best == math.MinInt64 {
		return 0, 0
	}
	if planned != 0 {
		if first = 0; best < 0 {
			return 0, last * 1000
		}
	}
	for i, at := range merged.Written {
		if at <= 0 {
			merged.Written[i] = last + 1 + at - first
		}
	}
	return -best, 0
}

// placeOfBlock returns the location for which the samples of a block are sealed.
func placeOfBlock(series, bucket int64) string {
	place := append(make([]byte, 0, 64), "sample_blocks.data:"...)
	place = strconv.AppendInt(place, series, 10)
	place = strconv.AppendInt(append(place, ':'), bucket, 10)
	return string(place)
}

// blocksAtOnce bounds the blocks that one query returns. The number is part
// of the text: SQLite prepares a statement again whenever a bound LIMIT changes.
const (
	blocksAtOnce = 256
	selectBlocks = `SELECT bucket, rev, n, changed_at, data, deleted FROM sample_blocks
		WHERE team_id = $1 AND user_id = $2 AND series_id = $3 AND bucket BETWEEN $4 AND $5
		ORDER BY bucket LIMIT 256`
)

// readBlocks reads the first blocksAtOnce blocks that start between two
// instants, inclusive, in time order.
func readBlocks(ctx context.Context, tx *store.Tx, s *Series, from, to int64) ([]Block, error) {
	rows, err := tx.Query(ctx, selectBlocks, s.Team, s.User, s.ID, from, to)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Block
	for rows.Next() {
		var b Block
		if err := rows.Scan(&b.Bucket, &b.Rev, &b.n, &b.changed, &b.sealed, &b.deleted); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, rows.Err()
}

// BlockCursor finds blocks of a series in time order, many with one query.
type BlockCursor struct {
	series *Series
	last   int64 // no later block is read
	ahead  []Block
	done   bool // there is no block behind ahead
}

// NewBlockCursor returns a cursor over the blocks up to an instant. A series
// without an ID has none.
func NewBlockCursor(s *Series, last int64) *BlockCursor {
	return &BlockCursor{series: s, last: last, done: s.ID == 0}
}

// CursorOver returns a cursor over blocks that were read, in time order.
func CursorOver(all []Block) *BlockCursor { return &BlockCursor{ahead: all, done: true} }

// Find returns the block that starts at bucket, or nil. Calls must ask for buckets in
// time order.
func (c *BlockCursor) Find(ctx context.Context, tx *store.Tx, bucket int64) (*Block, error) {
	for len(c.ahead) > 0 && c.ahead[0].Bucket < bucket {
		c.ahead = c.ahead[1:]
	}
	if len(c.ahead) == 0 && !c.done {
		var err error
		if c.ahead, err = readBlocks(ctx, tx, c.series, bucket, c.last); err != nil {
			return nil, err
		}
		c.done = len(c.ahead) < blocksAtOnce
	}
	if len(c.ahead) > 0 && c.ahead[0].Bucket == bucket {
		return &c.ahead[0], nil
	}
	return nil, nil
}

// BlockKey identifies a block of any user.
type BlockKey struct {
	User           uuid.UUID
	Series, Bucket int64
}

// BlocksOf reads blocks of several users of a team. The result omits blocks that are not
// stored.
func BlocksOf(ctx context.Context, tx *store.Tx, team teams.ID, keys []BlockKey) (map[BlockKey]Block, error) {
	found := make(map[BlockKey]Block, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	take := func(row store.Scanner) error {
		var k BlockKey
		var b Block
		err := row.Scan(&k.User, &k.Series, &k.Bucket, &b.Rev, &b.n, &b.changed, &b.sealed, &b.deleted)
		b.Bucket = k.Bucket
		found[k] = b
		return err
	}
	var b store.Batch
	if tx.Engine() == store.Postgres {
		var users [][16]byte
		var series, buckets []int64
		for _, k := range keys {
			users, series, buckets = append(users, k.User), append(series, k.Series), append(buckets, k.Bucket)
		}
		// OFFSET 0 keeps the planner from merging the subquery into the join. So each
		// block is looked up in the index, for any statistics of the table.
		b.Query(take, `SELECT f.user_id, f.series_id, f.bucket, f.rev, f.n, f.changed_at, f.data, f.deleted
			FROM UNNEST($2::uuid[], $3::bigint[], $4::bigint[]) AS w(user_id, series_id, bucket)
			CROSS JOIN LATERAL (SELECT s.user_id, s.series_id, s.bucket, s.rev, s.n, s.changed_at, s.data, s.deleted FROM sample_blocks s
				WHERE s.team_id = $1 AND s.user_id = w.user_id AND s.series_id = w.series_id AND s.bucket = w.bucket OFFSET 0) AS f`,
			team, users, series, buckets)
		return found, tx.Run(ctx, &b)
	}
	err := store.Chunks(keys, []int{16, 4, 1}, func(part []BlockKey) error {
		args := make([]any, 0, 1+3*len(part))
		for _, k := range part {
			args = append(args, k.User, k.Series, k.Bucket)
		}
		b.Query(take, selectBlocksOf(len(part)), append(args, team)...)
		return nil
	})
	if err == nil {
		err = tx.Run(ctx, &b)
	}
	return found, err
}

// selectBlocksOf returns the statement of BlocksOf for n blocks on SQLite.
func selectBlocksOf(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(`, `)
		}
		b.WriteString(store.Placeholders(1+3*i, 3))
	}
	return `SELECT s.user_id, s.series_id, s.bucket, s.rev, s.n, s.changed_at, s.data, s.deleted FROM (VALUES ` + b.String() + `) AS w
		CROSS JOIN sample_blocks s ON s.user_id = w.column1 AND s.series_id = w.column2 AND s.bucket = w.column3
		WHERE s.team_id = $` + strconv.Itoa(1+3*n)
}

// ErrStale is returned if a row was written since it was read.
var ErrStale = errors.New("storage: a row has changed since it was read")

// checkChanged returns the error of a statement that changes one row only if the row is still as
// read. changed is the number of changed rows.
func checkChanged(changed int64, err error) error {
	if err == nil && changed == 0 {
		return ErrStale
	}
	return err
}

// BlockVersion is a new version of a block.
type BlockVersion struct {
	Bucket, Rev int64 // Rev is one above the version that was read
	N           int
	First, Last int64  // times of its samples
	Packed      []byte // the samples, as package blocks packs them
	Lag         int64  // milliseconds by which its newest sample is older than the transaction
	Changed     int64  // when its newest sample was stored, UTC microseconds; 0 means by this transaction
}

const (
	intoBlocks = `INSERT INTO sample_blocks (team_id, user_id, series_id, bucket, rev, n, t_min, t_max, data, changed_at)`
	// replaceBlock replaces the version of a block that was read, and no other.
	replaceBlock = `ON CONFLICT (user_id, series_id, bucket) DO UPDATE
		SET rev = excluded.rev, n = excluded.n, t_min = excluded.t_min, t_max = excluded.t_max, data = excluded.data, changed_at = excluded.changed_at
		WHERE sample_blocks.rev = excluded.rev - 1`
	upsertBlock = intoBlocks + ` VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ` + replaceBlock
)

// Write stores the version. It returns ErrStale unless the previous version is still
// stored.
func (v *BlockVersion) Write(ctx context.Context, tx *store.Tx, s *Series) error {
	row, err := v.row(ctx, tx, s)
	if err != nil {
		return err
	}
	return checkChanged(tx.Exec(ctx, upsertBlock, row...))
}

// AddTo adds the sealed version to a batch of statements. The batch adds to
// written the rows that it changes: one less means ErrStale.
func (v *BlockVersion) AddTo(ctx context.Context, tx *store.Tx, s *Series, b *store.Batch, written *int64) error {
	row, err := v.row(ctx, tx, s)
	if err != nil {
		return err
	}
	b.Insert(written, intoBlocks, row, replaceBlock)
	return nil
}

func (v *BlockVersion) row(ctx context.Context, tx *store.Tx, s *Series) ([]any, error) {
	sealed, err := tx.Seal(ctx, s.Team, s.User, placeOfBlock(s.ID, v.Bucket), v.Packed)
	changed := cmp.Or(v.Changed, store.Micros(tx.Now())-1000*v.Lag)
	return []any{s.Team, s.User, s.ID, v.Bucket, v.Rev, v.N, v.First, v.Last, sealed, changed}, err
}
