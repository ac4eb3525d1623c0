package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/blocks"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
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
	announces    bool              // each value causes an event
	batched      bool              // stored with other pushes
	confirmed    storage.TimeRange // in a push batch: when its unchanged samples were stored
	pushed       bool              // by a phone, a hub or a form
	imported     bool              // from a file
	derived      bool              // from stored values
	ends         bool              // the histories of what it changes are announced
	snapshot     bool              // the plan is made on committed data
	resources    []string
	stage        wearables.Stage
	planned      int64     // UTC milliseconds; 0 for an import, whose undo finds samples by the time of the transaction
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
		importID: b.Import, readBefore: b.ReadBefore, restores: b.Restores, pushed: b.Pushed, imported: b.Imported, derived: b.Derived, ends: b.Ends,
	}
	bounds := limitsOf(in.db.Now(), user.IngestionStart, user.IngestionEnd)
	bySeries := map[storage.SeriesKey]*seriesPlan{}
	ordered := hasRepeatedKeys(b.Samples)
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
		j.rankRepeatedKeys()
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

// A body may have several versions of one session without an id. It must not matter how
// versions are divided into bodies. So a later version waits, as if it came in a body of
// its own. It is planned when the earlier ones are stored, in the same transaction.

// waits reports whether summaries of the batch wait.
func (j *job) waits() bool { return slices.ContainsFunc(j.summaries, (*summaryPlan).isWaiting) }

// isWaiting reports whether the plan waits. A record that the batch also deletes does not.
func (w *summaryPlan) isWaiting() bool { return w.waits && !w.yields }

// batchOfWaiting returns a job of the summaries that wait, with the streams, which follow
// all workouts; nil without any.
func (j *job) batchOfWaiting() *job {
	if !j.waits() {
		return nil
	}
	next := *j
	next.series, next.deleted, next.records, next.repeated, next.refused, next.received = nil, nil, nil, nil, rejections{}, nil
	next.snapshot = false
	next.summaries = slices.DeleteFunc(slices.Clone(j.summaries), func(w *summaryPlan) bool { return !w.isWaiting() })
	return &next
}

// ownStreams returns the streams that the job plans: none if workouts wait.
func (j *job) ownStreams() []*streamPlan {
	if j.waits() {
		return nil
	}
	return j.streams
}

// store writes the plan, then plans and writes the summaries that wait. Afterwards the
// plans have the outcome of all.
func (j *job) store(ctx context.Context, tx *store.Tx) error {
	if !j.waits() {
		return j.commit(ctx, tx)
	}
	first := *j
	first.also, first.ends = nil, false
	for next := &first; ; {
		if err := next.commit(ctx, tx); err != nil {
			return err
		}
		if next = next.batchOfWaiting(); next == nil {
			break
		}
		if err := next.plan(ctx, tx); err != nil {
			return err
		}
	}
	if err := j.runAlso(ctx, tx); err != nil {
		return err
	}
	j.noteReceived()
	ended, err := j.endHistories(ctx, tx)
	if err != nil {
		return err
	}
	_, err = events.EmitMany(ctx, tx, ended)
	return err
}

// result returns the outcome of the batch, once its plan is stored.
func (j *job) result() wearables.Result {
	r := wearables.Result{Resources: map[string]wearables.Counts{}, Ranges: map[string]wearables.Range{}}
	count := func(resource string, c wearables.Counts) {
		sum := r.Resources[resource]
		sum.Add(c)
		r.Resources[resource] = sum
		r.Counts.Add(c)
	}
	extend := func(resource string, by wearables.Range) { r.Ranges[resource] = r.Ranges[resource].Join(by) }
	for _, w := range j.series {
		count(w.resource.Name, w.counts)
		extend(w.resource.Name, w.span())
	}
	for resource, n := range j.repeated {
		count(resource, wearables.Counts{Unchanged: n})
	}
	for _, w := range j.summaries {
		if w.tooLarge {
			continue
		}
		count(w.Resource, countOf(w.verb))
		extend(w.Resource, w.span(j.in.db.Now()))
	}
	for _, d := range j.deleted {
		count(d.Resource, countOf(d.verb()))
	}
	for _, w := range j.streams {
		if w.orphan {
			continue
		}
		count(wearables.WorkoutStream, countOf(w.verb))
		extend(wearables.WorkoutStream, w.span)
	}
	r.Rejections = j.rejections()
	for _, refused := range r.Rejections {
		count(refused.Resource, wearables.Counts{Rejected: refused.Count})
	}
	return r
}

// rejections lists what newJob left out and what the plan refuses.
func (j *job) rejections() []wearables.Rejection {
	all := rejections{slices.Clone(j.refused.list)}
	for _, w := range j.summaries {
		if w.tooLarge {
			all.add(w.Resource, wearables.TooLarge, 1, w.part, 0)
		}
	}
	for _, w := range j.streams {
		if w.orphan {
			all.add(wearables.WorkoutStream, wearables.NoWorkout, 1, w.part, 0)
		}
	}
	return all.list
}

// span returns the time of the accepted samples, to the end of the last one.
func (w *seriesPlan) span() wearables.Range {
	first, last := w.add.Time[0], w.add.Time[len(w.add.Time)-1]
	if len(w.add.End) > 0 {
		last = max(last, slices.Max(w.add.End))
	}
	return rangeOf(first, last)
}

// span returns the day of the summary; now if it has none, such as a profile.
func (w *summaryPlan) span(now time.Time) wearables.Range {
	if w.Date.IsZero() {
		return wearables.Range{Start: now, End: now}
	}
	day := w.Date.In(time.UTC)
	return wearables.Range{Start: day, End: day}
}

func rangeOf(from, to int64) wearables.Range {
	return wearables.Range{Start: time.UnixMicro(from).UTC(), End: time.UnixMicro(to).UTC()}
}

func countOf(verb string) wearables.Counts {
	switch verb {
	case created:
		return wearables.Counts{Created: 1}
	case updated:
		return wearables.Counts{Updated: 1}
	}
	return wearables.Counts{Unchanged: 1}
}

// The last word of an event type.
const (
	created = resources.Created
	updated = resources.Updated
)

// rejections counts values that are not stored, by resource and reason.
type rejections struct{ list []wearables.Rejection }

func (r *rejections) add(resource, reason string, n, part, index int) {
	for i := range r.list {
		if at := &r.list[i]; at.Resource == resource && at.Reason == reason {
			at.Count += n
			return
		}
	}
	r.list = append(r.list, wearables.Rejection{Resource: resource, Reason: reason, Count: n, Part: part, Index: index})
}

// pausedResult returns the result of a batch that is refused as a whole.
func pausedResult(b *wearables.Batch) wearables.Result {
	var refused rejections
	for part := range b.Samples {
		if s := &b.Samples[part]; s.Len() > 0 {
			refused.add(s.Resource, wearables.ReasonPaused, s.Len(), part, 0)
		}
	}
	for part, s := range b.Summaries {
		refused.add(s.Resource, wearables.ReasonPaused, 1, part, 0)
	}
	for part := range b.Streams {
		refused.add(wearables.WorkoutStream, wearables.ReasonPaused, 1, part, 0)
	}
	r := wearables.Result{Resources: map[string]wearables.Counts{}, Rejections: refused.list, Paused: true}
	for _, one := range refused.list {
		n := wearables.Counts{Rejected: one.Count}
		sum := r.Resources[one.Resource]
		sum.Add(n)
		r.Resources[one.Resource] = sum
		r.Counts.Add(n)
	}
	return r
}
