package insurance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Relationship is the user's relationship to the insured person. The list may grow.
type Relationship string

// The relationships. Spec: Insurance record.
const (
	Self   Relationship = "Self"
	Spouse Relationship = "Spouse"
	Other  Relationship = "Other"
)

// Relationships lists the relationships.
var Relationships = []string{string(Self), string(Spouse), string(Other)}

// Insured is the person named in a policy.
//
// Spec: Insurance record, PersonDetails.
type Insured struct {
	FirstName   string         `json:"first_name"`
	LastName    string         `json:"last_name"`
	Gender      string         `json:"gender"` // female, male, other or unknown in lower case, or any other text
	BirthDate   civil.Date     `json:"dob"`
	Email       string         `json:"email"`
	PhoneNumber string         `json:"phone_number"` // E.164
	Address     person.Address `json:"address"`
}

// Record is one insurance record. Company follows from PayorCode. For a code that
// names no payor, Company has the code as its name.
//
// Spec: Insurance record.
type Record struct {
	PayorCode    string            `json:"payor_code"`
	MemberID     string            `json:"member_id"`
	GroupID      string            `json:"group_id,omitempty"`
	Relationship Relationship      `json:"relationship"`
	Insured      Insured           `json:"insured"`
	Guarantor    *person.Guarantor `json:"guarantor,omitempty"`
	IsPrimary    bool              `json:"is_primary"`
	Company      Company           `json:"company"`
	Unknown      string            `json:"unknown_payor,omitempty"` // PayorUnknown or StatePlanUnknown; empty for a known payor
}

// LogValue keeps a record out of logs.
func (Record) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// LogValue keeps a person out of logs.
func (Insured) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Limits of texts, in characters.
const (
	MaxNumber = 100 // of member and group numbers
	MaxCode   = 200 // of codes that name no payor
	MaxGender = 100
)

// normalize checks all fields and brings them into the stored form.
func (r *Record) normalize(today civil.Date) error {
	form := person.NewForm(today)
	r.PayorCode = form.Text("payor_code", r.PayorCode, MaxCode)
	r.MemberID = form.Text("member_id", r.MemberID, MaxNumber)
	r.GroupID = form.Optional("group_id", r.GroupID, MaxNumber)
	form.Required("relationship", string(r.Relationship), Relationships)
	in := form.In("insured")
	r.Insured.FirstName = in.Name("first_name", r.Insured.FirstName)
	r.Insured.LastName = in.Name("last_name", r.Insured.LastName)
	r.Insured.Gender = normalizeGender(in.Text("gender", r.Insured.Gender, MaxGender))
	in.BirthDate("dob", r.Insured.BirthDate)
	r.Insured.Email = in.Email("email", r.Insured.Email)
	r.Insured.PhoneNumber = in.Phone("phone_number", r.Insured.PhoneNumber)
	r.Insured.Address = in.Address("address", r.Insured.Address)
	if r.Guarantor != nil {
		g := form.Guarantor("guarantor", *r.Guarantor)
		r.Guarantor = &g
	}
	return form.Err()
}

// normalizeGender lower-cases the words of the reference. It keeps other texts, because
// the specification names no values.
func normalizeGender(text string) string {
	if word := strings.ToLower(text); slices.Contains(person.Genders, word) {
		return word
	}
	return text
}

// setPayor fills in the payor that the record's code names.
func (r *Record) setPayor(ctx context.Context, tx *store.Tx, team teams.ID) error {
	payor, unknown, err := findPayor(ctx, tx, team, r.PayorCode, stateOf(r.Insured.Address))
	if err != nil {
		return err
	}
	r.Unknown = unknown
	if unknown != "" {
		r.Company = Company{Name: r.PayorCode, Address: person.Address{Country: person.US}}
		return nil
	}
	r.PayorCode, r.Company = payor.Code, payor.Company
	return nil
}

