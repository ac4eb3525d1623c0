package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
//     recorder, unless both have an id. For a sleep that is half of the shorter one,
//     because nights grow and gaps are filled. For a workout it is half of the longer one:
//     a short workout inside a long one is another workout.
//
// Bounds of sessions are compared in seconds: exports have no fractions.
//
// A session that now covers several stored ones replaces all of them. Without an id, it
// does not go back to a version that a later one has replaced: see isEarlier.
//
// An Apple Health export and a push of the same phone name one source differently: see
// wearables.Source.IsOtherTransport. Their sessions are found by time. Then a version
// replaces the fields that it has, and the stored source stays, so that importing and
// pushing in turn changes nothing.

// identify finds the stored version of each summary of the batch, and marks those that
// wait: see batchOfWaiting.
func (j *job) identify(ctx context.Context, tx *store.Tx) error {
	inOrder := slices.SortedFunc(slices.Values(j.summaries), func(a, b *summaryPlan) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.part, b.part))
	})
	f := finder{
		ctx: ctx, tx: tx, job: j, claims: map[uuid.UUID]*summaryPlan{}, records: map[uuid.UUID]*summaryPlan{},
		byDay: map[dayOfProvider][]*summaryPlan{},
	}
	for _, w := range inOrder {
		w.id, w.was, w.replaced, w.claimed, w.yields, w.waits, w.displaced = w.key, nil, nil, false, false, false, nil
	}
	if j.imported {
		f.keepLast(inOrder)
	}
	for _, w := range inOrder {
		if !w.isSession() {
			if err := f.byName(w); err != nil {
				return err
			}
			continue
		}
		if w.yields {
			continue
		}
		if w.waits = f.hasEarlier(w); !w.waits {
			if err := f.byNameAndTime(w); err != nil {
				return err
			}
		}
		f.add(w)
	}
	for _, w := range inOrder {
		if w.Resource == "sleep_cycle" && w.isPlanned() {
			if err := f.sleepOf(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepLast leaves out the earlier versions of a session without an id in a batch of an
// import. An import remembers no versions that it replaced, so each repetition would store
// them again, one after the other.
func (f *finder) keepLast(inOrder []*summaryPlan) {
	for _, w := range inOrder {
		if !w.isSession() || w.record != uuid.Nil {
			continue
		}
		for _, o := range f.around(w, w.Resource) {
			if !o.yields && w.mayBeVersionOf(o) && !w.isFragmentOf(&o.Source, o.Start.UnixMicro(), o.End.UnixMicro()) {
				o.yields = true
			}
		}
		f.add(w)
	}
	clear(f.byDay)
}

// finder finds the stored versions of one batch.
type finder struct {
	ctx     context.Context
	tx      *store.Tx
	job     *job
	claims  map[uuid.UUID]*summaryPlan // by the id that it will have
	records map[uuid.UUID]*summaryPlan // by their records
	byDay   map[dayOfProvider][]*summaryPlan
}

// dayOfProvider is the UTC day on which sessions of a provider start.
type dayOfProvider struct {
	resource, provider string
	day                int64
}

// byName finds a version by its record and its key.
func (f *finder) byName(w *summaryPlan) error {
	if w.record != uuid.Nil && !w.isOnlyOne() {
		other := f.records[w.record]
		f.records[w.record] = w
		if other != nil && other.waits {
			w.waits = true
			return nil
		}
		if other != nil && !other.yields {
			w.follow(other)
			f.claim(w, other.was)
			return nil
		}
		was, err := storage.SummaryOfRecord(f.ctx, f.tx, f.job.team, f.job.user, w.record)
		if err == nil && f.claims[was.ID] != nil {
			w.waits = true
			return nil
		}
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
			if w.Resource != mealResource && w.key != other.key { // other moves away
				w.waits = true
				return nil
			}
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

// follow makes w the later version of another plan with its record, as if that one was
// stored already.
func (w *summaryPlan) follow(earlier *summaryPlan) {
	w.id, earlier.yields = earlier.id, true
	if !w.Whole {
		whole := maps.Clone(earlier.fields)
		overlay(whole, w.fields)
		w.fields = whole
	}
}

// claim makes a plan the only one of a row. An earlier one in the batch yields.
func (f *finder) claim(w *summaryPlan, was *storage.StoredSummary) {
	if was != nil {
		w.was, w.id = was, was.ID
	}
	if other := f.claims[w.id]; other != nil && other != w {
		other.yields, w.displaced = true, other
	}
	f.claims[w.id] = w
	w.claimed = true
}

// wait undoes the claim of a plan, which waits for the earlier ones.
func (f *finder) wait(w *summaryPlan) {
	w.waits = true
	if !w.claimed {
		return
	}
	if delete(f.claims, w.id); w.displaced != nil {
		f.claims[w.id], w.displaced.yields = w.displaced, false
	}
}

// otherKey returns the id for a summary whose key belongs to another summary.
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

// isVersionOf reports whether two summaries of a batch with the same key are versions of
// one summary.
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

// isOnlyOne reports whether a source has only one such summary, or one for each day. Its
// id does not distinguish summaries and serves only to delete it.
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

// sameBounds reports whether a stored summary has the bounds of w, in seconds. The
// bounds of a day summary are the day.
func (w *summaryPlan) sameBounds(was *storage.StoredSummary) bool {
	if w.document.Start == "" {
		return w.Date.IsZero() || w.Date.String() == was.Day
	}
	start, end := was.Bounds()
	return w.sameSecond(start) && (w.End.IsZero() || w.End.Unix() == floorSecond(end))
}

// overlaps reports whether a session has more than half of its time in common with a
// range. See the rule at the top of this file.
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

// isTransportOf reports whether a workout and a stored one of the same start are one, once
// pushed and once in an export. Their ends may differ more than those of two pushes.
func (w *summaryPlan) isTransportOf(was *storage.StoredSummary) bool {
	start, _ := was.Bounds()
	return w.Source.IsOtherTransport(&was.Source) && w.sameSecond(start) && w.completes(was)
}

// byNameAndTime finds the session that w is a version of, and others that it replaces.
func (f *finder) byNameAndTime(w *summaryPlan) error {
	if err := f.byName(w); err != nil || w.waits {
		return err
	}
	var others []storage.StoredSummary
	if w.was == nil || !w.sameBounds(w.was) {
		var err error
		if others, err = f.others(w); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(others, func(s storage.StoredSummary) bool { return f.claims[s.ID] != nil && f.claims[s.ID] != w }) {
		f.wait(w)
		return nil
	}
	others = slices.DeleteFunc(others, func(s storage.StoredSummary) bool { return f.claims[s.ID] == w })
	if w.was == nil && len(others) > 0 {
		best := slices.MaxFunc(others, func(a, b storage.StoredSummary) int { return cmp.Compare(w.shared(&a), w.shared(&b)) })
		f.claim(w, &best)
	}
	if !w.claimed {
		f.claim(w, nil)
	}
	for _, other := range others {
		isOwn := w.Source.SameApp(&other.Source) || w.was != nil && w.was.Source.SameApp(&other.Source)
		if other.ID != w.id && isOwn && (other.Record == uuid.Nil || w.record == uuid.Nil) {
			w.replaced = append(w.replaced, other)
			f.claims[other.ID] = w
		}
	}
	return nil
}

// others returns the stored sessions that w overlaps.
func (f *finder) others(w *summaryPlan) ([]storage.StoredSummary, error) {
	stored, err := storage.SessionsBetween(f.ctx, f.tx, f.job.team, f.job.user, w.Resource, w.Source.Provider, w.Start, w.End)
	stored = slices.DeleteFunc(stored, func(s storage.StoredSummary) bool {
		start, end := s.Bounds()
		return !w.Source.SameRecorder(&s.Source) || !w.overlaps(start, end) && !w.isTransportOf(&s) ||
			w.was == nil && w.record != uuid.Nil && s.Record != uuid.Nil
	})
	for i := range stored {
		err = errors.Join(err, stored[i].Open(f.ctx, f.tx))
	}
	return stored, err
}

func (w *summaryPlan) shared(s *storage.StoredSummary) int64 {
	start, end := s.Bounds()
	return min(end, w.End.UnixMicro()) - max(start, w.Start.UnixMicro())
}

// hasEarlier reports whether an earlier session of the batch may be a version of w. A
// sleep cycle also follows the sleeps that wait.
func (f *finder) hasEarlier(w *summaryPlan) bool {
	if slices.ContainsFunc(f.around(w, w.Resource), func(o *summaryPlan) bool { return !o.yields && w.mayBeVersionOf(o) }) {
		return true
	}
	return w.Resource == "sleep_cycle" && slices.ContainsFunc(f.around(w, "sleep"), func(o *summaryPlan) bool {
		return o.waits && (o.Key == w.Key || o.part < w.part && w.overlaps(o.Start.UnixMicro(), o.End.UnixMicro()))
	})
}

// around returns the sessions of the batch so far that start near w.
func (f *finder) around(w *summaryPlan, resource string) (all []*summaryPlan) {
	day := w.Start.Unix() / 86_400
	for d := day - 1; d <= day+1; d++ {
		all = append(all, f.byDay[dayOfProvider{resource, w.Source.Provider, d}]...)
	}
	return all
}

func (f *finder) add(w *summaryPlan) {
	day := dayOfProvider{w.Resource, w.Source.Provider, w.Start.Unix() / 86_400}
	f.byDay[day] = append(f.byDay[day], w)
}

// mayBeVersionOf reports whether two sessions of a batch may be one, unless both have an
// id.
func (w *summaryPlan) mayBeVersionOf(o *summaryPlan) bool {
	return w.Resource == o.Resource && w.Source.Provider == o.Source.Provider && (w.record == uuid.Nil || o.record == uuid.Nil) &&
		(w.key == o.key || w.Source.SameRecorder(&o.Source) &&
			(w.Start.Unix() == o.Start.Unix() || w.overlaps(o.Start.UnixMicro(), o.End.UnixMicro())))
}

// isPlanned reports whether the plan is made now, and counts.
func (w *summaryPlan) isPlanned() bool { return !w.yields && !w.waits }

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
		if s.Resource == "sleep" && s.key == byKey && s.isPlanned() {
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

// isEarlier reports whether a session without an id is a version that a later one has
// replaced. A phone may send an old part of a night again. Such a version changes
// nothing. With another value it is a correction.
func (w *summaryPlan) isEarlier(ctx context.Context, tx *store.Tx, j *job) (bool, error) {
	if !w.isSession() || w.record != uuid.Nil {
		return false, nil
	}
	if crosses := w.was != nil && w.Source.IsOtherTransport(&w.was.Source); crosses || w.isFragment() {
		return w.isFragment(), nil
	}
	values := maps.Clone(w.withoutComputed(w.fields)) // bounds are those of the id, in seconds
	delete(values, w.document.Start)
	delete(values, w.document.End)
	key := storage.SummaryKey{ID: earlierID(j.user, w.Resource, &w.Source, w.Start.Unix(), w.End.Unix())}
	return storage.IsDeletedSummary(ctx, tx, j.team, j.user, key, values)
}

// isFragment reports whether a session is a fragment of the stored one.
func (w *summaryPlan) isFragment() bool {
	if w.was == nil {
		return false
	}
	start, end := w.was.Bounds()
	return w.isFragmentOf(&w.was.Source, start, end)
}

// isFragmentOf reports whether a sleep is within a longer one and has at most half of its
// length. A phone may send a part of a night after the whole night. Of an export any
// shorter one counts: the export may be older than the stored night. A workout is a
// fragment if a longer version of it came by the other transport.
func (w *summaryPlan) isFragmentOf(source *wearables.Source, start, end int64) bool {
	if w.Resource == "workouts" {
		return w.Source.IsOtherTransport(source) && w.End.UnixMicro() < end && !w.overlaps(start, end)
	}
	isSame := w.sameSecond(start) && w.End.Unix() == floorSecond(end)
	if w.Source.IsAppleExport() && !isSame && w.Start.Unix() >= floorSecond(start) && w.End.Unix() <= floorSecond(end) {
		return true
	}
	return wearables.IsFragment(w.Resource, w.Start.UnixMicro(), w.End.UnixMicro(), start, end)
}

// rememberEarlier stores the versions that a pushed session replaces, and pushed ones that
// an export replaces. An import can be undone and repeated, so it remembers none of its own.
func (w *summaryPlan) rememberEarlier(ctx context.Context, tx *store.Tx, j *job) error {
	if err := w.rememberImported(ctx, tx, j); err != nil {
		return err
	}
	crosses := w.was != nil && w.Source.IsOtherTransport(&w.was.Source)
	if !w.isSession() || !j.pushed && !crosses {
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
		if err := s.RememberVersion(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}

// A file may be imported again after a phone has corrected its values. The values of the
// file are older than the correction, so they change nothing. A file with another value is
// a newer version.

// rememberImported stores the imported version that a push replaces.
func (w *summaryPlan) rememberImported(ctx context.Context, tx *store.Tx, j *job) error {
	if !j.pushed || w.was == nil {
		return nil
	}
	imported, err := storage.IsOfImport(ctx, tx, j.team, j.user, w.was.UpdatedAt)
	if err != nil || !imported {
		return err
	}
	start, end := w.was.Bounds()
	return w.was.RememberVersion(ctx, tx, importedID(j.user, w.was, floorSecond(start), floorSecond(end)))
}

// isCorrected reports whether an imported version has only values that a push has replaced
// since.
func (w *summaryPlan) isCorrected(ctx context.Context, tx *store.Tx, j *job) (bool, error) {
	if w.was == nil || j.importID == uuid.Nil && (!j.in.reprocess || j.pushed) {
		return false, nil
	}
	values := maps.Clone(w.withoutComputed(w.fields)) // bounds are those of the id, in seconds
	start, end := int64(0), int64(0)
	if w.document.Start != "" {
		delete(values, w.document.Start)
		start = w.Start.Unix()
	}
	if !w.End.IsZero() {
		delete(values, w.document.End)
		end = w.End.Unix()
	}
	key := storage.SummaryKey{ID: importedID(j.user, w.was, start, end)}
	return storage.IsDeletedSummary(ctx, tx, j.team, j.user, key, values)
}

// importedID identifies the imported version of a stored summary by its bounds, in seconds.
func importedID(user uuid.UUID, s *storage.StoredSummary, start, end int64) uuid.UUID {
	return wearables.SummaryID(user, s.Source.Provider, s.Resource, fmt.Sprintf("imported|%d|%d|%s", start, end, s.ID))
}

// earlierID identifies a version of a session by its bounds, in seconds.
func earlierID(user uuid.UUID, resource string, source *wearables.Source, start, end int64) uuid.UUID {
	key := fmt.Sprintf("earlier|%d|%d|%s|%s", start, end, source.Type, source.AppID)
	return wearables.SummaryID(user, source.Provider, resource, key)
}

// removeReplaced deletes the sessions that w has replaced, and returns their events.
func (w *summaryPlan) removeReplaced(ctx context.Context, tx *store.Tx, j *job) (all []events.New, err error) {
	gone, err := w.allReplaced(ctx, tx, j)
	for i := range gone {
		if err := gone[i].Remove(ctx, tx); err != nil {
			return nil, err
		}
		all = append(all, j.deletedEvent(&gone[i]))
	}
	return all, err
}

// allReplaced returns the sessions that w replaces, and the cycles of replaced sleeps.
func (w *summaryPlan) allReplaced(ctx context.Context, tx *store.Tx, j *job) (all []storage.StoredSummary, err error) {
	for i := range w.replaced {
		s := &w.replaced[i]
		all = append(all, *s)
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
			if json.Unmarshal(cycles[k].Body, &body) == nil && body.Sleep == s.ID && !j.plans(cycles[k].ID) {
				all = append(all, cycles[k])
			}
		}
	}
	return all, nil
}

// formerTimes lists the times that the earlier versions of a summary had.
func (w *summaryPlan) formerTimes(one wearables.TouchedData) (all []wearables.TouchedData) {
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

// plans reports whether a summary of the batch writes or replaces the row with an id.
func (j *job) plans(id uuid.UUID) bool {
	return slices.ContainsFunc(j.summaries, func(w *summaryPlan) bool {
		return w.id == id && w.verb != "" ||
			slices.ContainsFunc(w.replaced, func(s storage.StoredSummary) bool { return s.ID == id })
	})
}
