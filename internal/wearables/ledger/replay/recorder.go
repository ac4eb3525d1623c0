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

// recorder is the sink of reprocessed data. It stores everything in the scratch database,
// without events. It also keeps the key of each summary, because the database has only
// the id, which is a hash of the key.
type recorder struct {
	sink      *ingest.Ingester
	scratch   *store.DB // the database of sink
	stored    *store.DB
	summaries map[uuid.UUID]summaryKey
	order     []uuid.UUID
	streams   map[uuid.UUID]bool // workouts

	rule rule      // of the current payload
	came time.Time // when it was received
}

// summaryKey is a summary without its body.
type summaryKey struct {
	provider string
	wearables.Summary
}

var _ files.Sink = (*recorder)(nil)

func newRecorder(sink *ingest.Ingester, scratch, stored *store.DB) *recorder {
	return &recorder{sink: sink, scratch: scratch, stored: stored, summaries: map[uuid.UUID]summaryKey{}, streams: map[uuid.UUID]bool{}}
}

// Ingest applies the rule to a batch and stores it in the scratch database.
func (r *recorder) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	if r.rule == asStored {
		user.TimeZone, b.Marked = nil, true // stored data has its offsets
	}
	b, err := r.applyRule(ctx, user, b)
	if err != nil {
		return wearables.Result{}, err
	}
	b.Summaries = slices.Clone(b.Summaries)
	for i := range b.Summaries {
		s := &b.Summaries[i]
		if s.Deleted {
			continue
		}
		id, provider := identify(user, b.Provider, s)
		if _, known := r.summaries[id]; !known {
			r.order = append(r.order, id)
		}
		one := summaryKey{provider, *s}
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

// HistoricalDone does nothing: the event was sent.
func (r *recorder) HistoricalDone(context.Context, users.User, string, map[string]wearables.Range) error {
	return nil
}
