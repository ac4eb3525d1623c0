package storage

import (
	"context"
	"math"
	"sort"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
)

// An Apple Health export has the samples that the phone may have pushed already, under
// other app ids and in whole seconds. Every read leaves out a sample of the export that
// the phone has pushed, so the order of import and push does not matter:
//
//   - a pushed sample of the same source type and value starts in the same second;
//   - of a phone or a watch, a pushed sample of that type starts in the same second, or is
//     an interval of at most an hour that has the middle of the export's one: phones push
//     sums of some minutes, and exports have the single records.

// longestSum is the longest pushed interval that replaces samples of an export.
const longestSum = 3600 * secondUS

// linkTransports links series of exports with what phones pushed.
func linkTransports(all []Series) {
	var pushed map[SeriesKey][]int
	for i := range all {
		if !all[i].Source.IsAppleExport() {
			continue
		}
		if pushed == nil {
			pushed = pushedSeries(all)
		}
		for _, k := range pushed[all[i].keyWithoutApp()] {
			all[i].linkPushed(&all[k], false)
		}
	}
}

// linkPushed links a series of an export with a pushed one.
func (s *Series) linkPushed(pushed *Series, sameKey bool) {
	other := *pushed
	other.twins = nil
	s.twins = append(s.twins, twin{Series: other, preferred: true, pushed: true, sameKey: sameKey})
}

func pushedSeries(all []Series) map[SeriesKey][]int {
	pushed := map[SeriesKey][]int{}
	for i := range all {
		if !all[i].Source.IsAppleExport() {
			key := all[i].keyWithoutApp()
			pushed[key] = append(pushed[key], i)
		}
	}
	return pushed
}

// keyWithoutApp is the key without what an export names differently.
func (s *Series) keyWithoutApp() SeriesKey {
	key := s.keyWithoutWords()
	key.AppID, key.Device = "", SeriesKey{}.Device
	return key
}

// removePushed removes from dst, after begin, the samples of an export that the phone has
// pushed.
func (s *Series) removePushed(ctx context.Context, tx *store.Tx, t *twin, begin int, dst *blocks.Columns) error {
	if dst.Len() == begin {
		return nil
	}
	from, to := dst.Time[begin]-longestSum, dst.Time[dst.Len()-1]+longestSum
	if !t.Within(from, to) {
		return nil
	}
	var found blocks.Columns
	if _, err := t.read(ctx, tx, from, to, math.MaxInt, true, &found); err != nil {
		return err
	}
	p := newPushedSamples(&found, s.Source.IsOtherTransport(&t.Source))
	p.sameKey = t.sameKey
	for end := dst.Len(); end > begin; end-- {
		first := end
		for first > begin && p.has(dst, first-1) {
			first--
		}
		if first < end {
			dst.Cut(first, end)
			end = first + 1
		}
	}
	return nil
}

// pushedSamples holds samples of a phone, in order of time.
type pushedSamples struct {
	*blocks.Columns
	sameDevice bool
	sameKey    bool
	until      []int64 // the latest end of the sums up to each sample
}

func newPushedSamples(c *blocks.Columns, sameDevice bool) pushedSamples {
	p := pushedSamples{Columns: c, sameDevice: sameDevice}
	if !sameDevice || len(c.End) == 0 {
		return p
	}
	latest := int64(math.MinInt64)
	for i, end := range c.End {
		if end-c.Time[i] <= longestSum {
			latest = max(latest, end)
		}
		p.until = append(p.until, latest)
	}
	return p
}

// has reports whether sample i of an export is among the pushed ones.
func (p *pushedSamples) has(c *blocks.Columns, i int) bool {
	second := floorDiv(c.Time[i], secondUS) * secondUS
	at := sort.Search(len(p.Time), func(k int) bool { return p.Time[k] >= second })
	for k := at; k < len(p.Time) && p.Time[k] < second+secondUS; k++ {
		if p.sameDevice || p.Value[k] == c.Value[i] || p.sameKey && p.Time[k] == c.Time[i] {
			return true
		}
	}
	if p.until == nil || len(c.End) == 0 {
		return false
	}
	middle := c.Time[i] + (c.End[i]-c.Time[i])/2
	last := sort.Search(len(p.Time), func(k int) bool { return p.Time[k] > middle }) - 1
	return last >= 0 && p.until[last] > middle
}
