package jobs

import (
	"sync"
	"time"
)

// Batcher collects items from many goroutines and passes them on in groups, so that
// one commit records many results.
type Batcher[T any] struct {
	items   chan T
	done    chan struct{}
	once    sync.Once
	maxSize int
	wait    time.Duration
	flush   func([]T)
}

// NewBatcher starts a batcher. It calls flush, from one goroutine, with a group of at
// most maxSize items. It does so when the group is full or its first item has waited
// for wait. flush must not return before the items are durable.
func NewBatcher[T any](maxSize int, wait time.Duration, flush func([]T)) *Batcher[T] {
	b := &Batcher[T]{items: make(chan T, maxSize), done: make(chan struct{}), maxSize: maxSize, wait: wait, flush: flush}
	go b.run()
	return b
}

// Add adds one item. It blocks while flush is behind.
func (b *Batcher[T]) Add(item T) { b.items <- item }

// Close flushes the items that were added and stops the batcher.
func (b *Batcher[T]) Close() {
	b.once.Do(func() { close(b.items) })
	<-b.done
}

func (b *Batcher[T]) run() {
	defer close(b.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for item := range b.items {
		group := append(make([]T, 0, b.maxSize), item)
		timer.Reset(b.wait)
		b.fill(&group, timer)
		b.flush(group)
	}
}

// fill adds items to the group until it is full, the time is over, or the batcher is
// closed.
func (b *Batcher[T]) fill(group *[]T, timer *time.Timer) {
	for len(*group) < b.maxSize {
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
