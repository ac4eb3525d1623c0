package webhooks

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// EndpointID identifies an endpoint; ep_… outside.
type EndpointID uuid.UUID

const endpointPrefix = "ep_"

// errNotFound is the answer for unknown endpoints and those of other teams.
func errNotFound() error { return fault.New(fault.NotFound, "Webhook not found") }

// ParseEndpointID reads the text form. Any other text is an unknown endpoint.
func ParseEndpointID(text string) (EndpointID, error) {
	id, ok := events.ParseID(endpointPrefix, text)
	if !ok {
		return EndpointID{}, errNotFound()
	}
	return EndpointID(id), nil
}

func (id EndpointID) String() string { return events.EncodeID(endpointPrefix, uuid.UUID(id)) }

// MarshalText writes the text form.
func (id EndpointID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// Value stores the 16 bytes.
func (id EndpointID) Value() (driver.Value, error) { return id[:], nil }

// Scan reads a UUID column of either engine.
func (id *EndpointID) Scan(src any) error {
	if err := (*uuid.UUID)(id).Scan(src); err != nil {
		return fmt.Errorf("webhooks: scanning an id: %w", err)
	}
	return nil
}

// State says whether an endpoint is sent to.
type State string

// An endpoint is off because its owner switched it off, or auto_off because it
// answered 410 Gone or failed for days; see Health.
const (
	On      State = "on"
	Off     State = "off"
	AutoOff State = "auto_off"
)

// Endpoint is where a team wants its events sent.
//
// Reference 9.4.
type Endpoint struct {
	ID          EndpointID
	Team        teams.ID
	URL         string
	Description string
	State       State
	Reason      string   // why it is auto_off
	Types       []string // sorted; nil means every type
	RateLimit   *int     // posts per second; nil means no limit
	Health      Health
	CreatedAt   time.Time
	UpdatedAt   time.Time

	target   int64 // number of the present URL and headers
	revision int64 // counts changes of anything
	first    int64 // no event with a lesser number was ever meant for it
	holding  bool  // was switched on, and what waited is still being held
}

const endpointColumns = `e.id, e.team_id, e.description, e.state, e.reason, e.filtered, e.rate_limit, e.target, e.revision, e.first_seq, e.hold_before IS NOT NULL,
	e.first_failure_at, e.failing_since, e.last_success_at, e.created_at, e.updated_at`

func scanEndpoint(row interface{ Scan(...any) error }) (e Endpoint, filtered bool, err error) {
	var first, since, success *time.Time
	err = row.Scan(&e.ID, &e.Team, &e.Description, &e.State, &e.Reason, &filtered, &e.RateLimit, &e.target, &e.revision, &e.first, &e.holding,
		store.ScanNullTime(&first), store.ScanNullTime(&since), store.ScanNullTime(&success),
		store.ScanTime(&e.CreatedAt), store.ScanTime(&e.UpdatedAt))
	e.Health = Health{orZero(first), orZero(since), orZero(success)}
	return e, filtered, err
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// Get reads an endpoint of a team.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) (Endpoint, error) {
	e, filtered, err := scanEndpoint(tx.QueryRow(ctx, `SELECT `+endpointColumns+` FROM webhook_endpoints e
		WHERE e.team_id = $1 AND e.id = $2 AND e.deleted_at IS NULL`, team, id))
	if errors.Is(err, store.ErrNoRows) {
		return Endpoint{}, errNotFound()
	}
	if err != nil {
		return Endpoint{}, fmt.Errorf("webhooks: reading an endpoint: %w", err)
	}
	return e, complete(ctx, tx, &e, filtered)
}

// complete adds what other tables hold of an endpoint.
func complete(ctx context.Context, tx *store.Tx, e *Endpoint, filtered bool) (err error) {
	if filtered {
		if e.Types, err = readTypes(ctx, tx, e.Team, e.ID); err != nil {
			return err
		}
	}
	e.URL, _, err = readTarget(ctx, tx, e.Team, e.ID, e.target)
	return err
}

// List reads a team's endpoints, oldest first, from after the given one.
func List(ctx context.Context, tx *store.Tx, team teams.ID, after EndpointID, limit int) ([]Endpoint, error) {
	rows, err := tx.Query(ctx, `SELECT `+endpointColumns+` FROM webhook_endpoints e
		WHERE e.team_id = $1 AND e.id > $2 AND e.deleted_at IS NULL ORDER BY e.id LIMIT $3`, team, after, limit)
	if err != nil {
		return nil, fmt.Errorf("webhooks: listing endpoints: %w", err)
	}
	defer rows.Close()
	var all []Endpoint
	var filtered []bool
	for rows.Next() {
		e, f, err := scanEndpoint(rows)
		if err != nil {
			return nil, fmt.Errorf("webhooks: listing endpoints: %w", err)
		}
		all, filtered = append(all, e), append(filtered, f)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range all {
		if err := complete(ctx, tx, &all[i], filtered[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readTypes reads the event types that an endpoint wants.
func readTypes(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) ([]string, error) {
	rows, err := tx.Query(ctx, `SELECT type FROM webhook_filters WHERE team_id = $1 AND endpoint_id = $2 ORDER BY type`, team, id)
	if err != nil {
		return nil, fmt.Errorf("webhooks: reading filters: %w", err)
	}
	defer rows.Close()
	types := []string{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		types = append(types, name)
	}
	return types, rows.Err()
}
