package connections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// A demo connection shows a provider's data. A user of a sandbox team without real
// connections gets generated data, and more every two hours. The user is removed after
// a week. Package demo generates the data.
//
// Reference 6.8.

// DemoProviders lists the providers with generated data.
//
// Reference 6.4, DemoProviders.
var DemoProviders = []string{"apple_health_kit", "fitbit", "freestyle_libre", "oura"}

// DemoLife is the lifetime of a demo user.
//
// Reference 6.8.
const DemoLife = 7 * 24 * time.Hour

// Demo is one demo connection.
type Demo struct {
	Team     teams.ID
	User     users.ID
	Provider string
	Days     int        // length of the history
	FilledTo *time.Time // end of the generated data; nil before the first run
}

// ConnectDemo connects a user to a provider of generated data, with a history of some
// days. Repeating it changes nothing. A user with a real connection is refused: the end of the demo would remove
// the real data.
func ConnectDemo(ctx context.Context, tx *store.Tx, user users.User, provider string, resources []string, days int) error {
	if !slices.Contains(DemoProviders, provider) {
		return fault.NotInEnum(DemoProviders).At("body", "provider")
	}
	team, err := teams.Get(ctx, tx, user.Team)
	if err != nil {
		return fmt.Errorf("connections: reading a team: %w", err)
	}
	if team.Environment != teams.Sandbox {
		return fault.New(fault.Refused, "Demo connections are only available in sandbox")
	}
	demos, err := demosOf(ctx, tx, user.Team, user.ID)
	if err != nil {
		return err
	}
	all, err := List(ctx, tx, user.Team, user.ID)
	if err != nil {
		return err
	}
	connected := false
	for _, c := range all {
		if _, invented := demos[c.Provider.Slug]; !invented {
			return fault.New(fault.Refused, "The user already has a connection that is no demo; use another user")
		}
		connected = connected || c.Provider.Slug == provider
	}
	if connected {
		return nil
	}
	ends := tx.Now().Add(DemoLife)
	for _, first := range demos {
		if first.ends.Before(ends) {
			ends = first.ends
		}
	}
	if _, err := tx.Exec(ctx, `INSERT INTO demo_connections (team_id, user_id, provider, filled_to, ends_at, days) VALUES ($1, $2, $3, NULL, $4, $5)
		ON CONFLICT (team_id, user_id, provider) DO UPDATE SET filled_to = NULL, days = excluded.days`,
		user.Team, user.ID, provider, ends, days); err != nil {
		return fmt.Errorf("connections: storing a demo: %w", err)
	}
	return create(ctx, tx, user, provider, resources)
}

// demoRow is the row of a demo.
type demoRow struct {
	days     int
	filledTo *time.Time
	ends     time.Time
}

func demosOf(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (map[string]demoRow, error) {
	rows, err := tx.Query(ctx, `SELECT provider, days, filled_to, ends_at FROM demo_connections WHERE team_id = $1 AND user_id = $2`, team, user)
	if err != nil {
		return nil, fmt.Errorf("connections: reading demos: %w", err)
	}
	defer rows.Close()
	found := map[string]demoRow{}
	for rows.Next() {
		var provider string
		var d demoRow
		if err := rows.Scan(&provider, &d.days, store.ScanNullTime(&d.filledTo), store.ScanTime(&d.ends)); err != nil {
			return nil, fmt.Errorf("connections: reading demos: %w", err)
		}
		found[provider] = d
	}
	return found, rows.Err()
}

// refuseDemoUser refuses a real connection for a user of a demo, who will be removed.
func refuseDemoUser(ctx context.Context, tx *store.Tx, user users.User, provider string) error {
	demos, err := demosOf(ctx, tx, user.Team, user.ID)
	if err != nil {
		return err
	}
	if _, invented := demos[provider]; len(demos) > 0 && !invented {
		return fault.New(fault.Refused, "The user has demo data and is going to be removed; use another user")
	}
	return nil
}

// DemoOf returns a user's demo connection to a provider.
func DemoOf(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, provider string) (d Demo, ok bool, err error) {
	if _, err := find(ctx, tx, team, user, provider); errors.Is(err, store.ErrNoRows) {
		return d, false, nil
	} else if err != nil {
		return d, false, err
	}
	all, err := demosOf(ctx, tx, team, user)
	one, ok := all[provider]
	return Demo{Team: team, User: user, Provider: provider, Days: one.days, FilledTo: one.filledTo}, ok, err
}

// DemosOf returns a user's demo connections, in the order of List.
func DemosOf(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([]Connection, error) {
	demos, err := demosOf(ctx, tx, team, user)
	if err != nil || len(demos) == 0 {
		return nil, err
	}
	all, err := List(ctx, tx, team, user)
	return slices.DeleteFunc(all, func(c Connection) bool {
		_, invented := demos[c.Provider.Slug]
		return !invented
	}), err
}

// SetFilled stores the end of the generated data of a demo.
func SetFilled(ctx context.Context, tx *store.Tx, d Demo, to time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE demo_connections SET filled_to = $4 WHERE team_id = $1 AND user_id = $2 AND provider = $3`,
		d.Team, d.User, d.Provider, to)
	if err != nil {
		return fmt.Errorf("connections: updating a demo: %w", err)
	}
	return nil
}

// ActiveDemos returns a page of the demo connections of all teams that have not ended.
// ctx is the system's.
func ActiveDemos(ctx context.Context, tx *store.Tx, after Demo, most int) ([]Demo, error) {
	rows, err := tx.Query(ctx, `SELECT d.team_id, d.user_id, d.provider FROM demo_connections d
		JOIN connections c ON c.team_id = d.team_id AND c.user_id = d.user_id AND c.provider = d.provider
		WHERE d.ends_at > $1 AND (d.team_id, d.user_id, d.provider) > ($2, $3, $4)
		ORDER BY d.team_id, d.user_id, d.provider LIMIT $5`, tx.Now(), after.Team, after.User, after.Provider, most)
	if err != nil {
		return nil, fmt.Errorf("connections: listing demos: %w", err)
	}
	defer rows.Close()
	var all []Demo
	for rows.Next() {
		var d Demo
		if err := rows.Scan(&d.Team, &d.User, &d.Provider); err != nil {
			return nil, fmt.Errorf("connections: listing demos: %w", err)
		}
		all = append(all, d)
	}
	return all, rows.Err()
}

// EndedDemos returns at most most users of all teams whose demo has ended. ctx is the
// system's.
func EndedDemos(ctx context.Context, tx *store.Tx, most int) ([]Demo, error) {
	rows, err := tx.Query(ctx, `SELECT DISTINCT team_id, user_id FROM demo_connections WHERE ends_at <= $1
		ORDER BY team_id, user_id LIMIT $2`, tx.Now(), most)
	if err != nil {
		return nil, fmt.Errorf("connections: listing ended demos: %w", err)
	}
	defer rows.Close()
	var all []Demo
	for rows.Next() {
		var d Demo
		if err := rows.Scan(&d.Team, &d.User); err != nil {
			return nil, fmt.Errorf("connections: listing ended demos: %w", err)
		}
		all = append(all, d)
	}
	return all, rows.Err()
}
