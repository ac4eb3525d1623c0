package places

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// ImportOffers puts offers into the coverage of an owner, in the caller's
// transaction. What a full import does not name of the providers it names is
// removed.
func ImportOffers(ctx context.Context, tx *store.Tx, owner teams.ID, offers []Offer, full bool) ([]Change, error) {
	byProvider := map[string][]Offer{}
	for _, o := range offers {
		byProvider[o.Provider] = append(byProvider[o.Provider], o)
	}
	var changes []Change
	for _, provider := range slices.Sorted(maps.Keys(byProvider)) {
		change, err := importOffers(ctx, tx, owner, provider, byProvider[provider], full)
		if err != nil {
			return nil, fmt.Errorf("places: importing the coverage of %s: %w", provider, err)
		}
		changes = append(changes, change)
	}
	return changes, nil
}

func importOffers(ctx context.Context, tx *store.Tx, owner teams.ID, provider string, offers []Offer, full bool) (Change, error) {
	change := Change{List: provider}
	if err := tx.Lock(ctx, "coverage of "+provider); err != nil {
		return change, err
	}
	known, err := offersOf(ctx, tx, owner, provider)
	if err != nil {
		return change, err
	}
	for _, o := range offers {
		o.TimeZone = "" // follows from the ZIP code
		id := offerID{o.ZIP, o.Tier}
		old, exists := known[id]
		delete(known, id)
		switch {
		case exists && old == o:
			change.Unchanged++
			continue
		case exists:
			change.Updated++
		default:
			change.Created++
		}
		_, err := tx.Exec(ctx, `INSERT INTO phlebotomy_coverage (owner, zip, provider, tier, days, earliest, latest, lead_hours)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (owner, zip, provider, tier) DO UPDATE SET
			days = excluded.days, earliest = excluded.earliest, latest = excluded.latest, lead_hours = excluded.lead_hours`,
			owner, o.ZIP, o.Provider, string(o.Tier), int64(o.Days), o.Earliest, o.Latest, o.LeadHours)
		if err != nil {
			return change, err
		}
	}
	if !full {
		return change, nil
	}
	for id := range known {
		change.Ended++
		_, err := tx.Exec(ctx, `DELETE FROM phlebotomy_coverage WHERE owner = $1 AND zip = $2 AND provider = $3 AND tier = $4`,
			owner, id.zip, provider, string(id.tier))
		if err != nil {
			return change, err
		}
	}
	return change, nil
}

type offerID struct {
	zip  string
	tier Tier
}

func offersOf(ctx context.Context, tx *store.Tx, owner teams.ID, provider string) (map[offerID]Offer, error) {
	rows, err := tx.Query(ctx, `SELECT zip, tier, days, earliest, latest, lead_hours FROM phlebotomy_coverage
		WHERE owner = $1 AND provider = $2`, owner, provider)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := map[offerID]Offer{}
	for rows.Next() {
		var days int64
		o := Offer{Provider: provider}
		if err := rows.Scan(&o.ZIP, &o.Tier, &days, &o.Earliest, &o.Latest, &o.LeadHours); err != nil {
			return nil, err
		}
		o.Days = Weekdays(days)
		known[offerID{o.ZIP, o.Tier}] = o
	}
	return known, rows.Err()
}
