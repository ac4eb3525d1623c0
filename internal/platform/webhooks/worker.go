package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// work posts one delivery after the other until none waits.
func (q *endpointQueue) work(c *claimedDelivery, t *target) {
	ctx := store.AsSystem(context.Background())
	signer := NewSigner(t.secrets)
	for c != nil {
		q.d.results.Add(q.send(ctx, c, t, signer))
		next, at := q.another()
		if at != nil && at != t {
			signer = NewSigner(at.secrets)
		}
		c, t = next, at
	}
}

// another takes a worker's next delivery, or ends the worker.
func (q *endpointQueue) another() (c *claimedDelivery, t *target) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.workers <= q.window {
		var wait time.Duration
		if c, t, wait = q.next(); c != nil {
			return c, t
		}
		if wait > 0 {
			q.notify() // the loop waits for the limit
		}
	}
	q.workers--
	return nil, nil
}

// adapt narrows the window of an endpoint that does not answer and widens it
// while it does, so that a dead one ties up little.
func (q *endpointQueue) adapt(o Outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case o.Code == 0:
		q.window = max(leastWindow, q.window/2)
	case o.OK() && q.window < maxInFlight:
		q.window++
		q.notify()
	}
}

// send makes one attempt and decides what becomes of the delivery.
func (q *endpointQueue) send(ctx context.Context, c *claimedDelivery, t *target, signer *Signer) result {
	if c.body == nil {
		if err := q.readBody(ctx, c); err != nil {
			q.d.cfg.Log.ErrorContext(ctx, "reading an event", "event", c.event, "error", err)
			return q.postpone(c, err)
		}
		if c.body == nil {
			return result{queue: q, delivery: c, fate: erased}
		}
	}
	r := result{queue: q, delivery: c, target: t.number, at: q.d.db.Now()}
	m := message{id: c.event.String(), seq: c.seq, body: c.body}
	timestamp, signature := signer.Sign(m.id, r.at, c.body)
	r.signature = signature
	r.outcome = post(ctx, q.transport, t, headersOf(t.header, m, timestamp, signature), c.body, q.d.db.Now)
	q.adapt(r.outcome)
	r.decide(q.d.cfg.Schedule, q.d.db.Now(), rand.Float64()) // spreads retries; it is no secret
	return r
}

func (q *endpointQueue) readBody(ctx context.Context, c *claimedDelivery) error {
	return q.d.db.Read(ctx, func(tx *store.Tx) error {
		m, err := events.Get(ctx, tx, q.team, c.event)
		c.body = m.Body
		return cmp.Or(err, m.Unreadable)
	})
}

// unreadableFor is how long after an event a body that cannot be read is tried
// again: in that time a node of a newer version, which can, may be started.
const unreadableFor = 24 * time.Hour

// postpone decides what becomes of a delivery whose body could not be read. It is
// tried again in a minute, or later the older it is. If only this body cannot be
// read, that ends after a day.
func (q *endpointQueue) postpone(c *claimedDelivery, err error) result {
	r := result{queue: q, delivery: c, fate: postponed}
	now := q.d.db.Now()
	age := now.Sub(c.created)
	if errors.Is(err, events.ErrUnreadable) && age >= unreadableFor {
		r.fate = unreadable
		return r
	}
	r.retryAt = now.Add(max(postponement, min(age, unreadableFor)/10))
	return r
}

// fate is what becomes of a delivery after an attempt.
type fate int

const (
	sent fate = iota
	retried
	failed
	postponed  // could not be attempted; tried again later
	erased     // never attempted: the user it is about is gone
	unreadable // never attempted: its body cannot be read
)

func (f fate) String() string {
	return [...]string{"sent", "retried", "failed", "postponed", "erased", "unreadable"}[f]
}

// result is an attempt to be recorded.
type result struct {
	queue     *endpointQueue
	delivery  *claimedDelivery
	fate      fate
	target    int64
	at        time.Time
	ended     time.Time
	signature string
	outcome   Outcome
	retryAt   time.Time
	exhausted *events.New // announces a failure for good
	refused   int         // how often the database refused to record it
}

func (r *result) decide(s Schedule, now time.Time, random float64) {
	r.ended = now
	if r.outcome.OK() {
		r.fate = sent
		return
	}
	if wait, ok := s.After(r.delivery.tries+1, r.outcome, random); ok {
		r.fate, r.retryAt = retried, now.Add(wait)
		return
	}
	r.fate = failed
	if r.delivery.eventType != AttemptExhausted {
		r.exhausted = r.announcement()
	}
}

// announcement tells the team that a message was given up.
//
// Reference 8.4.
func (r *result) announcement() *events.New {
	var about struct {
		User         uuid.UUID `json:"user_id"`
		ClientUserID string    `json:"client_user_id"`
	}
	_ = json.Unmarshal(r.delivery.body, &about) // our own envelope; without a user both stay empty
	data, err := json.Marshal(map[string]any{
		"user_id":     userOrNull(about.User),
		"message_id":  r.delivery.event,
		"event_type":  r.delivery.eventType,
		"endpoint_id": r.queue.id,
		"attempts":    r.delivery.attempts + 1,
		"last_attempt": map[string]any{
			"at":          r.at.UTC().Format("2006-01-02T15:04:05-07:00"),
			"status_code": codeOrNull(r.outcome.Code),
			"problem":     r.outcome.Problem,
		},
	})
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return &events.New{Team: r.queue.team, User: about.User, ClientUserID: about.ClientUserID, Type: AttemptExhausted, Data: data}
}

func userOrNull(id uuid.UUID) any {
	if id == uuid.Nil {
		return nil
	}
	return id
}

func codeOrNull(code int) any {
	if code == 0 {
		return nil
	}
	return code
}
