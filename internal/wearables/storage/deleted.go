package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// Deleted data leaves fingerprints, so that the same record does not come back when a
// file is imported again or the ledger is reprocessed. A record with another value, or
// at another time, has another fingerprint: it is a newer version, and it is stored.
//
// A fingerprint is a part of a salted hash. It is sealed with the user's key, because a
// value can be guessed from it.

// fingerprints is a set of fingerprints: a salt and the sorted fingerprints.
type fingerprints []byte

const (
	saltSize  = 16
	printSize = 6
)

// fingerprint is small: a block of 3600 deleted samples takes a new one for a deleted
// one once in 78 billion times.
type fingerprint [printSize]byte

// of returns the fingerprint of a record.
func (f fingerprints) of(record []byte) (p fingerprint) {
	sum := sha256.Sum256(append(record, f[:saltSize]...))
	copy(p[:], sum[:])
	return p
}

func (f fingerprints) has(p fingerprint) bool {
	low, high := 0, (len(f)-saltSize)/printSize
	for low < high {
		mid := (low + high) / 2
		switch at := saltSize + mid*printSize; bytes.Compare(f[at:at+printSize], p[:]) {
		case 0:
			return true
		case -1:
			low = mid + 1
		default:
			high = mid
		}
	}
	return false
}

// newFingerprints returns an empty set.
func newFingerprints() fingerprints { return secrets.Bytes(saltSize) }

// add returns the set with others.
func (f fingerprints) add(all []fingerprint) fingerprints {
	for at := saltSize; at < len(f); at += printSize {
		all = append(all, fingerprint(f[at:at+printSize]))
	}
	slices.SortFunc(all, func(a, b fingerprint) int { return bytes.Compare(a[:], b[:]) })
	all = slices.Compact(all)
	more := slices.Clone(f[:saltSize])
	for i := range all {
		more = append(more, all[i][:]...)
	}
	return more
}

