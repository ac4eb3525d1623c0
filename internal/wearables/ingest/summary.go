package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// maxSummary bounds a document, so that it fits into one event with its source
// and envelope.
const maxSummary = events.MaxBody - 16<<10

// summaryPlan holds the change of one batch to one summary: newJob fills the first
// part, plan the second.
type summaryPlan struct {
	wearables.Summary
	document *wearables.Document
	part     int       // index in the batch of the last version
	key      uuid.UUID // SummaryID of its Key
	record   uuid.UUID // RecordID of its Record
	fields   map[string]any
	computed []string   // the fields that Hale computed
	undated  bool       // a session of which no version in the batch states the day
	given    civil.Date // the day before plan sets it

	// See identify.
	id        uuid.UUID
	was       *storage.StoredSummary // nil if it is new
	claimed   bool
	yields    bool                    // another version counts
	waits     bool                    // it is planned after the others: see batchOfWaiting
	rivals    time.Duration           // of a note: a microsecond for each later one of its key in the batch
	displaced *summaryPlan            // had its row before
	replaced  []storage.StoredSummary // sessions that it replaces
	sleep     uuid.UUID               // of a cycle; zero if its body names it

	source    wearables.Source // to store
	tooLarge  bool             // the version would not fit into an event
	earlier   bool             // it is a deleted or replaced version
	verb      string           // created, updated, or empty if nothing changed
	begins    time.Time
	stated    bool  // its day is stated, in the batch or before
	refiled   bool  // only its day or its record changed, or whether the day is stated: none is in the body
	measured  bool  // of a profile: the same height was measured later
	states    bool  // the stored version, which is of an import
	remarked  bool  // only the list of computed fields changed
	version   int64 // the new one
	createdAt time.Time
	body      []byte // canonical
}

// addSummaries checks the summaries of a batch and merges versions of one summary,
// the later over the earlier.
func (j *job) addSummaries(all []wearables.Summary, bounds *limits) {
	byKey := map[uuid.UUID][]*summaryPlan{} // several meals may have one key
	for part, s := range all {
		document, ok := wearables.DocumentNamed(s.Resource)
		if !ok {
			j.refused.add(s.Resource, wearables.UnknownResource, 1, part, 0)
			continue
		}
		if s.Source.Provider == "" {
			s.Source.Provider = j.provider
		}
		if s.Source.Type == "" {
			s.Source.Type = "unknown"
		}
		cleanSource(&s.Source)
		if s.Deleted {
			j.addDeleted(s)
			continue
		}
		j.addSummary(byKey, document, s, part, bounds)
	}
	j.rankNotes()
	slices.SortFunc(j.summaries, func(a, b *summaryPlan) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), bytes.Compare(a.key[:], b.key[:]))
	})
}

// addSummary checks a summary and adds it to the plans of the batch. part is its index in
// the batch.
func (j *job) addSummary(byKey map[uuid.UUID][]*summaryPlan, document *wearables.Document, s wearables.Summary, part int, bounds *limits) {
	fields, reason := readDocument(document, &s)
	if reason == "" {
		reason = refuseSource(&s.Source)
	}
	w := &summaryPlan{
		document: document, part: part, fields: fields, computed: takeComputed(fields),
		key:    wearables.SummaryID(j.user, s.Source.Provider, s.Resource, s.Key),
		record: wearables.RecordID(j.user, s.Source.Provider, s.Resource, s.Record),
	}
	earlier := j.earlierVersion(byKey[w.key], &s, w)
	w.undated = j.setDay(document, &s, fields, earlier, reason == "")
	lost := 0
	if reason == "" {
		lost, reason = bounds.checkSummary(document, &s, fields)
	}
	if reason != "" {
		j.refused.add(s.Resource, reason, 1, part, 0)
		return
	}
	if lost > 0 {
		j.refused.add(s.Resource, wearables.ImplausibleValue, lost, part, 0)
	}
	w.Summary, w.given = s, s.Date
	if earlier != nil {
		earlier.replaceWith(w)
		return
	}
	byKey[w.key] = append(byKey[w.key], w)
	j.summaries = append(j.summaries, w)
	j.resources = append(j.resources, s.Resource)
}

