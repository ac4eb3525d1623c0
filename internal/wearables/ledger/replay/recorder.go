package replay

import (
	"context"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/ingest"

	"github.com/google/uuid"
)

// recorder is the sink of what is read again. It stores everything in the
// scratch database, without events, and remembers what each summary is about:
// the store itself keeps only the id that is made of it.
type recorder struct {
	sink      *ingest.Ingester
	stored    *store.DB
	summaries map[uuid.UUID]about
	order     []uuid.UUID
	streams   map[uuid.UUID]bool // workouts

	rule rule      // for what is read now
	came time.Time // when it did
}

// about is a summary without its body.
type about struct {
	provider string
	wearables.Summary
}

var _ files.Sink = (*recorder)(nil)

func newRecorder(sink *ingest.Ingester, stored *store.DB) *recorder {
	return &recorder{sink: sink, stored: stored, summaries: map[uuid.UUID]about{}, streams: map[uuid.UUID]bool{}}
}

// Ingest stores of a batch what its rule leaves in the scratch database.
func (r *recorder) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	if r.rule == asStored {
		user.TimeZone, b.Marked = nil, true // what is stored is as it is
	}
	b, err := r.leave(ctx, user, b)
	if err != nil {
		return wearables.Result{}, err
	}
	b.Summaries = slices.Clone(b.Summaries)
	for i := range b.Summaries {
		s := &b.Summaries[i]
		id, provider := identify(user, b.Provider, s)
		if _, known := r.summaries[id]; !known {
			r.order = append(r.order, id)
		}
		one := about{provider, *s}
		one.Body = nil
		r.summaries[id] = one
		s.Came = r.came
	}
	for _, s := range b.Streams {
		r.streams[wearables.SummaryID(user.ID.UUID(), b.Provider, "workouts", s.WorkoutKey)] = true
	}
	b.Stage, b.Push, b.Also = wearables.Historical, false, nil
	return r.sink.Ingest(ctx, user, b)
}

// identify finds the id of a summary, and its provider.
func identify(user users.User, provider string, s *wearables.Summary) (uuid.UUID, string) {
	if s.Source.Provider != "" {
		provider = s.Source.Provider
	}
	return wearables.SummaryID(user.ID.UUID(), provider, s.Resource, s.Key), provider
}

// HistoricalDone is nothing that is said again.
func (r *recorder) HistoricalDone(context.Context, users.User, string, map[string]wearables.Range) error {
	return nil
}
