package wearables

import (
	"cmp"
	"container/heap"
)

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
