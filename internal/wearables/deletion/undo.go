package deletion

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/blocks"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// Undoing an import reads its journal from the first batch. A value of the import that
// no later push or import has changed gets its former version, or is deleted if there
// was none.

// prepare checks the filter, and the import that it names.
func (d *Deletion) prepare(ctx context.Context, tx *store.Tx) error {
	if err := d.Filter.check(); err != nil {
		return err
	}
	if d.Filter.Shift.Seconds != 0 && d.Filter.Shift.Reverses == uuid.Nil {
		return d.Filter.checkTarget(tx.Now())
	}
	if d.Filter.Import == uuid.Nil {
		return nil
	}
	i, err := imports.Get(ctx, tx, d.Team, d.User, d.importID())
	if err != nil {
		return err
	}
	if i.Status == imports.Queued || i.Status == imports.Running {
		return fault.New(fault.Conflict, "The import is not finished: cancel it first")
	}
	_, found, err := storage.ReadImportChange(ctx, tx, d.Team.UUID(), d.User.UUID(), d.Filter.Import, 0)
	if err == nil && !found && i.Status != imports.Undone && i.Report != nil && i.Report.Created+i.Report.Updated > 0 {
		return fault.New(fault.Conflict, "The import is older than the record of what imports change; delete its data by provider and time")
	}
	return err
}

// undoSome undoes some batches of an import.
func (d *Deletion) undoSome(ctx context.Context, tx *store.Tx, user users.User) (more bool, err error) {
	team, id := d.Team.UUID(), d.User.UUID()
	times, err := storage.ImportTimes(ctx, tx, team, id, d.Filter.Import)
	if err != nil {
		return false, err
	}
	series, err := storage.SeriesOf(ctx, tx, team, id, "")
	if err != nil {
		return false, err
	}
	u := undo{Deletion: d, user: user, times: times, series: map[int64]*storage.Series{}, moves: &moves{}}
	if len(times) > 0 && !d.Filter.Reread { // what was moved stays when the file is read again
		if u.moves, err = d.readMoves(ctx, tx, slices.Min(slices.Collect(maps.Keys(times)))*1000, uuid.Nil); err != nil {
			return false, err
		}
	}
	for i := range series {
		u.series[series[i].ID] = &series[i]
	}
	if u.former, err = d.readFormer(ctx, tx); err != nil {
		return false, err
	}
	for u.read < blocksAtOnce {
		c, ok, err := storage.ReadImportChange(ctx, tx, team, id, d.Filter.Import, d.at.Change)
		if err != nil || !ok {
			return false, err
		}
		if err := u.change(ctx, tx, &c); err != nil {
			return false, err
		}
		d.at.Change = c.Seq
	}
	return true, nil
}

// undo is one step of undoing an import.
type undo struct {
	*Deletion
	user   users.User
	times  map[int64]bool // of the batches of the import, milliseconds
	series map[int64]*storage.Series
	moves  *moves // of shifts since
	former *formerVersions
	read   int // blocks
	// superseded says that later versions have replaced values of the batch.
	superseded bool
}

func (u *undo) change(ctx context.Context, tx *store.Tx, c *storage.ImportChange) error {
	u.superseded = false
	for i := range c.Series {
		if err := u.samples(ctx, tx, &c.Series[i]); err != nil {
			return err
		}
	}
	for i := range c.Streams {
		if err := u.stream(ctx, tx, &c.Streams[i]); err != nil {
			return err
		}
	}
	for i := range c.Summaries {
		if err := u.summary(ctx, tx, &c.Summaries[i]); err != nil {
			return err
		}
	}
	u.read++
	switch {
	case u.DryRun || !u.Filter.onlyImport():
		return nil
	case u.superseded:
		return c.MarkUndone(ctx, tx, u.Team.UUID(), u.User.UUID())
	}
	return c.Forget(ctx, tx, u.Team.UUID(), u.User.UUID())
}

