package ingest

import (
	"context"
	"slices"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables/storage"
)

// buckets are the blocks that the new samples fall into, in time order.
func (w *seriesPlan) buckets() (all []int64) {
	for _, at := range w.add.Time {
		if bucket := w.series.Bucket(at); len(all) == 0 || all[len(all)-1] != bucket {
			all = append(all, bucket)
		}
	}
	return all
}

// readStored reads the blocks that the samples of a group fall into.
func readStored(ctx context.Context, tx *store.Tx, group []*pushed) (map[storage.BlockKey]storage.Block, error) {
	var keys []storage.BlockKey
	for _, p := range group {
		if p.alone {
			continue
		}
		for _, w := range p.job.series {
			for _, bucket := range w.buckets() {
				keys = append(keys, storage.BlockKey{User: p.job.user, Series: w.series.ID, Bucket: bucket})
			}
		}
	}
	return storage.BlocksOf(ctx, tx, group[0].team, keys)
}

// planOn merges the samples into the blocks that were read.
func (j *job) planOn(ctx context.Context, tx *store.Tx, stored map[storage.BlockKey]storage.Block) error {
	for _, w := range j.series {
		var known []storage.Block
		for _, bucket := range w.buckets() {
			if b, ok := stored[storage.BlockKey{User: j.user, Series: w.series.ID, Bucket: bucket}]; ok {
				known = append(known, b)
			}
		}
		if err := w.planNear(ctx, tx, j, storage.CursorOver(known)); err != nil {
			return err
		}
	}
	j.listen()
	return nil
}

// crowdDraft is the plans of a crowd as they are written: sealed, so that
// SQLite's one writer has nothing to do but write. It may be written more than
// once.
type crowdDraft struct {
	batch  store.Batch
	events events.Drafts
	jobs   []*job

	blocks, written int64
}

// draftCrowd seals what the plans of a crowd write: blocks, statistics, events,
// and what goes into the ledger. Who cannot be drafted on a reader goes alone.
func (in *Ingester) draftCrowd(ctx context.Context, tx *store.Tx, group []*pushed) (*crowdDraft, error) {
	d := &crowdDraft{}
	var all []events.New
	var notes []noted
	for _, p := range group {
		if p.alone {
			continue
		}
		if p.job.also != nil {
			if err := p.job.also(ctx, tx, &d.batch); err != nil {
				if tx.ReadOnly() {
					p.alone = true
					continue
				}
				return nil, err
			}
		}
		var own []events.New
		for _, w := range p.job.series {
			own = append(own, w.events(p.job, &w.series)...)
			for i := range w.blocks {
				if err := w.blocks[i].AddTo(ctx, tx, &w.series, &d.batch, &d.written); err != nil {
					return nil, err
				}
				d.blocks++
			}
		}
		notes = append(notes, p.job.notes(tx.Now(), own)...)
		all = append(all, own...)
		d.jobs = append(d.jobs, p.job)
	}
	slices.SortFunc(notes, noted.compare) // one order for all, so that no two wait for each other
	for i := range notes {
		d.batch.Insert(nil, intoHeard, notes[i].args(), replaceHeard)
	}
	var err error
	d.events, err = events.Draft(ctx, tx, all)
	return d, err
}

// write writes the draft, and tells of it.
func (d *crowdDraft) write(ctx context.Context, tx *store.Tx) error {
	for _, j := range d.jobs {
		if err := j.tell(ctx, tx); err != nil {
			return err
		}
	}
	b := d.batch.Copy()
	if err := d.events.Add(ctx, tx, &b); err != nil {
		return err
	}
	d.written = 0
	if err := tx.Run(ctx, &b); err != nil {
		return err
	}
	if d.written != d.blocks {
		return storage.ErrStale
	}
	return nil
}
