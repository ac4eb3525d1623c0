package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// NewEndpoint is an endpoint to be made. A nil Secret means a random one.
type NewEndpoint struct {
	URL         string
	Description string
	Disabled    bool
	Types       []string // none means every type
	RateLimit   *int
	Secret      *Secret
}

// Bounds of an endpoint's settings.
const (
	maxDescription = 2000 // characters
	maxRate        = 10_000
	maxEndpoints   = 50 // of one team
)

// Create makes an endpoint.
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
			(team_id, id, description, state, reason, filtered, rate_limit, target, revision, first_seq, created_at, updated_at)
		VALUES ($1, $2, $3, $4, '', $5, $6, 1, 1, $7, $8, $8)`,
		team, id, n.Description, string(state), len(types) > 0, n.RateLimit, last+1, store.Micros(tx.Now()))
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
	_, wrongURL := rules.CheckURL(n.URL)
	types, wrongTypes := catalogue.Check(n.Types, "body", "filter_types")
	return types, together(
		at(wrongURL, "url"), wrongTypes,
		checkDescription(n.Description), checkRate(n.RateLimit))
}

func checkDescription(text string) error {
	if utf8.RuneCountInString(text) > maxDescription || !utf8.ValidString(text) || slices.Contains([]byte(text), 0) {
		return fault.Newf(fault.Invalid, "must be text of at most %d characters", maxDescription).At("body", "description")
	}
	return nil
}

func checkRate(rate *int) error {
	if rate != nil && (*rate < 1 || *rate > maxRate) {
		return fault.Newf(fault.Invalid, "must be between 1 and %d posts per second, or null for no limit", maxRate).At("body", "rate_limit")
	}
	return nil
}

// Changes are what an update may change; absent fields stay.
//
// Reference 9.4, PatchWebhookBody.
type Changes struct {
	URL         patch.Field[string]
	Description patch.Field[string]
	Disabled    patch.Field[bool]
	Types       patch.Field[[]string] // null or empty means every type
	RateLimit   patch.Field[int]
	// SendHeldSince has what was held of events from then on sent, to an endpoint
	// that is on or is switched on. What waits for one that is switched on, and is
	// older, is held until it is replayed. Nil sends nothing that was held.
	SendHeldSince *time.Time
}

// Update changes an endpoint and returns it as it is then.
func Update(ctx context.Context, tx *store.Tx, rules Rules, team teams.ID, id EndpointID, c Changes) (Endpoint, error) {
	e, err := Get(ctx, tx, team, id)
	if err != nil {
		return Endpoint{}, err
	}
	if err := c.apply(&e, rules, events.CatalogueOf(tx)); err != nil {
		return Endpoint{}, err
	}
	if c.URL.Set && !c.URL.Null {
		if err := retarget(ctx, tx, &e, func(address *string, _ *map[string]string) { *address = e.URL }); err != nil {
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
	_, err = tx.Exec(ctx, `UPDATE webhook_endpoints SET description = $1, rate_limit = $2, filtered = $3, target = $4
		WHERE team_id = $5 AND id = $6`, e.Description, e.RateLimit, len(e.Types) > 0, e.target, team, id)
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
	var wrong []error
	if c.URL.Set {
		_, err := rules.CheckURL(c.URL.Value)
		if c.URL.Null {
			err = nil // the reference reads a null URL as an absent one
		} else {
			e.URL = c.URL.Value
		}
		wrong = append(wrong, at(err, "url"))
	}
	if c.Description.Set {
		e.Description = c.Description.Value
		wrong = append(wrong, checkDescription(e.Description))
	}
	if c.Types.Set {
		types, err := catalogue.Check(c.Types.Value, "body", "filter_types")
		e.Types = types
		wrong = append(wrong, err)
	}
	if c.RateLimit.Set {
		c.RateLimit.Apply(&e.RateLimit)
		wrong = append(wrong, checkRate(e.RateLimit))
	}
	if c.SendHeldSince != nil && !c.leavesOn(e) {
		wrong = append(wrong, fault.New(fault.Invalid, "needs a webhook that is on, or is switched on with it").At("body", "send_held_since"))
	}
	return together(wrong...)
}

// leavesOn tells whether an endpoint is on once the changes are made.
func (c Changes) leavesOn(e *Endpoint) bool {
	if c.Disabled.Set && !c.Disabled.Null {
		return !c.Disabled.Value
	}
	return e.State == On
}

// switchTo switches an endpoint off or on. Switching on starts with a clean
// record, and holds what is older than since, or than this moment.
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
	return switchedOn(ctx, tx, e.Team, e.ID, from)
}

// Delete removes an endpoint. What is pending for it is never sent; its log
// goes with the events.
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

// retarget stores a changed URL or headers under the next number.
func retarget(ctx context.Context, tx *store.Tx, e *Endpoint, change func(address *string, headers *map[string]string)) error {
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
