package wearables

import (
	"slices"
	"time"
)

// result is what became of the batch, once its plan is stored.
func (j *job) result() Result {
	r := Result{Resources: map[string]Counts{}, Ranges: map[string]Range{}}
	count := func(resource string, c Counts) {
		sum := r.Resources[resource]
		sum.add(c)
		r.Resources[resource] = sum
		r.Counts.add(c)
	}
	extend := func(resource string, by Range) { r.Ranges[resource] = r.Ranges[resource].Join(by) }
	for _, w := range j.series {
		count(w.resource.Name, w.counts)
		extend(w.resource.Name, w.span())
	}
	for resource, n := range j.repeated {
		count(resource, Counts{Unchanged: n})
	}
	for _, w := range j.summaries {
		if w.tooLarge {
			continue
		}
		count(w.Resource, countOf(w.verb))
		extend(w.Resource, w.span(j.in.DB.Now()))
	}
	for _, w := range j.streams {
		if w.orphan {
			continue
		}
		count(WorkoutStream, countOf(w.verb))
		extend(WorkoutStream, w.span)
	}
	r.Rejections = j.refusals()
	for _, refused := range r.Rejections {
		count(refused.Resource, Counts{Rejected: refused.Count})
	}
	return r
}

// refusals is what intake left out and what the plan refuses.
func (j *job) refusals() []Rejection {
	all := refusals{slices.Clone(j.refused.list)}
	for _, w := range j.summaries {
		if w.tooLarge {
			all.add(w.Resource, TooLarge, 1, w.part, 0)
		}
	}
	for _, w := range j.streams {
		if w.orphan {
			all.add(WorkoutStream, NoWorkout, 1, w.part, 0)
		}
	}
	return all.list
}

// span is the time of the samples that are accepted, to the end of the last.
func (w *seriesWrite) span() Range {
	first, last := w.add.Time[0], w.add.Time[len(w.add.Time)-1]
	if len(w.add.End) > 0 {
		last = max(last, slices.Max(w.add.End))
	}
	return rangeOf(first, last)
}

// span is the day of the summary, and now for what has none, such as a profile.
func (w *summaryWrite) span(now time.Time) Range {
	if w.Date.IsZero() {
		return Range{now, now}
	}
	day := w.Date.In(time.UTC)
	return Range{day, day}
}

// span is the time of a stream that has passed its check.
func (s *Stream) span() Range { return rangeOf(s.Time[0], s.Time[len(s.Time)-1]) }

func rangeOf(from, to int64) Range {
	return Range{time.UnixMicro(from).UTC(), time.UnixMicro(to).UTC()}
}

func countOf(verb string) Counts {
	switch verb {
	case created:
		return Counts{Created: 1}
	case updated:
		return Counts{Updated: 1}
	}
	return Counts{Unchanged: 1}
}

// The last word of an event type.
const (
	created = "created"
	updated = "updated"
)

// refusals counts what is not stored, by resource and reason.
type refusals struct{ list []Rejection }

func (r *refusals) add(resource, reason string, n, part, index int) {
	for i := range r.list {
		if at := &r.list[i]; at.Resource == resource && at.Reason == reason {
			at.Count += n
			return
		}
	}
	r.list = append(r.list, Rejection{resource, reason, n, part, index})
}
