package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"

	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// HistoricalDone emits that the history of resources of a connection is complete, also
// if it is empty. It emits one event for each resource and run of the connection. It
// emits a further one if another history of the resource has changed something since. An
// open range extends to the oldest or newest data of the resource.
//
// Spec: Events, historical pull completed (is_final only for teams with
// reference_compat; with the source that every data event carries). Reference 7.10, 8.3.
func (in *Ingester) HistoricalDone(ctx context.Context, user users.User, provider string, ranges map[string]wearables.Range) error {
	if len(ranges) == 0 {
		return nil
	}
	var run string
	err := in.db.Write(ctx, func(tx *store.Tx) (err error) {
		if run, err = currentRun(ctx, tx, user, provider); err != nil {
			return err
		}
		var all []events.New
		for _, resource := range slices.Sorted(maps.Keys(ranges)) {
			event, err := announceHistory(ctx, tx, user, provider, run, wearables.EventName(resource), ranges[resource])
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

// currentRun names the current run of the user's connection to a provider: a new
// connection is a new run. It connects if there is no connection, also when the
// history is empty. Otherwise the end would belong to no run, and a second event
// would follow once data has made the connection.
func currentRun(ctx context.Context, tx *store.Tx, user users.User, provider string) (string, error) {
	run, err := connections.Run(ctx, tx, user, provider)
	if err != nil || run != "" {
		return run, err
	}
	if err := connections.Ensure(ctx, tx, user, provider, nil); err != nil {
		return "", err
	}
	return connections.Run(ctx, tx, user, provider)
}

// endHistories returns the events about the histories that the batch changes, if it ends
// them.
func (j *job) endHistories(ctx context.Context, tx *store.Tx) (all []events.New, err error) {
	if !j.ends || !slices.ContainsFunc(j.received, func(h receipt) bool { return h.changed }) {
		return nil, nil
	}
	run, err := currentRun(ctx, tx, j.whole, j.provider)
	if err != nil {
		return nil, err
	}
	for _, h := range j.received {
		if !h.changed {
			continue
		}
		event, err := announceHistory(ctx, tx, j.whole, j.provider, run, h.resource, wearables.Range{})
		if err != nil {
			return nil, err
		}
		all = append(all, event...)
	}
	return all, nil
}

// announceHistory returns the event about the history of a resource, or none if there
// was one in this run and nothing changed since.
func announceHistory(ctx context.Context, tx *store.Tx, user users.User, provider, run, resource string, r wearables.Range) ([]events.New, error) {
	r, err := closeRange(ctx, tx, user, provider, resource, r)
	if err != nil {
		return nil, err
	}
	fresh, err := tx.Exec(ctx, `INSERT INTO history_announced (team_id, user_id, provider, resource, run, start_at, end_at, announced_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (user_id, provider, resource, run) DO UPDATE
			SET start_at = excluded.start_at, end_at = excluded.end_at, announced_at = excluded.announced_at, changed = FALSE WHERE history_announced.changed`,
		user.Team.UUID(), user.ID.UUID(), provider, resource, run,
		store.Micros(r.Start), store.Micros(r.End), store.Micros(tx.Now()))
	if err != nil {
		return nil, err
	}
	if fresh == 0 {
		return nil, nil
	}
	compat, err := teams.ReferenceCompat(ctx, tx, user.Team)
	if err != nil {
		return nil, err
	}
	data := wearables.AppendUUID([]byte(`{"user_id":`), user.ID.UUID())
	data = wearables.AppendTime(append(data, `,"start_date":`...), r.Start.UnixMicro())
	data = wearables.AppendTime(append(data, `,"end_date":`...), r.End.UnixMicro())
	if compat { // Reference 8.3
		data = append(data, `,"is_final":true`...)
	}
	data = wearables.AppendText(append(data, `,"provider":`...), provider)
	data = append(wearables.AppendSource(append(data, `,"source":`...), wearables.Source{Provider: provider}, providers.LogosOf(tx)), '}')
	return []events.New{{
		Team: user.Team.UUID(), User: user.ID.UUID(), ClientUserID: user.ClientUserID,
		Type: resources.HistoricalEvent(resource), Data: data,
	}}, nil
}

// closeRange closes an open range: by the data of the resource, or by now if there is
// none.
func closeRange(ctx context.Context, tx *store.Tx, user users.User, provider, resource string, r wearables.Range) (wearables.Range, error) {
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

// countDays stores how many days of completed histories have data, unless that is
// stored. It reads years of data, so it reads outside the writer. If data arrives
// meanwhile, the count is discarded and made again when it is read.
func (in *Ingester) countDays(ctx context.Context, user users.User, provider, run string) error {
	var all []historyDays
	err := in.db.Scan(ctx, func(tx *store.Tx) (err error) {
		if all, err = uncountedHistories(ctx, tx, user, provider, run); err != nil {
			return err
		}
		for i := range all {
			c := &all[i]
			if c.days, err = storage.DaysWithData(ctx, tx, user.Team.UUID(), user.ID.UUID(), provider, c.resource, c.within); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return err
	}
	return in.db.Write(ctx, func(tx *store.Tx) error {
		for _, c := range all {
			if _, err := tx.Exec(ctx, `UPDATE history_announced AS h SET days = $6
				WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND resource = $4 AND run = $5 AND days IS NULL AND `+statisticsVersion+` = $7`,
				user.Team.UUID(), user.ID.UUID(), provider, c.resource, run, c.days, c.version); err != nil {
				return err
			}
		}
		return nil
	})
}

// historyDays counts the days of a history with data, as of a version of its
// statistics.
type historyDays struct {
	resource string
	within   wearables.Range
	days     int64
	version  string
}

// statisticsVersion is an expression that changes with each batch about the resource
// of a history h.
const statisticsVersion = `COALESCE((SELECT s.attempted_at || '/' || s.sent FROM resource_statistics s
	WHERE s.team_id = h.team_id AND s.user_id = h.user_id AND s.provider = h.provider AND s.resource = h.resource), '')`

func uncountedHistories(ctx context.Context, tx *store.Tx, user users.User, provider, run string) (all []historyDays, err error) {
	rows, err := tx.Query(ctx, `SELECT resource, start_at, end_at, `+statisticsVersion+` FROM history_announced h
		WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND run = $4 AND days IS NULL`, user.Team.UUID(), user.ID.UUID(), provider, run)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c historyDays
		if err := rows.Scan(&c.resource, store.ScanTime(&c.within.Start), store.ScanTime(&c.within.End), &c.version); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, errors.Join(rows.Err(), rows.Close())
}

// discardDays marks completed histories that the batch adds to, so that they are
// announced again, and removes their day counts.
// They are counted again when they are read, or when the history ends again: a large
// history in many batches is not counted with each.
func (j *job) discardDays(ctx context.Context, tx *store.Tx) error {
	if j.stage != wearables.Historical {
		return nil
	}
	for _, h := range j.received {
		if !h.changed {
			continue
		}
		if _, err := tx.Exec(ctx, `UPDATE history_announced SET days = NULL, changed = TRUE
			WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND resource = $4 AND (days IS NOT NULL OR NOT changed)`,
			j.team, j.user, j.provider, h.resource); err != nil {
			return err
		}
	}
	return nil
}
