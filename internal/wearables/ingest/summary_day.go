package ingest

import (
	"context"
	"encoding/json"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// The day of a session is the one that somebody states, however long ago; else
// it is that of the place that the session tells, and follows it when the end is
// revised or the place becomes known.

// setDay completes the fields that tell the day.
func setDay(d *wearables.Document, fields map[string]any, day civil.Date) {
	set(fields, d, "calendar_date", day.String())
	set(fields, d, "period_start", day.String())
	set(fields, d, "date", day.String()+"T00:00:00+00:00")
}

// day is the local day of a session by its fields: by the offset that they
// tell, else by the one in the text of its instant, else by the zone, else UTC.
// One that has no field for its place keeps the day itself.
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
	at := textOfMoment(fields[name])
	zone, _ := fields["time_zone"].(string)
	if offset, ok := fields["timezone_offset"].(json.Number); ok {
		seconds, _ := offset.Float64()
		at = at.In(time.FixedZone("", int(seconds)))
	} else if there, err := civil.Zone(zone); err == nil && zone != "" && !statesOffset(at) {
		at = at.In(there)
	}
	return civil.DateOf(at)
}

// date gives a session of which no version in the batch states the day the one
// that was stated before, else that of the place that its whole document tells:
// a fallback zone that was set since does not move what is stored.
func (w *summaryPlan) date(whole map[string]any, before civil.Date) {
	w.stated = !w.undated || !before.IsZero()
	if !w.undated {
		return
	}
	if w.Date = before; before.IsZero() {
		w.Date = localDay(w.document, whole)
	}
	delete(whole, "calendar_date")
	delete(whole, "date")
	setDay(w.document, whole, w.Date)
}

// statedBefore is StatedDay of a session. Of one that was stored before it was
// noted who stated the day, another day than that of its place was stated.
func statedBefore(d *wearables.Document, was *storage.StoredSummary, fields map[string]any) civil.Date {
	if _, told := d.Settable("calendar_date"); told && d.Start != "" && localDay(d, fields).String() != was.Day {
		was.DayStated = true
	}
	return was.StatedDay()
}

// refile notes under which day the summary is now, and who says so. Nobody is
// told: what an event would show is the same.
func (w *summaryPlan) refile(ctx context.Context, tx *store.Tx, j *job) error {
	if !w.refiled {
		return nil
	}
	d := storage.StoredSummary{ID: w.id, Team: j.team, User: j.user, Day: dayText(w.Date), DayStated: w.stated, Version: w.version}
	return d.WriteDay(ctx, tx)
}

// dayText is a day as text; empty for none.
func dayText(day civil.Date) string {
	if day.IsZero() {
		return ""
	}
	return day.String()
}

// textOfMoment reads a field that is a Moment; zero when it is not there.
func textOfMoment(v any) time.Time {
	text, _ := v.(string)
	at, _ := time.Parse(time.RFC3339, text)
	return at
}

// statesOffset says whether an instant was written with an offset. Z and +00:00
// tell the instant only, and not where the person was.
func statesOffset(at time.Time) bool {
	_, seconds := at.Zone()
	return seconds != 0
}
