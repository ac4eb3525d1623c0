package places

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Change counts the changes of an import to one list.
type Change struct {
	List      string `json:"list"` // slug of a lab or of a phlebotomy provider
	Created   int    `json:"created"`
	Updated   int    `json:"updated"`
	Unchanged int    `json:"unchanged"`
	// Ended counts the rows that a full import does not contain: sites become
	// inactive, offers are removed.
	Ended int `json:"ended"`
}

func (c Change) hasChanges() bool { return c.Created+c.Updated+c.Ended > 0 }

// ImportSites adds sites to the lists of an owner, one list for each lab, in
// the caller's transaction. The code identifies a site. A full import makes
// sites that it does not contain inactive: searches skip them until an import
// contains them again.
func ImportSites(ctx context.Context, tx *store.Tx, owner teams.ID, sites []Site, full bool) ([]Change, error) {
	byLab := map[string][]Site{}
	for _, s := range sites {
		byLab[s.Lab] = append(byLab[s.Lab], s)
	}
	var changes []Change
	for _, lab := range slices.Sorted(maps.Keys(byLab)) {
		change, err := importList(ctx, tx, listKey{owner, lab}, byLab[lab], full)
		if err != nil {
			return nil, fmt.Errorf("places: importing the sites of %s: %w", lab, err)
		}
		changes = append(changes, change)
	}
	return changes, nil
}

func importList(ctx context.Context, tx *store.Tx, key listKey, sites []Site, full bool) (Change, error) {
	change := Change{List: key.lab}
	if err := tx.Lock(ctx, "service centers of "+key.lab); err != nil { // two imports of one list
		return change, err
	}
	known, err := digests(ctx, tx, key)
	if err != nil {
		return change, err
	}
	for _, s := range sites {
		values := s.columns()
		digest := digestOf(values)
		old, exists := known[s.Code]
		delete(known, s.Code)
		switch {
		case exists && bytes.Equal(old.digest, digest):
			change.Unchanged++
			continue
		case exists:
			change.Updated++
		default:
			change.Created++
		}
		if _, err := tx.Exec(ctx, upsertSite, append(append([]any{key.owner}, values...), digest)...); err != nil {
			return change, err
		}
	}
	if full {
		if change.Ended, err = endSites(ctx, tx, key, known); err != nil {
			return change, err
		}
	}
	return change, touchList(ctx, tx, key, change)
}

const upsertSite = `INSERT INTO service_centers (owner, ` + siteColumns + `, digest)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
	ON CONFLICT (owner, lab, site_code) DO UPDATE SET name = excluded.name, first_line = excluded.first_line,
		second_line = excluded.second_line, city = excluded.city, state = excluded.state, zip_code = excluded.zip_code,
		lat = excluded.lat, lng = excluded.lng, time_zone = excluded.time_zone, phone = excluded.phone, fax = excluded.fax,
		website = excluded.website, capabilities = excluded.capabilities, hours = excluded.hours, active = excluded.active,
		valid_from = excluded.valid_from, valid_to = excluded.valid_to, digest = excluded.digest`

// digestOf returns a hash that changes with any field of a site.
func digestOf(values []any) []byte {
	var text []byte
	for _, v := range values {
		text = append(fmt.Append(text, v), 0)
	}
	sum := sha256.Sum256(text)
	return sum[:16]
}

// storedSite is the state of a site before the import.
type storedSite struct {
	digest []byte
	active bool
}

func digests(ctx context.Context, tx *store.Tx, key listKey) (map[string]storedSite, error) {
	rows, err := tx.Query(ctx, `SELECT site_code, digest, active FROM service_centers WHERE owner = $1 AND lab = $2`, key.owner, key.lab)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := map[string]storedSite{}
	for rows.Next() {
		var code string
		var s storedSite
		if err := rows.Scan(&code, &s.digest, &s.active); err != nil {
			return nil, err
		}
		known[code] = s
	}
	return known, rows.Err()
}

// endSites makes the active sites among left inactive.
func endSites(ctx context.Context, tx *store.Tx, key listKey, left map[string]storedSite) (ended int, err error) {
	for _, code := range slices.Sorted(maps.Keys(left)) {
		if !left[code].active {
			continue
		}
		ended++
		// No site has an empty digest, so the next import with this site
		// activates it.
		_, err := tx.Exec(ctx, `UPDATE service_centers SET active = FALSE, digest = $1 WHERE owner = $2 AND lab = $3 AND site_code = $4`,
			[]byte{}, key.owner, key.lab, code)
		if err != nil {
			return ended, err
		}
	}
	return ended, nil
}

