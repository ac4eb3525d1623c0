package appointments

import (
	"sync"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/places"
	"hale/internal/platform/civil"
)

// Times of service centers that were heard lately serve searches that allow
// it, for 21 days ahead.
//
// Reference 2.3, cache.
const (
	freshFor   = 15 * time.Minute
	keptAhead  = 21 // days
	mostCached = 2_000
)

// siteKey names a site for everybody who sees it with the same eyes.
type siteKey struct {
	viewer    places.Viewer
	lab, code string
}

func siteOf(who places.Viewer, site places.Site) siteKey { return siteKey{who, site.Lab, site.Code} }

// said is what a site said of one day.
type said struct {
	at      time.Time
	network string
	slots   []networks.Slot
}

// staleTimes remembers what sites said, by day. Its zero value is ready.
type staleTimes struct {
	mu    sync.Mutex
	sites map[siteKey]map[civil.Date]said
}

// keep notes the horizon of days from first that a site spoke of.
func (c *staleTimes) keep(now time.Time, site siteKey, network string, first civil.Date, slots []networks.Slot, zone *time.Location) {
	today := civil.DateOf(now.In(zone))
	fresh := map[civil.Date]said{}
	for n := range horizon {
		if day := first.AddDays(n); day.DaysSince(today) < keptAhead {
			fresh[day] = said{at: now, network: network}
		}
	}
	for _, slot := range slots {
		day := civil.DateOf(slot.Start.In(zone))
		if h, ok := fresh[day]; ok {
			h.slots = append(h.slots, slot)
			fresh[day] = h
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sites == nil || len(c.sites) >= mostCached {
		c.sites = map[siteKey]map[civil.Date]said{}
	}
	for day, h := range c.sites[site] {
		if _, newer := fresh[day]; !newer && !day.Before(today) {
			fresh[day] = h
		}
	}
	c.sites[site] = fresh
}

// forget drops a site that turned out to be otherwise.
func (c *staleTimes) forget(site siteKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sites, site)
}

// forgetOf drops the site of an appointment whose slot was taken.
func (c *staleTimes) forgetOf(a *Appointment, sandbox bool) {
	if a.Kind == AtCenter {
		c.forget(siteKey{places.Viewer{Team: a.Team, Sandbox: sandbox}, a.Provider, a.Body.Site})
	}
}

// allFresh reports that every day of the answer was heard of every site less
// than 15 minutes ago.
func (c *staleTimes) allFresh(now time.Time, who places.Viewer, q CenterQuery, sites []NearSite) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, site := range sites {
		zone, err := civil.Zone(ZoneOf(who, site.Site))
		if err != nil {
			return false
		}
		first := civil.DateOf(now.In(zone))
		if q.Start != nil {
			first = *q.Start
		}
		known := c.sites[siteOf(who, site.Site)]
		for n := range horizon {
			if h, ok := known[first.AddDays(n)]; !ok || now.Sub(h.at) >= freshFor {
				return false
			}
		}
	}
	return true
}

// slots are all that is remembered of a site.
func (c *staleTimes) slots(site siteKey) (network string, all []networks.Slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.sites[site] {
		network = h.network
		all = append(all, h.slots...)
	}
	return network, all
}
