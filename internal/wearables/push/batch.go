package push

import (
	"cmp"
	"slices"

	"hale/internal/wearables"
)

// Reject is a reason for which samples of a batch were not stored.
type Reject struct {
	Reason string
	Count  int
	First  int // place in the list that was sent
}

// Batch makes the batch to be stored, in canonical units, and tells what does
// not take part in it.
func (b *Body) Batch(r *wearables.Resource) (wearables.Batch, []Reject) {
	batch := wearables.Batch{Provider: b.Provider, Stage: b.Stage}
	var rejects []Reject
	kept := b.Groups[:0]
	for _, g := range b.Groups {
		if !g.convert(r) {
			rejects = append(rejects, Reject{wearables.UnknownUnit, g.Len(), int(g.Index[0])})
			continue
		}
		g.Resource = r.Name
		if len(r.Types) == 0 && !r.AnyType {
			g.Type = "" // an SDK's own word; the resource has none
		}
		batch.Samples = append(batch.Samples, g.Samples)
		kept = append(kept, g)
	}
	b.Groups = kept
	return batch, rejects
}

// Rejects is what was refused of the batch, by its place in the list that was
// sent: what Batch left out and what storing found.
func (b *Body) Rejects(before []Reject, stored wearables.Result) []Reject {
	all := slices.Clone(before)
	for _, s := range stored.Rejections {
		first := int(b.Groups[s.Part].Index[s.Index])
		at := slices.IndexFunc(all, func(r Reject) bool { return r.Reason == s.Reason })
		if at < 0 {
			all = append(all, Reject{s.Reason, s.Count, first})
			continue
		}
		all[at].Count += s.Count
		all[at].First = min(all[at].First, first)
	}
	slices.SortFunc(all, func(a, b Reject) int { return cmp.Compare(a.First, b.First) })
	return all
}
