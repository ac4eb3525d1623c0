package users

import (
	"context"
	"fmt"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Zones are the current and the former fallback time zones of a user. A new zone
// applies to data that arrives after the change.
type Zones struct {
	now    *TimeZone
	former []formerZone // in order
}

type formerZone struct {
	until time.Time
	zone  *TimeZone
}

// ZonesOf reads the zones of a user. Zones from before former zones were recorded are
// unknown.
func ZonesOf(ctx context.Context, tx *store.Tx, user User) (Zones, error) {
	z := Zones{now: user.TimeZone}
	rows, err := tx.Query(ctx, `SELECT until_at, zone FROM former_zones WHERE team_id = $1 AND user_id = $2 ORDER BY until_at`, user.Team, user.ID)
	if err != nil {
		return z, fmt.Errorf("users: reading former zones: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var f formerZone
		var name string
		if err := rows.Scan(store.ScanTime(&f.until), &name); err != nil {
			return z, fmt.Errorf("users: reading former zones: %w", err)
		}
		if name != "" {
			f.zone = &TimeZone{Name: name, SourceSlug: Manual}
		}
		z.former = append(z.former, f)
	}
	return z, rows.Err()
}

// At returns the zone at an instant; nil for none.
func (z *Zones) At(at time.Time) *TimeZone {
	for _, f := range z.former {
		if at.Before(f.until) {
			return f.zone
		}
	}
	return z.now
}

// Former returns the zones that the user had before, oldest first. nil means no
// zone.
func (z *Zones) Former() (all []*TimeZone) {
	for _, f := range z.former {
		all = append(all, f.zone)
	}
	return all
}

// insertFormerZone records the zone that a user had until now.
func insertFormerZone(ctx context.Context, tx *store.Tx, team teams.ID, id ID, zone string) error {
	_, err := tx.Exec(ctx, `INSERT INTO former_zones (team_id, user_id, until_at, zone) VALUES ($1, $2, $3, $4)
		ON CONFLICT (user_id, until_at) DO NOTHING`, team, id, store.Micros(tx.Now()), zone)
	if err != nil {
		return fmt.Errorf("users: recording a former zone: %w", err)
	}
	return nil
}
