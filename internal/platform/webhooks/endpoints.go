package webhooks

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// EndpointID identifies an endpoint. Its text form is ep_ and 26 letters and digits.
type EndpointID uuid.UUID

const endpointPrefix = "ep_"

// errNotFound answers for unknown endpoints and for those of other teams.
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

// State says whether events are sent to an endpoint.
type State string

// The owner switches an endpoint off. The service sets auto_off when the endpoint
// answered 410 Gone or failed for days; see Health.
const (
	On      State = "on"
	Off     State = "off"
	AutoOff State = "auto_off"
)

// States lists the states.
var States = []State{On, Off, AutoOff}

// Endpoint describes an address to which a team's events are sent.
//
// Reference 9.4.
type Endpoint struct {
	ID          EndpointID
	Team        teams.ID
	URL         string
	Description string
	State       State
	Reason      string   // of auto_off
	Types       []string // sorted; nil means every type
	RateLimit   *int     // posts per second; nil means no limit
	Content     Content
	Health      Health
	CreatedAt   time.Time
	UpdatedAt   time.Time

	target   int64 // number of the present URL and headers
	revision int64 // counts all changes
	first    int64 // no event with a smaller number has a delivery to it
	holding  bool  // was switched on, and older deliveries are still being held
}

const endpointColumns = `e.id, e.team_id, e.description, e.state, e.reason, e.filtered, e.rate_limit, e.content, e.target, e.revision, e.first_seq, e.hold_before IS NOT NULL,
	e.first_failure_at, e.failing_since, e.last_success_at, e.created_at, e.updated_at`

