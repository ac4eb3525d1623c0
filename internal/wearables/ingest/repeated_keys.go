package ingest

import (
	"cmp"
	"slices"
	"time"

	"hale/internal/platform/blocks"
	"hale/internal/platform/events"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// A body may have several values of one key: of two apps, at one time. The later one in
// the body counts, as if they came in two bodies. All are stored in one moment, so the
// earlier ones are marked: see storage.MarkWritten.

// hasRepeatedKeys reports whether a batch may have several values of one key.
func hasRepeatedKeys(all []wearables.Samples) bool {
	type kind struct{ resource, provider, sourceType string }
	seen := make(map[kind]*wearables.Samples, len(all))
	for i := range all {
		s := &all[i]
		key := kind{s.Resource, s.Source.Provider, s.Source.Type}
		if seen[key] != nil {
			return true
		}
		seen[key] = s
	}
	return false
}

// orderOf returns the places of the samples of a group in the batch, from 1.
func orderOf(s *wearables.Samples, part int) []int64 {
	order := make([]int64, s.Len())
	for i := range order {
		if order[i] = int64(part) + 1; i < len(s.Order) {
			order[i] = int64(s.Order[i]) + 1
		}
	}
	return order
}

// rankRepeatedKeys replaces the places of the samples by their ranks: 0 for the last one of a
// key, otherwise minus the number of later ones.
func (j *job) rankRepeatedKeys() {
	for _, w := range j.series {
		if len(w.add.Written) > 0 {
			w.last = slices.Max(w.add.Written)
		}
	}
	rivals := map[storage.SeriesKey][]*seriesPlan{}
	for _, w := range j.series {
		key := w.key.WithoutApp()
		rivals[key] = append(rivals[key], w)
	}
	for _, all := range rivals {
		ranks := make([][]int64, len(all))
		for n, w := range all {
			ranks[n] = w.ranksAmong(all)
		}
		for n, w := range all {
			if w.add.Written = ranks[n]; len(all) == 1 {
				w.last = 0
			}
		}
	}
}

// ranksAmong returns the ranks of the samples of a series among those of others; nil if
// all are 0.
func (w *seriesPlan) ranksAmong(all []*seriesPlan) (ranks []int64) {
	for _, o := range all {
		if o == w {
			continue
		}
		for i, at := range w.add.Time {
			k, found := slices.BinarySearch(o.add.Time, at)
			if !found || placeAt(&o.add, k) < placeAt(&w.add, i) {
				continue
			}
			if ranks == nil {
				ranks = make([]int64, w.add.Len())
			}
			ranks[i]--
		}
	}
	return ranks
}

func placeAt(c *blocks.Columns, i int) int64 {
	if i < len(c.Written) {
		return c.Written[i]
	}
	return 0
}

// seriesEvents are the events of a series, with the place of its last sample in the body.
type seriesEvents struct {
	last int64
	all  []events.New
}

// mergeEvents joins the events of series in the order of their last samples, if several have
// values of one key.
func mergeEvents(each []seriesEvents) (all []events.New) {
	slices.SortStableFunc(each, func(a, b seriesEvents) int { return cmp.Compare(a.last, b.last) })
	for _, one := range each {
		all = append(all, one.all...)
	}
	return all
}

// rankNotes makes earlier notes of one key older, by a microsecond for each later one.
func (j *job) rankNotes() {
	type noteKey struct {
		provider, sourceType string
		at                   int64
	}
	later := map[noteKey]time.Duration{}
	inOrder := slices.SortedFunc(slices.Values(j.summaries), func(a, b *summaryPlan) int { return cmp.Compare(b.part, a.part) })
	for _, w := range inOrder {
		if w.Resource == wearables.NoteResource {
			key := noteKey{w.Source.Provider, w.Source.Type, w.Start.UnixMicro()}
			w.rivals = later[key]
			later[key] += time.Microsecond
		}
	}
}
