package places

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/labclock"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Radii are the distances in miles that a search may use.
//
// Spec: Limits.
var Radii = [5]int{10, 20, 25, 50, 100}

// DefaultRadius is the distance of a search that names none.
const DefaultRadius = 25

// Query selects the sites of a lab around a point.
type Query struct {
	Lab          string // slug
	From         Point
	Miles        float64
	Capabilities Capabilities // a site must have all of them
}

// SearchResult is the result of a Query.
type SearchResult struct {
	Sites        []NearSite   // at most MostFound, nearest first
	Total        int          // all within the radius
	Capabilities Capabilities // all that at least one site has
}

// NearSite is a site with its distance.
type NearSite struct {
	Site
	Miles float64
}

// Directory finds service centers. The zero value is ready to use, by several
// goroutines at once; a node needs only one.
type Directory struct {
	lists   atomic.Pointer[map[listKey]*list] // replaced, never modified
	reading sync.Mutex                        // held while a list is read; others wait for it
}

// Near finds the sites of a lab around a point, or returns ErrNoSites.
func (d *Directory) Near(ctx context.Context, tx *store.Tx, who Viewer, q Query) (SearchResult, error) {
	key, l, err := d.list(ctx, tx, who, q.Lab)
	if err != nil {
		return SearchResult{}, err
	}
	day, err := labDay(ctx, tx, who)
	if err != nil {
		return SearchResult{}, err
	}
	h := l.index.search(q.From, q.Miles, q.Capabilities, day)
	found := SearchResult{Total: h.total, Capabilities: h.caps, Sites: make([]NearSite, len(h.nearest))}
	sites, err := l.sites(ctx, tx, key, h.nearest)
	for i, s := range sites {
		found.Sites[i] = NearSite{s, miles(h.nearest[i].chord2)}
	}
	return found, err
}

// Count returns the same totals as Near, without reading the sites.
func (d *Directory) Count(ctx context.Context, tx *store.Tx, who Viewer, q Query) (SearchResult, error) {
	_, l, err := d.list(ctx, tx, who, q.Lab)
	if err != nil {
		return SearchResult{}, err
	}
	day, err := labDay(ctx, tx, who)
	if err != nil {
		return SearchResult{}, err
	}
	h := l.index.search(q.From, q.Miles, q.Capabilities, day)
	return SearchResult{Total: h.total, Capabilities: h.caps}, nil
}

// Site finds a site by its code. The site must be open to patients today. It
// returns ErrNoSites or ErrNoSite.
func (*Directory) Site(ctx context.Context, tx *store.Tx, who Viewer, lab, code string) (Site, error) {
	key, version, err := chooseList(ctx, tx, who, lab)
	if err != nil {
		return Site{}, err
	}
	if version == uuid.Nil {
		made, err := viewerMadeUpList(who, lab)
		if err != nil {
			return Site{}, err
		}
		return made.made.findSite(code)
	}
	s, err := scanSite(tx.QueryRow(ctx, `SELECT `+siteColumns+` FROM service_centers
		WHERE owner = $1 AND lab = $2 AND site_code = $3`, key.owner, key.lab, code))
	if errors.Is(err, store.ErrNoRows) {
		return Site{}, ErrNoSite
	}
	if err != nil {
		return Site{}, err
	}
	now, err := labclock.TimeOf(ctx, tx, who.Team)
	if err == nil && !s.Open(civil.DateOf(now)) {
		err = ErrNoSite
	}
	return s, err
}

func labDay(ctx context.Context, tx *store.Tx, who Viewer) (int32, error) {
	now, err := labclock.TimeOf(ctx, tx, who.Team)
	return dayNumber(civil.DateOf(now)), err
}

// list returns the viewer's list of the lab, at the version that tx sees.
func (d *Directory) list(ctx context.Context, tx *store.Tx, who Viewer, lab string) (listKey, *list, error) {
	key, version, err := chooseList(ctx, tx, who, lab)
	if err != nil {
		return listKey{}, nil, err
	}
	if version == uuid.Nil {
		made, err := viewerMadeUpList(who, lab)
		return key, made, err
	}
	if l := d.cached(key); l != nil && l.version == version {
		return key, l, nil
	}
	d.reading.Lock()
	defer d.reading.Unlock()
	if l := d.cached(key); l != nil && l.version == version {
		return key, l, nil
	}
	l, err := readList(ctx, tx, key, version)
	if err != nil {
		return listKey{}, nil, fmt.Errorf("places: reading the sites of %s: %w", lab, err)
	}
	d.store(key, l)
	return key, l, nil
}

func (d *Directory) cached(key listKey) *list {
	if all := d.lists.Load(); all != nil {
		return (*all)[key]
	}
	return nil
}

