package wearables

import (
	"cmp"
	"container/heap"
	"slices"
	"sync"

	"hale/internal/platform/blocks"
	"hale/internal/platform/rows"
	"hale/internal/wearables/providers"
)

// The wire shapes of samples and sources, for events and for reads. Functions append
// to a buffer: a month of heart rates is 43,200 objects.
//
// Spec: Events, timeseries. Reference 7.3, 7.7.

// AppendSource appends a source object.
func AppendSource(dst []byte, s Source, logos providers.Logos) []byte {
	provider := providers.FindOrName(s.Provider) // for the deprecated fields
	kind := s.Type
	if kind == "" {
		kind = "unknown"
	}
	dst = AppendText(append(dst, `{"provider":`...), s.Provider)
	dst = AppendText(append(dst, `,"type":`...), kind)
	dst = AppendTextOrNull(append(dst, `,"app_id":`...), s.AppID)
	dst = AppendUUIDOrNull(append(dst, `,"device_id":`...), s.DeviceID)
	dst = AppendTextOrNull(append(dst, `,"sport":`...), s.Sport)
	dst = AppendUUIDOrNull(append(dst, `,"workout_id":`...), s.WorkoutID)
	dst = AppendText(append(dst, `,"name":`...), provider.Name)
	dst = AppendText(append(dst, `,"slug":`...), s.Provider)
	dst = AppendText(append(dst, `,"logo":`...), logos.URL(provider.Slug))
	return append(dst, '}')
}

// AppendAll appends the samples of several series as one JSON array.
func AppendAll(dst []byte, all []Samples) []byte { return appendAll(dst, all, keep) }

// A Spill receives the text while it grows. It may send the text and return an empty
// buffer.
type Spill func(dst []byte) []byte

func keep(dst []byte) []byte { return dst }

func appendAll(dst []byte, all []Samples, spill Spill) []byte {
	dst = append(dst, '[')
	first := true
	for i := range all {
		w := NewSampleWriter(&all[i])
		for k := range all[i].Time {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = spill(w.Append(dst, k))
		}
	}
	return append(dst, ']')
}

// SpillGroup appends the group of one source. Its series differ only in the words of
// their samples. The text need not be in memory as a whole.
//
// Reference 7.7.
func SpillGroup(dst []byte, series []Samples, logos providers.Logos, spill Spill) []byte {
	dst = AppendSource(append(dst, `{"source":`...), series[0].Source, logos)
	dst = appendAll(append(dst, `,"data":`...), series, spill)
	return append(dst, '}')
}

// SampleWriter writes samples of one series.
type SampleWriter struct {
	shape rows.Table
	rows  rows.Writer
}

func NewSampleWriter(s *Samples) *SampleWriter {
	w := &SampleWriter{shape: SampleRows(s)}
	w.rows = w.shape.Writer()
	return w
}

func (w *SampleWriter) Append(dst []byte, i int) []byte {
	dst = w.rows.Row(append(dst, w.shape.Head...), i)
	return append(dst, w.shape.Tail...)
}

// SampleRows returns the samples of one series as rows of text, without the text
// before the first and after the last one.
func SampleRows(s *Samples) (t rows.Table) {
	key := [3]string{s.Resource, s.Type, s.Extra}
	if known, ok := templates.Load(key); ok {
		t = known.(rows.Table) //nolint:forcetypeassert // only this type is stored
	} else {
		r, ok := ResourceNamed(s.Resource)
		if !ok {
			r = &Resource{}
		}
		t = r.template(s)
		if ok && !r.Pair {
			templates.Store(key, t)
		}
	}
	t.Columns = blocks.Columns{Time: s.Time, End: s.End, Offset: s.Offset, Value: s.Value, Value2: s.Value2}
	return t
}

// templates caches row templates that do not depend on the source. There are as few
// as words of resources.
var templates sync.Map

