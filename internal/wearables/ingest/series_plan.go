package ingest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"hale/internal/platform/blocks"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// seriesPlan is what one batch does to one series. intake fills the first
// part; plan reads what is stored and fills the second; write stores it. plan
// may run again when write finds that somebody was faster.
type seriesPlan struct {
	resource *wearables.Resource
	id       storage.SeriesKey
	add      blocks.Columns // in time order, no time twice
	owned    bool           // add is a copy, not the caller's memory
	fellBack bool           // some of its offsets come from the fallback zone

	series storage.Series // ID 0 while there is none
	blocks []storage.BlockVersion
	counts wearables.Counts
	drafts []draft
	ready  []events.New // the drafts as events, where the series has its number
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
func (w *seriesPlan) plan(ctx context.Context, tx *store.Tx, j *job) error {
	known, ok := j.in.cache.get(j.user, w.id)
	if !ok {
		var err error
		if known, ok, err = storage.FindSeries(ctx, tx, j.team, j.user, w.id); err != nil {
			return err
		}
		switch {
		case !ok:
			known = w.id.Series(j.team, j.user, 0, widthFor(w.resource, &w.add))
		case j.snapshot: // what a write transaction reads may yet be rolled back
			j.in.cache.put(known, w.id)
		}
	}
	w.series = known
	return w.planNear(ctx, tx, j, storage.NewBlockCursor(&w.series, w.add.Time[len(w.add.Time)-1]))
}

// planNear merges the new samples into the blocks that near finds.
func (w *seriesPlan) planNear(ctx context.Context, tx *store.Tx, j *job, near *storage.BlockCursor) error {
	w.blocks, w.drafts, w.ready, w.counts = w.blocks[:0], w.drafts[:0], nil, wearables.Counts{}
	ws := workspaces.Get().(*workspace)
	defer ws.free()
	ws.created.Reset()
	ws.updated.Reset()
	if err := w.merge(ctx, tx, j, ws, near); err != nil {
		return err
	}
	if w.fellBack {
		storage.PlainOffsets(ws.created.Offset)
		storage.PlainOffsets(ws.updated.Offset)
	}
	if err := w.announce(j, created, &ws.created); err != nil {
		return err
	}
	return w.announce(j, updated, &ws.updated)
}

// merge walks over the new samples block by block.
func (w *seriesPlan) merge(ctx context.Context, tx *store.Tx, j *job, ws *workspace, near *storage.BlockCursor) error {
	width := w.series.Width.Microseconds()
	for i := 0; i < len(w.add.Time); {
		bucket := w.series.Bucket(w.add.Time[i])
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
		was, err := near.Find(ctx, tx, bucket)
		if err != nil {
			return err
		}
		if was != nil {
			rev = was.Rev
			if err := was.Open(ctx, tx, &w.series, &ws.old); err != nil {
				return err
			}
		}
		if err := w.mergeBlock(ws, &add, bucket, rev, j.announces); err != nil {
			return err
		}
	}
	return nil
}

func (w *seriesPlan) mergeBlock(ws *workspace, add *blocks.Columns, bucket, rev int64, announces bool) error {
	ch := &ws.changes
	if w.fellBack {
		spare(&ws.old, add)
	}
	blocks.Merge(&ws.merged, &ws.old, add, ch)
	w.counts.Add(wearables.Counts{Created: len(ch.Created), Updated: len(ch.Updated), Unchanged: ch.Unchanged})
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
	w.blocks = append(w.blocks, storage.BlockVersion{
		Bucket: bucket, Rev: rev + 1, N: n, First: ws.merged.Time[0], Last: ws.merged.Time[n-1],
		Packed: slices.Clone(ws.packed),
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
func (w *seriesPlan) write(ctx context.Context, tx *store.Tx, j *job) (storage.Series, error) {
	s := w.series
	if s.ID == 0 {
		made, err := storage.CreateSeries(ctx, tx, j.team, j.user, w.id, s.Width)
		if err != nil {
			return s, err
		}
		s = made
		tx.AfterCommit(func() { j.in.cache.put(made, w.id) })
	}
	for i := range w.blocks {
		if err := w.blocks[i].Write(ctx, tx, &s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// dense is the mean step below which a series is a stream and gets narrow
// blocks.
const dense = 10 * time.Second

// widthFor chooses the block width of a new series by its first samples.
func widthFor(r *wearables.Resource, c *blocks.Columns) time.Duration {
	n := c.Len()
	if n >= 60 && time.Duration(c.Time[n-1]-c.Time[0])*time.Microsecond/time.Duration(n-1) < dense {
		return min(r.Width, time.Hour)
	}
	return r.Width
}
