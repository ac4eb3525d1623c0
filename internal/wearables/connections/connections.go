package connections

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
)

// ID identifies a connection. A provider that is connected anew after it was
// removed has a new one.
type ID = ids.ID[Connection]

// Status says whether a connection works.
type Status string

// Connected means that data comes in, Error that the user or the team must
// act, Paused that nothing is asked for at present. The list may grow.
//
// Reference 6.5.
const (
	Connected Status = "connected"
	Error     Status = "error"
	Paused    Status = "paused"
)

// Connection links a user to a provider.
//
// Spec: User provider connection.
type Connection struct {
	ID        ID
	Team      teams.ID
	User      users.ID
	Provider  providers.Provider
	Status    Status
	CreatedOn time.Time
	Resources Resources
}

// Resources says of each resource whether it can be had.
type Resources map[string]Availability

// Availability is one resource's state, and what the user allowed for it.
//
// Spec: User provider connection, ResourceAvailability.
type Availability struct {
	Status string `json:"status" doc:"available or unavailable"`
	Scopes Grants `json:"scope_requirements"`
}

// Grants are the scopes that the user gave and refused. Phones ask for
// permissions by themselves and report only what was given.
type Grants struct {
	Granted Scopes `json:"user_granted"`
	Denied  Scopes `json:"user_denied"`
}

// Scopes are names as the provider has them.
type Scopes struct {
	Required []string `json:"required"`
	Optional []string `json:"optional"`
}

// Available is the Status of a resource that can be had. The other word there
// is unavailable.
const Available = "available"

// available is a resource without scopes of its own.
func available() Availability {
	none := Scopes{[]string{}, []string{}}
	return Availability{Available, Grants{none, none}}
}

// Ensure makes sure that the user is connected to the provider and that the
// connection brings the resources. A new connection is announced. A paused one
// refuses with wearables.ErrPaused: it works again once it was removed and made
// anew.
//
// It runs with every batch of data, so it reads first and mostly ends there.
func Ensure(ctx context.Context, tx *store.Tx, user users.User, provider string, resources []string) error {
	var b store.Batch
	Hold(tx, &b, user.Team)
	if err := tx.Run(ctx, &b); err != nil {
		return fmt.Errorf("connections: holding: %w", err)
	}
	if brings, err := bringsAll(ctx, tx, user, provider, resources); err != nil || brings {
		return err
	}
	c, err := find(ctx, tx, user.Team, user.ID, provider)
	if errors.Is(err, store.ErrNoRows) {
		return create(ctx, tx, user, provider, resources)
	}
	if err != nil {
		return fmt.Errorf("connections: reading: %w", err)
	}
	return c.add(ctx, tx, resources)
}

// Hold adds to b what lets nobody remove or pause a connection of the team before
// the transaction ends: what later statements find is true when it commits.
// SQLite's one writer needs none. The other half are triggers of the table.
func Hold(tx *store.Tx, b *store.Batch, team teams.ID) {
	if tx.Engine() == store.Postgres {
		b.Exec(nil, `SELECT pg_advisory_xact_lock_shared(hashtextextended('partings:' || $1::text, 0))`, team.String())
	}
}

// bringsAll looks for the names of the resources in the stored document as it
// stands: reading it would cost more than the lookup.
func bringsAll(ctx context.Context, tx *store.Tx, user users.User, provider string, resources []string) (bool, error) {
	var doc string
	var status Status
	err := tx.QueryRow(ctx, `SELECT status, resource_availability FROM connections WHERE team_id = $1 AND user_id = $2 AND provider = $3`,
		user.Team, user.ID, provider).Scan(&status, &doc)
	if errors.Is(err, store.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("connections: reading: %w", err)
	}
	if status == Paused {
		return false, wearables.ErrPaused
	}
	return names(doc, resources), nil
}

// names looks for the resources in a stored document.
func names(doc string, resources []string) bool {
	for _, r := range resources {
		if !strings.Contains(doc, `"`+r+`":{`) {
			return false
		}
	}
	return true
}

// Linked tells how to see beside a user that Ensure would find nothing to do.
func Linked(provider string) (column string, brings func(column string, resources []string) bool) {
	if _, ok := providers.Find(provider); !ok { // the slug goes into the text
		return `NULL`, names
	}
	return `(SELECT c.resource_availability FROM connections c
		WHERE c.team_id = users.team_id AND c.user_id = users.user_id AND c.provider = '` + provider + `' AND c.status <> 'paused')`, names
}

