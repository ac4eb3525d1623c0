package applehealth

import (
	"slices"
	"time"

	"hale/internal/wearables"
)

// Outcome tells what an import found and what it changed.
type Outcome struct {
	Report
	wearables.Counts
	Resources  map[string]wearables.Counts
	Rejections map[string]int // "resource: reason" to count
	Days       int            // with summaries
	ranges     map[string]wearables.Range
}

// stored adds up what a batch changed.
func (im *Import) stored(b wearables.Batch, r wearables.Result) {
	o := &im.outcome
	addCounts(&o.Counts, r.Counts)
	for resource, c := range r.Resources {
		sum := o.Resources[resource]
		addCounts(&sum, c)
		o.Resources[resource] = sum
	}
	for _, refused := range r.Rejections {
		o.Rejections[refused.Resource+": "+refused.Reason] += refused.Count
	}
	for i := range b.Samples {
		s := &b.Samples[i]
		o.extend(s.Resource, slices.Min(s.Time), slices.Max(s.Time))
		if len(s.End) > 0 {
			o.extend(s.Resource, slices.Max(s.End), slices.Max(s.End))
		}
	}
	for i := range b.Summaries {
		if s := &b.Summaries[i]; !s.Date.IsZero() {
			start := s.Date.In(time.UTC)
			o.extend(s.Resource, start.UnixMicro(), start.UnixMicro())
		}
	}
}

// extend widens the range of a resource.
func (o *Outcome) extend(resource string, from, to int64) {
	start, end := time.UnixMicro(from).UTC(), time.UnixMicro(to).UTC()
	r, ok := o.ranges[resource]
	if !ok {
		o.ranges[resource] = wearables.Range{Start: start, End: end}
		return
	}
	if start.Before(r.Start) {
		r.Start = start
	}
	if end.After(r.End) {
		r.End = end
	}
	o.ranges[resource] = r
}

func addCounts(sum *wearables.Counts, c wearables.Counts) {
	sum.Created += c.Created
	sum.Updated += c.Updated
	sum.Unchanged += c.Unchanged
	sum.Rejected += c.Rejected
}