func scanEndpoint(row interface{ Scan(...any) error }) (e Endpoint, filtered bool, err error) {
	var first, since, success *time.Time
	err = row.Scan(&e.ID, &e.Team, &e.Description, &e.State, &e.Reason, &filtered, &e.RateLimit, &e.Content, &e.target, &e.revision, &e.first, &e.holding,
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

// complete adds the fields that other tables hold.
func complete(ctx context.Context, tx *store.Tx, e *Endpoint, filtered bool) (err error) {
	if filtered {
		if e.Types, err = readTypes(ctx, tx, e.Team, e.ID); err != nil {
			return err
		}
	}
	e.URL, _, err = readTarget(ctx, tx, e.Team, e.ID, e.target)
	return err
}

// List reads a team's endpoints that follow the given one, oldest first.
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

// readTypes reads the event types of an endpoint's filter.
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

// NewEndpoint holds the settings of a new endpoint. A nil Secret means a random one.
type NewEndpoint struct {
	URL         string
	Description string
	Disabled    bool
	Types       []string // nil means every type
	RateLimit   *int
	Content     Content // empty means full
	Secret      *Secret
}

// Bounds of an endpoint's settings.
const (
	MaxDescription = 2000 // characters
	MaxRate        = 10_000
	maxEndpoints   = 50 // of one team
)

// Create adds an endpoint.
func Create(ctx context.Context, tx *store.Tx, rules Rules, team teams.ID, n NewEndpoint) (Endpoint, error) {
	types, err := n.check(rules, events.CatalogueOf(tx))
	if err != nil {
		return Endpoint{}, err
	}
	var count int
	err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM webhook_endpoints WHERE team_id = $1 AND deleted_at IS NULL`, team).Scan(&count)
	if err != nil {
		return Endpoint{}, fmt.Errorf("webhooks: counting endpoints: %w", err)
	}
	if count >= maxEndpoints {
		return Endpoint{}, fault.Newf(fault.Refused, "a team can have %d webhooks; delete one first", maxEndpoints)
	}
	id := EndpointID(tx.NewUUID())
	state := On
	if n.Disabled {
		state = Off
	}
	last, err := events.LastNumber(ctx, tx, team.UUID())
	if err != nil {
		return Endpoint{}, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO webhook_endpoints
			(team_id, id, description, state, reason, filtered, rate_limit, content, target, revision, first_seq, created_at, updated_at)
		VALUES ($1, $2, $3, $4, '', $5, $6, $7, 1, 1, $8, $9, $9)`,
		team, id, n.Description, string(state), len(types) > 0, n.RateLimit, string(cmp.Or(n.Content, FullContent)), last+1, store.Micros(tx.Now()))
	if err != nil {
		return Endpoint{}, fmt.Errorf("webhooks: creating an endpoint: %w", err)
	}
	if err := addTarget(ctx, tx, team, id, 1, n.URL, map[string]string{}); err != nil {
		return Endpoint{}, err
	}
	if err := writeTypes(ctx, tx, team, id, types); err != nil {
		return Endpoint{}, err
	}
	secret := NewSecret()
	if n.Secret != nil {
		secret = *n.Secret
	}
	if err := addSecret(ctx, tx, team, id, secret); err != nil {
		return Endpoint{}, err
	}
	tx.Notify(changedEndpoints, team.UUID())
	return Get(ctx, tx, team, id)
}

func (n NewEndpoint) check(rules Rules, catalogue *events.Catalogue) (types []string, err error) {
	_, badURL := rules.CheckURL(n.URL)
	types, badTypes := checkTypes(catalogue, n.Types)
	return types, joinFaults(
		atField(badURL, "url"), badTypes,
		checkDescription(n.Description), checkRate(n.RateLimit), checkContent(cmp.Or(n.Content, FullContent)))
}

// checkTypes checks the types of a filter. nil means every type; an empty list would mean
// none.
func checkTypes(catalogue *events.Catalogue, names []string) ([]string, error) {
	if names != nil && len(names) == 0 {
		return nil, fault.New(fault.Invalid, "must name at least one event type, or be null for all").At("body", "filter_types").WithType("too_short")
	}
	return catalogue.Check(names, "body", "filter_types")
}

func checkDescription(text string) error {
	if utf8.RuneCountInString(text) > MaxDescription || !utf8.ValidString(text) || slices.Contains([]byte(text), 0) {
		return fault.Newf(fault.Invalid, "must be text of at most %d characters", MaxDescription).At("body", "description")
	}
	return nil
}

func checkRate(rate *int) error {
	if rate != nil && (*rate < 1 || *rate > MaxRate) {
		return fault.Newf(fault.Invalid, "must be between 1 and %d posts per second, or null for no limit", MaxRate).At("body", "rate_limit")
	}
	return nil
}

// Changes holds the new values of an update. Absent fields stay.
//
// Reference 9.4, PatchWebhookBody.
type Changes struct {
	URL         patch.Field[string]
	Description patch.Field[string]
	Disabled    patch.Field[bool]
	Types       patch.Field[[]string] // null means every type
	RateLimit   patch.Field[int]
	Content     patch.Field[Content]
	// SendHeldSince sends the held deliveries of events since then, to an endpoint
	// that is on or is switched on. If the endpoint is switched on, older deliveries
	// are held until they are replayed. Nil sends no held delivery.
	SendHeldSince *time.Time
}

// Update changes an endpoint and returns the changed one.
func Update(ctx context.Context, tx *store.Tx, rules Rules, team teams.ID, id EndpointID, c Changes) (Endpoint, error) {
	e, err := Get(ctx, tx, team, id)
	if err != nil {
		return Endpoint{}, err
	}
	if err := c.apply(&e, rules, events.CatalogueOf(tx)); err != nil {
		return Endpoint{}, err
	}
	if c.URL.Set && !c.URL.Null {
		if err := changeTarget(ctx, tx, &e, func(address *string, _ *map[string]string) { *address = e.URL }); err != nil {
			return Endpoint{}, err
		}
	}
	if c.Types.Set {
		if err := writeTypes(ctx, tx, team, id, e.Types); err != nil {
			return Endpoint{}, err
		}
	}
	if c.Disabled.Set && !c.Disabled.Null {
		if err := switchTo(ctx, tx, &e, c.Disabled.Value, c.SendHeldSince); err != nil {
			return Endpoint{}, err
		}
	}
	if c.SendHeldSince != nil {
		if _, err := sendHeld(id, *c.SendHeldSince).Start(ctx, tx, team); err != nil {
			return Endpoint{}, err
		}
	}
	_, err = tx.Exec(ctx, `UPDATE webhook_endpoints SET description = $1, rate_limit = $2, filtered = $3, target = $4, content = $5
		WHERE team_id = $6 AND id = $7`, e.Description, e.RateLimit, len(e.Types) > 0, e.target, string(e.Content), team, id)
	if err != nil {
		return Endpoint{}, fmt.Errorf("webhooks: updating an endpoint: %w", err)
	}
	if err := touch(ctx, tx, team, id); err != nil {
		return Endpoint{}, err
	}
	return Get(ctx, tx, team, id)
}

// apply checks the changes and puts them into e.
func (c Changes) apply(e *Endpoint, rules Rules, catalogue *events.Catalogue) error {
	var errs []error
	if c.URL.Set {
		_, err := rules.CheckURL(c.URL.Value)
		if c.URL.Null {
			err = nil // the reference reads a null URL as an absent one
		} else {
			e.URL = c.URL.Value
		}
		errs = append(errs, atField(err, "url"))
	}
	if c.Description.Set {
		e.Description = c.Description.Value
		errs = append(errs, checkDescription(e.Description))
	}
	if c.Types.Set {
		types, err := checkTypes(catalogue, c.Types.Value)
		e.Types = types
		errs = append(errs, err)
	}
	if c.RateLimit.Set {
		c.RateLimit.Apply(&e.RateLimit)
		errs = append(errs, checkRate(e.RateLimit))
	}
	if c.Content.Set && !c.Content.Null {
		e.Content = c.Content.Value
		errs = append(errs, checkContent(e.Content))
	}
	if c.SendHeldSince != nil && !c.leavesOn(e) {
		errs = append(errs, fault.New(fault.Invalid, "needs a webhook that is on, or is switched on with it").At("body", "send_held_since"))
	}
	return joinFaults(errs...)
}

// leavesOn reports whether the endpoint is on after the changes.
func (c Changes) leavesOn(e *Endpoint) bool {
	if c.Disabled.Set && !c.Disabled.Null {
		return !c.Disabled.Value
	}
	return e.State == On
}

// switchTo switches an endpoint off or on. Switching on clears the record of
// failures, and holds deliveries of events before since, or before now.
func switchTo(ctx context.Context, tx *store.Tx, e *Endpoint, off bool, since *time.Time) error {
	if off == (e.State != On) {
		return nil
	}
	state := On
	if off {
		state = Off
	}
	_, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET state = $1, reason = '', first_failure_at = NULL, failing_since = NULL,
		hold_before = NULL, hold_through = NULL WHERE team_id = $2 AND id = $3`, string(state), e.Team, e.ID)
	if err != nil {
		return fmt.Errorf("webhooks: switching an endpoint: %w", err)
	}
	if off {
		return nil
	}
	from := tx.Now()
	if since != nil {
		from = *since
	}
	return beginHold(ctx, tx, e.Team, e.ID, from)
}

// Delete removes an endpoint. Its pending deliveries are never sent. Its log is
// deleted together with the events.
func Delete(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) error {
	n, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET deleted_at = $1, state = 'off', revision = revision + 1,
			hold_before = NULL, hold_through = NULL
		WHERE team_id = $2 AND id = $3 AND deleted_at IS NULL`, store.Micros(tx.Now()), team, id)
	if err != nil {
		return fmt.Errorf("webhooks: deleting an endpoint: %w", err)
	}
	if n == 0 {
		return errNotFound()
	}
	if _, err := tx.Exec(ctx, `DELETE FROM webhook_secrets WHERE team_id = $1 AND endpoint_id = $2`, team, id); err != nil {
		return fmt.Errorf("webhooks: deleting secrets: %w", err)
	}
	tx.Notify(changedEndpoints, team.UUID())
	return nil
}

