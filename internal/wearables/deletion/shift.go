package deletion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/blocks"
	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/storage"
)

// A source with a wrong clock is shifted: its samples and sessions of a period move by an
// offset. A shift is a deletion that stores what it deletes at another time. The samples
// leave fingerprints, so that the same records do not come back at the wrong time. New
// records with a wrong time are stored as they are: a push does not tell whether the clock
// was set meanwhile.

// Shift moves the selected data.
type Shift struct {
	Seconds int64 `json:"seconds"` // added to times; 0 moves nothing
	// Reverses is the shift that this one takes back: only data that it moved.
	Reverses uuid.UUID `json:"reverses,omitzero"`
	// From and To bound when that data was stored, UTC milliseconds.
	From int64 `json:"from,omitempty"`
	To   int64 `json:"to,omitempty"`
}

// maxShift bounds a shift: a clock without a battery starts in 1970 or 2000.
const maxShift = 60 * 366 * 24 * time.Hour

// checkShift refuses a shift of no or of several sources.
func (f *Filter) checkShift() error {
	invalid := func(name, text string) error { return fault.New(fault.Invalid, "Value error, "+text).At("body", name) }
	switch {
	case f.Provider == "":
		return invalid("provider", "a shift needs a provider")
	case f.From == nil:
		return invalid("start", "a shift needs a period")
	case f.To == nil:
		return invalid("end", "a shift needs a period")
	case f.Shift.delta() > maxShift || f.Shift.delta() < -maxShift:
		return invalid("seconds", "a shift has at most 60 years")
	case len(f.ExternalIDs) > 0 || f.Import != uuid.Nil:
		return invalid("provider", "a shift selects by source and period")
	}
	return nil
}

// checkTarget refuses a shift of a period to a time that data cannot have. It does not look
// at the data: a shift must not stop on its way.
func (f *Filter) checkTarget(now time.Time) error {
	invalid := func(text string) error { return fault.New(fault.Invalid, "Value error, "+text).At("body", "seconds") }
	earliest, latest := ingest.Times(now)
	first, last := max(*f.From, earliest), *f.To-1
	switch delta := f.Shift.micros(); {
	case delta > 0 && last+delta > latest:
		return invalid("the end of the period would lie in the future: end it earlier")
	case delta < 0 && first+delta < earliest:
		return invalid("the start of the period would lie before 2000: start it later")
	}
	return nil
}

func (s *Shift) delta() time.Duration { return time.Duration(s.Seconds) * time.Second }

func (s *Shift) micros() int64 { return s.delta().Microseconds() }

// stored reports whether data that was stored at a time is to be moved, in milliseconds.
func (s *Shift) stored(at int64) bool {
	return s.Reverses == uuid.Nil || at >= s.From && at <= s.To
}

// Bounds of a step.
const (
	shiftWindow    = int64(24 * time.Hour / time.Microsecond)
	windowsAtOnce  = 200
	sessionsAtOnce = 200
)

// shiftSome moves some data. Sessions move in place. Samples move a day at a time, from the
// end of the period if they move ahead: so they meet none that is still to be moved.
func (s *Service) shiftSome(ctx context.Context, tx *store.Tx, user users.User, d *Deletion) (more bool, err error) {
	if !d.at.Summaries {
		d.at.Summaries, err = d.shiftSessions(ctx, tx, user)
		return true, err
	}
	if d.Filter.Resource != "" && len(documentsOf(d.Filter.Resource)) > 0 {
		return false, nil
	}
	series, err := d.shifted(ctx, tx)
	if err != nil || len(series) == 0 {
		return false, err
	}
	if d.DryRun { // it removes nothing, and returns none
		from, to := d.Filter.bounds()
		_, _, err := d.takeOut(ctx, tx, user, series, from, to)
		return false, err
	}
	ahead := d.Filter.Shift.Seconds > 0
	first, end := extent(series, &d.Filter)
	switch {
	case d.at.Change == 0: // the first step
		d.at.Change = 1
	case ahead:
		end = min(end, d.at.Time)
	default:
		first = max(first, d.at.Time)
	}
	read := 0
	for windows := 0; first < end; windows++ {
		if windows >= windowsAtOnce || read >= blocksAtOnce {
			return true, nil
		}
		from, to := first, min(end, first+shiftWindow)
		if ahead {
			from, to = max(first, end-shiftWindow), end
		}
		n, err := s.shiftWindow(ctx, tx, user, d, series, from, to)
		if err != nil {
			return false, err
		}
		read += n
		if ahead {
			end, d.at.Time = from, from
		} else {
			first, d.at.Time = to, to
		}
	}
	return false, nil
}

// shifted returns the series of the source.
func (d *Deletion) shifted(ctx context.Context, tx *store.Tx) ([]storage.Series, error) {
	all, err := storage.SeriesOf(ctx, tx, d.Team.UUID(), d.User.UUID(), d.Filter.Resource)
	return slices.DeleteFunc(all, func(s storage.Series) bool { return !d.Filter.series(&s) }), err
}

