package continuous

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/aggregate/query"
)

// ID identifies a continuous query.
type ID = ids.ID[Query]

// Status is the state of a query.
type Status string

// The states. An archived query does not run.
const (
	Active   Status = "active"
	Archived Status = "archived"
)

// Statuses lists the states.
var Statuses = []Status{Active, Archived}

// Query is a stored query.
//
// Reference 9.6, ContinuousQuery.
type Query struct {
	ID       ID
	Team     teams.ID
	Slug     string // unique among the team's active queries
	Title    string
	Archived bool
	Query    query.Query
	Config   query.Config
	// MinimumGap is the least time between the starts of two runs for one user.
	MinimumGap *time.Duration
	DataEvents bool // whether changes are sent to webhooks; the feed always has them

	plan *query.Plan
}

// Status returns the state.
func (q *Query) Status() Status {
	if q.Archived {
		return Archived
	}
	return Active
}

// Plan returns the compiled query.
func (q *Query) Plan() *query.Plan { return q.plan }

// MostActive limits the active queries of a team. Incoming data is checked against each
// of them.
const MostActive = 50

// New holds the fields of a query to create.
type New struct {
	Slug, Title string
	Query       query.Query
	Config      query.Config
	MinimumGap  *time.Duration
	DataEvents  bool
}

var (
	slugs  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	titles = regexp.MustCompile(`^[A-Za-zÀ-ÖØ-öø-ÿ0-9()&_\-.\s]{0,50}$`)
)

// CheckTitle checks a title.
//
// Reference 9.6: letters, digits and ()&_-. and spaces, at most 50.
func CheckTitle(title string) error {
	if !titles.MatchString(title) {
		return fault.New(fault.Invalid, "String should have at most 50 letters, digits, spaces and ()&_-.").At("body", "title").WithType("string_pattern_mismatch")
	}
	return nil
}

// LeastGap is the least MinimumGap. Reference 9.6.
const LeastGap = 1800 * time.Second

func checkGap(gap *time.Duration) error {
	if gap != nil && (*gap < LeastGap || *gap > 366*24*time.Hour) {
		return fault.New(fault.Invalid, "Input should be between 1800 and 31622400").
			At("body", "scheduling_preferences", "minimum_gap_duration_second").WithType("greater_than_equal")
	}
	return nil
}

// Check checks whether the query may be stored, and compiles it.
func (n *New) Check() (*query.Plan, error) {
	if len(n.Slug) > 128 || !slugs.MatchString(n.Slug) {
		return nil, fault.New(fault.Invalid, "String should have 1 to 128 lower-case letters, digits and single inner hyphens").
			At("body", "slug").WithType("string_pattern_mismatch")
	}
	if err := CheckTitle(n.Title); err != nil {
		return nil, err
	}
	if err := checkGap(n.MinimumGap); err != nil {
		return nil, err
	}
	plan, err := query.Compile(n.Query)
	if err != nil {
		return nil, err
	}
	return plan, plan.CheckContinuous(n.Query)
}

