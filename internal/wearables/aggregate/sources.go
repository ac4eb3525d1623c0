package aggregate

import (
	"cmp"
	"context"
	"slices"

	"hale/internal/platform/store"
	"hale/internal/wearables/merged"
)

// bestSources leaves of each group only the rows of its best source: of the
// best kind, then of the provider that the query or the team prefers. So two
// devices that counted the same steps are not added up.
//
// Reference 7.11.
func (r *Request) bestSources(ctx context.Context, tx *store.Tx, f *frame, lists [][]int32) error {
	if !r.Plan.Prioritised || len(f.origins) < 2 {
		return nil
	}
	rank, err := r.ranking(ctx, tx, f.origins)
	if err != nil {
		return err
	}
	for n, rows := range lists {
		best := slices.MinFunc(rows, func(a, b int32) int { return cmp.Compare(rank[f.origin[a]], rank[f.origin[b]]) })
		lists[n] = slices.DeleteFunc(rows, func(row int32) bool { return f.origin[row] != f.origin[best] })
	}
	return nil
}

// ranking is the place of each origin, 0 for the best.
func (r *Request) ranking(ctx context.Context, tx *store.Tx, all []origin) ([]int, error) {
	preferred := map[string]int64{}
	if dataType := r.Plan.Table.Priorities; dataType != "" {
		stated, err := merged.Priorities(ctx, tx, r.User.Team.UUID(), dataType)
		if err != nil {
			return nil, err
		}
		for _, p := range stated {
			preferred[p.Provider] = p.Priority
		}
	}
	override := func(provider string) int {
		if at := slices.Index(r.Overrides, provider); at >= 0 {
			return at
		}
		return len(r.Overrides)
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := all[i], all[j]
		return cmp.Or(
			cmp.Compare(merged.Rank(a.sourceType), merged.Rank(b.sourceType)),
			cmp.Compare(override(a.provider), override(b.provider)),
			cmp.Compare(preferred[b.provider], preferred[a.provider]),
			cmp.Compare(a.provider, b.provider),
			cmp.Compare(a.sourceType, b.sourceType),
		)
	})
	rank := make([]int, len(all))
	for place, i := range order {
		rank[i] = place
	}
	return rank, nil
}
