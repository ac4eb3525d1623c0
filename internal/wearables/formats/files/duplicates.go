package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/storage"
)

// same finds w among the stored workouts of other files, and completes w from it. The
// device's own file has the serial number of its device. A reply of the maker's
// interface has no serial number. The two are one workout if they have the same
// provider, kind of source and start. The workout keeps its ids, its device and its
// end. The end of a reply without pauses is too early.
func (s *Store) same(ctx context.Context, w *derive.Workout) error {
	start := time.UnixMicro(w.Start).UTC()
	day := civil.DateOf(start)
	var all []storage.StoredSummary
	err := s.in.DB.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = storage.ListSummaries(ctx, tx, s.in.User.Team.UUID(), s.in.User.ID.UUID(), storage.SummaryQuery{
			Resource: "workouts", From: day.AddDays(-1).String(), To: day.AddDays(1).String(), Provider: s.deriver.Provider, Start: start,
		})
		return err
	})
	if err != nil {
		return err
	}
	for i := range all {
		if s.isSame(&all[i], w) {
			return nil
		}
	}
	return nil
}

// earlierTypes are the source types that the first mapping gave to recordings without
// a device. Since the second mapping they have the type of the maker's replies.
var earlierTypes = []string{"unknown", "phone"}

// isSame reports whether a stored workout is w, and completes w from it.
func (s *Store) isSame(stored *storage.StoredSummary, w *derive.Workout) bool {
	known, own := stored.Source, w.Source
	typed := own.Type != "unknown" && own.Type == Recorder(s.deriver.Provider)
	if known.Type != own.Type && !(typed && slices.Contains(earlierTypes, known.Type)) {
		return false
	}
	if known.AppID != own.AppID || known.DeviceID != nil && own.DeviceID != nil && *known.DeviceID != *own.DeviceID {
		return false
	}
	var body struct {
		End time.Time `json:"time_end"`
		ID  string    `json:"provider_id"`
	}
	if json.Unmarshal(stored.Body, &body) != nil {
		return false
	}
	nameless := own
	nameless.DeviceID = nil
	sources := []wearables.Source{known, own, nameless} // it may have learnt of its device later
	for _, kind := range earlierTypes {
		nameless.Type = kind
		sources = append(sources, nameless)
	}
	for _, source := range sources {
		key := derive.WorkoutKey(w.Start, source)
		if wearables.SummaryID(stored.User, s.deriver.Provider, "workouts", key) != stored.ID {
			continue
		}
		w.Key, w.ID = key, cmp.Or(w.ID, body.ID)
		if own.DeviceID == nil { // its series are those that are there
			w.Source.Type, w.Source.DeviceID = known.Type, known.DeviceID
			if known.DeviceID != nil {
				w.End = max(w.End, body.End.UnixMicro())
			}
		}
		return true
	}
	return false
}

// Stored returns the stored summaries of a resource from the store's provider, for the
// days between from and to, both included.
func (s *Store) Stored(ctx context.Context, resource string, from, to civil.Date) (all []storage.StoredSummary, err error) {
	err = s.in.DB.Read(ctx, func(tx *store.Tx) error {
		all, err = storage.ListSummaries(ctx, tx, s.in.User.Team.UUID(), s.in.User.ID.UUID(), storage.SummaryQuery{
			Resource: resource, From: from.String(), To: to.String(), Provider: s.deriver.Provider,
		})
		return err
	})
	return all, err
}

// Measured reports whether the store's provider has samples of a resource between
// two instants.
func (s *Store) Measured(ctx context.Context, resource string, from, to time.Time) (found bool, err error) {
	err = s.in.DB.Read(ctx, func(tx *store.Tx) error {
		some, _, err := storage.ListSamples(ctx, tx, s.in.User.Team.UUID(), s.in.User.ID.UUID(), storage.SamplesQuery{
			Resource: resource, Provider: s.deriver.Provider, From: from.UnixMicro(), To: to.UnixMicro(), Most: 1,
		})
		found = len(some) > 0
		return err
	})
	return found, err
}

// storedWorkout holds the stored state of a workout that a recording is a copy of.
type storedWorkout struct {
	Start time.Time `json:"time_start"`
	End   time.Time `json:"time_end"`
	ID    string    `json:"provider_id"`
	// Moving is stated by the source of the whole workout, and never computed from a
	// course.
	Moving *int64 `json:"moving_time"`

	body json.RawMessage
	id   uuid.UUID
	rows int // of its stream; read only for a file that is cut off
}