// Create stores a query. Jobs soon evaluate it for each user who already has
// relevant data. After later changes of a user's relevant data, they evaluate it
// again for that user. The first run for a user covers all of the user's data.
func Create(ctx context.Context, tx *store.Tx, team teams.ID, n New) (Query, error) {
	plan, err := n.Check()
	if err != nil {
		return Query{}, err
	}
	if err := tx.Lock(ctx, "continuous:"+team.String()); err != nil {
		return Query{}, err
	}
	var active int
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM continuous_queries WHERE team_id = $1 AND status = 'active'`, team).Scan(&active); err != nil {
		return Query{}, fmt.Errorf("continuous: counting queries: %w", err)
	}
	if active >= MostActive {
		return Query{}, fault.Newf(fault.Refused, "a team has at most %d active continuous queries", MostActive)
	}
	q := Query{
		ID: ids.FromUUID[Query](tx.NewUUID()), Team: team, Slug: n.Slug, Title: strings.TrimSpace(n.Title), Query: n.Query, Config: n.Config,
		MinimumGap: n.MinimumGap, DataEvents: n.DataEvents, plan: plan,
	}
	text, err := json.Marshal(n.Query)
	if err != nil {
		return Query{}, err
	}
	config, err := json.Marshal(n.Config)
	if err != nil {
		return Query{}, err
	}
	made, err := tx.Exec(ctx, `INSERT INTO continuous_queries (team_id, id, slug, title, status, query, config, minimum_gap, data_events,
			created_at, updated_at)
		VALUES ($1, $2, $3, $4, 'active', $5, $6, $7, $8, $9, $9)
		ON CONFLICT (team_id, slug) WHERE status = 'active' DO NOTHING`,
		team, q.ID, q.Slug, q.Title, string(text), string(config), seconds(q.MinimumGap), q.DataEvents, store.Micros(tx.Now()))
	if err != nil {
		return Query{}, fmt.Errorf("continuous: storing a query: %w", err)
	}
	if made == 0 {
		return Query{}, fault.New(fault.Conflict, "another continuous query has this slug")
	}
	tx.AfterCommit(func() { cachedQueries.Of(tx).forget(team) })
	return q, q.scheduleBackfill(ctx, tx)
}

// Update is a change of a query; nil fields stay unchanged.
type Update struct {
	Title      *string
	SetGap     bool
	MinimumGap *time.Duration // nil removes the gap
}

// Change updates the named fields of a query. The expressions of the query never change.
func Change(ctx context.Context, tx *store.Tx, team teams.ID, id ID, u Update) (Query, error) {
	var title any
	if u.Title != nil {
		if err := CheckTitle(*u.Title); err != nil {
			return Query{}, err
		}
		title = strings.TrimSpace(*u.Title)
	}
	if err := checkGap(u.MinimumGap); err != nil {
		return Query{}, err
	}
	q, err := scanOne(tx.QueryRow(ctx, `UPDATE continuous_queries SET title = COALESCE(CAST($3 AS TEXT), title),
			minimum_gap = CASE WHEN $4 THEN CAST($5 AS BIGINT) ELSE minimum_gap END, updated_at = $6
		WHERE team_id = $1 AND id = $2 RETURNING `+queryColumns,
		team, id, title, u.SetGap, seconds(u.MinimumGap), store.Micros(tx.Now())))
	if err != nil {
		return Query{}, err
	}
	tx.AfterCommit(func() { cachedQueries.Of(tx).forget(team) })
	if !u.SetGap {
		return q, nil
	}
	return q, q.scheduleReschedule(ctx, tx)
}

// Archive ends a query. Its results and its history can still be read by its id.
func Archive(ctx context.Context, tx *store.Tx, team teams.ID, id ID) error {
	n, err := tx.Exec(ctx, `UPDATE continuous_queries SET status = 'archived', updated_at = $3 WHERE team_id = $1 AND id = $2`,
		team, id, store.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("continuous: archiving a query: %w", err)
	}
	if n == 0 {
		return errNotFound()
	}
	tx.AfterCommit(func() { cachedQueries.Of(tx).forget(team) })
	return nil
}

func seconds(gap *time.Duration) any {
	if gap == nil {
		return nil
	}
	return int64(*gap / time.Second)
}

// errNotFound returns the error for unknown queries and for queries of other teams.
func errNotFound() error { return fault.New(fault.NotFound, "Continuous query not found") }

const queryColumns = `id, team_id, slug, title, status, query, config, minimum_gap, data_events`

func scan(row interface{ Scan(...any) error }) (q Query, err error) {
	var status Status
	var text, config string
	var gap sql.NullInt64
	if err := row.Scan(&q.ID, &q.Team, &q.Slug, &q.Title, &status, &text, &config, &gap, &q.DataEvents); err != nil {
		return q, err
	}
	q.Archived = status == Archived
	if gap.Valid {
		d := time.Duration(gap.Int64) * time.Second
		q.MinimumGap = &d
	}
	q.Query, q.Config, err = query.DecodeQuery([]byte(`{"query":`+text+`,"config":`+config+`}`), "query", "config")
	if err != nil {
		return q, fmt.Errorf("continuous: the stored query %v: %w", q.ID, err)
	}
	if q.plan, err = query.Compile(q.Query); err != nil {
		return q, fmt.Errorf("continuous: the stored query %v: %w", q.ID, err)
	}
	return q, nil
}

// Get reads a query of the team, an archived one too.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Query, error) {
	return scanOne(tx.QueryRow(ctx, `SELECT `+queryColumns+` FROM continuous_queries WHERE team_id = $1 AND id = $2`, team, id))
}

// Find reads a query by its id, or an active one by its slug, which may look
// like an id.
func Find(ctx context.Context, tx *store.Tx, team teams.ID, idOrSlug string) (Query, error) {
	if id, err := ids.Parse[Query](idOrSlug); err == nil {
		if q, err := Get(ctx, tx, team, id); !fault.Is(err, fault.NotFound) {
			return q, err
		}
	}
	return scanOne(tx.QueryRow(ctx, `SELECT `+queryColumns+` FROM continuous_queries
		WHERE team_id = $1 AND slug = $2 AND status = 'active'`, team, idOrSlug))
}

func scanOne(row store.Row) (Query, error) {
	q, err := scan(row)
	if errors.Is(err, store.ErrNoRows) {
		return Query{}, errNotFound()
	}
	return q, err
}

// List reads the team's active queries, the oldest first.
func List(ctx context.Context, tx *store.Tx, team teams.ID) ([]Query, error) {
	rows, err := tx.Query(ctx, `SELECT `+queryColumns+` FROM continuous_queries
		WHERE team_id = $1 AND status = 'active' ORDER BY id`, team)
	if err != nil {
		return nil, fmt.Errorf("continuous: listing queries: %w", err)
	}
	defer rows.Close()
	var all []Query
	for rows.Next() {
		q, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, rows.Err()
}

// cacheTTL limits how long a process uses its cached list of a team's queries. A change
// made on another node is seen after that. This only delays the first run of a new
// query to the next data, and that run covers all time.
const cacheTTL = 5 * time.Second

// maxCachedTeams bounds the memory for teams.
const maxCachedTeams = 10_000

// cachedQueries holds the active queries of teams. So storing data of a team without
// queries needs no SQL statement.
var cachedQueries = store.NewSlot(func() *queryCache { return &queryCache{} })

type queryCache struct {
	mu    sync.RWMutex
	teams map[teams.ID]cacheEntry
}

type cacheEntry struct {
	queries []Query
	until   time.Time
}

// forTeam returns the team's active queries, from the cache if the entry is younger than
// cacheTTL.
func (k *queryCache) forTeam(ctx context.Context, tx *store.Tx, team teams.ID) ([]Query, error) {
	k.mu.RLock()
	e, ok := k.teams[team]
	k.mu.RUnlock()
	if now := tx.Now(); ok && now.Before(e.until) && now.After(e.until.Add(-2*cacheTTL)) {
		return e.queries, nil
	}
	all, err := List(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	until := tx.Now().Add(cacheTTL)
	tx.AfterCommit(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.teams == nil || len(k.teams) >= maxCachedTeams {
			k.teams = map[teams.ID]cacheEntry{}
		}
		k.teams[team] = cacheEntry{all, until}
	})
	return all, nil
}

func (k *queryCache) forget(team teams.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.teams, team)
}
