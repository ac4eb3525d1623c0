package deletion

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/blocks"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// Reversing a shift reads its record from the end: the sample that moved last moves back
// first. So a sample never meets one that has yet to move back. A value that was stored
// after the shift stays. A sample or session is deleted if a newer one has its former time.

// ReverseFilter returns the filter that reverses a finished shift.
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
	reversed := map[uuid.UUID]bool{}
	for i := range all {
		reversed[all[i].Filter.Shift.Reverses] = true
	}
	if reversed[id.UUID()] {
		return Filter{}, fault.New(fault.Conflict, "The shift is reversed already")
	}
	m := moves{team: team.UUID(), user: user.UUID()}
	moved, recorded, err := m.extentsOf(ctx, tx, id.UUID(), true)
	if err != nil {
		return Filter{}, err
	}
	for i := range all { // newest first
		later := &all[i]
		if later.ID == id {
			break
		}
		if reversed[later.ID.UUID()] || later.Filter.Shift.Reverses != uuid.Nil {
			continue
		}
		taken, known, err := m.extentsOf(ctx, tx, later.ID.UUID(), false)
		if err != nil {
			return Filter{}, err
		}
		if recorded && known && moved.meets(&taken) || !recorded && d.Filter.meets(&later.Filter) {
			return Filter{}, fault.Newf(fault.Conflict, "A later shift moved the same data: reverse %s first", later.ID)
		}
	}
	f := d.Filter
	f.Shift = Shift{-d.Filter.Shift.Seconds, id.UUID(), store.Micros(d.CreatedAt) / 1000, store.Micros(*d.FinishedAt) / 1000, recorded, d.Filter.Shift.Zone}
	from, to := *f.From+d.Filter.Shift.micros(), *f.To+d.Filter.Shift.micros()
	f.From, f.To, f.FirstDay, f.LastDay, f.Undo = &from, &to, "", "", true
	return f, nil
}

// meets reports whether a later shift may have moved what a shift without a record moved.
func (f *Filter) meets(later *Filter) bool {
	delta := f.Shift.micros()
	return f.Provider == later.Provider && *later.From < *f.To+delta && *f.From+delta < *later.To
}

// reverseSome moves back what some parts of the record name.
func (s *Service) reverseSome(ctx context.Context, tx *store.Tx, user users.User, d *Deletion) (more bool, err error) {
	since, err := d.readMoves(ctx, tx, d.Filter.Shift.From*1000, d.Filter.Shift.Reverses)
	if err != nil {
		return false, err
	}
	all, err := storage.SeriesOf(ctx, tx, d.Team.UUID(), d.User.UUID(), "")
	if err != nil {
		return false, err
	}
	series := map[int64]*storage.Series{}
	for i := range all {
		series[all[i].ID] = &all[i]
	}
	if d.at.Change == 0 { // the first step
		d.at.Change = math.MaxInt64
	}
	for read := 0; read < blocksAtOnce; read++ {
		c, ok, err := storage.ReadChangeBefore(ctx, tx, d.Team.UUID(), d.User.UUID(), d.Filter.Shift.Reverses, d.at.Change)
		if err != nil || !ok {
			return false, err
		}
		n, err := s.reverse(ctx, tx, user, d, &c, since, series)
		if err != nil {
			return false, err
		}
		read += n
		d.at.Change = c.Seq
	}
	return true, nil
}

// reverse moves back what one part of the record names.
func (s *Service) reverse(ctx context.Context, tx *store.Tx, user users.User, d *Deletion, c *storage.ImportChange, since *moves, series map[int64]*storage.Series) (read int, err error) {
	var record storage.ImportChange
	for i := range c.Summaries {
		if err := d.reverseSession(ctx, tx, user, &c.Summaries[i], c.At.UnixMilli(), since, &record); err != nil {
			return 0, err
		}
	}
	var all []selectedSamples
	for i := range c.Series {
		one := series[c.Series[i].Series]
		if one == nil {
			continue
		}
		from, n, err := since.reversed(ctx, tx, c, &c.Series[i])
		if read += n; err != nil {
			return read, err
		}
		if from.series = one; from.from < from.to {
			all = append(all, from)
		}
	}
	n, err := s.moveSamples(ctx, tx, user, d, all, record)
	return read + n, err
}