// samples undoes the changes of one series.
func (u *undo) samples(ctx context.Context, tx *store.Tx, c *storage.SeriesChange) error {
	s := u.series[c.Series]
	if s == nil || !u.Filter.series(s) || len(u.Filter.ExternalIDs) > 0 {
		return nil
	}
	created, err := unpackBlock(c.Created)
	if err != nil {
		return err
	}
	before, err := unpackBlock(c.Before)
	if err != nil || created.Len()+before.Len() == 0 {
		return err
	}
	all := append(slices.Clone(created.Time), before.Time...)
	left := len(all) // values that later versions have replaced
	if before, err = u.former.samples(ctx, tx, c.Series, before); err != nil {
		return err
	}
	now := make(map[int64]place, len(all))
	for _, at := range all {
		now[at] = place{from: at}
	}
	n, err := u.moves.follow(ctx, tx, c.Series, now, u.times)
	if u.read += n; err != nil {
		return err
	}
	all = slices.Sorted(maps.Keys(now))
	before = moveBlock(all, now, &before)
	from, to := u.Filter.bounds()
	restored := int64(0)
	r := storage.Removal{
		From: max(from, all[0]), To: min(to, all[len(all)-1]+1), Restore: &before, DryRun: u.DryRun, Forget: u.Filter.Undo,
		Pick: func(c *blocks.Columns, i int) bool {
			p, found := now[c.Time[i]]
			return found && p.isStored(c.Written[i], u.times)
		},
	}
	r.Removed = func(s *wearables.Samples) {
		left -= s.Len()
		for _, at := range s.Time {
			if _, found := slices.BinarySearch(before.Time, at); found {
				restored++
			}
		}
		u.removed(u.user, restored)(s)
		restored = 0
	}
	n, err = removeAll(ctx, tx, s, &r)
	u.read, u.superseded = u.read+n, u.superseded || left > 0
	return err
}

// moveBlock returns former versions of samples at the times to which shifts have moved the
// later ones.
func moveBlock(times []int64, now map[int64]place, former *blocks.Columns) blocks.Columns {
	var found []int32
	var there []int64
	for _, at := range times {
		if i, has := slices.BinarySearch(former.Time, now[at].from); has {
			found, there = append(found, int32(i)), append(there, at)
		}
	}
	moved := blocks.Pick(former, found)
	for i := range moved.End {
		moved.End[i] += there[i] - moved.Time[i]
	}
	for i, at := range there {
		if p := now[at]; p.written != 0 { // it moves back with the shift
			moved.Written[i] = p.written
		}
	}
	moved.Time = there
	return moved
}

func (u *undo) summary(ctx context.Context, tx *store.Tx, c *storage.SummaryChange) error {
	s, err := storage.ReadSummary(ctx, tx, u.Team.UUID(), u.User.UUID(), c.ID)
	if errors.Is(err, store.ErrNoRows) {
		u.superseded = true // another one may have replaced it
		return nil
	}
	if err != nil {
		return err
	}
	first, delta := origin(u.moves.summaries[c.ID], store.Micros(s.UpdatedAt)/1000)
	if !u.times[first] || s.StatedAt != 0 {
		u.superseded = true
		return nil
	}
	if !u.Filter.names(s.Resource) || !u.Filter.summary(&s) || !u.Filter.within(s.Day) {
		return nil
	}
	return u.restoreSummary(ctx, tx, c, &s, delta)
}

// restoreSummary gives a summary its former version, or deletes it. delta is how far shifts
// have moved it since.
func (u *undo) restoreSummary(ctx context.Context, tx *store.Tx, c *storage.SummaryChange, s *storage.StoredSummary, delta int64) error {
	before, removed, zone := c.Before, c.Removed, wearables.FallbackFor(u.user, s.Source.Provider)
	if before != nil {
		version, more, err := u.former.summary(ctx, tx, s.Resource, s.ID, before, zone)
		if err != nil {
			return err
		}
		before, removed = version, append(slices.Clone(removed), more...)
	}
	if err := u.restoreRemoved(ctx, tx, removed, delta); err != nil {
		return err
	}
	if before == nil {
		return u.Deletion.summary(ctx, tx, s)
	}
	u.Report.count(s.Resource, s.Source.Provider, 1, s.BeginsOrDay(), s.BeginsOrDay()).Restored++
	if u.DryRun {
		return nil
	}
	if document, known := wearables.DocumentNamed(s.Resource); known && delta != 0 {
		if err := moveVersion(before, document, time.Duration(delta)*time.Microsecond, zone); err != nil {
			return err
		}
		before.Updated = store.Micros(s.UpdatedAt) // it moves back with the shift
	}
	if err := s.Restore(ctx, tx, before); err != nil {
		return err
	}
	restored, err := storage.ReadSummary(ctx, tx, s.Team, s.User, s.ID)
	if err != nil {
		return err
	}
	u.noteWorkout(&restored)
	event, err := updated(tx, u.user, &restored)
	if err != nil {
		return err
	}
	return emit(ctx, tx, s.Source.Provider, event)
}

// restoreRemoved stores the summaries again that a summary of the import has replaced. delta
// is how far shifts have moved that summary since.
func (u *undo) restoreRemoved(ctx context.Context, tx *store.Tx, all []storage.RemovedSummary, delta int64) error {
	for len(all) > 0 {
		r := all[0]
		more, comesBack, err := u.formerRemoved(ctx, tx, &r)
		if err != nil {
			return err
		}
		if all = append(all[1:], more...); !comesBack {
			continue
		}
		if document, known := wearables.DocumentNamed(r.Resource); known && delta != 0 {
			if err := moveVersion(r.Was, document, time.Duration(delta)*time.Microsecond, wearables.FallbackFor(u.user, r.Provider)); err != nil {
				return err
			}
		}
		if err := u.writeBack(ctx, tx, &r); err != nil {
			return err
		}
	}
	return nil
}

