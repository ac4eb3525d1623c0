package users

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// ID identifies a user.
type ID = ids.ID[User]

// Manual is the source of values that the team set through the API.
//
// Reference 5.2.
const Manual = "manual"

// User is one end user.
//
// Spec: User.
type User struct {
	ID             ID
	Team           teams.ID
	ClientUserID   string
	CreatedOn      time.Time
	TimeZone       *TimeZone
	BirthDate      *BirthDate
	IngestionStart *civil.Date
	IngestionEnd   *civil.Date

	block   int64
	infoRev int64 // newest demographics; 0 for none
}

// LogValue names the user and nothing else.
func (u User) LogValue() slog.Value { return slog.StringValue(u.ID.String()) }

// HasInfo reports whether the user's demographics are known.
func (u User) HasInfo() bool { return u.infoRev > 0 }

// TimeZone stands in for sources that carry no time zone.
//
// Spec: User, FallbackTimeZone.
type TimeZone struct {
	Name       string // IANA name
	SourceSlug string
	UpdatedAt  time.Time
}

// BirthDate stands in for providers that give no age; it sets the maximum
// heart rate.
//
// Spec: User, FallbackBirthDate.
type BirthDate struct {
	Value      civil.Date
	SourceSlug string
	UpdatedAt  time.Time
}

// NewUser is what a team gives to create a user.
type NewUser struct {
	ClientUserID   string
	TimeZone       *string // IANA name
	BirthDate      *civil.Date
	IngestionStart *civil.Date
	IngestionEnd   *civil.Date
}

// Create adds a user to team. It returns a *TakenError when another active
// user of the team already holds the client_user_id.
//
// Spec: Users, POST /v2/user/.
func Create(ctx context.Context, tx *store.Tx, team teams.ID, n NewUser) (User, error) {
	if err := n.check(civil.DateOf(tx.Now())); err != nil {
		return User{}, err
	}
	user := User{
		ID: ids.FromUUID[User](tx.NewUUID()), Team: team, ClientUserID: n.ClientUserID, CreatedOn: tx.Now(),
		IngestionStart: n.IngestionStart, IngestionEnd: n.IngestionEnd,
	}
	user.setTimeZone(n.TimeZone, tx.Now())
	user.setBirthDate(n.BirthDate, tx.Now())
	err := insert(ctx, tx, &user)
	if errors.Is(err, store.ErrNoRows) {
		return User{}, taken(ctx, tx, team, n.ClientUserID)
	}
	if err != nil {
		return User{}, fmt.Errorf("users: creating: %w", err)
	}
	return user, count(ctx, tx, team, user.block, 1)
}

func (u *User) setTimeZone(name *string, now time.Time) {
	u.TimeZone = nil
	if name != nil {
		u.TimeZone = &TimeZone{*name, Manual, now}
	}
}

func (u *User) setBirthDate(day *civil.Date, now time.Time) {
	u.BirthDate = nil
	if day != nil {
		u.BirthDate = &BirthDate{*day, Manual, now}
	}
}

// Get returns a user of the team. Unknown, foreign and deleted ones are
// NotFound.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (User, error) {
	user, deleted, err := find(ctx, tx, team, id)
	switch {
	case errors.Is(err, store.ErrNoRows):
		return User{}, fault.New(fault.NotFound, "Not found")
	case err != nil:
		return User{}, fmt.Errorf("users: reading %s: %w", id, err)
	case inGrace(deleted, tx.Now()):
		return User{}, fault.New(fault.NotFound, "User is scheduled for deletion")
	case deleted != nil:
		return User{}, fault.New(fault.NotFound, "Not found")
	}
	return user, nil
}

