package storage

import (
	"context"
	"math"
	"reflect"
	"slices"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// OffsetOrigin says how the offset of a stored sample was found.
type OffsetOrigin int8

// UnstatedOffset: there is none. StatedOffset: the sender stated it, or a zone. ByFallback: the
// user's fallback zone gave it. Whether the sender is the person's device or the
// provider follows from the provider of the series.
const (
	UnstatedOffset OffsetOrigin = iota
	StatedOffset
	ByFallback
)

// MarkFallback marks an offset as given by a fallback zone.
func MarkFallback(seconds int32) int32 { return seconds + byFallback }

// IsFallback reports whether a stored offset is marked.
func IsFallback(stored int32) bool { return stored > farthestOffset }

// byFallback is added to the seconds of an offset that a fallback gave, in blocks
// only. Offsets are within 26 hours, so they cannot be confused with the sum.
const (
	byFallback     = int32(1 << 20)
	farthestOffset = int32(1 << 19)
)

// SplitOffset splits a stored offset into its seconds and its origin.
func SplitOffset(stored int32) (seconds int32, how OffsetOrigin) {
	switch {
	case stored == wearables.NoOffset:
		return wearables.NoOffset, UnstatedOffset
	case stored > farthestOffset:
		return stored - byFallback, ByFallback
	}
	return stored, StatedOffset
}

// PlainOffsets reduces stored offsets to seconds.
func PlainOffsets(stored []int32) {
	for i, o := range stored {
		if o > farthestOffset {
			stored[i] = o - byFallback
		}
	}
}

// OffsetCount counts the samples of a source with one offset and origin.
type OffsetCount struct {
	Seconds     int32 // east of UTC, or NoOffset
	How         OffsetOrigin
	Samples     int64
	First, Last int64 // start of the first and last sample, UTC microseconds
}

// SourceOffsets holds the offsets of one source, in the order of their first sample.
type SourceOffsets struct {
	Source  wearables.Source
	Offsets []OffsetCount
}

// OffsetsOf counts the offsets of a user's samples of a resource, by origin. It uses
// the provider and range of the query, not its page.
func OffsetsOf(ctx context.Context, tx *store.Tx, team, user uuid.UUID, q SamplesQuery) (all []SourceOffsets, err error) {
	series, err := SeriesOf(ctx, tx, team, user, q.Resource)
	if err != nil {
		return nil, err
	}
	for i := range series {
		s := &series[i]
		if q.Provider != "" && s.Source.Provider != q.Provider || !s.Within(q.From, q.To) {
			continue
		}
		n := len(all)
		if n == 0 || !reflect.DeepEqual(all[n-1].Source, s.Source) { // groups of one source are neighbours
			all = append(all, SourceOffsets{Source: s.Source})
			n++
		}
		if err := s.countOffsets(ctx, tx, q.From, q.To, &all[n-1]); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(all, func(s SourceOffsets) bool { return len(s.Offsets) == 0 }), nil
}

// countOffsets adds the samples that start in [from, to), a block at a time.
func (s *Series) countOffsets(ctx context.Context, tx *store.Tx, from, to int64, into *SourceOffsets) error {
	var c blocks.Columns
	for bucket := s.Bucket(max(from, math.MinInt64+s.Width.Microseconds())); ; {
		stored, err := readBlocks(ctx, tx, s, bucket, to-1)
		if err != nil {
			return err
		}
		for i := range stored {
			c.Truncate(0)
			if err := s.readBlock(ctx, tx, &stored[i], from, to, true, &c); err != nil {
				return err
			}
			into.add(&c)
		}
		if len(stored) < blocksAtOnce {
			return nil
		}
		bucket = stored[len(stored)-1].Bucket + 1
	}
}

func (o *SourceOffsets) add(c *blocks.Columns) {
	at := -1
	for i, start := range c.Time {
		seconds, how := wearables.NoOffset, UnstatedOffset
		if len(c.Offset) > 0 {
			seconds, how = SplitOffset(c.Offset[i])
		}
		if at < 0 || o.Offsets[at].Seconds != seconds || o.Offsets[at].How != how {
			at = o.place(seconds, how, start)
		}
		one := &o.Offsets[at]
		one.Samples++
		one.First, one.Last = min(one.First, start), max(one.Last, start)
	}
}

func (o *SourceOffsets) place(seconds int32, how OffsetOrigin, start int64) int {
	at := slices.IndexFunc(o.Offsets, func(one OffsetCount) bool { return one.Seconds == seconds && one.How == how })
	if at < 0 {
		at = len(o.Offsets)
		o.Offsets = append(o.Offsets, OffsetCount{Seconds: seconds, How: how, First: start, Last: start})
	}
	return at
}
