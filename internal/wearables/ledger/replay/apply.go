package replay

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/push"
	"hale/internal/wearables/storage"
)

// seed copies stored samples and streams into the scratch database, for a user whose
// payloads are incomplete. Days and workouts are derived from all samples, also from those
// without a payload, and a complete stream has priority over an incomplete recording.
func (p *person) seed(ctx context.Context) error {
	if err := storage.CopyStreams(ctx, p.DB, p.scratch.db, p.user.Team.UUID(), p.user.ID.UUID()); err != nil {
		return err
	}
	return p.eachPage(ctx, p.DB, func(b wearables.Batch) error {
		b.Stage = wearables.Historical // no events
		_, err := p.scratch.sink.Ingest(ctx, p.withoutZone(), b)
		return err
	})
}

// withoutZone returns the user without the fallback zone, which does not change data that
// is stored, here or in the scratch database.
func (p *person) withoutZone() users.User {
	user := p.user
	user.TimeZone = nil
	return user
}

// apply stores the data of the scratch database.
func (p *person) apply(ctx context.Context) error {
	if err := p.eachPage(ctx, p.scratch.db, func(b wearables.Batch) error { return p.store(ctx, b) }); err != nil {
		return err
	}
	for some := range slices.Chunk(p.read.order, 50) {
		batches, err := p.gather(ctx, some)
		if err != nil {
			return err
		}
		for _, b := range batches {
			if err := p.store(ctx, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachPage reads all samples of the user in a database.
func (p *person) eachPage(ctx context.Context, db *store.DB, fn func(b wearables.Batch) error) error {
	for _, r := range wearables.Resources() {
		if r.Name == "hypnogram" { // read from sleep cycles, never stored
			continue
		}
		q := storage.SamplesQuery{Resource: r.Name, From: math.MinInt64 / 2, To: math.MaxInt64 / 2, Marked: true}
		err := database{db, p.user}.each(ctx, q, func(page []wearables.Samples) error {
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
			if errors.Is(err, store.ErrNoRows) { // the current rules refuse it
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
			if day := stored.StatedDay(); !day.IsZero() { // possibly by an earlier version
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

// store stores a batch, unless it changes nothing. It counts the changes in the same
// transaction.
func (p *person) store(ctx context.Context, b wearables.Batch) error {
	b.Stage = wearables.Daily
	_, changes, err := p.Sink.Preview(ctx, p.withoutZone(), b)
	if err != nil || len(changes) == 0 {
		return err
	}
	ahead := *p.run
	ahead.Report = p.run.Report.plus(changes)
	if p.run.DryRun {
		*p.run = ahead
		return nil
	}
	b.Also = func(ctx context.Context, tx *store.Tx, _ *store.Batch, _ []uuid.UUID) error {
		now, err := ledger.LatestMark(ctx, tx, p.user.Team, p.user.ID)
		if err != nil {
			return err
		}
		if now != p.mark {
			return errNewer
		}
		return ahead.save(ctx, tx)
	}
	if _, err = p.Sink.Ingest(ctx, p.withoutZone(), b); err == nil {
		*p.run = ahead
	}
	return err
}

// batchOf parses a pushed body, as the API does.
func batchOf(p *ledger.Payload, body []byte) (wearables.Batch, error) {
	switch p.Kind {
	case ledger.Samples:
		r, ok := wearables.ResourceNamed(p.Resource)
		if !ok {
			break
		}
		pushed, err := push.Parse(body, r)
		if err != nil {
			return wearables.Batch{}, err
		}
		batch, _ := pushed.Batch(r)
		return batch, nil
	case ledger.Series:
		pushed, err := push.ParseSeries(body)
		if err != nil {
			return wearables.Batch{}, err
		}
		return pushed.Batch(), nil
	case ledger.Summaries:
		d, ok := wearables.DocumentNamed(p.Resource)
		if !ok {
			break
		}
		pushed, err := push.ParseSummaries(body, d)
		if err != nil {
			return wearables.Batch{}, err
		}
		return wearables.Batch{Provider: pushed.Provider, Summaries: pushed.Summaries}, nil
	}
	return wearables.Batch{}, fault.New(fault.Unprocessable, "there is no mapping for payloads of this kind")
}
