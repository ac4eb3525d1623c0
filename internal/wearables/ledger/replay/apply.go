package replay

import (
	"context"
	"errors"
	"math"
	"slices"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// seed copies the samples and streams that are stored into the scratch database,
// for a user whose payloads do not tell the whole story: days and workouts are
// derived from all samples, also from those whose payload was forgotten, and a
// recording that breaks off yields to the stream of a whole one.
func (p *person) seed(ctx context.Context) error {
	if err := storage.CopyStreams(ctx, p.DB, p.scratch.db, p.user.Team.UUID(), p.user.ID.UUID()); err != nil {
		return err
	}
	return p.eachPage(ctx, p.DB, func(b wearables.Batch) error {
		b.Stage = wearables.Historical // nobody hears of it
		_, err := p.scratch.sink.Ingest(ctx, p.settled(), b)
		return err
	})
}

// settled is the user for what was stored before, here or in the scratch
// database: it is as it is, whatever the fallback zone is now.
func (p *person) settled() users.User {
	user := p.user
	user.TimeZone = nil
	return user
}

// apply gives the store what stands in the scratch database.
func (p *person) apply(ctx context.Context) error {
	if err := p.eachPage(ctx, p.scratch.db, func(b wearables.Batch) error { return p.give(ctx, b) }); err != nil {
		return err
	}
	for some := range slices.Chunk(p.read.order, 50) {
		batches, err := p.gather(ctx, some)
		if err != nil {
			return err
		}
		for _, b := range batches {
			if err := p.give(ctx, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachPage walks over all samples of the user in a database.
func (p *person) eachPage(ctx context.Context, db *store.DB, fn func(b wearables.Batch) error) error {
	for _, r := range wearables.Resources() {
		if r.Name == "hypnogram" { // read from sleep cycles, never stored
			continue
		}
		q := storage.SamplesQuery{Resource: r.Name, From: math.MinInt64 / 2, To: math.MaxInt64 / 2, Marked: true}
		err := shelf{db, p.user}.each(ctx, q, func(page []wearables.Samples) error {
			for _, b := range byProvider(page) {
				if err := fn(b); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func byProvider(page []wearables.Samples) (all []wearables.Batch) {
	for _, s := range page {
		at := slices.IndexFunc(all, func(b wearables.Batch) bool { return b.Provider == s.Source.Provider })
		if at < 0 {
			at = len(all)
			all = append(all, wearables.Batch{Provider: s.Source.Provider, Marked: true})
		}
		all[at].Samples = append(all[at].Samples, s)
	}
	return all
}

// gather reads summaries, and the streams of workouts among them, from the
// scratch database.
func (p *person) gather(ctx context.Context, some []uuid.UUID) (all []wearables.Batch, err error) {
	err = p.scratch.db.Read(ctx, func(tx *store.Tx) error {
		all = nil
		for _, id := range some {
			what := p.read.summaries[id]
			stored, err := storage.SummaryByID(ctx, tx, p.user.Team.UUID(), id, what.Resource)
			if errors.Is(err, store.ErrNoRows) { // today's rules refused it
				continue
			}
			if err != nil {
				return err
			}
			at := slices.IndexFunc(all, func(b wearables.Batch) bool { return b.Provider == what.provider })
			if at < 0 {
				at = len(all)
				all = append(all, wearables.Batch{Provider: what.provider})
			}
			summary := what.Summary
			summary.Body, summary.Source, summary.Measured = stored.Body, stored.Source, stored.Measured
			if day := stored.StatedDay(); !day.IsZero() { // maybe by a version before the last
				summary.Date = day
			}
			all[at].Summaries = append(all[at].Summaries, summary)
			if !p.read.streams[id] {
				continue
			}
			stream, err := storage.ReadStream(ctx, tx, &stored)
			if err != nil {
				return err
			}
			stream.WorkoutKey = summary.Key
			all[at].Streams = append(all[at].Streams, *stream)
		}
		return nil
	})
	return all, err
}

// give lets the store take a batch, unless nothing in it differs. What it
// changes is counted in the same transaction.
func (p *person) give(ctx context.Context, b wearables.Batch) error {
	b.Stage = wearables.Daily
	_, changes, err := p.Sink.Preview(ctx, p.settled(), b)
	if err != nil || len(changes) == 0 {
		return err
	}
	ahead := *p.run
	ahead.Report = p.run.Report.with(changes)
	if p.run.DryRun {
		*p.run = ahead
		return nil
	}
	b.Also = func(ctx context.Context, tx *store.Tx, _ *store.Batch) error {
		now, err := ledger.Latest(ctx, tx, p.user.Team, p.user.ID)
		if err != nil {
			return err
		}
		if now != p.mark {
			return errNewer
		}
		return ahead.save(ctx, tx)
	}
	if _, err = p.Sink.Ingest(ctx, p.settled(), b); err == nil {
		*p.run = ahead
	}
	return err
}
