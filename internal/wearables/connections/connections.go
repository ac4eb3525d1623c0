package connections

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
)

// ID identifies a connection. A provider that is removed and connected again has a new
// one.
type ID = ids.ID[Connection]

// Status is the state of a connection.
type Status string

// Connected: data arrives. Error: the user or the team must act. Paused: no data is
// accepted. The list may grow.
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

// Resources is the availability of each resource.
type Resources map[string]Availability

// Availability is the state of one resource, and the scopes of the user.
//
// Spec: User provider connection, ResourceAvailability.
type Availability struct {
	Status string `json:"status" doc:"available or unavailable"`
	Scopes Grants `json:"scope_requirements"`
}

// Grants lists the scopes that the user granted and denied. Phones ask for permissions
// and report only the granted ones.
type Grants struct {
	Granted Scopes `json:"user_granted"`
	Denied  Scopes `json:"user_denied"`
}

// Scopes lists scopes by the provider's names.
type Scopes struct {
	Required []string `json:"required"`
	Optional []string `json:"optional"`
}

// Available is the Status of a resource with data. The other word is unavailable.
const Available = "available"

// availableResource returns an available resource without scopes.
func availableResource() Availability {
	none := Scopes{[]string{}, []string{}}
	return Availability{Available, Grants{none, none}}
}

// Ensure connects the user to the provider and adds the resources to the connection.
// A new connection causes an event. A paused one returns wearables.ErrPaused, until it
// is removed and the user connects again.
//
// It runs with every batch of data, so it reads first and mostly returns then.
func Ensure(ctx context.Context, tx *store.Tx, user users.User, provider string, resources []string) error {
	err := extend(ctx, tx, user, provider, resources)
	if errors.Is(err, store.ErrNoRows) {
		return create(ctx, tx, user, provider, resources)
	}
	return err
}

// Extend adds the resources to the connection, if there is one: data that follows from
// stored data does not connect again.
func Extend(ctx context.Context, tx *store.Tx, user users.User, provider string, resources []string) error {
	err := extend(ctx, tx, user, provider, resources)
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	return err
}

// extend returns store.ErrNoRows without a connection.
func extend(ctx context.Context, tx *store.Tx, user users.User, provider string, resources []string) error {
	var b store.Batch
	LockConnections(tx, &b, user.Team)
	if err := tx.Run(ctx, &b); err != nil {
		return fmt.Errorf("connections: locking: %w", err)
	}
	if brings, err := hasAllResources(ctx, tx, user, provider, resources); err != nil || brings {
		return err
	}
	c, err := find(ctx, tx, user.Team, user.ID, provider)
	if err != nil {
		return fmt.Errorf("connections: reading: %w", err)
	}
	return c.addResources(ctx, tx, resources)
}

// LockConnections adds a lock to b. Until the transaction ends, no other transaction
// removes or pauses a connection of the team, so later reads stay true. SQLite has one
// writer and needs no lock. Triggers of the table acquire the conflicting lock.
func LockConnections(tx *store.Tx, b *store.Batch, team teams.ID) {
	if tx.Engine() == store.Postgres {
		b.Exec(nil, `SELECT pg_advisory_xact_lock_shared(hashtextextended('partings:' || $1::text, 0))`, team.String())
	}
}

// hasAllResources reports whether the connection has the resources.
func hasAllResources(ctx context.Context, tx *store.Tx, user users.User, provider string, resources []string) (bool, error) {
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
	return hasResources(doc, resources), nil
}

// hasResources reports whether a stored document names the resources.
func hasResources(doc string, resources []string) bool {
	for _, r := range resources {
		if !strings.Contains(doc, `"`+r+`":{`) {
			return false
		}
	}
	return true
}

// BulkLookup finds the connections of many users to a provider with one query.
// AddTo adds the query to a batch of statements. Brings uses the result after
// the batch ran.
type BulkLookup struct{ documents map[users.ID]string }

// AddTo adds the query.
func (l *BulkLookup) AddTo(tx *store.Tx, b *store.Batch, team teams.ID, all []users.ID, provider string) {
	l.documents = make(map[users.ID]string, len(all))
	take := func(row store.Scanner) error {
		var user users.ID
		var doc string
		err := row.Scan(&user, &doc)
		l.documents[user] = doc
		return err
	}
	if tx.Engine() == store.Postgres {
		b.Query(take, connectionsByKey, team, users.ArrayOf(all), provider)
		return
	}
	users.AddForUsers(all, func(operator string, list ...any) {
		args := append([]any{team}, list...)
		b.Query(take, `SELECT user_id, resource_availability FROM connections
			WHERE team_id = $1 AND user_id `+operator+` AND status <> 'paused' AND provider = $`+strconv.Itoa(len(args)+1), append(args, provider)...)
	})
}