// changeTarget stores a changed URL or headers under the next number.
func changeTarget(ctx context.Context, tx *store.Tx, e *Endpoint, change func(address *string, headers *map[string]string)) error {
	address, headers, err := readTarget(ctx, tx, e.Team, e.ID, e.target)
	if err != nil {
		return err
	}
	change(&address, &headers)
	e.target++
	return addTarget(ctx, tx, e.Team, e.ID, e.target, address, headers)
}

// touch counts a change, so that every node sees it at its next claim.
func touch(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) error {
	_, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET revision = revision + 1, updated_at = $1 WHERE team_id = $2 AND id = $3`,
		store.Micros(tx.Now()), team, id)
	if err != nil {
		return fmt.Errorf("webhooks: updating an endpoint: %w", err)
	}
	tx.Notify(changedEndpoints, team.UUID())
	return nil
}

func writeTypes(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, types []string) error {
	if _, err := tx.Exec(ctx, `DELETE FROM webhook_filters WHERE team_id = $1 AND endpoint_id = $2`, team, id); err != nil {
		return fmt.Errorf("webhooks: writing filters: %w", err)
	}
	for _, name := range types {
		if _, err := tx.Exec(ctx, `INSERT INTO webhook_filters (team_id, endpoint_id, type) VALUES ($1, $2, $3)`, team, id, name); err != nil {
			return fmt.Errorf("webhooks: writing filters: %w", err)
		}
	}
	return nil
}

// atField names the body field of a fault.
func atField(err error, field string) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.At("body", field)
	}
	return err
}

// joinFaults joins the faults of several fields into one answer. An error that is
// not the caller's fault is returned alone.
func joinFaults(errs ...error) error {
	var all []*fault.Error
	for _, err := range errs {
		var one *fault.Error
		var list fault.List
		switch {
		case err == nil:
		case errors.As(err, &list):
			all = append(all, list...)
		case errors.As(err, &one):
			all = append(all, one)
		default:
			return err
		}
	}
	return fault.Join(all...)
}