// template returns the row template of a series. Nothing may be appended to its slices
// in place.
func (r *Resource) template(s *Samples) (t rows.Table) {
	hole := func(what rows.Field, behind string) {
		t.Fields, t.Separators = append(t.Fields, what), append(t.Separators, []byte(behind))
	}
	const beforeOffset = utc + `","timezone_offset":`
	if r.Interval {
		hole(rows.Start, utc+`","start":"`)
		hole(rows.Start, utc+`","end":"`)
		hole(rows.End, beforeOffset)
	} else {
		hole(rows.Start, beforeOffset)
	}
	before := []byte(`,"type":`)
	if r.Typed {
		before = AppendText(before, s.Type)
	} else {
		before = AppendTextOrNull(before, s.Type)
	}
	before = AppendText(append(before, `,"unit":`...), r.Unit)
	if r.Pair {
		hole(rows.Offset, string(before)+`,"systolic":`)
		hole(rows.Value, `,"diastolic":`)
		hole(rows.Value2, "")
	} else {
		hole(rows.Offset, string(before)+`,"value":`)
		hole(rows.Value, "")
	}
	t.Head = []byte(`{"timestamp":"`)
	t.Tail = r.AppendExtra(t.Tail, s.Extra)
	if r.Pair {
		t.Tail = appendGrouping(append(t.Tail, `,"grouping":`...), s.Source)
	}
	t.Tail = append(t.Tail, '}')
	t.Separators[len(t.Separators)-1] = slices.Concat(t.Tail, []byte(","), t.Head)
	t.Head, t.Tail = slices.Clip(t.Head), slices.Clip(t.Tail)
	return t
}

// appendGrouping appends what distinguishes groups of samples, in this order: kind of
// source, workout, sport, device.
func appendGrouping(dst []byte, s Source) []byte {
	kind := s.Type
	if kind == "" {
		kind = "unknown"
	}
	dst = AppendUUIDOrNull(append(AppendText(append(dst, '['), kind), ','), s.WorkoutID)
	dst = AppendTextOrNull(append(dst, ','), s.Sport)
	dst = AppendUUIDOrNull(append(dst, ','), s.DeviceID)
	return append(dst, ']')
}

// AppendPlain appends the samples of all sources as one JSON array in order of time, as
// the deprecated reads have it, without the sources. Each part must be in order of
// time. Samples of one time are in the order of the parts.
//
// Reference 7.7.
func AppendPlain(dst []byte, all []Samples, spill Spill) []byte {
	var queue plainQueue
	for i := range all {
		if all[i].Len() > 0 {
			queue = append(queue, &plainPart{times: all[i].Time, place: i, writer: NewSampleWriter(&all[i])})
		}
	}
	heap.Init(&queue)
	dst = append(dst, '[')
	for first := true; len(queue) > 0; first = false {
		if !first {
			dst = append(dst, ',')
		}
		p := queue[0]
		dst = spill(p.writer.Append(dst, p.next))
		if p.next++; p.next < len(p.times) {
			heap.Fix(&queue, 0)
		} else {
			heap.Pop(&queue)
		}
	}
	return append(dst, ']')
}

// plainPart is a part with samples that are not written.
type plainPart struct {
	times  []int64
	next   int
	place  int
	writer *SampleWriter
}

// plainQueue is a heap of parts by their next sample. There is a part for each workout,
// so comparing all of them for each sample would take minutes.
type plainQueue []*plainPart

func (q plainQueue) Len() int      { return len(q) }
func (q plainQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q plainQueue) Less(i, j int) bool {
	a, b := q[i], q[j]
	return cmp.Or(cmp.Compare(a.times[a.next], b.times[b.next]), cmp.Compare(a.place, b.place)) < 0
}

// Push implements heap.Interface. All parts are known from the start.
func (q *plainQueue) Push(p any) { *q = append(*q, p.(*plainPart)) }

// Pop removes the last part.
func (q *plainQueue) Pop() any {
	last := len(*q) - 1
	p := (*q)[last]
	*q = (*q)[:last]
	return p
}
