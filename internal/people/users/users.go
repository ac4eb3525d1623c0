package users

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"hale/internal/people/users/person"
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

// LogValue logs only the id.
func (u User) LogValue() slog.Value { return slog.StringValue(u.ID.String()) }

// HasInfo reports whether the user's demographics are known.
func (u User) HasInfo() bool { return u.infoRev > 0 }

// TimeZone is the fallback for data without a time zone.
//
// Spec: User, FallbackTimeZone.
type TimeZone struct {
	Name       string // IANA name
	SourceSlug string
	UpdatedAt  time.Time
}

// BirthDate is the fallback for providers that give no age. The maximum heart rate
// depends on it.
//
// Spec: User, FallbackBirthDate.
type BirthDate struct {
	Value      civil.Date
	SourceSlug string
	UpdatedAt  time.Time
}

// NewUser holds the fields of a user to create.
type NewUser struct {
	ClientUserID   string
	TimeZone       *string // IANA name
	BirthDate      *civil.Date
	IngestionStart *civil.Date
	IngestionEnd   *civil.Date
}

// Create adds a user to a team. It returns a *TakenError if another active user of
// the team has the client_user_id.
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
		return User{}, takenError(ctx, tx, team, n.ClientUserID)
	}
	if err != nil {
		return User{}, fmt.Errorf("users: creating: %w", err)
	}
	if err := count(ctx, tx, team, user.block, 1); err != nil {
		return User{}, err
	}
	return user, user.announce(ctx, tx, CreatedEvent)
}

// setTimeZone keeps the time of a value that it does not change.
func (u *User) setTimeZone(name *string, now time.Time) {
	switch z := u.TimeZone; {
	case name == nil:
		u.TimeZone = nil
	case z == nil || z.Name != *name || z.SourceSlug != Manual:
		u.TimeZone = &TimeZone{*name, Manual, now}
	}
}

// setBirthDate keeps the time of a value that it does not change.
func (u *User) setBirthDate(day *civil.Date, now time.Time) {
	switch b := u.BirthDate; {
	case day == nil:
		u.BirthDate = nil
	case b == nil || b.Value != *day || b.SourceSlug != Manual:
		u.BirthDate = &BirthDate{*day, Manual, now}
	}
}

// sameAs reports whether the fields that Change changes are equal.
func (u *User) sameAs(other *User) bool {
	return u.ClientUserID == other.ClientUserID && isEqual(u.TimeZone, other.TimeZone) && isEqual(u.BirthDate, other.BirthDate) &&
		isEqual(u.IngestionStart, other.IngestionStart) && isEqual(u.IngestionEnd, other.IngestionEnd)
}

