package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// ActorKind is the kind of a caller.
type ActorKind string

// The kinds. The actor of a key, a phone or a portal session is an id; that of an
// operator is the name of the user of the machine.
const (
	Key      ActorKind = "key"
	Phone    ActorKind = "phone"
	Portal   ActorKind = "portal"
	Operator ActorKind = "operator"
)

// ActorKinds are all kinds.
var ActorKinds = []ActorKind{Key, Phone, Portal, Operator}

// Entry is one access.
type Entry struct {
	Team       uuid.UUID  `json:"-"` // zero for an operator's command on the whole installation
	At         time.Time  `json:"at"`
	ActorKind  ActorKind  `json:"actor_kind"`
	Actor      string     `json:"actor"`
	OnBehalfOf string     `json:"on_behalf_of"` // the caller's own user, as the caller names it
	Action     string     `json:"action"`       // an operation of the API, or a command
	User       *uuid.UUID `json:"user_id"`      // the person; nil if the access was about none
	Object     string     `json:"object_id"`    // another id of the address, such as an order's
	Address    string     `json:"address"`      // of the caller
	Status     int        `json:"status"`       // of the answer, as in HTTP
	RequestID  string     `json:"request_id"`
}

// Trail notes the accesses of one request. All methods are safe for concurrent use.
type Trail struct {
	entry   Entry
	success int

	mu       sync.Mutex
	users    []uuid.UUID
	noted    map[uuid.UUID]bool // the same
	written  bool               // a transaction of the request has committed its rows
	finished bool
}

// NewTrail returns the trail of a request. e has everything but the outcome; success is
// the status of an answer without errors.
func NewTrail(e Entry, success int) *Trail { return &Trail{entry: e, success: success} }

type trailKey struct{}

// WithTrail returns a context whose accesses are noted in t.
func WithTrail(ctx context.Context, t *Trail) context.Context {
	return context.WithValue(ctx, trailKey{}, t)
}

// NotePeople notes the people that the request of ctx is about, if the address does not name
// them. Without a request it does nothing.
func NotePeople[ID interface{ UUID() uuid.UUID }](ctx context.Context, people ...ID) {
	for _, id := range people {
		NotePerson(ctx, id.UUID())
	}
}

// NotePerson is NotePeople for one id; the zero id is no person.
func NotePerson(ctx context.Context, id uuid.UUID) {
	t := TrailOf(ctx)
	if t == nil || id == uuid.Nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note(id)
}

func (t *Trail) note(user uuid.UUID) {
	if t.entry.User != nil && *t.entry.User == user {
		return
	}
	if t.noted[user] {
		return
	}
	if t.noted == nil {
		t.noted = map[uuid.UUID]bool{}
	}
	t.noted[user] = true
	t.users = append(t.users, user)
}

// entries returns a row for each person, or one without a person.
func (t *Trail) entries(status int) []Entry {
	e := t.entry
	e.Status = status
	var all []Entry
	if e.User != nil || len(t.users) == 0 {
		all = append(all, e)
	}
	for _, user := range t.users {
		e.User = &user
		all = append(all, e)
	}
	return all
}

// Insert inserts the rows of a change in its transaction. The first transaction of a
// request has them; later ones do not repeat them.
func (t *Trail) Insert(ctx context.Context, tx *store.Tx) error {
	t.mu.Lock()
	all, done := t.entries(t.success), t.written || t.finished
	t.mu.Unlock()
	if done {
		return nil
	}
	tx.AfterCommit(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.written = true
	})
	return Insert(ctx, tx, all)
}

// Insert inserts rows in a transaction.
func Insert(ctx context.Context, tx *store.Tx, all []Entry) error {
	var b store.Batch
	for i := range all {
		body, err := json.Marshal(&all[i])
		if err != nil {
			return fmt.Errorf("audit: encoding a row: %w", err)
		}
		b.Insert(nil, `INSERT INTO audit_pending (team_id, id, body)`, []any{all[i].Team, tx.NewUUID(), string(body)}, "")
	}
	if err := tx.Run(ctx, &b); err != nil {
		return fmt.Errorf("audit: inserting rows: %w", err)
	}
	return nil
}

// TrailOf returns the trail of the request of ctx, nil without a request. It is for code
// that stores several requests in one transaction.
func TrailOf(ctx context.Context) *Trail {
	t, _ := ctx.Value(trailKey{}).(*Trail)
	return t
}

// InTransactions returns a context in which the next transaction inserts the rows of the
// request.
func InTransactions(ctx context.Context) context.Context {
	t := TrailOf(ctx)
	if t == nil {
		return ctx
	}
	return store.BeforeCommit(ctx, func(tx *store.Tx) error { return t.Insert(ctx, tx) })
}

// Finish ends the trail with the status of the answer, and returns the rows that no
// transaction has written.
func (t *Trail) Finish(status int) []Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.finished = true
	if t.written && status == t.success {
		return nil
	}
	return t.entries(status)
}
