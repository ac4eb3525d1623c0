package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"hale/internal/platform/blocks"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
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

// mostRivals returns the largest number of samples of a batch that a later one with the
// same key replaces.
func mostRivals(all []wearables.Samples) (most int) {
	if !hasRepeatedKeys(all) {
		return 0
	}
	type key struct {
		resource, provider, sourceType string
		at                             int64
	}
	earlier := map[key]int{}
	for i := range all {
		s := &all[i]
		for _, at := range s.Time {
			k := key{s.Resource, s.Source.Provider, s.Source.Type, at}
			most = max(most, earlier[k])
			earlier[k]++
		}
	}
	return most
}

// waitForRivals waits so long that the earlier samples of a key count as stored after every
// push that was answered before. MarkWritten makes them older by a millisecond each.
func waitForRivals(ctx context.Context, all []Push) {
	most := 0
	for i := range all {
		most = max(most, mostRivals(all[i].Batch.Samples))
	}
	if most == 0 {
		return
	}
	select {
	case <-time.After(time.Duration(most+1) * time.Millisecond):
	case <-ctx.Done():
	}
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
			w.add.Written = ranks[n]
			w.versions = slices.DeleteFunc(slices.Clone(all), func(o *seriesPlan) bool { return !w.key.Replaces(o.key) })
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

// returning returns the times of unchanged samples of add that count again. A sample of
// another version has replaced them, or comes before them in the batch and is new. An
// example is an hour that was idle, then stood, and is idle again. The times are in order.
func (w *seriesPlan) returning(ctx context.Context, tx *store.Tx, old, add *blocks.Columns) (times []int64, err error) {
	all, err := storage.SeriesOf(ctx, tx, w.series.Team, w.series.User, w.series.Resource)
	i := slices.IndexFunc(all, func(s storage.Series) bool { return s.ID == w.series.ID })
	if err != nil || i < 0 {
		return nil, err
	}
	if times, err = all[i].Replaced(ctx, tx, old); err != nil {
		return nil, err
	}
	for _, o := range w.versions {
		news, err := o.newBefore(ctx, tx, w, add)
		if err != nil {
			return nil, err
		}
		times = append(times, news...)
	}
	slices.Sort(times)
	return slices.DeleteFunc(slices.Compact(times), func(at int64) bool {
		k, sent := slices.BinarySearch(add.Time, at)
		return !sent || slices.ContainsFunc(w.versions, func(o *seriesPlan) bool {
			n, found := slices.BinarySearch(o.add.Time, at)
			return found && placeAt(&o.add, n) > placeAt(add, k)
		})
	}), nil
}

// newBefore returns the times of the samples that are not stored and come before one of add,
// which are those of a later version.
func (w *seriesPlan) newBefore(ctx context.Context, tx *store.Tx, later *seriesPlan, add *blocks.Columns) (times []int64, err error) {
	series, known, err := storage.FindSeries(ctx, tx, later.series.Team, later.series.User, w.key)
	if err != nil {
		return nil, err
	}
	for k, at := range add.Time {
		n, found := slices.BinarySearch(w.add.Time, at)
		if !found || placeAt(&w.add, n) > placeAt(add, k) {
			continue
		}
		var stored, merged blocks.Columns
		var changes blocks.Changes
		if known {
			if err := series.ReadStored(ctx, tx, at, at+1, &stored); err != nil {
				return nil, err
			}
		}
		one := blocks.Pick(&w.add, []int32{int32(n)})
		if w.hasUnsure {
			keepStoredOffsets(&stored, &one)
		}
		blocks.Merge(&merged, &stored, &one, &changes)
		if changes.Unchanged == 0 {
			times = append(times, at)
		}
	}
	return times, nil
}

// rankedEvent is an event of a series, with the rank of its samples.
type rankedEvent struct {
	rank int64
	events.New
}

// inOrderOfRanks returns the events of a batch. Events of samples that others of the batch
// replace come first, so that the last event of a key has the value that reads have.
func inOrderOfRanks(all []rankedEvent) []events.New {
	slices.SortStableFunc(all, func(a, b rankedEvent) int { return cmp.Compare(a.rank, b.rank) })
	sorted := make([]events.New, len(all))
	for i := range all {
		sorted[i] = all[i].New
	}
	return sorted
}

// eachRank calls fn with the samples of c of each rank in the batch, the lowest first.
func (w *seriesPlan) eachRank(c *blocks.Columns, fn func(rank int64, c *blocks.Columns) error) error {
	if len(w.add.Written) == 0 {
		return fn(0, c)
	}
	places := map[int64][]int32{}
	for i, at := range c.Time {
		k, _ := slices.BinarySearch(w.add.Time, at)
		rank := placeAt(&w.add, k)
		places[rank] = append(places[rank], int32(i))
	}
	for _, rank := range slices.Sorted(maps.Keys(places)) {
		some := blocks.Pick(c, places[rank])
		if err := fn(rank, &some); err != nil {
			return err
		}
	}
	return nil
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
