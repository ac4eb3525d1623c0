package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// readDocument parses the body of a summary and adds its day, start and end. A field
// that the resource does not have is an error in our reader, not in the provider's
// data, so the document is refused.
func readDocument(d *wearables.Document, s *wearables.Summary) (fields map[string]any, reason string) {
	if len(s.Body) > maxSummary {
		return nil, wearables.TooLarge
	}
	fields, err := wearables.ParseDocument(s.Body)
	if err != nil {
		return nil, wearables.BadDocument
	}
	for name, v := range fields {
		if name == wearables.ComputedMember {
			continue
		}
		f, ok := d.Settable(name)
		if !ok || !f.Holds(v) {
			return nil, wearables.BadDocument
		}
	}
	switch {
	case d.Dated && !s.Date.IsZero():
		setDayFields(d, fields, s.Date)
	case d.Dated && s.Start.IsZero():
		return nil, wearables.BadDocument
	}
	if !s.Start.IsZero() {
		setDefault(d, fields, d.Start, instant(s.Start))
	}
	if !s.End.IsZero() {
		setDefault(d, fields, d.End, instant(s.End))
	}
	switch length := s.End.Sub(s.Start); {
	case d.End != "" && s.End.IsZero():
		return nil, wearables.BadDocument
	case s.Start.IsZero() || s.End.IsZero():
	case length < 0, length == 0 && d.Wakes:
		return nil, wearables.EndBeforeStart
	case d.Longest > 0 && length > d.Longest:
		return nil, wearables.ImplausibleValue
	}
	return fields, ""
}

// setDefault sets a field that the document has and the body leaves out.
func setDefault(d *wearables.Document, fields map[string]any, name, value string) {
	if _, ok := d.Settable(name); ok && fields[name] == nil {
		fields[name] = value
	}
}

func instant(t time.Time) string {
	var c wearables.Clock
	return string(c.Append(nil, t.UnixMicro()))
}

// overlay sets the fields of newer in older. A null in newer changes nothing. An
// object is merged member by member. A map, such as the foods of a meal, is one
// value and is replaced.
//
// Spec: Events, summary events.
func overlay(older, newer map[string]any) { overlayShaped(older, newer, wearables.ShapeNamed) }

func overlayShaped(older, newer map[string]any, shapeOf func(name string) *wearables.Shape) {
	for name, v := range newer {
		if v == nil {
			if _, known := older[name]; known {
				continue
			}
		}
		if s := shapeOf(name); s != nil && len(s.Members) > 0 {
			was, okWas := older[name].(map[string]any)
			now, okNow := v.(map[string]any)
			if okWas && okNow {
				overlayShaped(was, now, func(name string) *wearables.Shape { return s.Member(name).Shape })
				continue
			}
		}
		older[name] = v
	}
}

// placeFields say where the person was.
var placeFields = []string{"timezone_offset", "time_zone"}

// replace returns a complete version. It keeps from the older one the fields that no
// sender states: the place that a fallback gave, and computed values.
func (w *summaryPlan) replace(older, newer map[string]any, computed []string) map[string]any {
	kept, sameBounds := placeFields, w.sameBounds(w.was)
	if sameBounds {
		kept = slices.Concat(kept, []string{"calendar_date", "date"})
	}
	whole := maps.Clone(newer)
	for _, name := range kept {
		if _, stated := newer[name]; !stated && older[name] != nil {
			whole[name] = older[name]
		}
	}
	for _, name := range computed {
		if sameBounds && newer[name] == nil && older[name] != nil {
			whole[name] = older[name]
		}
	}
	return whole
}

// mergeInto returns the document with the fields of a newer version. same are the stored
// texts of its moments. A version of another transport never replaces the whole. A
// reprocessed one keeps all fields that Hale may have computed before it listed them.
func (w *summaryPlan) mergeInto(older, newer, same map[string]any, replaces, reprocessed bool) map[string]any {
	computed := dropRestated(w.Resource, older, newer)
	after := computedAfter(computed, older, newer, w.computed)
	if reprocessed {
		computed = slices.Concat(computedFields[w.Resource]...)
	}
	if w.Whole && replaces {
		older = w.replace(older, newer, computed)
	} else {
		overlay(older, newer)
	}
	overlay(older, same)
	removeLonger(w.document, older)
	setComputed(older, after)
	return older
}

// withStoredPlace returns the fields of the version. If the version has only the place
// of its batch, the fields have the place of the stored version. So a phone that sends a
// night again from another zone does not move it.
func (w *summaryPlan) withStoredPlace(older, newer map[string]any) map[string]any {
	if !w.Assumed {
		return newer
	}
	newer = maps.Clone(newer)
	if slices.ContainsFunc(placeFields, func(name string) bool { return older[name] != nil }) {
		for _, name := range placeFields {
			delete(newer, name)
			if older[name] != nil {
				newer[name] = older[name]
			}
		}
	}
	day, err := civil.ParseDate(w.was.Day)
	if w.document.Start != "" && !w.undated && err == nil && w.sameBounds(w.was) {
		w.Date = day
		delete(newer, "calendar_date")
		delete(newer, "date")
		setDayFields(w.document, newer, day)
	}
	return newer
}

