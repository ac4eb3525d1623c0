package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// PhysicianID identifies a physician of a team.
type PhysicianID = ids.ID[Physician]

// Physician orders tests.
//
// Reference 1.9, PhysicianCreateRequest.
type Physician struct {
	ID        PhysicianID `json:"-"`
	FirstName string      `json:"first_name"`
	LastName  string      `json:"last_name"`
	NPI       string      `json:"npi"` // national provider identifier
	// Email is known only for the physician of an order, and is sealed with the
	// order.
	Email  string   `json:"email,omitempty"`
	States []string `json:"licensed_states,omitempty"`
	// Signature is the image of the signature on a new order: PNG or JPEG as the
	// caller sends it. Orders store it apart.
	Signature []byte `json:"-"`
}

var wellFormedNPI = regexp.MustCompile(`^[12][0-9]{9}$`)

// ValidNPI reports whether text has the form and the check digit of a national
// provider identifier: the Luhn algorithm, with the prefix 80840.
func ValidNPI(text string) bool {
	if !wellFormedNPI.MatchString(text) {
		return false
	}
	sum := 24 // sum of the prefix
	for i := range len(text) {
		d := int(text[i] - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// AddPhysician adds a physician of the team, or replaces the one with the same
// NPI. It stores only the public data of the national registry: name, number and
// states. It drops an e-mail address.
func AddPhysician(ctx context.Context, tx *store.Tx, team teams.ID, p Physician) (Physician, error) {
	p.FirstName, p.LastName, p.Email = strings.TrimSpace(p.FirstName), strings.TrimSpace(p.LastName), ""
	var faults []*fault.Error
	for field, bad := range map[string]bool{
		"first_name":      p.FirstName == "" || len(p.FirstName) > 100,
		"last_name":       p.LastName == "" || len(p.LastName) > 100,
		"npi":             !ValidNPI(p.NPI),
		"licensed_states": slices.ContainsFunc(p.States, func(s string) bool { return !containsWord(s, States) }),
	} {
		if bad {
			faults = append(faults, fault.New(fault.Invalid, "Value error, not a valid "+field).At("body", field))
		}
	}
	if err := fault.Join(faults...); err != nil {
		return Physician{}, err
	}
	body, err := json.Marshal(p)
	if err != nil {
		return Physician{}, fmt.Errorf("catalogue: marshalling a physician: %w", err)
	}
	err = tx.QueryRow(ctx, `INSERT INTO team_physicians (team_id, id, npi, body, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (team_id, npi) DO UPDATE SET body = excluded.body RETURNING id`,
		team, ids.FromUUID[Physician](tx.NewUUID()), p.NPI, string(body), tx.Now()).Scan(&p.ID)
	if err != nil {
		return Physician{}, fmt.Errorf("catalogue: adding a physician: %w", err)
	}
	return p, nil
}

// Physicians lists the physicians of a team, oldest first.
func Physicians(ctx context.Context, tx *store.Tx, team teams.ID) ([]Physician, error) {
	rows, err := tx.Query(ctx, `SELECT id, body FROM team_physicians WHERE team_id = $1 ORDER BY created_at, id`, team)
	if err != nil {
		return nil, fmt.Errorf("catalogue: listing physicians: %w", err)
	}
	defer rows.Close()
	all := []Physician{}
	for rows.Next() {
		var p Physician
		var body string
		if err := rows.Scan(&p.ID, &body); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(body), &p); err != nil {
			return nil, fmt.Errorf("catalogue: a stored physician: %w", err)
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

// RemovePhysician removes a physician. Orders keep their copy.
func RemovePhysician(ctx context.Context, tx *store.Tx, team teams.ID, npi string) error {
	n, err := tx.Exec(ctx, `DELETE FROM team_physicians WHERE team_id = $1 AND npi = $2`, team, npi)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "Physician not found")
	}
	return err
}