// store replaces an older version of a list. Versions are random, so a list
// that was read in a transaction that fails is never mistaken for another
// version.
func (d *Directory) store(key listKey, l *list) {
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

// listKey identifies a list.
type listKey struct {
	owner teams.ID
	lab   string
}

// list holds the sites of a lab in memory.
type list struct {
	version uuid.UUID // of the stored list; nil for a made-up one
	index   index
	codes   []string // of the sites, by the ref of their spots; nil for a made-up list
	made    *sandboxSites
}

// chooseList returns the key and version of the viewer's own list, or of the
// list of all teams. The version is zero if there is neither.
func chooseList(ctx context.Context, tx *store.Tx, who Viewer, lab string) (key listKey, version uuid.UUID, err error) {
	rows, err := tx.Query(ctx, `SELECT owner, version FROM service_center_lists WHERE lab = $1 AND owner IN ($2, $3)`, lab, who.Team, AllTeams)
	if err != nil {
		return listKey{}, uuid.Nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var owner teams.ID
		var v uuid.UUID
		if err := rows.Scan(&owner, &v); err != nil {
			return listKey{}, uuid.Nil, err
		}
		if version == uuid.Nil || owner == who.Team {
			key, version = listKey{owner, lab}, v
		}
	}
	return key, version, rows.Err()
}

// readList reads the fields of a list that the index needs.
func readList(ctx context.Context, tx *store.Tx, key listKey, version uuid.UUID) (*list, error) {
	rows, err := tx.Query(ctx, `SELECT site_code, lat, lng, capabilities, valid_from, valid_to FROM service_centers
		WHERE owner = $1 AND lab = $2 AND active ORDER BY site_code`, key.owner, key.lab)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	l := &list{version: version}
	var spots []spot
	for rows.Next() {
		var s Site
		var caps int64
		var from, to string
		if err := rows.Scan(&s.Code, &s.Lat, &s.Lng, &caps, &from, &to); err != nil {
			return nil, err
		}
		one := newSpot(s.Point, Capabilities(caps), len(l.codes))
		if s.ValidFrom, err = parseOptionalDate(from); err != nil {
			return nil, err
		}
		if s.ValidTo, err = parseOptionalDate(to); err != nil {
			return nil, err
		}
		s.setDates(&one)
		spots, l.codes = append(spots, one), append(l.codes, s.Code)
	}
	l.index = newIndex(spots)
	return l, rows.Err()
}

// sites returns the details of hits, in their order.
func (l *list) sites(ctx context.Context, tx *store.Tx, key listKey, found []hit) ([]Site, error) {
	sites := make([]Site, len(found))
	if len(found) == 0 {
		return sites, nil
	}
	if l.made != nil {
		for i, h := range found {
			sites[i] = l.made.drawSite(int(h.ref))
		}
		return sites, nil
	}
	place, codes := make(map[string]int, len(found)), make([]string, len(found))
	for i, h := range found {
		codes[i] = l.codes[h.ref]
		place[codes[i]] = i
	}
	rows, err := tx.Query(ctx, `SELECT `+siteColumns+` FROM service_centers WHERE owner = $1 AND lab = $2 AND site_code IN `+codeList,
		append([]any{key.owner, key.lab}, padCodes(codes)...)...)
	if err != nil {
		return nil, fmt.Errorf("places: reading sites: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		s, err := scanSite(rows)
		if err != nil {
			return nil, err
		}
		sites[place[s.Code]] = s
	}
	return sites, rows.Err()
}

var codeList = store.Placeholders(3, MostFound)

// padCodes returns codes as arguments of codeList. All searches use one
// statement: the last code is repeated up to its number of arguments.
func padCodes(codes []string) []any {
	args := make([]any, MostFound)
	for i := range args {
		args[i] = codes[min(i, len(codes)-1)]
	}
	return args
}

// List describes an imported list.
type List struct {
	Owner      teams.ID // Everybody or a team
	Lab        string   // slug
	Sites      int
	Active     int
	ImportedAt time.Time
}

// Lists returns all imported lists, sorted by lab.
func Lists(ctx context.Context, tx *store.Tx) ([]List, error) {
	rows, err := tx.Query(ctx, `SELECT l.owner, l.lab, l.imported_at, COUNT(s.site_code), COUNT(CASE WHEN s.active THEN 1 END)
		FROM service_center_lists l LEFT JOIN service_centers s ON s.owner = l.owner AND s.lab = l.lab
		GROUP BY l.owner, l.lab, l.imported_at ORDER BY l.lab, l.owner`)
	if err != nil {
		return nil, fmt.Errorf("places: listing: %w", err)
	}
	defer rows.Close()
	var all []List
	for rows.Next() {
		var l List
		if err := rows.Scan(&l.Owner, &l.Lab, store.ScanTime(&l.ImportedAt), &l.Sites, &l.Active); err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, rows.Err()
}