// earlierVersion returns the earlier version of a summary in the batch, which has the same
// key, or nil.
func (j *job) earlierVersion(sameKey []*summaryPlan, s *wearables.Summary, w *summaryPlan) (earlier *summaryPlan) {
	for _, other := range sameKey {
		if s.Resource != mealResource || sameMeal(w.record, other.record, w.fields, other.fields) {
			earlier = other
		}
	}
	if earlier != nil && earlier.isSession() && !j.merges(earlier, &summaryPlan{Summary: *s, key: w.key, record: w.record}) {
		return nil
	}
	return earlier
}

// setDay sets the day of a summary that states none: to that of its earlier version, or to
// the local day of its fields. It reports whether no version states the day. isValid is
// false for a summary that is refused.
func (j *job) setDay(document *wearables.Document, s *wearables.Summary, fields map[string]any, earlier *summaryPlan, isValid bool) (undated bool) {
	if document.Dated && s.Date.IsZero() && earlier != nil && !earlier.undated {
		s.Date = earlier.Date
		if isValid {
			setDayFields(document, fields, s.Date)
		}
	}
	undated = document.Dated && s.Date.IsZero()
	if isValid && undated {
		whole := maps.Clone(fields)
		overlay(whole, fallbackFields(document, j.whole, s, fields))
		s.Date = localDay(document, whole)
	}
	return undated
}

// checkSummary returns the reason to refuse a summary. Otherwise it removes implausible
// fields and counts them.
func (l *limits) checkSummary(document *wearables.Document, s *wearables.Summary, fields map[string]any) (lost int, reason string) {
	if reason = l.refuseSummary(s, document); reason != "" {
		return 0, reason
	}
	if reason = refuseFields(document, fields); reason != "" {
		return 0, reason
	}
	if lost, reason = removeImplausible(document, fields); reason != "" {
		return lost, reason
	}
	more, reason := l.removeImplausible(fields)
	return lost + more, reason
}

// replaceWith merges a later version of the batch into w.
func (w *summaryPlan) replaceWith(later *summaryPlan) {
	if later.Whole {
		w.fields, w.computed = later.fields, later.computed
	} else {
		w.computed = computedAfter(w.computed, w.fields, later.fields, later.computed)
		overlay(w.fields, later.fields)
	}
	whole := w.Whole
	w.Summary, w.given, w.part, w.undated = later.Summary, later.given, later.part, later.undated
	w.Whole = w.Whole || whole
	if later.record != uuid.Nil {
		w.record = later.record
	}
}

// merges reports whether a later version of a session replaces w before anything is
// stored. Without an id it has the same bounds, or it is imported: see keepLast. No version
// of it is between them.
func (j *job) merges(w, later *summaryPlan) bool {
	if (w.record == uuid.Nil || later.record == uuid.Nil) && w.End.Unix() != later.End.Unix() &&
		(!j.imported || later.isFragmentOf(&w.Source, w.Start.UnixMicro(), w.End.UnixMicro())) {
		return false
	}
	for _, between := range slices.Backward(j.summaries) {
		if between == w {
			break
		}
		if later.mayBeVersionOf(between) {
			return false
		}
	}
	return true
}

// writeSummaries writes in one order for all batches, so that no two deadlock. It
// returns the events in the order of the summaries' time.
func (j *job) writeSummaries(ctx context.Context, tx *store.Tx) ([]events.New, error) {
	sent := make(map[*summaryPlan][]events.New, len(j.summaries))
	var moved, gone []events.New // of former places of notes, and of sessions that one session replaces
	for _, w := range j.summaries {
		if w.verb != "" {
			if err := w.rememberEarlier(ctx, tx, j); err != nil {
				return nil, err
			}
			removed, err := w.removeReplaced(ctx, tx, j)
			if err != nil {
				return nil, err
			}
			gone = append(gone, removed...)
		}
		if w.leavesPlace() && j.announces {
			moved = append(moved, j.deletedEvent(w.was))
		}
		event, err := w.write(ctx, tx, j)
		if err != nil {
			return nil, err
		}
		sent[w] = event
	}
	inTime := slices.SortedStableFunc(slices.Values(j.summaries), func(a, b *summaryPlan) int {
		first, _ := a.bounds()
		second, _ := b.bounds()
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(first, second), cmp.Compare(a.part, b.part))
	})
	all := moved // first: another note may have the place now
	for _, w := range inTime {
		all = append(all, sent[w]...)
	}
	return append(all, gone...), nil
}

// leavesPlace reports whether a note moves. Its events are those of a sample, without an
// id. So a copy learns only from another event that the former place is empty.
func (w *summaryPlan) leavesPlace() bool {
	if w.Resource != wearables.NoteResource || w.verb != updated {
		return false
	}
	start, _ := w.was.Bounds()
	return !w.sameSecond(start) || !w.source.Same(w.was.Source)
}