// connectionsByKey looks up the connections of an array of users on PostgreSQL. LATERAL
// and OFFSET 0 make each one lookup by key. Without statistics, PostgreSQL would read the
// whole team for = ANY.
const connectionsByKey = `SELECT c.user_id, c.resource_availability FROM UNNEST($2::uuid[]) AS n(id) CROSS JOIN LATERAL (
	SELECT user_id, resource_availability FROM connections
	WHERE team_id = $1 AND user_id = n.id AND provider = $3 AND status <> 'paused' OFFSET 0) AS c`

// Brings reports whether the user is connected, not paused, and the connection
// has the resources: then Ensure has nothing to do.
func (l *BulkLookup) Brings(user users.ID, resources []string) bool {
	doc, ok := l.documents[user]
	return ok && hasResources(doc, resources)
}

func create(ctx context.Context, tx *store.Tx, user users.User, provider string, resources []string) error {
	if err := users.Exists(ctx, tx, user.Team, user.ID); err != nil { // the user may be deleted since
		return err
	}
	if err := refuseDemoUser(ctx, tx, user, provider); err != nil {
		return err
	}
	c := Connection{
		ID: ids.FromUUID[Connection](tx.NewUUID()), Team: user.Team, User: user.ID, Provider: providers.FindOrName(provider),
		Status: Connected, CreatedOn: tx.Now(), Resources: Resources{},
	}
	for _, r := range resources {
		c.Resources[r] = availableResource()
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

// addResources makes further resources available. It compares the document that it read, so that
// two transactions do not lose each other's change.
func (c Connection) addResources(ctx context.Context, tx *store.Tx, resources []string) error {
	before, err := json.Marshal(c.Resources)
	if err != nil {
		return fmt.Errorf("connections: marshalling resources: %w", err)
	}
	known := len(c.Resources)
	for _, r := range resources {
		if _, ok := c.Resources[r]; !ok {
			c.Resources[r] = availableResource()
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
	if err != nil {
		return fmt.Errorf("connections: adding resources: %w", err)
	}
	return c.announceChange(ctx, tx, UpdatedEvent)
}

// Run names the current run of a connection: its id, which changes when the provider is
// removed and connected again.
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
	c.Provider = providers.FindOrName(slug)
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
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM connections
		WHERE team_id = $1 AND user_id = $2 ORDER BY created_on, provider`, team, user)
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

// Deregister removes a connection. Its data stays.
//
// Reference 6.7.
func Deregister(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, provider string) error {
	if err := users.Exists(ctx, tx, team, user); err != nil {
		return err
	}
	if _, ok := providers.Find(provider); !ok {
		return fault.New(fault.NotFound, "Provider not found")
	}
	c, err := remove(ctx, tx, team, user, provider)
	if errors.Is(err, store.ErrNoRows) {
		return fault.New(fault.NotFound, "User is not connected to this provider")
	}
	if err != nil {
		return fmt.Errorf("connections: removing: %w", err)
	}
	return c.announceChange(ctx, tx, DeletedEvent)
}

// remove deletes a connection and returns it.
func remove(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, provider string) (Connection, error) {
	return scan(tx.QueryRow(ctx, `DELETE FROM connections WHERE team_id = $1 AND user_id = $2 AND provider = $3 RETURNING `+columns, team, user, provider))
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	of := append(users.RowsUntilDeletion("connections", "demo_connections"), users.RowsOf("devices", "refreshes")...)
	of[0].OnDelete = removeAll
	return of
}

// removeAll deletes the connections of a user who is being deleted.
func removeAll(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	all, err := List(ctx, tx, team, user)
	if err != nil {
		return err
	}
	for _, c := range all {
		c, err := remove(ctx, tx, team, user, c.Provider.Slug)
		if errors.Is(err, store.ErrNoRows) {
			continue
		}
		if err != nil {
			return fmt.Errorf("connections: removing: %w", err)
		}
		if err := c.announceChange(ctx, tx, DeletedEvent); err != nil {
			return err
		}
	}
	return nil
}

// orNil returns nil for an empty text, which is null on the wire.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Link is a connection in the list of a user's sources.
//
// Spec: User, ConnectedSource.
type Link struct {
	Provider  providers.Provider
	CreatedOn time.Time
}

// linksAtOnce bounds the users of one statement. Longer lists bind slowly on SQLite.
const linksAtOnce = 25

// Links returns the links of some users, oldest first. Users without one are absent.
func Links(ctx context.Context, tx *store.Tx, team teams.ID, all ...users.ID) (map[users.ID][]Link, error) {
	found := map[users.ID][]Link{}
	if len(all) == 1 {
		return found, readLinks(ctx, tx, found, team, all)
	}
	for part := range slices.Chunk(all, linksAtOnce) {
		for len(part) < linksAtOnce { // one length, so that one statement is prepared
			part = append(slices.Clip(part), part[0])
		}
		if err := readLinks(ctx, tx, found, team, part); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// linksQuery selects the links of n users.
func linksQuery(n int) string {
	return `SELECT user_id, provider, created_on FROM connections
		WHERE team_id = $1 AND user_id IN ` + store.Placeholders(2, n) + ` ORDER BY created_on, provider`
}

func readLinks(ctx context.Context, tx *store.Tx, found map[users.ID][]Link, team teams.ID, part []users.ID) error {
	args := make([]any, 0, len(part)+1)
	args = append(args, team)
	for _, id := range part {
		args = append(args, id)
	}
	rows, err := tx.Query(ctx, linksQuery(len(part)), args...)
	if err != nil {
		return fmt.Errorf("connections: reading links: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var user users.ID
		var slug string
		var link Link
		if err := rows.Scan(&user, &slug, store.ScanTime(&link.CreatedOn)); err != nil {
			return fmt.Errorf("connections: reading links: %w", err)
		}
		link.Provider = providers.FindOrName(slug)
		found[user] = append(found[user], link)
	}
	return rows.Err()
}

// PauseJob pauses the connections of users whose collection has ended. Pushes are
// refused from that moment, without the job. The job adds that a later change of
// ingestion_end does not resume the collection: the person must connect again.
//
// Reference 7.10.
var PauseJob = jobs.Define("connections.pause", func(ctx context.Context, run *jobs.Run, _ struct{}) error {
	for {
		var n int64
		err := run.DB().Write(ctx, func(tx *store.Tx) (err error) {
			n, err = PauseEnded(ctx, tx)
			return err
		})
		if err != nil || n < pauseAtOnce {
			return err
		}
	}
}).Every(15 * time.Minute)

// pauseAtOnce is the number of connections that one transaction pauses.
const pauseAtOnce = 100

// PauseEnded pauses connections of users of all teams whose collection has ended,
// announces that, and returns how many. ctx is the system's.
func PauseEnded(ctx context.Context, tx *store.Tx) (int64, error) {
	rows, err := tx.Query(ctx, `UPDATE connections SET status = $1
		WHERE (team_id, user_id, provider) IN (
			SELECT c.team_id, c.user_id, c.provider FROM users u JOIN connections c ON c.team_id = u.team_id AND c.user_id = u.user_id
			WHERE u.ingestion_end < $2 AND c.status <> $1 LIMIT $3)
		RETURNING `+columns, string(Paused), wearables.IngestionEndedBefore(tx.Now()), pauseAtOnce)
	if err != nil {
		return 0, fmt.Errorf("connections: pausing: %w", err)
	}
	defer rows.Close()
	var all []Connection
	for rows.Next() {
		c, err := scan(rows)
		if err != nil {
			return 0, fmt.Errorf("connections: pausing: %w", err)
		}
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("connections: pausing: %w", err)
	}
	for _, c := range all {
		if err := c.announceChange(ctx, tx, UpdatedEvent); err != nil {
			return 0, err
		}
	}
	return int64(len(all)), nil
}

// Metrics counts the connections of a team.
//
// Reference 5.10.
type Metrics struct {
	Connected int64 // all, working or not
	Errored   int64
	Weeks     []Week
}

// Week counts the connections that were made in a week and still exist.
type Week struct {
	Start time.Time // Monday, 00:00 UTC
	Made  int64
	All   int64 // until its end
}

// firstMonday is 5 January 1970, from which weeks are counted.
var firstMonday = time.Date(1970, 1, 5, 0, 0, 0, 0, time.UTC)

const week = 7 * 24 * time.Hour

// Measure returns the metrics of a team. Triggers of the table connections update
// the counts.
func Measure(ctx context.Context, tx *store.Tx, team teams.ID) (Metrics, error) {
	rows, err := tx.Query(ctx, `SELECT week, CAST(SUM(made) AS BIGINT), CAST(SUM(errored) AS BIGINT)
		FROM connection_counts WHERE team_id = $1 GROUP BY week HAVING SUM(made) > 0 ORDER BY week`, team)
	if err != nil {
		return Metrics{}, fmt.Errorf("connections: counting: %w", err)
	}
	defer rows.Close()
	var m Metrics
	for rows.Next() {
		var no, made, errored int64
		if err := rows.Scan(&no, &made, &errored); err != nil {
			return Metrics{}, fmt.Errorf("connections: counting: %w", err)
		}
		m.Connected += made
		m.Errored += errored
		m.Weeks = append(m.Weeks, Week{firstMonday.Add(time.Duration(no) * week), made, m.Connected})
	}
	return m, rows.Err()
}
