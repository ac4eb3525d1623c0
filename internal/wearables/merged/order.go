package merged

import (
	"cmp"
	"slices"

	"hale/internal/wearables/storage"
)

// typeOrder is the fixed order of source types, best first. Types that are not
// listed come last.
//
// Reference 7.11.
var typeOrder = []string{
	"lab", "automatic", "watch", "ring", "chest_strap", "scale", "cuff", "fingerprick",
	"manual_scan", "phone", "app", "multiple_sources", "unknown",
}

var typeRanks = func() map[string]int {
	ranks := map[string]int{}
	for i, word := range typeOrder {
		ranks[word] = i
	}
	return ranks
}()

// Rank is the place of a source type in the order; the least is the best.
func Rank(sourceType string) int {
	if r, ok := typeRanks[sourceType]; ok {
		return r
	}
	return len(typeOrder)
}

// inOrder sorts series by their sources, best first: by the team's priority of
// the provider, then by the type of source. The rest only keeps the order the
// same whenever it is asked for, and what is alike but for its words together:
// there the order is that of wearables.SeriesOf.
func inOrder(all []storage.Series, priorities map[string]int64) {
	slices.SortStableFunc(all, func(a, b storage.Series) int {
		return cmp.Or(
			cmp.Compare(priorities[b.Source.Provider], priorities[a.Source.Provider]),
			cmp.Compare(Rank(a.Source.Type), Rank(b.Source.Type)),
			cmp.Compare(a.Source.Provider, b.Source.Provider),
			cmp.Compare(a.Source.AppID, b.Source.AppID),
			cmp.Compare(a.Type, b.Type),
		)
	})
}