// formerRemoved finds the version of a removed summary that comes back. It also returns
// summaries that its undone versions have replaced.
func (u *undo) formerRemoved(ctx context.Context, tx *store.Tx, r *storage.RemovedSummary) (more []storage.RemovedSummary, comesBack bool, err error) {
	if r.Record != uuid.Nil { // a phone may have deleted it since
		gone, err := storage.IsDeletedRecord(ctx, tx, u.Team.UUID(), u.User.UUID(), r.Record)
		if err != nil || gone {
			return nil, false, err
		}
	}
	r.Was, more, err = u.former.summary(ctx, tx, r.Resource, r.ID, r.Was, wearables.FallbackFor(u.user, r.Provider))
	if err != nil || r.Was == nil {
		return more, false, err
	}
	stream, err := u.former.stream(ctx, tx, r.ID, formerStream{r.N, r.Stream, r.StreamAt})
	r.N, r.Stream, r.StreamAt = stream.n, stream.packed, stream.at
	return more, true, err
}

// writeBack stores a removed summary again, and sends its event.
func (u *undo) writeBack(ctx context.Context, tx *store.Tx, r *storage.RemovedSummary) error {
	if u.DryRun {
		return nil
	}
	s, ok, err := r.WriteBack(ctx, tx, u.Team.UUID(), u.User.UUID())
	if err != nil || !ok {
		return err
	}
	u.noteWorkout(&s)
	u.Report.count(s.Resource, s.Source.Provider, 0, s.BeginsOrDay(), s.BeginsOrDay()).Restored++
	event, err := updated(tx, u.user, &s)
	if err != nil {
		return err
	}
	event.Type = resources.DailyEvent(wearables.EventName(s.Resource), resources.Created)
	return emit(ctx, tx, s.Source.Provider, event)
}

func (u *undo) stream(ctx context.Context, tx *store.Tx, c *storage.StreamChange) error {
	at, version, err := storage.StreamTime(ctx, tx, u.Team.UUID(), u.User.UUID(), c.Workout)
	if err != nil {
		return err
	}
	first, delta := origin(u.moves.streams[c.Workout], at)
	if !u.times[first] {
		u.superseded = true
		return nil
	}
	if !u.Filter.names(wearables.WorkoutStream) {
		return nil
	}
	s, err := storage.ReadSummary(ctx, tx, u.Team.UUID(), u.User.UUID(), c.Workout)
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	if err != nil || !u.Filter.summary(&s) || !u.Filter.within(s.Day) {
		return err
	}
	count := u.Report.count(wearables.WorkoutStream, s.Source.Provider, 1, s.BeginsOrDay(), s.BeginsOrDay())
	before, err := u.former.stream(ctx, tx, c.Workout, formerStream{c.N, c.Before, c.Was})
	if err != nil {
		return err
	}
	if len(before.packed) == 0 {
		count.add(s.ID)
		if !u.DryRun {
			_, err = storage.DeleteStream(ctx, tx, &s)
		}
		return err
	}
	count.Restored++
	if u.DryRun {
		return nil
	}
	u.noteWorkout(&s)
	if delta != 0 {
		if before.n, before.packed, err = movedStream(before.packed, time.Duration(delta)*time.Microsecond); err != nil {
			return err
		}
		before.at = at // it moves back with the shift
	}
	return storage.RestoreStream(ctx, tx, &s, version+1, before.n, before.packed, before.at)
}

// unlink marks an import whose data was deleted as undone. Its file leaves the ledger in
// the job.
func (d *Deletion) unlink(ctx context.Context, tx *store.Tx) error {
	if !d.Filter.onlyImport() || d.Filter.Reread {
		return nil
	}
	return imports.Undo(ctx, tx, d.Team, d.importID())
}

func (d *Deletion) importID() imports.ID { return ids.FromUUID[imports.Import](d.Filter.Import) }

// removeFile removes the file of an undone import from the ledger, unless another import
// of the user has read the same file.
func (s *Service) removeFile(ctx context.Context, d *Deletion) error {
	if !d.Filter.onlyImport() || s.Ledger == nil {
		return nil
	}
	var kind string
	var sum []byte
	err := s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		kind, sum, err = imports.UndoneFile(ctx, tx, d.Team, d.User, d.importID())
		return err
	})
	if err != nil || sum == nil {
		return err
	}
	return s.Ledger.RemoveFile(ctx, s.DB, ledger.File{Team: d.Team, User: d.User, Kind: kind, SHA256: sum})
}
