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
	read   int    // blocks
}

func (u *undo) change(ctx context.Context, tx *store.Tx, c *storage.ImportChange) error {
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
	return nil
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
		for _, at := range s.Time {
			if _, found := slices.BinarySearch(before.Time, at); found {
				restored++
			}
		}
		u.removed(u.user, restored)(s)
		restored = 0
	}
	n, err = removeAll(ctx, tx, s, &r)
	u.read += n
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
		return nil
	}
	first, delta := origin(u.moves.summaries[c.ID], store.Micros(s.UpdatedAt)/1000)
	if err != nil || !u.times[first] || !u.Filter.names(s.Resource) || !u.Filter.summary(&s) || !u.Filter.within(s.Day) {
		return err
	}
	if err := u.restoreRemoved(ctx, tx, c, delta); err != nil {
		return err
	}
	if c.Before == nil {
		return u.Deletion.summary(ctx, tx, &s)
	}
	u.Report.count(s.Resource, s.Source.Provider, 1, s.BeginsOrDay(), s.BeginsOrDay()).Restored++
	if u.DryRun {
		return nil
	}
	if document, known := wearables.DocumentNamed(s.Resource); known && delta != 0 {
		if err := moveVersion(c.Before, document, time.Duration(delta)*time.Microsecond, wearables.FallbackFor(u.user, s.Source.Provider)); err != nil {
			return err
		}
		c.Before.Updated = store.Micros(s.UpdatedAt) // it moves back with the shift
	}
	if err := s.Restore(ctx, tx, c.Before); err != nil {
		return err
	}
	restored, err := storage.ReadSummary(ctx, tx, s.Team, s.User, s.ID)
	if err != nil {
		return err
	}
	event, err := updated(tx, u.user, &restored)
	if err != nil {
		return err
	}
	return emit(ctx, tx, s.Source.Provider, event)
}

// restoreRemoved stores the summaries again that a summary of the import has replaced. delta
// is how far shifts have moved that summary since.
func (u *undo) restoreRemoved(ctx context.Context, tx *store.Tx, c *storage.SummaryChange, delta int64) error {
	for i := range c.Removed {
		r := &c.Removed[i]
		if document, known := wearables.DocumentNamed(r.Resource); known && delta != 0 {
			if err := moveVersion(r.Was, document, time.Duration(delta)*time.Microsecond, wearables.FallbackFor(u.user, r.Provider)); err != nil {
				return err
			}
		}
		if u.DryRun {
			continue
		}
		s, ok, err := r.WriteBack(ctx, tx, u.Team.UUID(), u.User.UUID())
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		u.Report.count(s.Resource, s.Source.Provider, 0, s.BeginsOrDay(), s.BeginsOrDay()).Restored++
		event, err := updated(tx, u.user, &s)
		if err != nil {
			return err
		}
		event.Type = resources.DailyEvent(wearables.EventName(s.Resource), resources.Created)
		if err := emit(ctx, tx, s.Source.Provider, event); err != nil {
			return err
		}
	}
	return nil
}

func (u *undo) stream(ctx context.Context, tx *store.Tx, c *storage.StreamChange) error {
	at, version, err := storage.StreamTime(ctx, tx, u.Team.UUID(), u.User.UUID(), c.Workout)
	first, delta := origin(u.moves.streams[c.Workout], at)
	if err != nil || !u.times[first] || !u.Filter.names(wearables.WorkoutStream) {
		return err
	}
	s, err := storage.ReadSummary(ctx, tx, u.Team.UUID(), u.User.UUID(), c.Workout)
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	if err != nil || !u.Filter.summary(&s) || !u.Filter.within(s.Day) {
		return err
	}
	count := u.Report.count(wearables.WorkoutStream, s.Source.Provider, 1, s.BeginsOrDay(), s.BeginsOrDay())
	if len(c.Before) == 0 {
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
	n, before := c.N, c.Before
	if delta != 0 {
		if n, before, err = movedStream(before, time.Duration(delta)*time.Microsecond); err != nil {
			return err
		}
	}
	return storage.WriteStream(ctx, tx, &s, version+1, n, before)
}

// unlink marks an import whose data was deleted as undone. Its file leaves the ledger in
// the job.
func (d *Deletion) unlink(ctx context.Context, tx *store.Tx) error {
	if !d.Filter.onlyImport() {
		return nil
	}
	if err := storage.ForgetImportChanges(ctx, tx, d.Team.UUID(), d.User.UUID(), d.Filter.Import); err != nil {
		return err
	}
	if d.Filter.Reread {
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
