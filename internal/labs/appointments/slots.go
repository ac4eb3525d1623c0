package appointments

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"hale/internal/labs/labclock"
	"hale/internal/labs/networks"
	"hale/internal/labs/places"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// horizon is the number of days in every answer.
//
// Spec: Limits, appointment availability.
const horizon = 14

// maxAhead is the number of days ahead that a search may begin. No provider's
// calendar is longer.
const maxAhead = 2 * 365

// Availability holds the free slots of some days.
//
// Reference 2.3.
type Availability struct {
	Days []Day
	// TimeZone is the zone of the address; empty for service centers, which
	// have one each.
	TimeZone string
}

// Day holds the free slots of one day, at one site for service centers.
type Day struct {
	Site  *NearSite
	Date  civil.Date // in the zone of the place
	Slots []Slot
}

// NearSite is a service center and the miles to it, when they are known.
type NearSite struct {
	places.Site
	Miles *float64
}

// Slot is a free slot with the key that books it.
type Slot struct {
	networks.Slot
	Key     string
	Expires time.Time
}

// The refusals of searches. Reference 2.7.
var (
	errPastDate   = fault.New(fault.Refused, "start_date must be today or later").At("query", "start_date").WithType("start_date_past")
	errFarDate    = fault.New(fault.Refused, "start_date must be within two years").At("query", "start_date").WithType("start_date_far")
	errNoZipSlots = fault.New(fault.NotFound, "No appointment slots found for this zip_code")
	errNoSlots    = fault.New(fault.NotFound, "No appointment slots found")
	errNoAnswer   = fault.New(fault.Unavailable, "The appointment provider did not answer; try again").WithType("provider_no_answer")
)

// AtHome finds the slots at which phlebotomists can come to an address.
func (s *Service) AtHome(ctx context.Context, who places.Viewer, at Address, start *civil.Date) (Availability, error) {
	if err := at.check(); err != nil {
		return Availability{}, err
	}
	var offers []places.Offer
	var now time.Time
	err := s.DB.Read(ctx, func(tx *store.Tx) error {
		settings, err := SettingsOf(ctx, tx, who.Team)
		if err != nil {
			return err
		}
		if now, err = labclock.TimeOf(ctx, tx, who.Team); err != nil {
			return err
		}
		if err := settings.checkAllowed(""); err != nil {
			return err
		}
		offers, err = places.Coverage(ctx, tx, who, at.Zip)
		return err
	})
	if err != nil {
		return Availability{}, err
	}
	offers = slices.DeleteFunc(offers, func(o places.Offer) bool { return o.Tier != places.AppointmentReady })
	if len(offers) == 0 {
		return Availability{}, errNoZipSlots
	}
	zone, first, err := firstDay(offers[0].TimeZone, start, now)
	if err != nil {
		return Availability{}, err
	}
	found := newDays(first, zone)
	for _, offer := range offers {
		network, slots, err := s.askSlots(ctx, networks.SlotQuery{
			Team: who.Team.UUID(), Provider: offer.Provider, Zip: at.Zip[:5], Zone: zone.String(), Start: first, Now: now, Sandbox: who.Sandbox,
		})
		if err != nil {
			return Availability{}, err
		}
		slots = slices.DeleteFunc(slots, func(slot networks.Slot) bool { return !isOffered(offer, slot, zone, now) })
		found.add(network, slots)
	}
	if found.empty() {
		return Availability{}, errNoZipSlots
	}
	days, err := s.issueKeys(ctx, who, found, nil, &at)
	return Availability{Days: days, TimeZone: zone.String()}, err
}

// firstDay returns the zone of a place and the first day of an answer in it.
func firstDay(zoneName string, start *civil.Date, now time.Time) (*time.Location, civil.Date, error) {
	zone, err := civil.Zone(zoneName)
	if err != nil {
		return nil, civil.Date{}, err
	}
	today := civil.DateOf(now.In(zone))
	switch {
	case start == nil:
		return zone, today, nil
	case start.Before(today):
		return nil, civil.Date{}, errPastDate
	case start.DaysSince(today) > maxAhead:
		return nil, civil.Date{}, errFarDate
	}
	return zone, *start, nil
}

// isOffered reports whether a provider's own terms allow a slot: its days and
// hours in the zone of the place, and its notice.
func isOffered(o places.Offer, slot networks.Slot, zone *time.Location, now time.Time) bool {
	start, end := slot.Start.In(zone), slot.End.In(zone)
	day := (int(start.Weekday()) + 6) % 7 // from Monday
	closes := minuteOf(end)
	if civil.DateOf(end) != civil.DateOf(start) {
		closes += 24 * 60
	}
	return o.Days.Has(day) && minuteOf(start) >= o.Earliest && closes <= o.Latest &&
		!slot.Start.Before(now.Add(time.Duration(o.LeadHours)*time.Hour))
}

