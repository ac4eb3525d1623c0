package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Practice is the clinic that orders: the sender of a requisition, and the contact
// of the laboratory about a result.
//
// 42 CFR 493.1241(c)(1): a requisition has the name and address of the person
// who requests the test, and a contact for imminently life threatening results.
type Practice struct {
	Name       string         `json:"name"`
	Address    person.Address `json:"address"`
	Phone      string         `json:"phone_number"`                 // E.164
	Fax        string         `json:"fax_number,omitempty"`         // E.164
	AfterHours string         `json:"after_hours_number,omitempty"` // E.164; for critical results when the clinic is closed
}

// IsZero reports whether no practice is stored.
func (p Practice) IsZero() bool { return p == Practice{} }

// LongestPractice is the limit of a name, in characters.
const LongestPractice = 100

// normalize checks all fields and brings them into the stored form.
func (p *Practice) normalize(today civil.Date) error {
	form := person.NewForm(today)
	p.Name = form.Text("name", p.Name, LongestPractice)
	p.Address = form.Address("address", p.Address)
	p.Phone = form.Phone("phone_number", p.Phone)
	if p.Fax = strings.TrimSpace(p.Fax); p.Fax != "" {
		p.Fax = form.Phone("fax_number", p.Fax)
	}
	if p.AfterHours = strings.TrimSpace(p.AfterHours); p.AfterHours != "" {
		p.AfterHours = form.Phone("after_hours_number", p.AfterHours)
	}
	return form.Err()
}

// practiceKey returns the key under which a practice is stored: the lab account. Without
// an account it returns the zero UUID. A practice under the zero UUID is for all accounts
// of the team that have no practice of their own.
func practiceKey(account *AccountID) uuid.UUID {
	if account == nil {
		return uuid.UUID{}
	}
	return account.UUID()
}

// PracticeOf returns the practice of a team for a lab account: that of the
// account or, without one, that of the team. It is zero if the team has none.
func PracticeOf(ctx context.Context, tx *store.Tx, team teams.ID, account AccountID) (Practice, error) {
	p, err := StoredPractice(ctx, tx, team, &account)
	if fault.Is(err, fault.NotFound) {
		p, err = StoredPractice(ctx, tx, team, nil)
	}
	if fault.Is(err, fault.NotFound) {
		return Practice{}, nil
	}
	return p, err
}

// StoredPractice returns the practice that was stored for a lab account, or for
// the team if account is nil, or a NotFound fault.
func StoredPractice(ctx context.Context, tx *store.Tx, team teams.ID, account *AccountID) (Practice, error) {
	var body string
	err := tx.QueryRow(ctx, `SELECT body FROM practices WHERE team_id = $1 AND account_id = $2`, team, practiceKey(account)).Scan(&body)
	if errors.Is(err, store.ErrNoRows) {
		return Practice{}, fault.New(fault.NotFound, "No practice is stored")
	}
	if err != nil {
		return Practice{}, fmt.Errorf("catalogue: reading a practice: %w", err)
	}
	var p Practice
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		return Practice{}, fmt.Errorf("catalogue: a stored practice: %w", err)
	}
	return p, nil
}

// SetPractice stores the practice of a team, or its practice for one lab account.
func SetPractice(ctx context.Context, tx *store.Tx, team teams.ID, account *AccountID, p Practice) (Practice, error) {
	if err := p.normalize(civil.DateOf(tx.Now())); err != nil {
		return Practice{}, err
	}
	if account != nil {
		if _, err := GetAccount(ctx, tx, team, *account); err != nil {
			return Practice{}, err
		}
	}
	body, err := json.Marshal(p)
	if err != nil {
		return Practice{}, fmt.Errorf("catalogue: marshalling a practice: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO practices (team_id, account_id, body, updated_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (team_id, account_id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at`,
		team, practiceKey(account), string(body), tx.Now())
	if err != nil {
		return Practice{}, fmt.Errorf("catalogue: storing a practice: %w", err)
	}
	return p, nil
}

// RemovePractice removes a stored practice.
func RemovePractice(ctx context.Context, tx *store.Tx, team teams.ID, account *AccountID) error {
	n, err := tx.Exec(ctx, `DELETE FROM practices WHERE team_id = $1 AND account_id = $2`, team, practiceKey(account))
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "No practice is stored")
	}
	return err
}

// AccountPractice is a stored practice with its lab account, nil for that of the
// team.
type AccountPractice struct {
	Account *AccountID
	Practice
}

// Practices lists the stored practices of a team, that of the team first.
func Practices(ctx context.Context, tx *store.Tx, team teams.ID) ([]AccountPractice, error) {
	rows, err := tx.Query(ctx, `SELECT account_id, body FROM practices WHERE team_id = $1 ORDER BY account_id`, team)
	if err != nil {
		return nil, fmt.Errorf("catalogue: listing practices: %w", err)
	}
	defer rows.Close()
	all := []AccountPractice{}
	for rows.Next() {
		var p AccountPractice
		var id AccountID
		var body string
		if err := rows.Scan(&id, &body); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(body), &p.Practice); err != nil {
			return nil, fmt.Errorf("catalogue: a stored practice: %w", err)
		}
		if !id.IsZero() {
			p.Account = &id
		}
		all = append(all, p)
	}
	return all, rows.Err()
}
