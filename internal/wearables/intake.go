package wearables

import (
	"hale/internal/people/users"
	"hale/internal/platform/blocks"
)

// intake checks a batch and sorts it into one piece of work per series,
// summary and stream. It touches no database.
func (in *Ingester) intake(user users.User, b *Batch) *job {
	j := &job{
		in: in, whole: user, team: user.Team.UUID(), user: user.ID.UUID(), clientUserID: user.ClientUserID,
		provider: b.Provider, stage: b.Stage, announces: b.Stage != Historical || b.Push, repeated: map[string]int{}, also: b.Also,
	}
	bounds := limitsOf(in.DB.Now(), user.IngestionStart, user.IngestionEnd)
	bySeries := map[identity]*seriesWrite{}
	for part := range b.Samples {
		j.takeSamples(&b.Samples[part], part, &bounds, bySeries)
	}
	for _, w := range j.series {
		var repeated int
		if w.add, repeated = inOrder(w.add); repeated > 0 {
			j.repeated[w.resource.Name] += repeated
		}
		w.fellBack = b.Marked && len(w.add.Offset) > 0
		w.fallBack(user)
	}
	j.takeSummaries(b.Summaries, &bounds)
	j.takeStreams(b.Streams)
	j.sortResources()
	return j
}

// takeSamples adds the believable samples of one group to their series.
func (j *job) takeSamples(s *Samples, part int, bounds *limits, bySeries map[identity]*seriesWrite) {
	if s.Len() == 0 && len(s.Value) == 0 {
		return
	}
	r, ok := ResourceNamed(s.Resource)
	if !ok || r.Name == hypnogram {
		j.refused.add(s.Resource, UnknownResource, s.Len(), part, 0)
		return
	}
	if !r.TakesType(s.Type) {
		j.refused.add(r.Name, UnknownType, s.Len(), part, 0)
		return
	}
	if reason := r.refusesExtra(s.Extra); reason != "" {
		j.refused.add(r.Name, reason, s.Len(), part, 0)
		return
	}
	if reason := s.Source.refused(); reason != "" {
		j.refused.add(r.Name, reason, s.Len(), part, 0)
		return
	}
	c, ok := columnsOf(r, s)
	if !ok {
		j.refused.add(r.Name, ShortColumns, max(s.Len(), len(s.Value)), part, 0)
		return
	}
	c = j.believable(r, c, part, bounds)
	if c.Len() == 0 {
		return
	}
	source := s.Source
	if source.Provider == "" {
		source.Provider = j.provider
	}
	source.tidy()
	id := identityOf(source)
	id.resource, id.sampleType, id.extra = r.Name, s.Type, s.Extra
	if w := bySeries[id]; w != nil {
		w.take(&c)
		return
	}
	w := &seriesWrite{resource: r, id: id, add: c}
	bySeries[id] = w
	j.series = append(j.series, w)
	j.resources = append(j.resources, r.Event)
}

// take adds a further group of the same series. The first one is the
// caller's own memory, so it is copied before anything is added.
func (w *seriesWrite) take(c *blocks.Columns) {
	if !w.owned {
		var own blocks.Columns
		own.Append(&w.add)
		w.add, w.owned = own, true
	}
	w.add.Append(c)
}

// believable leaves out the samples that break a rule. Columns without any
// are returned as they are.
func (j *job) believable(r *Resource, c blocks.Columns, part int, bounds *limits) blocks.Columns {
	var kept []int32
	for i := range c.Time {
		reason := r.refuses(bounds, &c, i)
		switch {
		case reason == "":
			if kept != nil {
				kept = append(kept, int32(i))
			}
			continue
		case kept == nil:
			kept = make([]int32, 0, len(c.Time))
			for k := range i {
				kept = append(kept, int32(k))
			}
		}
		j.refused.add(r.Name, reason, 1, part, i)
	}
	if kept == nil {
		return c
	}
	return pick(&c, kept)
}
