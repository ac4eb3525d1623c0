package wearables

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"hale/internal/platform/blocks"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// seriesWrite is what one batch does to one series. intake fills the first
// part; plan reads what is stored and fills the second; write stores it. plan
// may run again when write finds that somebody was faster.
type seriesWrite struct {
	resource *Resource
	id       identity
	add      blocks.Columns // in time order, no time twice
	owned    bool           // add is a copy, not the caller's memory
	fellBack bool           // some of its offsets come from the fallback zone

	series Series // ID 0 while there is none
	blocks []blockWrite
	counts Counts
	drafts []draft
	ready  []events.New // the drafts as events, where the series has its number
}

// blockWrite is one changed block.
type blockWrite struct {
	bucket, rev int64 // rev is one above the one that was read
	n           int
	first, last int64 // times of its samples
	packed      []byte
}

// workspace is the memory that planning needs and the plan does not keep.
type workspace struct {
	old, merged      blocks.Columns
	created, updated blocks.Columns
	changes          blocks.Changes
	packed           []byte
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// keepSamples bounds the memory that is kept between batches.
const keepSamples = 1 << 17

func (ws *workspace) free() {
	if cap(ws.merged.Time) <= keepSamples && cap(ws.created.Time) <= keepSamples {
		workspaces.Put(ws)
	}
}

// plan reads the blocks that the new samples fall into, merges and packs
// them, and drafts the events.
func (w *seriesWrite) plan(ctx context.Context, tx *store.Tx, j *job) error {
	known, ok := j.in.cache.get(j.user, w.id)
	if !ok {
		var err error
		if known, ok, err = findSeries(ctx, tx, j.team, j.user, w.id); err != nil {
			return err
		}
		switch {
		case !ok:
			known = w.id.series(j.team, j.user, 0, widthFor(w.resource, &w.add))
		case j.snapshot: // what a write transaction reads may yet be rolled back
			j.in.cache.put(known, w.id)
		}
	}
	w.series = known
	return w.planNear(ctx, tx, j, &nearBlocks{series: &w.series, last: w.add.Time[len(w.add.Time)-1]})
}

// planNear merges the new samples into the blocks that near finds.
func (w *seriesWrite) planNear(ctx context.Context, tx *store.Tx, j *job, near *nearBlocks) error {
	w.blocks, w.drafts, w.ready, w.counts = w.blocks[:0], w.drafts[:0], nil, Counts{}
	ws := workspaces.Get().(*workspace)
	defer ws.free()
	ws.created.Reset()
	ws.updated.Reset()
	if err := w.merge(ctx, tx, j, ws, near); err != nil {
		return err
	}
	if w.fellBack {
		plainOffsets(ws.created.Offset)
		plainOffsets(ws.updated.Offset)
	}
	if err := w.announce(j, created, &ws.created); err != nil {
		return err
	}
	return w.announce(j, updated, &ws.updated)
}

// merge walks over the new samples block by block.
func (w *seriesWrite) merge(ctx context.Context, tx *store.Tx, j *job, ws *workspace, near *nearBlocks) error {
	width := w.series.Width.Microseconds()
	for i := 0; i < len(w.add.Time); {
		bucket := w.series.bucketOf(w.add.Time[i])
		end := i + 1
		for end < len(w.add.Time) && w.add.Time[end]-bucket < width {
			end++
		}
		add := w.add.Slice(i, end)
		i = end

		ws.old.Reset()
		ws.merged.Reset()
		ws.changes.Reset()
		rev := int64(0)
		was, err := near.find(ctx, tx, bucket)
		if err != nil {
			return err
		}
		if was != nil {
			rev = was.rev
			if err := was.open(ctx, tx, &w.series, &ws.old); err != nil {
				return err
			}
		}
		if err := w.mergeBlock(ws, &add, bucket, rev, j.announces); err != nil {
			return err
		}
	}
	return nil
}

func (w *seriesWrite) mergeBlock(ws *workspace, add *blocks.Columns, bucket, rev int64, announces bool) error {
	ch := &ws.changes
	if w.fellBack {
		spare(&ws.old, add)
	}
	blocks.Merge(&ws.merged, &ws.old, add, ch)
	w.counts.add(Counts{Created: len(ch.Created), Updated: len(ch.Updated), Unchanged: ch.Unchanged})
	if len(ch.Created)+len(ch.Updated) == 0 {
		return nil
	}
	if announces {
		collect(&ws.created, add, ch.Created)
		collect(&ws.updated, add, ch.Updated)
	}
	n := ws.merged.Len()
	if n > blocks.MaxSamples {
		return errCrowded
	}
	var err error
	if ws.packed, err = blocks.Append(ws.packed[:0], &ws.merged); err != nil {
		return fmt.Errorf("wearables: packing: %w", err)
	}
	w.blocks = append(w.blocks, blockWrite{
		bucket: bucket, rev: rev + 1, n: n, first: ws.merged.Time[0], last: ws.merged.Time[n-1],
		packed: slices.Clone(ws.packed),
	})
	return nil
}

// collect appends the samples at the positions to dst, neighbours together.
func collect(dst, from *blocks.Columns, at []int32) {
	for i := 0; i < len(at); {
		j := i + 1
		for j < len(at) && at[j] == at[j-1]+1 {
			j++
		}
		run := from.Slice(int(at[i]), int(at[j-1])+1)
		dst.Append(&run)
		i = j
	}
}

// write stores the plan. It returns errRace when the plan is out of date.
func (w *seriesWrite) write(ctx context.Context, tx *store.Tx, j *job) (Series, error) {
	s := w.series
	if s.ID == 0 {
		made, err := createSeries(ctx, tx, j.team, j.user, w.id, s.Width)
		if err != nil {
			return s, err
		}
		s = made
		tx.AfterCommit(func() { j.in.cache.put(made, w.id) })
	}
	for i := range w.blocks {
		if err := w.blocks[i].write(ctx, tx, &s); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (b *blockWrite) write(ctx context.Context, tx *store.Tx, s *Series) error {
	sealed, err := b.seal(ctx, tx, s)
	if err != nil {
		return err
	}
	changed, err := tx.Exec(ctx, upsertBlock, sealed.args()...)
	if err == nil && changed == 0 {
		return errRace
	}
	return err
}

const (
	blockColumns = `team_id, user_id, series_id, bucket, rev, n, t_min, t_max, data`
	// replaceBlock replaces the version of a block that was read, and no other.
	replaceBlock = `ON CONFLICT (user_id, series_id, bucket) DO UPDATE
		SET rev = excluded.rev, n = excluded.n, t_min = excluded.t_min, t_max = excluded.t_max, data = excluded.data
		WHERE sample_blocks.rev = excluded.rev - 1`
	intoBlocks  = `INSERT INTO sample_blocks (` + blockColumns + `)`
	upsertBlock = intoBlocks + ` VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ` + replaceBlock
)

// sealedBlock is a block as it goes into its row.
type sealedBlock struct {
	series *Series
	block  *blockWrite
	sealed []byte
}

func (b *blockWrite) seal(ctx context.Context, tx *store.Tx, s *Series) (sealedBlock, error) {
	sealed, err := tx.Seal(ctx, s.Team, s.User, placeOfBlock(s.ID, b.bucket), b.packed)
	return sealedBlock{s, b, sealed}, err
}

func (s *sealedBlock) args() []any {
	return []any{s.series.Team, s.series.User, s.series.ID, s.block.bucket, s.block.rev, s.block.n, s.block.first, s.block.last, s.sealed}
}

func placeOfBlock(series, bucket int64) string {
	place := append(make([]byte, 0, 64), "sample_blocks.data:"...)
	place = strconv.AppendInt(place, series, 10)
	place = strconv.AppendInt(append(place, ':'), bucket, 10)
	return string(place)
}

// storedBlock is a block as it lies in the database.
type storedBlock struct {
	bucket, rev int64
	n           int
	sealed      []byte
}

func (b *storedBlock) open(ctx context.Context, tx *store.Tx, s *Series, dst *blocks.Columns) error {
	packed, err := tx.Unseal(ctx, s.Team, s.User, placeOfBlock(s.ID, b.bucket), b.sealed)
	if err != nil {
		return err
	}
	if err := blocks.Decode(dst, packed); err != nil {
		return fmt.Errorf("wearables: series %d of user %s: %w", s.ID, s.User, err)
	}
	return nil
}

// nearBlocks finds the blocks of a series in time order, many with one query.
type nearBlocks struct {
	series *Series
	last   int64 // no later block is asked for
	ahead  []storedBlock
	done   bool // nothing is behind ahead
}

func (n *nearBlocks) find(ctx context.Context, tx *store.Tx, bucket int64) (*storedBlock, error) {
	for len(n.ahead) > 0 && n.ahead[0].bucket < bucket {
		n.ahead = n.ahead[1:]
	}
	if len(n.ahead) == 0 && !n.done && n.series.ID != 0 {
		var err error
		if n.ahead, err = readBlocks(ctx, tx, n.series, bucket, n.last); err != nil {
			return nil, err
		}
		n.done = len(n.ahead) < blocksAtOnce
	}
	if len(n.ahead) > 0 && n.ahead[0].bucket == bucket {
		return &n.ahead[0], nil
	}
	return nil, nil
}

// blocksAtOnce is how many blocks one query brings at most. It stands in the
// text, since SQLite plans a statement anew whenever a bound LIMIT changes.
const (
	blocksAtOnce = 256
	selectBlocks = `SELECT bucket, rev, n, data FROM sample_blocks
		WHERE team_id = $1 AND user_id = $2 AND series_id = $3 AND bucket BETWEEN $4 AND $5
		ORDER BY bucket LIMIT 256`
)

// readBlocks reads the first blocksAtOnce blocks that start between two
// instants, inclusive, in time order.
func readBlocks(ctx context.Context, tx *store.Tx, s *Series, from, to int64) ([]storedBlock, error) {
	rows, err := tx.Query(ctx, selectBlocks, s.Team, s.User, s.ID, from, to)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []storedBlock
	for rows.Next() {
		var b storedBlock
		if err := rows.Scan(&b.bucket, &b.rev, &b.n, &b.sealed); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, rows.Err()
}
