package store

import "sync"

// Slot keeps one value per DB. A package declares a slot at package level, and
// the code that runs in a transaction reads the value of its own database:
//
//   - The app sets a slot to register something: the followers of orders, the
//     types of events.
//   - A package that caches rows keeps the cache in a slot, so that two
//     databases in one process never share it.
type Slot[T any] struct{ initial func() T }

// NewSlot returns a slot. initial makes the value of a DB for which Set was not
// called; nil means the zero value.
func NewSlot[T any](initial func() T) *Slot[T] { return &Slot[T]{initial} }

// Set replaces the value for db. The app calls it before anything else uses db.
func (s *Slot[T]) Set(db *DB, value T) { db.slots.Store(s, &value) }

// Owner is a DB or a Tx.
type Owner interface{ slotValues() *sync.Map }

// Of returns the value of a database.
func (s *Slot[T]) Of(owner Owner) T {
	values := owner.slotValues()
	value, ok := values.Load(s)
	if !ok {
		var first T
		if s.initial != nil {
			first = s.initial()
		}
		value, _ = values.LoadOrStore(s, &first)
	}
	return *value.(*T)
}

func (db *DB) slotValues() *sync.Map { return &db.slots }
func (tx *Tx) slotValues() *sync.Map { return &tx.db.slots }
