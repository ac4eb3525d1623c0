package wearables

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// idSpace is the namespace of summary ids.
var idSpace = uuid.MustParse("7f6de3a4-31c0-5a0e-9d0e-5d6b1f2a9c48")

// SummaryID is the id of a user's summary. It depends only on what the
// summary is about, so that every later version has the same one, whichever
// pipeline brought it.
//
// Spec: Events, summary events ("identified by its id").
func SummaryID(user uuid.UUID, provider, resource, key string) uuid.UUID {
	name := make([]byte, 0, 128)
	name = append(name, user[:]...)
	for _, part := range []string{provider, resource, key} {
		name = append(append(name, part...), 0)
	}
	return uuid.NewSHA1(idSpace, name)
}

// largestSummary bounds a document, so that it fits into one event with its
// source and envelope.
const largestSummary = events.MaxBody - 16<<10

// summaryWrite is what one batch does to one summary: intake fills the first
// part, plan the second.
type summaryWrite struct {
	Summary
	document *Document
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
func (j *job) takeSummaries(all []Summary, bounds *limits) {
	byID := map[uuid.UUID]*summaryWrite{}
	for part, s := range all {
		document, ok := DocumentNamed(s.Resource)
		if !ok {
			j.refused.add(s.Resource, UnknownResource, 1, part, 0)
			continue
		}
		if s.Source.Provider == "" {
			s.Source.Provider = j.provider
		}
		if s.Source.Type == "" {
			s.Source.Type = "unknown"
		}
		s.Source.tidy()
		fields, reason := document.read(&s)
		if reason == "" {
			reason = s.Source.refused()
		}
		id := SummaryID(j.user, s.Source.Provider, s.Resource, s.Key)
		w := byID[id]
		if document.Dated && s.Date.IsZero() && w != nil && !w.undated {
			s.Date = w.Date
		}
		undated := document.Dated && s.Date.IsZero()
		if reason == "" && undated {
			whole := maps.Clone(fields)
			document.overlay(whole, document.beneath(j.whole, &s, fields))
			s.Date = document.day(whole)
		}
		if reason == "" {
			reason = bounds.takesSummary(&s, document)
		}
		if reason == "" {
			reason = document.contradicts(fields)
		}
		lost := 0
		if reason == "" {
			lost, reason = document.leaveOut(fields)
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
			j.refused.add(s.Resource, Implausible, lost, part, 0)
		}
		if w != nil {
			document.overlay(w.fields, fields)
			w.Summary, w.part, w.undated = s, part, undated
			continue
		}
		w = &summaryWrite{Summary: s, document: document, part: part, id: id, fields: fields, undated: undated}
		byID[id] = w
		j.summaries = append(j.summaries, w)
		j.resources = append(j.resources, s.Resource)
	}
	slices.SortFunc(j.summaries, func(a, b *summaryWrite) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), bytes.Compare(a.id[:], b.id[:]))
	})
}