// storedIDs returns the id of the summary that each one of the batch is stored as; zero if
// another version counts.
func (j *job) storedIDs() []uuid.UUID {
	last := map[uuid.UUID]int{}
	for _, w := range j.summaries {
		if w.isPlanned() && !w.earlier && !w.tooLarge {
			last[w.id] = max(last[w.id], w.part)
		}
	}
	all := make([]uuid.UUID, j.sent)
	for id, part := range last {
		all[part] = id
	}
	return all
}

// rank orders a sleep before its cycle.
func (w *summaryPlan) rank() int { return slices.Index(wearables.Documents(), w.document) }

// plan compares the summary with what is stored.
func (w *summaryPlan) plan(ctx context.Context, tx *store.Tx, j *job) error {
	w.verb, w.tooLarge, w.earlier, w.begins, w.Date = "", false, false, w.Start, w.given
	w.measured, w.refiled, w.remarked, w.states = false, false, false, false
	w.source = w.Source
	if !w.isPlanned() {
		return nil
	}
	if w.was == nil {
		whole := maps.Clone(w.withNewestHeight(nil, &storage.StoredSummary{}, tx.Now()))
		statedFields := w.withoutComputed(whole)
		key, err := w.newKey(ctx, tx, j)
		if err != nil {
			return err
		}
		gone, err := storage.IsDeletedSummary(ctx, tx, j.team, j.user, key, statedFields)
		for i := 0; err == nil && !gone && i < len(j.readBefore); i++ {
			key, was := w.misread(statedFields, j.readBefore[i])
			gone, err = storage.IsDeletedSummary(ctx, tx, j.team, j.user, key, was)
		}
		if err == nil && !gone {
			gone, err = w.isEarlier(ctx, tx, j)
		}
		if err == nil && !gone {
			gone, err = w.isOfDeletedSleep(ctx, tx, j)
		}
		gone = gone || w.isOfEarlierSleep(j)
		if err != nil {
			return err
		}
		overlay(whole, w.fallbackFields(j))
		w.setSleep(whole)
		w.setDay(whole, civil.Date{})
		setComputed(whole, slices.Clone(w.computed))
		if w.earlier = gone; w.fits(whole) && !gone {
			w.verb, w.version = created, 1
		}
		return nil
	}
	older, err := wearables.ParseDocument(w.was.Body)
	if err != nil {
		return err
	}
	stated := storedDay(w.document, w.was, older)
	newer := w.withStoredPlace(older, w.withNewestHeight(older, w.was, tx.Now()))
	same := sameMoments(w.document, older, newer)
	crosses := w.Source.IsOtherTransport(&w.was.Source)
	if crosses {
		w.source = w.was.Source
		w.dropFollowing(older, newer)
	}
	repeats, err := w.repeatsPart(ctx, tx, j, older, newer, same)
	if err != nil {
		return err
	}
	older = w.mergeInto(older, newer, same, !crosses && !repeats, j.in.reprocess)
	w.setSleep(older)
	w.setDay(older, stated)
	w.createdAt = w.was.CreatedAt
	// A moved record does not come back to the time of before, and a deleted one not as a
	// version of another one.
	if !w.sameBounds(w.was) || w.record != uuid.Nil && w.record != w.was.Record {
		gone, err := storage.IsDeletedSummary(ctx, tx, j.team, j.user, w.deletedKey(), w.withoutComputed(w.fields))
		if err == nil && !gone {
			gone, err = w.isEarlier(ctx, tx, j)
		}
		if err != nil || gone {
			w.earlier = gone
			return err
		}
	}
	changed := w.fits(older) && !sameValues(w.body, w.was.Body)
	if changed && len(w.replaced) == 0 {
		if gone, err := w.isCorrected(ctx, tx, j); err != nil || gone {
			w.earlier = gone
			return err
		}
	}
	if !w.tooLarge && (changed || !w.source.Same(w.was.Source) || len(w.replaced) > 0) {
		w.verb, w.version = updated, w.was.Version+1
		return nil
	}
	w.remarked = !w.tooLarge && !bytes.Equal(w.body, w.was.Body)
	w.measured, w.version = w.begins.After(w.was.Measured) && w.Resource == wearables.ProfileResource, w.was.Version
	w.refiled = w.document.Dated && w.document.Start != "" && (w.Date.String() != w.was.Day || w.stated && !w.was.DayStated) ||
		w.record != uuid.Nil && w.record != w.was.Record
	return w.planStated(ctx, tx, j)
}

