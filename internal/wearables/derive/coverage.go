package derive

import (
	"cmp"
	"slices"
	"sort"

	"hale/internal/wearables"
)

// interval is a stretch of time, half-open, in UTC microseconds.
type interval struct{ start, end int64 }

// part is an amount of something that was counted during an interval.
type part struct {
	interval
	value float64
}

// contribution is what one source counted on one day.
type contribution struct {
	source wearables.Source
	parts  []part
}

func (c *contribution) total() float64 {
	sum := 0.0
	for _, p := range c.parts {
		sum += p.value
	}
	return sum
}

// priority is the fixed order of source types, best first. Types that are not
// listed come last.
//
// Reference 7.11.
var priority = func() map[string]int {
	order := map[string]int{}
	for i, word := range []string{
		"lab", "automatic", "watch", "ring", "chest_strap", "scale", "cuff", "fingerprick",
		"manual_scan", "phone", "app", "multiple_sources", "unknown",
	} {
		order[word] = i
	}
	return order
}()

func rank(sourceType string) int {
	if r, ok := priority[sourceType]; ok {
		return r
	}
	return len(priority)
}

// merged is a sum over several sources and who contributed to it.
type merged struct {
	value   float64
	sources []wearables.Source
}

// merge adds up what several sources counted on one day without counting the
// same time twice: sources come in order of their type's priority, and of
// each interval only the share counts that no better source covers.
//
// What a person typed in stays out when it is more than ten times what any
// device counted that day: such entries are slips or goals.
func merge(all []contribution) (merged, bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(c contribution) bool { return len(c.parts) == 0 })
	all = withoutSlips(all)
	if len(all) == 0 {
		return merged{}, false
	}
	slices.SortStableFunc(all, func(a, b contribution) int {
		return cmp.Or(
			cmp.Compare(rank(a.source.Type), rank(b.source.Type)),
			cmp.Compare(b.total(), a.total()),
			cmp.Compare(a.source.AppID, b.source.AppID))
	})
	var m merged
	var covered []interval
	for _, c := range all {
		share := 0.0
		for _, p := range c.parts {
			share += p.value * uncovered(p.interval, covered)
		}
		if share > 0 || len(m.sources) == 0 {
			m.value += share
			m.sources = append(m.sources, c.source)
		}
		covered = union(covered, c.parts)
	}
	return m, true
}

// slipFactor is how many times the devices' count a typed entry may be.
const slipFactor = 10

func withoutSlips(all []contribution) []contribution {
	device := 0.0
	for _, c := range all {
		if c.source.Type != "app" {
			device = max(device, c.total())
		}
	}
	return slices.DeleteFunc(all, func(c contribution) bool {
		return c.source.Type == "app" && device > 0 && c.total() > slipFactor*device
	})
}

// uncovered is the share of an interval that lies outside the covered ones,
// 0 to 1. A moment without length is in or out as a whole.
func uncovered(v interval, covered []interval) float64 {
	i := sort.Search(len(covered), func(i int) bool { return covered[i].end > v.start })
	if v.end <= v.start {
		if i < len(covered) && covered[i].start <= v.start {
			return 0
		}
		return 1
	}
	free := v.end - v.start
	for ; i < len(covered) && covered[i].start < v.end; i++ {
		free -= min(v.end, covered[i].end) - max(v.start, covered[i].start)
	}
	return float64(free) / float64(v.end-v.start)
}

// union adds intervals to a list that is sorted and without overlap.
func union(covered []interval, parts []part) []interval {
	all := slices.Clone(covered)
	for _, p := range parts {
		if p.end > p.start {
			all = append(all, p.interval)
		}
	}
	return joined(all, 0)
}

// joined sorts intervals and joins those with at most gap between them.
func joined(all []interval, gap int64) []interval {
	slices.SortFunc(all, func(a, b interval) int { return cmp.Compare(a.start, b.start) })
	out := all[:0]
	for _, v := range all {
		if n := len(out); n > 0 && v.start-out[n-1].end <= gap {
			out[n-1].end = max(out[n-1].end, v.end)
			continue
		}
		out = append(out, v)
	}
	return out
}
