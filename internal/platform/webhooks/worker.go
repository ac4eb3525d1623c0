package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// staff starts as many workers as there is work for that nobody is about to
// take: those that are posting may be at it for long. l.mu is held.
func (l *line) staff() {
	waiting := 0
	for lane := range l.queues {
		waiting += l.queues[lane].len()
	}
	for l.workers < l.window && l.workers-l.posting < waiting && !l.closed {
		l.workers++
		l.d.posts.Go(l.work)
	}
}

// work posts one parcel after the other until there are none.
func (l *line) work() {
	ctx := store.AsSystem(context.Background())
	var signer *Signer
	var signing *target
	defer func() { signing.giveBack(signer) }()
	for {
		if !l.pay() {
			return
		}
		p, t := l.next()
		if p == nil {
			return
		}
		if t != signing {
			signing.giveBack(signer)
			signer, signing = t.signer(), t
		}
		r := l.send(ctx, p, t, signer)
		l.mu.Lock()
		l.posting--
		l.mu.Unlock()
		l.d.results.Add(r)
	}
}

// pay waits until the endpoint's rate allows one more post. It is false, and
// the worker gone, when the line is closed, nothing waits to be posted, or there
// are more workers than the window has room for, which would pay for nothing.
func (l *line) pay() bool {
	l.mu.Lock()
	limited := l.bucket.rate > 0
	l.mu.Unlock()
	if !limited {
		return true
	}
	select {
	case l.pace <- struct{}{}:
	case <-l.d.halt:
		l.leave()
		return false
	}
	defer func() { <-l.pace }()
	for {
		l.mu.Lock()
		if l.closed || l.workers > l.window || l.empty() {
			l.workers--
			l.mu.Unlock()
			return false
		}
		wait := l.bucket.take(l.d.db.Now())
		l.mu.Unlock()
		if wait == 0 {
			return true
		}
		select {
		case <-time.After(wait):
		case <-l.d.halt:
			l.leave()
			return false
		}
	}
}

func (l *line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.workers--
}

func (l *line) empty() bool {
	for lane := range l.queues {
		if l.queues[lane].len() > 0 {
			return false
		}
	}
	return true
}

// next gives a worker its next parcel, or nil and it is gone. Fresh events go
// first, but every eighth turn belongs to late work, so that neither a busy
// endpoint starves its retries nor a replay delays what is new.
func (l *line) next() (*parcel, *target) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.workers > l.window {
		l.workers--
		return nil, nil
	}
	l.turn++
	order := [lanes]int{laneFirst, laneRetry, laneReplay}
	if l.turn%8 == 0 {
		order = [lanes]int{laneRetry, laneReplay, laneFirst}
	}
	for _, lane := range order {
		if p := l.queues[lane].pop(); p != nil {
			l.posting++
			l.ask()
			return p, l.target
		}
	}
	l.workers--
	return nil, nil
}

// adapt narrows the window of an endpoint that does not answer and widens it
// while it does, so that a dead one ties up little.
func (l *line) adapt(o Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case o.Code == 0:
		l.window = max(fewest, l.window/2)
	case o.OK() && l.window < maxInFlight:
		l.window++
		l.staff()
	}
}

// send makes one attempt and decides what becomes of the delivery.
func (l *line) send(ctx context.Context, p *parcel, t *target, signer *Signer) result {
	if p.body == nil {
		if err := l.readBody(ctx, p); err != nil {
			l.d.cfg.Log.ErrorContext(ctx, "reading an event", "event", p.event, "error", err)
			return l.unread(p, err)
		}
		if p.body == nil {
			return result{line: l, parcel: p, fate: erased}
		}
	}
	r := result{line: l, parcel: p, target: t.number, at: l.d.db.Now()}
	m := message{id: p.event.String(), seq: p.seq, body: p.body}
	timestamp, signature := signer.Sign(m.id, r.at, p.body)
	r.signature = signature
	r.outcome = post(ctx, l.transport, t, headersOf(t.header, m, timestamp, signature), p.body, l.d.db.Now)
	l.adapt(r.outcome)
	r.decide(l.d.cfg.Schedule, l.d.db.Now(), random())
	return r
}

func (l *line) readBody(ctx context.Context, p *parcel) error {
	return l.d.db.Read(ctx, func(tx *store.Tx) error {
		bodies, bad, err := events.Bodies(ctx, tx, l.team, []events.ID{p.event})
		p.body = bodies[p.event]
		return cmp.Or(err, bad[p.event])
	})
}

// unreadableFor is how long after an event a body that cannot be read is tried
// again: in that time a node of a newer version, which can, may be started.
const unreadableFor = 24 * time.Hour

// unread decides what becomes of a delivery whose body could not be read: it is
// tried again in a minute, or later the older it is. When only this body cannot
// be read, that ends after a day.
func (l *line) unread(p *parcel, err error) result {
	r := result{line: l, parcel: p, fate: postponed}
	now := l.d.db.Now()
	age := now.Sub(p.created)
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
	returned   // not attempted; free to be claimed again
	postponed  // could not be attempted; tried again later
	erased     // never attempted: the user it is about is gone
	unreadable // never attempted: its body cannot be read
)

func (f fate) String() string {
	return [...]string{"sent", "retried", "failed", "returned", "postponed", "erased", "unreadable"}[f]
}

// result is an attempt to be recorded.
type result struct {
	line      *line
	parcel    *parcel
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
	if wait, ok := s.After(r.parcel.tries+1, r.outcome, random); ok {
		r.fate, r.retryAt = retried, now.Add(wait)
		return
	}
	r.fate = failed
	if r.parcel.kind != events.AttemptExhausted {
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
	_ = json.Unmarshal(r.parcel.body, &about) // our own envelope; without a user both stay empty
	data, err := json.Marshal(map[string]any{
		"user_id":     userOrNull(about.User),
		"message_id":  r.parcel.event,
		"event_type":  r.parcel.kind,
		"endpoint_id": r.line.id,
		"attempts":    r.parcel.attempts + 1,
		"last_attempt": map[string]any{
			"at":          r.at.UTC().Format("2006-01-02T15:04:05-07:00"),
			"status_code": codeOrNull(r.outcome.Code),
			"problem":     r.outcome.Problem,
		},
	})
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return &events.New{Team: r.line.team, User: about.User, ClientUserID: about.ClientUserID, Type: events.AttemptExhausted, Data: data}
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
