package deletion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/blocks"
	"hale/internal/platform/civil"
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
// records with a wrong time are stored as they are: a push does not state whether the clock
// was set meanwhile.

// Shift moves the selected data.
type Shift struct {
	Seconds int64 `json:"seconds"` // added to times; 0 moves nothing
	// Reverses is the shift that this one reverses: only data that it moved.
	Reverses uuid.UUID `json:"reverses,omitzero"`
	// From and To bound when that data was stored, UTC milliseconds.
	From int64 `json:"from,omitempty"`
	To   int64 `json:"to,omitempty"`
	// Recorded says that the shift that is reversed has a record of what it moved.
	Recorded bool `json:"recorded,omitempty"`
	// Zone names where the person was; empty means the fallback zone.
	Zone string `json:"zone,omitempty"`
}

// MaxShiftSeconds bounds a shift: a clock without a battery starts in 1970 or 2000.
const (
	MaxShiftSeconds = 60 * 366 * 24 * 3600
	maxShift        = MaxShiftSeconds * time.Second
)

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
	case f.Shift.Zone != "" && !knownZone(f.Shift.Zone):
		return invalid("time_zone", "unknown time zone")
	case len(f.ExternalIDs) > 0 || f.Import != uuid.Nil:
		return invalid("provider", "a shift selects by source and period")
	}
	return nil
}

func knownZone(name string) bool {
	_, err := civil.Zone(name)
	return err == nil
}

