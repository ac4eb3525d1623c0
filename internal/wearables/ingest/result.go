package ingest

import (
	"slices"
	"time"

	"hale/internal/wearables"
)

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
	created = "created"
	updated = "updated"
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
			refused.add(s.Resource, wearables.Paused, s.Len(), part, 0)
		}
	}
	for part, s := range b.Summaries {
		refused.add(s.Resource, wearables.Paused, 1, part, 0)
	}
	for part := range b.Streams {
		refused.add(wearables.WorkoutStream, wearables.Paused, 1, part, 0)
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
