package users

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Info holds a user's demographics, as laboratories and insurers need them.
//
// Spec: Latest user info. Reference 5.7.
type Info struct {
	FirstName         string            `json:"first_name"`
	LastName          string            `json:"last_name"`
	Email             string            `json:"email"`
	PhoneNumber       string            `json:"phone_number"` // E.164
	Gender            string            `json:"gender"`       // any word
	BirthDate         civil.Date        `json:"dob"`
	Address           person.Address    `json:"address"`
	MedicalProxy      *person.Guarantor `json:"medical_proxy,omitempty"` // speaks for a minor
	Race              string            `json:"race,omitempty"`
	Ethnicity         string            `json:"ethnicity,omitempty"`
	SexualOrientation string            `json:"sexual_orientation,omitempty"`
	GenderIdentity    string            `json:"gender_identity,omitempty"`
}

// The values of the optional fields of Info.
//
// Spec: Latest user info, table of nullable enums.
var (
	Races        = person.Words(person.Races)
	Ethnicities  = person.Words(person.Ethnicities)
	Orientations = []string{"lesbian_gay_or_homosexual", "heterosexual_or_straight", "bisexual", "dont_know", "other"}
	Identities   = []string{"male", "female", "female_to_male_ftm_transgender_male_trans_man", "male_to_female_mtf_transgender_female_trans_woman", "genderqueer", "other"}
)

// MaxGender is in characters. The specification allows any word.
const MaxGender = 50

// normalize checks all fields and brings them into the stored form.
func (i *Info) normalize(today civil.Date) error {
	form := person.NewForm(today)
	i.FirstName = form.Name("first_name", i.FirstName)
	i.LastName = form.Name("last_name", i.LastName)
	i.Email = form.Email("email", i.Email)
	i.PhoneNumber = form.Phone("phone_number", i.PhoneNumber)
	i.Gender = form.Text("gender", i.Gender, MaxGender)
	form.BirthDate("dob", i.BirthDate)
	i.Address = form.Address("address", i.Address)
	if i.MedicalProxy != nil {
		proxy := form.Guarantor("medical_proxy", *i.MedicalProxy)
		i.MedicalProxy = &proxy
	}
	form.OneOf("race", i.Race, Races)
	form.OneOf("ethnicity", i.Ethnicity, Ethnicities)
	form.OneOf("sexual_orientation", i.SexualOrientation, Orientations)
	form.OneOf("gender_identity", i.GenderIdentity, Identities)
	return form.Err()
}

// LogValue keeps personal data out of logs.
func (Info) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Name returns the full name.
func (i Info) Name() string { return strings.TrimSpace(i.FirstName + " " + i.LastName) }

// PutInfo replaces a user's demographics. Earlier versions remain as history. Another
// phone number or e-mail address ends the portal codes that were sent to the old one.
//
// Reference 5.7, PATCH info.
func PutInfo(ctx context.Context, tx *store.Tx, team teams.ID, id ID, info Info) (Info, error) {
	if err := info.normalize(civil.DateOf(tx.Now())); err != nil {
		return Info{}, err
	}
	version, err := nextNameVersion(ctx, tx, team)
	if err != nil {
		return Info{}, err
	}
	var rev int64
	err = tx.QueryRow(ctx, `UPDATE users SET info_rev = info_rev + 1, info_version = $3
		WHERE team_id = $1 AND user_id = $2 AND deleted_at IS NULL RETURNING info_rev`, team, id, version).Scan(&rev)
	if errors.Is(err, store.ErrNoRows) {
		return Info{}, notFoundError()
	}
	if err != nil {
		return Info{}, fmt.Errorf("users: numbering the demographics of %s: %w", id, err)
	}
	doc, err := json.Marshal(info)
	if err != nil {
		return Info{}, fmt.Errorf("users: marshalling demographics: %w", err)
	}
	sealed, err := tx.Seal(ctx, team.UUID(), id.UUID(), infoPlace(id, rev), doc)
	if err != nil {
		return Info{}, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO user_info (team_id, user_id, rev, created_on, body) VALUES ($1, $2, $3, $4, $5)`,
		team, id, rev, tx.Now(), sealed)
	if err != nil {
		return Info{}, fmt.Errorf("users: storing demographics: %w", err)
	}
	if rev == 1 {
		return info, nil
	}
	before, err := readInfo(ctx, tx, team, id, rev-1)
	if err != nil {
		return Info{}, err
	}
	return info, endCodes(ctx, tx, team, id, before, info)
}

// LatestInfo returns the current demographics. A user without any is a NotFound fault
// for which IsNoInfo is true.
//
// Spec: Users, GET /v2/user/{user_id}/info/latest.
func LatestInfo(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Info, error) {
	user, err := Get(ctx, tx, team, id)
	if fault.Is(err, fault.NotFound) {
		return Info{}, notFoundError()
	}
	if err != nil {
		return Info{}, err
	}
	if !user.HasInfo() {
		return Info{}, errNoInfo
	}
	return readInfo(ctx, tx, team, id, user.infoRev)
}

var errNoInfo = fault.New(fault.NotFound, "User demographics data not found")

// IsNoInfo reports whether the user exists but has no demographics.
func IsNoInfo(err error) bool { return errors.Is(err, errNoInfo) }

func readInfo(ctx context.Context, tx *store.Tx, team teams.ID, id ID, rev int64) (Info, error) {
	var sealed []byte
	err := tx.QueryRow(ctx, `SELECT body FROM user_info WHERE team_id = $1 AND user_id = $2 AND rev = $3`, team, id, rev).Scan(&sealed)
	if err != nil {
		return Info{}, fmt.Errorf("users: reading demographics: %w", err)
	}
	return openInfo(ctx, tx, team, id, rev, sealed)
}

func openInfo(ctx context.Context, tx *store.Tx, team teams.ID, id ID, rev int64, sealed []byte) (Info, error) {
	doc, err := tx.Unseal(ctx, team.UUID(), id.UUID(), infoPlace(id, rev), sealed)
	if err != nil {
		return Info{}, err
	}
	var info Info
	if err := json.Unmarshal(doc, &info); err != nil {
		return Info{}, fmt.Errorf("users: stored demographics of %s: %w", id, err)
	}
	return info, nil
}

func infoPlace(id ID, rev int64) string { return fmt.Sprintf("user_info.body:%s:%d", id, rev) }
