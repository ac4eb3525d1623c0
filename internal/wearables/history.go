package wearables

import (
	"context"
	"maps"
	"slices"

	"hale/internal/events"
	"hale/internal/store"
	"hale/internal/users"
)

// HistoricalDone announces that the history of resources of a connection has
// been fetched to its end, also where there was none: one event for each
// resource, once in the present run of the connection.
//
// Spec: Events, historical pull completed (without is_final; with the source
// that every data event carries). Reference 7.10, 8.3.
func (in *Ingester) HistoricalDone(ctx context.Context, user users.User, provider string, resources map[string]Range) error {
	return in.DB.Write(ctx, func(tx *store.Tx) error {
		run := ""
		if in.Run != nil {
			var err error
			if run, err = in.Run(ctx, tx, user, provider); err != nil {
				return err
			}
		}
		var all []events.New
		for _, resource := range slices.Sorted(maps.Keys(resources)) {
			event, err := in.announceHistory(ctx, tx, user, provider, run, eventName(resource), resources[resource])
			if err != nil {
				return err
			}
			all = append(all, event...)
		}
		_, err := events.EmitMany(ctx, tx, all)
		return err
	})
}

func (in *Ingester) announceHistory(ctx context.Context, tx *store.Tx, user users.User, provider, run, resource string, r Range) ([]events.New, error) {
	fresh, err := tx.Exec(ctx, `INSERT INTO history_announced (team_id, user_id, provider, resource, run, start_at, end_at, announced_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (user_id, provider, resource, run) DO NOTHING`,
		user.Team.UUID(), user.ID.UUID(), provider, resource, run,
		store.Micros(r.Start), store.Micros(r.End), store.Micros(tx.Now()))
	if err != nil || fresh == 0 {
		return nil, err
	}
	// Counting opens blocks: not for an announcement that is repeated.
	days, err := daysWithData(ctx, tx, user, provider, resource, r)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `UPDATE history_announced SET days = $6
		WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND resource = $4 AND run = $5`,
		user.Team.UUID(), user.ID.UUID(), provider, resource, run, days); err != nil {
		return nil, err
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

// eventName is the resource's name in event types.
func eventName(resource string) string {
	if r, ok := ResourceNamed(resource); ok {
		return r.Event
	}
	return resource
}
