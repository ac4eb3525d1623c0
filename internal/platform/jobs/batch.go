package jobs

import (
	"sync"
	"time"
)

// Batcher collects items from many goroutines and hands them over in groups,
// so that one commit records many results.
type Batcher[T any] struct {
	items chan T
	done  chan struct{}
	once  sync.Once
	most  int
	wait  time.Duration
	flush func([]T)
}

// NewBatcher starts a batcher. flush gets at most most items at a time, from
// one goroutine; a group is handed over when it is full or the first of it has
// waited for wait. flush must not return before the items are safe.
func NewBatcher[T any](most int, wait time.Duration, flush func([]T)) *Batcher[T] {
	b := &Batcher[T]{items: make(chan T, most), done: make(chan struct{}), most: most, wait: wait, flush: flush}
	go b.run()
	return b
}

// Add hands in one item. It blocks while flushing does not keep up.
func (b *Batcher[T]) Add(item T) { b.items <- item }

// Close flushes what was added before and ends the batcher.
func (b *Batcher[T]) Close() {
	b.once.Do(func() { close(b.items) })
	<-b.done
}

func (b *Batcher[T]) run() {
	defer close(b.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for item := range b.items {
		group := append(make([]T, 0, b.most), item)
		timer.Reset(b.wait)
		b.fill(&group, timer)
		b.flush(group)
	}
}

// fill adds to the group until it is full, the time is over or no more items
// can come.
func (b *Batcher[T]) fill(group *[]T, timer *time.Timer) {
	for len(*group) < b.most {
		select {
		case item, open := <-b.items:
			if !open {
				return
			}
			*group = append(*group, item)
		case <-timer.C:
			return
		}
	}
}
