package files

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

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