// deletedKey returns what identifies the summary if it was deleted.
func (w *summaryPlan) deletedKey() storage.SummaryKey {
	return storage.SummaryKey{ID: w.id, Record: w.record, Resource: w.Resource, Source: w.Source, Start: w.Start, End: w.End}
}

// newKey returns deletedKey of a summary that is not stored. A cycle without an id has that
// of its sleep.
func (w *summaryPlan) newKey(ctx context.Context, tx *store.Tx, j *job) (storage.SummaryKey, error) {
	key := w.deletedKey()
	if w.Resource != "sleep_cycle" || w.record != uuid.Nil || w.sleep == uuid.Nil {
		return key, nil
	}
	for _, s := range j.summaries {
		if s.Resource == "sleep" && s.id == w.sleep && s.isPlanned() && !s.earlier {
			key.Record = s.record
			return key, nil
		}
	}
	sleep, err := storage.ReadSummary(ctx, tx, j.team, j.user, w.sleep)
	key.Record = sleep.Record
	return key, ignoreMissing(err)
}

// fallbackFields returns the fields of a new summary that none of its versions in
// the batch states.
func (w *summaryPlan) fallbackFields(j *job) map[string]any {
	return fallbackFields(w.document, j.whole, &w.Summary, w.fields)
}

// setSleep sets the sleep of a cycle that does not name it.
func (w *summaryPlan) setSleep(whole map[string]any) {
	if w.sleep != uuid.Nil {
		whole["sleep_id"] = w.sleep.String()
	}
}

// fits writes the body of the version and reports whether it fits into an event.
// A document may grow when it is merged with an older one and written again.
func (w *summaryPlan) fits(whole map[string]any) bool {
	w.body = wearables.AppendCanonical(nil, whole)
	w.tooLarge = len(w.body) > maxSummary
	return !w.tooLarge
}

// write stores the planned version and returns its event, or ErrStale.
func (w *summaryPlan) write(ctx context.Context, tx *store.Tx, j *job) ([]events.New, error) {
	if w.verb == "" {
		return nil, errors.Join(w.writeMeasured(ctx, tx, j), w.writeDay(ctx, tx, j), w.writeMarks(ctx, tx, j), w.writeStated(ctx, tx, j))
	}
	d := storage.StoredSummary{
		ID: w.id, Team: j.team, User: j.user, Resource: w.Resource, Source: w.source, Body: w.body,
		CreatedAt: tx.Now(), UpdatedAt: tx.Now().Add(-w.rivals), Day: dayText(w.Date), DayStated: w.stated, Record: w.record, Version: w.version,
	}
	if w.verb == updated {
		d.CreatedAt = w.createdAt
	}
	if err := d.Write(ctx, tx, w.begins, w.End); err != nil {
		return nil, err
	}
	if !j.announces {
		return nil, nil
	}
	payload, err := w.payload(ctx, tx, j, &d)
	if err != nil {
		return nil, err
	}
	return []events.New{j.event(resources.DailyEvent(d.Resource, w.verb), payload)}, nil
}

// payload returns the payload of the event about a stored version.
func (w *summaryPlan) payload(ctx context.Context, tx *store.Tx, j *job, s *storage.StoredSummary) ([]byte, error) {
	if s.Resource != wearables.NoteResource {
		return storage.AppendSummary(nil, s, j.logos())
	}
	series, err := w.noteSeries(ctx, tx, j)
	if err != nil {
		return nil, err
	}
	n, err := storage.ParseNote(s)
	return j.samplesPayload(nil, &series, series.ID, storage.AppendNotes(nil, []storage.Note{n})), err
}

// noteSeries returns the series of a note. It has no blocks: its number is the
// source_id of events.
func (w *summaryPlan) noteSeries(ctx context.Context, tx *store.Tx, j *job) (storage.Series, error) {
	key := storage.KeyOfSource(w.Source)
	key.Resource = wearables.NoteResource
	series, found, err := storage.FindSeries(ctx, tx, j.team, j.user, key)
	if err != nil || found {
		return series, err
	}
	note, _ := wearables.ResourceNamed(wearables.NoteResource)
	return storage.CreateSeries(ctx, tx, j.team, j.user, key, note.Width)
}