// zone returns the person's time zone; nil if it is unknown.
func (s *Shift) zone(user users.User, provider string) *time.Location {
	if s.Zone == "" || wearables.HasFloatingTimes(provider) {
		return wearables.FallbackFor(user, provider)
	}
	zone, _ := civil.Zone(s.Zone) // it was checked
	return zone
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

// shiftSome moves some data. Sessions move in place. Samples move a day at a time. If
// they move ahead, shiftSome begins at the end of the period. So moved samples never meet
// samples that have yet to move.
func (s *Service) shiftSome(ctx context.Context, tx *store.Tx, user users.User, d *Deletion) (more bool, err error) {
	if d.Filter.Shift.Recorded {
		return s.reverseSome(ctx, tx, user, d)
	}
	if !d.at.Summaries {
		d.at.Summaries, err = d.shiftSessions(ctx, tx, user)
		return true, err
	}
	if d.Filter.Resource != "" && len(documentsOf(d.Filter.Resource)) > 0 {
		return false, nil
	}
	series, err := d.seriesOfSource(ctx, tx)
	if err != nil || len(series) == 0 {
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

// seriesOfSource returns the series of the source.
func (d *Deletion) seriesOfSource(ctx context.Context, tx *store.Tx) ([]storage.Series, error) {
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

// selectedSamples names samples of a series that a shift moves.
type selectedSamples struct {
	series   *storage.Series
	from, to int64
	// pick selects samples by their time and when they were stored; nil selects all.
	pick func(at, written int64) bool
	// before are the samples that the shift has replaced, which reversing it restores.
	before *blocks.Columns
}

// takenSamples holds samples that were taken out of their series.
type takenSamples struct {
	selectedSamples
	groups []wearables.Samples
	former blocks.Columns // their times, and when they were stored
}

// takeOut removes samples and returns them, and how many blocks it read.
func (d *Deletion) takeOut(ctx context.Context, tx *store.Tx, user users.User, from *selectedSamples) (t takenSamples, read int, err error) {
	t.selectedSamples = *from
	newer, err := d.removeReplaced(ctx, tx, user, from)
	if err != nil {
		return t, 0, err
	}
	r := storage.Removal{From: from.from, To: from.to, DryRun: d.DryRun, Forget: d.Filter.Undo, Marked: true, Restore: from.before}
	r.Pick = func(c *blocks.Columns, i int) bool {
		if from.pick != nil && !from.pick(c.Time[i], c.Written[i]) || newer[c.Time[i]] {
			return false
		}
		t.former.Time, t.former.Written = append(t.former.Time, c.Time[i]), append(t.former.Written, c.Written[i])
		return true
	}
	r.Removed = func(s *wearables.Samples) {
		d.removed(user, from.restored(s))(s)
		d.Report.Resources[wearables.EventName(s.Resource)].Moved += int64(s.Len())
		t.groups = append(t.groups, *s)
	}
	if read, err = removeAll(ctx, tx, from.series, &r); err != nil || d.DryRun {
		return t, read, err
	}
	return t, read, storage.ForgetSampleRecords(ctx, tx, from.series, from.from, from.to-1)
}

// restored counts the samples that come back in the places of removed ones.
func (from *selectedSamples) restored(s *wearables.Samples) (n int64) {
	if from.before == nil {
		return 0
	}
	for _, at := range s.Time {
		if _, found := slices.BinarySearch(from.before.Time, at); found {
			n++
		}
	}
	return n
}

// removeReplaced removes the samples that a reversed shift would move back to the time of a
// newer one. It returns their times.
func (d *Deletion) removeReplaced(ctx context.Context, tx *store.Tx, user users.User, from *selectedSamples) (newer map[int64]bool, err error) {
	if d.Filter.Shift.Reverses == uuid.Nil {
		return nil, nil
	}
	delta := d.Filter.Shift.micros()
	newer = map[int64]bool{}
	look := storage.Removal{From: from.from + delta, To: from.to + delta, DryRun: true, Pick: func(c *blocks.Columns, i int) bool {
		if !from.pick(c.Time[i], c.Written[i]) { // it stays
			newer[c.Time[i]-delta] = true
		}
		return false
	}}
	if _, err := removeAll(ctx, tx, from.series, &look); err != nil || len(newer) == 0 {
		return newer, err
	}
	r := storage.Removal{From: from.from, To: from.to, DryRun: d.DryRun, Forget: true, Restore: from.before}
	r.Pick = func(c *blocks.Columns, i int) bool { return newer[c.Time[i]] && from.pick(c.Time[i], c.Written[i]) }
	r.Removed = func(s *wearables.Samples) { d.removed(user, from.restored(s))(s) }
	_, err = removeAll(ctx, tx, from.series, &r)
	return newer, err
}

// removeAll removes samples of all blocks, and returns how many blocks it read.
func removeAll(ctx context.Context, tx *store.Tx, s *storage.Series, r *storage.Removal) (read int, err error) {
	for at, more := r.From, r.From < r.To; more; {
		var n int
		if at, n, more, err = r.Blocks(ctx, tx, s, at); err != nil {
			return read, err
		}
		read += n
	}
	return read, nil
}

// makeRoom removes the samples that are at the new times of others, and returns them.
func (d *Deletion) makeRoom(ctx context.Context, tx *store.Tx, t *takenSamples) (replaced blocks.Columns, err error) {
	delta := d.Filter.Shift.micros()
	r := storage.Removal{From: t.former.Time[0] + delta, To: t.former.Time[len(t.former.Time)-1] + delta + 1, DryRun: d.DryRun, Forget: true}
	r.Pick = func(c *blocks.Columns, i int) bool {
		if _, found := slices.BinarySearch(t.former.Time, c.Time[i]-delta); !found || d.DryRun && d.moves(c.Time[i], c.Written[i]) {
			return false
		}
		one := c.Slice(i, i+1)
		replaced.Append(&one)
		return true
	}
	if _, err := removeAll(ctx, tx, t.series, &r); err != nil {
		return replaced, err
	}
	d.Report.Resources[wearables.EventName(t.series.Resource)].Replaced += int64(replaced.Len())
	for _, at := range replaced.Time {
		if d.DryRun {
			break
		}
		if err := storage.ForgetSampleRecords(ctx, tx, t.series, at, at); err != nil {
			return replaced, err
		}
	}
	return replaced, nil
}

// moves reports whether a sample is one that the shift moves itself.
func (d *Deletion) moves(at, written int64) bool {
	from, to := d.Filter.bounds()
	return at >= from && at < to && d.Filter.Shift.stored(written)
}

// shiftWindow moves the samples of a range, in one transaction.
func (s *Service) shiftWindow(ctx context.Context, tx *store.Tx, user users.User, d *Deletion, series []storage.Series, from, to int64) (read int, err error) {
	all := make([]selectedSamples, len(series))
	for i := range series {
		all[i] = selectedSamples{series: &series[i], from: from, to: to}
		if d.Filter.Shift.Reverses != uuid.Nil {
			all[i].pick = func(_, written int64) bool { return d.Filter.Shift.stored(written) }
		}
	}
	return s.moveSamples(ctx, tx, user, d, all, storage.ImportChange{})
}

// moveSamples moves samples, and adds them to a record of the shift, which it stores.
func (s *Service) moveSamples(ctx context.Context, tx *store.Tx, user users.User, d *Deletion, from []selectedSamples, record storage.ImportChange) (read int, err error) {
	var all []wearables.Samples
	var written []int64
	for i := range from {
		t, n, err := d.takeOut(ctx, tx, user, &from[i])
		if read += n; err != nil {
			return read, err
		}
		if t.former.Len() == 0 {
			continue
		}
		replaced, err := d.makeRoom(ctx, tx, &t)
		if err != nil {
			return read, err
		}
		change, err := t.change(&replaced)
		if err != nil {
			return read, err
		}
		record.Series = append(record.Series, change)
		all = append(all, t.groups...)
		written = append(written, t.former.Written...)
	}
	if d.DryRun {
		return read, nil
	}
	keepOrder(all, written)
	if err := d.write(ctx, tx, &record); err != nil || len(all) == 0 {
		return read, err
	}
	for i := range all {
		d.moveTimes(user, &all[i])
		d.noteDays(user, &all[i])
	}
	anywhere := user // its data is stored already, wherever it was
	anywhere.TimeZone, anywhere.IngestionStart, anywhere.IngestionEnd = nil, nil, nil
	result, err := s.Ingester.IngestIn(ctx, tx, anywhere, wearables.Batch{
		Provider: all[0].Source.Provider, Stage: wearables.Daily, Samples: all, Marked: true, Restores: true,
	})
	if err == nil && result.Rejected > 0 {
		err = fault.New(fault.Invalid, "Value error, data would lie outside the time of samples").At("body", "seconds")
	}
	return read, err
}

// keepOrder orders samples by when they were stored: of those of one key, the same one
// counts at their new time. written has that time for each sample of the groups.
func keepOrder(all []wearables.Samples, written []int64) {
	times := slices.Compact(slices.Sorted(slices.Values(written)))
	for i := range all {
		all[i].Order = make([]int32, all[i].Len())
		for k := range all[i].Order {
			at, _ := slices.BinarySearch(times, written[k])
			all[i].Order[k] = int32(at)
		}
		written = written[all[i].Len():]
	}
}

// change returns the entry of a series in the record of the shift.
func (t *takenSamples) change(replaced *blocks.Columns) (c storage.SeriesChange, err error) {
	c.Series = t.series.ID
	t.former.Value = make([]float64, len(t.former.Time))
	if c.Moved, err = blocks.Append(nil, &t.former); err != nil || replaced.Len() == 0 {
		return c, err
	}
	c.Before, err = blocks.Append(nil, replaced)
	return c, err
}

// moveTimes moves the times of samples. An offset that is that of the person's zone
// becomes the zone's offset at the new time.
func (d *Deletion) moveTimes(user users.User, s *wearables.Samples) {
	delta, zone := d.Filter.Shift.micros(), d.Filter.Shift.zone(user, s.Source.Provider)
	for k := range s.Time {
		if len(s.Offset) > 0 {
			seconds, how := storage.SplitOffset(s.Offset[k])
			if moved, ok := movedOffset(zone, store.FromMicros(s.Time[k]), int(seconds), d.Filter.Shift.delta()); ok && how != storage.UnstatedOffset {
				s.Offset[k] += int32(moved) - seconds
			}
		}
		s.Time[k] += delta
	}
	for k := range s.End {
		s.End[k] += delta
	}
}

// movedOffset returns the offset of a zone at the new time of a value, if the zone had the
// value's offset at the former one.
func movedOffset(zone *time.Location, at time.Time, seconds int, delta time.Duration) (moved int, ok bool) {
	if zone == nil {
		return 0, false
	}
	if _, was := at.In(zone).Zone(); was != seconds {
		return 0, false
	}
	_, moved = at.Add(delta).In(zone).Zone()
	return moved, true
}

// shiftSessions moves some sessions, meals and electrocardiograms. done reports whether
// none is left.
func (d *Deletion) shiftSessions(ctx context.Context, tx *store.Tx, user users.User) (done bool, err error) {
	from, to := d.Filter.bounds()
	var record storage.ImportChange
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
				return false, d.write(ctx, tx, &record)
			}
			if err := d.shiftSession(ctx, tx, user, one, document, &record); err != nil {
				return false, err
			}
		}
	}
	return true, d.write(ctx, tx, &record)
}

// write stores a record of the shift.
func (d *Deletion) write(ctx context.Context, tx *store.Tx, record *storage.ImportChange) error {
	if d.DryRun || record.IsEmpty() {
		return nil
	}
	record.Import, record.Shift = d.ID.UUID(), d.Filter.Shift.micros()
	return record.Write(ctx, tx, d.Team.UUID(), d.User.UUID())
}

// isMoved reports whether a session is not to be moved: it was, or it arrived since.
func (d *Deletion) isMoved(s *storage.StoredSummary) bool {
	if d.Filter.Shift.Reverses != uuid.Nil && !d.Filter.Shift.stored(store.Micros(s.UpdatedAt)/1000) {
		return true
	}
	return !d.DryRun && store.Micros(s.UpdatedAt) >= store.Micros(d.CreatedAt)
}

// shiftSession moves a session in place, with its stream, sends its event, and adds it to
// the record of the shift.
func (d *Deletion) shiftSession(ctx context.Context, tx *store.Tx, user users.User, s *storage.StoredSummary, document *wearables.Document, record *storage.ImportChange) error {
	if d.Report.count(s.Resource, s.Source.Provider, 0, s.Begins(), s.Begins()).Moved++; d.DryRun {
		return nil
	}
	was, err := storage.ReadVersion(ctx, tx, s.Team, s.User, s.ID)
	if err != nil {
		return err
	}
	record.Summaries = append(record.Summaries, storage.SummaryChange{ID: s.ID, Was: was.Updated / 1000})
	if err := moveVersion(was, document, d.Filter.Shift.delta(), d.Filter.Shift.zone(user, s.Source.Provider)); err != nil {
		return err
	}
	was.Updated = store.Micros(tx.Now())
	if !d.Filter.Undo {
		if err := s.Remember(ctx, tx); err != nil {
			return err
		}
	}
	if err := errors.Join(shiftStream(ctx, tx, s, d.Filter.Shift.delta(), record), s.Restore(ctx, tx, was)); err != nil {
		return err
	}
	now, err := storage.ReadSummary(ctx, tx, s.Team, s.User, s.ID)
	if err != nil {
		return err
	}
	d.noteWorkout(&now)
	event, err := updated(tx, user, &now)
	if err != nil {
		return err
	}
	return emit(ctx, tx, s.Source.Provider, event)
}

// moveVersion moves the times of a version of a session, and its day. fallback is the
// person's zone, for a version that names none; it may be nil.
func moveVersion(v *storage.SummaryVersion, document *wearables.Document, delta time.Duration, fallback *time.Location) error {
	fields, err := wearables.ParseDocument(v.Body)
	if err != nil {
		return err
	}
	place := placeOf(fields, document, fallback)
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
			days = civil.DateOf(at.Add(delta).In(place)).DaysSince(civil.DateOf(at.In(place)))
		}
		if n, stated := fields["timezone_offset"].(json.Number); stated && f.Name == document.Start {
			if was, err := n.Int64(); err == nil {
				if moved, ok := movedOffset(place, at, int(was), delta); ok {
					fields["timezone_offset"] = json.Number(strconv.Itoa(moved))
				}
			}
		}
		fields[f.Name] = wearables.MovedText(text, delta, time.UTC)
	}
	if day, err := civil.ParseDate(v.Day); err == nil {
		v.Day = day.AddDays(days).String()
		if _, stated := fields["calendar_date"]; stated {
			fields["calendar_date"] = v.Day
		}
		if _, stated := fields["date"]; stated {
			fields["date"] = v.Day + "T00:00:00+00:00"
		}
	}
	for _, at := range []*int64{v.Start, v.End} {
		if at != nil {
			*at += delta.Microseconds()
		}
	}
	v.Body = wearables.AppendCanonical(nil, fields)
	return nil
}

