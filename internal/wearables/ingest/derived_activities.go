package ingest

import (
	"context"
	"errors"
	"slices"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// A phone merges its sources itself. So a pushed activity replaces the one that was
// derived from the samples of its day. Both changes are in one transaction, so a reader
// never finds both and adds them up. See package derive.

// planFollowed finds the derived activities of the days that have a pushed one now.
func (j *job) planFollowed(ctx context.Context, tx *store.Tx) error {
	j.followed = nil
	for _, w := range j.summaries {
		if !j.pushed || w.Resource != "activity" || w.was == nil && w.verb == "" {
			continue
		}
		id := wearables.SummaryID(j.user, w.Source.Provider, w.Resource, w.Date.String())
		derived, err := storage.ReadSummary(ctx, tx, j.team, j.user, id)
		if errors.Is(err, store.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		if slices.ContainsFunc(j.followed, func(s storage.StoredSummary) bool { return s.ID == id }) {
			continue // several apps push an activity of a day
		}
		j.followed = append(j.followed, derived)
	}
	return nil
}

// removeFollowed deletes the derived activities and returns their events. They come back
// when the pushed ones are deleted.
func (j *job) removeFollowed(ctx context.Context, tx *store.Tx) (all []events.New, err error) {
	for i := range j.followed {
		s := &j.followed[i]
		if err := s.Delete(ctx, tx, false); err != nil {
			return nil, err
		}
		all = append(all, j.deletedEvent(s))
	}
	return all, nil
}

// deletedEvent says that another summary has taken the place of one.
func (j *job) deletedEvent(s *storage.StoredSummary) events.New {
	data := storage.DeletedSummary(s)
	return j.event(data.EventType(), data.AppendTo(nil, j.logos()))
}
