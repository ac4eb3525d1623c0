package connections

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// A user's data can be asked for eight times within an hour.
//
// Reference 5.6.
const (
	mostRefreshes = 8
	refreshWindow = time.Hour
)

// TooOftenError says that a user's data was asked for too often.
type TooOftenError struct{ Wait time.Duration }

func (e *TooOftenError) Error() string {
	return "A user's data can be refreshed 8 times within an hour"
}

// Kind is TooMany.
func (e *TooOftenError) Kind() fault.Kind { return fault.TooMany }

// RetryAfter is in seconds, rounded up.
func (e *TooOftenError) RetryAfter() int { return int((e.Wait + time.Second - 1) / time.Second) }

// Refresh asks for new data of a user now. Phones send by themselves, people
// type when they like, and neither can be asked; invented data is made by
// whoever calls. Sources of other providers, as provider/resource, are returned
// as failed: nothing connects this service to them. A user without any
// connection is refused.
//
// Reference 5.6.
func Refresh(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (failed []string, err error) {
	if err := users.Exists(ctx, tx, team, user); err != nil {
		return nil, err
	}
	if err := countRefresh(ctx, tx, team, user); err != nil {
		return nil, err
	}
	all, err := List(ctx, tx, team, user)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fault.New(fault.Refused, "User has no connected sources")
	}
	demos, err := demosOf(ctx, tx, team, user)
	if err != nil {
		return nil, err
	}
	failed = []string{}
	for _, c := range all {
		_, invented := demos[c.Provider.Slug]
		if !invented && !c.Provider.PushedByPhone() && c.Provider.Slug != users.Manual {
			failed = append(failed, c.Sources()...)
		}
	}
	return failed, nil
}

// Sources are the connection's resources as provider/resource.
func (c Connection) Sources() []string {
	var all []string
	for resource := range c.Resources {
		all = append(all, c.Provider.Slug+"/"+resource)
	}
	slices.Sort(all)
	return all
}

// countRefresh counts within an hour that starts with the first refresh. A
// refused one leaves no trace, since its transaction is rolled back.
func countRefresh(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	var n int64
	var began time.Time
	err := tx.QueryRow(ctx, `INSERT INTO refreshes (team_id, user_id, began, n) VALUES ($1, $2, $3, 1)
		ON CONFLICT (team_id, user_id) DO UPDATE SET
			n = CASE WHEN refreshes.began <= $4 THEN 1 ELSE refreshes.n + 1 END,
			began = CASE WHEN refreshes.began <= $4 THEN excluded.began ELSE refreshes.began END
		RETURNING n, began`, team, user, tx.Now(), tx.Now().Add(-refreshWindow)).Scan(&n, store.ScanTime(&began))
	if err != nil {
		return fmt.Errorf("connections: counting a refresh: %w", err)
	}
	if n > mostRefreshes {
		return &TooOftenError{Wait: began.Add(refreshWindow).Sub(tx.Now())}
	}
	return nil
}
