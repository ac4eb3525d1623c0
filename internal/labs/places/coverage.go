package places

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Tier is the way in which a phlebotomist's visit is arranged.
//
// Reference 2.1.
type Tier string

// The tiers. An appointment-ready provider has times that can be booked
// immediately. An appointment-request provider calls back to arrange a time.
const (
	AppointmentReady   Tier = "appointment-ready"
	AppointmentRequest Tier = "appointment-request"
)

// Offer is the service of one phlebotomy provider in a ZIP code.
type Offer struct {
	ZIP       string // 5 digits
	Provider  string // slug
	Tier      Tier
	Days      Weekdays
	Earliest  int // start of the first visit: minute of the day in local time
	Latest    int // end of the last visit
	LeadHours int // minimum time between booking and visit
	TimeZone  string
}

// sandboxOffers are the coverage of sandbox teams without an import.
//
// Reference 1.15.
var sandboxOffers = []Offer{
	{ZIP: "85004", Provider: "getlabs", Tier: AppointmentReady, Days: EveryDay, Earliest: 6 * 60, Latest: 18 * 60, LeadHours: 12},
	{ZIP: "54650", Provider: "phlebfinders", Tier: AppointmentRequest, Days: EveryDay &^ (1 << 6), Earliest: 7 * 60, Latest: 17 * 60, LeadHours: 24},
}

// Coverage returns the offers in a ZIP code of 5 digits, or of 5 and 4, sorted by
// provider and tier. A code without a location has no offers.
func Coverage(ctx context.Context, tx *store.Tx, who Viewer, zip string) ([]Offer, error) {
	place, known := Zip(zip)
	if !known || !place.Located {
		return nil, nil
	}
	offers, err := importedOffers(ctx, tx, who.Team, place.ZIP)
	if err != nil {
		return nil, err
	}
	if who.Sandbox {
		for _, o := range sandboxOffers {
			if o.ZIP == place.ZIP && !slices.ContainsFunc(offers, o.matches) {
				offers = append(offers, o)
			}
		}
	}
	for i := range offers {
		offers[i].TimeZone = place.TimeZone
	}
	slices.SortFunc(offers, func(a, b Offer) int {
		if a.Provider != b.Provider {
			return strings.Compare(a.Provider, b.Provider)
		}
		return strings.Compare(string(a.Tier), string(b.Tier))
	})
	return offers, nil
}

// matches reports whether two offers have the same provider, tier and ZIP code.
func (o Offer) matches(other Offer) bool {
	return o.Provider == other.Provider && o.Tier == other.Tier && o.ZIP == other.ZIP
}

// importedOffers returns the offers of a ZIP code. An offer of the team
// replaces the offer of all teams with the same provider and tier.
func importedOffers(ctx context.Context, tx *store.Tx, team teams.ID, zip string) ([]Offer, error) {
	rows, err := tx.Query(ctx, `SELECT owner, provider, tier, days, earliest, latest, lead_hours FROM phlebotomy_coverage
		WHERE owner IN ($1, $2) AND zip = $3`, team, AllTeams, zip)
	if err != nil {
		return nil, fmt.Errorf("places: reading coverage: %w", err)
	}
	defer rows.Close()
	var own, all []Offer
	for rows.Next() {
		var owner teams.ID
		var days int64
		o := Offer{ZIP: zip}
		if err := rows.Scan(&owner, &o.Provider, &o.Tier, &days, &o.Earliest, &o.Latest, &o.LeadHours); err != nil {
			return nil, err
		}
		o.Days = Weekdays(days)
		if owner == team {
			own = append(own, o)
		} else {
			all = append(all, o)
		}
	}
	for _, o := range all {
		if !slices.ContainsFunc(own, o.matches) {
			own = append(own, o)
		}
	}
	return own, rows.Err()
}