// Exists returns a NotFound fault unless the user is there and active.
func Exists(ctx context.Context, tx *store.Tx, team teams.ID, id ID) error {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM users WHERE team_id = $1 AND user_id = $2 AND deleted_at IS NULL`, team, id).Scan(&one)
	if errors.Is(err, store.ErrNoRows) {
		return notFound()
	}
	return err
}

// ClientUserID returns the team's own name for a user who is active, or deleted
// and in the grace period. Any other user is a NotFound fault.
//
// Events about a user use it: they are sent until the grace period ends.
func ClientUserID(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (name string, err error) {
	err = tx.QueryRow(ctx, `SELECT client_user_id FROM users WHERE team_id = $1 AND user_id = $2 AND (deleted_at IS NULL OR deleted_at > $3)`,
		team, id, tx.Now().Add(-Grace)).Scan(&name)
	if errors.Is(err, store.ErrNoRows) {
		return "", notFound()
	}
	if err != nil {
		return "", fmt.Errorf("users: reading the name of %s: %w", id, err)
	}
	return name, nil
}

// Resolve returns the team's active user with a client_user_id.
//
// Spec: Users, GET /v2/user/resolve/{client_user_id}.
func Resolve(ctx context.Context, tx *store.Tx, team teams.ID, clientUserID string) (User, error) {
	user, err := findByClient(ctx, tx, team, clientUserID)
	if errors.Is(err, store.ErrNoRows) {
		return User{}, notFound()
	}
	if err != nil {
		return User{}, fmt.Errorf("users: resolving: %w", err)
	}
	return user, nil
}

// Lookup returns the active user that a person names on a command line, by
// user_id or by client_user_id.
func Lookup(ctx context.Context, tx *store.Tx, team teams.ID, name string) (User, error) {
	if id, err := ids.Parse[User](name); err == nil {
		user, err := Get(ctx, tx, team, id)
		if !fault.Is(err, fault.NotFound) {
			return user, err
		}
	}
	return Resolve(ctx, tx, team, name)
}

// Update is a change of a user, field by field.
type Update struct {
	ClientUserID   patch.Field[string]
	TimeZone       patch.Field[string]
	BirthDate      patch.Field[civil.Date]
	IngestionStart patch.Field[civil.Date]
	IngestionEnd   patch.Field[civil.Date]
}

// Change applies an update. Absent fields stay, null clears, a value sets. The
// client_user_id cannot be cleared, so null leaves it unchanged.
//
// Spec: Users, PATCH /v2/user/{user_id}. Reference 5.4.
func Change(ctx context.Context, tx *store.Tx, team teams.ID, id ID, u Update) (User, error) {
	if err := u.check(civil.DateOf(tx.Now())); err != nil {
		return User{}, err
	}
	if err := lock(ctx, tx, team, id); err != nil {
		return User{}, err
	}
	user, _, err := find(ctx, tx, team, id)
	if err != nil {
		return User{}, fmt.Errorf("users: reading %s: %w", id, err)
	}
	zone := user.zoneName()
	u.apply(&user, tx.Now())
	if err := checkBounds(user.IngestionStart, user.IngestionEnd); err != nil {
		return User{}, err
	}
	if err := save(ctx, tx, &user); err != nil || user.zoneName() == zone {
		return user, err
	}
	if err := leaveZone(ctx, tx, team, id, zone); err != nil {
		return user, err
	}
	return user, runHooks(ctx, tx, team, id, "changing", func(r Records) Hook { return r.OnZone })
}

// zoneName is the name of the fallback time zone; empty for none.
func (u *User) zoneName() string {
	if u.TimeZone == nil {
		return ""
	}
	return u.TimeZone.Name
}

func (u Update) apply(user *User, now time.Time) {
	if u.ClientUserID.Set && !u.ClientUserID.Null {
		user.ClientUserID = u.ClientUserID.Value
	}
	if u.TimeZone.Set {
		var name *string
		u.TimeZone.Apply(&name)
		user.setTimeZone(name, now)
	}
	if u.BirthDate.Set {
		var day *civil.Date
		u.BirthDate.Apply(&day)
		user.setBirthDate(day, now)
	}
	u.IngestionStart.Apply(&user.IngestionStart)
	u.IngestionEnd.Apply(&user.IngestionEnd)
}
