package places

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Tier says how a visit of a phlebotomist is arranged.
//
// Reference 2.1.
type Tier string

// The tiers: an appointment-ready provider has times that can be booked at
// once, an appointment-request provider calls back to agree one.
const (
	AppointmentReady   Tier = "appointment-ready"
	AppointmentRequest Tier = "appointment-request"
)

// Offer is what a phlebotomy provider offers in a ZIP code.
type Offer struct {
	ZIP       string // 5 digits
	Provider  string // slug
	Tier      Tier
	Days      Weekdays
	Earliest  int // minute of the day at which the first visit begins, on the clock of the place
	Latest    int // and by which the last one ends
	LeadHours int // between booking and visit, at least
	TimeZone  string
}

// sandboxOffers are where a team in sandbox finds phlebotomists without an
// import.
//
// Reference 1.15.
var sandboxOffers = []Offer{
	{ZIP: "85004", Provider: "getlabs", Tier: AppointmentReady, Days: EveryDay, Earliest: 6 * 60, Latest: 18 * 60, LeadHours: 12},
	{ZIP: "54650", Provider: "phlebfinders", Tier: AppointmentRequest, Days: EveryDay &^ (1 << 6), Earliest: 7 * 60, Latest: 17 * 60, LeadHours: 24},
}

// Coverage is what is offered in a ZIP code of 5 digits, or of 5 and 4, by
// provider and tier. Nobody visits a code that has no place on the map.
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
			if o.ZIP == place.ZIP && !slices.ContainsFunc(offers, o.same) {
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

// same tells whether two offers are of one provider, tier and ZIP code.
func (o Offer) same(other Offer) bool {
	return o.Provider == other.Provider && o.Tier == other.Tier && o.ZIP == other.ZIP
}

// importedOffers are the offers of a ZIP code; the team's own stand before
// everybody's of the same provider and tier.
func importedOffers(ctx context.Context, tx *store.Tx, team teams.ID, zip string) ([]Offer, error) {
	rows, err := tx.Query(ctx, `SELECT owner, provider, tier, days, earliest, latest, lead_hours FROM phlebotomy_coverage
		WHERE owner IN ($1, $2) AND zip = $3`, team, Everybody, zip)
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
		if !slices.ContainsFunc(own, o.same) {
			own = append(own, o)
		}
	}
	return own, rows.Err()
}
