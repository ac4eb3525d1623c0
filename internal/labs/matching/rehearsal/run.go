package rehearsal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/matching"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// ID identifies a run.
type ID = ids.ID[Run]

// Status is the state of a run.
type Status string

// The statuses.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
)

// Statuses lists the statuses.
var Statuses = []Status{Queued, Running, Succeeded, Failed}

// Stage is the current stage of a run. A run that is queued or ended has its
// status as stage.
type Stage string

// The stages in between.
const (
	Validating    Stage = "validating"
	Selecting     Stage = "selecting_configuration"
	Creating      Stage = "creating_orders"
	Transitioning Stage = "transitioning_orders"
	Writing       Stage = "writing_result"
	Matching      Stage = "matching_result"
	Verifying     Stage = "verifying_review"
)

// Request asks for a run.
//
// Reference 1.17, CreateUnmatchedResultTestBody.
type Request struct {
	Case           matching.Decision     `json:"case"`
	Source         Source                `json:"order_source"`
	Orders         map[string]orders.ID  `json:"orders,omitempty"` // by role
	Partial        bool                  `json:"partial,omitempty"`
	Interpretation orders.Interpretation `json:"interpretation"`
	LabTest        *catalogue.TestID     `json:"lab_test_id,omitempty"`
	WrongLabTest   *catalogue.TestID     `json:"wrong_lab_test_id,omitempty"`
}

// Run is a rehearsal.
type Run struct {
	ID     ID
	Team   teams.ID
	Status Status
	Stage  Stage
	Request
	Artifacts   map[string]Artifact // by role
	Result      *matching.ID
	Failure     *Failure
	CreatedAt   time.Time
	UpdatedAt   time.Time
	StartedAt   *time.Time
	CompletedAt *time.Time
}

// Artifact is an order of a run.
type Artifact struct {
	Order       orders.ID            `json:"order_id"`
	User        users.ID             `json:"user_id"`
	Transaction orders.TransactionID `json:"order_transaction_id"`
}

// Failure is the reason why a run failed.
type Failure struct{ Code, Message string }

func (f *Failure) Error() string { return "rehearsal: " + f.Code }

func newFailure(code, msg string) error { return &Failure{code, msg} }

// Check returns NotFound unless the team can rehearse: in the sandbox, with
// its own queue.
func Check(ctx context.Context, tx *store.Tx, team teams.ID) error {
	t, err := teams.Get(ctx, tx, team)
	if err == nil && (t.Environment != teams.Sandbox || !t.ReviewsResults()) {
		err = notFound()
	}
	return err
}

func notFound() error { return fault.New(fault.NotFound, "Not found") }

// check validates a request.
func (r *Request) check() error {
	bad := func(field, msg string) error { return fault.New(fault.Invalid, "Value error, "+msg).At("body", field) }
	c, ok := caseOf(r.Case)
	switch {
	case !ok:
		return bad("case", "this case cannot be rehearsed")
	case r.Source == Managed && c.providedOnly:
		return bad("order_source", "this case needs a provided order, of a phlebotomy")
	case r.Source == Managed && len(r.Orders) > 0:
		return bad("orders", "managed orders are made by the run")
	case r.WrongLabTest != nil && !slices.Contains(c.Labs, differentLab):
		return bad("wrong_lab_test_id", "this case knows one lab only")
	case r.Source == Managed:
		return nil
	}
	named := len(r.Orders) == len(c.Roles)
	for _, role := range c.Roles {
		named = named && !r.Orders[role].IsZero()
	}
	if !named {
		return bad("orders", "must name one order for each role of the case")
	}
	return nil
}

// Create asks for a run. The same key with the same request returns the same
// run; with another request it is a Conflict.
//
// Reference 1.10, 1.17.
func Create(ctx context.Context, tx *store.Tx, team teams.ID, key string, r Request) (Run, error) {
	if err := Check(ctx, tx, team); err != nil {
		return Run{}, err
	}
	if err := r.check(); err != nil {
		return Run{}, err
	}
	doc, err := json.Marshal(r)
	if err != nil {
		return Run{}, fmt.Errorf("rehearsal: marshalling a request: %w", err)
	}
	asked, hash := sha256.Sum256(doc), secrets.Hash(key)
	id := ids.FromUUID[Run](tx.NewUUID())
	n, err := tx.Exec(ctx, `INSERT INTO unmatched_drills (team_id, id, key_hash, request, body, status, stage, orders, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, 'queued', 'queued', '{}', $6, $6) ON CONFLICT (team_id, key_hash) DO NOTHING`,
		team, id, hash[:], asked[:], string(doc), store.Micros(tx.Now()))
	if err != nil {
		return Run{}, fmt.Errorf("rehearsal: storing: %w", err)
	}
	if n == 1 {
		if _, err := jobKind.Enqueue(ctx, tx, jobArgs{team, id}, jobs.Options{Team: team.UUID(), Key: id.String()}); err != nil {
			return Run{}, err
		}
		return Get(ctx, tx, team, id)
	}
	var before []byte
	err = tx.QueryRow(ctx, `SELECT id, request FROM unmatched_drills WHERE team_id = $1 AND key_hash = $2`, team, hash[:]).Scan(&id, &before)
	if err != nil {
		return Run{}, fmt.Errorf("rehearsal: reading: %w", err)
	}
	if !bytes.Equal(before, asked[:]) {
		return Run{}, fault.New(fault.Conflict, "This X-Idempotency-Key was used with another request")
	}
	return Get(ctx, tx, team, id)
}