// extent returns the part of the period that has samples, [first, end).
func extent(all []storage.Series, f *Filter) (first, end int64) {
	first, end = maxTime, minTime
	for i := range all {
		first, end = min(first, all[i].Oldest), max(end, all[i].Newest+1)
	}
	from, to := f.bounds()
	return max(first, from), min(end, to)
}

// takeOut removes the samples of a range and returns them, and how many blocks it read.
func (d *Deletion) takeOut(ctx context.Context, tx *store.Tx, user users.User, series []storage.Series, from, to int64) (all []wearables.Samples, read int, err error) {
	note := d.removed(user, 0)
	for i := range series {
		r := storage.Removal{From: from, To: to, DryRun: d.DryRun, Forget: d.Filter.Undo, Marked: true, Removed: func(s *wearables.Samples) {
			note(s)
			d.Report.Resources[wearables.EventName(s.Resource)].Moved += int64(s.Len())
			if !d.DryRun {
				all = append(all, *s)
			}
		}}
		if d.Filter.Shift.Reverses != uuid.Nil {
			r.Pick = func(c *blocks.Columns, i int) bool { return d.Filter.Shift.stored(c.Written[i]) }
		}
		for at, more := from, true; more; {
			var n int
			if at, n, more, err = r.Blocks(ctx, tx, &series[i], at); err != nil {
				return nil, 0, err
			}
			read += n
		}
		if !d.DryRun {
			if err := storage.ForgetSampleRecords(ctx, tx, &series[i], from, to-1); err != nil {
				return nil, 0, err
			}
		}
	}
	return all, read, nil
}

// shiftWindow moves the samples of a range, in one transaction.
func (s *Service) shiftWindow(ctx context.Context, tx *store.Tx, user users.User, d *Deletion, series []storage.Series, from, to int64) (read int, err error) {
	all, read, err := d.takeOut(ctx, tx, user, series, from, to)
	if err != nil || len(all) == 0 {
		return read, err
	}
	delta := d.Filter.Shift.micros()
	for i := range all {
		for k := range all[i].Time {
			all[i].Time[k] += delta
		}
		for k := range all[i].End {
			all[i].End[k] += delta
		}
		d.noteDays(user, &all[i])
	}
	anywhere := user // its data is stored already, wherever it was
	anywhere.TimeZone, anywhere.IngestionStart, anywhere.IngestionEnd = nil, nil, nil
	result, err := s.Ingester.IngestIn(ctx, tx, anywhere, wearables.Batch{
		Provider: d.Filter.Provider, Stage: wearables.Daily, Samples: all, Marked: true, Restores: true,
	})
	if err == nil && result.Rejected > 0 {
		err = fault.New(fault.Invalid, "Value error, data would lie outside the time of samples").At("body", "seconds")
	}
	return read, err
}

