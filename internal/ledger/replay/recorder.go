package replay

import (
	"context"

	"github.com/google/uuid"

	"hale/internal/providers/files"
	"hale/internal/users"
	"hale/internal/wearables"
)

// recorder is the sink of what is read again. It stores everything in the
// scratch database, without events, and remembers what each summary is about:
// the store itself keeps only the id that is made of it.
type recorder struct {
	sink      *wearables.Ingester
	summaries map[uuid.UUID]about
	order     []uuid.UUID
	streams   map[uuid.UUID]bool // workouts
}

// about is a summary without its body.
type about struct {
	provider string
	wearables.Summary
}

var _ files.Sink = (*recorder)(nil)

func newRecorder(sink *wearables.Ingester) *recorder {
	return &recorder{sink: sink, summaries: map[uuid.UUID]about{}, streams: map[uuid.UUID]bool{}}
}

// Ingest stores a batch in the scratch database.
func (r *recorder) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	for _, s := range b.Summaries {
		one := about{b.Provider, s}
		if s.Source.Provider != "" {
			one.provider = s.Source.Provider
		}
		one.Body = nil
		id := wearables.SummaryID(user.ID.UUID(), one.provider, s.Resource, s.Key)
		if _, known := r.summaries[id]; !known {
			r.order = append(r.order, id)
		}
		r.summaries[id] = one
	}
	for _, s := range b.Streams {
		r.streams[wearables.SummaryID(user.ID.UUID(), b.Provider, "workouts", s.WorkoutKey)] = true
	}
	b.Stage, b.Push, b.Also = wearables.Historical, false, nil
	return r.sink.Ingest(ctx, user, b)
}

// HistoricalDone is nothing that is said again.
func (r *recorder) HistoricalDone(context.Context, users.User, string, map[string]wearables.Range) error {
	return nil
}