func isEqual[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// Get returns a user of the team. An unknown or deleted user, or one of another team,
// is a NotFound fault.
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

// GetForUpdate returns a user like Get, and locks the user until the transaction ends.
func GetForUpdate(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (User, error) {
	if err := lock(ctx, tx, team, id); err != nil {
		return User{}, err
	}
	return Get(ctx, tx, team, id)
}

// Exists returns a NotFound fault unless the team has the active user.
func Exists(ctx context.Context, tx *store.Tx, team teams.ID, id ID) error {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM users WHERE team_id = $1 AND user_id = $2 AND deleted_at IS NULL`, team, id).Scan(&one)
	if errors.Is(err, store.ErrNoRows) {
		return notFoundError()
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
		return "", notFoundError()
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
		return User{}, notFoundError()
	}
	if err != nil {
		return User{}, fmt.Errorf("users: resolving: %w", err)
	}
	return user, nil
}

// Lookup returns the active user with a user_id or a client_user_id, as typed on a
// command line.
func Lookup(ctx context.Context, tx *store.Tx, team teams.ID, name string) (User, error) {
	if id, err := ids.Parse[User](name); err == nil {
		user, err := Get(ctx, tx, team, id)
		if !fault.Is(err, fault.NotFound) {
			return user, err
		}
	}
	return Resolve(ctx, tx, team, name)
}

// Update changes fields of a user.
type Update struct {
	ClientUserID   patch.Field[string]
	TimeZone       patch.Field[string]
	BirthDate      patch.Field[civil.Date]
	IngestionStart patch.Field[civil.Date]
	IngestionEnd   patch.Field[civil.Date]
}

// Change applies an update. An absent field stays, null clears it, a value sets it.
// The client_user_id cannot be cleared, so null leaves it unchanged.
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
	before := user
	u.apply(&user, tx.Now())
	if user.sameAs(&before) {
		return user, nil
	}
	if err := checkBounds(user.IngestionStart, user.IngestionEnd); err != nil {
		return User{}, err
	}
	if err := save(ctx, tx, &user, &before); err != nil {
		return user, err
	}
	if err := user.announce(ctx, tx, UpdatedEvent); err != nil || user.ZoneName() == before.ZoneName() {
		return user, err
	}
	if err := insertFormerZone(ctx, tx, team, id, before.ZoneName()); err != nil {
		return user, err
	}
	return user, runHooks(ctx, tx, team, id, "changing", func(r Records) Hook { return r.OnZone })
}

// ZoneName returns the name of the fallback time zone; empty for none.
func (u *User) ZoneName() string {
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

// MaxClientID is in characters. The specification names no limit.
const MaxClientID = 256

// maxZone is longer than any IANA name. Errors do not repeat longer texts.
const maxZone = 64

func (n NewUser) check(today civil.Date) error {
	bounds := boundsFault(n.IngestionStart, n.IngestionEnd)
	return fault.Join(clientIDFault(n.ClientUserID), zoneFault(n.TimeZone), birthDateFault(n.BirthDate, today), bounds)
}

// check checks the update alone. Change checks the bounds with the stored ones.
func (u Update) check(today civil.Date) error {
	var faults []*fault.Error
	if u.ClientUserID.Set && !u.ClientUserID.Null {
		faults = append(faults, clientIDFault(u.ClientUserID.Value))
	}
	if u.TimeZone.Set && !u.TimeZone.Null {
		faults = append(faults, zoneFault(&u.TimeZone.Value))
	}
	if u.BirthDate.Set && !u.BirthDate.Null {
		faults = append(faults, birthDateFault(&u.BirthDate.Value, today))
	}
	return fault.Join(faults...)
}

// clientIDFault checks a client_user_id. It is stored byte for byte, without
// trimming or folding.
func clientIDFault(id string) *fault.Error {
	bad := func(code, msg string) *fault.Error {
		return fault.New(fault.Invalid, msg).At("client_user_id").WithType(code)
	}
	switch {
	case id == "":
		return bad("string_too_short", "String should have at least 1 character")
	case utf8.RuneCountInString(id) > MaxClientID:
		return bad("string_too_long", fmt.Sprintf("String should have at most %d characters", MaxClientID))
	case !utf8.ValidString(id) || strings.ContainsRune(id, 0):
		return bad("value_error", "Value error, client_user_id must be text without NUL characters")
	}
	return nil
}

func zoneFault(name *string) *fault.Error {
	if name == nil {
		return nil
	}
	if _, err := civil.Zone(*name); err == nil {
		return nil
	}
	msg := "Value error, Invalid IANA time zone"
	if len(*name) <= maxZone {
		msg += ": " + *name
	}
	return fault.New(fault.Invalid, msg).At("fallback_time_zone")
}

func birthDateFault(day *civil.Date, today civil.Date) *fault.Error {
	if day == nil {
		return nil
	}
	form := person.NewForm(today)
	form.BirthDate("fallback_birth_date", *day)
	return form.First()
}

// boundsFault refuses an ingestion window that ends before it starts. Both days
// belong to the window, so one day is a valid window.
func boundsFault(start, end *civil.Date) *fault.Error {
	if start == nil || end == nil || !end.Before(*start) {
		return nil
	}
	return fault.New(fault.Invalid, "Value error, ingestion_end must not be before ingestion_start").At("ingestion_end")
}

func checkBounds(start, end *civil.Date) error {
	return fault.Join(boundsFault(start, end))
}

// TakenError refuses a client_user_id that another active user of the team has.
//
// Spec: Errors, first row. Reference 5.3.
type TakenError struct {
	User      ID
	CreatedOn time.Time
}

func (e *TakenError) Error() string { return "Client user id already exists." }

// Kind returns fault.Refused, because the reference answers 400.
func (e *TakenError) Kind() fault.Kind { return fault.Refused }

// Code returns the code for programs.
func (e *TakenError) Code() string { return takenCode }

const takenCode = "client_user_id_taken"

// Detail returns the object in the reference's answer.
func (e *TakenError) Detail() map[string]any {
	detail := e.BodyFields()
	detail["error_type"], detail["error_message"] = "INVALID_REQUEST", e.Error()
	return detail
}

// BodyFields returns the fields that the specification puts into the body itself.
func (e *TakenError) BodyFields() map[string]any {
	return map[string]any{"user_id": e.User.String(), "created_on": civil.Instant(e.CreatedOn).String()}
}

func takenError(ctx context.Context, tx *store.Tx, team teams.ID, clientUserID string) error {
	holder, err := findByClient(ctx, tx, team, clientUserID)
	if errors.Is(err, store.ErrNoRows) { // the other user was deleted between the two statements
		return store.ErrLostRace
	}
	if err != nil {
		return fmt.Errorf("users: reading the user of a client_user_id: %w", err)
	}
	return &TakenError{holder.ID, holder.CreatedOn}
}

func notFoundError() error { return fault.New(fault.NotFound, "User not found") }

// absentError returns the error of a change to an absent user. inDeletion is the text
// about a user in the grace period.
func absentError(ctx context.Context, tx *store.Tx, team teams.ID, id ID, inDeletion string) error {
	_, deleted, err := find(ctx, tx, team, id)
	switch {
	case err != nil && !errors.Is(err, store.ErrNoRows):
		return fmt.Errorf("users: reading %s: %w", id, err)
	case err == nil && inGrace(deleted, tx.Now()):
		return fault.New(fault.NotFound, inDeletion)
	}
	return fault.New(fault.NotFound, "User is not, or no longer, in the team")
}

func conflictError() error {
	return fault.New(fault.Conflict, "Client user id already exists").WithType(takenCode)
}
