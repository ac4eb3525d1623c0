package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// largestSummary bounds a document, so that it fits into one event with its
// source and envelope.
const largestSummary = events.MaxBody - 16<<10

// summaryPlan is what one batch does to one summary: intake fills the first
// part, plan the second.
type summaryPlan struct {
	wearables.Summary
	document *wearables.Document
	part     int // of the batch: the last one that is about it
	id       uuid.UUID
	fields   map[string]any
	undated  bool // a session of which no version in the batch says on which day it was

	tooLarge  bool   // the version would not fit into an event
	verb      string // created, updated, or empty when nothing changed
	begins    time.Time
	stated    bool  // somebody says on which day it was, here or before
	refiled   bool  // nothing changed but its day, which its body does not show, or that somebody says so now
	measured  bool  // a profile's height is the same, and was measured later
	version   int64 // the new one
	createdAt time.Time
	body      []byte // canonical
}

// takeSummaries checks the summaries of a batch and joins those about one
// thing, the later over the earlier.
func (j *job) takeSummaries(all []wearables.Summary, bounds *limits) {
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
			reason = bounds.takesSummary(&s, document)
		}
		if reason == "" {
			reason = contradicts(document, fields)
		}
		lost := 0
		if reason == "" {
			lost, reason = leaveOut(document, fields)
		}
		if reason == "" {
			var more int
			more, reason = bounds.leaveOut(fields)
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

// writeSummaries writes all in one order for all batches, so that no two wait
// for each other, and returns the events in the order in which things happened.
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

// rank puts a sleep before its cycle and a workout before its stream.
func (w *summaryPlan) rank() int { return slices.Index(wearables.Documents(), w.document) }

// read parses a summary's body and completes it with what stands beside it.
// A field that the resource does not have is a mistake of ours, not of the
// provider, and spoils the document.
func readDocument(d *wearables.Document, s *wearables.Summary) (fields map[string]any, reason string) {
	if len(s.Body) > largestSummary {
		return nil, wearables.TooLarge
	}
	fields, err := wearables.ParseDocument(s.Body)
	if err != nil {
		return nil, wearables.BadDocument
	}
	for name, v := range fields {
		f, ok := d.Settable(name)
		if !ok || !f.Holds(v) {
			return nil, wearables.BadDocument
		}
	}
	switch {
	case d.Dated && !s.Date.IsZero():
		setDay(d, fields, s.Date)
	case d.Dated && s.Start.IsZero():
		return nil, wearables.BadDocument
	}
	if !s.Start.IsZero() {
		set(fields, d, d.Start, instant(s.Start))
	}
	if !s.End.IsZero() {
		set(fields, d, d.End, instant(s.End))
	}
	switch length := s.End.Sub(s.Start); {
	case d.End != "" && s.End.IsZero():
		return nil, wearables.BadDocument
	case s.Start.IsZero() || s.End.IsZero():
	case length < 0:
		return nil, wearables.EndBeforeStart
	case d.Longest > 0 && length > d.Longest:
		return nil, wearables.Implausible
	}
	return fields, ""
}

func set(fields map[string]any, d *wearables.Document, name, value string) {
	if _, ok := d.Settable(name); ok && fields[name] == nil {
		fields[name] = value
	}
}

func instant(t time.Time) string {
	var c wearables.Clock
	return string(c.Append(nil, t.UnixMicro()))
}

// plan compares the summary with what is stored.
func (w *summaryPlan) plan(ctx context.Context, tx *store.Tx, j *job) error {
	was, err := storage.ReadSummary(ctx, tx, j.team, j.user, w.id)
	w.verb, w.tooLarge, w.measured, w.refiled, w.begins = "", false, false, false, w.Start
	if errors.Is(err, store.ErrNoRows) {
		whole := maps.Clone(w.news(nil, &was, tx.Now()))
		overlay(whole, w.fallbackFields(j))
		w.date(whole, civil.Date{})
		if w.fits(whole) {
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
	stated := statedBefore(w.document, &was, older)
	newer := w.news(older, &was, tx.Now())
	same := sameMoments(w.document, older, newer)
	overlay(older, newer)
	overlay(older, same)
	w.date(older, stated)
	w.createdAt = was.CreatedAt
	if w.fits(older) && (!bytes.Equal(w.body, was.Body) || !w.Source.Same(was.Source)) {
		w.verb, w.version = updated, was.Version+1
		return nil
	}
	w.measured, w.version = w.begins.After(was.Measured) && w.Resource == wearables.ProfileResource, was.Version
	w.refiled = w.document.Dated && w.document.Start != "" && (w.Date.String() != was.Day || w.stated && !was.DayStated)
	return nil
}

// beneath are the fields that a new summary gets where none of its versions in
// the batch states them.
func (w *summaryPlan) fallbackFields(j *job) map[string]any {
	found := fallbackFields(w.document, j.whole, &w.Summary, w.fields)
	if w.Resource == "sleep_cycle" && w.fields["sleep_id"] == nil { // it is of the sleep that began with it
		found["sleep_id"] = wearables.SummaryID(j.user, w.Source.Provider, "sleep", w.Key).String()
	}
	return found
}

// fits writes the version's body and says whether an event can carry it. Only
// then is it known: a document may grow when it is joined with an older one,
// and by how its texts and numbers are written.
func (w *summaryPlan) fits(whole map[string]any) bool {
	w.body = wearables.AppendCanonical(nil, whole)
	w.tooLarge = len(w.body) > largestSummary
	return !w.tooLarge
}

// sameMoments are the stored words of the moments that newer tells again in
// other words. 10:00Z is no news where 10:00+00:00 is stored.
func sameMoments(d *wearables.Document, older, newer map[string]any) map[string]any {
	same := map[string]any{}
	for _, f := range d.Fields {
		was, _ := older[f.Name].(string)
		now, _ := newer[f.Name].(string)
		if f.Kind != wearables.Moment || was == now {
			continue
		}
		a, errA := time.Parse(time.RFC3339, was)
		b, errB := time.Parse(time.RFC3339, now)
		if errA == nil && errB == nil && a.Equal(b) {
			same[f.Name] = was
		}
	}
	return same
}

// write stores the planned version and returns its event. It returns errRace
// when somebody stored another one meanwhile.
func (w *summaryPlan) write(ctx context.Context, tx *store.Tx, j *job) ([]events.New, error) {
	if w.verb == "" {
		return nil, errors.Join(w.remeasure(ctx, tx, j), w.refile(ctx, tx, j))
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

// payload is what the event about a stored version tells.
func (w *summaryPlan) payload(ctx context.Context, tx *store.Tx, j *job, s *storage.StoredSummary) ([]byte, error) {
	if s.Resource != wearables.NoteResource {
		return storage.AppendSummary(nil, s, j.in.Describe)
	}
	series, err := w.numbered(ctx, tx, j)
	if err != nil {
		return nil, err
	}
	n, err := storage.ParseNote(s)
	return j.samplesPayload(nil, &series, series.ID, storage.AppendNotes(nil, []storage.Note{n})), err
}

// numbered is the series of a note, which no block belongs to: its number is
// the source_id of events.
func (w *summaryPlan) numbered(ctx context.Context, tx *store.Tx, j *job) (storage.Series, error) {
	id := storage.KeyOfSource(w.Source)
	id.Resource = wearables.NoteResource
	series, found, err := storage.FindSeries(ctx, tx, j.team, j.user, id)
	if err != nil || found {
		return series, err
	}
	note, _ := wearables.ResourceNamed(wearables.NoteResource)
	return storage.CreateSeries(ctx, tx, j.team, j.user, id, note.Width)
}
