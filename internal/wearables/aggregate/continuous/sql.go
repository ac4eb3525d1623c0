package continuous

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/aggregate/query"
)

// errNotFound is the answer for unknown queries and those of other teams.
func errNotFound() error { return fault.New(fault.NotFound, "Continuous query not found") }

const queryColumns = `id, team_id, slug, title, status, query, config, minimum_gap, data_events`

func scan(row interface{ Scan(...any) error }) (q Query, err error) {
	var status, text, config string
	var gap sql.NullInt64
	if err := row.Scan(&q.ID, &q.Team, &q.Slug, &q.Title, &status, &text, &config, &gap, &q.DataEvents); err != nil {
		return q, err
	}
	q.Archived = status == "archived"
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
	return found(tx.QueryRow(ctx, `SELECT `+queryColumns+` FROM continuous_queries WHERE team_id = $1 AND id = $2`, team, id))
}

// Find reads a query by its id, or an active one by its slug, which may look
// like an id.
func Find(ctx context.Context, tx *store.Tx, team teams.ID, idOrSlug string) (Query, error) {
	if id, err := ids.Parse[Query](idOrSlug); err == nil {
		if q, err := Get(ctx, tx, team, id); !fault.Is(err, fault.NotFound) {
			return q, err
		}
	}
	return found(tx.QueryRow(ctx, `SELECT `+queryColumns+` FROM continuous_queries
		WHERE team_id = $1 AND slug = $2 AND status = 'active'`, team, idOrSlug))
}

func found(row store.Row) (Query, error) {
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
