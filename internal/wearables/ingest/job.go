package ingest

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/blocks"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// job is one batch of a user, sorted into one plan for each series, summary and
// stream.
type job struct {
	in           *Ingester
	whole        users.User
	team, user   uuid.UUID
	clientUserID string
	provider     string
	announces    bool // each value causes an event
	pushed       bool // by a phone, a hub or a form
	derived      bool // from stored values
	ends         bool // the histories of what it changes are announced
	snapshot     bool // the plan is made on committed data
	resources    []string
	stage        wearables.Stage
	received     []receipt // by resource, for statistics
	also         wearables.WithBatch
	importID     uuid.UUID // records its changes; zero for none
	readBefore   []*time.Location
	restores     bool // also what was deleted before

	exported  []string      // resources that an Apple Health export of the user has
	series    []*seriesPlan // ordered by key, so that two jobs lock in one order
	summaries []*summaryPlan
	sent      int // summaries of the batch
	deleted   []*deletedPlan
	followed  []storage.StoredSummary // derived activities of days for which the batch has pushed ones
	streams   []*streamPlan
	refused   rejections

	records, newRecords []recordPlan   // ids of samples; those that are not stored yet
	repeated            map[string]int // samples that occur twice, by resource
}

// logos returns the base URL of logos in events.
func (j *job) logos() providers.Logos { return providers.LogosOf(j.in.db) }

// newJob checks a batch and sorts it. It does not use the database.
func (in *Ingester) newJob(user users.User, b *wearables.Batch) *job {
	j := &job{
		in: in, whole: user, team: user.Team.UUID(), user: user.ID.UUID(), clientUserID: user.ClientUserID,
		provider: b.Provider, stage: b.Stage, announces: b.Stage != wearables.Historical || b.Push, repeated: map[string]int{}, also: b.Also,
		importID: b.Import, readBefore: b.ReadBefore, restores: b.Restores, pushed: b.Pushed, derived: b.Derived, ends: b.Ends,
	}
	bounds := limitsOf(in.db.Now(), user.IngestionStart, user.IngestionEnd)
	bySeries := map[storage.SeriesKey]*seriesPlan{}
	ordered := hasRivals(b.Samples)
	for part := range b.Samples {
		j.addSamples(&b.Samples[part], part, &bounds, bySeries, ordered)
	}
	for _, w := range j.series {
		var repeated int
		if w.add, repeated = blocks.Sort(w.add); repeated > 0 {
			j.repeated[w.resource.Name] += repeated
		}
		w.hasUnsure = b.Marked && len(w.add.Offset) > 0 || hasAssumed(w.add.Offset)
		w.applyFallback(user)
	}
	if ordered {
		j.rankRivals()
	}
	j.sent = len(b.Summaries)
	j.addSummaries(b.Summaries, &bounds)
	j.addStreams(b.Streams)
	slices.Sort(j.resources)
	j.resources = slices.Compact(j.resources)
	slices.SortFunc(j.series, func(a, b *seriesPlan) int { return a.key.Compare(b.key) })
	return j
}

// addSamples adds the plausible samples of one group to their series.
func (j *job) addSamples(s *wearables.Samples, part int, bounds *limits, bySeries map[storage.SeriesKey]*seriesPlan, ordered bool) {
	if s.Len() == 0 && len(s.Value) == 0 {
		return
	}
	r, ok := wearables.ResourceNamed(s.Resource)
	if !ok || r.Name == resources.Hypnogram {
		j.refused.add(s.Resource, wearables.UnknownResource, s.Len(), part, 0)
		return
	}
	kind, ok := r.TypeNamed(s.Type)
	if !ok {
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
	if ordered {
		c.Written = orderOf(s, part)
	}
	c = j.plausible(r, c, part, bounds)
	if c.Len() == 0 {
		return
	}
	source := s.Source
	if source.Provider == "" {
		source.Provider = j.provider
	}
	cleanSource(&source)
	key := storage.KeyOfSource(source)
	key.Resource, key.Type, key.Extra = r.Name, kind, s.Extra
	j.addRecords(key, s, c.Time)
	if w := bySeries[key]; w != nil {
		w.append(&c)
		return
	}
	w := &seriesPlan{resource: r, key: key, add: c}
	bySeries[key] = w
	j.series = append(j.series, w)
	j.resources = append(j.resources, r.Event)
}

// append adds another group of the same series. The first group is the caller's
// memory, so it is copied before anything is added.
func (w *seriesPlan) append(c *blocks.Columns) {
	if !w.owned {
		var own blocks.Columns
		own.Append(&w.add)
		w.add, w.owned = own, true
	}
	w.add.Append(c)
}

// plausible returns the samples that break no rule. It returns c itself if all
// do.
func (j *job) plausible(r *wearables.Resource, c blocks.Columns, part int, bounds *limits) blocks.Columns {
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
