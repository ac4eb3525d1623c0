package appointments

import (
	"context"
	"errors"
	"slices"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/places"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// horizon is how many days every answer covers.
//
// Spec: Limits, appointment availability.
const horizon = 14

// farthest is how many days ahead a search may begin. No calendar of a provider
// goes on for longer.
const farthest = 2 * 365

// Availability is the free times of some days.
//
// Reference 2.3.
type Availability struct {
	Days []Day
	// TimeZone is of the address; empty for service centers, which have one each.
	TimeZone string
}

// Day is the free times of one day, at one site for service centers.
type Day struct {
	Site  *NearSite
	Date  civil.Date // on the clock of the place
	Slots []Slot
}

// NearSite is a service center and the miles to it, when they are known.
type NearSite struct {
	places.Site
	Miles *float64
}

// Slot is a free time under a key that books it.
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
	errSilent     = fault.New(fault.Unavailable, "The appointment provider did not answer; try again")
)

// AtHome finds the times at which phlebotomists can come to an address.
func (s *Service) AtHome(ctx context.Context, who places.Viewer, at Address, start *civil.Date) (Availability, error) {
	var offers []places.Offer
	err := s.DB.Read(ctx, func(tx *store.Tx) error {
		settings, err := SettingsOf(ctx, tx, who.Team)
		if err != nil {
			return err
		}
		if err := settings.open(""); err != nil {
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
	zone, first, err := s.begins(offers[0].TimeZone, start)
	if err != nil {
		return Availability{}, err
	}
	found := newDays(first, zone)
	for _, offer := range offers {
		network, slots, err := s.ask(ctx, networks.SlotQuery{
			Team: who.Team.UUID(), Provider: offer.Provider, Zip: at.Zip[:5], Zone: zone.String(), Start: first, Now: s.DB.Now(), Sandbox: who.Sandbox,
		})
		if err != nil {
			return Availability{}, err
		}
		slots = slices.DeleteFunc(slots, func(slot networks.Slot) bool { return !within(offer, slot, zone, s.DB.Now()) })
		found.add(network, slots)
	}
	if found.empty() {
		return Availability{}, errNoZipSlots
	}
	days, err := s.hand(ctx, who, found, nil, &at)
	return Availability{Days: days, TimeZone: zone.String()}, err
}

// begins is the first day of an answer on the clock of a place.
func (s *Service) begins(zoneName string, start *civil.Date) (*time.Location, civil.Date, error) {
	zone, err := civil.Zone(zoneName)
	if err != nil {
		return nil, civil.Date{}, err
	}
	today := civil.DateOf(s.DB.Now().In(zone))
	switch {
	case start == nil:
		return zone, today, nil
	case start.Before(today):
		return nil, civil.Date{}, errPastDate
	case start.DaysSince(today) > farthest:
		return nil, civil.Date{}, errFarDate
	}
	return zone, *start, nil
}

// within reports whether a provider's own terms allow a slot: its days and
// hours on the clock of the place, and its notice.
func within(o places.Offer, slot networks.Slot, zone *time.Location, now time.Time) bool {
	start, end := slot.Start.In(zone), slot.End.In(zone)
	day := (int(start.Weekday()) + 6) % 7 // from Monday
	closes := minuteOf(end)
	if civil.DateOf(end) != civil.DateOf(start) {
		closes += 24 * 60
	}
	return o.Days.Has(day) && minuteOf(start) >= o.Earliest && closes <= o.Latest &&
		!slot.Start.Before(now.Add(time.Duration(o.LeadHours)*time.Hour))
}

// minuteOf is the minute of the day on the wall clock, whatever the zone did
// in the night.
func minuteOf(t time.Time) int { return t.Hour()*60 + t.Minute() }

// ask finds the network that has times of a provider, and these.
func (s *Service) ask(ctx context.Context, q networks.SlotQuery) (network string, slots []networks.Slot, err error) {
	for _, slug := range s.bookers(q.Sandbox) {
		slots, err = s.booker(slug).Slots(ctx, q)
		if errors.Is(err, networks.ErrUnsupported) {
			continue
		}
		if err != nil {
			s.Log.WarnContext(ctx, "asking for free times", "network", slug, "provider", q.Provider, "error", err)
			return "", nil, errSilent
		}
		return slug, slots, nil
	}
	return "", nil, nil
}

// days are the slots of an answer, by day.
type days struct {
	first civil.Date
	zone  *time.Location
	slots [horizon][]offered
}

// offered is a slot and the network that has it.
type offered struct {
	network string
	networks.Slot
}

func newDays(first civil.Date, zone *time.Location) *days { return &days{first: first, zone: zone} }

// add sorts slots into their days on the clock of the place; what begins
// outside of them is left out.
func (d *days) add(network string, slots []networks.Slot) {
	for _, slot := range slots {
		n := civil.DateOf(slot.Start.In(d.zone)).DaysSince(d.first)
		if n >= 0 && n < horizon && slot.End.After(slot.Start) {
			d.slots[n] = append(d.slots[n], offered{network, slot})
		}
	}
}

func (d *days) empty() bool {
	return !slices.ContainsFunc(d.slots[:], func(day []offered) bool { return len(day) > 0 })
}

// hand gives out a key for each slot that is still to come.
func (s *Service) hand(ctx context.Context, who places.Viewer, d *days, site *NearSite, at *Address) (all []Day, err error) {
	fill := func(tx *store.Tx) error {
		all = make([]Day, horizon)
		for n, slots := range d.slots {
			all[n] = Day{Site: site, Date: d.first.AddDays(n), Slots: []Slot{}}
			slices.SortStableFunc(slots, func(a, b offered) int { return a.Start.Compare(b.Start) })
			for _, o := range slots {
				if !o.Start.After(tx.Now()) {
					continue
				}
				t := ticket{Network: o.network, Kind: AtCenter, Slot: o.Slot, Address: at, Expires: tx.Now().Add(keyLife).Truncate(time.Second)}
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
	if errors.Is(err, store.ErrNoKey) { // the team has sealed nothing yet, and gets its key now
		err = s.DB.Write(ctx, fill)
	}
	return all, err
}
