package events

import (
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Courier takes deliveries into hand in the transaction that writes them, so
// that nobody needs to look for them afterwards. What it did not take, and what
// it took and could not carry, waits in the database as every delivery does.
type Courier interface {
	// Room names the endpoints of the team whose new deliveries may be handed
	// over at once, and the node that carries them.
	Room(team uuid.UUID) (endpoints []uuid.UUID, node uuid.UUID)
	// Hand gives deliveries that are committed to the courier that had room.
	Hand(team uuid.UUID, all []Fresh)
}

// Fresh is a delivery that was just written.
type Fresh struct {
	Endpoint uuid.UUID
	Revision int64 // of the endpoint when it was written
	Event    ID
	Seq      int64
	Type     string
	User     uuid.UUID // zero for none
	Created  time.Time
	Body     []byte // the envelope, as it will be sent
}

var couriers struct {
	mu  sync.Mutex
	all []Courier
}

// HandTo lets a courier have new deliveries until remove is called.
func HandTo(c Courier) (remove func()) {
	couriers.mu.Lock()
	defer couriers.mu.Unlock()
	couriers.all = append(couriers.all[:len(couriers.all):len(couriers.all)], c)
	return func() {
		couriers.mu.Lock()
		defer couriers.mu.Unlock()
		couriers.all = slices.DeleteFunc(slices.Clone(couriers.all), func(other Courier) bool { return other == c })
	}
}

// handing is what a transaction will hand over once it is committed.
type handing struct {
	to        Courier
	endpoints []uuid.UUID
	node      uuid.UUID
	fresh     []Fresh
	left      bool // some deliveries are for nobody here
}

// hands finds a courier with room for the team; nil when there is none.
func hands(team uuid.UUID) *handing {
	couriers.mu.Lock()
	all := couriers.all
	couriers.mu.Unlock()
	for _, c := range all {
		if endpoints, node := c.Room(team); len(endpoints) > 0 {
			return &handing{to: c, endpoints: endpoints, node: node}
		}
	}
	return nil
}

// take notes a delivery that was written. revision is nil when the endpoint is
// off.
func (h *handing) take(endpoint uuid.UUID, revision *int64, w *written, at time.Time) {
	if revision == nil {
		return // it waits until the endpoint is on
	}
	if !slices.Contains(h.endpoints, endpoint) {
		h.left = true
		return
	}
	h.fresh = append(h.fresh, Fresh{
		Endpoint: endpoint, Revision: *revision, Event: w.id, Seq: w.seq, Type: w.Type, User: w.User, Created: at, Body: w.body,
	})
}
