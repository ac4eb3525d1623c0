package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"

	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// HistoricalDone announces that the history of resources of a connection has
// been fetched to its end, also where there was none: one event for each
// resource, once in the present run of the connection. A range that is open
// reaches to the oldest or the newest that is known of the resource.
//
// Spec: Events, historical pull completed (without is_final; with the source
// that every data event carries). Reference 7.10, 8.3.
func (in *Ingester) HistoricalDone(ctx context.Context, user users.User, provider string, resources map[string]wearables.Range) error {
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
			event, err := in.announceHistory(ctx, tx, user, provider, run, wearables.EventName(resource), resources[resource])
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

func (in *Ingester) announceHistory(ctx context.Context, tx *store.Tx, user users.User, provider, run, resource string, r wearables.Range) ([]events.New, error) {
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
	data := wearables.AppendUUID([]byte(`{"user_id":`), user.ID.UUID())
	data = wearables.AppendTime(append(data, `,"start_date":`...), r.Start.UnixMicro())
	data = wearables.AppendTime(append(data, `,"end_date":`...), r.End.UnixMicro())
	data = wearables.AppendText(append(data, `,"provider":`...), provider)
	data = append(wearables.AppendSource(append(data, `,"source":`...), wearables.Source{Provider: provider}, in.Describe), '}')
	return []events.New{{
		Team: user.Team.UUID(), User: user.ID.UUID(), ClientUserID: user.ClientUserID,
		Type: "historical.data." + resource + ".created", Data: data,
	}}, nil
}

// bounded closes a range that is open, which is of a history whose bounds
// nobody told: by what came of it and after it, else by now.
func bounded(ctx context.Context, tx *store.Tx, user users.User, provider, resource string, r wearables.Range) (wearables.Range, error) {
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
		return wearables.Range{Start: oldest, End: newest}, nil
	case r.Start.IsZero():
		return wearables.Range{Start: oldest, End: r.End}.Join(wearables.Range{Start: r.End, End: r.End}), nil
	}
	return wearables.Range{Start: r.Start, End: newest}.Join(wearables.Range{Start: r.Start, End: r.Start}), nil
}