// placeOf returns the zone of a session. That is the zone that the session names, or the
// person's zone if it had the session's offset then. Otherwise the offset is the zone.
func placeOf(fields map[string]any, document *wearables.Document, fallback *time.Location) *time.Location {
	n, stated := fields["timezone_offset"].(json.Number)
	seconds, _ := n.Float64()
	text, _ := fields[document.Start].(string)
	start, err := time.Parse(time.RFC3339, text)
	name, _ := fields["time_zone"].(string)
	if err != nil {
		return time.FixedZone("", int(seconds))
	}
	named, bad := civil.Zone(name)
	if bad == nil && !stated {
		return named
	}
	for _, zone := range []*time.Location{named, fallback} {
		if zone == nil {
			continue
		}
		if _, there := start.In(zone).Zone(); stated && there == int(seconds) {
			return zone
		}
	}
	return time.FixedZone("", int(seconds))
}

// shiftStream moves the stream of a workout.
func shiftStream(ctx context.Context, tx *store.Tx, s *storage.StoredSummary, delta time.Duration, record *storage.ImportChange) error {
	if s.Resource != "workouts" {
		return nil
	}
	at, _, err := storage.StreamTime(ctx, tx, s.Team, s.User, s.ID)
	if err != nil {
		return err
	}
	version, packed, err := storage.ReadPackedStream(ctx, tx, s.Team, s.User, s.ID)
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	n, moved, err := movedStream(packed, delta)
	if err != nil {
		return err
	}
	record.Streams = append(record.Streams, storage.StreamChange{Workout: s.ID, Was: at})
	return storage.WriteStream(ctx, tx, s, version+1, n, moved)
}

// movedStream moves the times of a packed stream, and returns how many it has.
func movedStream(packed []byte, delta time.Duration) (n int, moved []byte, err error) {
	stream, err := wearables.UnpackStream(packed)
	if err != nil {
		return 0, nil, err
	}
	for i := range stream.Time {
		stream.Time[i] += delta.Microseconds()
	}
	moved, err = stream.Pack()
	return len(stream.Time), moved, err
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

// ShiftOf returns the id of the shift that another one reverses; zero for none.
func (d *Deletion) ShiftOf() ID { return ids.FromUUID[Deletion](d.Filter.Shift.Reverses) }
