package wearables

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// HistoricalDone announces that the history of resources of a connection has
// been fetched to its end, also where there was none: one event for each
// resource, once in the present run of the connection. A range that is open
// reaches to the oldest or the newest that is known of the resource.
//
// Spec: Events, historical pull completed (without is_final; with the source
// that every data event carries). Reference 7.10, 8.3.
func (in *Ingester) HistoricalDone(ctx context.Context, user users.User, provider string, resources map[string]Range) error {
	if len(resources) == 0 {
		return nil
	}
	var run string
	err := in.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if run, err = in.run(ctx, tx, user, provider); err != nil {
			return err
		}
		var all []events.New
		for _, resource := range slices.Sorted(maps.Keys(resources)) {
			event, err := in.announceHistory(ctx, tx, user, provider, run, eventName(resource), resources[resource])
			if err != nil {
				return err
			}
			all = append(all, event...)
		}
		_, err = events.EmitMany(ctx, tx, all)
		return err
	})
	if err != nil {
		return err
	}
	return in.countDays(ctx, user, provider, run)
}

// run names the present run of the connection. The end of a history connects as
// data does, also where there was none: else it would be of no run, and told
// once more when data has made the connection.
func (in *Ingester) run(ctx context.Context, tx *store.Tx, user users.User, provider string) (string, error) {
	if in.Run == nil {
		return "", nil
	}
	run, err := in.Run(ctx, tx, user, provider)
	if err != nil || run != "" || in.Connect == nil {
		return run, err
	}
	if err := in.Connect(ctx, tx, user, provider, nil); err != nil {
		return "", err
	}
	return in.Run(ctx, tx, user, provider)
}

func (in *Ingester) announceHistory(ctx context.Context, tx *store.Tx, user users.User, provider, run, resource string, r Range) ([]events.New, error) {
	r, err := bounded(ctx, tx, user, provider, resource, r)
	if err != nil {
		return nil, err
	}
	fresh, err := tx.Exec(ctx, `INSERT INTO history_announced (team_id, user_id, provider, resource, run, start_at, end_at, announced_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (user_id, provider, resource, run) DO NOTHING`,
		user.Team.UUID(), user.ID.UUID(), provider, resource, run,
		store.Micros(r.Start), store.Micros(r.End), store.Micros(tx.Now()))
	if err != nil {
		return nil, err
	}
	if fresh == 0 {
		return nil, nil
	}
	data := appendUUID([]byte(`{"user_id":`), user.ID.UUID())
	data = appendTime(append(data, `,"start_date":`...), r.Start.UnixMicro())
	data = appendTime(append(data, `,"end_date":`...), r.End.UnixMicro())
	data = appendText(append(data, `,"provider":`...), provider)
	data = append(AppendSource(append(data, `,"source":`...), Source{Provider: provider}, in.Describe), '}')
	return []events.New{{
		Team: user.Team.UUID(), User: user.ID.UUID(), ClientUserID: user.ClientUserID,
		Type: "historical.data." + resource + ".created", Data: data,
	}}, nil
}

// bounded closes a range that is open, which is of a history whose bounds
// nobody told: by what came of it and after it, else by now.
func bounded(ctx context.Context, tx *store.Tx, user users.User, provider, resource string, r Range) (Range, error) {
	if !r.Start.IsZero() && !r.End.IsZero() {
		return r, nil
	}
	oldest, newest := tx.Now(), tx.Now()
	err := tx.QueryRow(ctx, `SELECT oldest, newest FROM resource_statistics WHERE team_id = $1 AND user_id = $2
		AND provider = $3 AND resource = $4 AND history_since IS NOT NULL AND oldest IS NOT NULL`,
		user.Team.UUID(), user.ID.UUID(), provider, resource).Scan(store.ScanTime(&oldest), store.ScanTime(&newest))
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return r, err
	}
	switch {
	case r.Start.IsZero() && r.End.IsZero():
		return Range{oldest, newest}, nil
	case r.Start.IsZero():
		return Range{earlier(oldest, r.End), r.End}, nil
	}
	return Range{r.Start, later(r.Start, newest)}, nil
}

// HeardBefore names the resources of which the first data of a provider came to
// the user between two moments: when the present run of the connection began, and
// the end.
func HeardBefore(ctx context.Context, tx *store.Tx, team, user uuid.UUID, provider string, began, end time.Time) (all []string, err error) {
	rows, err := tx.Query(ctx, `SELECT resource FROM series WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND created_at >= $4 AND created_at < $5
		UNION SELECT resource FROM summaries WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND created_at >= $4 AND created_at < $5`,
		team, user, provider, store.Micros(began), store.Micros(end))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if all = append(all, name); name == "workouts" {
			all = append(all, WorkoutStream)
		}
	}
	return all, rows.Err()
}

// eventName is the resource's name in event types.
func eventName(resource string) string {
	if r, ok := ResourceNamed(resource); ok {
		return r.Event
	}
	return resource
}
