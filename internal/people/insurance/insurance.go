package insurance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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

// Relationship is what the user is to the insured person. The list may grow.
type Relationship string

// The relationships. Spec: Insurance record.
const (
	Self   Relationship = "Self"
	Spouse Relationship = "Spouse"
	Other  Relationship = "Other"
)

var (
	relationships = []string{string(Self), string(Spouse), string(Other)}
	genders       = []string{"female", "male", "other", "unknown"}
)

// Insured is the person that a policy is made out to.
//
// Spec: Insurance record, PersonDetails.
type Insured struct {
	FirstName   string         `json:"first_name"`
	LastName    string         `json:"last_name"`
	Gender      string         `json:"gender"` // female, male, other or unknown, in the case it was given
	BirthDate   civil.Date     `json:"dob"`
	Email       string         `json:"email"`
	PhoneNumber string         `json:"phone_number"` // E.164
	Address     person.Address `json:"address"`
}

// Record is one insurance record. Company follows from PayorCode.
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
}

// LogValue keeps a record out of logs.
func (Record) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// LogValue keeps a person out of logs.
func (Insured) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// longestNumber bounds member and group numbers, in characters.
const longestNumber = 100

// tidy checks all fields and brings them into the form they are kept in. The
// payor is found already; problem says why it is not.
func (r *Record) tidy(today civil.Date, payor Payor, problem string) error {
	form := person.NewForm(today)
	r.MemberID = form.Text("member_id", r.MemberID, longestNumber)
	r.GroupID = form.Optional("group_id", r.GroupID, longestNumber)
	form.Required("relationship", string(r.Relationship), relationships)
	in := form.In("insured")
	r.Insured.FirstName = in.Name("first_name", r.Insured.FirstName)
	r.Insured.LastName = in.Name("last_name", r.Insured.LastName)
	in.Required("gender", strings.ToLower(r.Insured.Gender), genders)
	in.BirthDate("dob", r.Insured.BirthDate)
	r.Insured.Email = in.Email("email", r.Insured.Email)
	r.Insured.PhoneNumber = in.Phone("phone_number", r.Insured.PhoneNumber)
	r.Insured.Address = in.Address("address", r.Insured.Address)
	if r.Guarantor != nil {
		g := form.Guarantor("guarantor", *r.Guarantor)
		r.Guarantor = &g
	} else if r.Relationship == Spouse || r.Relationship == Other {
		form.Fail("guarantor", "missing", "Field required: a guarantor is needed unless the relationship is Self")
	}
	if problem != "" {
		form.Fail("payor_code", "value_error", "Value error, "+problem)
	}
	r.PayorCode, r.Company = payor.Code, payor.Company
	return form.Err()
}

// Create adds a record to a user whose demographics are known.
//
// Spec: Insurance, POST /v2/user/{user_id}/insurance. Reference 5.8.
func Create(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, r Record) (Record, error) {
	if _, err := users.LatestInfo(ctx, tx, team, user); err != nil {
		if users.IsNoInfo(err) {
			return Record{}, fault.New(fault.Unprocessable, "User demographics data not found: give them first, with PATCH /v2/user/{user_id}/info")
		}
		return Record{}, err
	}
	payor, problem, err := find(ctx, tx, team, r.PayorCode, stateOf(r.Insured.Address))
	if err != nil {
		return Record{}, err
	}
	if err := r.tidy(civil.DateOf(tx.Now()), payor, problem); err != nil {
		return Record{}, err
	}
	doc, err := json.Marshal(r)
	if err != nil {
		return Record{}, fmt.Errorf("insurance: marshalling: %w", err)
	}
	id := tx.NewUUID()
	sealed, err := tx.Seal(ctx, team.UUID(), user.UUID(), place(id), doc)
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

// stateOf is the postal code of the state of an address as it was given; empty
// abroad.
func stateOf(a person.Address) string {
	a = person.NewForm(civil.Date{}).Address("address", a)
	if a.Country != person.US {
		return ""
	}
	return a.State
}

// Latest returns the newest record that is, or is not, a primary one.
//
// Reference 5.8, GET insurance/latest.
func Latest(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, primary bool) (Record, error) {
	if err := users.Exists(ctx, tx, team, user); err != nil {
		return Record{}, err
	}
	return one(ctx, tx, team, user, tx.QueryRow(ctx, `SELECT insurance_id, body FROM insurance
		WHERE team_id = $1 AND user_id = $2 AND is_primary = $3 ORDER BY created_on DESC, insurance_id DESC LIMIT 1`, team, user, primary))
}

// one opens a row of id and body, or answers NotFound.
func one(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, row store.Row) (r Record, err error) {
	var id uuid.UUID
	var sealed []byte
	err = row.Scan(&id, &sealed)
	if errors.Is(err, store.ErrNoRows) {
		return r, fault.New(fault.NotFound, "Insurance not found")
	}
	if err != nil {
		return r, fmt.Errorf("insurance: reading: %w", err)
	}
	doc, err := tx.Unseal(ctx, team.UUID(), user.UUID(), place(id), sealed)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(doc, &r); err != nil {
		return r, fmt.Errorf("insurance: stored record %s: %w", id, err)
	}
	return r, nil
}

func place(id uuid.UUID) string { return "insurance.body:" + id.String() }

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records { return users.RowsOf("insurance") }
