package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// For is the catalogue that a team sees: one short query while no import
// changed it, since what was read before stays in memory.
func For(ctx context.Context, tx *store.Tx, team teams.ID) (*Catalogue, error) {
	var environment, revision string
	err := tx.QueryRow(ctx, `SELECT t.environment, c.revision FROM teams t, catalogue c WHERE t.id = $1 AND c.id = 1`, team).
		Scan(&environment, &revision)
	if errors.Is(err, store.ErrNoRows) {
		return nil, fault.New(fault.NotFound, "Team not found")
	}
	if err != nil {
		return nil, fmt.Errorf("labs: reading the revision of the catalogue: %w", err)
	}
	sandbox := teams.Environment(environment) == teams.Sandbox
	return kept.get(view{revision, sandbox}, func() (*Catalogue, error) { return load(ctx, tx, sandbox) })
}

// view is what a catalogue in memory was made of.
type view struct {
	revision string // never that of another database: it is a UUID
	sandbox  bool
}

// kept are the newest catalogues: one for each environment is enough for a
// node, and tests open many databases.
var kept = &keeper{most: 8}

type keeper struct {
	mu    sync.Mutex
	most  int
	views []view // oldest first
	made  map[view]*Catalogue
}

func (k *keeper) get(v view, read func() (*Catalogue, error)) (*Catalogue, error) {
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
		k.made = map[view]*Catalogue{}
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

// load reads what was imported; the sandbox has it beside what ships with the
// binary.
func load(ctx context.Context, tx *store.Tx, sandbox bool) (*Catalogue, error) {
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
	b := builtin()
	// A lab that was imported keeps its built-in row for the sandbox, whose
	// methods and states the seeded tests rely on.
	labs = slices.Concat(labs, b.labs)
	return newCatalogue(labs, slices.Concat(b.markers, markers), b.accounts, &b.physician), nil
}

func importedLabs(ctx context.Context, tx *store.Tx) ([]Lab, error) {
	rows, err := tx.Query(ctx, `SELECT body FROM catalogue_labs ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("labs: reading labs: %w", err)
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
			return nil, fmt.Errorf("labs: a stored lab: %w", err)
		}
		all = append(all, l)
	}
	return all, rows.Err()
}

func importedMarkers(ctx context.Context, tx *store.Tx) ([]*Marker, error) {
	rows, err := tx.Query(ctx, `SELECT body, active FROM catalogue_markers ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("labs: reading markers: %w", err)
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
			return nil, fmt.Errorf("labs: a stored marker: %w", err)
		}
		all = append(all, m)
	}
	return all, rows.Err()
}
