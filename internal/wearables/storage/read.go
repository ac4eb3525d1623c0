package storage

import (
	"context"
	"math"
	"sort"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/resources"
)

// ReadSeries appends the samples of a series from SeriesOf that start in [from, to),
// UTC microseconds, to dst in time order.
func ReadSeries(ctx context.Context, tx *store.Tx, s Series, from, to int64, dst *wearables.Samples) error {
	dst.Resource, dst.Type, dst.Extra, dst.Source = s.Resource, s.Type, s.Extra, s.Source
	if !s.Within(from, to) {
		return nil
	}
	c := dst.Columns()
	_, err := s.read(ctx, tx, from, to, math.MaxInt, false, &c)
	dst.SetColumns(&c)
	return err
}

// ReadWritten reads the samples of a series like ReadSeries. It also returns the time of
// storage of each sample, in a unit that grows with time.
func ReadWritten(ctx context.Context, tx *store.Tx, s Series, from, to int64) (found wearables.Samples, written []int64, err error) {
	found = wearables.Samples{Resource: s.Resource, Type: s.Type, Extra: s.Extra, Source: s.Source}
	if !s.Within(from, to) {
		return found, nil, nil
	}
	var c blocks.Columns
	_, err = s.read(ctx, tx, from, to, math.MaxInt, false, &c)
	found.SetColumns(&c)
	return found, c.Written, err
}

// read appends at most most samples that start in [from, to) to dst. more reports whether
// there are others.
func (s *Series) read(ctx context.Context, tx *store.Tx, from, to int64, most int, marked bool, dst *blocks.Columns) (more bool, err error) {
	if from >= to {
		return false, nil
	}
	begin := dst.Len()
	width := s.Width.Microseconds()
	for bucket := s.Bucket(max(from, math.MinInt64+width)); ; {
		stored, err := readBlocks(ctx, tx, s, bucket, to-1)
		if err != nil {
			return false, err
		}
		if n := total(stored); most > n {
			dst.Grow(n)
		} else {
			dst.Grow(most + 1)
		}
		for i := range stored {
			if err := s.readBlock(ctx, tx, &stored[i], from, to, marked, dst); err != nil {
				return false, err
			}
			if dst.Len()-begin > most {
				dst.Truncate(begin + most)
				return true, nil
			}
		}
		if len(stored) < blocksAtOnce {
			return false, nil
		}
		bucket = stored[len(stored)-1].Bucket + 1
	}
}

func total(all []Block) (n int) {
	for i := range all {
		n += all[i].n
	}
	return n
}

// readBlock appends the samples of one block that start in [from, to).
func (s *Series) readBlock(ctx context.Context, tx *store.Tx, b *Block, from, to int64, marked bool, dst *blocks.Columns) error {
	begin := dst.Len()
	if err := b.Open(ctx, tx, s, dst); err != nil {
		return err
	}
	if len(dst.Offset) > 0 && !marked {
		PlainOffsets(dst.Offset[begin:])
	}
	if b.Bucket+s.Width.Microseconds() > to {
		times := dst.Time[begin:]
		dst.Truncate(begin + sort.Search(len(times), func(i int) bool { return times[i] >= to }))
	}
	if b.Bucket < from {
		times := dst.Time[begin:]
		dst.Cut(begin, begin+sort.Search(len(times), func(i int) bool { return times[i] >= from }))
	}
	return s.removeReplaced(ctx, tx, begin, dst)
}

// PageSamples limits the samples in one page of a read. A page has room for 30 days with
// one sample a minute.
const PageSamples = 50_000

// Place is the end of a page: after a sample of a series. It stays valid while
// samples are added or revised.
type Place struct {
	Series int64
	Time   int64 // UTC microseconds
}

// SamplesQuery selects samples of a user.
type SamplesQuery struct {
	Resource string
	From, To int64  // start of a sample, UTC microseconds, [From, To)
	Provider string // empty means all
	After    *Place // nil begins at the beginning
	Most     int    // samples in a page; 0 means PageSamples
	// Marked keeps the mark of offsets that come from a fallback zone. Only a Batch that
	// is Marked can use them.
	Marked bool
}

// ListSamples returns one page of a user's samples, with one group for each series that
// has any. Groups of one source are adjacent. next is nil at the end. ListSamples refuses
// a place in a series that the user does not have.
//
// Reference 7.7.
func ListSamples(ctx context.Context, tx *store.Tx, team, user uuid.UUID, q SamplesQuery) (groups []wearables.Samples, next *Place, err error) {
	if q.Resource == resources.Hypnogram {
		groups, err = listHypnograms(ctx, tx, team, user, q)
		return groups, nil, err
	}
	all, err := seriesOf(ctx, tx, team, user, q.Resource, q.After != nil) // samples may be deleted between pages
	if err != nil {
		return nil, nil, err
	}
	left := q.Most
	if left == 0 {
		left = PageSamples
	}
	skipping := q.After != nil
	for _, s := range all {
		from := q.From
		if skipping {
			if s.ID != q.After.Series {
				continue
			}
			skipping, from = false, max(from, q.After.Time+1)
		}
		if q.Provider != "" && s.Source.Provider != q.Provider || !s.Within(from, q.To) {
			continue
		}
		if left == 0 {
			return groups, &Place{s.ID, from - 1}, nil
		}
		group := wearables.Samples{Resource: s.Resource, Type: s.Type, Extra: s.Extra, Source: s.Source}
		var c blocks.Columns
		more, err := s.read(ctx, tx, from, q.To, left, q.Marked, &c)
		if err != nil {
			return nil, nil, err
		}
		if c.Len() > 0 {
			left -= c.Len()
			group.SetColumns(&c)
			groups = append(groups, group)
		}
		if more {
			return groups, &Place{s.ID, c.Time[c.Len()-1]}, nil
		}
	}
	if skipping { // a series stays until its user is erased
		return nil, nil, fault.New(fault.Invalid, "Value error, this cursor belongs to another user").At("query", "next_cursor")
	}
	return groups, nil, nil
}

// Within reports whether a series from SeriesOf may have samples that start in
// [from, to), UTC microseconds.
func (s *Series) Within(from, to int64) bool { return s.Newest >= from && s.Oldest < to }

// Count returns the number of samples in the blocks that overlap [from, to), UTC
// microseconds. So it also counts samples of these blocks that start outside of the
// range.
func (s *Series) Count(ctx context.Context, tx *store.Tx, from, to int64) (n int, err error) {
	err = tx.QueryRow(ctx, `SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM sample_blocks
		WHERE team_id = $1 AND user_id = $2 AND series_id = $3 AND bucket BETWEEN $4 AND $5`,
		s.Team, s.User, s.ID, s.Bucket(from), to-1).Scan(&n)
	return n, err
}

// Fit shortens a range until count finds at most most samples in it, and returns its
// end and that count. It does not shorten a range below least.
func Fit(from, to, least int64, most int, count func(to int64) (int, error)) (end int64, n int, err error) {
	for {
		n, err = count(to)
		if err != nil || n <= most || to-from <= least {
			return to, n, err
		}
		to = from + max((to-from)/2, least)
	}
}
