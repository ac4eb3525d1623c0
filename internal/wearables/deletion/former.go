package deletion

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// Undoing an import restores the versions that it replaced. A version of an import that was
// undone before does not come back: the version before it does, if there is one. The record
// of the undone import names that version. The time of storage of a version leads to the
// batch that stored it, or to the shift that moved it there.

// formerVersions finds the versions that an undo restores.
type formerVersions struct {
	team, user uuid.UUID
	byTime     map[int64][]storage.ChangeKey // undone batches and all shifts, by milliseconds
	moves      *moves                        // of all shifts
	open       map[storage.ChangeKey]*storage.ImportChange
	blocks     map[changedSeries]*seriesVersions
}

// changedSeries identifies the changes of a series in a batch.
type changedSeries struct {
	storage.ChangeKey
	series int64
}

// seriesVersions holds the unpacked changes of a series in a batch.
type seriesVersions struct {
	created, before, moved blocks.Columns
	shift                  int64
}

const (
	// maxVersions bounds the versions of one value. A value has one for each import or shift.
	maxVersions = 10_000
	// maxOpenChanges bounds the batches in memory.
	maxOpenChanges = 16
)

// readFormer reads which batches were undone.
func (d *Deletion) readFormer(ctx context.Context, tx *store.Tx) (*formerVersions, error) {
	f := &formerVersions{
		team: d.Team.UUID(), user: d.User.UUID(), moves: &moves{},
		open: map[storage.ChangeKey]*storage.ImportChange{}, blocks: map[changedSeries]*seriesVersions{},
	}
	var err error
	if f.byTime, err = storage.ChangesByTime(ctx, tx, f.team, f.user); err != nil || len(f.byTime) == 0 {
		return f, err
	}
	if f.moves, err = d.readMoves(ctx, tx, 0, uuid.Nil); err != nil {
		return f, err
	}
	for _, shift := range f.moves.shifts {
		if err := storage.AddChanges(ctx, tx, f.team, f.user, shift, f.byTime); err != nil {
			return f, err
		}
	}
	return f, nil
}

// read reads a batch.
func (f *formerVersions) read(ctx context.Context, tx *store.Tx, key storage.ChangeKey) (*storage.ImportChange, error) {
	if c := f.open[key]; c != nil {
		return c, nil
	}
	if len(f.open) >= maxOpenChanges {
		clear(f.open)
		clear(f.blocks)
	}
	c, err := storage.ReadChange(ctx, tx, f.team, f.user, key)
	f.open[key] = &c
	return &c, err
}

// samples returns former versions of samples of a series, without those of undone imports.
func (f *formerVersions) samples(ctx context.Context, tx *store.Tx, series int64, before blocks.Columns) (left blocks.Columns, err error) {
	if len(f.byTime) == 0 {
		return before, nil
	}
	for i := range before.Time {
		one, err := f.sample(ctx, tx, series, before.Slice(i, i+1))
		if err != nil {
			return left, err
		}
		left.Append(&one)
	}
	return left, nil
}

// sample returns the version of one sample that comes back; it is empty if there is none.
func (f *formerVersions) sample(ctx context.Context, tx *store.Tx, series int64, version blocks.Columns) (blocks.Columns, error) {
	var path origins
	at := version.Time[0]
	for range maxVersions {
		c, err := f.changeOf(ctx, tx, series, at, path.written(version.Written[0]))
		if err != nil || c == nil {
			return version, err
		}
		if c.shift != 0 {
			at -= c.shift
			i, _ := slices.BinarySearch(c.moved.Time, at)
			path.follow(move{was: c.moved.Written[i], at: path.written(version.Written[0]), delta: c.shift})
			continue
		}
		i, found := slices.BinarySearch(c.before.Time, at)
		if !found {
			return blocks.Columns{}, nil
		}
		version = path.place(c.before.Slice(i, i+1))
		path.found(c.before.Written[i])
	}
	return version, nil
}

// origins follows one value back through shifts.
type origins struct {
	delta int64 // how far the shifts have moved it, microseconds
	stamp int64 // when the last shift moved it; 0 without one
	now   int64 // when the value was stored that it has reached; 0 at the beginning
}

// written returns when the value was stored that the path has reached.
func (o *origins) written(first int64) int64 {
	if o.now == 0 {
		return first
	}
	return o.now
}

// follow goes back through a shift.
func (o *origins) follow(m move) {
	if o.stamp == 0 {
		o.stamp = m.at
	}
	o.delta, o.now = o.delta+m.delta, m.was
}

// found continues with an earlier version, which was stored at a time.
func (o *origins) found(written int64) { o.now = written }

// place moves an earlier version of a sample to where shifts have moved the later one.
func (o *origins) place(one blocks.Columns) (moved blocks.Columns) {
	moved.Append(&one)
	if o.stamp == 0 {
		return moved
	}
	moved.Time[0] += o.delta
	for i := range moved.End {
		moved.End[i] += o.delta
	}
	moved.Written[0] = o.stamp // it moves back with the shift
	return moved
}

