package ingest

import (
	"hale/internal/people/users"
	"hale/internal/platform/blocks"
	"hale/internal/wearables"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// intake checks a batch and sorts it into one piece of work per series,
// summary and stream. It touches no database.
func (in *Ingester) intake(user users.User, b *wearables.Batch) *job {
	j := &job{
		in: in, whole: user, team: user.Team.UUID(), user: user.ID.UUID(), clientUserID: user.ClientUserID,
		provider: b.Provider, stage: b.Stage, announces: b.Stage != wearables.Historical || b.Push, repeated: map[string]int{}, also: b.Also,
	}
	bounds := limitsOf(in.DB.Now(), user.IngestionStart, user.IngestionEnd)
	bySeries := map[storage.SeriesKey]*seriesPlan{}
	for part := range b.Samples {
		j.takeSamples(&b.Samples[part], part, &bounds, bySeries)
	}
	for _, w := range j.series {
		var repeated int
		if w.add, repeated = blocks.Sort(w.add); repeated > 0 {
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
func (j *job) takeSamples(s *wearables.Samples, part int, bounds *limits, bySeries map[storage.SeriesKey]*seriesPlan) {
	if s.Len() == 0 && len(s.Value) == 0 {
		return
	}
	r, ok := wearables.ResourceNamed(s.Resource)
	if !ok || r.Name == resources.Hypnogram {
		j.refused.add(s.Resource, wearables.UnknownResource, s.Len(), part, 0)
		return
	}
	if !r.TakesType(s.Type) {
		j.refused.add(r.Name, wearables.UnknownType, s.Len(), part, 0)
		return
	}
	if reason := refuseExtra(r, s.Extra); reason != "" {
		j.refused.add(r.Name, reason, s.Len(), part, 0)
		return
	}
	if reason := refuseSource(&s.Source); reason != "" {
		j.refused.add(r.Name, reason, s.Len(), part, 0)
		return
	}
	c, ok := columnsOf(r, s)
	if !ok {
		j.refused.add(r.Name, wearables.ShortColumns, max(s.Len(), len(s.Value)), part, 0)
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
	cleanSource(&source)
	id := storage.KeyOfSource(source)
	id.Resource, id.Type, id.Extra = r.Name, s.Type, s.Extra
	if w := bySeries[id]; w != nil {
		w.take(&c)
		return
	}
	w := &seriesPlan{resource: r, id: id, add: c}
	bySeries[id] = w
	j.series = append(j.series, w)
	j.resources = append(j.resources, r.Event)
}

// take adds a further group of the same series. The first one is the
// caller's own memory, so it is copied before anything is added.
func (w *seriesPlan) take(c *blocks.Columns) {
	if !w.owned {
		var own blocks.Columns
		own.Append(&w.add)
		w.add, w.owned = own, true
	}
	w.add.Append(c)
}

// believable leaves out the samples that break a rule. Columns without any
// are returned as they are.
func (j *job) believable(r *wearables.Resource, c blocks.Columns, part int, bounds *limits) blocks.Columns {
	var kept []int32
	for i := range c.Time {
		reason := refuseSample(r, bounds, &c, i)
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
	return blocks.Pick(&c, kept)
}