// shiftSessions moves some sessions, meals and electrocardiograms. done reports that none is
// left.
func (d *Deletion) shiftSessions(ctx context.Context, tx *store.Tx, user users.User) (done bool, err error) {
	from, to := d.Filter.bounds()
	n := 0
	for _, resource := range documentsOf(d.Filter.Resource) {
		document, _ := wearables.DocumentNamed(resource)
		if document == nil || document.Start == "" {
			continue
		}
		all, err := storage.ListSummaries(ctx, tx, d.Team.UUID(), d.User.UUID(), storage.SummaryQuery{
			Resource: resource, Provider: d.Filter.Provider,
			From: civil.DateOf(store.FromMicros(from)).AddDays(-2).String(), To: civil.DateOf(store.FromMicros(to)).AddDays(3).String(),
		})
		if err != nil {
			return false, err
		}
		for i := range all {
			one := &all[i]
			if at := one.Begins(); at < from || at >= to || at == 0 || !d.Filter.source(one.Source, 0) || d.isMoved(one) {
				continue
			}
			if n++; n > sessionsAtOnce && !d.DryRun {
				return false, nil
			}
			if d.Report.count(resource, one.Source.Provider, 0, one.Begins(), one.Begins()).Moved++; d.DryRun {
				continue
			}
			if err := d.shiftSession(ctx, tx, user, one, document); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// isMoved reports whether a session is not to be moved: it was, or it arrived since.
func (d *Deletion) isMoved(s *storage.StoredSummary) bool {
	if d.Filter.Shift.Reverses != uuid.Nil && !d.Filter.Shift.stored(store.Micros(s.UpdatedAt)/1000) {
		return true
	}
	return !d.DryRun && store.Micros(s.UpdatedAt) >= store.Micros(d.CreatedAt)
}

// shiftSession moves a session in place, with its stream, and sends its event.
func (d *Deletion) shiftSession(ctx context.Context, tx *store.Tx, user users.User, s *storage.StoredSummary, document *wearables.Document) error {
	fields, err := wearables.ParseDocument(s.Body)
	if err != nil {
		return err
	}
	was, err := storage.ReadVersion(ctx, tx, s.Team, s.User, s.ID)
	if err != nil {
		return err
	}
	delta := d.Filter.Shift.delta()
	offset := 0.0
	if n, ok := fields["timezone_offset"].(json.Number); ok {
		offset, _ = n.Float64()
	}
	name := document.Start
	if document.Wakes {
		name = document.End
	}
	days := 0
	for _, f := range document.Fields {
		text, _ := fields[f.Name].(string)
		at, err := time.Parse(time.RFC3339, text)
		if f.Kind != wearables.Moment || f.Name == "date" || err != nil {
			continue
		}
		if f.Name == name {
			local := at.UTC().Add(time.Duration(offset) * time.Second)
			days = civil.DateOf(local.Add(delta)).DaysSince(civil.DateOf(local))
		}
		fields[f.Name] = wearables.MovedText(text, delta, time.UTC)
	}
	if day, err := civil.ParseDate(was.Day); err == nil {
		was.Day = day.AddDays(days).String()
		if _, stated := fields["calendar_date"]; stated {
			fields["calendar_date"] = was.Day
		}
		if _, stated := fields["date"]; stated {
			fields["date"] = was.Day + "T00:00:00+00:00"
		}
	}
	for _, at := range []*int64{was.Start, was.End} {
		if at != nil {
			*at += delta.Microseconds()
		}
	}
	was.Body, was.Updated = wearables.AppendCanonical(nil, fields), store.Micros(tx.Now())
	if !d.Filter.Undo {
		if err := s.Remember(ctx, tx); err != nil {
			return err
		}
	}
	if err := errors.Join(shiftStream(ctx, tx, s, delta), s.Restore(ctx, tx, was)); err != nil {
		return err
	}
	now, err := storage.ReadSummary(ctx, tx, s.Team, s.User, s.ID)
	if err != nil {
		return err
	}
	event, err := updated(tx, user, &now)
	if err != nil {
		return err
	}
	_, err = events.Emit(ctx, tx, event)
	return err
}

// shiftStream moves the stream of a workout.
func shiftStream(ctx context.Context, tx *store.Tx, s *storage.StoredSummary, delta time.Duration) error {
	if s.Resource != "workouts" {
		return nil
	}
	version, packed, err := storage.ReadPackedStream(ctx, tx, s.Team, s.User, s.ID)
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	stream, err := wearables.UnpackStream(packed)
	if err != nil {
		return err
	}
	for i := range stream.Time {
		stream.Time[i] += delta.Microseconds()
	}
	if packed, err = stream.Pack(); err != nil {
		return err
	}
	return storage.WriteStream(ctx, tx, s, version+1, len(stream.Time), packed)
}

// maxListedShifts bounds the deletions among which the shifts of a user are found.
const maxListedShifts = 1000

// Shifts lists the shifts of a user, newest first.
func Shifts(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([]Deletion, error) {
	rows, err := tx.Query(ctx, `SELECT id FROM data_deletions WHERE team_id = $1 AND user_id = $2 ORDER BY id DESC LIMIT $3`, team, user, maxListedShifts)
	if err != nil {
		return nil, fmt.Errorf("deletion: listing shifts: %w", err)
	}
	defer rows.Close()
	var found []ID
	for rows.Next() {
		var id ID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		found = append(found, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	var all []Deletion
	for _, id := range found {
		d, err := Get(ctx, tx, team, user, id)
		if err != nil {
			return nil, err
		}
		if d.Filter.Shift.Seconds != 0 {
			all = append(all, d)
		}
	}
	return all, nil
}

// ReverseFilter returns the filter that takes a finished shift back.
func ReverseFilter(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id ID) (Filter, error) {
	d, err := Get(ctx, tx, team, user, id)
	if err != nil {
		return Filter{}, err
	}
	if d.Filter.Shift.Seconds == 0 {
		return Filter{}, fault.New(fault.NotFound, "Shift not found")
	}
	if d.Status != Succeeded || d.FinishedAt == nil {
		return Filter{}, fault.New(fault.Conflict, "The shift is not finished")
	}
	all, err := Shifts(ctx, tx, team, user)
	if err != nil {
		return Filter{}, err
	}
	if slices.ContainsFunc(all, func(o Deletion) bool { return o.Filter.Shift.Reverses == id.UUID() }) {
		return Filter{}, fault.New(fault.Conflict, "The shift is reversed already")
	}
	f := d.Filter
	f.Shift = Shift{-d.Filter.Shift.Seconds, id.UUID(), store.Micros(d.CreatedAt) / 1000, store.Micros(*d.FinishedAt) / 1000}
	from, to := *f.From+d.Filter.Shift.micros(), *f.To+d.Filter.Shift.micros()
	f.From, f.To, f.FirstDay, f.LastDay, f.Undo = &from, &to, "", "", true
	return f, nil
}

// ShiftOf returns the id of the shift that another one reverses; zero for none.
func (d *Deletion) ShiftOf() ID { return ids.FromUUID[Deletion](d.Filter.Shift.Reverses) }
