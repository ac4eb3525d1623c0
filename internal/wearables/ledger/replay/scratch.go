package replay

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ingest"
)

// scratch is a temporary database of our schema. It is sealed with a root key that exists in
// memory only, so that the files of a crash cannot be read.
type scratch struct {
	dir   string
	db    *store.DB
	sink  *ingest.Ingester
	users int
}

// maxUsers bounds the users of one scratch database.
const maxUsers = 200

func openScratch(ctx context.Context, under string, now func() time.Time) (*scratch, error) {
	if err := os.MkdirAll(under, 0o700); err != nil {
		return nil, fmt.Errorf("replay: creating a scratch database: %w", err)
	}
	dir, err := os.MkdirTemp(under, imports.ReplayPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("replay: creating a scratch database: %w", err)
	}
	s := &scratch{dir: dir}
	root, err := secrets.ParseRoot(base64.StdEncoding.EncodeToString(secrets.Bytes(secrets.KeySize)))
	if err == nil {
		s.db, err = store.Open(ctx, store.Options{Dir: dir, Root: root, Now: now, Synchronous: "NORMAL", Readers: 1})
	}
	if err == nil {
		err = s.db.Migrate(store.AsSystem(ctx))
	}
	if err != nil {
		s.drop()
		return nil, fmt.Errorf("replay: creating a scratch database: %w", err)
	}
	s.sink = ingest.NewReprocessor(s.db)
	return s, nil
}

// drop removes the database. If that fails, a later cleanup deletes it.
func (s *scratch) drop() {
	if s == nil {
		return
	}
	var err error
	if s.db != nil {
		err = s.db.Close()
	}
	_ = errors.Join(err, os.RemoveAll(s.dir))
}

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
	if r.rule == useStored {
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
