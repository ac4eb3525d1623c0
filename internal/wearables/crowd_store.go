package wearables

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// place is where a block of a user lies.
type place struct {
	user           uuid.UUID
	series, bucket int64
}

// heads are the stored blocks that a crowd's samples fall into.
type heads map[place]storedBlock

// buckets are the blocks that the new samples fall into, in time order.
func (w *seriesWrite) buckets() (all []int64) {
	for _, at := range w.add.Time {
		if bucket := w.series.bucketOf(at); len(all) == 0 || all[len(all)-1] != bucket {
			all = append(all, bucket)
		}
	}
	return all
}

// readHeads reads the blocks of a whole crowd at once.
func readHeads(ctx context.Context, tx *store.Tx, group []*pushed) (heads, error) {
	var at []place
	for _, p := range group {
		if p.alone {
			continue
		}
		for _, w := range p.job.series {
			for _, bucket := range w.buckets() {
				at = append(at, place{p.job.user, w.series.ID, bucket})
			}
		}
	}
	if len(at) == 0 {
		return nil, nil
	}
	all := make(heads, len(at))
	take := func(row store.Scanner) error {
		var p place
		var b storedBlock
		err := row.Scan(&p.user, &p.series, &p.bucket, &b.rev, &b.n, &b.sealed)
		b.bucket = p.bucket
		all[p] = b
		return err
	}
	team := group[0].team
	var b store.Batch
	if tx.Engine() == store.Postgres {
		users, series, buckets := columnsOfPlaces(at)
		// OFFSET 0 keeps each lookup a lookup, whatever the statistics say.
		b.Query(take, `SELECT f.user_id, f.series_id, f.bucket, f.rev, f.n, f.data
			FROM UNNEST($2::uuid[], $3::bigint[], $4::bigint[]) AS w(user_id, series_id, bucket)
			CROSS JOIN LATERAL (SELECT s.user_id, s.series_id, s.bucket, s.rev, s.n, s.data FROM sample_blocks s
				WHERE s.team_id = $1 AND s.user_id = w.user_id AND s.series_id = w.series_id AND s.bucket = w.bucket OFFSET 0) AS f`,
			team, users, series, buckets)
		return all, tx.Run(ctx, &b)
	}
	err := store.Split(at, []int{16, 4, 1}, func(part []place) error {
		args := make([]any, 0, 1+3*len(part))
		for _, p := range part {
			args = append(args, p.user, p.series, p.bucket)
		}
		b.Query(take, headsOf(len(part)), append(args, team)...)
		return nil
	})
	if err == nil {
		err = tx.Run(ctx, &b)
	}
	return all, err
}

// headsOf is SQLite's text for n blocks.
func headsOf(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(`, `)
		}
		b.WriteString(store.List(1+3*i, 3))
	}
	return `SELECT s.user_id, s.series_id, s.bucket, s.rev, s.n, s.data FROM (VALUES ` + b.String() + `) AS w
		CROSS JOIN sample_blocks s ON s.user_id = w.column1 AND s.series_id = w.column2 AND s.bucket = w.column3
		WHERE s.team_id = $` + strconv.Itoa(1+3*n)
}

func columnsOfPlaces(at []place) (users [][16]byte, series, buckets []int64) {
	for _, p := range at {
		users, series, buckets = append(users, p.user), append(series, p.series), append(buckets, p.bucket)
	}
	return users, series, buckets
}

// planOn merges the samples into the blocks that were read.
func (j *job) planOn(ctx context.Context, tx *store.Tx, stored heads) error {
	for _, w := range j.series {
		near := nearBlocks{series: &w.series, done: true}
		for _, bucket := range w.buckets() {
			if b, ok := stored[place{j.user, w.series.ID, bucket}]; ok {
				near.ahead = append(near.ahead, b)
			}
		}
		if err := w.planNear(ctx, tx, j, &near); err != nil {
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
				sealed, err := w.blocks[i].seal(ctx, tx, &w.series)
				if err != nil {
					return nil, err
				}
				d.batch.Insert(&d.written, intoBlocks, sealed.args(), replaceBlock)
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
		return errRace
	}
	return nil
}