func create(ctx context.Context, tx *store.Tx, user users.User, provider string, resources []string) error {
	if err := users.Exists(ctx, tx, user.Team, user.ID); err != nil { // may have been deleted since it was read
		return err
	}
	if err := notForDemos(ctx, tx, user, provider); err != nil {
		return err
	}
	c := Connection{
		ID: ids.FromUUID[Connection](tx.NewUUID()), Team: user.Team, User: user.ID, Provider: providers.Named(provider),
		Status: Connected, CreatedOn: tx.Now(), Resources: Resources{},
	}
	for _, r := range resources {
		c.Resources[r] = available()
	}
	doc, err := json.Marshal(c.Resources)
	if err != nil {
		return fmt.Errorf("connections: marshalling resources: %w", err)
	}
	n, err := tx.Exec(ctx, `INSERT INTO connections (team_id, user_id, provider, connection_id, status, created_on, resource_availability)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (team_id, user_id, provider) DO NOTHING`,
		c.Team, c.User, provider, c.ID, string(c.Status), c.CreatedOn, string(doc))
	if err != nil {
		return fmt.Errorf("connections: creating: %w", err)
	}
	if n == 0 {
		return store.ErrLostRace
	}
	return announceCreated(ctx, tx, user, c)
}

// add makes the resources available that the connection did not have. It
// compares what it read, so that two at once do not lose each other's.
func (c Connection) add(ctx context.Context, tx *store.Tx, resources []string) error {
	before, err := json.Marshal(c.Resources)
	if err != nil {
		return fmt.Errorf("connections: marshalling resources: %w", err)
	}
	known := len(c.Resources)
	for _, r := range resources {
		if _, ok := c.Resources[r]; !ok {
			c.Resources[r] = available()
		}
	}
	if len(c.Resources) == known {
		return nil
	}
	after, err := json.Marshal(c.Resources)
	if err != nil {
		return fmt.Errorf("connections: marshalling resources: %w", err)
	}
	n, err := tx.Exec(ctx, `UPDATE connections SET resource_availability = $4
		WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND resource_availability = $5`,
		c.Team, c.User, c.Provider.Slug, string(after), string(before))
	if err == nil && n == 0 {
		return store.ErrLostRace
	}
	return err
}

// Run names the present run of a connection: its id, which changes when the
// provider is removed and connected anew.
func Run(ctx context.Context, tx *store.Tx, user users.User, provider string) (string, error) {
	c, err := find(ctx, tx, user.Team, user.ID, provider)
	if errors.Is(err, store.ErrNoRows) {
		return "", nil
	}
	return c.ID.String(), err
}

const columns = `team_id, user_id, provider, connection_id, status, created_on, resource_availability`

func scan(row interface{ Scan(dest ...any) error }) (Connection, error) {
	var c Connection
	var slug, doc string
	if err := row.Scan(&c.Team, &c.User, &slug, &c.ID, &c.Status, store.ScanTime(&c.CreatedOn), &doc); err != nil {
		return Connection{}, err
	}
	c.Provider = providers.Named(slug)
	if err := json.Unmarshal([]byte(doc), &c.Resources); err != nil {
		return Connection{}, fmt.Errorf("connections: resources of %s: %w", c.ID, err)
	}
	return c, nil
}

func find(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, provider string) (Connection, error) {
	return scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM connections WHERE team_id = $1 AND user_id = $2 AND provider = $3`, team, user, provider))
}

// List returns a user's connections, oldest first.
//
// Spec: Users, GET /v2/user/providers/{user_id}.
func List(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([]Connection, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM connections WHERE team_id = $1 AND user_id = $2 ORDER BY created_on, provider`, team, user)
	if err != nil {
		return nil, fmt.Errorf("connections: listing: %w", err)
	}
	defer rows.Close()
	var all []Connection
	for rows.Next() {
		c, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// Deregister removes a connection; what it brought stays.
//
// Reference 6.7.
func Deregister(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, provider string) error {
	if err := users.Exists(ctx, tx, team, user); err != nil {
		return err
	}
	if _, ok := providers.Find(provider); !ok {
		return fault.New(fault.NotFound, "Provider not found")
	}
	n, err := tx.Exec(ctx, `DELETE FROM connections WHERE team_id = $1 AND user_id = $2 AND provider = $3`, team, user, provider)
	if err != nil {
		return fmt.Errorf("connections: removing: %w", err)
	}
	if n == 0 {
		return fault.New(fault.NotFound, "User is not connected to this provider")
	}
	return nil
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return append(users.RowsUntilDeletion("connections", "demo_connections"), users.RowsOf("devices", "refreshes")...)
}

// orNil is a text that is null on the wire when it is not known.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