// isSiteOpen reports whether a site's own hours include a time, on the wall clock
// of its slots.
func isSiteOpen(site places.Site, start, end time.Time) bool {
	if site.Hours == nil {
		return true
	}
	day := (int(start.Weekday()) + 6) % 7 // from Monday
	return slices.ContainsFunc(site.Hours[day], func(s places.Span) bool { return s.Open <= minuteOf(start) && minuteOf(end) <= s.Close })
}

// minuteOf returns the minute of the day on the wall clock, also on days when
// the clock changes.
func minuteOf(t time.Time) int { return t.Hour()*60 + t.Minute() }

// askSlots finds the network that has a provider, and its slots.
func (s *Service) askSlots(ctx context.Context, q networks.SlotQuery) (network string, slots []networks.Slot, err error) {
	for _, slug := range s.bookers(q.Sandbox) {
		slots, err = s.booker(slug).Slots(ctx, q)
		if errors.Is(err, networks.ErrUnsupported) {
			continue
		}
		if err != nil {
			s.Log.WarnContext(ctx, "free times cannot be read", "network", slug, "provider", q.Provider, "error", err)
			return "", nil, errNoAnswer
		}
		return slug, slots, nil
	}
	return "", nil, nil
}

// dayTable holds the slots of an answer, by day.
type dayTable struct {
	first civil.Date
	zone  *time.Location
	slots [horizon][]networkSlot
}

// networkSlot is a slot and the network that has it.
type networkSlot struct {
	network string
	networks.Slot
}

func newDays(first civil.Date, zone *time.Location) *dayTable {
	return &dayTable{first: first, zone: zone}
}

// add sorts slots into their days in the zone of the place. It drops slots
// outside of these days.
func (d *dayTable) add(network string, slots []networks.Slot) {
	for _, slot := range slots {
		n := civil.DateOf(slot.Start.In(d.zone)).DaysSince(d.first)
		if n >= 0 && n < horizon && slot.End.After(slot.Start) {
			d.slots[n] = append(d.slots[n], networkSlot{network, slot})
		}
	}
}

func (d *dayTable) empty() bool {
	return !slices.ContainsFunc(d.slots[:], func(day []networkSlot) bool { return len(day) > 0 })
}

// issueKeys issues a key for each slot in the future.
func (s *Service) issueKeys(ctx context.Context, who places.Viewer, d *dayTable, site *NearSite, at *Address) (all []Day, err error) {
	fill := func(tx *store.Tx) error {
		now, err := labclock.TimeOf(ctx, tx, who.Team)
		if err != nil {
			return err
		}
		all = make([]Day, horizon)
		for n, slots := range d.slots {
			all[n] = Day{Site: site, Date: d.first.AddDays(n), Slots: []Slot{}}
			slices.SortStableFunc(slots, func(a, b networkSlot) int { return a.Start.Compare(b.Start) })
			for _, o := range slots {
				if !o.Start.After(now) {
					continue
				}
				t := bookingKey{Network: o.network, Kind: AtCenter, Slot: o.Slot, Address: at, Expires: tx.Now().Add(keyLife).Truncate(time.Second)}
				if at != nil {
					t.Kind = Phlebotomy
				}
				if o.Start.Before(t.Expires) {
					t.Expires = o.Start
				}
				key, err := t.seal(ctx, tx, who.Team)
				if err != nil {
					return err
				}
				all[n].Slots = append(all[n].Slots, Slot{o.Slot, key, t.Expires})
			}
		}
		return nil
	}
	err = s.DB.Read(ctx, fill)
	if errors.Is(err, store.ErrNoKey) { // the team has no key yet, and gets it now
		err = s.DB.Write(ctx, fill)
	}
	return all, err
}

// sandboxZone is the zone of every service center in sandbox.
//
// Reference 1.15.
const sandboxZone = "America/New_York"

const (
	// sites that a search can name
	maxCodes = 3
	// sites that a search around a ZIP code asks, nearest first
	maxNear = 10
)

// CenterQuery asks for the free slots of a lab's service centers: of named
// sites, or of those around a ZIP code.
type CenterQuery struct {
	Lab    string // one of Centers
	Start  *civil.Date
	Codes  []string
	Zip    string
	Radius *int // miles
	// AllowStale accepts slots from the cache that are less than 15 minutes
	// old.
	AllowStale bool
}

func invalidQuery(field, code, msg string) error {
	return fault.New(fault.Refused, msg).At("query", field).WithType(code)
}

var errFiltered = fault.New(fault.NotFound, "No appointment slots found: some sites were filtered out because they do not support appointment scheduling")