// changeOf returns the undone batch that stored a sample, or the shift that moved it to its
// time; nil if there is none.
func (f *formerVersions) changeOf(ctx context.Context, tx *store.Tx, series, at, written int64) (*seriesVersions, error) {
	for _, key := range f.byTime[written] {
		c, err := f.versionsOf(ctx, tx, key, series)
		if err != nil {
			return nil, err
		}
		for _, times := range [][]int64{c.created.Time, c.before.Time} {
			if _, found := slices.BinarySearch(times, at); found && c.shift == 0 {
				return c, nil
			}
		}
		if _, found := slices.BinarySearch(c.moved.Time, at-c.shift); found && c.shift != 0 {
			return c, nil
		}
	}
	return nil, nil
}

// versionsOf returns the changes of a series in a batch.
func (f *formerVersions) versionsOf(ctx context.Context, tx *store.Tx, key storage.ChangeKey, series int64) (*seriesVersions, error) {
	if v := f.blocks[changedSeries{key, series}]; v != nil {
		return v, nil
	}
	c, err := f.read(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	v := &seriesVersions{shift: c.Shift}
	for i := range c.Series {
		s := &c.Series[i]
		if s.Series != series {
			continue
		}
		for _, one := range []struct {
			packed []byte
			to     *blocks.Columns
		}{{s.Created, &v.created}, {s.Before, &v.before}, {s.Moved, &v.moved}} {
			if *one.to, err = unpackBlock(one.packed); err != nil {
				return nil, err
			}
		}
	}
	f.blocks[changedSeries{key, series}] = v
	return v, nil
}

// summary returns the version of a summary that comes back, nil if there is none. It also
// returns summaries that undone versions have replaced. zone is the person's, or nil.
func (f *formerVersions) summary(ctx context.Context, tx *store.Tx, resource string, id uuid.UUID, version *storage.SummaryVersion, zone *time.Location) (*storage.SummaryVersion, []storage.RemovedSummary, error) {
	var path origins
	var removed []storage.RemovedSummary
	for range maxVersions {
		if version.Stated != 0 {
			return version, removed, nil
		}
		at := path.written(version.Updated / 1000)
		if m, found := moveTo(f.moves.summaries[id], at); found {
			path.follow(m)
			continue
		}
		c, err := f.summaryChange(ctx, tx, id, at)
		if err != nil || c == nil {
			return version, removed, err
		}
		for _, r := range c.Removed {
			r.Was = r.Was.Clone()
			if err := path.move(r.Resource, r.Was, zone); err != nil {
				return nil, nil, err
			}
			removed = append(removed, r)
		}
		if c.Before == nil {
			return nil, removed, nil
		}
		version = c.Before.Clone()
		path.found(version.Updated / 1000)
		if err := path.move(resource, version, zone); err != nil {
			return nil, nil, err
		}
	}
	return version, removed, nil
}

// formerStream is a former version of a workout's stream, packed.
type formerStream struct {
	n      int
	packed []byte
	at     int64 // when it was stored, milliseconds; 0 if unknown
}

// stream returns the version of a stream that comes back; it is empty if there is none.
func (f *formerVersions) stream(ctx context.Context, tx *store.Tx, workout uuid.UUID, version formerStream) (formerStream, error) {
	var path origins
	for range maxVersions {
		at := path.written(version.at)
		if m, found := moveTo(f.moves.streams[workout], at); found {
			path.follow(m)
			continue
		}
		c, err := f.streamChange(ctx, tx, workout, at)
		if err != nil || c == nil {
			return version, err
		}
		if len(c.Before) == 0 {
			return formerStream{}, nil
		}
		version = formerStream{c.N, c.Before, c.Was}
		path.found(c.Was)
		if path.stamp == 0 {
			continue
		}
		version.at = path.stamp // it moves back with the shift
		if version.n, version.packed, err = movedStream(c.Before, time.Duration(path.delta)*time.Microsecond); err != nil {
			return version, err
		}
	}
	return version, nil
}

// streamChange returns the undone change that stored a stream; nil if there is none.
func (f *formerVersions) streamChange(ctx context.Context, tx *store.Tx, workout uuid.UUID, at int64) (*storage.StreamChange, error) {
	for _, key := range f.byTime[at] {
		c, err := f.read(ctx, tx, key)
		if err != nil {
			return nil, err
		}
		for i := range c.Streams {
			if c.Streams[i].Workout == workout && c.Shift == 0 {
				return &c.Streams[i], nil
			}
		}
	}
	return nil, nil
}

// move moves a version of a summary to where shifts have moved the later one.
func (o *origins) move(resource string, v *storage.SummaryVersion, zone *time.Location) error {
	document, known := wearables.DocumentNamed(resource)
	if o.stamp == 0 || !known {
		return nil
	}
	v.Updated = o.stamp * 1000 // it moves back with the shift
	return moveVersion(v, document, time.Duration(o.delta)*time.Microsecond, zone)
}

// moveTo returns the shift that moved a summary or stream at a time, in milliseconds.
func moveTo(all []move, at int64) (m move, found bool) {
	for _, m := range slices.Backward(all) {
		if m.at == at {
			return m, true
		}
	}
	return m, false
}

// summaryChange returns the undone change that stored a version of a summary; nil if there
// is none.
func (f *formerVersions) summaryChange(ctx context.Context, tx *store.Tx, id uuid.UUID, at int64) (*storage.SummaryChange, error) {
	for _, key := range f.byTime[at] {
		c, err := f.read(ctx, tx, key)
		if err != nil {
			return nil, err
		}
		for i := range c.Summaries {
			if c.Summaries[i].ID == id && c.Shift == 0 {
				return &c.Summaries[i], nil
			}
		}
	}
	return nil, nil
}
