package places

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
)

// Radii are the distances in miles that a search may ask for.
//
// Spec: Limits.
var Radii = [5]int{10, 20, 25, 50, 100}

// DefaultRadius is meant where none is given.
const DefaultRadius = 25

// Query asks for the sites of a lab around a point.
type Query struct {
	Lab          string // slug
	From         Point
	Miles        float64
	Capabilities Capabilities // that a site must have all
}

// Found is the answer to a Query.
type Found struct {
	Sites        []NearSite   // at most MostFound, nearest first
	Total        int          // within the radius
	Capabilities Capabilities // that any of these has
}

// NearSite is a site and how far it is.
type NearSite struct {
	Site
	Miles float64
}

// Directory finds service centers. Its zero value is ready; one for each node
// is enough, and it may be used by several goroutines at once.
type Directory struct {
	lists   atomic.Pointer[map[listKey]*list] // replaced, never changed
	reading sync.Mutex                        // one goroutine reads a list, the others wait for it
}

// Near finds the sites of a lab around a point, or returns ErrNoSites.
func (d *Directory) Near(ctx context.Context, tx *store.Tx, who Viewer, q Query) (Found, error) {
	key, l, err := d.list(ctx, tx, who, q.Lab)
	if err != nil {
		return Found{}, err
	}
	h := l.index.search(q.From, q.Miles, q.Capabilities, today(tx))
	found := Found{Total: h.total, Capabilities: h.caps, Sites: make([]NearSite, len(h.nearest))}
	sites, err := l.sites(ctx, tx, key, h.nearest)
	for i, s := range sites {
		found.Sites[i] = NearSite{s, miles(h.nearest[i].chord2)}
	}
	return found, err
}

// Count is Near without the sites, which spares reading them.
func (d *Directory) Count(ctx context.Context, tx *store.Tx, who Viewer, q Query) (Found, error) {
	_, l, err := d.list(ctx, tx, who, q.Lab)
	if err != nil {
		return Found{}, err
	}
	h := l.index.search(q.From, q.Miles, q.Capabilities, today(tx))
	return Found{Total: h.total, Capabilities: h.caps}, nil
}

// Site finds one site by its code that takes patients today, or returns
// ErrNoSites or ErrNoSite.
func (*Directory) Site(ctx context.Context, tx *store.Tx, who Viewer, lab, code string) (Site, error) {
	key, version, err := chosen(ctx, tx, who, lab)
	if err != nil {
		return Site{}, err
	}
	if version == uuid.Nil {
		made, err := madeUpFor(who, lab)
		if err != nil {
			return Site{}, err
		}
		return made.made.find(code)
	}
	s, err := scanSite(tx.QueryRow(ctx, `SELECT `+siteColumns+` FROM service_centers
		WHERE owner = $1 AND lab = $2 AND site_code = $3`, key.owner, key.lab, code))
	if errors.Is(err, store.ErrNoRows) || err == nil && !s.Open(civil.DateOf(tx.Now())) {
		return Site{}, ErrNoSite
	}
	return s, err
}

func today(tx *store.Tx) int32 { return dayNumber(civil.DateOf(tx.Now())) }

// list is the first list of the lab that the viewer has, as new as tx is.
func (d *Directory) list(ctx context.Context, tx *store.Tx, who Viewer, lab string) (listKey, *list, error) {
	key, version, err := chosen(ctx, tx, who, lab)
	if err != nil {
		return listKey{}, nil, err
	}
	if version == uuid.Nil {
		made, err := madeUpFor(who, lab)
		return key, made, err
	}
	if l := d.known(key); l != nil && l.version == version {
		return key, l, nil
	}
	d.reading.Lock()
	defer d.reading.Unlock()
	if l := d.known(key); l != nil && l.version == version {
		return key, l, nil
	}
	l, err := readList(ctx, tx, key, version)
	if err != nil {
		return listKey{}, nil, fmt.Errorf("places: reading the sites of %s: %w", lab, err)
	}
	d.keep(key, l)
	return key, l, nil
}

func (d *Directory) known(key listKey) *list {
	if all := d.lists.Load(); all != nil {
		return (*all)[key]
	}
	return nil
}

// keep puts a list in the place of an older one. Versions are random, so one
// that was read in a transaction that fails is never taken for another.
func (d *Directory) keep(key listKey, l *list) {
	all := map[listKey]*list{key: l}
	if old := d.lists.Load(); old != nil {
		for k, other := range *old {
			if k != key {
				all[k] = other
			}
		}
	}
	d.lists.Store(&all)
}
