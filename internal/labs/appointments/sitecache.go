package appointments

import (
	"sync"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/places"
	"hale/internal/platform/civil"
)

// Recent answers of service centers serve searches that allow it, for 21 days
// ahead.
//
// Reference 2.3, cache.
const (
	freshness  = 15 * time.Minute
	cachedDays = 21 // days
	maxCached  = 2_000
)

// siteKey names a site for all viewers of one kind.
type siteKey struct {
	viewer    places.Viewer
	lab, code string
}

func siteOf(who places.Viewer, site places.Site) siteKey { return siteKey{who, site.Lab, site.Code} }

// cachedDay is a site's answer for one day.
type cachedDay struct {
	at      time.Time
	network string
	slots   []networks.Slot
}

// siteCache keeps the answers of sites, by day. Its zero value is ready.
type siteCache struct {
	mu    sync.Mutex
	sites map[siteKey]map[civil.Date]cachedDay
}

// store keeps the days from first on, one horizon long, of a site's answer.
func (c *siteCache) store(now time.Time, site siteKey, network string, first civil.Date, slots []networks.Slot, zone *time.Location) {
	today := civil.DateOf(now.In(zone))
	fresh := map[civil.Date]cachedDay{}
	for n := range horizon {
		if day := first.AddDays(n); day.DaysSince(today) < cachedDays {
			fresh[day] = cachedDay{at: now, network: network}
		}
	}
	for _, slot := range slots {
		day := civil.DateOf(slot.Start.In(zone))
		if c, ok := fresh[day]; ok {
			c.slots = append(c.slots, slot)
			fresh[day] = c
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sites == nil || len(c.sites) >= maxCached {
		c.sites = map[siteKey]map[civil.Date]cachedDay{}
	}
	for day, h := range c.sites[site] {
		if _, newer := fresh[day]; !newer && !day.Before(today) {
			fresh[day] = h
		}
	}
	c.sites[site] = fresh
}

// forget drops a site whose answer turned out to be wrong.
func (c *siteCache) forget(site siteKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sites, site)
}

// forgetSiteOf drops the site of an appointment whose slot was taken.
func (c *siteCache) forgetSiteOf(a *Appointment, sandbox bool) {
	if a.Kind == AtCenter {
		c.forget(siteKey{places.Viewer{Team: a.Team, Sandbox: sandbox}, a.Provider, a.Body.Site})
	}
}

// isFresh reports that every day of the answer is cached for every site and
// less than 15 minutes old.
func (c *siteCache) isFresh(now time.Time, who places.Viewer, q CenterQuery, sites []NearSite) bool {
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
			if h, ok := known[first.AddDays(n)]; !ok || now.Sub(h.at) >= freshness {
				return false
			}
		}
	}
	return true
}

// slots returns all cached slots of a site.
func (c *siteCache) slots(site siteKey) (network string, all []networks.Slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.sites[site] {
		network = h.network
		all = append(all, h.slots...)
	}
	return network, all
}