// check refuses an incomplete query. Reference 2.7.
func (q CenterQuery) check() error {
	switch {
	case len(q.Codes) > maxCodes:
		return invalidQuery("site_codes", "too_many_site_codes", "At most 3 site_codes can be given")
	case len(q.Codes) == 0 && q.Zip == "":
		return invalidQuery("site_codes", "site_codes_or_zip_code", "Either site_codes or zip_code must be given")
	case len(q.Codes) == 0 && q.Radius == nil:
		return invalidQuery("radius", "radius_missing", "radius must be given with zip_code")
	}
	return nil
}

// AtCenters finds free slots at service centers: 14 days of each site.
func (s *Service) AtCenters(ctx context.Context, who places.Viewer, q CenterQuery) (Availability, error) {
	if err := q.check(); err != nil {
		return Availability{}, err
	}
	var sites []NearSite
	var filtered bool
	var now time.Time
	err := s.DB.Read(ctx, func(tx *store.Tx) error {
		settings, err := SettingsOf(ctx, tx, who.Team)
		if err != nil {
			return err
		}
		if now, err = labclock.TimeOf(ctx, tx, who.Team); err != nil {
			return err
		}
		if err := settings.checkAllowed(q.Lab); err != nil {
			return err
		}
		sites, filtered, err = s.findSites(ctx, tx, who, q)
		return err
	})
	if err != nil {
		return Availability{}, err
	}
	if len(sites) == 0 && filtered {
		return Availability{}, errFiltered
	}
	return s.askSites(ctx, who, q, sites, filtered, now)
}

// findSites returns the sites of a query that offer appointments through us.
func (s *Service) findSites(ctx context.Context, tx *store.Tx, who places.Viewer, q CenterQuery) (sites []NearSite, filtered bool, err error) {
	if len(q.Codes) == 0 {
		return s.sitesNear(ctx, tx, who, q)
	}
	for i, code := range q.Codes {
		if slices.Contains(q.Codes[:i], code) {
			continue
		}
		site, err := s.Places.Site(ctx, tx, who, q.Lab, code)
		if fault.Is(err, fault.NotFound) {
			return nil, false, invalidQuery("site_codes", "site_unknown", "The site "+shorten(code)+" is unknown or inactive")
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

func (s *Service) sitesNear(ctx context.Context, tx *store.Tx, who places.Viewer, q CenterQuery) (sites []NearSite, filtered bool, err error) {
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
	for _, site := range found.Sites[:min(len(found.Sites), maxNear)] {
		sites = append(sites, NearSite{site.Site, &site.Miles})
	}
	return sites, all.Total > found.Total, nil
}

// ZoneOf returns the zone of a site.
func ZoneOf(who places.Viewer, site places.Site) string {
	if who.Sandbox {
		return sandboxZone
	}
	return site.TimeZone
}

// askSites asks all sites at once.
func (s *Service) askSites(ctx context.Context, who places.Viewer, q CenterQuery, sites []NearSite, filtered bool, now time.Time) (Availability, error) {
	found := make([]*dayTable, len(sites))
	errs := make([]error, len(sites))
	stale := q.AllowStale && s.siteCache.isFresh(now, who, q, sites)
	var wait sync.WaitGroup
	for i, site := range sites {
		wait.Go(func() { found[i], errs[i] = s.askSite(ctx, who, q, site, stale, now) })
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
		handed, err := s.issueKeys(ctx, who, found[i], &sites[i], nil)
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

// askSite returns the slots of one site, from the cache or from the network.
func (s *Service) askSite(ctx context.Context, who places.Viewer, q CenterQuery, site NearSite, stale bool, now time.Time) (*dayTable, error) {
	zone, first, err := firstDay(ZoneOf(who, site.Site), q.Start, now)
	if err != nil {
		return nil, err
	}
	d := newDays(first, zone)
	if stale {
		network, slots := s.siteCache.slots(siteOf(who, site.Site))
		d.add(network, slots)
		return d, nil
	}
	network, slots, err := s.askSlots(ctx, networks.SlotQuery{
		Team: who.Team.UUID(), Provider: q.Lab, Site: site.Code, Zip: site.ZIP, Zone: zone.String(), Start: first, Now: now, Sandbox: who.Sandbox,
		Open: func(start, end time.Time) bool { return isSiteOpen(site.Site, start.In(zone), end.In(zone)) },
	})
	if err != nil {
		return nil, err
	}
	slots = slices.DeleteFunc(slots, func(slot networks.Slot) bool { return !site.Open(civil.DateOf(slot.Start.In(zone))) })
	d.add(network, slots)
	s.siteCache.store(now, siteOf(who, site.Site), network, first, slots, zone)
	return d, nil
}

// shorten cuts a code to a length that identifies it.
func shorten(code string) string {
	if r := []rune(code); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return code
}