// sampleRecord writes a sample for its fingerprint. Times are in seconds: an export
// rounds them, a phone does not.
func sampleRecord(dst []byte, c *blocks.Columns, i int) []byte {
	end, second := c.Time[i], math.NaN()
	if len(c.End) > 0 {
		end = c.End[i]
	}
	if len(c.Value2) > 0 {
		second = c.Value2[i]
	}
	if second != second {
		second = math.NaN() // one of many
	}
	for _, v := range [...]uint64{
		uint64(floorDiv(c.Time[i], secondUS)), uint64(floorDiv(end, secondUS)), math.Float64bits(c.Value[i]), math.Float64bits(second),
	} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

// A sample with an id of its own has two fingerprints: one with the id, and one that says
// that there is an id. A record with another id can be stored.

// addSample appends the fingerprints of a deleted sample. id is zero without one.
func (f fingerprints) addSample(all []fingerprint, c *blocks.Columns, i int, id uuid.UUID) []fingerprint {
	record := sampleRecord(nil, c, i)
	if id == uuid.Nil {
		return append(all, f.of(record))
	}
	return append(all, f.of(withAnyID(record)), f.of(withID(record, id)))
}

// hasSample reports whether a sample was deleted. One that has an id was not, if the deleted
// one had another id.
func (f fingerprints) hasSample(c *blocks.Columns, i int, id uuid.UUID) bool {
	record := sampleRecord(make([]byte, 0, 64), c, i)
	if f.has(f.of(slices.Clone(record))) {
		return true
	}
	if id == uuid.Nil {
		return f.has(f.of(withAnyID(record)))
	}
	return f.has(f.of(withID(record, id)))
}

// withAnyID marks the record of a sample that has an id.
func withAnyID(record []byte) []byte { return append(slices.Clone(record), 1) }

// withID adds an id to the record of a sample.
func withID(record []byte, id uuid.UUID) []byte { return append(slices.Clone(record), id[:]...) }

// openDeleted returns the fingerprints of a block; nil if none of its samples was deleted.
func (b *Block) openDeleted(ctx context.Context, tx *store.Tx, s *Series) (fingerprints, error) {
	if len(b.deleted) == 0 {
		return nil, nil
	}
	f, err := tx.Unseal(ctx, s.Team, s.User, placeOfDeleted(s.ID, b.Bucket), b.deleted)
	if err == nil && len(f) < saltSize {
		err = fmt.Errorf("storage: damaged fingerprints of series %d of user %s", s.ID, s.User)
	}
	return f, err
}

func placeOfDeleted(series, bucket int64) string {
	return "sample_blocks.deleted:" + placeOfBlock(series, bucket)
}

// LeaveOutDeleted returns the samples that were not deleted from the block, and how
// many were. idOf returns the id of the sample of a time; zero without one.
func (b *Block) LeaveOutDeleted(ctx context.Context, tx *store.Tx, s *Series, add *blocks.Columns, idOf func(at int64) uuid.UUID) (left blocks.Columns, n int, err error) {
	f, err := b.openDeleted(ctx, tx, s)
	if err != nil || f == nil {
		return *add, 0, err
	}
	kept := make([]int32, 0, add.Len())
	for i, at := range add.Time {
		if !f.hasSample(add, i, idOf(at)) {
			kept = append(kept, int32(i))
		}
	}
	if n = add.Len() - len(kept); n == 0 {
		return *add, 0, nil
	}
	return blocks.Pick(add, kept), n, nil
}

// LeaveOutDeletedAt removes from add the samples that were deleted when they had other
// times. before contains the samples with these times, in the same order. It returns the
// remaining samples and the number of removed ones.
func LeaveOutDeletedAt(ctx context.Context, tx *store.Tx, s *Series, add, before *blocks.Columns) (left blocks.Columns, n int, err error) {
	known, err := deletedWithin(ctx, tx, s, slices.Min(before.Time), slices.Max(before.Time))
	if err != nil || len(known) == 0 {
		return *add, 0, err
	}
	var kept []int32
	for i, at := range before.Time {
		if f := known[s.Bucket(at)]; f == nil || !f.hasSample(before, i, uuid.Nil) {
			kept = append(kept, int32(i))
		}
	}
	return blocks.Pick(add, kept), add.Len() - len(kept), nil
}

// deletedWithin reads the fingerprints of the blocks of a range, by the start of the block.
func deletedWithin(ctx context.Context, tx *store.Tx, s *Series, first, last int64) (map[int64]fingerprints, error) {
	rows, err := tx.Query(ctx, `SELECT bucket, deleted FROM sample_blocks
		WHERE team_id = $1 AND user_id = $2 AND series_id = $3 AND bucket BETWEEN $4 AND $5 AND deleted IS NOT NULL`,
		s.Team, s.User, s.ID, s.Bucket(first), s.Bucket(last))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Block
	for rows.Next() {
		var b Block
		if err := rows.Scan(&b.Bucket, &b.deleted); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	known := map[int64]fingerprints{}
	for i := range all {
		if known[all[i].Bucket], err = all[i].openDeleted(ctx, tx, s); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// Removal deletes samples of series, or counts them.
type Removal struct {
	From, To int64 // start of a sample, UTC microseconds, [From, To)
	// Pick names the samples to delete; nil names all. Written of a sample is when it was
	// stored, UTC milliseconds.
	Pick func(c *blocks.Columns, i int) bool
	// Restore has former versions of samples, in time order: they take the places of
	// deleted ones.
	Restore *blocks.Columns
	DryRun  bool
	// Forget lets deleted samples come back when they are sent again.
	Forget bool
	// Marked leaves the marks of offsets that a fallback zone gave.
	Marked  bool
	Removed func(s *wearables.Samples) // called with the samples of each block
}

// Blocks deletes samples of one series from some blocks. It begins with the block that
// contains the time at, or with the next block. It returns the time at which a further
// call begins, and the number of blocks that it read. more is false at the end.
func (r *Removal) Blocks(ctx context.Context, tx *store.Tx, s *Series, at int64) (next int64, read int, more bool, err error) {
	stored, err := readBlocks(ctx, tx, s, s.Bucket(max(r.From, at, math.MinInt64+s.Width.Microseconds())), r.To-1)
	if err != nil {
		return 0, 0, false, err
	}
	for i := range stored {
		if err := r.block(ctx, tx, s, &stored[i]); err != nil {
			return 0, 0, false, err
		}
	}
	if len(stored) < blocksAtOnce {
		return 0, len(stored), false, nil
	}
	return stored[len(stored)-1].Bucket + s.Width.Microseconds(), len(stored), true, nil
}

func (r *Removal) block(ctx context.Context, tx *store.Tx, s *Series, b *Block) error {
	var all blocks.Columns
	if err := b.Open(ctx, tx, s, &all); err != nil {
		return err
	}
	var kept, gone []int32
	for i, at := range all.Time {
		if at >= r.From && at < r.To && (r.Pick == nil || r.Pick(&all, i)) {
			gone = append(gone, int32(i))
		} else {
			kept = append(kept, int32(i))
		}
	}
	if len(gone) == 0 {
		return nil
	}
	removed := blocks.Pick(&all, gone)
	if !r.DryRun {
		left := blocks.Pick(&all, kept)
		if r.Restore != nil {
			left = restore(&left, &removed, r.Restore)
		}
		remembered := &removed
		if r.Forget {
			remembered = &blocks.Columns{}
		}
		if err := b.replace(ctx, tx, s, &left, remembered); err != nil {
			return err
		}
	}
	if r.Removed != nil {
		if !r.Marked {
			PlainOffsets(removed.Offset)
		}
		group := wearables.Samples{Resource: s.Resource, Type: s.Type, Extra: s.Extra, Source: s.Source}
		group.SetColumns(&removed)
		r.Removed(&group)
	}
	return nil
}

// restore adds the former versions of removed samples, with the times at which they were
// stored. They may be of another import, which can be undone too.
func restore(left, removed, former *blocks.Columns) blocks.Columns {
	var found []int32
	k := 0
	for i, at := range former.Time {
		for k < removed.Len() && removed.Time[k] < at {
			k++
		}
		if k < removed.Len() && removed.Time[k] == at {
			found = append(found, int32(i))
		}
	}
	if len(found) == 0 {
		return *left
	}
	back := blocks.Pick(former, found)
	var all blocks.Columns
	blocks.Merge(&all, left, &back, &blocks.Changes{})
	return all
}

// replace writes the samples that are left of a block, and fingerprints of removed
// ones. It returns ErrStale if the block was written since it was read.
func (b *Block) replace(ctx context.Context, tx *store.Tx, s *Series, left, removed *blocks.Columns) error {
	f, err := b.openDeleted(ctx, tx, s)
	if err != nil {
		return err
	}
	if f == nil {
		f = newFingerprints()
	}
	ids, err := idsOf(ctx, tx, s, removed)
	if err != nil {
		return err
	}
	prints := make([]fingerprint, 0, removed.Len())
	for i, at := range removed.Time {
		prints = f.addSample(prints, removed, i, ids[at])
	}
	deleted, err := tx.Seal(ctx, s.Team, s.User, placeOfDeleted(s.ID, b.Bucket), f.add(prints))
	if err != nil {
		return err
	}
	n, first, last, changed := left.Len(), b.Bucket, b.Bucket, b.changed
	if n > 0 {
		first, last = left.Time[0], left.Time[n-1]
		switch {
		case len(left.Written) == 0 || slices.Contains(left.Written, 0): // some were restored
			changed = store.Micros(tx.Now())
		case slices.Max(left.Written) != max(b.changed/1000, 1):
			changed = slices.Max(left.Written) * 1000 // see Open
		}
		MarkWritten(left, 0)
		if len(left.Written) > 0 && slices.Min(left.Written) == slices.Max(left.Written) {
			left.Written = nil
		}
	}
	packed, err := blocks.Append(nil, left)
	if err != nil {
		return fmt.Errorf("storage: packing a block: %w", err)
	}
	sealed, err := tx.Seal(ctx, s.Team, s.User, placeOfBlock(s.ID, b.Bucket), packed)
	if err != nil {
		return err
	}
	return checkChanged(tx.Exec(ctx, `UPDATE sample_blocks SET rev = rev + 1, n = $6, t_min = $7, t_max = $8, data = $9, deleted = $10, changed_at = $11
		WHERE team_id = $1 AND user_id = $2 AND series_id = $3 AND bucket = $4 AND rev = $5`,
		s.Team, s.User, s.ID, b.Bucket, b.Rev, n, first, last, sealed, deleted, changed))
}

// CopyDeleted copies the fingerprints of a user's deleted data into a database that has
// no data of that user. So reprocessing there does not bring the data back.
func CopyDeleted(ctx context.Context, from, to *store.DB, team, user uuid.UUID) error {
	for after, more := uuid.Nil, true; more; {
		var some []deletedSummary
		err := from.Read(ctx, func(tx *store.Tx) (err error) {
			some, err = deletedSummaries(ctx, tx, team, user, after)
			return err
		})
		if err == nil && len(some) > 0 {
			err = to.Write(ctx, func(tx *store.Tx) error {
				for i := range some {
					if err := some[i].write(ctx, tx, team, user); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err != nil {
			return err
		}
		if more = len(some) == copiedAtOnce; more {
			after = some[len(some)-1].id
		}
	}
	return copyDeletedSamples(ctx, from, to, team, user)
}

// deletedBlock has the fingerprints of a block.
type deletedBlock struct {
	series, bucket int64
	samples        fingerprints
}

func copyDeletedSamples(ctx context.Context, from, to *store.DB, team, user uuid.UUID) error {
	var series []Series
	err := from.Read(ctx, func(tx *store.Tx) (err error) {
		series, err = seriesOf(ctx, tx, team, user, "", true)
		return err
	})
	if err != nil {
		return err
	}
	byID, copied := map[int64]*Series{}, map[int64]*Series{}
	for i := range series {
		byID[series[i].ID] = &series[i]
	}
	for last, more := (deletedBlock{bucket: math.MinInt64}), true; more; {
		var some []deletedBlock
		err := from.Read(ctx, func(tx *store.Tx) (err error) {
			some, err = deletedBlocks(ctx, tx, team, user, last, byID)
			return err
		})
		if err == nil && len(some) > 0 {
			err = to.Write(ctx, func(tx *store.Tx) error {
				for i := range some {
					s, err := copySeries(ctx, tx, byID[some[i].series], copied)
					if err == nil {
						err = some[i].insert(ctx, tx, s)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err != nil {
			return err
		}
		if more = len(some) == blocksAtOnce; more {
			last = some[len(some)-1]
		}
	}
	return nil
}

func copySeries(ctx context.Context, tx *store.Tx, s *Series, copied map[int64]*Series) (*Series, error) {
	if made := copied[s.ID]; made != nil {
		return made, nil
	}
	made, found, err := FindSeries(ctx, tx, s.Team, s.User, s.key())
	if err == nil && !found {
		made, err = CreateSeries(ctx, tx, s.Team, s.User, s.key(), s.Width)
	}
	copied[s.ID] = &made
	return &made, err
}

// deletedBlocks reads the fingerprints of some blocks after one.
func deletedBlocks(ctx context.Context, tx *store.Tx, team, user uuid.UUID, after deletedBlock, byID map[int64]*Series) (all []deletedBlock, err error) {
	rows, err := tx.Query(ctx, `SELECT series_id, bucket, deleted FROM sample_blocks
		WHERE team_id = $1 AND user_id = $2 AND (series_id, bucket) > ($3, $4) AND deleted IS NOT NULL
		ORDER BY series_id, bucket LIMIT $5`, team, user, after.series, after.bucket, blocksAtOnce)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var b deletedBlock
		var sealed []byte
		if err := rows.Scan(&b.series, &b.bucket, &sealed); err != nil {
			return nil, err
		}
		if byID[b.series] == nil {
			continue // newer than the list of series
		}
		b.samples = sealed
		all = append(all, b)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for i := range all {
		b := Block{Bucket: all[i].bucket, deleted: all[i].samples}
		if all[i].samples, err = b.openDeleted(ctx, tx, byID[all[i].series]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (b *deletedBlock) insert(ctx context.Context, tx *store.Tx, s *Series) error {
	packed, err := blocks.Append(nil, &blocks.Columns{})
	if err != nil {
		return err
	}
	data, err := tx.Seal(ctx, s.Team, s.User, placeOfBlock(s.ID, b.bucket), packed)
	if err != nil {
		return err
	}
	deleted, err := tx.Seal(ctx, s.Team, s.User, placeOfDeleted(s.ID, b.bucket), b.samples)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO sample_blocks (team_id, user_id, series_id, bucket, rev, n, t_min, t_max, data, changed_at, deleted)
		VALUES ($1, $2, $3, $4, 1, 0, $4, $4, $5, $6, $7)`,
		s.Team, s.User, s.ID, b.bucket, data, store.Micros(tx.Now()), deleted)
	return err
}

// RefreshStatistics sets the bounds of a provider's resource after a deletion, by its
// name in events, and has its days counted again.
func RefreshStatistics(ctx context.Context, tx *store.Tx, team, user uuid.UUID, provider, resource string) error {
	var oldest, newest *int64
	add := func(first, last int64) {
		if oldest == nil || first < *oldest {
			oldest = &first
		}
		if newest == nil || last > *newest {
			newest = &last
		}
	}
	if _, ok := wearables.DocumentNamed(resource); ok {
		err := tx.QueryRow(ctx, `SELECT MIN(start_at), MAX(start_at) FROM summaries WHERE team_id = $1 AND user_id = $2 AND resource = $3 AND provider = $4`,
			team, user, resource, provider).Scan(&oldest, &newest)
		if err != nil {
			return err
		}
	} else {
		all, err := SeriesOf(ctx, tx, team, user, resource)
		if err != nil {
			return err
		}
		for i := range all {
			if all[i].Source.Provider == provider {
				add(all[i].Oldest, all[i].Newest)
			}
		}
	}
	if _, err := tx.Exec(ctx, `UPDATE resource_statistics SET oldest = $5, newest = $6 WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND resource = $4`,
		team, user, provider, resource, oldest, newest); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE history_announced SET days = NULL WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND resource = $4`,
		team, user, provider, resource)
	return err
}
