package store

import (
	"slices"
	"sync"

	"github.com/google/uuid"
)

// Topic names a kind of change that this process waits for.
type Topic string

// notifier calls the listeners of a database after commits. The zero value is
// ready for use.
type notifier struct {
	mu        sync.RWMutex
	listeners map[Topic][]*func(id uuid.UUID)
}

// notice is a call that a transaction owes to the listeners of a topic.
type notice struct {
	topic Topic
	id    uuid.UUID
}

// OnCommit calls fn after each commit of a transaction that called [Tx.Notify]
// with the topic, until stop is called. fn runs on the goroutine that committed:
// it must not block and must not use the database. A commit of another process
// calls nothing, so a listener also polls.
func (db *DB) OnCommit(topic Topic, fn func(id uuid.UUID)) (stop func()) {
	n, own := &db.notifier, &fn
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners == nil {
		n.listeners = map[Topic][]*func(uuid.UUID){}
	}
	n.listeners[topic] = append(slices.Clip(n.listeners[topic]), own)
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		others := slices.Clone(n.listeners[topic])
		n.listeners[topic] = slices.DeleteFunc(others, func(l *func(uuid.UUID)) bool { return l == own })
	}
}

// Notify calls the listeners of topic once the transaction is durable, and never
// otherwise. id says which thing changed, such as a team. Listeners get one call
// for each topic and id of a transaction.
func (tx *Tx) Notify(topic Topic, id uuid.UUID) {
	if tx.notices == nil {
		tx.notices = map[notice]struct{}{}
	}
	tx.notices[notice{topic, id}] = struct{}{}
}

// publish calls the listeners.
func (n *notifier) publish(notices map[notice]struct{}) {
	for notice := range notices {
		n.mu.RLock()
		listeners := n.listeners[notice.topic]
		n.mu.RUnlock()
		for _, fn := range listeners {
			(*fn)(notice.id)
		}
	}
}
