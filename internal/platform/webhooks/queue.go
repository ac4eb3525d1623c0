package webhooks

// queue is a first-in, first-out list.
type queue struct {
	items []*parcel
	head  int
}

func (q *queue) len() int { return len(q.items) - q.head }

func (q *queue) push(p *parcel) {
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	q.items = append(q.items, p)
}

func (q *queue) pop() *parcel {
	if q.len() == 0 {
		return nil
	}
	p := q.items[q.head]
	q.items[q.head] = nil
	q.head++
	return p
}
