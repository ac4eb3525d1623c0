package replay

import (
	"context"
	"errors"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// database reads the data of a user in a database.
type database struct {
	db   *store.DB
	user users.User
}

// place is the key of a sample: its series and its time.
type place struct {
	resource, sampleType, extra        string
	provider, sourceType, appID, sport string
	device, workout                    uuid.UUID
	time                               int64 // UTC microseconds
}

// sample is the value at a place.
type sample struct {
	end           int64 // UTC microseconds; equals the start without length
	offset        int32
	value, value2 float64
}

// placeOf returns the place of a group's samples, without the time.
func placeOf(provider string, s *wearables.Samples) place {
	p := place{
		resource: s.Resource, sampleType: s.Type, extra: s.Extra,
		provider: s.Source.Provider, sourceType: s.Source.Type, appID: s.Source.AppID, sport: s.Source.Sport,
	}
	if r, ok := wearables.ResourceNamed(s.Resource); ok {
		p.resource = r.Name
	}
	if p.provider == "" {
		p.provider = provider
	}
	if p.sourceType == "" {
		p.sourceType = "unknown"
	}
	if s.Source.DeviceID != nil {
		p.device = *s.Source.DeviceID
	}
	if s.Source.WorkoutID != nil {
		p.workout = *s.Source.WorkoutID
	}
	return p
}

func sampleOf(s *wearables.Samples, i int) sample {
	one := sample{end: s.Time[i], offset: wearables.NoOffset, value: s.Value[i]}
	if len(s.End) > 0 {
		one.end = s.End[i]
	}
	if len(s.Offset) > 0 {
		one.offset = s.Offset[i]
	}
	if len(s.Value2) > 0 {
		one.value2 = s.Value2[i]
	}
	return one
}

// equals reports whether two samples are equal, apart from their offsets. It ignores
// offsets, because a sample without an offset does not change the stored offset.
func (one sample) equals(other sample) bool {
	one.offset = other.offset
	return one == other
}

func (one sample) appendTo(s *wearables.Samples, at int64) {
	s.Time, s.End = append(s.Time, at), append(s.End, one.end)
	s.Offset, s.Value = append(s.Offset, one.offset), append(s.Value, one.value)
	if r, ok := wearables.ResourceNamed(s.Resource); ok && r.Pair {
		s.Value2 = append(s.Value2, one.value2)
	}
}

// samples reads the samples at the places of a batch.
func (s database) samples(ctx context.Context, b *wearables.Batch) (map[place]sample, error) {
	type line struct{ resource, provider string }
	type stretch struct{ from, to int64 }
	wanted, lines := map[place]bool{}, map[line]stretch{}
	for i := range b.Samples {
		at := placeOf(b.Provider, &b.Samples[i])
		l := line{at.resource, at.provider}
		for _, at.time = range b.Samples[i].Time {
			wanted[at] = true
			whole, ok := lines[l]
			if !ok {
				whole = stretch{at.time, at.time + 1}
			}
			lines[l] = stretch{min(whole.from, at.time), max(whole.to, at.time+1)}
		}
	}
	found := map[place]sample{}
	for l, whole := range lines {
		q := storage.SamplesQuery{Resource: l.resource, Provider: l.provider, From: whole.from, To: whole.to, Marked: true}
		err := s.each(ctx, q, func(page []wearables.Samples) error {
			for i := range page {
				at := placeOf("", &page[i])
				for k := range page[i].Time {
					if at.time = page[i].Time[k]; wanted[at] {
						found[at] = sampleOf(&page[i], k)
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// each reads the user's samples of a query, page by page.
func (s database) each(ctx context.Context, q storage.SamplesQuery, fn func(page []wearables.Samples) error) error {
	for {
		var page []wearables.Samples
		var next *storage.Place
		err := s.db.Read(ctx, func(tx *store.Tx) (err error) {
			page, next, err = storage.ListSamples(ctx, tx, s.user.Team.UUID(), s.user.ID.UUID(), q)
			return err
		})
		if err != nil {
			return err
		}
		if err := fn(page); err != nil || next == nil {
			return err
		}
		q.After = next
	}
}

// document is a stored summary with its parsed body.
type document struct {
	storage.StoredSummary
	fields map[string]any
}

// summary reads a summary; nil if it is not stored.
func (s database) summary(ctx context.Context, id uuid.UUID, resource string) (found *document, err error) {
	err = s.db.Read(ctx, func(tx *store.Tx) error {
		one, err := storage.SummaryByID(ctx, tx, s.user.Team.UUID(), id, resource)
		if errors.Is(err, store.ErrNoRows) {
			found = nil
			return nil
		}
		if err != nil {
			return err
		}
		found = &document{StoredSummary: one}
		found.fields, err = parse(one.Body)
		return err
	})
	return found, err
}

// streams reads the streams of the workouts of a batch.
func (s database) streams(ctx context.Context, b *wearables.Batch) (all []wearables.Stream, err error) {
	for i := range b.Streams {
		key := b.Streams[i].WorkoutKey
		id := wearables.SummaryID(s.user.ID.UUID(), b.Provider, "workouts", key)
		workout, err := s.summary(ctx, id, "workouts")
		if err != nil {
			return all, err
		}
		if workout == nil {
			continue
		}
		err = s.db.Read(ctx, func(tx *store.Tx) error {
			stream, err := storage.ReadStream(ctx, tx, &workout.StoredSummary)
			if err == nil && len(stream.Time) > 0 {
				stream.WorkoutKey = key
				all = append(all, *stream)
			}
			return err
		})
		if err != nil {
			return all, err
		}
	}
	return all, nil
}
