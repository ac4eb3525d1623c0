package push

import (
	"cmp"
	"math"
	"slices"

	"hale/internal/wearables"
)

// Reject counts the samples of a batch that are not stored for one reason.
type Reject struct {
	Reason string
	Count  int
	First  int // index in the list that was sent
}

// Batch returns the batch to store, in canonical units, and the samples that it leaves
// out.
func (b *Body) Batch(r *wearables.Resource) (wearables.Batch, []Reject) {
	batch := wearables.Batch{Provider: b.Provider, Stage: b.Stage}
	rejects := slices.Clone(b.Malformed)
	kept := b.Groups[:0]
	for _, g := range b.Groups {
		if reason := g.unfit(r); reason != "" {
			rejects = reject(rejects, reason, g.Len(), int(g.Index[0]))
			continue
		}
		g.Resource = r.Name
		if r.Pair && g.Value2 == nil { // as if only some had the second value
			g.Value2 = slices.Repeat([]float64{math.NaN()}, g.Len())
		}
		if len(r.Types) == 0 && !r.AnyType {
			g.Type = "" // a word of an SDK; the resource has no types
		}
		if len(b.Groups) > 1 {
			g.Order = g.Index
		}
		batch.Samples = append(batch.Samples, g.Samples)
		kept = append(kept, g)
	}
	b.Groups = kept
	return batch, rejects
}

// unfit returns the reason to leave the group out, or the empty string. It converts the
// values to the resource's unit.
func (g *Group) unfit(r *wearables.Resource) string {
	if !g.convert(r) {
		return wearables.UnknownUnit
	}
	if r.Typed && len(r.Types) > 0 && g.Type == "" {
		return wearables.MissingType
	}
	return ""
}

// Rejects returns what was rejected, by index in the list that was sent: by Batch and by
// storing.
func (b *Body) Rejects(before []Reject, stored wearables.Result) []Reject {
	all := slices.Clone(before)
	for _, s := range stored.Rejections {
		all = reject(all, s.Reason, s.Count, int(b.Groups[s.Part].Index[s.Index]))
	}
	slices.SortFunc(all, func(a, b Reject) int { return cmp.Compare(a.First, b.First) })
	return all
}

// reject adds samples under their reason.
func reject(all []Reject, reason string, n, first int) []Reject {
	at := slices.IndexFunc(all, func(r Reject) bool { return r.Reason == reason })
	if at < 0 {
		return append(all, Reject{reason, n, first})
	}
	all[at].Count += n
	all[at].First = min(all[at].First, first)
	return all
}
