package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Attempt is one try, and what came back.
type Attempt struct {
	Event   events.ID
	Type    string
	N       int // from 1, without gaps
	At      time.Time
	Took    time.Duration
	URL     string
	Headers map[string]string // of the request; secret ones are masked
	Code    *int              // nil when no answer came
	Problem Problem           // empty for success
	Answer  string            // first KiB of the body
	// Unreadable names the parts that are damaged where they are stored; they are
	// empty then.
	Unreadable []Part

	seq       int64
	user      uuid.UUID
	signature string
	target    int64
	answer    []byte
}

// Part is a part of an attempt that is stored sealed.
type Part string

// The request is the URL and the custom headers, the response what came back.
const (
	Request  Part = "request"
	Response Part = "response"
)

// AttemptPosition is the place of an attempt in the list, to go on from: its
// event's number and its own.
type AttemptPosition struct {
	Seq int64
	N   int
}

// AttemptFilter narrows a list of attempts; zero fields do not.
type AttemptFilter struct {
	OK, Failed bool // only those that succeeded, or did not
	Before     AttemptPosition
	Limit      int
}

// Attempts lists the attempts at an endpoint, the newest events first and each
// one's last attempt first. As with Deliveries, next is the zero position at the
// end, and only there.
func Attempts(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, f AttemptFilter) (all []Attempt, next AttemptPosition, err error) {
	e, err := Get(ctx, tx, team, id)
	if err != nil {
		return nil, next, err
	}
	if f.Before.Seq == 0 {
		f.Before.Seq = 1<<63 - 1
	}
	since, err := e.since(ctx, tx, f.Before.Seq)
	if err != nil {
		return nil, next, err
	}
	if all, err = readAttempts(ctx, tx, &e, f, since); err != nil {
		return nil, next, err
	}
	switch {
	case len(all) > f.Limit:
		all = all[:f.Limit]
		next = AttemptPosition{all[f.Limit-1].seq, all[f.Limit-1].N}
	case since > e.first:
		next = AttemptPosition{Seq: since}
	}
	return all, next, nil
}

// readAttempts reads one more than the limit.
func readAttempts(ctx context.Context, tx *store.Tx, e *Endpoint, f AttemptFilter, since int64) ([]Attempt, error) {
	only := ``
	switch {
	case f.OK:
		only = ` AND a.problem = ''`
	case f.Failed:
		only = ` AND a.problem <> ''`
	}
	rows, err := tx.Query(ctx, `SELECT `+attemptFields+` FROM events v
		JOIN webhook_attempts a ON a.event_id = v.id AND a.endpoint_id = $2 AND a.team_id = v.team_id
		WHERE v.team_id = $1 AND v.seq <= $3 AND v.seq >= $6 AND (v.seq < $3 OR a.n < $4)`+only+`
		ORDER BY v.seq DESC, a.n DESC LIMIT $5`, e.Team, e.ID, f.Before.Seq, f.Before.N, f.Limit+1, since)
	return scanAttempts(ctx, tx, e.Team, e.ID, rows, err)
}

const attemptFields = `v.id, v.seq, v.type, v.user_id, a.n, a.at, a.took, a.code, a.problem, a.answer, a.signature, a.target`

// GetDelivery reads a delivery and its attempts, the first one first.
func GetDelivery(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, event events.ID) (Delivery, []Attempt, error) {
	if _, err := Get(ctx, tx, team, id); err != nil {
		return Delivery{}, nil, err
	}
	d, err := scanDelivery(tx.QueryRow(ctx, `SELECT `+deliveryColumns+` FROM webhook_deliveries d
		JOIN webhook_endpoints e ON e.team_id = d.team_id AND e.id = d.endpoint_id
		JOIN events v ON v.team_id = d.team_id AND v.id = d.event_id
		WHERE d.team_id = $1 AND d.endpoint_id = $2 AND d.event_id = $3`, team, id, event))
	if errors.Is(err, store.ErrNoRows) {
		return Delivery{}, nil, fault.New(fault.NotFound, "Delivery not found")
	}
	if err != nil {
		return Delivery{}, nil, fmt.Errorf("webhooks: reading a delivery: %w", err)
	}
	rows, err := tx.Query(ctx, `SELECT `+attemptFields+` FROM webhook_attempts a
		JOIN events v ON v.team_id = a.team_id AND v.id = a.event_id
		WHERE a.event_id = $1 AND a.endpoint_id = $2 AND a.team_id = $3 ORDER BY a.n`, event, id, team)
	attempts, err := scanAttempts(ctx, tx, team, id, rows, err)
	return d, attempts, err
}

func scanAttempts(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, rows *store.Rows, err error) ([]Attempt, error) {
	if err != nil {
		return nil, fmt.Errorf("webhooks: reading attempts: %w", err)
	}
	defer rows.Close()
	all := []Attempt{}
	for rows.Next() {
		var a Attempt
		var took int64
		var user *uuid.UUID
		err := rows.Scan(&a.Event, &a.seq, &a.Type, &user, &a.N, store.ScanTime(&a.At), &took, &a.Code, &a.Problem, &a.answer, &a.signature, &a.target)
		if err != nil {
			return nil, fmt.Errorf("webhooks: reading attempts: %w", err)
		}
		a.Took = time.Duration(took) * time.Microsecond
		if user != nil {
			a.user = *user
		}
		all = append(all, a)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return all, describe(ctx, tx, team, id, all)
}

// describe fills in what attempts store sealed or by reference. What is damaged of
// one attempt keeps nobody from seeing the others.
func describe(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, attempts []Attempt) error {
	type known struct {
		address string
		custom  map[string]string
		damaged bool
	}
	targets := map[int64]known{}
	for i := range attempts {
		a := &attempts[i]
		t, ok := targets[a.target]
		if !ok {
			var err error
			t.address, t.custom, err = readTarget(ctx, tx, team, id, a.target)
			if t.damaged = errors.Is(err, secrets.ErrSealed); err != nil && !t.damaged {
				return err
			}
			targets[a.target] = t
		}
		if t.damaged {
			a.Unreadable = append(a.Unreadable, Request)
		}
		a.URL, a.Headers = t.address, sentHeaders(t.custom, a)
		if err := a.openAnswer(ctx, tx, team, id); err != nil {
			return err
		}
	}
	return nil
}

func (a *Attempt) openAnswer(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) error {
	if a.answer == nil {
		return nil
	}
	plain, err := tx.Unseal(ctx, team.UUID(), a.user, answerPlace(id, a.Event, a.N), a.answer)
	switch {
	case errors.Is(err, store.ErrNoKey): // erased with the user
		return nil
	case errors.Is(err, secrets.ErrSealed):
		a.Unreadable = append(a.Unreadable, Response)
		return nil
	}
	a.Answer = strings.ToValidUTF8(string(plain), "\uFFFD")
	return err
}

// Withheld stands in the log for the value of a secret header.
const Withheld = "[withheld]"

// sentHeaders are the headers of an attempt as they were sent, but for the
// values of secret ones.
func sentHeaders(custom map[string]string, a *Attempt) map[string]string {
	own := http.Header{}
	for name, value := range custom {
		if Sensitive(name) {
			value = Withheld
		}
		own.Set(name, value)
	}
	all := headersOf(own, message{id: a.Event.String(), seq: a.seq}, strconv.FormatInt(a.At.Unix(), 10), a.signature)
	shown := make(map[string]string, len(all))
	for name, values := range all {
		shown[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return shown
}
