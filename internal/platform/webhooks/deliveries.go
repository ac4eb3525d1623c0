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

// DeliveryState is the state of a delivery.
type DeliveryState string

// A delivery is pending until an attempt succeeds (sent) or none is left (failed). A
// held delivery waits for its endpoint to be switched on, or was left out when that
// happened. It can be replayed.
const (
	Pending DeliveryState = "pending"
	Sent    DeliveryState = "sent"
	Failed  DeliveryState = "failed"
	Held    DeliveryState = "held"
)

// DeliveryStates lists the states.
var DeliveryStates = []DeliveryState{Pending, Sent, Failed, Held}

// Delivery describes the delivery of one event to one endpoint.
type Delivery struct {
	Event     events.ID
	Seq       int64
	Type      string
	CreatedAt time.Time // of the event
	State     DeliveryState
	Attempts  int
	Code      *int       // of the last answer
	DueAt     *time.Time // next attempt; nil unless pending
	EndedAt   *time.Time
}

// shownState selects the state that is shown.
const shownState = `CASE WHEN d.state = 'pending' AND (e.state <> 'on' OR e.hold_before IS NOT NULL) THEN 'held' ELSE d.state END`

const deliveryColumns = `v.id, v.seq, v.type, v.created_at, ` + shownState + `, d.attempts, d.code, d.due_at, d.ended_at`

func scanDelivery(row interface{ Scan(...any) error }) (Delivery, error) {
	var d Delivery
	var seq *int64
	var due time.Time
	err := row.Scan(&d.Event, &seq, &d.Type, store.ScanTime(&d.CreatedAt), &d.State, &d.Attempts, &d.Code,
		store.ScanTime(&due), store.ScanNullTime(&d.EndedAt))
	if seq != nil {
		d.Seq = *seq
	}
	if d.State == Pending {
		d.DueAt = &due
	}
	return d, err
}

// DeliveryFilter narrows a list of deliveries. A zero field does not narrow it.
type DeliveryFilter struct {
	States []DeliveryState
	Types  []string
	Before int64 // only events with smaller numbers
	Limit  int
}

// logSpan limits the numbers that one page of a log covers: an endpoint may have
// deliveries of few of them.
const logSpan = 5_000

// pageStart returns the smallest number of the page of a log whose greatest number is
// last. A page that starts with the endpoint's first number is the last page.
func (e *Endpoint) pageStart(ctx context.Context, tx *store.Tx, last int64) (int64, error) {
	stored, err := events.LastNumberUpTo(ctx, tx, e.Team.UUID(), last)
	return max(e.first, stored-logSpan+1), err
}

// Deliveries lists an endpoint's deliveries, the newest events first. A page may hold
// fewer than the limit, or none, although more pages follow. next is Before of the
// next page, 0 at the end.
func Deliveries(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, f DeliveryFilter) (all []Delivery, next int64, err error) {
	e, err := Get(ctx, tx, team, id)
	if err != nil {
		return nil, 0, err
	}
	if f.Before == 0 {
		f.Before = 1<<63 - 1
	}
	since, err := e.pageStart(ctx, tx, f.Before-1)
	if err != nil {
		return nil, 0, err
	}
	if all, err = readDeliveries(ctx, tx, &e, f, since); err != nil {
		return nil, 0, err
	}
	switch {
	case len(all) > f.Limit:
		all = all[:f.Limit]
		next = all[f.Limit-1].Seq
	case since > e.first:
		next = since
	}
	return all, next, nil
}

// storedStates has the condition for each state of a delivery.
var storedStates = map[DeliveryState]string{
	Held:    `d.state IN ('held', 'pending') AND ` + shownState + ` = 'held'`,
	Pending: `d.state = 'pending' AND e.state = 'on' AND e.hold_before IS NULL`,
	Failed:  `d.state = 'failed'`,
	Sent:    `d.state = 'sent'`,
}

// readDeliveries reads one more than the limit.
func readDeliveries(ctx context.Context, tx *store.Tx, e *Endpoint, f DeliveryFilter, since int64) ([]Delivery, error) {
	args := []any{e.Team, e.ID, f.Before, f.Limit + 1, since}
	more := store.AmongValues(&args, "v.type", f.Types)
	var states []string
	for _, s := range f.States {
		states = append(states, `(`+storedStates[s]+`)`)
	}
	if states != nil {
		more += ` AND (` + strings.Join(states, ` OR `) + `)`
	}
	rows, err := tx.Query(ctx, `SELECT `+deliveryColumns+` FROM webhook_endpoints e
		JOIN webhook_deliveries d ON d.team_id = e.team_id AND d.endpoint_id = e.id
		JOIN events v ON v.team_id = d.team_id AND v.id = d.event_id
		WHERE e.team_id = $1 AND e.id = $2 AND v.team_id = $1 AND v.seq < $3 AND v.seq >= $5`+more+`
		ORDER BY v.seq DESC LIMIT $4`, args...)
	if err != nil {
		return nil, fmt.Errorf("webhooks: listing deliveries: %w", err)
	}
	defer rows.Close()
	all := []Delivery{}
	for rows.Next() {
		d, err := scanDelivery(rows)
		if err != nil {
			return nil, fmt.Errorf("webhooks: listing deliveries: %w", err)
		}
		all = append(all, d)
	}
	return all, rows.Err()
}

