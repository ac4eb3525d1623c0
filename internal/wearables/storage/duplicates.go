package storage

import (
	"context"
	"errors"
	"math"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/resources"
)

// A sample has one key: resource, provider, source type and timestamp. Series are
// finer, so several series may have a sample of one key.
//
// Words. An app may send a measurement without its words first and with them
// later, or a stored body is reprocessed with a newer mapping. Every read leaves
// out a sample without words if the same source has one with words, of the same
// type and time.
//
// Apps. Grouped reads have a group for each app. LatestSamples keeps one sample of
// each key.
//
// Spec: Events, timeseries events: the compound key.

// wordSeries collects the series with words that differ in nothing but those, in
// the order of SeriesOf.
type wordSeries struct {
	key  SeriesKey // without words
	with []Series
}

// add notes a series. For a series without words it returns those with words.
func (w *wordSeries) add(key SeriesKey, s Series) []Series {
	words := key.Extra
	key.Extra = ""
	if key != w.key {
		*w = wordSeries{key: key}
	}
	if words == "" {
		return w.with
	}
	w.with = append(w.with, s)
	return nil
}

// removeWordless removes from dst, after begin, the samples that a series with words
// has too.
func (s *Series) removeWordless(ctx context.Context, tx *store.Tx, begin int, dst *blocks.Columns) error {
	if len(s.withWords) == 0 || dst.Len() == begin {
		return nil
	}
	known := map[int64]bool{}
	for i := range s.withWords {
		first, last := dst.Time[begin], dst.Time[dst.Len()-1]
		if !s.withWords[i].Within(first, last+1) {
			continue
		}
		var found blocks.Columns
		if _, err := s.withWords[i].read(ctx, tx, first, last+1, math.MaxInt, true, &found, nil); err != nil {
			return err
		}
		for _, at := range found.Time {
			known[at] = true
		}
	}
	for end := dst.Len(); end > begin; end-- {
		first := end
		for first > begin && known[dst.Time[first-1]] {
			first--
		}
		if first < end {
			dst.Cut(first, end)
			end = first
		}
	}
	return nil
}

// ErrTooMany says that a read without pages has more samples than it may.
var ErrTooMany = errors.New("storage: too many samples")

// LatestSamples returns the samples of a query without pages, one of each key: of
// several it keeps the one whose block changed last. Samples of different types or
// words have different keys. With more than most samples it returns ErrTooMany.
func LatestSamples(ctx context.Context, tx *store.Tx, team, user uuid.UUID, q SamplesQuery, most int) ([]wearables.Samples, error) {
	if q.Resource == resources.Hypnogram {
		return listHypnograms(ctx, tx, team, user, q)
	}
	series, err := SeriesOf(ctx, tx, team, user, q.Resource)
	if err != nil {
		return nil, err
	}
	var groups []wearables.Samples
	keys := map[SeriesKey][]candidate{}
	for i := range series {
		s := &series[i]
		if q.Provider != "" && s.Source.Provider != q.Provider || !s.Within(q.From, q.To) {
			continue
		}
		var c blocks.Columns
		var changed []int64
		more, err := s.read(ctx, tx, q.From, q.To, most, false, &c, &changed)
		if err != nil {
			return nil, err
		}
		if more {
			return nil, ErrTooMany
		}
		if most -= c.Len(); c.Len() == 0 {
			continue
		}
		group := wearables.Samples{Resource: s.Resource, Type: s.Type, Extra: s.Extra, Source: s.Source}
		group.SetColumns(&c)
		key := SeriesKey{Resource: s.Resource, Provider: s.Source.Provider, SourceType: s.Source.Type, Type: s.Type, Extra: s.Extra}
		keys[key] = append(keys[key], candidate{len(groups), changed})
		groups = append(groups, group)
	}
	for _, all := range keys {
		keepLatest(groups, all)
	}
	return groups, nil
}

// candidate is a group of samples, with when the block of each changed.
type candidate struct {
	group   int
	changed []int64
}

// keepLatest removes from groups of one key every sample but the latest of each
// time. Of equally late ones it keeps that of the later group.
func keepLatest(groups []wearables.Samples, all []candidate) {
	if len(all) < 2 {
		return
	}
	type latest struct {
		changed int64
		group   int
	}
	kept := map[int64]latest{}
	for _, c := range all {
		for i, at := range groups[c.group].Time {
			if was, ok := kept[at]; !ok || c.changed[i] >= was.changed {
				kept[at] = latest{c.changed[i], c.group}
			}
		}
	}
	for _, c := range all {
		columns := groups[c.group].Columns()
		var own []int32
		for i, at := range columns.Time {
			if kept[at].group == c.group {
				own = append(own, int32(i))
			}
		}
		if len(own) < columns.Len() {
			columns = blocks.Pick(&columns, own)
			groups[c.group].SetColumns(&columns)
		}
	}
}