// sameMoments returns the stored texts of moments that newer writes differently.
// 10:00Z is no change if 10:00+00:00 is stored. Another fraction of the second is no
// change either: phones send milliseconds, and exports whole seconds.
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
		if errA == nil && errB == nil && a.Unix() == b.Unix() {
			same[f.Name] = was
		}
	}
	return same
}

const height = "height"

// withNewestHeight returns the fields of the version. It omits the height if the
// stored one was measured later, because a profile has no day, and files arrive
// in any order. A height without a time counts from its receipt, unless it
// equals the stored one. The column start_at holds that time.
func (w *summaryPlan) withNewestHeight(older map[string]any, was *storage.StoredSummary, now time.Time) map[string]any {
	given := w.fields[height]
	if w.Resource != wearables.ProfileResource || given == nil {
		return w.fields
	}
	if !w.Came.IsZero() {
		now = w.Came
	}
	at := w.Measured
	if at.IsZero() || at.After(now) {
		if older != nil && bytes.Equal(wearables.AppendCanonical(nil, given), wearables.AppendCanonical(nil, older[height])) {
			return w.fields
		}
		at = now
	}
	if at.Before(was.Measured) {
		rest := maps.Clone(w.fields)
		delete(rest, height)
		return rest
	}
	w.begins = at
	return w.fields
}

// writeMeasured stores that the same height was measured later, so that one from in
// between does not replace it.
func (w *summaryPlan) writeMeasured(ctx context.Context, tx *store.Tx, j *job) error {
	if !w.measured {
		return nil
	}
	d := storage.StoredSummary{ID: w.id, Team: j.team, User: j.user, Measured: w.begins, Version: w.version}
	return d.WriteMeasured(ctx, tx)
}

// The day of a session is the one that a version states, however long ago. Without
// one it is the local day at the session's place. It then changes when the end is
// revised or the place becomes known.

// setDayFields sets the fields that name the day.
func setDayFields(d *wearables.Document, fields map[string]any, day civil.Date) {
	setDefault(d, fields, "calendar_date", day.String())
	setDefault(d, fields, "period_start", day.String())
	setDefault(d, fields, "date", day.String()+"T00:00:00+00:00")
}

// localDay returns the local day of a session: by its offset, or the one in the text
// of its instant, or its zone, or UTC. A document without a field for the place
// has the day itself.
func localDay(d *wearables.Document, fields map[string]any) civil.Date {
	if text, ok := fields["calendar_date"].(string); ok && !hasPlace(d) {
		if day, err := civil.ParseDate(text); err == nil {
			return day
		}
	}
	name := d.Start
	if d.Wakes {
		name = d.End
	}
	at := momentOf(fields[name])
	zone, _ := fields["time_zone"].(string)
	if offset, ok := fields["timezone_offset"].(json.Number); ok {
		seconds, _ := offset.Float64()
		at = at.In(time.FixedZone("", int(seconds)))
	} else if there, err := civil.Zone(zone); err == nil && zone != "" && !statesOffset(at) {
		at = at.In(there)
	}
	return civil.DateOf(at)
}

// setDay sets the day of a session if no version in the batch states it. It uses
// the stored day if that was stated, or otherwise the local day of the whole
// document. A fallback zone that was set since does not move stored data.
func (w *summaryPlan) setDay(whole map[string]any, before civil.Date) {
	w.stated = !w.undated || !before.IsZero()
	if !w.undated {
		return
	}
	if w.Date = before; before.IsZero() {
		w.Date = localDay(w.document, whole)
	}
	delete(whole, "calendar_date")
	delete(whole, "date")
	setDayFields(w.document, whole, w.Date)
}

// storedDay returns the stated day of a stored session. Rows that are older than the
// column day_stated have a stated day if it is not the local one.
func storedDay(d *wearables.Document, was *storage.StoredSummary, fields map[string]any) civil.Date {
	if _, ok := d.Settable("calendar_date"); ok && d.Start != "" && localDay(d, fields).String() != was.Day {
		was.DayStated = true
	}
	return was.StatedDay()
}

// writeDay stores the day of the summary, whether it is stated, and its record. The document is
// the same, so there is no event.
func (w *summaryPlan) writeDay(ctx context.Context, tx *store.Tx, j *job) error {
	if !w.refiled {
		return nil
	}
	d := storage.StoredSummary{ID: w.id, Team: j.team, User: j.user, Day: dayText(w.Date), DayStated: w.stated, Record: w.record, Version: w.version}
	return d.WriteDay(ctx, tx)
}

// dayText returns a day as text; empty for none.
func dayText(day civil.Date) string {
	if day.IsZero() {
		return ""
	}
	return day.String()
}

// momentOf reads a field that is a Moment; zero if absent.
func momentOf(v any) time.Time {
	text, _ := v.(string)
	at, _ := time.Parse(time.RFC3339, text)
	return at
}

// statesOffset reports whether an instant was written with an offset. Z and +00:00
// do not say where the person was.
func statesOffset(at time.Time) bool {
	_, seconds := at.Zone()
	return seconds != 0
}
