package storage

import (
	"context"
	"math"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
)

// A measurement may come without its words first and with them later, when an
// app has learned to say them, or when a body that was kept is read again by
// those who have. Those are two series. To the outside the later one takes the
// place of the earlier, so reading leaves out a sample without words where the
// same source has one with words of the same type and time.
//
// Spec: Events, timeseries events: the compound key.

// likeness gathers the series with words that are alike in everything else, on
// a walk in the order of SeriesOf.
type likeness struct {
	of   SeriesKey // without words
	with []Series
}

// fullerThan notes a series and tells which ones it leaves samples to.
func (l *likeness) fullerThan(id SeriesKey, s Series) []Series {
	words := id.Extra
	id.Extra = ""
	if id != l.of {
		*l = likeness{of: id}
	}
	if words == "" {
		return l.with
	}
	l.with = append(l.with, s)
	return nil
}

// leave takes from dst, behind begin, what series with words say as well.
func (s *Series) leave(ctx context.Context, tx *store.Tx, begin int, dst *blocks.Columns) error {
	if len(s.fuller) == 0 || dst.Len() == begin {
		return nil
	}
	said := map[int64]bool{}
	for i := range s.fuller {
		first, last := dst.Time[begin], dst.Time[dst.Len()-1]
		if !s.fuller[i].Within(first, last+1) {
			continue
		}
		var found blocks.Columns
		if _, err := s.fuller[i].read(ctx, tx, first, last+1, math.MaxInt, true, &found); err != nil {
			return err
		}
		for _, at := range found.Time {
			said[at] = true
		}
	}
	for end := dst.Len(); end > begin; end-- {
		first := end
		for first > begin && said[dst.Time[first-1]] {
			first--
		}
		if first < end {
			dst.Cut(first, end)
			end = first
		}
	}
	return nil
}