// Create adds a record. It accepts records that cannot be billed yet: Warnings
// lists the reasons, and an order that bills such a record is refused.
//
// Spec: Insurance, POST /v2/user/{user_id}/insurance. Reference 5.8.
func Create(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, r Record) (Record, error) {
	if err := users.Exists(ctx, tx, team, user); err != nil {
		return Record{}, err
	}
	if err := r.normalize(civil.DateOf(tx.Now())); err != nil {
		return Record{}, err
	}
	if err := r.setPayor(ctx, tx, team); err != nil {
		return Record{}, err
	}
	doc, err := json.Marshal(r)
	if err != nil {
		return Record{}, fmt.Errorf("insurance: marshalling: %w", err)
	}
	id := tx.NewUUID()
	sealed, err := tx.Seal(ctx, team.UUID(), user.UUID(), sealPlace(id), doc)
	if err != nil {
		return Record{}, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO insurance (team_id, user_id, insurance_id, is_primary, created_on, body) VALUES ($1, $2, $3, $4, $5, $6)`,
		team, user, id, r.IsPrimary, tx.Now(), sealed)
	if err != nil {
		return Record{}, fmt.Errorf("insurance: storing: %w", err)
	}
	return r, nil
}

// Codes of warnings.
const (
	PayorUnknown     = "payor_unknown"      // payor_code names no payor
	StatePlanUnknown = "state_plan_unknown" // payor_code means a state's plan that does not exist
	GuarantorMissing = "guarantor_missing"  // relationship is not Self, and there is no guarantor
)

// Warning is one reason why a record cannot be billed.
type Warning struct {
	Code    string
	Field   string // of the record
	Message string // without personal data
}

// Warnings returns the reasons why the record cannot be billed.
func (r Record) Warnings() []Warning {
	var all []Warning
	switch r.Unknown {
	case PayorUnknown:
		all = append(all, Warning{
			PayorUnknown, "payor_code",
			"payor_code names no payor: GET /v3/insurance/search/payor finds codes, POST /v3/payor adds a payor",
		})
	case StatePlanUnknown:
		all = append(all, Warning{
			StatePlanUnknown, "payor_code",
			"payor_code means the plan of a state: the insured person's address must be in a US state, the District of Columbia or a territory",
		})
	}
	if r.Relationship != Self && r.Guarantor == nil {
		all = append(all, Warning{GuarantorMissing, "guarantor", "guarantor is missing: it is needed unless relationship is Self"})
	}
	return all
}

// stateOf returns the postal code of an address's state, or nothing outside the US.
func stateOf(a person.Address) string {
	if a.Country != person.US {
		return ""
	}
	return a.State
}

// GetLatest returns the newest primary record, or the newest of the others.
//
// Reference 5.8, GET insurance/latest.
func GetLatest(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, primary bool) (Record, error) {
	if err := users.Exists(ctx, tx, team, user); err != nil {
		return Record{}, err
	}
	return openRecord(ctx, tx, team, user, tx.QueryRow(ctx, `SELECT insurance_id, body FROM insurance
		WHERE team_id = $1 AND user_id = $2 AND is_primary = $3 ORDER BY created_on DESC, insurance_id DESC LIMIT 1`, team, user, primary))
}

// openRecord opens a row of id and body, or returns a NotFound fault.
func openRecord(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, row store.Row) (r Record, err error) {
	var id uuid.UUID
	var sealed []byte
	err = row.Scan(&id, &sealed)
	if errors.Is(err, store.ErrNoRows) {
		return r, fault.New(fault.NotFound, "Insurance not found")
	}
	if err != nil {
		return r, fmt.Errorf("insurance: reading: %w", err)
	}
	doc, err := tx.Unseal(ctx, team.UUID(), user.UUID(), sealPlace(id), sealed)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(doc, &r); err != nil {
		return r, fmt.Errorf("insurance: stored record %s: %w", id, err)
	}
	if r.Unknown != "" { // an import may have added the payor
		err = r.setPayor(ctx, tx, team)
	}
	return r, err
}

func sealPlace(id uuid.UUID) string { return "insurance.body:" + id.String() }

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records { return users.RowsOf("insurance") }

// PrimaryID returns the id of a user's newest primary record, which orders bill. It
// returns false if there is none.
//
// Reference 1.18.
func PrimaryID(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (uuid.UUID, bool, error) {
	var id uuid.UUID
	err := tx.QueryRow(ctx, `SELECT insurance_id FROM insurance WHERE team_id = $1 AND user_id = $2 AND is_primary = TRUE
		ORDER BY created_on DESC, insurance_id DESC LIMIT 1`, team, user).Scan(&id)
	if errors.Is(err, store.ErrNoRows) {
		return uuid.Nil, false, nil
	}
	if err != nil {
		return uuid.Nil, false, fmt.Errorf("insurance: reading the primary record: %w", err)
	}
	return id, true, nil
}

// Get returns one record of a user, or a NotFound fault.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id uuid.UUID) (Record, error) {
	return openRecord(ctx, tx, team, user, tx.QueryRow(ctx, `SELECT insurance_id, body FROM insurance
		WHERE team_id = $1 AND user_id = $2 AND insurance_id = $3`, team, user, id))
}