// reversed selects the samples that a shift has moved, where they are now.
func (m *moves) reversed(ctx context.Context, tx *store.Tx, c *storage.ImportChange, s *storage.SeriesChange) (from selectedSamples, read int, err error) {
	moved, err := unpackBlock(s.Moved)
	if err != nil || moved.Len() == 0 {
		return from, 0, err
	}
	now := make(map[int64]place, moved.Len())
	for _, at := range moved.Time {
		now[at+c.Shift] = place{at, c.At.UnixMilli()}
	}
	if read, err = m.follow(ctx, tx, s.Series, now, nil); err != nil {
		return from, read, err
	}
	times := slices.Collect(maps.Keys(now))
	from.from, from.to = slices.Min(times), slices.Max(times)+1
	from.pick = func(at, written int64) bool {
		p, found := now[at]
		return found && p.isStored(written, nil)
	}
	if len(s.Before) > 0 {
		from.before = &blocks.Columns{}
		*from.before, err = unpackBlock(s.Before)
	}
	return from, read, err
}

// isReplaced reports whether a newer version of a session has its former time. moved is when
// the shift moved it, milliseconds.
func (d *Deletion) isReplaced(ctx context.Context, tx *store.Tx, s *storage.StoredSummary, moved int64) (bool, error) {
	if s.Resource != "sleep" && s.Resource != "sleep_cycle" && s.Resource != "workouts" {
		return false, nil
	}
	start, end := s.Bounds()
	start, end = start+d.Filter.Shift.micros(), end+d.Filter.Shift.micros()
	all, err := storage.SessionsBetween(ctx, tx, s.Team, s.User, s.Resource, s.Source.Provider, store.FromMicros(start), store.FromMicros(end))
	return slices.ContainsFunc(all, func(o storage.StoredSummary) bool {
		from, to := o.Bounds()
		return o.ID != s.ID && o.CreatedAt.UnixMilli() > moved && (o.Record == uuid.Nil || s.Record == uuid.Nil) &&
			s.Source.SameRecorder(&o.Source) && wearables.ShareMostTime(s.Resource, start, end, from, to)
	}), err
}

// removeSession deletes a session that a newer version has replaced, with its cycles.
func (d *Deletion) removeSession(ctx context.Context, tx *store.Tx, s *storage.StoredSummary) error {
	var all []storage.StoredSummary
	if s.Resource == "sleep" {
		var err error
		if all, err = storage.CyclesOf(ctx, tx, s); err != nil {
			return err
		}
	}
	for _, one := range append(all, *s) {
		if err := d.summary(ctx, tx, &one); err != nil {
			return err
		}
	}
	return nil
}

// reverseSession moves a session back, unless it was stored since.
func (d *Deletion) reverseSession(ctx context.Context, tx *store.Tx, user users.User, c *storage.SummaryChange, moved int64, since *moves, record *storage.ImportChange) error {
	s, err := storage.ReadSummary(ctx, tx, d.Team.UUID(), d.User.UUID(), c.ID)
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if at, _ := origin(since.summaries[c.ID], store.Micros(s.UpdatedAt)/1000); at != moved {
		return nil
	}
	document, known := wearables.DocumentNamed(s.Resource)
	if !known || s.StatedAt/1000 > moved { // a push has stated it at its new time
		return nil
	}
	replaced, err := d.isReplaced(ctx, tx, &s, moved)
	if err != nil {
		return err
	}
	if replaced {
		return d.removeSession(ctx, tx, &s)
	}
	return d.shiftSession(ctx, tx, user, &s, document, record)
}