// writeSummaries writes all in one order for all batches, so that no two wait
// for each other, and returns the events in the order in which things happened.
func (j *job) writeSummaries(ctx context.Context, tx *store.Tx) ([]events.New, error) {
	sent := make(map[*summaryWrite][]events.New, len(j.summaries))
	for _, w := range j.summaries {
		event, err := w.write(ctx, tx, j)
		if err != nil {
			return nil, err
		}
		sent[w] = event
	}
	inTime := slices.SortedStableFunc(slices.Values(j.summaries), func(a, b *summaryWrite) int {
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
func (w *summaryWrite) rank() int { return slices.Index(documents, w.document) }

// read parses a summary's body and completes it with what stands beside it.
// A field that the resource does not have is a mistake of ours, not of the
// provider, and spoils the document.
func (d *Document) read(s *Summary) (fields map[string]any, reason string) {
	if len(s.Body) > largestSummary {
		return nil, TooLarge
	}
	fields, err := parseDocument(s.Body)
	if err != nil {
		return nil, BadDocument
	}
	for name, v := range fields {
		f, ok := d.Settable(name)
		if !ok || !f.holds(v) {
			return nil, BadDocument
		}
	}
	switch {
	case d.Dated && !s.Date.IsZero():
		d.setDay(fields, s.Date)
	case d.Dated && s.Start.IsZero():
		return nil, BadDocument
	}
	if !s.Start.IsZero() {
		set(fields, d, d.Start, instant(s.Start))
	}
	if !s.End.IsZero() {
		set(fields, d, d.End, instant(s.End))
	}
	switch length := s.End.Sub(s.Start); {
	case d.End != "" && s.End.IsZero():
		return nil, BadDocument
	case s.Start.IsZero() || s.End.IsZero():
	case length < 0:
		return nil, EndBeforeStart
	case d.Longest > 0 && length > d.Longest:
		return nil, Implausible
	}
	return fields, ""
}

func set(fields map[string]any, d *Document, name, value string) {
	if _, ok := d.Settable(name); ok && fields[name] == nil {
		fields[name] = value
	}
}

func instant(t time.Time) string {
	var c clock
	return string(c.append(nil, t.UnixMicro()))
}

// holds says whether a parsed JSON value is of the kind; null is of every one.
func (k Kind) holds(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case json.Number:
		f, err := v.Float64()
		if k == Integer {
			return err == nil && f == math.Trunc(f) && math.Abs(f) <= wholeNumbers
		}
		return err == nil && k == Number
	case bool:
		return k == Flag
	case string:
		switch k {
		case Day:
			_, err := civil.ParseDate(v)
			return err == nil
		case Moment:
			_, err := time.Parse(time.RFC3339, v)
			return err == nil
		case UUID:
			return uuid.Validate(v) == nil
		default:
			return k == Text
		}
	case []any:
		return k == List
	}
	return k == Object
}

// plan compares the summary with what is stored.
func (w *summaryWrite) plan(ctx context.Context, tx *store.Tx, j *job) error {
	was, err := readSummary(ctx, tx, j.team, j.user, w.id)
	w.verb, w.tooLarge, w.measured, w.refiled, w.begins = "", false, false, false, w.Start
	if errors.Is(err, store.ErrNoRows) {
		whole := maps.Clone(w.news(nil, &was, tx.Now()))
		w.document.overlay(whole, w.beneath(j))
		w.date(whole, civil.Date{})
		if w.fits(whole) {
			w.verb, w.version = created, 1
		}
		return nil
	}
	if err != nil {
		return err
	}
	older, err := parseDocument(was.Body)
	if err != nil {
		return err
	}
	stated := w.document.statedBefore(&was, older)
	newer := w.news(older, &was, tx.Now())
	same := w.document.sameMoments(older, newer)
	w.document.overlay(older, newer)
	w.document.overlay(older, same)
	w.date(older, stated)
	w.createdAt = was.CreatedAt
	if w.fits(older) && (!bytes.Equal(w.body, was.Body) || !w.Source.Same(was.Source)) {
		w.verb, w.version = updated, was.version+1
		return nil
	}
	w.measured, w.version = w.begins.After(was.Measured) && w.Resource == profile, was.version
	w.refiled = w.document.Dated && w.document.Start != "" && (w.Date.String() != was.day || w.stated && !was.dayStated)
	return nil
}

// beneath are the fields that a new summary gets where none of its versions in
// the batch states them.
func (w *summaryWrite) beneath(j *job) map[string]any {
	found := w.document.beneath(j.whole, &w.Summary, w.fields)
	if w.Resource == "sleep_cycle" && w.fields["sleep_id"] == nil { // it is of the sleep that began with it
		found["sleep_id"] = SummaryID(j.user, w.Source.Provider, "sleep", w.Key).String()
	}
	return found
}

// fits writes the version's body and says whether an event can carry it. Only
// then is it known: a document may grow when it is joined with an older one,
// and by how its texts and numbers are written.
func (w *summaryWrite) fits(whole map[string]any) bool {
	w.body = appendCanonical(nil, whole)
	w.tooLarge = len(w.body) > largestSummary
	return !w.tooLarge
}

// sameMoments are the stored words of the moments that newer tells again in
// other words. 10:00Z is no news where 10:00+00:00 is stored.
func (d *Document) sameMoments(older, newer map[string]any) map[string]any {
	same := map[string]any{}
	for _, f := range d.Fields {
		was, _ := older[f.Name].(string)
		now, _ := newer[f.Name].(string)
		if f.Kind != Moment || was == now {
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
func (w *summaryWrite) write(ctx context.Context, tx *store.Tx, j *job) ([]events.New, error) {
	if w.verb == "" {
		return nil, errors.Join(w.remeasure(ctx, tx, j), w.refile(ctx, tx, j))
	}
	d := StoredSummary{
		ID: w.id, Team: j.team, User: j.user, Resource: w.Resource, Source: w.Source, Body: w.body,
		CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	if w.verb == updated {
		d.CreatedAt = w.createdAt
	}
	sealed, err := tx.Seal(ctx, d.Team, d.User, placeOfSummary(d.ID), d.Body)
	if err != nil {
		return nil, err
	}
	id := identityOf(w.Source)
	day := ""
	if !w.Date.IsZero() {
		day = w.Date.String()
	}
	changed, err := tx.Exec(ctx, `INSERT INTO summaries (team_id, user_id, id, resource, provider, source_type, app_id, device_id,
			calendar_date, day_stated, start_at, end_at, version, created_at, updated_at, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
		ON CONFLICT (user_id, id) DO UPDATE SET source_type = excluded.source_type, app_id = excluded.app_id,
			device_id = excluded.device_id, calendar_date = excluded.calendar_date, day_stated = excluded.day_stated,
			start_at = COALESCE(excluded.start_at, summaries.start_at), end_at = COALESCE(excluded.end_at, summaries.end_at),
			version = excluded.version, updated_at = excluded.updated_at, body = excluded.body
			WHERE summaries.version = excluded.version - 1`,
		d.Team, d.User, d.ID, d.Resource, id.provider, id.sourceType, id.appID, id.device,
		day, w.stated, store.MicrosOrNil(&w.begins), store.MicrosOrNil(&w.End),
		w.version, store.Micros(d.CreatedAt), store.Micros(d.UpdatedAt), sealed)
	if err != nil {
		return nil, err
	}
	if changed == 0 {
		return nil, errRace
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

func placeOfSummary(id uuid.UUID) string { return "summaries.body:" + id.String() }
