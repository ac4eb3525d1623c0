package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/storage"
)

// deletedPlan deletes the stored versions of a record that its provider reports as
// deleted. The record is found by its id, its key, or the bounds of the session. The
// cycle of a sleep is deleted with it. No version of a record with an id is stored afterwards.
type deletedPlan struct {
	wearables.Summary
	key, record uuid.UUID

	gone  []storage.StoredSummary
	known bool // the record is known as deleted, or it has no id
}

// addDeleted adds a record that its provider reports as deleted.
func (j *job) addDeleted(s wearables.Summary) {
	j.deleted = append(j.deleted, &deletedPlan{
		Summary: s, key: wearables.SummaryID(j.user, s.Source.Provider, s.Resource, s.Key),
		record: wearables.RecordID(j.user, s.Source.Provider, s.Resource, s.Record),
	})
	if s.Resource == "sleep" { // its cycle has the same id
		s.Resource = "sleep_cycle"
		j.addDeleted(s)
	}
}

// planDeleted finds the stored versions. Versions in the same batch are not stored.
func (j *job) planDeleted(ctx context.Context, tx *store.Tx) error {
	seen := map[uuid.UUID]bool{}
	for _, d := range j.deleted {
		if err := d.find(ctx, tx, j); err != nil {
			return err
		}
		d.gone = slices.DeleteFunc(d.gone, func(s storage.StoredSummary) bool {
			again := seen[s.ID]
			seen[s.ID] = true
			return again
		})
		for _, w := range j.summaries {
			if w.Resource == d.Resource && (d.record != uuid.Nil && w.record == d.record || seen[w.id]) {
				w.yields = true
			}
		}
	}
	return nil
}

func (d *deletedPlan) find(ctx context.Context, tx *store.Tx, j *job) (err error) {
	d.gone, d.known = nil, true
	if d.record != uuid.Nil {
		if d.known, err = storage.IsDeletedRecord(ctx, tx, j.team, j.user, d.record); err != nil {
			return err
		}
	}
	was, err := d.stored(ctx, tx, j)
	if err != nil || was == nil {
		return err
	}
	d.gone = append(d.gone, *was)
	if was.Resource != "sleep" {
		return nil
	}
	cycles, err := storage.CyclesOf(ctx, tx, was)
	storage.ShareRecord(cycles, was)
	d.gone = append(d.gone, cycles...)
	return err
}

// stored returns the stored version; nil without one.
func (d *deletedPlan) stored(ctx context.Context, tx *store.Tx, j *job) (*storage.StoredSummary, error) {
	if d.record != uuid.Nil {
		was, err := storage.SummaryOfRecord(ctx, tx, j.team, j.user, d.record)
		if err == nil || !errors.Is(err, store.ErrNoRows) {
			return &was, err
		}
	}
	was, err := storage.ReadSummary(ctx, tx, j.team, j.user, d.key)
	if err == nil && d.has(&was) {
		return &was, nil
	}
	if err != nil && !errors.Is(err, store.ErrNoRows) || d.Start.IsZero() {
		return nil, ignoreMissing(err)
	}
	all, err := storage.SessionsBetween(ctx, tx, j.team, j.user, d.Resource, d.Source.Provider, d.Start, d.End)
	for i := range all {
		if d.Source.SameRecorder(&all[i].Source) && d.has(&all[i]) {
			return &all[i], all[i].Open(ctx, tx)
		}
	}
	return nil, err
}

// has reports whether a stored summary may be the record: it has the same bounds in
// seconds, and no other id.
func (d *deletedPlan) has(s *storage.StoredSummary) bool {
	start, end := s.Bounds()
	return (d.record == uuid.Nil || s.Record == uuid.Nil || d.record == s.Record) &&
		(d.Start.IsZero() || floorSecond(start) == d.Start.Unix() && floorSecond(end) == d.End.Unix())
}

func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	return err
}

// writeDeleted deletes the planned summaries, and returns their events.
func (j *job) writeDeleted(ctx context.Context, tx *store.Tx) (all []events.New, err error) {
	for _, d := range j.deleted {
		if !d.known {
			if err := storage.DeleteRecord(ctx, tx, j.team, j.user, d.Source.Provider, d.Resource, d.record); err != nil {
				return nil, err
			}
		}
		for i := range d.gone {
			s := &d.gone[i]
			if err := s.Delete(ctx, tx, true); err != nil {
				return nil, err
			}
			if err := storage.RefreshStatistics(ctx, tx, j.team, j.user, s.Source.Provider, s.Resource); err != nil {
				return nil, err
			}
			data := storage.DeletedSummary(s)
			all = append(all, j.event(data.EventType(), data.AppendTo(nil, providers.LogosOf(tx))))
		}
	}
	return all, nil
}

// isOfDeletedSleep reports whether a new cycle belongs to a sleep that was deleted, and to no
// other one. It stays deleted with its sleep.
func (w *summaryPlan) isOfDeletedSleep(ctx context.Context, tx *store.Tx, j *job) (bool, error) {
	if w.Resource != "sleep_cycle" {
		return false, nil
	}
	id := w.sleep
	if id == uuid.Nil {
		id, _ = uuid.Parse(textOf(w.fields["sleep_id"])) // zero without one
	}
	isGone := false
	for _, s := range j.summaries {
		if s.Resource != "sleep" || !s.isPlanned() || s.id != id && !w.overlaps(s.Start.UnixMicro(), s.End.UnixMicro()) {
			continue
		}
		if !s.earlier || s.was != nil {
			return false, nil
		}
		isGone = isGone || s.id == id
	}
	if !isGone {
		key := storage.SummaryKey{ID: id, Resource: "sleep", Source: w.Source, Start: w.Start, End: w.End}
		var err error
		if isGone, err = storage.IsDeletedSession(ctx, tx, j.team, j.user, key); err != nil || !isGone {
			return false, err
		}
	}
	_, err := storage.ReadSummary(ctx, tx, j.team, j.user, id)
	if err == nil || !errors.Is(err, store.ErrNoRows) {
		return false, err
	}
	all, err := storage.SessionsBetween(ctx, tx, j.team, j.user, "sleep", w.Source.Provider, w.Start, w.End)
	return err == nil && !slices.ContainsFunc(all, func(s storage.StoredSummary) bool {
		start, end := s.Bounds()
		return w.Source.SameRecorder(&s.Source) && w.overlaps(start, end)
	}), err
}

// changes reports whether there is anything to write.
func (d *deletedPlan) changes() bool { return !d.known || len(d.gone) > 0 }

// verb counts a deletion as an update.
func (d *deletedPlan) verb() string {
	if len(d.gone) > 0 {
		return updated
	}
	return ""
}

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