// touchList records the time of the import, and a new version if the list changed.
func touchList(ctx context.Context, tx *store.Tx, key listKey, change Change) error {
	query := `INSERT INTO service_center_lists (owner, lab, version, imported_at) VALUES ($1, $2, $3, $4) ON CONFLICT (owner, lab) DO `
	if change.hasChanges() {
		query += `UPDATE SET version = excluded.version, imported_at = excluded.imported_at`
	} else {
		query += `UPDATE SET imported_at = excluded.imported_at`
	}
	_, err := tx.Exec(ctx, query, key.owner, key.lab, tx.NewUUID(), tx.Now())
	return err
}

// RemoveSites deletes an owner's list of a lab, so that the next list in order
// applies again. It returns the number of sites that the list had, or a
// NotFound fault.
func RemoveSites(ctx context.Context, tx *store.Tx, owner teams.ID, lab string) (int, error) {
	n, err := tx.Exec(ctx, `DELETE FROM service_center_lists WHERE owner = $1 AND lab = $2`, owner, lab)
	if err != nil {
		return 0, fmt.Errorf("places: removing a list: %w", err)
	}
	if n == 0 {
		return 0, fault.New(fault.NotFound, "this lab has no such list")
	}
	n, err = tx.Exec(ctx, `DELETE FROM service_centers WHERE owner = $1 AND lab = $2`, owner, lab)
	return int(n), err
}

// ImportOffers adds offers to the coverage of an owner, in the caller's
// transaction. For each provider in the file, a full import removes the offers
// that the file does not contain.
func ImportOffers(ctx context.Context, tx *store.Tx, owner teams.ID, offers []Offer, full bool) ([]Change, error) {
	byProvider := map[string][]Offer{}
	for _, o := range offers {
		byProvider[o.Provider] = append(byProvider[o.Provider], o)
	}
	var changes []Change
	for _, provider := range slices.Sorted(maps.Keys(byProvider)) {
		change, err := importOffers(ctx, tx, owner, provider, byProvider[provider], full)
		if err != nil {
			return nil, fmt.Errorf("places: importing the coverage of %s: %w", provider, err)
		}
		changes = append(changes, change)
	}
	return changes, nil
}

func importOffers(ctx context.Context, tx *store.Tx, owner teams.ID, provider string, offers []Offer, full bool) (Change, error) {
	change := Change{List: provider}
	if err := tx.Lock(ctx, "coverage of "+provider); err != nil {
		return change, err
	}
	known, err := offersOf(ctx, tx, owner, provider)
	if err != nil {
		return change, err
	}
	for _, o := range offers {
		o.TimeZone = "" // follows from the ZIP code
		id := offerID{o.ZIP, o.Tier}
		old, exists := known[id]
		delete(known, id)
		switch {
		case exists && old == o:
			change.Unchanged++
			continue
		case exists:
			change.Updated++
		default:
			change.Created++
		}
		_, err := tx.Exec(ctx, `INSERT INTO phlebotomy_coverage (owner, zip, provider, tier, days, earliest, latest, lead_hours)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (owner, zip, provider, tier) DO UPDATE SET
			days = excluded.days, earliest = excluded.earliest, latest = excluded.latest, lead_hours = excluded.lead_hours`,
			owner, o.ZIP, o.Provider, string(o.Tier), int64(o.Days), o.Earliest, o.Latest, o.LeadHours)
		if err != nil {
			return change, err
		}
	}
	if !full {
		return change, nil
	}
	for id := range known {
		change.Ended++
		_, err := tx.Exec(ctx, `DELETE FROM phlebotomy_coverage WHERE owner = $1 AND zip = $2 AND provider = $3 AND tier = $4`,
			owner, id.zip, provider, string(id.tier))
		if err != nil {
			return change, err
		}
	}
	return change, nil
}

type offerID struct {
	zip  string
	tier Tier
}

func offersOf(ctx context.Context, tx *store.Tx, owner teams.ID, provider string) (map[offerID]Offer, error) {
	rows, err := tx.Query(ctx, `SELECT zip, tier, days, earliest, latest, lead_hours FROM phlebotomy_coverage
		WHERE owner = $1 AND provider = $2`, owner, provider)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := map[offerID]Offer{}
	for rows.Next() {
		var days int64
		o := Offer{Provider: provider}
		if err := rows.Scan(&o.ZIP, &o.Tier, &days, &o.Earliest, &o.Latest, &o.LeadHours); err != nil {
			return nil, err
		}
		o.Days = Weekdays(days)
		known[offerID{o.ZIP, o.Tier}] = o
	}
	return known, rows.Err()
}
