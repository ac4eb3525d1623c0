package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// work posts one delivery after the other until none waits.
func (q *endpointQueue) work(c *claimedDelivery, t *target) {
	ctx := store.AsSystem(context.Background())
	signer := NewSigner(t.secrets)
	for c != nil {
		q.d.results.Add(q.send(ctx, c, t, signer))
		next, at := q.nextDelivery()
		if at != nil && at != t {
			signer = NewSigner(at.secrets)
		}
		c, t = next, at
	}
}

// nextDelivery returns a worker's next delivery, or ends the worker.
func (q *endpointQueue) nextDelivery() (c *claimedDelivery, t *target) {
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

// send makes one attempt and decides what to record for the delivery.
func (q *endpointQueue) send(ctx context.Context, c *claimedDelivery, t *target, signer *Signer) result {
	if c.body == nil {
		if err := q.readBody(ctx, c); err != nil {
			q.d.cfg.Log.ErrorContext(ctx, "an event cannot be read", "event", c.event, "error", err)
			return q.postpone(c, err)
		}
		if c.body == nil {
			return result{queue: q, delivery: c, verdict: erased}
		}
	}
	body, err := t.content.of(c.body)
	if err != nil {
		q.d.cfg.Log.ErrorContext(ctx, "an event cannot be read", "event", c.event, "error", err)
		return q.postpone(c, err)
	}
	r := result{queue: q, delivery: c, target: t.number, at: q.d.db.Now()}
	m := message{id: c.event.String(), seq: c.seq, body: body}
	timestamp, signature := signer.Sign(m.id, r.at, body)
	r.signature = signature
	r.outcome = post(ctx, q.transport, t, headersOf(t.header, m, timestamp, signature), body, q.d.db.Now)
	q.adapt(r.outcome)
	r.decide(q.d.cfg.Schedule, q.d.db.Now(), rand.Float64()) //nolint:gosec // spreads retries
	return r
}

func (q *endpointQueue) readBody(ctx context.Context, c *claimedDelivery) error {
	return q.d.db.Read(ctx, func(tx *store.Tx) error {
		m, err := events.Get(ctx, tx, q.team, c.event)
		c.body = m.Body
		return cmp.Or(err, m.Unreadable)
	})
}

// unreadableFor limits the age of an event whose body is unreadable and is still
// retried. Until then a node of a newer version may be started that can read it.
const unreadableFor = 24 * time.Hour

// postpone retries a delivery whose body could not be read: in a minute, or later the
// older it is. If this body alone is unreadable, the delivery fails after a day.
func (q *endpointQueue) postpone(c *claimedDelivery, err error) result {
	r := result{queue: q, delivery: c, verdict: postponed}
	now := q.d.db.Now()
	age := now.Sub(c.created)
	if errors.Is(err, events.ErrUnreadable) && age >= unreadableFor {
		r.verdict = unreadable
		return r
	}
	r.retryAt = now.Add(max(postponement, min(age, unreadableFor)/10))
	return r
}

// verdict says what to record for a delivery.
type verdict int

const (
	sent verdict = iota
	retried
	failed
	postponed  // not attempted; retried later
	erased     // failed without an attempt: the user of the event was erased
	unreadable // failed without an attempt: the body cannot be read
)

func (v verdict) String() string {
	return [...]string{"sent", "retried", "failed", "postponed", "erased", "unreadable"}[v]
}

// result holds an attempt that is to be recorded.
type result struct {
	queue     *endpointQueue
	delivery  *claimedDelivery
	verdict   verdict
	target    int64
	at        time.Time
	ended     time.Time
	signature string
	outcome   Outcome
	retryAt   time.Time
	exhausted *events.New // announces the last failure
	refused   int         // counts how often the database refused to record it
}

func (r *result) decide(s Schedule, now time.Time, random float64) {
	r.ended = now
	if r.outcome.OK() {
		r.verdict = sent
		return
	}
	if wait, ok := s.After(r.delivery.tries+1, r.outcome, random); ok {
		r.verdict, r.retryAt = retried, now.Add(wait)
		return
	}
	r.verdict = failed
	if r.delivery.eventType != AttemptExhausted {
		r.exhausted = r.announcement()
	}
}

// announcement returns the event that says that the last attempt failed.
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
			"at":          civil.Instant(r.at),
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

// The types of events about a team's own deliveries.
const (
	AttemptExhausted = "message.attempt.exhausted"
	EndpointDisabled = "webhook.endpoint.disabled"
)

// exhaustedExample has the fields of an example about a delivery that failed.
const exhaustedExample = `"message_id":"msg_01J000000000000000000000A0","event_type":"daily.data.steps.created",` +
	`"endpoint_id":"ep_01J000000000000000000000A0","attempts":8,"last_attempt":{"at":"2026-03-02T11:36:00+00:00","status_code":503,"problem":"status"}`

// EventTypes returns the types of events that this package emits.
func EventTypes() []events.Type {
	return []events.Type{
		{
			Name: AttemptExhausted, Sentence: "The last attempt to deliver a message to an endpoint failed.",
			Example: events.ExampleOf(exhaustedExample),
			Sparse:  events.ExampleWithoutUser(`"user_id":null,` + exhaustedExample),
		},
		{
			Name: EndpointDisabled, Sentence: "A webhook endpoint was switched off because it kept failing.",
			Example: events.ExampleWithoutUser(`"endpoint_id":"ep_01J000000000000000000000A0","reason":"no success for 5 days"`),
		},
	}
}
