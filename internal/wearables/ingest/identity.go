package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// A summary is a version of a stored one if it has, in this order:
//
//   - the same record: the provider's own id, wherever its start has moved;
//   - the same key: the day or the start, and the source. Meals of one moment also
//     need the same name, or both have none;
//   - of a session: more than half of its time in common with a stored one of the same
//     recorder, unless both have an id. That is half of the shorter sleep, because nights
//     grow and gaps are filled, and half of the longer workout: a short one inside a long
//     one is another one.
//
// Bounds of sessions are compared in seconds: exports have no fractions.
//
// A session that now covers several stored ones replaces all of them. Without an id, it
// does not go back to bounds that a later version has replaced: see isEarlier.
//
// An Apple Health export and a push of the same phone name one source differently: see
// wearables.Source.IsOtherTransport. Their sessions are found by time. Then a version
// replaces the fields that it has, and the stored source stays, so that importing and
// pushing in turn changes nothing.

// identify finds the stored version of each summary of the batch.
func (j *job) identify(ctx context.Context, tx *store.Tx) error {
	inOrder := slices.SortedFunc(slices.Values(j.summaries), func(a, b *summaryPlan) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.part, b.part))
	})
	f := finder{ctx: ctx, tx: tx, job: j, claims: map[uuid.UUID]*summaryPlan{}, byDay: map[dayOfProvider][]*summaryPlan{}}
	for _, w := range inOrder {
		w.id, w.was, w.replaced, w.claimed, w.yields = w.key, nil, nil, false, false
		if err := f.byName(w); err != nil {
			return err
		}
	}
	for _, w := range inOrder {
		if w.isSession() && !w.yields {
			if err := f.byTime(w); err != nil {
				return err
			}
		}
	}
	for _, w := range inOrder {
		if w.Resource == "sleep_cycle" && !w.yields {
			if err := f.sleepOf(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// finder finds the stored versions of one batch.
type finder struct {
	ctx    context.Context
	tx     *store.Tx
	job    *job
	claims map[uuid.UUID]*summaryPlan // by the id that it will have
	byDay  map[dayOfProvider][]*summaryPlan
}

// dayOfProvider is the UTC day on which sessions of a provider start.
type dayOfProvider struct {
	resource, provider string
	day                int64
}

// byName finds a version by its record and its key.
func (f *finder) byName(w *summaryPlan) error {
	if w.record != uuid.Nil && !w.isOnlyOne() {
		was, err := storage.SummaryOfRecord(f.ctx, f.tx, f.job.team, f.job.user, w.record)
		if err == nil {
			f.claim(w, &was)
			return nil
		}
		if !errors.Is(err, store.ErrNoRows) {
			return err
		}
	}
	free := uuid.Nil // of a meal
	for _, id := range []uuid.UUID{w.key, w.otherKey(f.job.user)} {
		w.id = id
		if other := f.claims[id]; other != nil {
			if w.isVersionOf(other) {
				f.claim(w, other.was)
				return nil
			}
			continue
		}
		was, err := storage.ReadSummary(f.ctx, f.tx, f.job.team, f.job.user, id)
		switch {
		case errors.Is(err, store.ErrNoRows):
			if w.Resource == mealResource { // another meal of its moment may be deleted
				free = cmp.Or(free, id)
				continue
			}
			if !w.isSession() { // of a session, another one may have its time
				f.claim(w, nil)
			}
			return nil
		case err != nil:
			return err
		case w.hasKeyOf(&was):
			f.claim(w, &was)
			return nil
		}
	}
	w.id = cmp.Or(free, w.id)
	f.claim(w, nil)
	return nil
}

// claim makes a plan the only one of a row. An earlier one in the batch yields.
func (f *finder) claim(w *summaryPlan, was *storage.StoredSummary) {
	if was != nil {
		w.was, w.id = was, was.ID
	}
	if other := f.claims[w.id]; other != nil && other != w {
		other.yields = true
	}
	f.claims[w.id] = w
	w.claimed = true
}

// otherKey is the id of a summary whose key belongs to another one.
func (w *summaryPlan) otherKey(user uuid.UUID) uuid.UUID {
	key := w.Key + "|other"
	if w.Resource == mealResource {
		key = w.Key + "|" + textOf(w.fields["name"]) + "|" + w.Record
	}
	return wearables.SummaryID(user, w.Source.Provider, w.Resource, key)
}

const mealResource = "meal"

func textOf(v any) string {
	text, _ := v.(string)
	return text
}

// isVersionOf reports whether two summaries of a batch with one key are one.
func (w *summaryPlan) isVersionOf(other *summaryPlan) bool {
	return w.Resource != mealResource || sameMeal(w.record, other.record, w.fields, other.fields)
}

// hasKeyOf reports whether the stored summary with the id of w's key is w. A session may
// have moved away from that key.
func (w *summaryPlan) hasKeyOf(was *storage.StoredSummary) bool {
	start, end := was.Bounds()
	if w.document.Start != "" && start != 0 && !w.sameSecond(start) && !w.overlaps(start, end) && !w.completes(was) {
		return false
	}
	if w.Resource != mealResource {
		return true
	}
	var older map[string]any
	if json.Unmarshal(was.Body, &older) != nil {
		return true
	}
	return sameMeal(w.record, was.Record, w.fields, older)
}

// sameMeal compares the records, otherwise the names of two meals of one moment.
func sameMeal(a, b uuid.UUID, newer, older map[string]any) bool {
	if a != uuid.Nil && b != uuid.Nil {
		return a == b
	}
	return textOf(newer["name"]) == textOf(older["name"])
}

// isOnlyOne reports whether a source has one such summary, or one of a day, whatever its
// id. The id serves only to delete it.
func (w *summaryPlan) isOnlyOne() bool {
	return w.Resource == "activity" || w.Resource == wearables.ProfileResource
}

// isSession reports whether a summary may be found by its time.
func (w *summaryPlan) isSession() bool {
	return w.Resource == "sleep" || w.Resource == "sleep_cycle" || w.Resource == "workouts"
}

func (w *summaryPlan) sameSecond(start int64) bool {
	return w.Start.Unix() == floorSecond(start)
}

func floorSecond(us int64) int64 { return time.UnixMicro(us).Unix() }

// sameBounds reports whether a stored summary has the bounds of w, in seconds. Those of a
// day are the day.
func (w *summaryPlan) sameBounds(was *storage.StoredSummary) bool {
	if w.document.Start == "" {
		return w.Date.IsZero() || w.Date.String() == was.Day
	}
	start, end := was.Bounds()
	return w.sameSecond(start) && (w.End.IsZero() || w.End.Unix() == floorSecond(end))
}

// overlaps reports whether a session has more than half of its time in common with a
// range: see above.
func (w *summaryPlan) overlaps(start, end int64) bool {
	return wearables.ShareMostTime(w.Resource, w.Start.UnixMicro(), w.End.UnixMicro(), start, end)
}

// completes reports whether a workout with the key of a stored one is its version. At
// least half of the shorter one's time is in common then. A file that broke off holds a
// short part of the workout.
func (w *summaryPlan) completes(was *storage.StoredSummary) bool {
	start, end := was.Bounds()
	return w.Resource == "workouts" && (w.record == uuid.Nil || was.Record == uuid.Nil) &&
		2*w.shared(was) >= min(end-start, w.End.UnixMicro()-w.Start.UnixMicro())
}

// byTime finds the session that w is a version of, and others that it replaces.
func (f *finder) byTime(w *summaryPlan) error {
	var others []storage.StoredSummary
	if w.was == nil || !w.sameBounds(w.was) {
		var err error
		if others, err = f.others(w); err != nil {
			return err
		}
	}
	if w.was == nil && len(others) > 0 {
		best := slices.MaxFunc(others, func(a, b storage.StoredSummary) int { return cmp.Compare(w.shared(&a), w.shared(&b)) })
		if err := best.Open(f.ctx, f.tx); err != nil {
			return err
		}
		f.claim(w, &best)
	}
	if !w.claimed {
		f.claim(w, nil)
	}
	for _, other := range others {
		if other.ID != w.id && w.Source.SameApp(&other.Source) && (other.Record == uuid.Nil || w.record == uuid.Nil) {
			w.replaced = append(w.replaced, other)
		}
	}
	f.amongPlans(w)
	return nil
}

// others returns the stored sessions that w overlaps and that no other plan has.
func (f *finder) others(w *summaryPlan) ([]storage.StoredSummary, error) {
	stored, err := storage.SessionsBetween(f.ctx, f.tx, f.job.team, f.job.user, w.Resource, w.Source.Provider, w.Start, w.End)
	return slices.DeleteFunc(stored, func(s storage.StoredSummary) bool {
		start, end := s.Bounds()
		return f.claims[s.ID] != nil || !w.Source.SameRecorder(&s.Source) || !w.overlaps(start, end) || w.was == nil && w.record != uuid.Nil && s.Record != uuid.Nil
	}), err
}

func (w *summaryPlan) shared(s *storage.StoredSummary) int64 {
	start, end := s.Bounds()
	return min(end, w.End.UnixMicro()) - max(start, w.Start.UnixMicro())
}

// amongPlans compares a session with the earlier ones of the batch.
func (f *finder) amongPlans(w *summaryPlan) {
	day := dayOfProvider{w.Resource, w.Source.Provider, w.Start.Unix() / 86_400}
	for d := day.day - 1; d <= day.day+1; d++ {
		for _, other := range f.byDay[dayOfProvider{day.resource, day.provider, d}] {
			if other.yields || other == w || w.knownRecord() != uuid.Nil && other.knownRecord() != uuid.Nil ||
				!w.Source.SameRecorder(&other.Source) || !w.overlaps(other.Start.UnixMicro(), other.End.UnixMicro()) {
				continue
			}
			other.yields = true
			if other.was != nil && w.was == nil {
				w.was, w.id = other.was, other.id
			} else if other.was != nil {
				w.replaced = append(w.replaced, *other.was)
			}
			w.replaced = append(w.replaced, other.replaced...)
		}
	}
	f.byDay[day] = append(f.byDay[day], w)
}

// knownRecord returns the record of a version, or that of the stored one.
func (w *summaryPlan) knownRecord() uuid.UUID {
	if w.record == uuid.Nil && w.was != nil {
		return w.was.Record
	}
	return w.record
}

// sleepOf finds the sleep of a cycle that names none, or the one with its key.
func (f *finder) sleepOf(w *summaryPlan) error {
	byKey := wearables.SummaryID(f.job.user, w.Source.Provider, "sleep", w.Key)
	w.sleep = uuid.Nil
	if stated := textOf(w.fields["sleep_id"]); stated != "" && stated != byKey.String() {
		return nil
	}
	w.sleep = byKey
	var best int64
	for _, s := range f.job.summaries {
		if s.Resource == "sleep" && s.key == byKey && !s.yields {
			w.sleep = s.id
			return nil
		}
	}
	was, err := storage.ReadSummary(f.ctx, f.tx, f.job.team, f.job.user, byKey)
	if err == nil && w.hasKeyOf(&was) {
		return nil
	}
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return err
	}
	stored, err := storage.SessionsBetween(f.ctx, f.tx, f.job.team, f.job.user, "sleep", w.Source.Provider, w.Start, w.End)
	for i := range stored {
		start, end := stored[i].Bounds()
		if shared := w.shared(&stored[i]); w.overlaps(start, end) && shared > best {
			best, w.sleep = shared, stored[i].ID
		}
	}
	return err
}

// isEarlier reports whether a session without an id has bounds that a later version has
// replaced: a phone sends an old part of a night again. It then changes nothing.
func (w *summaryPlan) isEarlier(ctx context.Context, tx *store.Tx, j *job) (bool, error) {
	if !w.isSession() || w.record != uuid.Nil || w.was != nil && w.Source.IsOtherTransport(&w.was.Source) {
		return false, nil
	}
	id := earlierID(j.user, w.Resource, &w.Source, w.Start.Unix(), w.End.Unix())
	return storage.IsDeletedRecord(ctx, tx, j.team, j.user, id)
}

// rememberEarlier stores the bounds of the versions that a pushed session replaces.
func (w *summaryPlan) rememberEarlier(ctx context.Context, tx *store.Tx, j *job) error {
	if !w.isSession() || !j.pushed {
		return nil
	}
	earlier := w.replaced
	if w.was != nil && !w.sameBounds(w.was) {
		earlier = append(slices.Clone(earlier), *w.was)
	}
	for i := range earlier {
		s := &earlier[i]
		if w.record != uuid.Nil && s.Record != uuid.Nil {
			continue
		}
		start, end := s.Bounds()
		id := earlierID(j.user, w.Resource, &s.Source, floorSecond(start), floorSecond(end))
		if err := storage.DeleteRecord(ctx, tx, j.team, j.user, s.Source.Provider, w.Resource, id); err != nil {
			return err
		}
	}
	return nil
}

// earlierID identifies a version of a session by its bounds, in seconds.
func earlierID(user uuid.UUID, resource string, source *wearables.Source, start, end int64) uuid.UUID {
	key := fmt.Sprintf("earlier|%d|%d|%s|%s", start, end, source.Type, source.AppID)
	return wearables.SummaryID(user, source.Provider, resource, key)
}

// removeReplaced deletes the sessions that w has replaced, and cycles of deleted sleeps. It
// returns their events.
func (w *summaryPlan) removeReplaced(ctx context.Context, tx *store.Tx, j *job) (all []events.New, err error) {
	for i := range w.replaced {
		s := &w.replaced[i]
		if err := s.Remove(ctx, tx); err != nil {
			return nil, err
		}
		all = append(all, j.deletedEvent(s))
		if s.Resource != "sleep" {
			continue
		}
		start, end := s.Bounds()
		cycles, err := storage.SessionsBetween(ctx, tx, j.team, j.user, "sleep_cycle", s.Source.Provider, time.UnixMicro(start), time.UnixMicro(end))
		if err != nil {
			return nil, err
		}
		for k := range cycles {
			var body struct {
				Sleep uuid.UUID `json:"sleep_id"`
			}
			if err := cycles[k].Open(ctx, tx); err != nil {
				return nil, err
			}
			if json.Unmarshal(cycles[k].Body, &body) != nil || body.Sleep != s.ID || j.plans(cycles[k].ID) {
				continue
			}
			if err := cycles[k].Remove(ctx, tx); err != nil {
				return nil, err
			}
			all = append(all, j.deletedEvent(&cycles[k]))
		}
	}
	return all, nil
}

// left lists the times that the earlier versions of a summary had.
func (w *summaryPlan) left(one wearables.Touched) (all []wearables.Touched) {
	before := w.replaced
	if w.was != nil && !w.sameBounds(w.was) {
		before = append(slices.Clone(before), *w.was)
	}
	for i := range before {
		start, end := before[i].Bounds()
		if start == 0 {
			day, _ := civil.ParseDate(before[i].Day) // zero for a profile
			start = day.In(time.UTC).UnixMicro()
		}
		one.Oldest, one.Newest = start, max(start, end)
		all = append(all, one)
	}
	return all
}

// plans reports whether a summary of the batch writes or replaces a row.
func (j *job) plans(id uuid.UUID) bool {
	return slices.ContainsFunc(j.summaries, func(w *summaryPlan) bool {
		return w.id == id && w.verb != "" ||
			slices.ContainsFunc(w.replaced, func(s storage.StoredSummary) bool { return s.ID == id })
	})
}