// copyOf finds the stored workout that is another copy of a recording from a device's own
// file. That workout has the key of the recording, or otherwise overlaps it, and then the
// recording gets its key. copyOf returns nil if there is none.
func (s *Store) copyOf(ctx context.Context, r *Recording) (*storedWorkout, error) {
	if !r.Own {
		return nil, nil
	}
	found, err := s.copyAmong(ctx, r)
	if err != nil {
		return nil, err
	}
	if found == nil || !r.Cut {
		return found, nil
	}
	err = s.in.DB.Read(ctx, func(tx *store.Tx) error {
		workout, err := storage.SummaryByID(ctx, tx, s.in.User.Team.UUID(), found.id, "workouts")
		if err != nil {
			return err
		}
		stream, err := storage.ReadStream(ctx, tx, &workout)
		if err == nil {
			found.rows = len(stream.Time)
		}
		return err
	})
	return found, err
}

// copyAmong finds the same workout as copyOf. It only looks at stored workouts of the
// recording's time, because a file may have a thousand workouts of one day.
func (s *Store) copyAmong(ctx context.Context, r *Recording) (*storedWorkout, error) {
	team, user := s.in.User.Team.UUID(), s.in.User.ID.UUID()
	own := wearables.SummaryID(user, s.deriver.Provider, "workouts", cmp.Or(r.Key, derive.WorkoutKey(r.Start, r.Source)))
	var all []storage.StoredSummary
	err := s.in.DB.Read(ctx, func(tx *store.Tx) error {
		one, err := storage.SummaryByID(ctx, tx, team, own, "workouts")
		if err == nil {
			all = []storage.StoredSummary{one}
		}
		if !errors.Is(err, store.ErrNoRows) {
			return err
		}
		first, last := time.UnixMicro(r.Start-maxStartGap), time.UnixMicro(max(r.Start, r.End)+maxStartGap)
		all, err = storage.WorkoutsBetween(ctx, tx, team, user, s.deriver.Provider, r.Source.AppID, first, last)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range all {
		one := &storedWorkout{body: all[i].Body, id: all[i].ID}
		if json.Unmarshal(all[i].Body, one) != nil {
			continue
		}
		if one.id == own || one.copies(r, &all[i].Source) && s.take(one, &all[i].Source, r) {
			return one, nil
		}
	}
	return nil, nil
}

// maxStartGap bounds the distance between the starts of two copies. One copy has the
// start of the session, the other the start of its first record.
const maxStartGap = int64(5 * time.Second / time.Microsecond)

// copies reports whether a stored workout with another key is a copy of the recording. A
// device records one workout at a time. So two workouts of one device that overlap are
// the same workout if one of the files was cut off. Without a device, the workouts have
// to begin at nearly the same time.
func (w *storedWorkout) copies(r *Recording, source *wearables.Source) bool {
	if !sameRecorder(source.Type, r.Source.Type) || source.AppID != r.Source.AppID || !r.Cut && w.Moving != nil {
		return false
	}
	start, end := w.Start.UnixMicro(), w.End.UnixMicro()
	if source.DeviceID == nil || r.Source.DeviceID == nil {
		return source.DeviceID == r.Source.DeviceID && max(start-r.Start, r.Start-start) <= maxStartGap
	}
	if *source.DeviceID != *r.Source.DeviceID {
		return false
	}
	if r.Cut {
		return start-maxStartGap <= r.Start && r.Start < end
	}
	return r.Start-maxStartGap <= start && end <= r.End+maxStartGap
}

// sameRecorder reports whether two source types can belong to one device. Only the end of
// a file says that the workout was on a machine, so watch and machine match.
func sameRecorder(a, b string) bool {
	machine := func(kind string) bool { return kind == "exercise_machine" || kind == "watch" }
	return a == b || machine(a) && machine(b)
}

// take gives the recording the key and the source type of the stored workout. It
// returns false if that key is no longer known.
func (s *Store) take(w *storedWorkout, source *wearables.Source, r *Recording) bool {
	own := r.Source
	own.Type = source.Type
	for _, key := range []string{derive.WorkoutKey(w.Start.UnixMicro(), own), w.ID} {
		if wearables.SummaryID(s.in.User.ID.UUID(), s.deriver.Provider, "workouts", key) == w.id {
			r.Key, r.ID, r.Source = key, cmp.Or(r.ID, w.ID), own
			return true
		}
	}
	return false
}

// yields reports whether a recording of an incomplete file adds no data to its stored
// workout. A copy with totals has precedence over one without, and otherwise the longer
// one.
func (r *Recording) yields(w *storedWorkout) bool {
	switch {
	case w == nil || !r.Cut:
		return false
	case w.Moving == nil:
		return r.Moving == nil && r.End <= w.End.UnixMicro()
	case w.rows == 0: // its course is unknown
		return false
	}
	return r.Moving == nil || len(r.Course) <= w.rows
}

// add returns a workout's body without the fields that the stored workout w already has.
// A file that is cut off only adds missing fields.
func (w *storedWorkout) add(body json.RawMessage) (json.RawMessage, error) {
	var known, fields map[string]json.RawMessage
	if err := json.Unmarshal(w.body, &known); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	for name := range known {
		if name != wearables.ComputedMember {
			delete(fields, name)
		}
	}
	return json.Marshal(fields)
}
