package wearables

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hale/internal/events"
	"hale/internal/store"
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
	} else {
		for _, p := range at {
			b.Query(take, `SELECT user_id, series_id, bucket, rev, n, data FROM sample_blocks
				WHERE team_id = $1 AND user_id = $2 AND series_id = $3 AND bucket = $4`, team, p.user, p.series, p.bucket)
		}
	}
	return all, tx.Run(ctx, &b)
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
	return nil
}

// writeCrowd writes the plans of a crowd: blocks, statistics, events.
func (in *Ingester) writeCrowd(ctx context.Context, tx *store.Tx, group []*pushed) error {
	var b store.Batch
	var all []events.New
	var notes []noted
	var blocks []sealedBlock
	for _, p := range group {
		if p.alone {
			continue
		}
		if p.job.also != nil {
			if err := p.job.also(ctx, tx); err != nil {
				return err
			}
		}
		var own []events.New
		for _, w := range p.job.series {
			own = append(own, w.events(p.job, &w.series)...)
			for i := range w.blocks {
				sealed, err := w.blocks[i].seal(ctx, tx, &w.series)
				if err != nil {
					return err
				}
				blocks = append(blocks, sealed)
			}
		}
		if err := p.job.tell(ctx, tx); err != nil {
			return err
		}
		notes = append(notes, p.job.notes(tx.Now(), own)...)
		all = append(all, own...)
	}
	changed := make([]int64, len(blocks))
	addBlocks(&b, tx, blocks, changed)
	addNotes(&b, tx, notes)
	if _, err := events.Add(ctx, tx, &b, all); err != nil {
		return err
	}
	if err := tx.Run(ctx, &b); err != nil {
		return err
	}
	written := int64(0)
	for _, n := range changed {
		written += n
	}
	if written != int64(len(blocks)) {
		return errRace
	}
	return nil
}

// addBlocks adds the writing of blocks; the sum of changed is their number
// unless somebody else was faster with one.
func addBlocks(b *store.Batch, tx *store.Tx, all []sealedBlock, changed []int64) {
	if len(all) == 0 {
		return
	}
	if tx.Engine() == store.SQLite {
		for i := range all {
			b.Exec(&changed[i], upsertBlock, all[i].args()...)
		}
		return
	}
	at := make([]place, len(all))
	revs, ns, firsts, lasts := make([]int64, len(all)), make([]int64, len(all)), make([]int64, len(all)), make([]int64, len(all))
	datas := make([][]byte, len(all))
	for i, s := range all {
		at[i] = place{s.series.User, s.series.ID, s.block.bucket}
		revs[i], ns[i], firsts[i], lasts[i], datas[i] = s.block.rev, int64(s.block.n), s.block.first, s.block.last, s.sealed
	}
	users, series, buckets := columnsOfPlaces(at)
	b.Exec(&changed[0], `INSERT INTO sample_blocks (`+blockColumns+`)
		SELECT $1, w.* FROM UNNEST($2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bytea[]) AS w
		`+replaceBlock, all[0].series.Team, users, series, buckets, revs, ns, firsts, lasts, datas)
}

// addNotes adds the statistics of introspection, in an order that all crowds
// share, so that no two wait for each other.
func addNotes(b *store.Batch, tx *store.Tx, all []noted) {
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, noted.compare)
	if tx.Engine() == store.SQLite {
		for i := range all {
			b.Exec(nil, upsertHeard, all[i].args()...)
		}
		return
	}
	n := len(all)
	users, providers, resources := make([][16]byte, n), make([]string, n), make([]string, n)
	stored, sent := make([]bool, n), make([]int64, n)
	oldest, newest, history := make([]*int64, n), make([]*int64, n), make([]*int64, n)
	for i := range all {
		h := &all[i]
		users[i], providers[i], resources[i], stored[i], sent[i] = h.user, h.provider, h.resource, h.stored, h.sent
		oldest[i], newest[i], history[i] = h.oldest, h.newest, h.history
	}
	b.Exec(nil, `INSERT INTO resource_statistics AS s (`+heardColumns+`)
		SELECT $1, w.user_id, w.provider, w.resource, $2, w.stored, w.sent, w.oldest, w.newest, w.history, w.history
		FROM UNNEST($3::uuid[], $4::text[], $5::text[], $6::boolean[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[])
			AS w(user_id, provider, resource, stored, sent, oldest, newest, history)
		`+replaceHeard, all[0].team, all[0].at, users, providers, resources, stored, sent, oldest, newest, history)
}
