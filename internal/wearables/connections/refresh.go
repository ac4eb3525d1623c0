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

// A user's data can be refreshed eight times an hour.
//
// Reference 5.6.
const (
	maxRefreshes  = 8
	refreshWindow = time.Hour
)

// TooOftenError says that a user's data was refreshed too often.
type TooOftenError struct{ Wait time.Duration }

func (e *TooOftenError) Error() string {
	return "A user's data can be refreshed 8 times within an hour"
}

// Kind returns TooMany.
func (e *TooOftenError) Kind() fault.Kind { return fault.TooMany }

// RetryAfter returns seconds, rounded up.
func (e *TooOftenError) RetryAfter() int { return int((e.Wait + time.Second - 1) / time.Second) }

// Refresh counts a refresh of a user's data. It returns the sources that cannot be
// refreshed, as provider/resource, because this service is not connected to them.
// Phones and manual entries need no refresh. The caller makes new demo data. A user
// without a connection is refused.
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

// Sources returns the connection's resources as provider/resource.
func (c Connection) Sources() []string {
	var all []string
	for resource := range c.Resources {
		all = append(all, c.Provider.Slug+"/"+resource)
	}
	slices.Sort(all)
	return all
}

// countRefresh counts refreshes within an hour that starts with the first one. A
// refused one is rolled back and does not count.
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
	if n > maxRefreshes {
		return &TooOftenError{Wait: began.Add(refreshWindow).Sub(tx.Now())}
	}
	return nil
}