// Get returns a run of the team, or a NotFound fault.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Run, error) {
	if err := Check(ctx, tx, team); err != nil {
		return Run{}, err
	}
	r := Run{ID: id, Team: team}
	var body, taking string
	var result uuid.NullUUID
	var code, message sql.NullString
	err := tx.QueryRow(ctx, `SELECT status, stage, body, orders, result_id, error_code, error_message, created_at, updated_at, started_at, completed_at
		FROM unmatched_drills WHERE team_id = $1 AND id = $2`, team, id).
		Scan(&r.Status, &r.Stage, &body, &taking, &result, &code, &message, store.ScanTime(&r.CreatedAt), store.ScanTime(&r.UpdatedAt),
			store.ScanNullTime(&r.StartedAt), store.ScanNullTime(&r.CompletedAt))
	if errors.Is(err, store.ErrNoRows) {
		return Run{}, fault.New(fault.NotFound, "Unmatched result test not found")
	}
	if err != nil {
		return Run{}, fmt.Errorf("rehearsal: reading %s: %w", id, err)
	}
	if err := errors.Join(json.Unmarshal([]byte(body), &r.Request), json.Unmarshal([]byte(taking), &r.Artifacts)); err != nil {
		return Run{}, fmt.Errorf("rehearsal: the stored data of %s: %w", id, err)
	}
	if result.Valid {
		id := matching.ID(result.UUID)
		r.Result = &id
	}
	if code.Valid {
		r.Failure = &Failure{code.String, message.String}
	}
	return r, nil
}

// save writes the progress of a run.
func (r *Run) save(ctx context.Context, tx *store.Tx) error {
	taking, err := json.Marshal(r.Artifacts)
	if err != nil {
		return fmt.Errorf("rehearsal: marshalling orders: %w", err)
	}
	var code, message, result any
	if r.Result != nil {
		result = *r.Result
	}
	if r.Failure != nil {
		code, message = r.Failure.Code, r.Failure.Message
	}
	_, err = tx.Exec(ctx, `UPDATE unmatched_drills SET status = $3, stage = $4, orders = $5, result_id = $6, error_code = $7, error_message = $8,
		updated_at = $9, started_at = $10, completed_at = $11 WHERE team_id = $1 AND id = $2`,
		r.Team, r.ID, string(r.Status), string(r.Stage), string(taking), result, code, message, store.Micros(tx.Now()), r.StartedAt, r.CompletedAt)
	if err != nil {
		return fmt.Errorf("rehearsal: saving %s: %w", r.ID, err)
	}
	return nil
}

// Source says whose orders a run uses.
type Source string

// The sources: orders that the run creates, or the team's own.
const (
	Managed  Source = "managed"
	Provided Source = "provided"
)

// Sources lists the sources.
var Sources = []Source{Managed, Provided}

// The lab constraints of cases.
const (
	sameLab      = "same_lab"      // all orders are with the reporting lab
	differentLab = "different_lab" // the reporting lab is not the order's
)

// Case is a decision that can be rehearsed.
type Case struct {
	Decision matching.Decision
	// Roles name the orders of the case.
	Roles []string
	// Required is the status that each order must have.
	Required map[string]orders.Status
	Labs     []string

	// providedOnly means that no order can be created for the case: the visit
	// must have been requested.
	providedOnly bool
}

const role = "order"

func newCase(d matching.Decision, at orders.Status, lab string) Case {
	return Case{Decision: d, Roles: []string{role}, Required: map[string]orders.Status{role: at}, Labs: []string{lab}}
}

// Cases lists them all.
var Cases = []Case{
	newCase(matching.CompletedMatch, orders.Completed, sameLab),
	newCase(matching.CancelledMatch, orders.Cancelled, sameLab),
	providedOnlyCase(newCase(matching.WrongCollection, orders.RequisitionCreated, sameLab)),
	newCase(matching.WrongLab, orders.RequisitionCreated, differentLab),
	{
		Decision: matching.SeveralPeople, Roles: []string{"first", "second"}, Labs: []string{sameLab},
		Required: map[string]orders.Status{"first": orders.RequisitionCreated, "second": orders.RequisitionCreated},
	},
	newCase(matching.OtherPerson, orders.RequisitionCreated, sameLab),
	newCase(matching.PersonMatch, orders.RequisitionCreated, sameLab),
	{Decision: matching.NoMatch, Roles: []string{}, Required: map[string]orders.Status{}, Labs: []string{}},
}

func providedOnlyCase(c Case) Case { c.providedOnly = true; return c }

func caseOf(d matching.Decision) (Case, bool) {
	i := slices.IndexFunc(Cases, func(c Case) bool { return c.Decision == d })
	if i < 0 {
		return Case{}, false
	}
	return Cases[i], true
}
