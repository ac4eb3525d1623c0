package derive

import (
	"cmp"
	"slices"

	"hale/internal/wearables"
	"hale/internal/wearables/merged"
)

// interval is a stretch of time.
type interval = merged.Span

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

// total is a sum over several sources and who contributed to it.
type total struct {
	value   float64
	sources []wearables.Source
}

// merge adds up what several sources counted on one day without counting the
// same time twice: sources come in order of their type's priority, and of
// each interval only the share counts that no better source covers.
//
// What a person typed in stays out when it is more than ten times what any
// device counted that day: such entries are slips or goals.
func merge(all []contribution) (total, bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(c contribution) bool { return len(c.parts) == 0 })
	all = withoutSlips(all)
	if len(all) == 0 {
		return total{}, false
	}
	slices.SortStableFunc(all, func(a, b contribution) int {
		return cmp.Or(
			cmp.Compare(merged.Rank(a.source.Type), merged.Rank(b.source.Type)),
			cmp.Compare(b.total(), a.total()),
			cmp.Compare(a.source.AppID, b.source.AppID))
	})
	var m total
	var covered merged.Coverage
	for i, c := range all {
		share := 0.0
		counted := make([]interval, len(c.parts))
		for k, p := range c.parts {
			share += p.value * covered.Share(p.interval)
			counted[k] = p.interval
		}
		if share > 0 || len(m.sources) == 0 {
			m.value += share
			m.sources = append(m.sources, c.source)
		}
		covered.Add(counted, i)
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