// Attempt describes one attempt and its answer.
type Attempt struct {
	Event   events.ID
	Type    string
	N       int // from 1, without gaps
	At      time.Time
	Took    time.Duration
	URL     string
	Headers map[string]string // of the request; secret ones are masked
	Code    *int              // nil if no answer came
	Problem Problem           // empty for success
	Answer  string            // first KiB of the body
	// Unreadable names the parts that are stored damaged. They are empty.
	Unreadable []Part

	seq       int64
	user      uuid.UUID
	signature string
	target    int64
	answer    []byte
}

// Part names a part of an attempt that is stored sealed.
type Part string

// The request consists of the URL and the custom headers, the response of the answer.
const (
	Request  Part = "request"
	Response Part = "response"
)

// Parts lists the parts.
var Parts = []Part{Request, Response}

// AttemptPosition locates an attempt in the list by its event's number and its own.
type AttemptPosition struct {
	Seq int64
	N   int
}

// AttemptFilter narrows a list of attempts. A zero field does not narrow it.
type AttemptFilter struct {
	OK, Failed bool // only those that succeeded, or only those that failed; both for all
	Before     AttemptPosition
	Limit      int
}

// Attempts lists the attempts at an endpoint: the newest events first, and the last
// attempt of each event first. As with Deliveries, next is zero only at the end.
func Attempts(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, f AttemptFilter) (all []Attempt, next AttemptPosition, err error) {
	e, err := Get(ctx, tx, team, id)
	if err != nil {
		return nil, next, err
	}
	if f.Before.Seq == 0 {
		f.Before.Seq = 1<<63 - 1
	}
	since, err := e.pageStart(ctx, tx, f.Before.Seq)
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
	case f.OK == f.Failed:
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
	return all, addDetails(ctx, tx, team, id, all)
}

// addDetails adds the fields that attempts store sealed or by reference. A damaged
// attempt does not hide the others.
func addDetails(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, attempts []Attempt) error {
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

// Withheld replaces the value of a secret header in the log.
const Withheld = secrets.Withheld

// sentHeaders returns the headers of an attempt as they were sent, without the values
// of secret ones.
func sentHeaders(custom map[string]string, a *Attempt) map[string]string {
	own := http.Header{}
	for name, value := range custom {
		if IsSensitiveHeader(name) {
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

// Account reports on a range of numbers at one endpoint.
type Account struct {
	From, To int64
	Counts   map[DeliveryState]int64
	// Apart counts events in the range that have no delivery to the endpoint.
	Apart int64
	// Open lists deliveries that were not answered with 2xx, at most maxOpen.
	Open []Delivery
	// More reports that the range has more open deliveries than Open. To is then the
	// number of the last one in Open.
	More bool
	// HasMore reports that the requested range continues after To.
	HasMore bool
}

const (
	// MaxAccount limits the numbers of one account.
	MaxAccount = 20_000
	maxOpen    = 1000
)

// Reconcile reports on the events with the numbers from to to, so that a receiver can
// compare. The account may end before to: see MaxAccount and Account.More.
func Reconcile(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, from, to int64) (Account, error) {
	if _, err := Get(ctx, tx, team, id); err != nil {
		return Account{}, err
	}
	last, err := events.LastNumber(ctx, tx, team.UUID())
	if err != nil {
		return Account{}, err
	}
	to = min(to, last)
	a := Account{From: from, To: max(min(to, from+MaxAccount-1), from-1), Counts: map[DeliveryState]int64{Pending: 0, Sent: 0, Failed: 0, Held: 0}, Open: []Delivery{}}
	if err := a.list(ctx, tx, team, id); err != nil {
		return a, err
	}
	a.HasMore = a.To < to
	return a, a.count(ctx, tx, team, id)
}

const accountedRows = `FROM webhook_endpoints e JOIN events v ON v.team_id = e.team_id
	LEFT JOIN webhook_deliveries d ON d.event_id = v.id AND d.endpoint_id = e.id AND d.team_id = v.team_id
	WHERE e.team_id = $1 AND e.id = $2 AND v.team_id = $1 AND v.seq BETWEEN $3 AND $4`

func (a *Account) count(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) error {
	rows, err := tx.Query(ctx, `SELECT COALESCE(`+shownState+`, ''), COUNT(*) `+accountedRows+` GROUP BY 1`, team, id, a.From, a.To)
	if err != nil {
		return fmt.Errorf("webhooks: reconciling: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var state DeliveryState
		var n int64
		if err := rows.Scan(&state, &n); err != nil {
			return err
		}
		if state == "" {
			a.Apart = n
		} else {
			a.Counts[state] = n
		}
	}
	return rows.Err()
}

func (a *Account) list(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) error {
	rows, err := tx.Query(ctx, `SELECT `+deliveryColumns+` `+accountedRows+` AND d.state <> 'sent' ORDER BY v.seq LIMIT $5`,
		team, id, a.From, a.To, maxOpen+1)
	if err != nil {
		return fmt.Errorf("webhooks: reconciling: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if len(a.Open) == maxOpen {
			a.More, a.To = true, a.Open[maxOpen-1].Seq
			break
		}
		d, err := scanDelivery(rows)
		if err != nil {
			return err
		}
		a.Open = append(a.Open, d)
	}
	return rows.Err()
}
