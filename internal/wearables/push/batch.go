package push

import (
	"cmp"
	"math"
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
		if reason := g.unfit(r); reason != "" {
			rejects = reject(rejects, reason, g.Len(), int(g.Index[0]))
			continue
		}
		g.Resource = r.Name
		if r.Pair && g.Value2 == nil { // as where only some have the second one
			g.Value2 = slices.Repeat([]float64{math.NaN()}, g.Len())
		}
		if len(r.Types) == 0 && !r.AnyType {
			g.Type = "" // an SDK's own word; the resource has none
		}
		batch.Samples = append(batch.Samples, g.Samples)
		kept = append(kept, g)
	}
	b.Groups = kept
	return batch, rejects
}

// unfit tells why the group does not take part; empty when it does. Its values
// are in the resource's unit then.
func (g *Group) unfit(r *wearables.Resource) string {
	if !g.convert(r) {
		return wearables.UnknownUnit
	}
	if r.Kinds && g.Type == "" {
		return wearables.MissingType
	}
	return ""
}

// Rejects is what was refused of the batch, by its place in the list that was
// sent: what Batch left out and what storing found.
func (b *Body) Rejects(before []Reject, stored wearables.Result) []Reject {
	all := slices.Clone(before)
	for _, s := range stored.Rejections {
		all = reject(all, s.Reason, s.Count, int(b.Groups[s.Part].Index[s.Index]))
	}
	slices.SortFunc(all, func(a, b Reject) int { return cmp.Compare(a.First, b.First) })
	return all
}

// reject counts further samples under their reason.
func reject(all []Reject, reason string, n, first int) []Reject {
	at := slices.IndexFunc(all, func(r Reject) bool { return r.Reason == reason })
	if at < 0 {
		return append(all, Reject{reason, n, first})
	}
	all[at].Count += n
	all[at].First = min(all[at].First, first)
	return all
}
