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
	part     int // index in the batch of the last version
	id       uuid.UUID
	fields   map[string]any
	undated  bool // a session of which no version in the batch states the day

	tooLarge  bool   // the version would not fit into an event
	verb      string // created, updated, or empty if nothing changed
	begins    time.Time
	stated    bool  // its day is stated, in the batch or before
	refiled   bool  // only its day changed, or whether that is stated; neither is in the body
	measured  bool  // of a profile: the same height was measured later
	version   int64 // the new one
	createdAt time.Time
	body      []byte // canonical
}

// addSummaries checks the summaries of a batch and merges versions of one summary,
// the later over the earlier.
func (j *job) addSummaries(all []wearables.Summary, bounds *limits) {
	byID := map[uuid.UUID]*summaryPlan{}
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
		fields, reason := readDocument(document, &s)
		if reason == "" {
			reason = refuseSource(&s.Source)
		}
		id := wearables.SummaryID(j.user, s.Source.Provider, s.Resource, s.Key)
		w := byID[id]
		if document.Dated && s.Date.IsZero() && w != nil && !w.undated {
			s.Date = w.Date
		}
		undated := document.Dated && s.Date.IsZero()
		if reason == "" && undated {
			whole := maps.Clone(fields)
			overlay(whole, fallbackFields(document, j.whole, &s, fields))
			s.Date = localDay(document, whole)
		}
		if reason == "" {
			reason = bounds.refuseSummary(&s, document)
		}
		if reason == "" {
			reason = refuseFields(document, fields)
		}
		lost := 0
		if reason == "" {
			lost, reason = removeImplausible(document, fields)
		}
		if reason == "" {
			var more int
			more, reason = bounds.removeImplausible(fields)
			lost += more
		}
		if reason != "" {
			j.refused.add(s.Resource, reason, 1, part, 0)
			continue
		}
		if lost > 0 {
			j.refused.add(s.Resource, wearables.Implausible, lost, part, 0)
		}
		if w != nil {
			overlay(w.fields, fields)
			w.Summary, w.part, w.undated = s, part, undated
			continue
		}
		w = &summaryPlan{Summary: s, document: document, part: part, id: id, fields: fields, undated: undated}
		byID[id] = w
		j.summaries = append(j.summaries, w)
		j.resources = append(j.resources, s.Resource)
	}
	slices.SortFunc(j.summaries, func(a, b *summaryPlan) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), bytes.Compare(a.id[:], b.id[:]))
	})
}

// writeSummaries writes in one order for all batches, so that no two deadlock. It
// returns the events in the order of the summaries' time.
func (j *job) writeSummaries(ctx context.Context, tx *store.Tx) ([]events.New, error) {
	sent := make(map[*summaryPlan][]events.New, len(j.summaries))
	for _, w := range j.summaries {
		event, err := w.write(ctx, tx, j)
		if err != nil {
			return nil, err
		}
		sent[w] = event
	}
	inTime := slices.SortedStableFunc(slices.Values(j.summaries), func(a, b *summaryPlan) int {
		first, _ := a.bounds()
		second, _ := b.bounds()
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(first, second))
	})
	var all []events.New
	for _, w := range inTime {
		all = append(all, sent[w]...)
	}
	return all, nil
}

// rank orders a sleep before its cycle.
func (w *summaryPlan) rank() int { return slices.Index(wearables.Documents(), w.document) }

// plan compares the summary with what is stored.
func (w *summaryPlan) plan(ctx context.Context, tx *store.Tx, j *job) error {
	was, err := storage.ReadSummary(ctx, tx, j.team, j.user, w.id)
	w.verb, w.tooLarge, w.measured, w.refiled, w.begins = "", false, false, false, w.Start
	if errors.Is(err, store.ErrNoRows) {
		whole := maps.Clone(w.withNewestHeight(nil, &was, tx.Now()))
		gone, err := storage.IsDeletedSummary(ctx, tx, j.team, j.user, w.deletedKey(), whole)
		if err != nil {
			return err
		}
		overlay(whole, w.fallbackFields(j))
		w.setDay(whole, civil.Date{})
		if w.fits(whole) && !gone {
			w.verb, w.version = created, 1
		}
		return nil
	}
	if err != nil {
		return err
	}
	older, err := wearables.ParseDocument(was.Body)
	if err != nil {
		return err
	}
	stated := storedDay(w.document, &was, older)
	newer := w.withNewestHeight(older, &was, tx.Now())
	same := sameMoments(w.document, older, newer)
	overlay(older, newer)
	overlay(older, same)
	w.setDay(older, stated)
	w.createdAt = was.CreatedAt
	if w.fits(older) && (!bytes.Equal(w.body, was.Body) || !w.Source.Same(was.Source)) {
		w.verb, w.version = updated, was.Version+1
		return nil
	}
	w.measured, w.version = w.begins.After(was.Measured) && w.Resource == wearables.ProfileResource, was.Version
	w.refiled = w.document.Dated && w.document.Start != "" && (w.Date.String() != was.Day || w.stated && !was.DayStated)
	return nil
}

// deletedKey returns what identifies the summary if it was deleted.
func (w *summaryPlan) deletedKey() storage.SummaryKey {
	return storage.SummaryKey{ID: w.id, Resource: w.Resource, Provider: w.Source.Provider, Start: w.Start}
}

// fallbackFields returns the fields of a new summary that none of its versions in
// the batch states.
func (w *summaryPlan) fallbackFields(j *job) map[string]any {
	found := fallbackFields(w.document, j.whole, &w.Summary, w.fields)
	if w.Resource == "sleep_cycle" && w.fields["sleep_id"] == nil { // the sleep with the same key
		found["sleep_id"] = wearables.SummaryID(j.user, w.Source.Provider, "sleep", w.Key).String()
	}
	return found
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
		return nil, errors.Join(w.writeMeasured(ctx, tx, j), w.writeDay(ctx, tx, j))
	}
	d := storage.StoredSummary{
		ID: w.id, Team: j.team, User: j.user, Resource: w.Resource, Source: w.Source, Body: w.body,
		CreatedAt: tx.Now(), UpdatedAt: tx.Now(), Day: dayText(w.Date), DayStated: w.stated, Version: w.version,
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
	return []events.New{j.event("daily.data."+d.Resource+"."+w.verb, payload)}, nil
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
