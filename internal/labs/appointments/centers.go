package appointments

import (
	"context"
	"slices"
	"sync"

	"hale/internal/labs/networks"
	"hale/internal/labs/places"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// sandboxZone is the clock of every service center in sandbox.
//
// Reference 1.15.
const sandboxZone = "America/New_York"

const (
	// mostCodes is how many sites a search can name.
	mostCodes = 3
	// mostNear is how many sites a search around a ZIP code asks, nearest first.
	mostNear = 10
)

// CenterQuery asks for the free times of a lab's service centers: of some
// sites, or of those around a ZIP code.
type CenterQuery struct {
	Lab    string // one of Centers
	Start  *civil.Date
	Codes  []string
	Zip    string
	Radius *int // miles
	// AllowStale takes times that were heard less than 15 minutes ago.
	AllowStale bool
}

func refused(field, code, msg string) error {
	return fault.New(fault.Refused, msg).At("query", field).WithType(code)
}

var errFiltered = fault.New(fault.NotFound, "No appointment slots found: some sites were filtered out because they do not support appointment scheduling")

// check refuses what cannot be searched for. Reference 2.7.
func (q CenterQuery) check() error {
	switch {
	case len(q.Codes) > mostCodes:
		return refused("site_codes", "too_many_site_codes", "At most 3 site_codes can be given")
	case len(q.Codes) == 0 && q.Zip == "":
		return refused("site_codes", "site_codes_or_zip_code", "Either site_codes or zip_code must be given")
	case len(q.Codes) == 0 && q.Radius == nil:
		return refused("radius", "radius_missing", "radius must be given with zip_code")
	}
	return nil
}

// AtCenters finds free times at service centers: 14 days of each site.
func (s *Service) AtCenters(ctx context.Context, who places.Viewer, q CenterQuery) (Availability, error) {
	if err := q.check(); err != nil {
		return Availability{}, err
	}
	var sites []NearSite
	var filtered bool
	err := s.DB.Read(ctx, func(tx *store.Tx) error {
		settings, err := SettingsOf(ctx, tx, who.Team)
		if err != nil {
			return err
		}
		if err := settings.open(q.Lab); err != nil {
			return err
		}
		sites, filtered, err = s.sites(ctx, tx, who, q)
		return err
	})
	if err != nil {
		return Availability{}, err
	}
	if len(sites) == 0 && filtered {
		return Availability{}, errFiltered
	}
	return s.timesOf(ctx, who, q, sites, filtered)
}

// sites are those that a query means and that take appointments through us.
func (s *Service) sites(ctx context.Context, tx *store.Tx, who places.Viewer, q CenterQuery) (sites []NearSite, filtered bool, err error) {
	if len(q.Codes) == 0 {
		return s.near(ctx, tx, who, q)
	}
	for i, code := range q.Codes {
		if slices.Contains(q.Codes[:i], code) {
			continue
		}
		site, err := s.Places.Site(ctx, tx, who, q.Lab, code)
		if fault.Is(err, fault.NotFound) {
			return nil, false, refused("site_codes", "site_unknown", "The site "+short(code)+" is unknown or inactive")
		}
		if err != nil {
			return nil, false, err
		}
		if site.Capabilities&places.ScheduledByUs == 0 {
			filtered = true
			continue
		}
		sites = append(sites, NearSite{Site: site})
	}
	return sites, filtered, nil
}

func (s *Service) near(ctx context.Context, tx *store.Tx, who places.Viewer, q CenterQuery) (sites []NearSite, filtered bool, err error) {
	place, known := places.Zip(q.Zip)
	if !known || !place.Located {
		return nil, false, nil
	}
	query := places.Query{Lab: q.Lab, From: place.Point, Miles: float64(*q.Radius)}
	all, err := s.Places.Count(ctx, tx, who, query)
	if err != nil {
		return nil, false, err
	}
	query.Capabilities = places.ScheduledByUs
	found, err := s.Places.Near(ctx, tx, who, query)
	if err != nil {
		return nil, false, err
	}
	for _, site := range found.Sites[:min(len(found.Sites), mostNear)] {
		sites = append(sites, NearSite{site.Site, &site.Miles})
	}
	return sites, all.Total > found.Total, nil
}

// ZoneOf is the clock of a site.
func ZoneOf(who places.Viewer, site places.Site) string {
	if who.Sandbox {
		return sandboxZone
	}
	return site.TimeZone
}

// timesOf asks all sites at once.
func (s *Service) timesOf(ctx context.Context, who places.Viewer, q CenterQuery, sites []NearSite, filtered bool) (Availability, error) {
	found := make([]*days, len(sites))
	errs := make([]error, len(sites))
	stale := q.AllowStale && s.stale.allFresh(s.DB.Now(), who, q, sites)
	var wait sync.WaitGroup
	for i, site := range sites {
		wait.Go(func() { found[i], errs[i] = s.timesAt(ctx, who, q, site, stale) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return Availability{}, err
		}
	}
	var all Availability
	some := false
	for i := range sites {
		some = some || !found[i].empty()
		handed, err := s.hand(ctx, who, found[i], &sites[i], nil)
		if err != nil {
			return Availability{}, err
		}
		all.Days = append(all.Days, handed...)
	}
	switch {
	case some:
		return all, nil
	case filtered:
		return Availability{}, errFiltered
	case q.Zip != "" && len(q.Codes) == 0:
		return Availability{}, errNoZipSlots
	}
	return Availability{}, errNoSlots
}

// timesAt are the times of one site, as they were heard lately or live.
func (s *Service) timesAt(ctx context.Context, who places.Viewer, q CenterQuery, site NearSite, stale bool) (*days, error) {
	zone, first, err := s.begins(ZoneOf(who, site.Site), q.Start)
	if err != nil {
		return nil, err
	}
	d := newDays(first, zone)
	if stale {
		network, slots := s.stale.slots(siteOf(who, site.Site))
		d.add(network, slots)
		return d, nil
	}
	now := s.DB.Now()
	network, slots, err := s.ask(ctx, networks.SlotQuery{
		Team: who.Team.UUID(), Provider: q.Lab, Site: site.Code, Zip: site.ZIP, Zone: zone.String(), Start: first, Now: now, Sandbox: who.Sandbox,
	})
	if err != nil {
		return nil, err
	}
	d.add(network, slots)
	s.stale.keep(now, siteOf(who, site.Site), network, first, slots, zone)
	return d, nil
}

// short is enough of a code to know it by.
func short(code string) string {
	if r := []rune(code); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return code
}
