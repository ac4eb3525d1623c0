package catalogue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Catalogue holds the labs and markers that a team sees. It is immutable; an
// import creates a new one.
type Catalogue struct {
	labs    []Lab
	byID    map[LabID]Lab
	bySlug  map[string]Lab
	markers map[MarkerID]*Marker
	byCode  map[labCode]*Marker
	// listed are the markers that can be ordered, sorted by lab and name.
	listed    []*Marker
	accounts  []Account // of the platform, for the sandbox
	physician *Physician
	sets      setIndex
}

type labCode struct {
	lab        LabID
	providerID string
}

// newCatalogue indexes labs and markers. If two markers of a lab have the same
// code, the code finds the later one, unless that is retired and the other is
// not. Both are found by id.
func newCatalogue(labs []Lab, markers []*Marker, accounts []Account, physician *Physician) *Catalogue {
	c := &Catalogue{
		byID: map[LabID]Lab{}, bySlug: map[string]Lab{}, markers: make(map[MarkerID]*Marker, len(markers)),
		byCode: make(map[labCode]*Marker, len(markers)), accounts: accounts, physician: physician,
	}
	for _, l := range labs {
		c.byID[l.ID], c.bySlug[l.Slug] = l, l
	}
	for _, m := range markers {
		c.markers[m.ID] = m
		if at := (labCode{m.Lab, m.ProviderID}); m.Active || c.byCode[at] == nil || !c.byCode[at].Active {
			c.byCode[at] = m
		}
	}
	for _, l := range c.byID {
		c.labs = append(c.labs, l)
	}
	slices.SortFunc(c.labs, func(a, b Lab) int { return cmp.Compare(a.ID, b.ID) })
	for _, m := range c.byCode {
		if m.Active && m.Orderable && !m.Reflex {
			c.listed = append(c.listed, m)
		}
	}
	slices.SortFunc(c.listed, func(a, b *Marker) int {
		return cmp.Or(cmp.Compare(a.Lab, b.Lab), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	c.sets = newSetIndex(c)
	return c
}

// Labs lists the labs by id.
func (c *Catalogue) Labs() []Lab { return c.labs }

// Lab returns a lab by its id.
func (c *Catalogue) Lab(id LabID) (Lab, bool) {
	l, ok := c.byID[id]
	return l, ok
}

// LabBySlug returns a lab by its slug.
func (c *Catalogue) LabBySlug(slug string) (Lab, bool) {
	l, ok := c.bySlug[slug]
	return l, ok
}

// LabsBySlug returns the ids of the labs with some slugs. It omits unknown slugs.
func (c *Catalogue) LabsBySlug(slugs []string) []LabID {
	labs := []LabID{}
	for _, slug := range slugs {
		if l, ok := c.bySlug[slug]; ok {
			labs = append(labs, l.ID)
		}
	}
	return labs
}

// Marker returns a marker, active or not.
func (c *Catalogue) Marker(id MarkerID) (*Marker, bool) {
	m, ok := c.markers[id]
	return m, ok
}

// MarkerByCode returns a marker by the lab's code.
func (c *Catalogue) MarkerByCode(lab LabID, providerID string) (*Marker, bool) {
	m, ok := c.byCode[labCode{lab, providerID}]
	return m, ok
}

// FindResult looks up a result among all active markers of a lab: by its code
// in the test, by its code, by LOINC. Of several markers the one with the lowest
// id counts.
func (c *Catalogue) FindResult(lab LabID, test, code, loinc string) (Result, bool) {
	var found Result
	var of MarkerID
	best := 0
	for _, m := range c.markers {
		if m.Lab != lab || !m.Active {
			continue
		}
		for _, r := range m.Results {
			rank := 0
			switch {
			case code != "" && r.ProviderID == code && m.ProviderID == test:
				rank = 3
			case code != "" && r.ProviderID == code:
				rank = 2
			case loinc != "" && r.LOINC == loinc:
				rank = 1
			}
			if rank > best || rank > 0 && rank == best && m.ID < of {
				found, of, best = r, m.ID, rank
			}
		}
	}
	return found, best > 0
}

// MarkersOf returns the markers of a lab test, in its order.
func (c *Catalogue) MarkersOf(t Test) []*Marker {
	markers := make([]*Marker, 0, len(t.MarkerIDs))
	for _, id := range t.MarkerIDs {
		if m, ok := c.markers[id]; ok {
			markers = append(markers, m)
		}
	}
	return markers
}

// AddReflex adds the reflex markers that may follow from the results.
func (c *Catalogue) AddReflex(markers []*Marker) []*Marker {
	all := slices.Clone(markers)
	for _, m := range c.byCode {
		if m.Reflex && m.Active && slices.ContainsFunc(markers, func(of *Marker) bool {
			return of.Lab == m.Lab && of.ProviderID == m.ReflexOf
		}) {
			all = append(all, m)
		}
	}
	slices.SortFunc(all[len(markers):], func(a, b *Marker) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// MarkerFilter selects markers; the zero value selects all.
type MarkerFilter struct {
	Labs     []LabID // nil for all labs
	Name     string  // part of the name or beginning of the lab's code, in any case
	ALaCarte *bool
}

// Markers lists the markers that can be ordered, sorted by lab and name, without
// reflex markers.
//
// Reference 1.16, GET /v3/lab_tests/markers.
func (c *Catalogue) Markers(f MarkerFilter) []*Marker {
	name := strings.ToLower(strings.TrimSpace(f.Name))
	var found []*Marker
	for _, m := range c.listed {
		if f.Labs != nil && !slices.Contains(f.Labs, m.Lab) || f.ALaCarte != nil && m.ALaCarte != *f.ALaCarte {
			continue
		}
		if name == "" || strings.Contains(strings.ToLower(m.Name), name) || strings.HasPrefix(strings.ToLower(m.ProviderID), name) {
			found = append(found, m)
		}
	}
	return found
}

// PlatformPhysician returns the physician who orders for teams without their
// own. Only the sandbox has one.
func (c *Catalogue) PlatformPhysician() (Physician, bool) {
	if c.physician == nil {
		return Physician{}, false
	}
	return *c.physician, true
}

// Load returns the catalogue that a team sees. The catalogue is cached: until the
// next import, a call costs one short query.
func Load(ctx context.Context, tx *store.Tx, team teams.ID) (*Catalogue, error) {
	var environment, revision string
	err := tx.QueryRow(ctx, `SELECT t.environment, c.revision FROM teams t, catalogue c WHERE t.id = $1 AND c.id = 1`, team).
		Scan(&environment, &revision)
	if errors.Is(err, store.ErrNoRows) {
		return nil, fault.New(fault.NotFound, "Team not found")
	}
	if err != nil {
		return nil, fmt.Errorf("catalogue: reading the revision of the catalogue: %w", err)
	}
	sandbox := teams.Environment(environment) == teams.Sandbox
	return catalogueCache.get(cacheKey{revision, sandbox}, func() (*Catalogue, error) { return readCatalogue(ctx, tx, sandbox) })
}

// cacheKey identifies a catalogue in the cache.
type cacheKey struct {
	revision string // a UUID, so that databases never share one
	sandbox  bool
}

// catalogueCache caches the newest catalogues. A node needs one for each
// environment; tests open many databases.
var catalogueCache = &cache{most: 8}

type cache struct {
	mu    sync.Mutex
	most  int
	views []cacheKey // oldest first
	made  map[cacheKey]*Catalogue
}

func (k *cache) get(v cacheKey, read func() (*Catalogue, error)) (*Catalogue, error) {
	k.mu.Lock()
	c, ok := k.made[v]
	k.mu.Unlock()
	if ok {
		return c, nil
	}
	c, err := read()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.made == nil {
		k.made = map[cacheKey]*Catalogue{}
	}
	if _, again := k.made[v]; !again {
		k.views = append(k.views, v)
	}
	k.made[v] = c
	if len(k.views) > k.most {
		delete(k.made, k.views[0])
		k.views = slices.Delete(k.views, 0, 1)
	}
	return c, nil
}

// readCatalogue reads the imported labs and markers. The sandbox also has those
// that ship with the binary.
func readCatalogue(ctx context.Context, tx *store.Tx, sandbox bool) (*Catalogue, error) {
	labs, err := importedLabs(ctx, tx)
	if err != nil {
		return nil, err
	}
	markers, err := importedMarkers(ctx, tx)
	if err != nil {
		return nil, err
	}
	if !sandbox {
		return newCatalogue(labs, markers, nil, nil), nil
	}
	b := builtinData()
	// An imported lab keeps its built-in row in the sandbox, because the seeded
	// tests rely on its methods and states.
	labs = slices.Concat(labs, b.labs)
	return newCatalogue(labs, slices.Concat(b.markers, markers), b.accounts, &b.physician), nil
}

func importedLabs(ctx context.Context, tx *store.Tx) ([]Lab, error) {
	rows, err := tx.Query(ctx, `SELECT body FROM catalogue_labs ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("catalogue: reading labs: %w", err)
	}
	defer rows.Close()
	var all []Lab
	for rows.Next() {
		var body string
		if err := rows.Scan(&body); err != nil {
			return nil, err
		}
		var l Lab
		if err := json.Unmarshal([]byte(body), &l); err != nil {
			return nil, fmt.Errorf("catalogue: a stored lab: %w", err)
		}
		all = append(all, l)
	}
	return all, rows.Err()
}

func importedMarkers(ctx context.Context, tx *store.Tx) ([]*Marker, error) {
	rows, err := tx.Query(ctx, `SELECT body, active FROM catalogue_markers ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("catalogue: reading markers: %w", err)
	}
	defer rows.Close()
	var all []*Marker
	for rows.Next() {
		var body string
		m := &Marker{}
		if err := rows.Scan(&body, &m.Active); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(body), m); err != nil {
			return nil, fmt.Errorf("catalogue: a stored marker: %w", err)
		}
		all = append(all, m)
	}
	return all, rows.Err()
}
