package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// ActorKind is the kind of a caller.
type ActorKind string

// The kinds. The actor of a key, a phone or a portal session is an id. The actor
// of an operator is the name of the machine's user.
const (
	ActorKey      ActorKind = "key"
	ActorPhone    ActorKind = "phone"
	ActorPortal   ActorKind = "portal"
	ActorOperator ActorKind = "operator"
)

// ActorKinds are all kinds.
var ActorKinds = []ActorKind{ActorKey, ActorPhone, ActorPortal, ActorOperator}

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

// HostOf returns an address without its port.
func HostOf(address string) string {
	if colon := strings.LastIndexByte(address, ':'); colon >= 0 {
		address = address[:colon]
	}
	return strings.Trim(address, "[]")
}

// Trail notes the accesses of one request. All methods are safe for concurrent use.
type Trail struct {
	entry   Entry
	success int

	mu       sync.Mutex
	users    []uuid.UUID
	hasUser  map[uuid.UUID]bool // the same
	written  bool               // a transaction of the request has committed rows
	covered  int                // the number of users whose rows are committed
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

// NotePerson notes one person like NotePeople. It ignores the zero id.
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
	if t.hasUser[user] {
		return
	}
	if t.hasUser == nil {
		t.hasUser = map[uuid.UUID]bool{}
	}
	t.hasUser[user] = true
	t.users = append(t.users, user)
}

// entries returns a row for each person, or one without a person.
func (t *Trail) entries(status int) []Entry {
	e := t.entry
	e.Status = status
	if e.User != nil || len(t.users) == 0 {
		return append([]Entry{e}, t.entriesFrom(status, 0)...)
	}
	return t.entriesFrom(status, 0)
}

// uncommitted returns the rows that no transaction has committed.
func (t *Trail) uncommitted(status int) []Entry {
	if !t.written {
		return t.entries(status)
	}
	return t.entriesFrom(status, t.covered)
}

// entriesFrom returns rows of the noted people, without the first ones.
func (t *Trail) entriesFrom(status, first int) []Entry {
	e := t.entry
	e.Status = status
	var all []Entry
	for _, user := range t.users[first:] {
		e.User = &user
		all = append(all, e)
	}
	return all
}

// Insert inserts the rows of a change in its transaction. The first transaction of a
// request has them; later ones have only the rows of people noted since then.
func (t *Trail) Insert(ctx context.Context, tx *store.Tx) error {
	t.mu.Lock()
	all, people, done := t.uncommitted(t.success), len(t.users), t.finished
	t.mu.Unlock()
	if done || len(all) == 0 {
		return nil
	}
	tx.AfterCommit(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.written, t.covered = true, max(t.covered, people)
	})
	return Insert(ctx, tx, all)
}

// Insert inserts rows in a transaction. Their codes need the root key.
func Insert(ctx context.Context, tx *store.Tx, all []Entry) error {
	var b store.Batch
	for i := range all {
		body, err := json.Marshal(&all[i])
		if err != nil {
			return fmt.Errorf("audit: encoding a row: %w", err)
		}
		id := tx.NewUUID()
		code, err := tx.Root(store.AuditPurpose).Code(waitingText(all[i].Team, id, string(body)))
		if err != nil {
			return fmt.Errorf("audit: making the code of a row: %w", err)
		}
		b.Insert(nil, `INSERT INTO audit_pending (team_id, id, body, code)`, []any{all[i].Team, id, string(body), code}, "")
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
	if status == t.success {
		return t.uncommitted(status)
	}
	return t.entries(status)
}
